"""The basketball on its hoop: the numbers and fundamental solutions of [MD] chapter 11."""

import jax.numpy as jnp
import numpy as np
import pytest
from contact import assert_second_order
from hoop import BASKET, UNTURNED, R, U, V, contact, fundamental, place, potential, spins

import discrete_hamel as dh

FIGURES_11_2 = {
    0.25: (0.79653608, -0.016368509, 14.075717, 0.39255119),
    0.5: (0.51688177, -0.012826879, 16.74618, -0.022571831),
    1.0: (0.12732316, -0.0097813288, 11.586728, -0.22545404),
    1.5: (-0.374656, -0.020864, -3.803248, -0.753988),
    2.0: (-1.6783923, -0.029432068, -61.735413, -1.6783923),
    3.0: (-0.55471959, 0.023052486, -27.307424, 0.9822547),
    4.0: (4.6340017, 0.098797116, 207.23249, 4.6340017),
}


@pytest.mark.parametrize("psi", FIGURES_11_2)
def test_fundamental_solutions(psi):
    np.testing.assert_allclose(fundamental(psi), FIGURES_11_2[psi], rtol=3e-7, atol=6e-7)


EXTREMES = {  # of f11, f12, f21, f22 on [0, 4 pi]: psi/pi and value of the least and of the greatest
    0: ((2.136, -1.8276), (4.0, 4.634)),
    1: ((1.856, -0.04392), (3.871, 0.13434)),
    2: ((2.191, -73.62), (4.0, 207.23)),
    3: ((1.891, -2.079), (3.875, 6.175)),
}


@pytest.mark.parametrize("which", EXTREMES)
def test_extremes_of_the_fundamental_solutions(which):
    at = np.linspace(0.0, 4.0, 4001)
    values = fundamental(at)[which]
    for (where, wanted), k in zip(EXTREMES[which], (np.argmin(values), np.argmax(values)), strict=True):
        assert abs(at[k] - where) <= 1e-3
        np.testing.assert_allclose(values[k], wanted, rtol=5e-4)


def test_a_turn_multiplies_by_three_and_changes_the_sign():
    """Monodromy over 2 pi in (Omega1, a^2 Omega2): determinant 1, trace -3.3567847, exponent 1.1073586 a turn."""
    f11, f12, f21, f22 = fundamental(2.0)
    a2 = (U - V) ** 2
    turn = np.array([[f11, f21 / a2], [a2 * f12, f22]])
    np.testing.assert_allclose(np.linalg.det(turn), 1.0, atol=1e-9)
    np.testing.assert_allclose(np.trace(turn), -3.3567847, atol=6e-8)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(turn)), [-3.0263541, -0.3304306], atol=6e-8)
    np.testing.assert_allclose(np.log(np.max(np.abs(np.linalg.eigvals(turn)))), 1.1073586, atol=6e-8)


def test_it_runs_along_its_fundamental_solutions():
    """Omega1 = C1 f11 + C2 f21 and Omega2 = C1 f12 + C2 f22 of psi, whatever the speed."""
    for v in (5.0, 20.0):
        run = dh.reference(BASKET, place(0.0), (v, -40.0, 1.0), t=np.linspace(0.0, 0.3, 4))
        for q, xi in zip(run.q[1:], run.xi[1:], strict=True):
            np.testing.assert_allclose(xi[1:3], spins((q[9] / V + np.pi / 2) / np.pi, -40.0, 1.0), rtol=1e-8)


def test_it_has_the_thesis_numbers():
    a, z = BASKET.curve(jnp.asarray(-V * np.pi / 2))  # psi = 0: the inner horizontal
    np.testing.assert_allclose([a, z], [U - V, 0.0], atol=1e-12)
    np.testing.assert_allclose(BASKET.moment(), 98.0526, atol=1e-4)
    np.testing.assert_allclose(BASKET.moment() / (BASKET.moment() + R**2), 0.4, atol=1e-14)
    np.testing.assert_allclose([BASKET.radius, BASKET.radius + BASKET.wire], [12.1276, 13.0801], atol=1e-4)
    np.testing.assert_allclose([U, 3 * U / 5, 5 * V**2 / 3], [23.8125, 14.2875, 285.14865], atol=1e-5)


FIGURE_11_4 = {  # psi/pi: A, B, C of U = g z + (A C1^2 + 2 B C1 C2 + C C2^2) / 2
    0.0: (98.0526, 0.0, 28235.281),
    0.25: (76.1412, 765.280, 27438.379),
    0.5: (49.0656, 888.967, 27568.145),
    1.0: (33.5103, 880.408, 30122.523),
}


def coefficients(psi):
    weight = potential(psi, 0.0, 0.0)
    first, second = potential(psi, 1.0, 0.0) - weight, potential(psi, 0.0, 1.0) - weight
    return 2 * first, potential(psi, 1.0, 1.0) - weight - first - second, 2 * second


@pytest.mark.parametrize("psi", FIGURE_11_4)
def test_coefficients_of_the_potential(psi):
    np.testing.assert_allclose(coefficients(psi), FIGURE_11_4[psi], rtol=2e-6, atol=6e-4)


@pytest.mark.parametrize(("which", "at", "wanted"), [(0, 0.9386, 33.206), (1, 0.4511, 892.649), (2, 0.2663, 27434.56)])
def test_extremes_of_the_coefficients(which, at, wanted):
    """The least A, the greatest B and the least C."""
    before, there, after = (coefficients(psi)[which] for psi in (at - 0.01, at, at + 0.01))
    np.testing.assert_allclose(there, wanted, rtol=2e-5)
    assert (before - there) * (after - there) > 0
    vertex = 0.01 * (before - after) / (before - 2 * there + after) / 2  # of the parabola through the three
    assert abs(vertex) < 2e-4


TURNS = {  # psi/pi of the turning point: psi' at the horizontal, s below it, revolutions around the hoop, contact kept
    -0.02: (-3.9756, 0.0649, 0.1169, True),
    -0.05: (-5.9087, 0.1156, 0.1834, True),
    -0.08: (-6.9403, 0.1733, 0.2333, True),
    -0.0994: (-7.3203, 0.2269, 0.2663, True),
    -0.12: (-7.5301, 0.3312, 0.3181, False),
}


@pytest.mark.parametrize("psi", TURNS)
def test_it_turns_below_the_horizontal(psi):
    """(C1, C2) = (-40, 1) from psi = 0."""
    speed, time, around, kept = TURNS[psi]
    run = dh.reference(BASKET, place(0.0), (speed * V / R, -40.0, 1.0), t=np.linspace(0.0, 1.05 * time, 2001))
    path, later = (run.q[:, 9] / V + np.pi / 2) / np.pi, 500
    assert abs(path.min() - psi) < 5e-5
    back = np.interp(0.0, path[later:], run.t[later:])
    assert abs(back - time) < 1e-4
    assert abs(abs(np.interp(back, run.t, run.q[:, 10])) / (2 * np.pi) - around) < 1e-4
    below = run.t < back
    margin = [contact(at, -40.0, 1.0) - (xi * R / V) ** 2 for at, xi in zip(path, run.xi[:, 0], strict=True)]
    assert np.all(np.array(margin)[below] > 0) == kept


def test_the_scheme_turns_it_at_second_order():
    start, xi = (*UNTURNED, -V * np.pi / 2, 0.0), (-7.3203 * V / R, -40.0, 1.0)
    assert_second_order(BASKET, start, xi, 0.2, dh.reference(BASKET, start, xi, t=0.2).q[-1][9:], lambda r: r.q[-1][9:])
