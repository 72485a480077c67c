"""The shape variable of a system with symmetry, and the sentences for symmetries and shapes that are none."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.symmetry.adjoint_equation import Shape, drags
from discrete_hamel.analysis.symmetry.phase_space import Chosen, complement, generators, independent
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System

KEPT = 1e-7  # change, relative to what changes, that counts as none
SAMPLES = 24  # points at which the generators are looked at for linear invariants


@dataclass(frozen=True)
class Chart:
    """r(q) = M q, several linear shape variables."""

    matrix: tuple[tuple[float, ...], ...]

    def __call__(self, q: Array) -> Array:
        return jnp.asarray(self.matrix) @ q


@dataclass(frozen=True)
class Linear:
    """r(q) = <weights, q>."""

    weights: tuple[float, ...]

    def __call__(self, q: Array) -> Array:
        return jnp.asarray(self.weights) @ q


def linear_shape(system: System, symmetries: Chosen, q: Array) -> Shape:
    """The linear function of the coordinates that no symmetry changes, where there is one and only one."""
    left = _linear_invariants(system, symmetries, q)
    if left.shape[1] != 1:
        known = ", ".join(system.coordinates) or f"the {len(q)} coordinates"
        raise InputError(
            f"{left.shape[1]} independent linear functions of {known} are invariant under the symmetries of "
            f"{type(system).__name__}, and one shape variable is needed: give shape=, an invariant function of q, "
            "or symmetries=, a group that leaves one."
        )
    weights = left[:, 0] / left[np.argmax(np.abs(left[:, 0]) > 0.999 * np.max(np.abs(left[:, 0]))), 0]
    last = np.flatnonzero(np.abs(weights) > 0.999)[-1]
    weights = np.round(weights / weights[last], 12) + 0.0
    return Linear(tuple(float(w) for w in weights))


def _linear_invariants(system: System, symmetries: Chosen, q: Array) -> np.ndarray:
    """The linear functions of q that no symmetry changes, as columns."""
    points = np.asarray(q) + np.random.default_rng(0).normal(size=(SAMPLES, len(q)))
    columns = np.concatenate(list(np.asarray(_fields(symmetries, system, points))), axis=1)
    return complement(columns)


def linear_chart(system: System, symmetries: Chosen, q: Array, dimension: int) -> Chart:
    """So many of those functions as shape variables about q: the ones that change most along D."""
    rows = _linear_invariants(system, symmetries, q).T
    along = rows @ np.asarray(system.frame(q))[:, : system.rank]
    left, sizes, _ = np.linalg.svd(along)
    if np.sum(sizes > KEPT * max(float(np.max(sizes, initial=0.0)), 1e-12)) < dimension:
        raise InputError(
            f"the shape space of {type(system).__name__} has {dimension} dimensions at q, and its symmetries leave "
            f"fewer independent linear functions of the coordinates: give shape=, {dimension} invariant functions of q."
        )
    return Chart(tuple(map(tuple, (left[:, :dimension].T @ rows).tolist())))


def shape_dimension(system: System, symmetries: Chosen, q: Array) -> int:
    """How many dimensions of the shape space D reaches at q."""
    fields, psi = (np.asarray(a) for a in (_fields(symmetries, system, q[None])[0], system.frame(q)[:, : system.rank]))
    return independent(np.concatenate([fields, psi], axis=1)).shape[1] - independent(fields).shape[1]


def require_chart(system: System, symmetries: Chosen, shape: Shape, q: Array, dimension: int) -> None:
    """The shape variables are invariant, and as many independent ones along D as the shape space has dimensions."""
    got = np.shape(shape(q))
    if got != (dimension,):
        raise InputError(
            f"the shape space of {type(system).__name__} has {dimension} dimensions at q: shape(q) must return as many "
            f"shape variables; it returns shape {got}."
        )
    slope, fields = np.asarray(jax.jacrev(shape)(q)), np.asarray(_fields(symmetries, system, q[None])[0])
    if np.max(np.abs(slope @ fields)) > KEPT * (np.linalg.norm(slope) * np.linalg.norm(fields) + 1e-12):
        raise InputError("the shape variables are not invariant: a symmetry changes them.")
    sizes = np.linalg.svd(slope @ np.asarray(system.frame(q))[:, : system.rank], compute_uv=False)
    if sizes[-1] < KEPT * sizes[0]:
        raise InputError("the shape variables do not change independently along D at q; give others.")


@partial(jax.jit, static_argnums=0)
def _fields(symmetries: Chosen, system: System, points: Array) -> Array:
    """The generators as columns, at each point."""
    moves = generators(system, symmetries).values()
    return jax.vmap(lambda q: jnp.stack([move(q) for move in moves], axis=1))(points)


@partial(jax.jit, static_argnums=0)
def _changes(symmetries: Chosen, system: System, q: Array) -> tuple[Array, Array, Array, Array]:
    """How far each generator carries D off itself and changes l on it, and the sizes to compare these with."""
    m = system.rank
    psi = system.frame(q)[:, :m]
    fields, drag = drags(system, symmetries, q)
    free = 1.0 + jnp.arange(m) / m
    gradient, momentum = jax.grad(lambda q, v: system.lagrangian(q, hamel.full(system, q, v)), (0, 1))(q, free)
    off = []
    for move, turn in zip(generators(system, symmetries).values(), drag, strict=True):
        _, changed = jax.jvp(lambda q: system.frame(q)[:, :m], (q,), (move(q),))
        off.append(jnp.max(jnp.abs(changed - jax.jacfwd(move)(q) @ psi - psi @ turn)))
    rise = fields.T @ gradient - drag @ free @ momentum
    size = jnp.abs(fields).T @ jnp.abs(gradient) + jnp.abs(drag) @ jnp.abs(free) @ jnp.abs(momentum)
    size = size + jnp.abs(momentum) @ jnp.abs(free)  # the kinetic energy, where nothing changes at all
    return jnp.stack(off), jnp.max(jnp.abs(psi)) * jnp.ones_like(rise), jnp.abs(rise), size


def require_symmetry(system: System, symmetries: Chosen, q: Array) -> None:
    """Each generator keeps D and the Lagrangian on it, near q."""
    moves = generators(system, symmetries)
    name = type(system).__name__
    if not moves:
        raise InputError(f"{name} declares no symmetries; give symmetries=, generators q -> qdot by name.")
    off, scale, rise, size = (np.asarray(a) for a in _changes(symmetries, system, q))
    for what, changes, sizes in (("the constraint distribution D", off, scale), ("the Lagrangian", rise, size)):
        bad = np.flatnonzero(changes > KEPT * np.maximum(sizes, 1e-12))
        if len(bad):
            raise InputError(
                f"{list(moves)[bad[0]]!r} is no symmetry of {name}: it changes {what} by {changes[bad[0]]:.2g}."
            )


@partial(jax.jit, static_argnums=(0, 1))
def _directions(symmetries: Chosen, shape: Shape, system: System, q: Array) -> tuple[Array, Array, Array]:
    fields = jnp.stack([move(q) for move in generators(system, symmetries).values()], axis=1)
    return jax.grad(shape)(q), fields, system.frame(q)[:, : system.rank]


def require_shape(system: System, symmetries: Chosen, shape: Shape, q: Array) -> None:
    """The shape variable is invariant, changes along D, and is the only one: S has one dimension less than D."""
    slope, fields, psi = (np.asarray(a) for a in _directions(symmetries, shape, system, q))
    changes = np.abs(slope @ fields) > KEPT * (np.linalg.norm(slope) * np.linalg.norm(fields, axis=0) + 1e-12)
    if changes.any():
        name = list(generators(system, symmetries))[int(np.argmax(changes))]
        raise InputError(f"the shape variable is not invariant: {name!r} changes it.")
    if np.max(np.abs(psi.T @ slope)) < KEPT * np.linalg.norm(slope):
        raise InputError("the shape variable does not change along D at q; start elsewhere or give another.")
    shapes = shape_dimension(system, symmetries, q)
    if shapes != 1:
        raise InputError(
            f"the shape space of {type(system).__name__} has {shapes} dimensions that D reaches at q, and hidden "
            "momenta are sought along one: give symmetries=, a group whose orbits leave one."
        )
