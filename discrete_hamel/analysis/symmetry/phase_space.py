"""The constraint phase space (q, xi^D), its tangent space, and the symmetry group's action on it."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.symmetry.group_actions import Generator, Symmetries, by_name
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics import frames, hamel
from discrete_hamel.mechanics.gibbs_appell import directions
from discrete_hamel.mechanics.newton import root
from discrete_hamel.mechanics.system import System

Chosen = tuple[tuple[str, Generator], ...] | None  # their generators, hashable

SQUARINGS, TERMS = 8, 10  # of the exponential: round-off for turns of up to 50 rad
NEARBY = 2  # points beside one at which what is said of it is asked too
DEPENDENT = 1e-9  # relative singular value below which directions are taken for dependent


def static_generators(system: System, symmetries: Symmetries, q: Coordinates | None = None) -> Chosen:
    """The generators of the symmetries in a form that jax can take as a static argument."""
    return None if symmetries is None else tuple(by_name(system, symmetries, q).items())


def generators(system: System, symmetries: Chosen) -> dict[str, Generator]:
    """The generators q -> qdot, by name."""
    return system.symmetries() if symmetries is None else dict(symmetries)


def lift(system: System, generator: Generator, q: Array, free: Array) -> tuple[Array, Array]:
    """How a motion of the group moves (q, xi^D): X and the rate of xi^D for which Psi xi is carried along, v' = DX v.

    It is taken from the fields of D alone, so that fields of U may be dependent as vectors (advected coordinates); for
    qdot = psi(q, z) from psi_z.
    """

    def velocity(q: Array) -> Array:
        return hamel.velocities(system, q, free)

    move, carried = jax.jvp(generator, (q,), (velocity(q),))
    _, changed = jax.jvp(velocity, (q,), (move,))
    return move, frames.left_inverse(_along(system, q, free), carried - changed)


def _along(system: System, q: Array, free: Array) -> Array:
    """d qdot / d xi^D."""
    return directions(system, q, free) if system.frameless else system.frame(q)[:, : system.rank]


def orbit(system: System, symmetries: Chosen, x: Array) -> Array:
    """The lifted generators at x = (q, xi^D) as columns."""
    q, free = split(system, x)
    columns = [
        jnp.concatenate(lift(system, generator, q, free)) for generator in generators(system, symmetries).values()
    ]
    return jnp.stack(columns, axis=1) if columns else jnp.zeros((len(x), 0))


def split(system: System, x: Array) -> tuple[Array, Array]:
    """(q, xi^D) of x."""
    return x[: len(x) - system.rank], x[len(x) - system.rank :]


def join(system: System, q: Coordinates, xi: Quasivelocities) -> Array:
    """x = (q, xi^D)."""
    return on_device(np.concatenate([np.asarray(q, float), np.asarray(xi, float)[: system.rank]]))


def field(system: System, x: Array) -> Array:
    """The vector field of (H) on (q, xi^D)."""
    q, free = split(system, x)
    velocity, acceleration = hamel.vector_field(system, q, free)
    return jnp.concatenate([velocity, acceleration[: system.rank]])


def action(system: System, symmetries: Chosen, group: Array, x: Array) -> Array:
    """exp(group^a X_a) applied to x = (q, xi^D), for generators that are affine in q: then exp is that of a matrix."""
    q, free = split(system, x)
    fields = list(generators(system, symmetries).values())
    if not fields:
        return x

    def combine(point: Array) -> Array:
        return sum((weight * move(point) for weight, move in zip(group, fields, strict=True)), jnp.zeros_like(q))

    linear = jax.jacfwd(combine)(jnp.zeros_like(q))
    constant = combine(jnp.zeros_like(q))
    affine = jnp.zeros((len(q) + 1, len(q) + 1)).at[:-1, :-1].set(linear).at[:-1, -1].set(constant)
    exponential = _exponential(affine)
    turn, shift = exponential[:-1, :-1], exponential[:-1, -1]
    moved = turn @ q + shift
    carried = turn @ hamel.velocities(system, q, free)
    if system.frameless:
        return jnp.concatenate([moved, _solve_for_z(system, moved, carried, free)])
    along, across = jnp.split(system.frame(moved), [system.rank], axis=1)
    return jnp.concatenate([moved, frames.left_inverse(along, carried - across @ system.slip(moved))])


def _solve_for_z(system: System, q: Array, velocity: Array, guess: Array) -> Array:
    """z of psi(q, z) = velocity, near the guess; of n equations those along psi_z."""
    return root(lambda z: directions(system, q, guess).T @ (hamel.velocities(system, q, z) - velocity), guess)[0]


def _exponential(matrix: Array) -> Array:
    """exp by Taylor's polynomial of matrix / 2^8, squared eight times: less to compile than a Pade table."""
    small = matrix / 2**SQUARINGS

    def horner(k: Array, total: Array) -> Array:
        return jnp.eye(len(matrix)) + small @ total / (TERMS - k)

    start = jax.lax.fori_loop(0, TERMS, horner, jnp.eye(len(matrix)))
    return jax.lax.fori_loop(0, SQUARINGS, lambda _, total: total @ total, start)


def require_affine(system: System, symmetries: Symmetries, q: Array) -> None:
    """A sentence for generators that `action` cannot take."""
    select = static_generators(system, symmetries)
    origin, here = (
        _slopes(select, system, at) for at in (np.zeros(len(q)), np.asarray(q) + np.linspace(0.1, 0.7, len(q)))
    )
    for name, slope in origin.items():
        if not np.allclose(slope, here[name], rtol=1e-9, atol=1e-9):
            raise InputError(
                f"the symmetry {name!r} of {type(system).__name__} is not affine in its coordinates, so a finite step "
                "cannot be undone by a matrix exponential. Give coordinates in which the group acts by affine maps."
            )


@partial(interpret, static=1, often=OFTEN)
def _slopes(symmetries: Chosen, system: System, q: Array) -> dict[str, Array]:
    return {name: jax.jacfwd(generator)(q) for name, generator in generators(system, symmetries).items()}


@jax.jit
def frame(system: System, q: Array) -> Array:
    """Psi(q), compiled; all directions for systems that have no frame."""
    return jnp.eye(len(q)) if system.frameless else system.frame(q)


def tangent(system: System, q: Coordinates, extra: int) -> np.ndarray:
    """An orthonormal basis of the range of Psi(q), q's true directions, then `extra` further unit vectors; columns."""
    return block(independent(np.asarray(frame(system, jnp.asarray(q)))), extra)


def independent(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span of columns."""
    if 0 in columns.shape:
        return np.zeros((len(columns), 0))
    u, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, sizes > DEPENDENT * max(sizes[0], 1e-300)]


def complement(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what is orthogonal to columns."""
    span = independent(columns)
    return np.eye(len(columns)) if span.shape[1] == 0 else np.linalg.svd(span)[0][:, span.shape[1] :]


def block(basis: np.ndarray, extra: int) -> np.ndarray:
    """`basis` with `extra` further unit vectors below it."""
    rows, columns = basis.shape
    whole = np.zeros((rows + extra, columns + extra))
    whole[:rows, :columns], whole[rows:, columns:] = basis, np.eye(extra)
    return whole


@partial(interpret, often=OFTEN)
def retract(system: System, q: Array, eta: Array) -> Array:
    """q after a step of the midpoint rule q' = Psi eta: it keeps rotation matrices and unit vectors what they are."""
    return root(lambda end: end - q - frame(system, (q + end) / 2) @ eta, q)[0]


def nearby(system: System, q: Array, n: int) -> Array:
    """A few points near q that a system with n quasi-velocities can reach from there."""
    if not len(q):
        return jnp.zeros((NEARBY, 0))
    amounts = 0.1 * np.random.default_rng(0).normal(size=(NEARBY, n))
    return jax.device_put(np.stack([retract(system, q, eta) for eta in amounts]))


@partial(interpret, often=OFTEN)
def _field(system: System, x: Array) -> Array:
    return field(system, x)


@partial(interpret, static=1, often=OFTEN)
def _orbit(symmetries: Chosen, system: System, x: Array) -> Array:
    return orbit(system, symmetries, x)


def rates(system: System, x: ArrayLike) -> np.ndarray:
    """The field of (H) at x, compiled."""
    return np.asarray(_field(system, np.asarray(x)))


def orbits(symmetries: Chosen, system: System, x: ArrayLike) -> np.ndarray:
    """The lifted generators at x, compiled."""
    return np.asarray(_orbit(symmetries, system, np.asarray(x)))
