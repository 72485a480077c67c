"""The almost-Poisson bracket on the constraint phase space, and whether a constraint is secretly holonomic."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel import checks, hamel
from discrete_hamel.analysis import hypotheses
from discrete_hamel.system import System

DEEPEST = 7  # terms of the flag of D, beyond which it is not followed
PATIENCE = 2  # terms without growth after which it has stopped
NEGLIGIBLE = 1e-8  # part of a bracket off a span that counts as zero


class Integrability(NamedTuple):
    """How far the brackets of D reach: `growth` are the ranks of D, D + [D, D], ..., until they stop growing.

    `degree` is the degree of nonholonomy, the number of that last rank: 1 for an integrable D. `dimension` - growth[-1]
    functions of q are kept by the constraint alone, so that it is holonomic in as many of its rows.
    """

    holonomic: bool
    degree: int
    growth: tuple[int, ...]
    dimension: int

    def __bool__(self) -> bool:
        return self.holonomic

    def __repr__(self) -> str:
        hidden = self.dimension - self.growth[-1]
        verdict = "no constraint" if self.growth[0] == self.dimension else "holonomic" if self else "nonholonomic"
        partly = f", {hidden} of its rows integrable in disguise" if hidden and not self else ""
        return f"{verdict}: growth {self.growth} of {self.dimension}, degree of nonholonomy {self.degree}{partly}"


def bracket_matrix(system: System, q: Any, xi: Any) -> Array:
    """J of zdot = J(z) grad H, z = (q, p): the brackets of q and p on the constraint phase space, (N+m) x (N+m).

    J = [[0, Psi_D], [-Psi_D^T, C]],  C_ji = {p_j, p_i} = c^k_ij mu_k      [ND] (9), (10); van der Schaft & Maschke 1994

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(mass=1.0, offset=0.4)
    >>> float(dh.bracket_matrix(sleigh, [0.1, 0, 0], [1.5, -0.3])[3, 4].round(3))     # {p1, p2} = -m a omega
    -0.6
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    hypotheses.no_slip(system, q, "the almost-Poisson bracket")
    return _tensor(system, q, hamel.momentum(system, q, xi)[: system.rank], xi)


def _tensor(system: System, q: Array, p: Array, guess: Array) -> Array:
    m, size = system.rank, len(q)
    # One Newton step of the Legendre map from a velocity that has this p where J is taken: exact there to first order.
    off = p - hamel.balance(system, q, guess)[0]
    free = guess[:m] + jnp.linalg.solve(hamel.inertia(system, q, guess), off)
    mu = jax.grad(system.lagrangian, 1)(q, hamel.full(system, q, free))
    fields = system.frame(q)[:, :m]
    gyroscopic = jnp.einsum("kij,k->ji", system.structure(q)[:, :m, :m], mu)
    upper = jnp.concatenate([jnp.zeros((size, size)), fields], axis=1)
    return jnp.concatenate([upper, jnp.concatenate([-fields.T, gyroscopic], axis=1)])


@jax.jit
def _cyclic_sum(system: System, q: Array, p: Array, guess: Array) -> Array:
    def tensor(z: Array) -> Array:
        return _tensor(system, z[: len(q)], z[len(q) :], guess)

    z = jnp.concatenate([q, p])
    nested = jnp.einsum("al,bcl->abc", tensor(z), jax.jacfwd(tensor)(z))
    return nested + jnp.transpose(nested, (1, 2, 0)) + jnp.transpose(nested, (2, 0, 1))


def jacobiator(system: System, q: Any, xi: Any) -> Array:
    """{za, {zb, zc}} + cyclic of the coordinates z = (q, p): zero everywhere iff the constraint is holonomic.

    van der Schaft & Maschke 1994; [ND] after (10)

    >>> import discrete_hamel as dh
    >>> pendulum, sleigh = dh.systems.SphericalPendulum(), dh.systems.ChaplyginSleigh()
    >>> free = dh.jacobiator(pendulum, [0.6, 0.0, 0.8], [0.3, 0.5])
    >>> blade = dh.jacobiator(sleigh, [0.1, 0.0, 0.0], [1.5, -0.3])
    >>> bool(abs(free).max() < 1e-12), bool(abs(blade).max() > 0.1)
    (True, True)
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    hypotheses.no_slip(system, q, "the almost-Poisson bracket")
    return _cyclic_sum(system, q, hamel.momentum(system, q, xi)[: system.rank], xi)


def integrable(system: System, q: Any) -> Integrability:
    """Is this constraint secretly holonomic? D near q is closed under brackets iff it is; if not, how far off is it?

    The fields of D, their brackets, the brackets of those with D, ... span D_1 < D_2 < ... at q; by Frobenius D is
    integrable iff D_2 = D_1. Works on the bracket of the frame, [a, b]^k = c^k_ij a^i b^j + a[b^k] - b[a^k], so also
    where the fields are dependent as vectors; there the bracket that counts is the algebra's. At a singular q the
    growth may pause; it is followed two levels beyond a pause, so that a Martinet surface is not taken for a leaf.

    >>> import discrete_hamel as dh
    >>> dh.integrable(dh.systems.ThreeWheelCart(), [0.0, 0, 0, 0, 0, 0, 0.4])
    nonholonomic: growth (2, 3, 5, 6) of 7, degree of nonholonomy 4, 1 of its rows integrable in disguise
    """
    q = checks.vector("q", q)
    system = system.at(q)
    n, m = checks.shapes(system, q)
    hypotheses.no_slip(system, q, "integrability of D")
    free = jnp.eye(n)[:, :m]
    fields: Fields = lambda q: free  # noqa: E731, ARG005  # as the fields that follow, a function of q
    span, growth = np.asarray(free), [m]
    while growth[-1] < n and growth[-1 - PATIENCE :] != [growth[-1]] * (1 + PATIENCE) and len(growth) < DEEPEST:
        fields = _brackets(system, fields, first=len(growth) == 1)
        span = _enlarged(span, np.asarray(jax.jit(fields)(q)))
        growth.append(span.shape[1])
    growth = growth[: 1 + growth.index(growth[-1])]
    return Integrability(len(growth) == 1, len(growth), tuple(growth), n)


Fields = Callable[[Array], Array]  # q -> coefficients in the frame, one field a column


def _brackets(system: System, fields: Fields, first: bool) -> Fields:
    """[u_i, b]^k = c^k_ij b^j + u_i[b^k] of each u_i of D with each field b^j u_j; if these are D's, of each pair."""
    m = system.rank
    pairs = np.tril_indices(m, -1)

    def brackets(q: Array) -> Array:
        along = system.frame(q)[:, :m]
        change = jnp.einsum("krx,xi->kir", jax.jacfwd(fields)(q), along)
        found = jnp.einsum("kij,jr->kir", system.structure(q)[:, :m], fields(q)) + change
        return found[:, *pairs] if first else found.reshape(len(found), -1)

    return brackets


def _enlarged(span: np.ndarray, fields: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span and the fields together."""
    for field in fields.T:
        off = field - span @ (span.T @ field)
        off -= span @ (span.T @ off)
        if np.linalg.norm(off) > NEGLIGIBLE * max(np.linalg.norm(field), 1.0):
            span = np.concatenate([span, off[:, None] / np.linalg.norm(off)], axis=1)
    return span
