"""The amended potential of the basketball on its hoop: figures 11.5 to 11.8 of [MD], and the horizontal."""

import io

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hoop import BASKET, UNTURNED, R, V, contact, place, potential, slope, spins
from hypothesis import assume, given, settings

import discrete_hamel as dh
from discrete_hamel.systems.balls_on_surfaces import hoop
from discrete_hamel.testing.strategies import numbers, sizes
from paper_figures.basketball_numbers import CURVES

CONSTANTS = [(-40, 0.5), (-50, 0.5), (-60, 0.5), (-20, 1.0), (-30, 1.0), (-40, 1.0)]
FIGURES = np.loadtxt(io.StringIO(CURVES))  # psi/pi; U for the six pairs of constants; N for the last of them


@pytest.mark.parametrize("which", range(6))
def test_figures_11_5_to_11_7(which):
    """To the two decimals given."""
    found = [potential(psi, *CONSTANTS[which]) for psi in FIGURES[:, 0]]
    np.testing.assert_allclose(found, FIGURES[:, 1 + which], rtol=0, atol=0.006)


def test_figure_11_8():
    np.testing.assert_allclose([contact(psi, -40, 1) for psi in FIGURES[:, 0]], FIGURES[:, 7], rtol=0, atol=6e-4)
    around = [contact(0.13602 + off, -40, 1) for off in (-0.001, 0.0, 0.001)]
    assert abs(around[1] - 227.175) < 6e-4
    assert around[1] > max(around[0], around[2])
    assert contact(0.944209 - 1e-6, -40, 1) > 0 > contact(0.944209 + 1e-6, -40, 1)


EXTREMES = {  # psi/pi and U of the local maximum and of the local minimum; psi/pi where the contact is lost
    (-40, 0.5): (-0.050882, 83003.21, -0.738721, 39881.71, -0.042874),
    (-50, 0.5): (-0.049554, 127598.15, -0.782710, 60088.07, -0.037763),
    (-60, 0.5): (-0.046307, 181893.84, -0.814845, 83338.03, -0.033792),
    (-20, 1.0): (-0.139718, 36620.72, -0.624159, 27340.88, -0.132722),
    (-30, 1.0): (-0.146055, 64195.58, -0.693247, 45682.65, -0.114059),
    (-40, 1.0): (-0.134603, 100734.009, -0.745310, 67004.67, -0.099467),
}


@pytest.mark.parametrize("constants", EXTREMES)
def test_maxima_and_minima(constants):
    """Steady turning, unstable and stable: U' changes sign within the digits given. There is no other above -pi."""
    top, at_top, bottom, at_bottom, _ = EXTREMES[constants]
    np.testing.assert_allclose(
        [potential(top, *constants), potential(bottom, *constants)], [at_top, at_bottom], rtol=0, atol=0.006
    )
    off = 1e-6
    assert slope(top - off, *constants) > 0 > slope(top + off, *constants)
    assert slope(bottom - off, *constants) < 0 < slope(bottom + off, *constants)
    assert all(slope(psi, *constants) < 0 for psi in np.linspace(0.01, 0.99, 50))  # strictly decreasing on (0, pi)


@pytest.mark.parametrize("constants", EXTREMES)
def test_the_contact_is_lost_above_the_maximum(constants):
    """So what turns there has left the hoop before: N = 0 between the maximum and the horizontal."""
    top, *_, lost = EXTREMES[constants]
    assert contact(lost - 2e-6, *constants) < 0 < contact(lost + 2e-6, *constants)
    assert top < lost < 0


def test_the_asymptotic_orbit():
    """It crosses the horizontal at 7.571904 rad/s and comes to the maximum in infinite time, at the rate 17.165 / s."""
    top = EXTREMES[-40, 1.0][0]
    rise, kinetic = potential(top, -40, 1) - potential(0.0, -40, 1), 5 * V**2 / 3
    np.testing.assert_allclose(np.sqrt(2 * rise / kinetic), 7.571904, atol=6e-7)
    spin, pivot = spins(top, -40, 1)
    np.testing.assert_allclose([-R * pivot, spin], [-2.8078, -46.294], rtol=2e-5)
    bend = (slope(top + 1e-4, -40, 1) - slope(top - 1e-4, -40, 1)) / (2e-4 * np.pi)
    np.testing.assert_allclose(np.sqrt(-bend / kinetic), 17.165, atol=6e-4)


AT_0 = {  # U' and U'' at the horizontal
    (-40, 0.5): (-12823.62, -77448.84),
    (-50, 0.5): (-19236.31, -120469.41),
    (-60, 0.5): (-25649.00, -173050.11),
    (-20, 1.0): (-12823.62, -22991.57),
    (-30, 1.0): (-25649.00, -46891.89),
    (-40, 1.0): (-38474.382, -80352.331),
}


@jax.jit
def at_the_horizontal(ball, v, constants):
    """Omega', Omega'' and U', U'' in psi at psi = 0, from the library's vector field: rates at psi' = r / v, and
    -(J + m r^2) v v' / r at rest."""
    total = ball.moment() + ball.mass * ball.radius**2

    def rate(psi, omega, speed):
        q = jnp.concatenate([jnp.array(UNTURNED), jnp.stack([v * (psi - jnp.pi / 2), 0.0])])
        return dh.vector_field(ball, q, jnp.concatenate([jnp.stack([speed]), omega]))[1]

    def turning(psi, omega):
        return rate(psi, omega, 1.0)[1:3] * v / ball.radius

    def slope(psi, omega):
        return -total * v / ball.radius * rate(psi, omega, 0.0)[0]

    zero, one = jnp.zeros(()), jnp.ones(())
    first, second = jax.jvp(turning, (zero, constants), (one, turning(zero, constants)))
    return first, second, *jax.jvp(slope, (zero, constants), (one, first))


@pytest.mark.parametrize("constants", AT_0)
def test_slope_and_curvature_at_the_horizontal(constants):
    _, _, first, second = at_the_horizontal(BASKET, V, jnp.array(constants, float))
    np.testing.assert_allclose([first, second], AT_0[constants], rtol=0, atol=0.006)
    np.testing.assert_allclose(slope(0.0, *constants), first, rtol=1e-10)


@settings(max_examples=25)
@given(sizes(0.5, 2.0), sizes(0.05, 1.0), sizes(0.1, 0.4), numbers(0.05, 0.95), numbers(-9, 9), numbers(-9, 9))
def test_the_closed_forms_at_the_horizontal(m, j, r, share, c1, c2):
    """[MD] ch. 11: Omega', Omega'', U', U'' at psi = 0; and U'' <= 0 for all C iff v < m r^2 u / (J + m r^2)."""
    u = 2.0
    v = share * u
    ball = dh.systems.BallOnSurface(hoop, (u, v), m, j, r, 9.81)
    total = j + m * r**2
    found = at_the_horizontal(ball, jnp.asarray(v), jnp.array([c1, c2]))
    gap = (u - v) * total
    np.testing.assert_allclose(found[0], [u * c2, -j * c1 / gap], rtol=1e-10, atol=1e-10)
    bend = [-u * j * c1 / gap, -(u * j + 2 * v * total) * c2 / gap]
    np.testing.assert_allclose(found[1], bend, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[2], v * (m * 9.81 + j * c1 * c2), rtol=1e-10, atol=1e-10)
    second = v * (-(c1**2) * j**2 / gap + c2**2 * (v * j - m * r**2 * (u - v)))
    np.testing.assert_allclose(found[3], second, rtol=1e-9, atol=1e-9)
    assume(abs(v - m * r**2 * u / total) > 1e-6)
    pivot_only = at_the_horizontal(ball, jnp.asarray(v), jnp.array([0.0, 1.0]))[3]
    assert (pivot_only < 0) == (v < m * r**2 * u / total)


def test_the_basketball_is_small_enough():
    """v < 3 u / 5: its potential bends down at the horizontal for all constants."""
    assert V < 3 * 23.8125 / 5
    np.testing.assert_allclose(float(BASKET.curve(jnp.asarray(place(0.0)[9]))[0]), 23.8125 - V, atol=1e-12)
