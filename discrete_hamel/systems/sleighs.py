"""Sleighs: a blade on a plane that cannot move sideways."""

import jax.numpy as jnp
from jax import Array

from discrete_hamel.system import Invariant, System


class ChaplyginSleigh(System):
    """A platform on a horizontal plane that slides on one blade, which forbids sideways motion at its contact point.

    Coordinates (theta, x, y): heading and contact point. Quasi-velocities (omega, v1, v2): turning rate and the contact
    point's velocity along and across the blade; the constraint is v2 = 0. The mass centre is `offset` ahead of the
    contact point along the blade; `inertia` is about the mass centre.

        l = ((J + m a^2) omega^2 + m (v1^2 + v2^2)) / 2 + m a omega v2
        p1' = -a p1 p2 / (J + m a^2),   p2' = m a p1^2 / (J + m a^2)^2        [QS] (6.1)

    Energy is exact. For a != 0 straight motion with the mass centre ahead of the blade (a v1 > 0) attracts.
    Reference: [QS] 6.2; [HE] 2.5 (balanced, offset = 0).
    """

    mass: float = 1.0  # kg
    inertia: float = 0.7  # kg m^2, about the mass centre
    offset: float = 0.4  # m, mass centre ahead of the contact point

    rank = 2
    coordinates = ("theta", "x", "y")
    velocities = ("omega", "v1", "v2")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        omega, v1, v2 = xi
        turning = (self.inertia + self.mass * self.offset**2) * omega**2
        return 0.5 * (turning + self.mass * (v1**2 + v2**2)) + self.mass * self.offset * omega * v2

    def frame(self, q: Array) -> Array:
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return jnp.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(lambda q, xi: self.lagrangian(q, xi), "exact")}

    def sample(self) -> dict:
        """Initial data and a step that show the turn into straight motion."""
        return {"q": (0.1, 0.0, 0.0), "xi": (1.5, -0.3), "h": 0.01}
