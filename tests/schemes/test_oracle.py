"""(D) against two other programs: the sleigh's step written out by hand, and a prototype of the library."""

import numpy as np
import pytest
from problems import DISK, PENDULUM, SLEIGH

import discrete_hamel as dh


def sleigh_step(q, p, h: float, tau: float, m: float = 1.0, j: float = 0.7, a: float = 0.4):
    """(D1), (D2) with mu = (I omega, m v) and F = (-m a omega v, m a omega^2), solved by iteration."""
    inertia = j + m * a**2
    omega, v = p[0] / inertia, p[1] / m
    for _ in range(60):
        force = np.array([-m * a * omega * v, m * a * omega**2])
        omega, v = (p + (1 - tau) * h * force) / [inertia, m]
    middle = q[0] + tau * h * omega
    return q + h * np.array([omega, v * np.cos(middle), v * np.sin(middle)]), p + h * force


@pytest.mark.parametrize("tau", [0.0, 0.3, 0.5, 1.0])
def test_sleigh_by_hand(tau):
    q, h = np.array(SLEIGH.q), 0.05
    p = np.array([0.86 * SLEIGH.xi[0], SLEIGH.xi[1]])
    trajectory = SLEIGH.run(80, h=h, scheme=dh.DiscreteHamel(tau=tau))
    for k in range(81):
        assert trajectory.q[k] == pytest.approx(q, abs=1e-12)
        assert trajectory.p[k] == pytest.approx(p, abs=1e-12)
        q, p = sleigh_step(q, p, h, tau)


PROTOTYPE = {  # (q, p) after 20 steps of 0.05, by a prototype of this library
    ("sleigh", 0.5): [1.597573599628, 0.01379616649214, 0.1809097711334, 1.197602293641, 0.5977173111355],
    ("sleigh", 0.3): [1.593535941981, 0.02209352769124, 0.1852948210161, 1.193614094944, 0.5929661242591],
    ("disk", 0.5): [
        *[0.444474741498, -1.33751727597, 4.243512909587, -3.328288833133, 1.362761154776],
        *[-1.228178447629, 1.96588965092, 4.748395680315],
    ],
    ("disk", 0.3): [
        *[0.2961236714218, -1.625566155977, 4.45430110606, -3.171344545935, 1.494501446973],
        *[-2.05557133887, 1.38968074295, 4.328583569081],
    ],
    ("pendulum", 0.5): [0.1693616153593, -0.3700251581565, -0.9134538989868, 48.65102008872, -24.45126891904],
    ("pendulum", 0.3): [0.1665122276189, -0.3728874634838, -0.9167446534823, 49.0823539472, -24.44273085054],
}


@pytest.mark.parametrize("problem", [SLEIGH, DISK, PENDULUM], ids=lambda problem: problem.name)
@pytest.mark.parametrize("tau", [0.5, 0.3])
def test_numbers_of_the_prototype(problem, tau):
    trajectory = problem.run(20, h=0.05, scheme=dh.DiscreteHamel(tau=tau))
    found = np.concatenate([trajectory.q[-1], trajectory.p[-1]])
    assert found == pytest.approx(PROTOTYPE[problem.name, tau], rel=1e-11)
