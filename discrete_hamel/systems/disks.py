"""Disks that roll without slipping on a horizontal plane."""

import jax.numpy as jnp
from jax import Array

from discrete_hamel.system import Invariant, System


class RollingDisk(System):
    """A thin disk that rolls without slipping and is free to lean.

    Coordinates (theta, phi, psi, x, y): lean from the vertical, heading, own rotation, and contact point. Quasi-velocities
    (theta', phi', psi', zeta1, zeta2), where zeta1 = x' cos phi + y' sin phi + R psi' and zeta2 = -x' sin phi + y' cos phi
    are the slips along and across the heading; rolling is zeta1 = zeta2 = 0.

        L = m/2 [(zeta1 - R(phi' sin theta + psi'))^2 + zeta2^2 sin^2 theta + (zeta2 cos theta + R theta')^2]
          + 1/2 [A (theta'^2 + phi'^2 cos^2 theta) + B (phi' sin theta + psi')^2] - m g R cos theta        [QS] 6.5

    Energy is bounded. These coordinates have a pole at theta = +-pi/2, where the disk lies flat.
    """

    mass: float = 1.0  # kg
    radius: float = 1.0  # m
    inertia_diameter: float = 0.25  # kg m^2, about a diameter (A)
    inertia_axis: float = 0.5  # kg m^2, about the axis (B)
    gravity: float = 9.8  # m/s^2

    rank = 3
    coordinates = ("theta", "phi", "psi", "x", "y")
    velocities = ("theta'", "phi'", "psi'", "zeta1", "zeta2")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        kinetic, potential = self._energies(q, xi)
        return kinetic - potential

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        lean, heading, own, along, across = xi
        spin = heading * s + own
        centre = (along - self.radius * spin) ** 2 + (across * s) ** 2 + (across * c + self.radius * lean) ** 2
        turning = self.inertia_diameter * (lean**2 + (heading * c) ** 2) + self.inertia_axis * spin**2
        return 0.5 * (self.mass * centre + turning), self.mass * self.gravity * self.radius * c

    def frame(self, q: Array) -> Array:
        c, s, r = jnp.cos(q[1]), jnp.sin(q[1]), self.radius
        return jnp.array(
            [
                [1.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, 1.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0, 0.0],
                [0.0, 0.0, -r * c, c, -s],
                [0.0, 0.0, -r * s, s, c],
            ]
        )

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(lambda q, xi: sum(self._energies(q, xi)), "bounded")}

    def sample(self) -> dict:
        """A leaning disk that rolls fast enough to stay up."""
        return {"q": (0.3, 0.0, 0.0, 0.0, 0.0), "xi": (0.1, 0.6, 3.0), "h": 0.01}
