"""Gauss collocation on Hamel's equations, of any number of stages."""

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.hamel import balance, full, velocities
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.coefficients.quadrature import collocation
from discrete_hamel.schemes.scheme import Scheme, State

MOST_STAGES = 12


class Gauss(Scheme):
    """(G) Collocation of (H), d/dt mu_j = F_j and qdot = Psi xi, at the s Gauss points: order 2s, symmetric.

        Q_i = q_k + h a_ij Psi(Q_j) Xi_j,  mu(Q_i, Xi_i) = p_k + h a_ij F(Q_j, Xi_j),  and b_i for q_{k+1}, p_{k+1}

    Collocation in (q, p) keeps every invariant that is quadratic in (q, p). Gauss(1) is the implicit midpoint rule, and
    in these variables the same map as DiscreteHamel() at tau = 1/2.   Hairer, Lubich & Wanner (2006) II.1.3
    """

    stages: int = 2

    order = property(lambda self: 2 * self.stages)
    symmetric = True
    conserves = ("constraint", "relative equilibria", "quadratic energy", "spatial momentum", "angular momentum")
    reference = "Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), II.1.3 and IV.2"
    frameless = True

    def __post_init__(self) -> None:
        if self.stages not in range(1, MOST_STAGES + 1):
            raise InputError(f"stages is {self.stages}; Gauss has 1 to {MOST_STAGES} of them.")

    def guess(self, system: System, state: State, h: Array) -> Array:
        """The stages on the straight line of the last velocity."""
        _, _, c = collocation(self.stages)
        velocity = velocities(system, state.q, state.xi)
        q = state.q[None] + h * c[:, None] * velocity[None]
        return jnp.concatenate([jnp.broadcast_to(state.xi[None], (self.stages, system.rank)), q], axis=1).ravel()

    def _stages(self, system: System, z: Array) -> tuple[Array, ...]:
        """Xi_i, Q_i, and at them mu, F and Psi xi, each (s, ...)."""
        xi, q = jnp.split(z.reshape(self.stages, -1), [system.rank], axis=1)
        mu, force = jax.vmap(lambda q, xi: balance(system, q, xi))(q, xi)
        return xi, q, mu, force, jax.vmap(lambda q, xi: velocities(system, q, xi))(q, xi)

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        a, _, _ = collocation(self.stages)
        _, q, mu, force, velocity = self._stages(system, z)
        momentum = mu - state.p[None] - h * (a @ force)
        return jnp.concatenate([momentum, q - state.q[None] - h * (a @ velocity)], axis=1).ravel()

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        _, b, _ = collocation(self.stages)
        xi, q, _, force, velocity = self._stages(system, z)
        mean = b @ jax.vmap(lambda q, xi: full(system, q, xi))(q, xi)
        return State(state.q + h * (b @ velocity), state.p + h * (b @ force), mean[: system.rank]), mean

    def equation(self, system: System, row: int) -> str:
        width = system.rank + len(system.coordinates or ())
        if not system.coordinates:
            return f"row {row} of the stage equations"
        return f"{super().equation(system, row % width)} at stage {row // width + 1}"
