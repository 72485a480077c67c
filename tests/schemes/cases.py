"""The library's small problems, and three more that only tests of single schemes run."""

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.testing.small_problems import (  # noqa: F401  # handed on
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


class Twisted(dh.System):
    """A particle in the plane with a frame that turns from place to place: no constraint, and no commuting fields."""

    rank = 2

    def lagrangian(self, q, xi):
        return 0.5 * xi @ xi - jnp.cos(q[0]) - 0.3 * q[0] * q[1] ** 2

    def frame(self, q):
        c, s = jnp.cos(0.7 * q[0] + q[1] ** 2), jnp.sin(0.7 * q[0] + q[1] ** 2)
        return jnp.array([[c, -s], [s, c]])


@jax.jit
def jacobian(scheme, h):
    """Of a step in (q, P), P = Psi^-T p."""
    system = Twisted()

    def step(x):
        state = dh.start(system, scheme, x[:2], x[2:], h).replace(p=system.frame(x[:2]).T @ x[2:])
        after, _ = dh.step(system, scheme, state, h)
        return jnp.concatenate([after.q, jnp.linalg.solve(system.frame(after.q).T, after.p)])

    return jax.jacfwd(step)(jnp.array([0.4, 0.3, 0.8, -0.5]))


def off_symplectic(scheme, h):
    """|J^T Omega J - Omega|."""
    slopes, omega = jacobian(scheme, h), np.kron([[0, 1], [-1, 0]], np.eye(2))
    return float(np.max(np.abs(slopes.T @ omega @ slopes - omega)))
