"""The discrete Hamel scheme in nodal-momentum form, its staggered form, and its form for constraints of positions."""

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.pytrees import of
from discrete_hamel.mechanics.constructors import unwrap
from discrete_hamel.mechanics.hamel import balance, full
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.exact_increments import affine, increment, response
from discrete_hamel.schemes.following import FollowingHamel, force_along, orthonormal, rows_of
from discrete_hamel.schemes.scheme import AtHalf, CompensatedState, Scheme, State, compensate


class DiscreteHamel(Scheme):
    """The tau-rule for Hamel's equations: exact constraints, second order and symmetric at tau = 1/2.

    (D1) q_{k+tau} = (1-tau) q_k + tau q_{k+1},  q_{k+1} = q_k + h Psi(q_{k+tau}) xi_{k,k+1}
    (D2) p_k = mu_j - (1-tau) h F_j,  p_{k+1} = mu_j + tau h F_j,  both at (q_{k+tau}, xi_{k,k+1}), j = 1..m

    Eliminating p gives [HE] (5.6), (5.11) with l^d = h l. The second of (D2) is taken less the first,
    p_{k+1} = p_k + h F: then nothing adds up of what roundings of mu have in common.

    Relative equilibria of (H) are those of (D), for every tau, where Psi is invariant under the symmetry and the group
    acts by translations on every coordinate on which l, Psi and c depend ([HE] 5.5: (r, g) with r fixed), so that
    q_{k+tau} stays on the orbit; at tau = 1/2 with their stability type, [HE] Theorem 5.3. Otherwise they are lost.

    `compensated` carries along what q and p round off at each step, as [HE] 6.3 proposes: what the map keeps is then
    off by the roundings of the changes, not of q and p. In coordinates in which Psi is affine (gamma, rotation
    matrices) the change of q has no rounding either, and what xi rounds off is made good: `increments`.
    """

    tau: float = 0.5
    compensated: bool = False

    order = AtHalf(2, otherwise=1)
    symmetric = AtHalf(True, otherwise=False)
    point = of("tau")
    conserves = AtHalf(
        ("constraint", "relative equilibria", "quadratic energy", "spatial momentum", "angular momentum"),
        otherwise=("constraint", "relative equilibria", "spatial momentum", "angular momentum"),
    )
    reference = "Zenkov, On Hamel's equations (2016), (5.6) and (5.11)"

    def __repr__(self) -> str:
        return f"DiscreteHamel(tau={self.tau}{', compensated=True' if self.compensated else ''})"

    def fitted(self, system: System) -> Scheme:
        """For a system from constraints the tau-rule in frames that follow them, or that keeps positions."""
        rows = unwrap(system)
        if rows is None or self.compensated:
            return super().fitted(system)
        return HolonomicHamel(self.tau) if rows.held_rows else FollowingHamel(self.tau)

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        xi, q1 = z[: system.rank], z[system.rank :]
        q = (1 - self.tau) * state.q + self.tau * q1  # (D1)
        mu, force = balance(system, q, xi)
        momentum = mu - (1 - self.tau) * (h * force) - state.p  # (D2)
        return jnp.concatenate([momentum, q1 - state.q - h * system.frame(q) @ full(system, q, xi)])

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        xi, q1 = z[: system.rank], z[system.rank :]
        q = (1 - self.tau) * state.q + self.tau * q1
        whole = full(system, q, xi)
        if not self.compensated:
            return State(q1, state.p + h * balance(system, q, xi)[1], xi), whole
        low_q, low_p = state.low[: len(q1)], state.low[len(q1) :]  # type: ignore[attr-defined]
        change, kick, rest_q, rest_p = self._changes(system, state, h, xi, q)  # type: ignore[arg-type]
        q1, low_q = compensate(state.q, low_q + rest_q, change)
        p1, low_p = compensate(state.p, low_p + rest_p, kick)
        return CompensatedState(q1, p1, xi, jnp.concatenate([low_q, low_p])), whole

    def _changes(self, system: System, state: CompensatedState, h: Array, xi: Array, q: Array) -> tuple[Array, ...]:
        """The changes h Psi xi of q and h F of p, and what these two round off where Psi is affine.

        There they are those of xi + low: low is what xi rounds off, and M low what (D2) then lacks.
        """
        x = h * full(system, q, xi)
        change = system.frame(q) @ x
        if not affine(system.frame, q):
            return change, h * balance(system, q, xi)[1], jnp.zeros_like(q), jnp.zeros_like(xi)
        low_q, low_p = state.low[: len(q)], state.low[len(q) :]
        change, rest = increment(system.frame, state.q, low_q, self.tau, x, change)
        middle, left = compensate(state.q, low_q + self.tau * rest, self.tau * change)
        mu, force = balance(system, middle, xi)
        off = (mu - state.p) - (1 - self.tau) * (h * force) - low_p
        low = jnp.linalg.solve(jax.jacfwd(lambda xi: balance(system, middle, xi)[0])(xi), -off)
        of_low = system.frame(middle) @ jnp.pad(h * low, (0, len(x) - len(low)))
        further = response(system.frame, middle, self.tau, x, of_low)
        shift = left + self.tau * further
        _, (_, bend) = jax.jvp(lambda q, xi: balance(system, q, xi), (middle, xi), (shift, low))
        return change, h * force, rest + further, h * bend


class StaggeredHamel(Scheme):
    """(S) mu' - mu = (h/2)(F + F'),  q' - q = h Psi((q + q')/2) (xi + xi')/2.   [HE] (6.6), (6.7)

    Both q and xi live on the same points, which [HE] takes for the midpoints of a mesh. For the spherical pendulum it
    is the map (D) of tau = 1/2 when started from the same (q, xi): only the times written at its points differ.
    """

    order = 2
    symmetric = True
    conserves = ("constraint", "relative equilibria")
    reference = "Zenkov, On Hamel's equations (2016), (6.6) and (6.7) with errata"

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        xi, q1 = z[: system.rank], z[system.rank :]
        _, force0 = balance(system, state.q, state.xi)
        mu1, force1 = balance(system, q1, xi)
        q = (state.q + q1) / 2
        mean = (full(system, state.q, state.xi) + full(system, q1, xi)) / 2
        return jnp.concatenate([mu1 - state.p - (h / 2) * (force0 + force1), q1 - state.q - h * system.frame(q) @ mean])

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        xi, q1 = z[: system.rank], z[system.rank :]
        mean = (full(system, state.q, state.xi) + full(system, q1, xi)) / 2
        return State(q1, balance(system, q1, xi)[0], xi), mean


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

    __repr__, start = FollowingHamel.__repr__, FollowingHamel.start
    missed_momentum = FollowingHamel.missed_momentum

    def guess(self, system: System, state: State, h: Array) -> Array:
        """z = q_{k+1} - q_k."""
        return h * (system.frame(state.q) @ jnp.concatenate([state.xi, system.slip(state.q)]))

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
