"""EnergyExact for constraints nonlinear in the velocities."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics.gibbs_appell import covector, directions, energy
from discrete_hamel.mechanics.nonlinear import NonlinearSystem
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import CompensatedState, Scheme, carried


class NonlinearEnergyExact(Scheme):
    """(E) y1 - y0 = h J((y0+y1)/2) Dbar E(y0, y1), y = (q, z): what EnergyExact is for velocities qdot = psi(q, z).

    With P(q, z) = L_v(q, psi), G = psi_z^T L_vv psi_z and B = psi_z G^{-1} the Gibbs-Appell equations are

        qdot = B E_z + w,  zdot = B^T (-E_q + (P_q^T - P_q) qdot + f),  w = psi - B E_z = psi's part across psi_z

    so that J = [[0, B], [-B^T, B^T (P_q^T - P_q) B]] is skew. If psi is in the span of psi_z, as for constraints that
    are homogeneous in the velocities, w = 0 and E is kept to round-off; otherwise the reactions work, and E changes by
    exactly the discrete work of w. Order 2, symmetric; the constraint holds at nodes, where qdot = psi(q, z).

    What is solved for are the changes of q and z, and what q and z round off of them is carried along: else z of size
    20 rounds E by 1e-14 at each step, which adds up. `Gonzalez` takes the difference of two energies, whose rounding
    does add up as a random walk.
    """

    gradient: Any

    order = 2
    symmetric = True
    changes = ("q", "p")
    conserves = ("energy",)
    negligible = property(lambda self: self.gradient.negligible)
    reference = "this library; Gonzalez, J. Nonlinear Sci. 6 (1996) 449; Benenti (2008), (45)"
    frameless = True

    def start(self, system: System, q: Array, xi: Array, h: Array) -> CompensatedState:
        return CompensatedState(q, xi, xi, jnp.zeros(len(q) + system.rank))

    def guess(self, system: System, state: CompensatedState, h: Array) -> Array:
        """(z_{k+1} - z_k, q_{k+1} - q_k), z extrapolated from the last interval's."""
        assert isinstance(system, NonlinearSystem)
        change = state.p - state.xi
        return jnp.concatenate([2 * change, h * system.velocity(state.q, state.p + change)])

    def residual(self, system: System, state: CompensatedState, h: Array, z: Array) -> Array:
        assert isinstance(system, NonlinearSystem)
        dz, dq = z[: system.rank], z[system.rank :]
        along_q, along_z = self._gradient(system, state, h, dq, dz)
        q, middle = state.q + dq / 2, state.p + dz / 2
        psi_z = directions(system, q, middle)
        mass = psi_z.T @ jax.jacfwd(covector, 2)(system, q, middle)
        velocity, twist = system.velocity(q, middle), jax.jacfwd(covector, 1)(system, q, middle)
        across = velocity - psi_z @ jnp.linalg.solve(mass, psi_z.T @ covector_rate(system, q, middle, velocity))
        chord = psi_z @ jnp.linalg.solve(mass, along_z) + across
        force = twist.T @ chord - twist @ chord - along_q + system.force(q, velocity)
        return jnp.concatenate([dz - h * jnp.linalg.solve(mass, psi_z.T @ force), dq - h * chord])

    def _gradient(self, system: NonlinearSystem, state: Any, h: Array, dq: Array, dz: Array) -> tuple[Array, Array]:
        """Dbar E = (along q, along z)."""
        fractions = jnp.asarray(self.gradient.points)[:, None]
        q, z = state.q[None] + fractions * dq[None], state.p[None] + fractions * dz[None]
        slopes = jax.vmap(lambda q, z: jnp.concatenate(jax.grad(energy, (1, 2))(system, q, z)))(q, z)
        e0, e1 = energy(system, state.q, state.p), energy(system, state.q + dq, state.p + dz)
        scale = jnp.abs(h) * (jnp.abs(e0) + jnp.abs(e1))
        mean = self.gradient(slopes, jnp.concatenate([dq, dz]), e1 - e0, scale)
        return mean[: len(dq)], mean[len(dq) :]

    def advance(self, system: System, state: CompensatedState, h: Array, z: Array) -> tuple[CompensatedState, Array]:
        dz, dq = z[: system.rank], z[system.rank :]
        sums, low = carried(jnp.concatenate([state.q, state.p]), state.low, jnp.concatenate([dq, dz]))
        middle = state.p + dz / 2
        return CompensatedState(sums[: len(dq)], sums[len(dq) :], middle, low), middle


def covector_rate(system: NonlinearSystem, q: Array, z: Array, velocity: Array) -> Array:
    """L_vv psi."""
    _, rate = jax.jvp(lambda v: jax.grad(system.lagrangian, 1)(q, v), (system.velocity(q, z),), (velocity,))
    return rate
