"""The problems of the work-precision benchmark: systems of ours, and the same equations by hand for the peers.

A peer is given explicit ordinary differential equations in the coordinates that ours has, y = (q, xi^D), written once:
`right(y, sin, cos)` works on Python numbers, JAX scalars and heyoka's expressions. The ends are from heyoka's Taylor
method in 80-bit arithmetic, of which two tolerances agree within 1e-15: `python -m benchmarks.problems` computes them
again.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import discrete_hamel as dh


class Problem(NamedTuple):
    """A start, a time, and where the motion is then."""

    system: Any
    right: Callable[[Any, Any, Any], list]
    start: tuple[float, ...]  # q, xi^D
    time: float
    end: tuple[float, ...]

    @property
    def q(self) -> np.ndarray:
        return np.array(self.start[: len(self.start) - self.system.rank])

    @property
    def xi(self) -> np.ndarray:
        return np.array(self.start[len(self.start) - self.system.rank :])


def pendulum(y: Any, _sin: Any, _cos: Any) -> list:
    """[HE] (6.4)-(6.5) with g / r = 1."""
    g1, g2, g3, a, b = y
    return [-g3 * b, g3 * a, g1 * b - g2 * a, g2, -g1]


def disk(
    y: Any, sin: Any, cos: Any, mass: float = 1.0, r: float = 1.0, a: float = 0.25, b: float = 0.5, g: float = 9.8
) -> list:
    """The equations of [QS] 6.5 solved for the accelerations; see `dh.systems.RollingDisk`."""
    theta, phi, _, _, _, lean, heading, own = y
    s, c = sin(theta), cos(theta)
    i = mass * r**2 + b
    spin = heading * s + own
    up = (i * spin * heading * c - a * heading * heading * c * s + mass * g * r * s) / (a + mass * r**2)
    turn = (2 * a * heading * s - b * spin) * lean / (a * c)
    faster = -mass * r**2 / i * heading * c * lean - turn * s - heading * c * lean
    return [lean, heading, own, -r * own * cos(phi), -r * own * sin(phi), up, turn, faster]


def sleigh(y: Any, sin: Any, cos: Any, mass: float = 1.0, inertia: float = 0.7, offset: float = 0.4) -> list:
    """[QS] (6.1) in velocities."""
    theta, _, _, omega, v = y
    turning = -mass * offset / (inertia + mass * offset**2) * omega * v
    return [omega, v * cos(theta), v * sin(theta), turning, offset * omega * omega]


TILT = 2 * math.pi / 3
PROBLEMS = {
    "pendulum": Problem(
        dh.systems.SphericalPendulum(),
        pendulum,
        (math.sin(TILT) * math.cos(0.3), math.sin(TILT) * math.sin(0.3), math.cos(TILT), 0.4, -0.7),
        1000.0,
        (-0.5017314539747895, 0.8445113675738787, -0.18725944069883543, -0.10070478806382023, 0.11990590919004915),
    ),
    "disk": Problem(
        dh.systems.RollingDisk(),
        disk,
        (0.3, 0.0, 0.0, 0.0, 0.0, 0.1, 0.6, 3.0),
        100.0,
        (
            0.3023625787234435,
            -112.52096795587481,
            398.39224695461274,
            1.99128354813613,
            0.6165168809292758,
            -0.17632151524422343,
            0.5851510177579166,
            3.0021766097276767,
        ),
    ),
    "sleigh": Problem(
        dh.systems.ChaplyginSleigh(),
        sleigh,
        (0.1, 0.0, 0.0, 1.5, -0.3),
        20.0,
        (4.234188687530786, -14.167555437367499, -19.580186028194642, 6.776362398501933e-06, 1.4230249470618952),
    ),
}


def exact_end(problem: Problem, tolerance: str) -> np.ndarray:
    """By heyoka in 80-bit arithmetic."""
    import heyoka

    real = np.longdouble
    names = heyoka.make_vars(*(f"y{i}" for i in range(len(problem.start))))
    equations = list(zip(names, problem.right(names, heyoka.sin, heyoka.cos), strict=True))
    run = heyoka.taylor_adaptive(equations, [real(y) for y in problem.start], tol=real(tolerance), fp_type=real)
    run.propagate_until(real(problem.time))
    return run.state


if __name__ == "__main__":
    for name, problem in PROBLEMS.items():
        ends = [exact_end(problem, tolerance) for tolerance in ("1e-18", "3e-19")]
        print(name, [float(y) for y in ends[0]], f"+- {float(np.max(np.abs(ends[0] - ends[1]))):.0e}")
