"""A Chaplygin sleigh with a motor that turns with time, a pilot who steers by feedback, and drag."""

import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

SLEIGH = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
GAINS = jnp.array([1.2, 0.8, 0.3])
TIME = 3.0


def pilot(t, q, xi, s):
    """Torque and thrust along (omega, v, slip); the angle is kept near 0.5."""
    return jnp.stack([s[1] * (0.5 - q[0]) - s[2] * xi[0], s[0] * jnp.sin(2.0 * t) * jnp.cos(q[1]), 0.0 * t])


def drag(q, xi, c):
    return 0.5 * c * (xi @ xi) + 0.1 * c * xi[1] ** 4


PILOTED = dh.damped(dh.controlled(SLEIGH, pilot, params=GAINS), drag, params=0.2)
START = np.array([0.1, 0.0, 0.0, 0.0]), np.array([1.5, -0.3])
