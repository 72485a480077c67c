"""The spherical pendulum of [HE] 6.3: its run, the bob's path in space, and an independent check of it."""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import discrete_hamel as dh

PENDULUM = {"mass": 1.0, "length": 9.8, "gravity": 9.8}  # kg, m, m/s^2; [HE] 6.3
GAMMA = (0.3, 0.2, -((1 - 0.3**2 - 0.2**2) ** 0.5))  # the upward vertical seen from the body
STEP = 0.2  # s
PAPER: dict[str, Any] = PENDULUM | {"gamma": GAMMA, "xi": (0.6, 0.0), "h": STEP, "steps": 10_000}  # the run of 6.3


def run(xi: Any, steps: int, *, h: float = STEP, tau: float = 0.5) -> dh.Trajectory:
    """The pendulum from GAMMA with angular velocity xi (rad/s)."""
    system = dh.systems.SphericalPendulum(**PENDULUM)
    return dh.simulate(system, q=GAMMA, xi=xi, h=h, steps=steps, scheme=dh.DiscreteHamel(tau))


def attitudes(trajectory: dh.Trajectory) -> np.ndarray:
    """R_k, body to space, with R^T e_z = gamma_k: R_{k+1} = R_k cay(h xi).

    The scheme turns gamma by exactly the inverse of this Cayley map, so the bob's height r (R e_3)_z is r gamma3 to
    round-off, with no pole where the bob is at the bottom, as an integral of the azimuth would have.
    """
    turns = _cayley(float(trajectory.h) * np.asarray(trajectory.xi_mid))
    rotations = [_first_attitude(np.asarray(trajectory.q[0]))]
    for turn in turns:
        rotations.append(rotations[-1] @ turn)
    return np.stack(rotations)


def bob(trajectory: dh.Trajectory) -> np.ndarray:
    """The bob in space (m): r R e_3, shape (K+1, 3)."""
    return PENDULUM["length"] * attitudes(trajectory)[:, :, 2]


def newtonian(trajectory: dh.Trajectory) -> np.ndarray:
    """The bob at the same times by x'' = -g e_z - lambda x with the rod's pull lambda, DOP853 at 1e-12.

    Cartesian, with neither frame nor bracket: nothing in common with the scheme but the initial data.
    """
    gravity = np.array([0.0, 0.0, -PENDULUM["gravity"]])
    attitude = _first_attitude(np.asarray(trajectory.q[0]))
    velocity = PENDULUM["length"] * attitude @ np.cross(trajectory.xi[0], [0.0, 0.0, 1.0])

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        x, v = state[:3], state[3:]
        return np.concatenate([v, gravity - x * (v @ v + gravity @ x) / (x @ x)])

    start = np.concatenate([PENDULUM["length"] * attitude[:, 2], velocity])
    t = np.asarray(trajectory.t)
    return solve_ivp(rate, (0, t[-1]), start, method="DOP853", t_eval=t, rtol=1e-12, atol=1e-12).y[:3].T


def errors(xi: Any, duration: float, steps: tuple[int, ...]) -> np.ndarray:
    """Largest distance (m) of the bob from Newton's, for several numbers of steps over the same time."""
    runs = [run(xi, n, h=duration / n) for n in steps]
    return np.array([np.max(np.linalg.norm(bob(r) - newtonian(r), axis=1)) for r in runs])


def _first_attitude(gamma: np.ndarray) -> np.ndarray:
    """A rotation whose third row is gamma; the first row is free, which is the choice of the axis of azimuth."""
    first = np.cross([0.0, 1.0, 0.0], gamma)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(gamma, first), gamma])


def _cayley(a: np.ndarray) -> np.ndarray:
    """cay(a) = (1 - a^/2)^-1 (1 + a^/2) for each row a."""
    half = np.zeros((len(a), 3, 3))
    half[:, 0, 1], half[:, 0, 2], half[:, 1, 2] = -a[:, 2] / 2, a[:, 1] / 2, -a[:, 0] / 2
    half -= np.swapaxes(half, 1, 2)
    return np.linalg.solve(np.eye(3) - half, np.eye(3) + half)
