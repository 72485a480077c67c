"""The discrete Lagrange-d'Alembert scheme of Cortes and Martinez, in nodal-momentum form."""

import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.pytrees import of
from discrete_hamel.mechanics.hamel import full
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.lagrangian import momentum_and_force, need_independent, refuse_dependent
from discrete_hamel.schemes.scheme import AtHalf, Scheme, State


class CortesMartinez(Scheme):
    """Variations in D at the nodes, a discrete Lagrangian and a discrete constraint, each at a point of its own.

    L_d(q, q1) = h L(q_a, (q1 - q)/h),   q_a = (1-a) q + a q1,   delta q_k in D at q_k          [HE] 5.3
    (q1 - q)/h = Psi(q_b) xi with xi^U = slip(q_b),   q_b = (1-b) q + b q1
    p_k = <-D_1 L_d(q_k, q_{k+1}), u_j(q_k)>,   p_{k+1} = <D_2 L_d(q_k, q_{k+1}), u_j(q_{k+1})>,   j = 1..m

    a is `lagrangian_at` and b `constraint_at`. In redundant coordinates with independent fields L is l(q, Psi^+ qdot).
    Unlike the discrete Hamel scheme it may destroy families of relative equilibria, [HE] 5.5.
    """

    lagrangian_at: float = 0.5
    constraint_at: float = 0.5

    order = AtHalf(2, otherwise=1, parameters=("lagrangian_at", "constraint_at"))
    symmetric = AtHalf(True, otherwise=False, parameters=("lagrangian_at", "constraint_at"))
    # Discrete Noether: the symmetry's field must lie in D at the nodes; rotations of R do where R stays orthogonal.
    conserves = AtHalf(
        ("constraint", "angular momentum", "spatial momentum"),
        otherwise=("constraint", "angular momentum"),
        parameters=("constraint_at",),
    )
    point = of("constraint_at")
    reference = "Cortes and Martinez, Nonholonomic integrators (2001); [HE] 5.3"

    def check(self, system: System, q: Array) -> None:
        refuse_dependent(system, q, "CortesMartinez")

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        need_independent(system, q, "CortesMartinez")
        return Scheme.start(self, system, q, xi, h)

    def _at(self, system: System, state: State, q1: Array, xi: Array) -> tuple[Array, ...]:
        """dL/dv and dL/dq + f at q_a, (q1 - q)/h, and xi with all n components."""
        q_a = (1 - self.lagrangian_at) * state.q + self.lagrangian_at * q1
        q_b = (1 - self.constraint_at) * state.q + self.constraint_at * q1
        whole = full(system, q_b, xi)
        velocity = system.frame(q_b) @ whole
        return (*momentum_and_force(system, q_a, velocity), velocity, whole)

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        xi, q1 = z[: system.rank], z[system.rank :]
        momentum, force, velocity, _ = self._at(system, state, q1, xi)
        start = momentum - (1 - self.lagrangian_at) * h * force  # -D_1 L_d
        along = system.frame(state.q)[:, : system.rank]
        return jnp.concatenate([along.T @ start - state.p, q1 - state.q - h * velocity])

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        xi, q1 = z[: system.rank], z[system.rank :]
        momentum, force, _, whole = self._at(system, state, q1, xi)
        end = momentum + self.lagrangian_at * h * force  # D_2 L_d
        return State(q1, system.frame(q1)[:, : system.rank].T @ end, xi), whole
