"""Sleigh, rolling disk and Suslov's body by their own equations and SciPy: with nothing of the library's."""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp


def sleigh(system: Any, q: Any, xi: Any, time: float) -> np.ndarray:
    """(theta, x, y, theta', v) at `time`: (J + m a^2) theta'' = -m a theta' v, v' = a theta'^2.   [QS] (6.1)"""
    m, j, a = system.mass, system.inertia, system.offset

    def rate(_: float, state: np.ndarray) -> list[float]:
        theta, _, _, turn, v = state
        return [turn, v * np.cos(theta), v * np.sin(theta), -m * a * turn * v / (j + m * a**2), a * turn**2]

    return _end(rate, [*q, *xi], time)


def disk(system: Any, q: Any, xi: Any, time: float) -> np.ndarray:
    """(theta, phi, psi, x, y, theta', phi', psi') at `time`: p1 = A phi' cos, p2 = (m R^2 + B) (phi' sin + psi'),

    p1' = (tan p1 - B/(m R^2 + B) p2) theta', p2' = -(m R^2/A) p1 theta', (A + m R^2) theta'' = -U_c'.   [QS] 6.5
    """
    m, r, g = system.mass, system.radius, system.gravity
    a, b = system.inertia_diameter, system.inertia_axis
    rolling = m * r**2 + b

    def velocities(theta: float, p1: float, p2: float) -> tuple[float, float]:
        heading = p1 / (a * np.cos(theta))
        return heading, p2 / rolling - heading * np.sin(theta)

    def rate(_: float, state: np.ndarray) -> list[float]:
        theta, phi, _, _, _, lean, p1, p2 = state
        t = np.tan(theta)
        heading, own = velocities(theta, p1, p2)
        slope = t * p1**2 / a - p1 * p2 / a - m * g * r * np.sin(theta)  # U_c' along the momentum equations
        contact = [-r * own * np.cos(phi), -r * own * np.sin(phi)]
        momenta = [(t * p1 - b / rolling * p2) * lean, -m * r**2 / a * p1 * lean]
        return [lean, heading, own, *contact, -slope / (a + m * r**2), *momenta]

    theta, (lean, heading, own) = q[0], xi
    momenta = [a * heading * np.cos(theta), rolling * (heading * np.sin(theta) + own)]
    end = _end(rate, [*q, lean, *momenta], time)
    return np.concatenate([end[:6], velocities(end[0], *end[6:])])


def suslov(system: Any, q: Any, xi: Any, time: float) -> np.ndarray:
    """(R row by row, omega1, omega2) at `time`: I omega' = I omega x omega + lambda e3, omega3 = 0, R' = R omega^."""
    inertia = np.asarray(system.inertia)

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        omega = np.array([state[9], state[10], 0.0])
        turning = np.linalg.solve(inertia[:2, :2], np.cross(inertia @ omega, omega)[:2])
        # A row r of R moves by r omega^ = r x omega.
        return np.concatenate([np.cross(state[:9].reshape(3, 3), omega).ravel(), turning])

    return _end(rate, [*q, *xi], time)


def _end(rate: Any, start: list[float], time: float) -> np.ndarray:
    return solve_ivp(rate, (0.0, time), start, method="DOP853", rtol=3e-14, atol=1e-15).y[:, -1]
