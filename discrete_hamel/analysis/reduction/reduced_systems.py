"""`reduce`: a system with symmetry as a system on D/G, in the shape r, its rate and the body velocity Omega."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.phase_space import Symmetries
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics import frames, hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.systems.groups.matrix_groups import Group, matrix_group

CUT = 1e-9  # relative singular value below which directions are dependent
INVARIANT = 1e-8  # relative change along the group that counts as none


class ReducedSystem(System):
    """See `reduce`. Coordinates r; quasi-velocities (r', Omega^S, Omega^U), of which the last are zero."""

    system: System
    section: Callable = static()  # sigma(r), a point of Q over r
    own_basis: Callable | None = static()  # e(r), k x k, or None
    names: tuple = static()  # of the shapes r
    idle: bool  # whether one field of the whole frame, along U, moves nothing, as one that lifts off a plane
    actions: Array  # E_A on (q, 1), (k, N+1, N+1)
    algebra: Array  # C[c, a, b] of their commutators
    start: Array  # r at which the next two were chosen
    allowed: Array  # m x dim S: what spans S there, carried elsewhere by projection
    other: Array  # k x dim U: a constant complement of S in the algebra

    @property
    def rank(self) -> int:
        return self.shapes_count + self.allowed.shape[1]

    @property
    def shapes_count(self) -> int:
        """How many shape variables there are."""
        return len(self.names)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.names

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*(f"{name}'" for name in self.names), *(f"Omega{a + 1}" for a in range(len(self.actions))))

    @property
    def group(self) -> Group:
        """The group, as the matrices by which it acts on (q, 1)."""
        return matrix_group(np.asarray(self.actions), name=f"the group of {type(self.system).__name__}")

    # --- upstairs: (r', xi) to q' and to the quasi-velocities of the whole system, at sigma(r) ---

    def tangent(self, r: Array) -> Array:
        """T, N x (s + k): q' = T (r', xi) at sigma(r), xi = g^-1 g'."""
        point = self.section(r)
        vertical = jnp.einsum("aij,j->ia", self.actions, jnp.append(point, 1.0))[:-1]
        return jnp.concatenate([jnp.asarray(jax.jacfwd(self.section)(r)), vertical], axis=1)

    @jax.jit  # traced once, wherever it is used
    def upstairs(self, r: Array) -> Array:
        """B, n x (s + k), with Psi B = T: the quasi-velocities of the whole system."""
        psi, m = self.system.frame(self.section(r)), self.system.rank
        square = psi.T @ psi
        if self.idle:  # B is orthogonal to the field that moves nothing
            square = square.at[m:, m:].add(_adjugate(square[m:, m:]))
        elif psi.shape[0] == psi.shape[1]:
            return jnp.linalg.solve(psi, self.tangent(r))
        return jnp.linalg.solve(square, psi.T @ self.tangent(r))

    def _of_d(self, r: Array) -> Array:
        """The fields of D as (r', xi), (s + k) x m."""
        fields = self.system.frame(self.section(r))[:, : self.system.rank]
        return frames.left_inverse(self.tangent(r), fields)

    def horizontal(self, r: Array) -> Array:
        """The lifts of d/dr in H = D & S^perp, as (r', xi), (s + k) x s.   [QS] Definition 4.2"""
        along = self._of_d(r)
        slope = along[: self.shapes_count]
        if not self.shapes_count:  # Q is a group
            return jnp.zeros((len(along), 0))
        metric = hamel.inertia(self.system, self.section(r), jnp.zeros(self.system.rank))
        raised = jnp.linalg.solve(metric, slope.T)
        return along @ raised @ jnp.linalg.inv(slope @ raised)

    def connection(self, r: Array) -> Array:
        """A^nhc as A[A, alpha] on the fixed basis of the algebra: Omega = xi + A r'.   [QS] (4.4)"""
        return -self.horizontal(r)[self.shapes_count :]

    def basis(self, r: Array) -> Array:
        """e(r), k x k: the first columns span S, the rest U.   [QS] (2.11)"""
        if self.own_basis is not None:
            return jnp.asarray(self.own_basis(r))
        along = self._of_d(r)
        slope, vertical = along[: self.shapes_count], along[self.shapes_count :]
        kept = self.allowed
        if self.shapes_count:
            kept = kept - slope.T @ jnp.linalg.solve(slope @ slope.T, slope @ kept)
        return jnp.concatenate([vertical @ kept, self.other], axis=1)

    @jax.jit
    def transition(self, r: Array) -> Array:
        """(r', xi) of (r', Omega): xi = e Omega - A r'.   [QS] (2.12)"""
        s = self.shapes_count
        e = self.basis(r)
        top = jnp.concatenate([jnp.eye(s), jnp.zeros((s, e.shape[1]))], axis=1)
        return jnp.concatenate([top, jnp.concatenate([-self.connection(r), e], axis=1)])

    def frame_margin(self, q: Array) -> Array:
        """How far r', Omega are from degenerate: the section along an orbit, motions of D that do not span the rates of
        r, or an e(r) that does not span S; signed where one passes through zero."""
        s, e, along = self.shapes_count, self.basis(q), _unit(self._of_d(q))
        spans = _volume(e[:, : self.rank - s]) * _volume(along[:s].T)
        found = _volume(_unit(self.tangent(q))) * spans
        return jnp.where(jnp.isfinite(found), found, 0.0)

    # --- the system on D/G ---

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.system.lagrangian(self.section(q), self.upstairs(q) @ (self.transition(q) @ xi))

    def frame(self, q: Array) -> Array:  # noqa: ARG002  # the same everywhere
        s = self.shapes_count
        return jnp.concatenate([jnp.eye(s), jnp.zeros((s, len(self.actions)))], axis=1)

    def _before(self, r: Array) -> Array:  # noqa: ARG002  # constants
        """The brackets of (d/dr, L_g* E_A): those of the algebra."""
        s = self.shapes_count
        return jnp.pad(self.algebra, ((s, 0), (s, 0), (s, 0)))

    def structure(self, q: Array) -> Array:
        """(2.19)-(2.21) of [QS], by the change of frame from (d/dr, L_g* E_A)."""
        return frames.transform_structure(self.frame, self._before, self.transition, q)

    def force(self, q: Array, xi: Array) -> Array:
        lift = self.upstairs(q) @ self.transition(q)
        return lift.T @ self.system.force(self.section(q), lift @ xi)

    def constrained_lagrangian(self, r: ArrayLike, xi: ArrayLike) -> Array:
        """l_c(r, r', Omega^S).   [QS] 4.1"""
        r = jnp.asarray(r, float)
        return self.lagrangian(r, hamel.full(self, r, jnp.asarray(xi, float)[: self.rank]))

    def check(self) -> None:
        self.system.check()

    def shapes(self, q: Array) -> list[np.ndarray]:  # noqa: ARG002  # where it is has been reduced away
        """Nothing; `reconstruct` brings back what can be drawn."""
        return []


def _unit(columns: Array) -> Array:
    return columns / jnp.sqrt(jnp.sum(columns**2, axis=0))[None]


def _volume(columns: Array) -> Array:
    """Of no more columns than rows: signed where these are as many."""
    if columns.shape[0] == columns.shape[1]:
        return jnp.linalg.det(columns)
    return jnp.sqrt(jnp.linalg.det(columns.T @ columns))


def _adjugate(matrix: Array) -> Array:
    """By Faddeev's and LeVerrier's recursion; of a symmetric matrix that lacks one in rank c w w^T, w its kernel."""
    n, one = len(matrix), jnp.eye(len(matrix))
    found = one
    for k in range(1, n):
        product = matrix @ found
        found = product - jnp.trace(product) / k * one
    return (-1) ** (n - 1) * found


def reduce(
    system: System,
    group: Symmetries = None,
    *,
    q: Coordinates | None = None,
    section: Callable | None = None,
    r: ArrayLike | None = None,
    basis: Callable | None = None,
    names: tuple[str, ...] = (),
) -> ReducedSystem:
    """Returns the system on D/G: a System in the shape r, with quasi-velocities (r', Omega), Omega = xi + A r', g' = g
    xi.

        u_alpha = d/dr^alpha - A^a_alpha L_g* e_a(r),  u_a = L_g* e_a(r),  Omega^U = 0          [QS] (2.12), (4.1)-(4.3)

    A is the nonholonomic connection, e(r) a basis of the algebra that begins with one of S = D & V. `group` is what any
    analysis takes for symmetries (all that the system declares; or by name; or cyclic coordinates); they are affine in
    q, keep l and D, span an algebra, and act freely where sigma(r) goes.

    section   sigma(r), a point over r. Without one the coordinates that no symmetry moves are r, the others as in q
    r, q      a shape (or, without a section, a point) about which e(r) is chosen
    names     of r
    basis     e(r), k x k, one's own; first S, then a complement. In that of [QS] (4.12) momenta are constant

    D + V must be TQ (the dimension assumption). See `coefficients` for [QS] (4.5)-(4.11), `shape_of` and
    `reconstruct` for the way there and back.

    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> lean = dh.reduce(disk, q=[0.3, 0, 0, 0, 0])
    >>> lean.coordinates, lean.rank, lean.velocities[:3]
    (('theta',), 3, ("theta'", 'Omega1', 'Omega2'))
    >>> r, xi, g = dh.shape_of(lean, [0.3, 0.5, 0, 1, 2], [0.1, 0.6, 3.0])
    >>> run = dh.simulate(lean, r, xi, h=0.01, steps=100)
    >>> back = dh.reconstruct(run, g)
    >>> whole = dh.reference(disk, [0.3, 0.5, 0, 1, 2], [0.1, 0.6, 3.0], t=1.0)
    >>> bool(abs(back[-1] - whole.q[-1]).max() < 1e-3)
    True
    """
    system = checks.canonical(system)
    if section is None:
        moves, q = _generators(system, group, q)
        section, r, names = _of_coordinates(system, moves, q, r)
    else:
        if r is None:
            raise InputError("with a section give r, a shape about which the frame is chosen.")
        r = jnp.atleast_1d(jnp.asarray(r, float))
        moves, _ = _generators(system, group, section(r))
    names = tuple(names) or (("r",) if len(r) == 1 else tuple(f"r{a + 1}" for a in range(len(r))))
    point = jnp.asarray(section(r), float)
    system = system.at(point)
    actions = _affine(moves, point)
    found = matrix_group(actions)  # refuses what is no algebra
    algebra, none = jnp.asarray(found.algebra), jnp.zeros(0)
    draft = ReducedSystem(system, section, basis, names, False, jnp.asarray(actions), algebra, r, none, none)
    return _choose_bases(draft, point)


def _generators(system: System, group: Symmetries, q: Coordinates | None) -> tuple[dict[str, Callable], Array]:
    if q is None:
        sample = getattr(system, "sample", None)
        if sample is None:
            raise InputError("give q, a point about which the shape is looked for, or a section with its r.")
        q = sample()["q"]
    q = jnp.asarray(q, float)
    moves = phase_space.generators(system, phase_space.static_generators(system, group, q))
    if not moves:
        raise InputError(
            f"{type(system).__name__} declares no symmetries; give group=, generators q -> qdot by name, or the names "
            "of cyclic coordinates."
        )
    phase_space.require_affine(system, dict(moves), q)
    return dict(moves), q


def _affine(moves: dict[str, Callable], q: Array) -> np.ndarray:
    """The matrices E_A of the generators on (q, 1)."""
    n = len(q)
    found = np.zeros((len(moves), n + 1, n + 1))
    affine = interpret(lambda zero: [(jax.jacfwd(move)(zero), move(zero)) for move in moves.values()])
    for e, (slope, value) in zip(found, affine(jnp.zeros_like(q)), strict=True):
        e[:n, :n], e[:n, n] = slope, value
    return found


def _of_coordinates(
    system: System, moves: dict[str, Callable], q: Array, r: ArrayLike | None
) -> tuple[Callable, Array, tuple]:
    """The section on which all coordinates but those that no symmetry moves are as in q."""
    points = np.asarray(q) + np.random.default_rng(0).normal(size=(4, len(q)))
    velocities = interpret(lambda q: jnp.stack([move(q) for move in moves.values()]))
    moved = np.max([np.abs(velocities(p)) for p in points], axis=(0, 1))
    still = np.flatnonzero(moved < CUT)
    if not len(still):
        raise InputError(
            f"the symmetries of {type(system).__name__} move all of its coordinates, so none of them is a shape: give "
            "section=, a function r -> q that meets each orbit once, and r."
        )
    names = tuple(system.coordinates[i] if i < len(system.coordinates) else f"r{i}" for i in still)
    place = q[still] if r is None else jnp.atleast_1d(jnp.asarray(r, float))
    return Slice(tuple(float(a) for a in q), tuple(int(i) for i in still)), place, names


class Slice:
    """sigma(r): q but for the coordinates that are r; equal ones share a compilation."""

    def __init__(self, q: tuple[float, ...], still: tuple[int, ...]) -> None:
        self.q, self.still = tuple(0.0 if i in still else a for i, a in enumerate(q)), still

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slice) and (self.q, self.still) == (other.q, other.still)

    def __hash__(self) -> int:
        return hash((self.q, self.still))

    def __call__(self, r: Array) -> Array:
        return jnp.asarray(self.q).at[np.asarray(self.still)].set(r)


def _choose_bases(draft: ReducedSystem, point: Array) -> ReducedSystem:
    """With bases of S and U about the start, or a sentence on the hypothesis that fails there."""
    system, r, s, k = draft.system, draft.start, len(draft.names), len(draft.actions)
    name = type(system).__name__
    psi, tangent, slip = _at_start(draft)
    if np.linalg.svd(tangent, compute_uv=False)[-1] < CUT * np.max(np.abs(tangent)):
        raise InputError(
            f"at r = {np.asarray(r).tolist()} the group moves {name} along the section, or some of it moves nothing: "
            "the action has to be free there, and the section across its orbits. Take another section, r, or fewer "
            "symmetries."
        )
    if np.max(np.abs(slip), initial=0.0) > 0:
        raise InputError(f"reduce is for constraints without slip; {name} has one (slip(q) is not zero).")
    sizes = np.linalg.svd(psi, compute_uv=False)
    idle = psi.shape[1] - int(np.sum(sizes > CUT * sizes[0]))
    of_d = psi[:, : system.rank]
    if idle > 1 or np.linalg.matrix_rank(of_d, CUT * sizes[0]) < system.rank:
        raise InputError(
            f"the fields of {name} are dependent as vectors (advected or reduced coordinates): it is reduced."
        )
    miss = tangent - psi @ np.linalg.lstsq(psi, tangent)[0]
    along = np.linalg.lstsq(tangent, of_d)[0]
    if np.max(np.abs(miss)) > INVARIANT or np.max(np.abs(tangent @ along - of_d)) > INVARIANT:
        raise InputError(
            f"shape and group together do not make up the motions of {name}: {s} shapes and {k} symmetries for "
            f"{psi.shape[1] - idle} directions. Give all shapes, and a group that acts freely."
        )
    left, sizes, right = np.linalg.svd(along[:s])
    if s and sizes[-1] < CUT * sizes[0]:
        raise InputError(
            f"the constraints of {name} bind the shape alone: D + V is not TQ, the dimension assumption of [QS] 4.1."
        )
    allowed = right[s:].T
    vertical = along[s:] @ allowed
    u, _, _ = np.linalg.svd(vertical, full_matrices=True)
    ready = draft.replace(idle=bool(idle), allowed=jnp.asarray(allowed), other=jnp.asarray(u[:, allowed.shape[1] :]))
    _require_invariance(ready, point)
    return ready


@interpret
def _at_start(draft: ReducedSystem) -> tuple[Array, Array, Array]:
    """Psi, T and the slip at sigma(r), with its slopes: it may be zero there alone."""
    point, slip = draft.section(draft.start), draft.system.slip
    return draft.system.frame(point), draft.tangent(draft.start), jnp.append(slip(point), jax.jacfwd(slip)(point))


@interpret
def _facts(system: System, q: Array, xi: Array) -> tuple[Array, Array, Array, Array]:
    """The fields of D; at (xi, b(q)) l, and the acceleration in coordinates, of which two parts are the sum."""
    whole = hamel.full(system, q, xi)
    psi, turned = jax.jvp(system.frame, (q,), (system.velocity(q, whole),))
    _, rate = hamel.vector_field(system, q, whole)
    return psi[:, : system.rank], system.lagrangian(q, whole), turned @ whole, psi @ rate


def _require_invariance(reduced: ReducedSystem, point: Array) -> None:
    """D, l on it, and the acceleration, with what forces and l off D have in it, are the same at a moved point."""
    system = reduced.system
    rng = np.random.default_rng(1)
    amount = 0.3 * rng.normal(size=len(reduced.actions))
    g = scipy.linalg.expm(np.einsum("a,aij->ij", amount, np.asarray(reduced.actions)))
    there = (g @ np.append(np.asarray(point), 1.0))[:-1]
    free = rng.normal(size=system.rank)
    along, here, *parts = _facts(system, point, free)
    moved = g[:-1, :-1] @ along @ free
    fields = _facts(system, there, free)[0]
    xi, *_ = np.linalg.lstsq(fields, moved)
    off = np.max(np.abs(fields @ xi - moved)) / np.max(np.abs(moved))
    _, other, *others = _facts(system, there, xi)
    bent = np.max(np.abs(g[:-1, :-1] @ sum(parts) - sum(others)))
    size = max(float(np.max(np.abs(part))) for part in (*parts, *others)) + 1e-3 * np.max(np.abs(moved))
    for what, change in (
        ("the constraint distribution D", off),
        ("the Lagrangian", abs(other - here) / max(abs(here), 1e-12)),
        ("what the force, or the Lagrangian off D, does to the motion", bent / size),
    ):
        if not change < INVARIANT:
            raise InputError(
                f"the group is no symmetry of {type(system).__name__}: it changes {what} by {change:.2g} (relative)."
            )
