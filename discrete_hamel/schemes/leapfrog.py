"""The nonholonomic leapfrog, or geometric nonholonomic integrator."""

from typing import Any

import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.pytrees import Pytree
from discrete_hamel.mechanics import frames, hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.coordinates import covector, need_square, refuse_dependent, verlet
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.schemes.stormer_verlet import momentum_balance


class ReactingState(Pytree):
    """A node with the reaction force there, which acts on both half-steps that meet in it."""

    q: Array
    p: Array
    xi: Array
    reaction: Array


class Leapfrog(Scheme):
    """Stormer-Verlet between nodes, momenta projected at the nodes, by the same reaction before and after.

    P+_k = P_k + (h/2) A^T(q_k) lambda_k  -- Stormer-Verlet -->  P-_{k+1} = P_{k+1} - (h/2) A^T(q_{k+1}) lambda_{k+1}

    with lambda_{k+1} such that the velocity at node k+1 is on the constraint. For L = T - V it is the geometric
    nonholonomic integrator: P+ is P- reflected in D by the kinetic metric, so explicit when that is constant (Newton
    then stops at its first iteration), and implicit otherwise. Affine constraints and forces are admitted. The reaction
    is remembered from step to step; a perturbation of it alternates in sign and does not decay, and what decays in the
    system may grow in the scheme: the straight motion of the unbalanced sleigh loses its stability (observed).
    """

    order = 2
    symmetric = True
    changes = ("q",)
    conserves = ("angular momentum",)
    reference = (
        "Ferraro, Iglesias and Martin de Diego, Momentum and energy preserving integrators for nonholonomic dynamics "
        "(2008); McLachlan and Perlmutter, Integrators for nonholonomic mechanical systems (2006)"
    )

    def check(self, system: System, q: Array) -> None:
        refuse_dependent(system, q, "Leapfrog")

    def start(self, system: System, q: Array, xi: Array, h: Array) -> ReactingState:
        need_square(system, q, "Leapfrog")
        free = xi[: system.rank]
        return ReactingState(q, hamel.balance(system, q, free)[0], free, hamel.reactions(system, q, free))

    def guess(self, system: System, state: Any, h: Array) -> Array:
        v = hamel.velocities(system, state.q, state.xi)
        return jnp.concatenate([v, v])

    def _step(self, system: System, state: Any, h: Array, z: Array) -> tuple[Array, Array, Array]:
        across = hamel.momentum(system, state.q, state.xi)[system.rank :] + (h / 2) * state.reaction
        return verlet(system, state.q, covector(system, state.q, jnp.concatenate([state.p, across])), h, z)

    def residual(self, system: System, state: Any, h: Array, z: Array) -> Array:
        return self._step(system, state, h, z)[0]

    def advance(self, system: System, state: Any, h: Array, z: Array) -> tuple[ReactingState, Array]:
        _, q1, end = self._step(system, state, h, z)
        v, v1 = jnp.split(z, 2)
        p, across = jnp.split(system.frame(q1).T @ end, [system.rank])
        xi = hamel.legendre(system, q1, p, frames.left_inverse(system.frame(q1), v1))
        reaction = (hamel.momentum(system, q1, xi)[system.rank :] - across) / (h / 2)
        mean = frames.left_inverse(system.frame((state.q + q1) / 2), (v + v1) / 2)
        return ReactingState(q1, p, xi[: system.rank], reaction), mean

    def equation(self, system: System, row: int) -> str:
        return momentum_balance(system, row)
