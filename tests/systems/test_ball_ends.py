"""Balls on surfaces: end states by [MD]'s equations, integrated to 12 decimals elsewhere."""

import jax.numpy as jnp
import numpy as np
import pytest
from contact import assert_second_order

import discrete_hamel as dh
from discrete_hamel.systems.balls_on_surfaces import cylinder, hoop, sphere

UNTURNED = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)


def generic(s):
    return jnp.stack([1.2 + jnp.sin(s), 1 - jnp.cos(s)])


SURFACE_ENDS = {
    "hoop": (hoop, (2.0, 0.9), 0.6, [1.681719371565, 0.622416233903, -0.201642622632, -1.403965036483]),
    "cylinder": (cylinder, 1.7, 0.6, [-0.243137408885, 0.616, 4.096078631542, -1.3]),
    "sphere": (sphere, 0.9, 0.6, [1.539013162856, 0.695965301944, 3.0, -2.511462852591]),
    "generic": (generic, None, 0.3, [0.255628068306, 0.605531944921, 2.927207668996, -1.436076494843]),
}


def _swing_on_the_sphere(s, start):
    """Omega2 at s by the integrals of [MD] 10.6, Omega1 = C1 and Omega2 sin^2 - J C1 / ((J + m r^2) v) cos = C2."""
    v, inertia, total, c1 = 0.9, 0.31, 0.31 + 1.1 * 0.4**2, 3.0
    share = inertia * c1 / (total * v)
    c2 = -1.3 * np.sin(start / v) ** 2 - share * np.cos(start / v)
    return (c2 + share * np.cos(s / v)) / np.sin(s / v) ** 2


def test_the_row_of_the_sphere_is_off_its_own_integrals_by_more_than_its_trust():
    """Its Omega2 is 1.45e-11 from what its s says, which the rounding of s, to 5e-13, moves by 2e-12 only."""
    _, _, start, (s, _, _, swing) = SURFACE_ENDS["sphere"]
    for within in (-5e-13, 0.0, 5e-13):
        assert 1.2e-11 < swing - _swing_on_the_sphere(s + within, start) < 1.7e-11


@pytest.mark.parametrize("name", SURFACE_ENDS)
def test_end_states_of_the_thesis(name):
    """(s, theta, Omega1, Omega2) to the 1e-11 to which its 12 decimals are trusted; and at order 2 by the scheme."""
    profile, params, s, wanted = SURFACE_ENDS[name]
    if name == "sphere":
        wanted = [*wanted[:3], _swing_on_the_sphere(wanted[0], s)]
    ball = dh.systems.BallOnSurface(profile, params, 1.1, 0.31, 0.4, 9.81)

    def of(run):
        return np.concatenate([run.q[-1][9:], run.xi[-1][1:3]])

    start = (*UNTURNED, s, 0.2)
    exact = dh.reference(ball, start, (0.5, 3, -1.3), t=0.8)
    np.testing.assert_allclose(of(exact), wanted, rtol=0, atol=1e-11)
    assert_second_order(ball, start, (0.5, 3, -1.3), 0.8, np.array(wanted), of, (100, 200, 400))
