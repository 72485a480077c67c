"""The discrete Hamel scheme at linear cost, for fields whose points act on their neighbours only."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.fields import banded
from discrete_hamel.mechanics.hamel import balance, full, momentum_on_d
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Interval, Scheme, State

if TYPE_CHECKING:

    class Neighbours(System):
        """What the scheme asks of a field besides: its points, and their places in xi."""

        points: int
        coordinates_a_point: int
        of_points: np.ndarray


class NeighbourHamel(Scheme):
    """The map of `DiscreteHamel()`, tau = 1/2, with Newton's method on blocks: O(points) a step, no dense matrix.

    The system (`Beam`, `SphereField`) has `points` equal blocks of coordinates, in order, gives its frame and
    its brackets as maps (`System.velocity`, `System.coadjoint`), and `of_points`, the places in xi of each point's
    quasi-velocities, (points, k).
    """

    order = 2
    symmetric = True
    conserves = ("constraint", "relative equilibria", "quadratic energy", "spatial momentum", "angular momentum")
    reference = "Zenkov, On Hamel's equations (2016), (5.6) and (5.11)"

    def check(self, system: System, q: Array) -> None:
        if not hasattr(system, "of_points"):
            raise InputError(
                f"NeighbourHamel needs a field that says who its neighbours are; {type(system).__name__} has no "
                "of_points. Use DiscreteHamel()."
            )

    def residual(self, system: "Neighbours", state: State, h: Array, z: Array) -> Array:
        """The rows of a point, next to each other, for the unknowns xi (all n) and q_{k+1} of each point, alike."""
        xi, q1 = _apart(system, z)
        q = 0.5 * (state.q + q1)  # (D1)
        mu, force = balance(system, q, xi)
        rows = jnp.concatenate([mu - 0.5 * h * force - state.p, xi[system.rank :] - system.slip(q)])  # (D2)
        return _together(system, rows, q1 - state.q - h * system.velocity(q, xi))

    def guess(self, system: "Neighbours", state: State, h: Array) -> Array:
        xi = full(system, state.q, state.xi)
        return _together(system, xi, state.q + h * system.velocity(state.q, xi))

    def start(self, system: "Neighbours", q: Array, xi: Array, h: Array) -> State:
        return State(q, momentum_on_d(system, q, xi), xi[: system.rank])

    def advance(self, system: "Neighbours", state: State, h: Array, z: Array) -> tuple[State, Array]:
        xi, q1 = _apart(system, z)
        mu, force = balance(system, 0.5 * (state.q + q1), xi)
        return State(q1, mu + 0.5 * h * force, xi[: system.rank]), xi  # (D2)

    def step(self, system: "Neighbours", state: State, h: Array) -> tuple[State, Interval]:
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

    def velocity(self, system: "Neighbours", state: State) -> Array:
        places, m = system.of_points, system.rank

        def residual(z: Array) -> Array:
            xi = _scatter(system, z)
            rows = jnp.concatenate([momentum_on_d(system, state.q, xi) - state.p, xi[m:] - system.slip(state.q)])
            return rows[places]

        xi, _ = banded.root(residual, full(system, state.q, state.xi)[places])
        return _scatter(system, xi)

    def equation(self, system: "Neighbours", row: int) -> str:
        width = system.coordinates_a_point
        point, place = divmod(row, width + system.of_points.shape[1])
        kind = f"the reconstruction {place}" if place < width else f"the momentum balance {place - width}"
        return f"{kind} of point {point}"


def _scatter(system: "Neighbours", blocks: Array) -> Array:
    """xi in the system's order, from the points' blocks."""
    return jnp.zeros(blocks.size, blocks.dtype).at[system.of_points].set(blocks)


def _together(system: "Neighbours", xi: Array, q: Array) -> Array:
    # Coordinates first: their rows have the pivot 1, and what they leave for xi is the mass and h^2 / 4 of the
    # stiffness. The other way round a stiff field would be eliminated on its small masses.
    return jnp.concatenate([q.reshape(system.points, -1), xi[system.of_points]], axis=1).ravel()


def _apart(system: "Neighbours", z: Array) -> tuple[Array, Array]:
    blocks = jnp.split(z.reshape(system.points, -1), [system.coordinates_a_point], axis=1)
    return _scatter(system, blocks[1]), blocks[0].ravel()


def equilibrium(system: "Neighbours", q: Array) -> Array:
    """Returns a configuration near q that stays at rest: F(q, 0) = 0 along the free velocities, by Newton's method on
    blocks.

    Points move by their fields from q, q + Psi(q) delta; what is constrained does not move.
    """
    q = jnp.asarray(q, float)
    for _ in range(60):  # each with the fields of where the last one led
        q, moved, left = _nearer(system, q)
        if float(moved) < 1e-13 * (1 + float(jnp.max(jnp.abs(q)))):
            return q
    raise InputError(
        f"no equilibrium was found near this configuration: after 60 steps of Newton's method the residual is "
        f"{float(left):.1e}. Start nearer, or apply the load in parts."
    )


@jax.jit
def _nearer(system: "Neighbours", q: Array) -> tuple[Array, Array, Array]:
    """One step of Newton's method towards F(q, 0) = 0; how far it went, and the residual it set out from."""
    places, m = system.of_points, system.rank
    rest = jnp.zeros(places.size)

    def residual(z: Array) -> Array:
        delta = _scatter(system, z)
        _, force = balance(system, q + system.velocity(q, delta), rest)
        return jnp.concatenate([force, delta[m:]])[places]

    start = jnp.zeros(places.shape)
    value, linear = jax.linearize(residual, start)
    delta = _scatter(system, banded.solve(*banded.diagonals(linear, start), -value))
    return q + system.velocity(q, delta), jnp.max(jnp.abs(delta)), jnp.max(jnp.abs(value))
