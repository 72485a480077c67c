"""The sleigh with an oscillator, [QS] 6.3: runs whose (r, p) is exactly periodic, and DOP853."""

from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import discrete_hamel as dh

SYSTEM = dh.systems.SleighOscillatorScaledFrame()
MASS, TOTAL, INERTIA = SYSTEM.mass, SYSTEM.sleigh + SYSTEM.mass, SYSTEM.inertia
OMEGA = np.sqrt(SYSTEM.stiffness * TOTAL / (SYSTEM.sleigh * MASS))
PARAMETERS: dict[str, Any] = {name: getattr(SYSTEM, name) for name in ("sleigh", "mass", "inertia", "stiffness")}
COARSE = 0.02  # s, step of the run in which the first return of r to 0 is looked for
RETURNED = 1e-13  # m, of r at half a period


class Periodic(NamedTuple):
    """A run from r = 0 of so many periods of (r, p), each of `steps` steps."""

    run: dh.Trajectory
    steps: int
    h: float

    @property
    def period(self) -> float:
        return self.steps * self.h


def velocities(rate: float, p1: float, p2: float) -> list[float]:
    """(r', xi1, Omega2) at r = 0 of these momenta: p1 = (J + m r^2)^(M/(M+m)) xi1, p2 = (M + m) Omega2."""
    return [rate, p1 / INERTIA ** (SYSTEM.sleigh / TOTAL), p2 / TOTAL]


def simulate(start: Any, h: float, steps: int, theta: float = 0.0) -> dh.Trajectory:
    """From r = 0 at the origin with (r', p1, p2)."""
    return dh.simulate(SYSTEM, q=[0.0, theta, 0.0, 0.0], xi=velocities(*start), h=h, steps=steps)


def periodic(start: Any, steps: int, periods: int = 1, theta: float = 0.0) -> Periodic:
    """The run with the step h for which r vanishes again after steps / 2 steps.

    With t -> -t the scheme is kept by (r, p) -> (-r, p), as the motion is: what starts with r = 0 and comes back to
    r = 0 at a node is periodic, to round-off.
    """
    half = steps // 2
    coarse = np.asarray(simulate(start, COARSE, 600).q)[:, 0]
    k = int(np.argmax(coarse[2:] * coarse[1] <= 0)) + 1
    h = COARSE * (k + coarse[k] / (coarse[k] - coarse[k + 1])) / half
    for _ in range(20):
        end = simulate(start, h, half)
        r, rate = float(end.q[-1, 0]), float(end.xi[-1, 0])
        if abs(r) < RETURNED:
            break
        h -= r / (rate * half)  # d r / d h is about r' half
    else:
        raise ValueError(f"r is {r:.1e} m after half a period of {steps} steps of {h:g} s; it should vanish.")
    return Periodic(simulate(start, h, steps * periods, theta), steps, h)


def reduced_rates(r: Any, rate: Any, p1: Any, p2: Any) -> tuple[Any, Any, Any]:
    """r'', p1', p2' by (6.6)-(6.8) as printed, in NumPy."""
    big, turning = SYSTEM.sleigh, INERTIA + MASS * r**2
    push = MASS * r * p1**2 / turning ** (big / TOTAL + 1)
    shape = (big / TOTAL * push - SYSTEM.stiffness * r) * TOTAL / (big * MASS)
    return shape, -MASS * r * p1 * p2 / (TOTAL * turning), push


def printed(start: Any, t: Any, half_period: bool = False) -> Any:
    """(r, r', p1, p2, theta, x, y) at the times t by DOP853 on (6.6)-(6.8) and the printed connection.

    With `half_period` also the first time after 0 at which r vanishes.
    """

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        r, rate, p1, p2, theta = y[:5]
        shape, first, second = reduced_rates(r, rate, p1, p2)
        turn = p1 * (INERTIA + MASS * r**2) ** (-MASS / (2 * TOTAL) - SYSTEM.sleigh / TOTAL)
        along = p2 / TOTAL - MASS / TOTAL * rate
        return np.array([rate, shape, first, second, turn, along * np.cos(theta), along * np.sin(theta)])

    def returned(t: float, y: np.ndarray) -> float:
        return y[0] if t > 1e-3 else 1.0

    t = np.asarray(t, float)
    y0 = [0.0, *start, 0.0, 0.0, 0.0]
    found = solve_ivp(rates, (0.0, t[-1]), y0, "DOP853", t_eval=t, events=returned, rtol=1e-12, atol=1e-12)
    return (found.y.T, float(found.t_events[0][0])) if half_period else found.y.T
