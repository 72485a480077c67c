"""The bundles D, V, S, H, N, R that symmetry and constraint define, frames aligned with them, and the connection."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.symmetry import hypotheses, phase_space
from discrete_hamel.analysis.symmetry.invariance import components
from discrete_hamel.analysis.symmetry.phase_space import Chosen, Symmetries
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks

CUT = 1e-9  # relative singular value below which directions are dependent


class Bundles(NamedTuple):
    """Bases at a point, as columns of frame components; those of S, H, N and R are orthonormal in the metric."""

    D: np.ndarray  # the constraint distribution
    V: np.ndarray  # tangent to the group's orbits
    S: np.ndarray  # V & D: symmetry directions that the constraint allows
    H: np.ndarray  # what of D is orthogonal to S
    N: np.ndarray  # what of V is orthogonal to S
    R: np.ndarray  # orthogonal to D + V, within the tangent space to Q
    metric: np.ndarray  # d2l / dxi dxi

    @property
    def aligned(self) -> np.ndarray:
        """Columns of a frame adapted to all of them: H, S, N, R, in frame components."""
        return np.concatenate([self.H, self.S, self.N, self.R], axis=1)

    def __repr__(self) -> str:
        sizes = ", ".join(f"dim {name} = {getattr(self, name).shape[1]}" for name in "DVSHNR")
        whole = "D + V is everything" if not self.R.shape[1] else "D + V is not everything"
        kind = {0: "the kinematic (Chaplygin) case", self.V.shape[1]: "every symmetry direction is allowed"}
        return f"Bundles: {sizes}; {whole}; {kind.get(self.S.shape[1], 'the mixed case')}"


@partial(jax.jit, static_argnums=0)
def _raw(symmetries: Chosen, system: System, q: Array, xi: Array) -> tuple[Array, Array]:
    return _vertical(symmetries, system, q), jax.hessian(system.lagrangian, 1)(q, xi)


def _vertical(symmetries: Chosen, system: System, q: Array) -> Array:
    columns = [components(system, move, q) for move in phase_space.generators(system, symmetries).values()]
    return jnp.stack(columns, axis=1) if columns else jnp.zeros((system.frame(q).shape[1], 0))


def bundles(system: System, q: Coordinates, *, symmetries: Symmetries = None) -> Bundles:
    """Returns bases of D, V, S = V & D, H = D & S^perp, N = V & S^perp, R = (D + V)^perp at q.   [MD] 6; [QS] 4

    Orthogonal in the kinetic metric.

    A frame may have fields that lead off the configuration space, as that of a rolling body has one that lifts it off
    the plane: they are no part of R (`tangent`).

    `symmetries` are those that the system declares, or by name what `generator` takes, or cyclic coordinates.

    >>> from discrete_hamel.analysis import bundles
    >>> import discrete_hamel as dh
    >>> bundles(dh.systems.RollingDisk(), [0.3, 0, 0, 0, 0])
    Bundles: dim D = 3, dim V = 4, dim S = 2, dim H = 1, dim N = 2, dim R = 0; D + V is everything; the mixed case
    """
    system, q, metric, vertical = _at(system, q, symmetries)
    d, v = np.eye(len(metric))[:, : system.rank], phase_space.independent(vertical)
    both = _kernel(v[system.rank :])  # combinations of V with nothing along U
    s = _orthonormal(v @ both, metric)
    h = _orthonormal(d - s @ (s.T @ metric @ d), metric)
    n = _orthonormal(v - s @ (s.T @ metric @ v), metric)
    span = np.concatenate([d, v], axis=1)
    along = tangent(system, q, v)
    r = _orthonormal(along @ _kernel((metric @ span).T @ along), metric)
    return Bundles(d, v, s, h, n, r, metric)


def tangent(system: System, q: Array, vertical: np.ndarray) -> np.ndarray:
    """Frame components of the directions in which q can move within the configuration space Q, as columns.

    Left out are fields along U that move no coordinate, and what changes a function of q that is constant along D and
    along the symmetries: such an invariant says what redundant coordinates satisfy (|gamma| = 1, a distance).
    """
    psi = np.asarray(system.frame(q))
    idle = _kernel(psi)
    idle = idle @ _kernel(idle[: system.rank])
    rows = [idle.T]
    within = np.concatenate([np.eye(psi.shape[1])[:, : system.rank], vertical], axis=1)
    for slope in _slopes_of_invariants(system, q):
        row = slope @ psi
        if np.max(np.abs(row), initial=0.0) > CUT and np.max(np.abs(row @ within), initial=0.0) <= CUT:
            rows.append(row[None])
    return _kernel(np.concatenate(rows))


def _slopes_of_invariants(system: System, q: Array) -> list[np.ndarray]:
    """dPhi/dq, of length one, of the declared invariants that are functions of q alone."""
    found = []
    for invariant in system.invariants().values():
        drawn = np.random.default_rng(0).normal(size=(2, np.asarray(system.frame(q)).shape[1]))
        slopes = [jax.grad(lambda q, xi, of=invariant: jnp.sum(of(q, xi)), (0, 1))(q, jnp.asarray(xi)) for xi in drawn]
        of_q, of_xi = (np.asarray([part[i] for part in slopes]) for i in (0, 1))
        size = float(np.linalg.norm(of_q[0]))
        if size > 0 and np.max(np.abs(of_q[0] - of_q[1]), initial=0.0) <= CUT * size and not np.any(of_xi):
            found.append(of_q[0] / size)
    return found


def _at(system: System, q: Coordinates, symmetries: Symmetries) -> tuple[System, Array, np.ndarray, np.ndarray]:
    rest = jnp.zeros(system.at(jnp.asarray(q, float)).rank)
    system, q, xi = checks.initial_data(system, q, rest, None)
    vertical, metric = (
        np.asarray(a) for a in _raw(phase_space.static_generators(system, symmetries, q), system, q, xi)
    )
    if not vertical.shape[1]:
        raise InputError(
            f"{type(system).__name__} declares no symmetries, so it has no vertical directions here; pass symmetries="
            "a dict of names to generators q -> qdot or to actions g(s, q), or a list of cyclic coordinates."
        )
    least = float(np.min(np.linalg.eigvalsh(metric)))
    if least < 1e-12:
        raise InputError(
            f"the kinetic metric of {type(system).__name__} is not positive definite on all n quasi-velocities (least "
            f"eigenvalue {least:.1e}), so orthogonal complements of its bundles are not defined."
        )
    return system, q, metric, vertical


def _kernel(rows: np.ndarray) -> np.ndarray:
    _, sizes, v = np.linalg.svd(rows)
    rank = int(np.sum(sizes > CUT * max(1.0, np.max(sizes, initial=0.0))))
    return v[rank:].T


def _orthonormal(columns: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """A basis of the span of columns, orthonormal in the metric; zero columns count for nothing."""
    root = np.linalg.cholesky(metric).T  # |root a|^2 = a . metric a
    scaled = root @ columns
    u, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    kept = sizes > CUT * max(1.0, float(np.max(np.abs(columns), initial=0.0)))
    return np.linalg.solve(root, u[:, kept])


class Connection(NamedTuple):
    """The nonholonomic connection at a point, in frame components: v in D is its part in S plus its part in H."""

    vertical: np.ndarray  # n x n, the projection of D to S
    horizontal: np.ndarray  # n x n, the projection of D to H
    curvature: np.ndarray  # B[k, i, j]: of B(u_i, u_j) = -[hor u_i, hor u_j], i, j = 1..m, the part in S by the metric
    across: np.ndarray  # of the same B the part out of D, along U: zero iff H closes within D
    locked_inertia: np.ndarray  # <<e_a, e_b>> on the basis `basis` of S
    basis: np.ndarray  # of S, orthonormal as vectors of frame components


@partial(jax.jit, static_argnums=(0, 1, 2))
def _connection(symmetries: Chosen, off_d: bool, in_d: bool, system: System, q: Array) -> tuple[Array, Array, Array]:
    """`off_d` and `in_d` say whether V reaches out of D, and meets it, at all: no cut by size could tell from noise."""
    m = system.rank
    n = system.frame(q).shape[1]

    def projection(q: Array) -> Array:
        """The metric projection to S; smooth where dim S is constant."""
        if not in_d:
            return jnp.zeros((n, n))
        metric = jax.hessian(system.lagrangian, 1)(q, jnp.zeros(n))
        vertical = s = _vertical(symmetries, system, q)
        if off_d:
            s = vertical - vertical @ (jnp.linalg.pinv(vertical[m:], rtol=CUT) @ vertical[m:])
        return s @ jnp.linalg.pinv(s.T @ metric @ s, rtol=CUT) @ s.T @ metric

    def lifts(q: Array) -> Array:
        return (jnp.eye(n) - projection(q))[:, :m]

    fields, slopes = lifts(q), jax.jacfwd(lifts)(q)
    along = jnp.einsum("kjx,xi->kij", slopes, system.frame(q) @ fields)  # (hor u_i)[hor u_j]
    bracket = jnp.einsum("kab,ai,bj->kij", system.structure(q), fields, fields) + along - jnp.swapaxes(along, 1, 2)
    at = projection(q)
    return at, -jnp.einsum("kl,lij->kij", at, bracket), -bracket[m:]


def nonholonomic_connection(system: System, q: Coordinates, *, symmetries: Symmetries = None) -> Connection:
    """Returns the connection that splits D = S + H orthogonally, its curvature and the constrained locked inertia.
    [QS] 4

    >>> from discrete_hamel.analysis import nonholonomic_connection
    >>> import discrete_hamel as dh
    >>> found = nonholonomic_connection(dh.systems.RollingDisk(), [0.3, 0, 0, 0, 0])
    >>> found.locked_inertia.shape, float(abs(found.vertical @ found.horizontal).max()) < 1e-12
    ((2, 2), True)
    """
    here = bundles(system, q, symmetries=symmetries)
    hypotheses.natural(system, jnp.asarray(q, float), "the nonholonomic connection")
    system, q = system.at(jnp.asarray(q, float)), jnp.asarray(q, float)
    off_d, in_d = here.S.shape[1] < here.V.shape[1], here.S.shape[1] > 0
    found = _connection(phase_space.static_generators(system, symmetries), off_d, in_d, system, q)
    vertical, curvature, across = (np.asarray(a) for a in found)
    basis = phase_space.independent(here.S)
    on_d = np.diag((np.arange(len(vertical)) < system.rank).astype(float))
    return Connection(vertical @ on_d, on_d - vertical @ on_d, curvature, across, basis.T @ here.metric @ basis, basis)
