"""The almost-Poisson bracket on the constraint phase space, and whether a constraint is secretly holonomic."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.symmetry import hypotheses
from discrete_hamel.analysis.symmetry.phase_space import NEARBY, nearby
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.output_shapes import shapes
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks

DEEPEST = 7  # terms of the flag of D, beyond which it is not followed
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


def bracket_matrix(system: System, q: Coordinates, xi: Quasivelocities) -> Array:
    """Returns J of zdot = J(z) grad H, z = (q, p): the brackets of q and p on the constraint phase space, (N+m) x
    (N+m).

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
    return _cyclic(jnp.einsum("al,bcl->abc", tensor(z), jax.jacfwd(tensor)(z)))


def _cyclic(nested: Array) -> Array:
    return nested + jnp.transpose(nested, (1, 2, 0)) + jnp.transpose(nested, (2, 0, 1))


def jacobiator(
    system: System, q: Coordinates, xi: Quasivelocities, *, factor: Callable[[Array], Array] | None = None
) -> Array:
    """Returns {za, {zb, zc}} + cyclic of the coordinates z = (q, p): zero everywhere iff the constraint is holonomic.

    With `factor`, f(q), that of the bracket {., .} / f, in which the motion is one in the time tau, dtau = f dt: it may
    vanish where that of {., .} does not (`hamiltonise`).   van der Schaft & Maschke 1994; [ND] after (10)

    >>> import discrete_hamel as dh
    >>> pendulum, sleigh = dh.systems.SphericalPendulumCartesian(), dh.systems.ChaplyginSleigh()
    >>> free = dh.jacobiator(pendulum, **{name: pendulum.sample()[name] for name in ("q", "xi")})
    >>> blade = dh.jacobiator(sleigh, [0.1, 0.0, 0.0], [1.5, -0.3])
    >>> bool(abs(free).max() < 1e-12), bool(abs(blade).max() > 0.1)
    (True, True)
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    hypotheses.no_slip(system, q, "the almost-Poisson bracket")
    p = hamel.momentum(system, q, xi)[: system.rank]
    found = _cyclic_sum(system, q, p, xi)
    if factor is None:
        return found
    value, slope = jax.value_and_grad(factor)(q)
    tensor = _tensor(system, q, p, xi)
    return (found - _cyclic(jnp.einsum("al,l,bc->abc", tensor[:, : len(q)], slope / value, tensor))) / value**2


def integrable(system: System, q: Coordinates | None = None) -> Integrability:
    """Returns whether this constraint is secretly holonomic (D near q closed under brackets), and if not, how far off.

    Without q it is asked where the `sample()` of a system of the catalogue starts.

    The fields of D, their brackets, the brackets of those with D, ... span D_1 < D_2 < ... at q; by Frobenius D is
    integrable iff D_2 = D_1. Works on the bracket of the frame, [a, b]^k = c^k_ij a^i b^j + a[b^k] - b[a^k], so also
    where the fields are dependent as vectors; there the bracket that counts is the algebra's. It has stopped growing
    when it has at q and nearby, so that a Martinet surface, where it only pauses, is not taken for a leaf.

    >>> import discrete_hamel as dh
    >>> dh.integrable(dh.systems.VerticalDisk())
    nonholonomic: growth (2, 3, 4) of 4, degree of nonholonomy 3
    >>> dh.integrable(dh.systems.SphericalPendulumCartesian())
    holonomic: growth (2,) of 3, degree of nonholonomy 1
    """
    if q is None and not hasattr(system, "sample"):
        raise InputError(f"{type(system).__name__} has no sample() that would say where to ask: give q.")
    q = on_device(checks.vector("q", system.sample()["q"] if q is None else q))  # type: ignore[attr-defined]
    system = system.at(q)
    n, m = shapes(system, q)
    hypotheses.no_slip(system, q, "integrability of D")
    places = jnp.concatenate([q[None], nearby(system, q, n)])
    first = np.asarray(_level(1, system, places))
    spans = [_enlarge(np.zeros((len(found), 0)), found) for found in first]
    growth, elsewhere = [m], [m] * NEARBY
    while growth[-1] < n and len(growth) < DEEPEST:
        found = np.asarray(_level(len(growth) + 1, system, places))
        spans = [_enlarge(span, brackets) for span, brackets in zip(spans, found, strict=True)]
        here, *around = (span.shape[1] for span in spans)
        still = here == growth[-1] and around == elsewhere == [here] * NEARBY
        growth, elsewhere = [*growth, here], around
        if still:
            break
    growth = growth[: 1 + growth.index(growth[-1])]
    return Integrability(len(growth) == 1, len(growth), tuple(growth), n)


Fields = Callable[[Array], Array]  # one field a column, in coordinates or, where the bracket is given, in the frame


@partial(jax.jit, static_argnums=0)
def _level(level: int, system: System, places: Array) -> Array:
    """At each place D's fields (level 1), or those brackets of `level` of them that are new there."""
    m = system.rank

    def free(q: Array) -> Array:
        return system.frame(q)[:, :m] if system.brackets_by_autodiff else jnp.eye(system.frame(q).shape[1])[:, :m]

    fields: Fields = free
    for deeper in range(2, level + 1):
        fields = _brackets(system, fields, first=deeper == 2)
    return jax.vmap(fields)(places)


def _brackets(system: System, fields: Fields, first: bool) -> Fields:
    """[u_i, b] of each u_i of D with each of the fields; if these are D's own, of each pair.

    As D b [u_i] - D u_i [b] of vector fields, or where the bracket is given as c^k_ij b^j + u_i[b^k].
    """
    m = system.rank
    pairs = np.tril_indices(m, -1)

    def free(q: Array) -> Array:
        return system.frame(q)[:, :m]

    def brackets(q: Array) -> Array:
        found = jnp.einsum("krx,xi->kir", jax.jacfwd(fields)(q), free(q))
        if system.brackets_by_autodiff:
            found -= jnp.einsum("kix,xr->kir", jax.jacfwd(free)(q), fields(q))
        else:
            found += jnp.einsum("kij,jr->kir", system.structure(q)[:, :m], fields(q))
        return found[:, *pairs] if first else found.reshape(len(found), -1)

    return brackets


def _enlarge(span: np.ndarray, fields: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span and the fields together."""
    for field in fields.T:
        off = field - span @ (span.T @ field)
        off -= span @ (span.T @ off)
        if np.linalg.norm(off) > NEGLIGIBLE * max(float(np.linalg.norm(field)), 1.0):
            span = np.concatenate([span, off[:, None] / np.linalg.norm(off)], axis=1)
    return span
