"""The library's small problems, and three more that only tests of single schemes run."""

import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.testing.cases import (  # noqa: F401  # handed on
    BODY,
    DISK,
    PARTICLE,
    PENDULUM,
    SLEIGH,
    SURFACE,
    Case,
    has_slope,
    orbit,
    velocity,
)


class DraggedBlade(dh.System):
    """A blade on a moving floor, with drag: affine constraint and force; (theta, x, y), slip across the blade."""

    drag: float = 0.3

    rank = 2
    coordinates = ("theta", "x", "y")

    def lagrangian(self, q, xi):
        v = self.frame(q) @ xi
        return 0.5 * (v @ v) + 0.4 * v[0] * (v[2] * jnp.cos(q[0]) - v[1] * jnp.sin(q[0])) - 0.2 * q[1] ** 2

    def frame(self, q):
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return jnp.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])

    def slip(self, q):
        return jnp.array([0.2 * jnp.sin(q[0])])

    def force(self, q, xi):
        return -self.drag * xi + 0 * q


SUSLOV = Case(dh.systems.Suslov(), tuple(np.eye(3).ravel()), (0.8, -0.9))
ANGLES = Case(dh.systems.SphericalPendulumAngles(length=1.0), (1.2, 0.0), (0.3, 0.9))
BLADE = Case(DraggedBlade(), (0.1, 0.3, 0.0), (1.0, 0.7))
