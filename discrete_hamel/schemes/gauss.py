"""Gauss collocation on Hamel's equations, of any number of stages."""

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.hamel import balance, full, velocities
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.coefficients.quadrature import collocation
from discrete_hamel.schemes.scheme import Scheme, State, compensate

MOST_STAGES = 12


class Gauss(Scheme):
    """(G) Collocation of (H), d/dt mu_j = F_j and qdot = Psi xi, at the s Gauss points: order 2s, symmetric.

        Q_i = q_k + h a_ij Psi(Q_j) Xi_j,  mu(Q_i, Xi_i) = p_k + h a_ij F(Q_j, Xi_j),  and b_i for q_{k+1}, p_{k+1}

    Collocation in (q, p) keeps every invariant that is quadratic in (q, p). Gauss(1) is the implicit midpoint rule, and
    in these variables the same map as DiscreteHamel() at tau = 1/2.   Hairer, Lubich & Wanner (2006) II.1.3

    `compensated` carries along what q and p round off at each step, at nearly no cost: for errors near round-off.
    """

    stages: int = 2
    compensated: bool = False

    order = property(lambda self: 2 * self.stages)
    symmetric = True
    conserves = ("constraint", "relative equilibria", "quadratic energy", "spatial momentum", "angular momentum")
    reference = "Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), II.1.3 and IV.2"
    frameless = True

    def __post_init__(self) -> None:
        if self.stages not in range(1, MOST_STAGES + 1):
            raise InputError(f"stages is {self.stages}; Gauss has 1 to {MOST_STAGES} of them.")

    def __repr__(self) -> str:
        return f"Gauss(stages={self.stages}{', compensated=True' if self.compensated else ''})"

    def guess(self, system: System, state: State, h: Array) -> Array:
        """The stages on the straight line of the last velocity."""
        _, _, c = collocation(self.stages)
        velocity = velocities(system, state.q, state.xi)
        q = state.q[None] + h * c[:, None] * velocity[None]
        return jnp.concatenate([jnp.broadcast_to(state.xi[None], (self.stages, system.rank)), q], axis=1).ravel()

    def _stages(self, system: System, h: Array, z: Array) -> tuple[Array, ...]:
        """Xi_i, Q_i, and there mu and what a stage adds to q and p, h b_i (Psi Xi, F)_i, each (s, ...)."""
        _, b, _ = collocation(self.stages)
        xi, q = jnp.split(z.reshape(self.stages, -1), [system.rank], axis=1)
        mu, force = jax.vmap(lambda q, xi: balance(system, q, xi))(q, xi)
        velocity = jax.vmap(lambda q, xi: velocities(system, q, xi))(q, xi)
        return xi, q, mu, (h * b)[:, None] * jnp.concatenate([velocity, force], axis=1)

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        _, q, mu, added = self._stages(system, h, z)
        share, low = collocation(self.stages)[0], state.low[None] if self.compensated else 0.0  # type: ignore[attr-defined]
        moves, kicks = jnp.split(share @ added + low, [len(state.q)], axis=1)
        return jnp.concatenate([mu - state.p[None] - kicks, q - state.q[None] - moves], axis=1).ravel()

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        _, b, _ = collocation(self.stages)
        xi, q, _, added = self._stages(system, h, z)
        mean: Array = b @ jax.vmap(lambda q, xi: full(system, q, xi))(q, xi)  # type: ignore[assignment]
        new, n = {"xi": mean[: system.rank]}, len(state.q)
        sums = jnp.concatenate([state.q, state.p])
        if not self.compensated:
            sums = sums + jnp.sum(added, axis=0)
        else:
            new["low"] = state.low  # type: ignore[attr-defined]
            for part in added:
                sums, new["low"] = compensate(sums, new["low"], part)
        return state.replace(q=sums[:n], p=sums[n:], **new), mean

    def equation(self, system: System, row: int) -> str:
        width = system.rank + len(system.coordinates or ())
        if not system.coordinates:
            return f"row {row} of the stage equations"
        return f"{super().equation(system, row % width)} at stage {row // width + 1}"
