"""The discrete Hamel scheme at linear cost, for fields whose points act on their neighbours only."""

from functools import partial
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.fields import banded
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Interval, Scheme, State

NEEDED = ("velocity", "coadjoint", "of_points")


class Neighbours(Protocol):
    """What the scheme asks of a field: its points, places in xi, and Hamel's equations by maps of vectors."""

    rank: int
    points: int
    coordinates_a_point: int
    of_points: np.ndarray

    def lagrangian(self, q: Array, xi: Array) -> Array: ...
    def velocity(self, q: Array, xi: Array) -> Array: ...
    def coadjoint(self, q: Array, xi: Array, mu: Array) -> Array: ...
    def force(self, q: Array, xi: Array) -> Array: ...
    def slip(self, q: Array) -> Array: ...


class NeighbourHamel(Scheme):
    """The map of `DiscreteHamel()`, tau = 1/2, with Newton's method on blocks: O(points) a step, no dense matrix.

    The system (`Beam`, `SphereField`) has `points` equal blocks of coordinates, in order, and gives what the dense
    frame and structure stand for as maps: `velocity(q, xi)` = Psi xi, `coadjoint(q, xi, mu)` = [xi, mu]*, and
    `of_points`, the places in xi of each point's quasi-velocities, (points, k).
    """

    order = 2
    symmetric = True
    conserves = ("constraint", "relative equilibria", "quadratic energy", "spatial momentum", "angular momentum")
    reference = "Zenkov, On Hamel's equations (2016), (5.6) and (5.11)"

    def check(self, system: System, q: Array) -> None:
        missing = [name for name in NEEDED if not hasattr(system, name)]
        if missing:
            raise ValueError(
                f"NeighbourHamel needs a field that says who its neighbours are; {type(system).__name__} has no "
                f"{', '.join(missing)}. Use DiscreteHamel()."
            )

    def residual(self, system: Neighbours, state: State, h: Array, z: Array) -> Array:
        """The rows of a point, next to each other, for the unknowns xi (all n) and q_{k+1} of each point, alike."""
        xi, q1 = _apart(system, z)
        q = 0.5 * (state.q + q1)  # (D1)
        mu, force = balance(system, q, xi)
        rows = mu - 0.5 * h * force  # (D2)
        m = system.rank
        rows = jnp.concatenate([rows[:m] - state.p, xi[m:] - system.slip(q)])
        return _together(system, rows, q1 - state.q - h * system.velocity(q, xi))

    def guess(self, system: Neighbours, state: State, h: Array) -> Array:
        xi = jnp.concatenate([state.xi, system.slip(state.q)])
        return _together(system, xi, state.q + h * system.velocity(state.q, xi))

    def start(self, system: Neighbours, q: Array, xi: Array, h: Array) -> State:
        return State(q, jax.grad(system.lagrangian, 1)(q, xi)[: system.rank], xi[: system.rank])

    def advance(self, system: Neighbours, state: State, h: Array, z: Array) -> tuple[State, Array]:
        xi, q1 = _apart(system, z)
        mu, force = balance(system, 0.5 * (state.q + q1), xi)
        m = system.rank
        return State(q1, (mu + 0.5 * h * force)[:m], xi[:m]), xi  # (D2)

    def step(self, system: Neighbours, state: State, h: Array) -> tuple[State, Interval]:
        guess = self.guess(system, state, h)
        shape = (system.points, guess.size // system.points)

        def residual(z: Array) -> Array:
            return self.residual(system, state, h, z.ravel()).reshape(shape)

        # Round-off in q changes (q_{k+1} - q_k) / h by that much more: xi is not expected to be better.
        width = system.coordinates_a_point
        largest = jnp.max(jnp.abs(guess.reshape(shape)), axis=0)
        place = jnp.max(largest[:width])
        sizes = jnp.concatenate([jnp.full(width, place), largest[width:] + place / jnp.abs(h)])
        z, report = banded.root(residual, guess.reshape(shape), sizes)
        state, xi = self.advance(system, state, h, z.ravel())
        return state, Interval(xi, report)

    def velocity(self, system: Neighbours, state: State) -> Array:
        places, m = system.of_points, system.rank

        def residual(z: Array) -> Array:
            xi = _scattered(system, z)
            rows = jnp.concatenate([_momentum(system, state.q, xi)[:m] - state.p, xi[m:] - system.slip(state.q)])
            return rows[places]

        xi, _ = banded.root(residual, jnp.concatenate([state.xi, system.slip(state.q)])[places])
        return _scattered(system, xi)

    def equation(self, system: Neighbours, row: int) -> str:
        width = system.coordinates_a_point
        point, place = divmod(row, width + system.of_points.shape[1])
        kind = f"the reconstruction {place}" if place < width else f"the momentum balance {place - width}"
        return f"{kind} of point {point}"


def balance(system: Neighbours, q: Array, xi: Array) -> tuple[Array, Array]:
    """(mu, F) of (H), all n components, without frame or structure: what `hamel.balance` is, by maps."""
    gradient, mu = jax.grad(system.lagrangian, (0, 1))(q, xi)
    (along_frame,) = jax.linear_transpose(partial(system.velocity, q), xi)(gradient)
    return mu, system.coadjoint(q, xi, mu) + along_frame + system.force(q, xi)


def _momentum(system: Neighbours, q: Array, xi: Array) -> Array:
    return jax.grad(system.lagrangian, 1)(q, xi)


def _scattered(system: Neighbours, blocks: Array) -> Array:
    """xi in the system's order, from the points' blocks."""
    return jnp.zeros(blocks.size, blocks.dtype).at[system.of_points].set(blocks)


def _together(system: Neighbours, xi: Array, q: Array) -> Array:
    # Coordinates first: their rows have the pivot 1, and what they leave for xi is the mass and h^2 / 4 of the
    # stiffness. The other way round a stiff field would be eliminated on its small masses.
    return jnp.concatenate([q.reshape(system.points, -1), xi[system.of_points]], axis=1).ravel()


def _apart(system: Neighbours, z: Array) -> tuple[Array, Array]:
    blocks = jnp.split(z.reshape(system.points, -1), [system.coordinates_a_point], axis=1)
    return _scattered(system, blocks[1]), blocks[0].ravel()


def equilibrium(system: Neighbours, q: Array) -> Array:
    """A configuration near q that stays at rest: F(q, 0) = 0 along the free velocities, by Newton's method on blocks.

    Points move by their fields from q, q + Psi(q) delta; what is constrained does not move.
    """
    q = jnp.asarray(q, float)
    for _ in range(60):  # each with the fields of where the last one led
        q, moved, left = _nearer(system, q)
        if float(moved) < 1e-13 * (1 + float(jnp.max(jnp.abs(q)))):
            return q
    raise ValueError(
        f"no equilibrium was found near this configuration: after 60 steps of Newton's method the residual is "
        f"{float(left):.1e}. Start nearer, or apply the load in parts."
    )


@jax.jit
def _nearer(system: Neighbours, q: Array) -> tuple[Array, Array, Array]:
    """One step of Newton's method towards F(q, 0) = 0; how far it went, and the residual it set out from."""
    places, m = system.of_points, system.rank
    rest = jnp.zeros(places.size)

    def residual(z: Array) -> Array:
        delta = _scattered(system, z)
        _, force = balance(system, q + system.velocity(q, delta), rest)
        return jnp.concatenate([force[:m], delta[m:]])[places]

    start = jnp.zeros(places.shape)
    value, linear = jax.linearize(residual, start)
    delta = _scattered(system, banded.solve(*banded.diagonals(linear, start), -value))
    return q + system.velocity(q, delta), jnp.max(jnp.abs(delta)), jnp.max(jnp.abs(value))
