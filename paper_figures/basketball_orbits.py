"""The basketball with C1 = -40, C2 = 1 that drops below the horizontal: runs of the whole ball, and contact."""

from typing import Any, NamedTuple

import numpy as np

from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION

from . import basketball
from .basketball_numbers import TURNS

CONSTANTS = (-40, 1.0)
STEP = 5e-5  # s
# One colour an orbit, in every figure that shows it: by where it turns [pi rad], and the two that do not.
COLORS: dict[Any, str] = dict(zip(TURNS, (SKY, BLUE, GREEN, ORANGE, VERMILLION), strict=True)) | {
    "never turns": BLACK,
    "falls through": PURPLE,
}
OUT = 0.5 * np.pi  # where a ball that has come back is left alone


class Orbit(NamedTuple):
    """A run that turns below the horizontal, until it has come back, and further to OUT."""

    t: np.ndarray
    psi: np.ndarray
    theta: np.ndarray
    margin: np.ndarray  # N - psi'^2: the ball stays on the hoop while it is positive
    back: float  # s, when it passes the horizontal again
    around: float  # turns around the hoop until then
    energy: float


def orbit(rate: float, time: float, h: float = STEP) -> Orbit:
    """The ball from the horizontal with psi' = rate, until psi = OUT or for `time`."""
    run = basketball.run(rate, *CONSTANTS, h=h, steps=round(time / h))
    psi, t, q, xi = basketball.angle(run), np.asarray(run.t), np.asarray(run.q), np.asarray(run.xi)
    out = np.flatnonzero(psi > OUT)
    n = int(out[0]) + 1 if len(out) else len(psi)
    psi, t, theta, rates = psi[:n], t[:n], q[:n, 10], xi[:n, 0] * basketball.RADIUS / basketball.AROUND
    around = basketball.RADIUS * xi[:n, 2]
    a, v = basketball.to_axis(psi), basketball.AROUND
    margin = (a * around**2 * np.cos(psi) + basketball.GRAVITY * np.sin(psi)) / v - rates**2
    low = int(np.argmin(psi))
    back = float(np.interp(0.0, psi[low:], t[low:])) if psi[-1] > 0 else float("inf")
    turns = abs(float(np.interp(min(back, t[-1]), t, theta))) / (2 * np.pi)
    return Orbit(t, psi, theta, margin, back, turns, float(np.asarray(run.energy)[0]))


def centre(theta: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """The ball's centre in space, cm."""
    a = basketball.to_axis(psi)
    return np.stack([a * np.cos(theta), a * np.sin(theta), basketball.AROUND * np.sin(psi)], axis=-1)


def measured_contact(h: float, rate: float, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """psi, psi'^2 and F_n / (m v) = beta . (x'' + g e_z) / v with the second differences of a run's centre for x''."""
    run = basketball.run(rate, *CONSTANTS, h=h, steps=round(time / h))
    psi, theta = basketball.angle(run), np.asarray(run.q)[:, 10]
    x = centre(theta, psi)
    pull = (x[2:] - 2 * x[1:-1] + x[:-2]) / h**2 + np.array([0.0, 0.0, basketball.GRAVITY])
    psi, theta = psi[1:-1], theta[1:-1]
    beta = np.stack([-np.cos(psi) * np.cos(theta), -np.cos(psi) * np.sin(theta), np.sin(psi)], axis=-1)
    rates = np.asarray(run.xi)[1:-1, 0] * basketball.RADIUS / basketball.AROUND
    return psi, rates**2, np.sum(beta * pull, axis=-1) / basketball.AROUND
