"""A tau-rule for constraints nonlinear in the velocities: exact at nodes and at tau-points."""

from functools import partial

import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import of
from discrete_hamel.mechanics.gibbs_appell import covector, directions, drive, slopes
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.discrete_hamel import DiscreteHamel
from discrete_hamel.schemes.scheme import AtHalf, Scheme, State


class NonlinearMidpoint(Scheme):
    """Velocities qdot = psi(q, z), variations along psi_z at the tau-point: ours, in the nodal form of (D1), (D2).

    (N1) q_{k+tau} = (1-tau) q_k + tau q_{k+1},  q_{k+1} = q_k + h psi(q_{k+tau}, z_{k+tau})
    (N2) psi_z^T (P_{k+tau} - P_k) = (1-tau) h psi_z^T F,  psi_z^T (P_{k+1} - P_{k+tau}) = tau h psi_z^T F

    psi_z and F = L_q + f are taken at (q_{k+tau}, z_{k+tau}), and P = L_v(q, psi(q, z)), a covector of n components,
    at the nodes and at the tau-point. The sum of (N2) is the discrete Lagrange-d'Alembert principle with Chetaev's
    variations; its two halves define z at the nodes, where psi_z^T P alone need not determine it. Where rows(q, z) = 0
    besides, psi_z is its part along them, and K^T rows, orthogonal to that, is added to each: both vanish.

    Theorem: the constraint holds at nodes and at tau-points; the map in (q, qdot) does not depend on which z is chosen;
    the step with (tau, h) is undone by (1-tau, -h), so that tau = 1/2 is symmetric and of order 2. Observed: order 1
    for other tau. The energy at tau = 1/2 is off by O(h^2); by O(h^4), without drift, for two points with parallel
    velocities on a spring. Not claimed: exact energy, even where it is quadratic (EnergyExact keeps it). For psi linear
    in z this is not DiscreteHamel's map, from which it differs by O(h^3) a step.
    """

    tau: float = 0.5

    order = AtHalf(2, otherwise=1)
    symmetric = AtHalf(True, otherwise=False)
    point = of("tau")
    conserves = ()
    reference = "this library; the principle: Benenti (2008), sections 3 and 4"
    frameless = True

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        if not system.frameless:
            raise InputError(
                f"NonlinearMidpoint is for velocities qdot = psi(q, z) (dh.nonlinear); {type(system).__name__} has a "
                "frame, and DiscreteHamel(tau) is the tau-rule for it."
            )
        return State(q, xi, xi)

    def guess(self, system: System, state: State, h: Array) -> Array:
        """(z_{k+tau}, q_{k+1}, z_{k+1}), z extrapolated from the last interval's."""
        change = state.p - state.xi
        q1 = state.q + h * system.velocity(state.q, state.p + change)
        return jnp.concatenate([state.p + change, q1, state.p + 2 * change])

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        inside, q1, z1 = jnp.split(z, [system.rank, system.rank + len(state.q)])
        q = (1 - self.tau) * state.q + self.tau * q1  # (N1)
        along, force = directions(system, q, inside).T, h * drive(system, q, inside)
        off = partial(_off, system, slopes(system, q, inside))
        before, middle = covector(system, state.q, state.p), covector(system, q, inside)
        after = covector(system, q1, z1)
        first = along @ (middle - before - (1 - self.tau) * force) + off(q, inside)  # (N2)
        chord = q1 - state.q - h * system.velocity(q, inside)
        return jnp.concatenate([first, chord, along @ (after - middle - self.tau * force) + off(q1, z1)])

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        inside, q1, z1 = jnp.split(z, [system.rank, system.rank + len(state.q)])
        return State(q1, z1, inside), inside

    def equation(self, system: System, row: int) -> str:
        m, n = system.rank, len(system.coordinates)
        if not n or row < m + n:
            return super().equation(system, row)
        return super().equation(system, row - m - n) + " at the next node"


def _off(system: System, slopes: Array, q: Array, z: Array) -> Array | float:
    """K^T rows(q, z)."""
    return slopes.T @ system.rows(q, z) if len(slopes) else 0.0


def default_scheme(system: object) -> Scheme:
    """What is taken where no scheme is given."""
    return NonlinearMidpoint() if getattr(system, "frameless", False) else DiscreteHamel()
