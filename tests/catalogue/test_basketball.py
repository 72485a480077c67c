"""The basketball on its hoop: the numbers and figures of [MD] chapter 11."""

import jax.numpy as jnp
import numpy as np
import pytest
from contact import assert_second_order
from scipy.integrate import solve_ivp

import discrete_hamel as dh

UNTURNED = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)
BASKET = dh.systems.BasketballOnHoop()
U, V, R = 23.8125, 13.080106663602425, 12.127606663602425


def _fundamental(psi_over_pi):
    """(11.1) with (C1, C2) = (1, 0) and (0, 1), integrated in psi by hand: (f11, f12, f21, f22)."""

    def rate(psi, y):
        a = U - V * np.cos(psi)
        return [U * y[1] / a**2, -0.4 * a * y[0], U * y[3] / a**2, -0.4 * a * y[2]]

    start = [1.0, 0.0, 0.0, (U - V) ** 2]
    end = solve_ivp(rate, (0.0, psi_over_pi * np.pi), start, rtol=1e-12, atol=1e-12, method="DOP853").y[:, -1]
    a2 = (U - V * np.cos(psi_over_pi * np.pi)) ** 2
    return end[0], end[1] / a2, end[2], end[3] / a2


FIGURES_11_2 = {
    0.25: (0.79653608, -0.016368509, 14.075717, 0.39255119),
    0.5: (0.51688177, -0.012826879, 16.74618, -0.022571831),
    1.0: (0.12732316, -0.0097813288, 11.586728, -0.22545404),
    2.0: (-1.6783923, -0.029432068, -61.735413, -1.6783923),
    4.0: (4.6340017, 0.098797116, 207.23249, 4.6340017),
}


@pytest.mark.parametrize("psi", FIGURES_11_2)
def test_basketball_fundamental_solutions(psi):
    np.testing.assert_allclose(_fundamental(psi), FIGURES_11_2[psi], rtol=2e-7)


def test_basketball_runs_along_its_fundamental_solutions():
    """Omega1 = C1 f11 + C2 f21 and Omega2 = C1 f12 + C2 f22 of psi, whatever the speed."""
    for v in (5.0, 20.0):
        start = (*UNTURNED, -V * np.pi / 2, 0.0)
        run = dh.reference(BASKET, start, (v, -40.0, 1.0), t=np.linspace(0.0, 0.3, 4))
        for q, xi in zip(run.q[1:], run.xi[1:], strict=True):
            f11, f12, f21, f22 = _fundamental((q[9] / V + np.pi / 2) / np.pi)
            np.testing.assert_allclose(xi[1:3], [-40 * f11 + f21, -40 * f12 + f22], rtol=1e-8)


def test_basketball_has_the_thesis_numbers():
    a, z = BASKET.curve(jnp.asarray(-V * np.pi / 2))  # psi = 0: the inner horizontal
    np.testing.assert_allclose([a, z], [U - V, 0.0], atol=1e-12)
    np.testing.assert_allclose(BASKET.moment(), 98.0526, atol=1e-4)
    np.testing.assert_allclose(BASKET.moment() / (BASKET.moment() + R**2), 0.4, atol=1e-14)
    np.testing.assert_allclose([BASKET.radius, BASKET.radius + BASKET.wire], [12.1276, 13.0801], atol=1e-4)


def _potential(psi_over_pi, c1, c2):
    """The amended potential, by the library's energy at v = 0."""
    f11, f12, f21, f22 = _fundamental(psi_over_pi) if psi_over_pi else (1.0, 0.0, 0.0, 1.0)
    s = V * (psi_over_pi - 0.5) * np.pi
    return float(dh.energy(BASKET, (*UNTURNED, s, 0.0), (0.0, c1 * f11 + c2 * f21, c1 * f12 + c2 * f22)))


FIGURE_11_7 = {
    -1.0: 77085.85,
    -0.5: 75768.06,
    -0.2: 99126.23,
    0.0: 92559.69,
    0.1: 77432.45,
    0.5: 30305.02,
    1.0: 6653.18,
}


def test_basketball_amended_potential():
    for psi, wanted in FIGURE_11_7.items():
        np.testing.assert_allclose(_potential(psi, -40.0, 1.0), wanted, atol=0.006)
    rows = {(-40, 0.5): 81971.46, (-50, 0.5): 126095.11, (-60, 0.5): 180024.02, (-20, 1): 33728.15, (-30, 1): 58241.29}
    for (c1, c2), wanted in rows.items():
        np.testing.assert_allclose(_potential(0.0, c1, c2), wanted, atol=0.006)


FIGURE_11_4 = {  # psi/pi: A, B, C of U = g z + (A C1^2 + 2 B C1 C2 + C C2^2) / 2
    0.0: (98.0526, 0.0, 28235.281),
    0.25: (76.1412, 765.280, 27438.379),
    0.5: (49.0656, 888.967, 27568.145),
    1.0: (33.5103, 880.408, 30122.523),
}


@pytest.mark.parametrize("psi", FIGURE_11_4)
def test_basketball_coefficients_of_the_potential(psi):
    weight = _potential(psi, 0.0, 0.0)
    first, second = _potential(psi, 1.0, 0.0) - weight, _potential(psi, 0.0, 1.0) - weight
    mixed = _potential(psi, 1.0, 1.0) - weight - first - second
    np.testing.assert_allclose([2 * first, mixed, 2 * second], FIGURE_11_4[psi], rtol=2e-6, atol=6e-4)


SLOPES_AT_0 = {
    (-40, 0.5): -12823.62,
    (-50, 0.5): -19236.31,
    (-60, 0.5): -25649.00,
    (-30, 1): -25649.00,
    (-40, 1): -38474.382,
}


@pytest.mark.parametrize("constants", SLOPES_AT_0)
def test_basketball_slope_of_the_potential(constants):
    """U'(0) = v (m g + J C1 C2), which the library shows as -(J + m r^2) v^2 psi'' / r^2."""
    _, rate = dh.vector_field(BASKET, (*UNTURNED, -V * np.pi / 2, 0.0), (0.0, *constants))
    slope = -(5 / 3) * V * R * float(rate[0])
    np.testing.assert_allclose(slope, SLOPES_AT_0[constants], rtol=1e-6)
    np.testing.assert_allclose(slope, V * (980.66 + 2 / 3 * R**2 * constants[0] * constants[1]), rtol=1e-12)


FIGURE_11_8 = {-1.0: -157.774, -0.5: -74.973, -0.2: -43.158, 0.0: 120.680, 0.1: 219.579, 0.5: 74.973, 1.0: -11.404}


def test_basketball_leaves_the_hoop_where_the_thesis_says():
    """N = (a theta'^2 cos psi + g sin psi) / v for (C1, C2) = (-40, 1); the ball stays while psi'^2 < N."""
    for at, wanted in FIGURE_11_8.items():
        _, f12, _, f22 = _fundamental(at) if at else (1.0, 0.0, 0.0, 1.0)
        psi = at * np.pi
        pivot = R * (-40 * f12 + f22)
        normal = ((U - V * np.cos(psi)) * pivot**2 * np.cos(psi) + 980.66 * np.sin(psi)) / V
        np.testing.assert_allclose(normal, wanted, atol=6e-4)


MAXIMA = {  # (C1, C2): psi/pi of the local maximum, U there, psi/pi where the contact is lost
    (-40, 0.5): (-0.050882, 83003.21, -0.042874),
    (-50, 0.5): (-0.049554, 127598.15, -0.037763),
    (-60, 0.5): (-0.046307, 181893.84, -0.033792),
    (-20, 1.0): (-0.139718, 36620.72, -0.132722),
    (-30, 1.0): (-0.146055, 64195.58, -0.114059),
    (-40, 1.0): (-0.134603, 100734.009, -0.099467),
}


@pytest.mark.parametrize("constants", MAXIMA)
def test_basketball_turning_points(constants):
    """The steady turning of Fig. 11.7 is an equilibrium of the reduced motion, unstable, with this energy."""
    psi, top, lost = MAXIMA[constants]
    np.testing.assert_allclose(_potential(psi, *constants), top, rtol=1e-7)

    def force(at):
        f11, f12, f21, f22 = _fundamental(at)
        xi = (0.0, constants[0] * f11 + constants[1] * f21, constants[0] * f12 + constants[1] * f22)
        q = (*UNTURNED, V * (at - 0.5) * np.pi, 0.0)
        _, rate = dh.vector_field(BASKET, q, xi)
        return float(rate[0]), xi

    assert force(psi - 1e-5)[0] < 0 < force(psi + 1e-5)[0], "U' changes sign within the digits given"
    # The contact force m (a theta'^2 cos psi + g sin psi) of a ball that turns there changes sign at `lost`.
    normal = [
        (U - V * np.cos(at * np.pi)) * (R * force(at)[1][2]) ** 2 * np.cos(at * np.pi) + 980.66 * np.sin(at * np.pi)
        for at in (lost - 2e-6, lost + 2e-6)
    ]
    assert normal[0] < 0 < normal[1]


def test_basketball_turns_below_the_horizontal():
    """(C1, C2) = (-40, 1) from psi = 0 with psi' = -7.3203: turns at -0.0994 pi, below for 0.2269 s; order 2."""
    start, xi = (*UNTURNED, -V * np.pi / 2, 0.0), (-7.3203 * V / R, -40.0, 1.0)
    exact = dh.reference(BASKET, start, xi, t=np.linspace(0.0, 0.23, 2301))
    psi = exact.q[:, 9] / V + np.pi / 2
    assert abs(psi.min() / np.pi + 0.0994) < 5e-5
    back = np.interp(0.0, psi[1500:], exact.t[1500:])
    assert abs(back - 0.2269) < 1e-4
    turns = abs(np.interp(back, exact.t, exact.q[:, 10])) / (2 * np.pi)
    assert abs(turns - 0.2663) < 1e-4
    assert_second_order(BASKET, start, xi, 0.2, dh.reference(BASKET, start, xi, t=0.2).q[-1][9:], lambda r: r.q[-1][9:])
