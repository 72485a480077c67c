"""dh.reference, what everything is compared with, against closed forms and against hand-written equations of motion."""

import numpy as np
import pytest
from problems import BODY, DISK, PENDULUM, SLEIGH, TOP
from scipy.integrate import solve_ivp
from scipy.special import ellipj

import discrete_hamel as dh

TIMES = np.linspace(0.0, 3.0, 7)


def test_sleigh_runs_along_ellipses_in_closed_form():
    """(6.1) of [QS], I = J + m a^2: p on an ellipse, v = V tanh(s), omega = V sqrt(m/I) sech(s), s' = m a V / I."""
    m, j, a = 1.0, 0.7, 0.4
    inertia = j + m * a**2
    omega, v = SLEIGH.xi
    speed = np.sqrt((inertia * omega**2 + m * v**2) / m)
    start = np.arctanh(v / speed)
    s = start + a * speed * m / inertia * TIMES
    expected = np.stack([speed * np.sqrt(m / inertia) / np.cosh(s), speed * np.tanh(s)], axis=1)
    found = dh.reference(SLEIGH.system, SLEIGH.q, SLEIGH.xi, t=TIMES)
    assert found.xi[:, :2] == pytest.approx(expected, abs=1e-10)


def test_free_body_turns_by_jacobi_elliptic_functions():
    """I1 < I2 < I3, 2 E I2 < |M|^2: omega = (A cn, -B sn, C dn) from the moment when omega2 = 0."""
    i1, i2, i3 = 1.0, 2.0, 3.0
    start = np.array([0.5, 0.0, 1.0])
    twice_energy = i1 * start[0] ** 2 + i3 * start[2] ** 2
    square = (i1 * start[0]) ** 2 + (i3 * start[2]) ** 2
    assert square > twice_energy * i2
    b = np.sqrt((twice_energy * i3 - square) / (i2 * (i3 - i2)))
    rate = np.sqrt((i3 - i2) * (square - twice_energy * i1) / (i1 * i2 * i3))
    parameter = (i2 - i1) * (twice_energy * i3 - square) / ((i3 - i2) * (square - twice_energy * i1))
    sn, cn, dn, _ = ellipj(rate * TIMES, parameter)
    found = dh.reference(BODY.system, BODY.q, start, t=TIMES).xi
    # I2 omega2' = (I3 - I1) omega3 omega1 > 0 at the start.
    assert found == pytest.approx(np.stack([start[0] * cn, b * sn, start[2] * dn], axis=1), abs=1e-10)


def test_conical_pendulum_turns_steadily():
    r, g, height = 9.8, 9.8, -0.8
    rate = np.sqrt(g / (r * -height))
    sine = np.sqrt(1 - height**2)
    # xi3 = 0: the frame does not spin about the rod, and xi has the length of the bob's speed over r.
    found = dh.reference(PENDULUM.system, [sine, 0.0, height], [rate * sine, 0.0], t=TIMES)
    assert np.max(np.abs(found.q[:, 2] - height)) < 1e-10
    assert np.linalg.norm(found.xi, axis=1) == pytest.approx(rate * sine, abs=1e-10)


def spherical_angles(_, y):
    """Polar angle from the upward vertical and azimuth, by hand; g = r."""
    theta, _, rate, turn = y
    s, c = np.sin(theta), np.cos(theta)
    return [rate, turn, s * c * turn**2 + s, -2 * rate * turn * c / s]


def test_pendulum_against_spherical_angles():
    gamma, xi = np.array(PENDULUM.q), np.array([*PENDULUM.xi, 0.0])
    rate = np.cross(gamma, xi)  # gamma', and gamma3 is the height of the bob
    theta = np.arccos(gamma[2])
    turn = gamma @ xi / np.sin(theta) ** 2  # the vertical momentum over m r^2 sin^2
    start = [theta, 0.0, -rate[2] / np.sin(theta), turn]
    exact = solve_ivp(spherical_angles, (0, 3), start, method="DOP853", t_eval=TIMES, rtol=1e-12, atol=1e-12)
    found = dh.reference(PENDULUM.system, PENDULUM.q, PENDULUM.xi, t=TIMES)
    assert found.q[:, 2] == pytest.approx(np.cos(exact.y[0]), abs=1e-9)
    assert np.max(np.abs(found.invariants()["vertical momentum"] / 9.8**2 - turn * np.sin(theta) ** 2)) < 1e-9


def test_heavy_top_against_eulers_equations():
    inertia, weight = np.array([1.0, 1.0, 0.4]), np.array([0.0, 0.0, 3.0])

    def right(_, y):
        omega, gamma = y[:3], y[3:]
        return np.concatenate(
            [(np.cross(inertia * omega, omega) + np.cross(gamma, weight)) / inertia, np.cross(gamma, omega)]
        )

    start = [*TOP.xi, *TOP.q[6:]]
    exact = solve_ivp(right, (0, 3), start, method="DOP853", t_eval=TIMES, rtol=1e-12, atol=1e-12)
    found = dh.reference(TOP.system, TOP.q, TOP.xi, t=TIMES)
    assert found.xi == pytest.approx(exact.y[:3].T, abs=1e-8)
    assert found.q[:, 6:] == pytest.approx(exact.y[3:].T, abs=1e-8)


def test_disk_against_qs_6_5_as_corrected():
    """p1' = (tan p1 - B/(m R^2 + B) p2) theta', p2' = -(m R^2/A) p1 theta'.

    Here p1 = A phi' cos theta and p2 = (m R^2 + B)(phi' sin theta + psi').
    """
    m, r, a, b = 1.0, 1.0, 0.25, 0.5
    inertia = m * r**2 + b
    for theta, lean, turn, spin in np.random.default_rng(4).uniform(-1.0, 1.0, (10, 4)):
        q, c, s = [theta, 0.3, 0.0, 0.0, 0.0], np.cos(theta), np.sin(theta)
        _, (_, turning, spinning, *_) = dh.vector_field(DISK.system, q, [lean, turn, spin])
        p1, p2 = a * turn * c, inertia * (turn * s + spin)
        rates = [a * (turning * c - turn * s * lean), inertia * (turning * s + turn * c * lean + spinning)]
        expected = [(np.tan(theta) * p1 - b / inertia * p2) * lean, -(m * r**2 / a) * p1 * lean]
        assert np.asarray(rates) == pytest.approx(expected, rel=1e-10, abs=1e-11)


def test_nodes_are_at_the_times_asked_for_also_backwards():
    forth = dh.reference(SLEIGH.system, SLEIGH.q, SLEIGH.xi, t=2.0)
    back = dh.reference(SLEIGH.system, forth.q[-1], forth.xi[-1], t=[-1.0, -2.0])
    assert back.t.tolist() == [-1.0, -2.0]
    assert back.q[-1] == pytest.approx(SLEIGH.q, abs=1e-10)


def test_bad_times_are_refused():
    for t in ([0.0, 2.0, 1.0], [-1.0, 1.0, 0.5], [np.nan]):
        with pytest.raises(ValueError, match="times in order"):
            dh.reference(SLEIGH.system, SLEIGH.q, SLEIGH.xi, t=t)
    with pytest.raises(dh.InputError, match="t must be real numbers"):
        dh.reference(SLEIGH.system, SLEIGH.q, SLEIGH.xi, t="long")
