"""Pendulums on spheres."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.system import Invariant, System

# c[k, i, j] = epsilon_ijk: the bracket of so(3) for body frames.
SO3 = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    SO3[_k, _i, _j], SO3[_k, _j, _i] = 1.0, -1.0


def hat(a: Array) -> Array:
    """The matrix of a x ."""
    return jnp.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


class SphericalPendulum(System):
    """A bob on a massless rod, free to swing over the whole sphere, without poles.

    Coordinates gamma in R^3: the upward vertical seen from the body, whose third axis points along the rod to the bob;
    so gamma3 = -1 at rest, and the bob hangs at (-gamma1, gamma2, gamma3) up to the body's own turn. Quasi-velocities
    xi: body angular velocity, with xi3 = 0. The bracket is that of so(3), which the three dependent fields cannot show.

        l = m r^2 (xi1^2 + xi2^2) / 2 - m g r gamma3,   gamma' = gamma x xi          [HE] (6.2)-(6.5)

    Energy, vertical momentum and |gamma| are exact, [HE] Theorem 6.1.
    """

    mass: float = 1.0  # kg
    length: float = 9.8  # m
    gravity: float = 9.8  # m/s^2

    rank = 2
    coordinates = ("gamma1", "gamma2", "gamma3")
    velocities = ("xi1", "xi2", "xi3")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        kinetic = 0.5 * self.mass * self.length**2 * (xi[0] ** 2 + xi[1] ** 2)
        return kinetic - self.mass * self.gravity * self.length * q[2]

    def frame(self, q: Array) -> Array:
        return hat(q)

    def structure(self, q: Array) -> Array:
        return jnp.asarray(SO3)

    def vertical_momentum(self, q: Array, xi: Array) -> Array:
        """Angular momentum about the vertical."""
        return self.mass * self.length**2 * (q[0] * xi[0] + q[1] * xi[1])

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return self.lagrangian(q, xi) + 2 * self.mass * self.gravity * self.length * q[2]

        return {
            "energy": Invariant(energy, "exact"),
            "vertical momentum": Invariant(self.vertical_momentum, "exact"),
            "length of gamma": Invariant(lambda q, xi: jnp.sqrt(q @ q), "exact"),
        }

    def sample(self) -> dict:
        """The run of [HE] 6.3."""
        return {"q": (0.3, 0.2, -((1 - 0.3**2 - 0.2**2) ** 0.5)), "xi": (0.6, 0.0), "h": 0.2}
