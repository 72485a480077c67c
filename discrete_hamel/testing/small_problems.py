"""Small problems of each kind, and a plain loop over steps of any scheme: one compilation per scheme and system."""

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel import systems
from discrete_hamel.analysis.motion.reference import reference
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State, start, step

STEP = jax.jit(step)
START = jax.jit(start)
VELOCITY = jax.jit(lambda scheme, system, state: scheme.velocity(system, state))


class Surface(System):
    """A particle on z = sin x cos y: the frame's last field is normal to the surface."""

    rank = 2
    coordinates = ("x", "y", "z")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        v = self.frame(q) @ xi
        return 0.5 * v @ v - q[2]

    def frame(self, q: Array) -> Array:
        dx, dy = jnp.cos(q[0]) * jnp.cos(q[1]), -jnp.sin(q[0]) * jnp.sin(q[1])
        return jnp.array([[1.0, 0.0, -dx], [0.0, 1.0, -dy], [dx, dy, 1.0]])

    def constraint(self, q: Array) -> Array:
        return q[2] - jnp.sin(q[0]) * jnp.cos(q[1])


class Particle(System):
    """A particle in the plane, drawn to the origin."""

    rank = 2
    coordinates = ("x", "y")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * xi @ xi - 0.25 * (q @ q) ** 2

    def frame(self, q: Array) -> Array:
        return jnp.eye(len(q))


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A system and where it starts."""

    system: Any
    q: tuple
    xi: tuple


SLEIGH = Case(systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4), (0.1, 0.0, 0.0), (1.5, -0.3))
DISK = Case(systems.RollingDisk(), (0.3, 0.2, 0.0, 0.0, 0.0), (0.1, 0.6, 3.0))
BODY = Case(systems.RigidBody(inertia=(1.0, 2.0, 3.0)), tuple(np.eye(3).ravel()), (0.4, 1.0, 0.3))
SURFACE = Case(Surface(), (0.3, 0.2, float(np.sin(0.3) * np.cos(0.2))), (0.8, -0.5))
PARTICLE = Case(Particle(), (1.0, 0.2), (0.1, 0.8))
PENDULUM = Case(systems.SphericalPendulumCartesian(length=1.0), (0.6, 0.0, -0.8), (0.3, 0.9))
POINTS = Case(systems.TwoPointsParallelVelocities(), (0.0, 0.0, 1.0, 0.3), (1.0, -2.0, 1.2))


ALL = (SLEIGH, PARTICLE, SURFACE, POINTS, DISK, BODY, PENDULUM)


@functools.cache
def accepts(scheme: Scheme, case: Case) -> bool:
    """Whether the scheme takes systems of this kind."""
    try:
        jax.eval_shape(lambda: start(case.system, scheme, jnp.array(case.q), jnp.array(case.xi), 0.1))
    except ValueError:
        return False
    return True


def orbit(scheme: Scheme, case: Case, h: float, steps: int) -> list[State]:
    """The states at the nodes."""
    states = [START(case.system, scheme, jnp.array(case.q), jnp.array(case.xi), h)]
    for _ in range(steps):
        state, interval = STEP(case.system, scheme, states[-1], h)
        states.append(state)
    assert interval.report.converged
    return states


def velocity(scheme: Scheme, case: Case, state: State) -> Array:
    """xi at the node, n components."""
    return VELOCITY(scheme, case.system, state)


def end_error(scheme: Scheme, case: Case, time: float, steps: int) -> float:
    """Distance in (q, xi) from the reference at the end, which for a scheme with its own time is where that is."""
    state = orbit(scheme, case, time / steps, steps)[-1]
    at = scheme.time(state)
    exact = reference(case.system, case.q, case.xi, t=time if at is None else float(at))
    found = np.concatenate([state.q, velocity(scheme, case, state)])
    return float(np.linalg.norm(found - np.concatenate([exact.q[-1], exact.xi[-1]])))


COUNTS = {1: (200, 400, 800), 2: (50, 100, 200), 4: (20, 40, 80), math.inf: (10, 20, 40)}  # steps, by the order


def has_slope(
    scheme: Scheme, case: Case, order: int, counts: Sequence[int] | None = None, time: float = 1.0, within: float = 0.1
) -> None:
    """The error falls with this power of h, on both sides, well above round-off."""
    if counts is None:
        counts = next(of for least, of in COUNTS.items() if order <= least)
    errors = [end_error(scheme, case, time, n) for n in counts]
    assert min(errors) > 1e-10
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(slopes - order) < within), f"slopes {slopes}, not {order}"
