"""The discrete principle of Lagrange and d'Alembert for constrained positions: g = 0 at every node."""

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.pytrees import of
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.following import FollowingHamel, force_along, orthonormal, rows_of
from discrete_hamel.schemes.scheme import AtHalf, Scheme, State


class HolonomicHamel(Scheme):
    """Variations in D at the nodes, a discrete constraint D^d that keeps positions: what DiscreteHamel is for these.

    Of the rows A(q) v = b(q) of a system from constraints some are rates of positions g(q) = 0 (`held_rows`). These are
    not asked at the tau-point: the next node is put on g = 0. With q = q_{k+tau} and v = (q_{k+1} - q_k) / h

    (C1) g(q_{k+1}) = 0,   A(q) v = b(q) for the other rows                                                 [HE] 5.3
    (C2) p_k = E_k^T (L_v - (1-tau) h (L_q + f)),   p_{k+1} = E_{k+1}^T (L_v + tau h (L_q + f))   at (q, v)

    E_k spans D at the node, and is used as E = Q R, Q orthonormal. `Principle` has it as variation="derived".

    Theorem: g = 0 at the nodes to round-off, however many; the other rows at the tau-point; the step (tau, h) is undone
    by (1-tau, -h); order 2 at tau = 1/2, else 1; a momentum is exact if its symmetry acts by affine maps of q that keep
    L, g and the rows, and lies in D. Without other rows and without forces: the map is symplectic on g = 0, for it is
    the variational integrator of h L restricted to pairs of points on it (Marsden and West (2001), 3.4). Observed:
    energy bounded then. Not claimed: exact energy, or any of this of other rows that are nonholonomic.
    """

    tau: float = 0.5

    order = AtHalf(2, otherwise=1)
    symmetric = AtHalf(True, otherwise=False)
    point = of("tau")
    conserves = ("holonomic constraint", "angular momentum")
    at_nodes = True
    changes = ("q",)
    reference = "Marsden and West, Discrete mechanics and variational integrators (2001), 3.4; [HE] 5.3"

    check = FollowingHamel.check  # the same parameter
    start = FollowingHamel.start
    missed_momentum = FollowingHamel.missed_momentum

    def guess(self, system: System, state: State, h: Array) -> Array:
        """z = q_{k+1} - q_k."""
        psi = system.frame(state.q)
        return h * (psi @ jnp.concatenate([state.xi, system.slip(state.q)]))

    def _middle(self, system: System, state: State, h: Array, z: Array) -> tuple[Array, ...]:
        """q_{k+tau}, v, and there L_v and L_q + f."""
        q, v = state.q + self.tau * z, z / h
        slope, momentum = jax.grad(system.in_velocities, (0, 1))(q, v)
        return q, v, momentum, slope + force_along(system, q, v, jnp.eye(len(q)))

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        rows = rows_of(system)
        q, v, momentum, force = self._middle(system, state, h, z)
        fields, r = orthonormal(rows, state.q)
        balance = fields.T @ (momentum - (1 - self.tau) * h * force) - jnp.linalg.solve(r.T, state.p)  # (C2)
        others = jnp.array([i for i in range(len(z) - rows.rank) if i not in rows.held_rows], int)
        missed = rows.one_forms(q)[others] @ z - h * rows.slip(q)[others]
        return jnp.concatenate([h * balance, rows.positions(state.q + z), missed])  # (C1)

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        rows, q1 = rows_of(system), state.q + z
        q, v, momentum, force = self._middle(system, state, h, z)
        fields, r = orthonormal(rows, q1)
        p1 = r.T @ (fields.T @ (momentum + self.tau * h * force))  # (C2)
        across = rows.one_forms(q) @ v
        xi = jnp.concatenate([rows.components(q, v - rows.frame(q)[:, rows.rank :] @ across), across])
        return State(q1, p1, jnp.linalg.solve(r, (fields.T * rows.weights[None]) @ v)), xi

    def equation(self, system: System, row: int) -> str:
        kept = row - system.rank
        return f"the constraint of positions or velocities {kept}" if kept >= 0 else Scheme.equation(self, system, row)
