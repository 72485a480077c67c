"""The discrete Hamel scheme at linear cost, for the string in the velocities along and across it."""

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.fields import banded
from discrete_hamel.fields.along_and_across import AlongAndAcross
from discrete_hamel.fields.complex_points import complex_of, pairs_of, square
from discrete_hamel.fields.tension import outer_forces, tension, tension_rows
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Interval, Scheme, State

REACH = 3  # points that the equations at a point look ahead or back, at most: so many make a block


class NeighbourTension(Scheme[AlongAndAcross, State]):
    """The map of `DiscreteHamel()`, tau = 1/2, for `AlongAndAcross`: O(points) a step, no dense matrix.

    The tension acts along the whole string at once. As an unknown of the step, beside the points, it is one more
    equation that knows its neighbours only. With t = tangents(q), f = the tension's pull and -dV/dz, V = (z' - z) / h
    and t' along V, all at the middle of the interval, (D2) and the tension are

        p_k = m conj(t - (h/2) t') V - (h/2) conj(t) f,   p_{k+1} = m conj(t + (h/2) t') V + (h/2) conj(t) f
        A(z) lambda = r(z, V)                                                    A tridiagonal: `tension`
    """

    order = 2
    symmetric = True
    conserves = ()
    reference = "Zenkov, On Hamel's equations (2016), (5.6), Example 3.2"

    def check(self, system: System, q: Array) -> None:
        if not isinstance(system, AlongAndAcross):
            raise InputError(
                f"NeighbourTension is for AlongAndAcross; {type(system).__name__} is for another scheme, "
                "DiscreteHamel() say."
            )

    def start(self, system: AlongAndAcross, q: Array, xi: Array, h: Array) -> State:
        return State(q, jax.grad(system.lagrangian, 1)(q, xi), xi)

    def guess(self, system: AlongAndAcross, state: State, h: Array) -> Array:
        """z of an explicit Euler step, and the tension where it starts, in blocks of so many points as `REACH` says."""
        v = system.velocity(state.q, state.xi)
        held = tension(*system.as_string(state.q, v))
        points = jnp.concatenate([(state.q + h * v).reshape(-1, 2), jnp.pad(held, (0, 1))[:, None]], axis=1)
        return jnp.pad(points, ((0, -len(points) % REACH), (0, 0))).reshape(-1, 3 * REACH)

    def residual(self, system: AlongAndAcross, state: State, h: Array, z: Array) -> Array:
        """The rows of each point, next to each other; what fills up the last block is its own equation."""
        table = z.reshape(-1, 3)
        q1, held = _apart(system, z)
        before, _, _ = _momenta(system, state, h, q1, held)
        # Divided by what multiplies z', so that the elimination finds pivots near 1.
        weight = _masses(system) * jnp.conj(system.tangents(state.q)) / h
        moved = (before - complex_of(state.p)) / weight
        middle, v = 0.5 * (state.q + q1), (q1 - state.q) / h
        lower, main, upper, right = tension_rows(*system.as_string(middle, v))
        around = jnp.pad(held, 1)
        pulled = held + (lower * around[:-2] + upper * around[2:] - right) / main
        count = system.string.points
        rows = table.at[:count, :2].set(pairs_of(moved).reshape(-1, 2))
        return rows.at[: count - 1, 2].set(pulled).reshape(z.shape)

    def advance(self, system: AlongAndAcross, state: State, h: Array, z: Array) -> tuple[State, Array]:
        q1, held = _apart(system, z)
        _, after, (middle, v) = _momenta(system, state, h, q1, held)
        xi = system.quasivelocity(middle, v)
        return State(q1, pairs_of(after), xi), xi

    def step(self, system: AlongAndAcross, state: State, h: Array) -> tuple[State, Interval]:
        guess = self.guess(system, state, h)
        q1, held = _apart(system, guess)
        place = jnp.max(jnp.abs(q1))
        # Round-off of a place is that much of a velocity, and so of a tension.
        pulled = jnp.max(jnp.abs(held)) + jnp.max(_masses(system)) * place / h**2
        sizes = jnp.tile(jnp.stack([place, place, pulled]), REACH)
        z, report = banded.root(lambda z: self.residual(system, state, h, z), guess, sizes)
        state, xi = self.advance(system, state, h, z)
        return state, Interval(xi, report)

    def velocity(self, system: AlongAndAcross, state: State) -> Array:
        """xi of p = m |t|^2 xi."""
        return state.p / jnp.repeat(_masses(system) * square(system.tangents(state.q)), 2)

    def equation(self, system: System, row: int) -> str:
        point, place = divmod(row, 3)
        return f"the tension of link {point + 1}" if place == 2 else f"the momentum balance {place} of point {point}"


def _momenta(system: AlongAndAcross, state: State, h: Array, q1: Array, held: Array) -> tuple[Array, Array, tuple]:
    """(D2): p_k and p_{k+1}, complex; and q and qdot in the middle of the interval."""
    q, v = 0.5 * (state.q + q1), (q1 - state.q) / h
    t, turning = jax.jvp(system.tangents, (q,), (v,))
    pull = system.pull(q, held)
    force = complex_of(pull) + outer_forces(system.string, complex_of(q))
    mu = _masses(system) * complex_of(v)
    kick = 0.5 * h * (jnp.conj(turning) * mu + jnp.conj(t) * force)
    return jnp.conj(t) * mu - kick, jnp.conj(t) * mu + kick, (q, v)


def _masses(system: AlongAndAcross) -> Array:
    return system.string.masses()


def _apart(system: AlongAndAcross, z: Array) -> tuple[Array, Array]:
    """z' as (x_0, y_0, ..), and the tensions."""
    table = z.reshape(-1, 3)[: system.string.points]
    return table[:, :2].ravel(), table[:-1, 2]
