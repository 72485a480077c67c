"""Small problems and a plain loop over steps, for the tests of the schemes: one compilation per scheme and system."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from checkers import STEP, falls

import discrete_hamel as dh

START = jax.jit(dh.start)
VELOCITY = jax.jit(lambda scheme, system, state: scheme.velocity(system, state))


class Surface(dh.System):
    """A particle on z = sin x cos y: the frame's last field is normal to the surface."""

    rank = 2
    coordinates = ("x", "y", "z")

    def lagrangian(self, q, xi):
        v = self.frame(q) @ xi
        return 0.5 * v @ v - q[2]

    def frame(self, q):
        dx, dy = jnp.cos(q[0]) * jnp.cos(q[1]), -jnp.sin(q[0]) * jnp.sin(q[1])
        return jnp.array([[1.0, 0.0, -dx], [0.0, 1.0, -dy], [dx, dy, 1.0]])

    def constraint(self, q):
        return q[2] - jnp.sin(q[0]) * jnp.cos(q[1])


class Particle(dh.System):
    """A particle in the plane, drawn to the origin."""

    rank = 2
    coordinates = ("x", "y")

    def lagrangian(self, q, xi):
        return 0.5 * xi @ xi - 0.25 * (q @ q) ** 2

    def frame(self, q):
        return jnp.eye(len(q))


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


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    system: dh.System
    q: tuple
    xi: tuple


SLEIGH = Case(dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4), (0.1, 0.0, 0.0), (1.5, -0.3))
DISK = Case(dh.systems.RollingDisk(), (0.3, 0.2, 0.0, 0.0, 0.0), (0.1, 0.6, 3.0))
BODY = Case(dh.systems.RigidBody(inertia=(1.0, 2.0, 3.0)), tuple(np.eye(3).ravel()), (0.4, 1.0, 0.3))
SUSLOV = Case(dh.systems.Suslov(), tuple(np.eye(3).ravel()), (0.8, -0.9))
SURFACE = Case(Surface(), (0.3, 0.2, float(np.sin(0.3) * np.cos(0.2))), (0.8, -0.5))
PARTICLE = Case(Particle(), (1.0, 0.2), (0.1, 0.8))
PENDULUM = Case(dh.systems.SphericalPendulumCartesian(length=1.0), (0.6, 0.0, -0.8), (0.3, 0.9))
ANGLES = Case(dh.systems.SphericalPendulumAngles(length=1.0), (1.2, 0.0), (0.3, 0.9))
POINTS = Case(dh.systems.TwoPointsParallelVelocities(), (0.0, 0.0, 1.0, 0.3), (1.0, -2.0, 1.2))
BLADE = Case(DraggedBlade(), (0.1, 0.3, 0.0), (1.0, 0.7))


def orbit(scheme, case, h, steps):
    """The states at the nodes."""
    states = [START(case.system, scheme, jnp.array(case.q), jnp.array(case.xi), h)]
    for _ in range(steps):
        state, interval = STEP(case.system, scheme, states[-1], h)
        states.append(state)
    assert interval.report.converged
    return states


def velocity(scheme, case, state):
    return VELOCITY(scheme, case.system, state)


def end_error(scheme, case, time, steps):
    """Distance in (q, xi) from the reference at the end, which for a scheme with its own time is where that is."""
    state = orbit(scheme, case, time / steps, steps)[-1]
    at = scheme.time(state)
    exact = dh.reference(case.system, case.q, case.xi, t=time if at is None else float(at))
    found = np.concatenate([state.q, velocity(scheme, case, state)])
    return np.linalg.norm(found - np.concatenate([exact.q[-1], exact.xi[-1]]))


def has_slope(scheme, case, order, counts=None, time=1.0, within=0.1):
    """The error falls with this power of h, on both sides, well above round-off."""
    counts = counts or {1: (200, 400, 800), 2: (50, 100, 200), 4: (20, 40, 80)}[order]
    errors = [end_error(scheme, case, time, n) for n in counts]
    falls(errors, counts, order, within, above=1e-10)
