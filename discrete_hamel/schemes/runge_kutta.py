"""The classical explicit method on Hamel's equations, for comparison."""

import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics.hamel import balance, full, vector_field
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


class RungeKutta4(Scheme):
    """The classical Runge-Kutta method on (H) in the variables (q, xi^D): explicit, order 4, and no structure kept.

    The constraint xi^U = b(q) holds at nodes and stages, because xi^U is never integrated. Energy drifts.
    """

    order = 4
    symmetric = False
    conserves = ("constraint", "relative equilibria")
    reference = "Kutta (1901); Hairer, Norsett & Wanner, Solving ODEs I, Table II.1.2"
    frameless = True
    explicit = True
    nodal = True

    def guess(self, system: System, state: State, h: Array) -> Array:
        """The result itself, (xi^D, q_{k+1}, mean xi)."""

        def slope(dq: Array, dxi: Array) -> tuple[Array, Array, Array]:
            q, xi = state.q + dq, state.xi + dxi
            velocity, acceleration = vector_field(system, q, xi)
            return velocity, acceleration[: system.rank], full(system, q, xi)

        v1, a1, xi1 = slope(jnp.zeros_like(state.q), jnp.zeros_like(state.xi))
        v2, a2, xi2 = slope(h / 2 * v1, h / 2 * a1)
        v3, a3, xi3 = slope(h / 2 * v2, h / 2 * a2)
        v4, a4, xi4 = slope(h * v3, h * a3)
        xi = state.xi + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        q = state.q + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        return jnp.concatenate([xi, q, (xi1 + 2 * xi2 + 2 * xi3 + xi4) / 6])

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        return z - self.guess(system, state, h)

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        xi, q, mean = jnp.split(z, [system.rank, system.rank + len(state.q)])
        return State(q, balance(system, q, xi)[0], xi), mean
