"""Shapes that cannot be rolled, or on which nothing can roll, are refused before a run, with where and how far off."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.systems import balls_on_surfaces as profiles
from discrete_hamel.systems.rolling_bodies import support_of_disk, support_of_sphere, support_of_spheroid

ROUND = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)


def waisted(c, sizes):
    """A peanut: the hull's support would be another."""
    radius, waist = sizes
    return radius * (1 + waist * (2 * c**2 - 1))


def curved(s, sizes):
    """A parabola by its height, not by arc length."""
    return jnp.stack([1.0 + s**2, s])


def rolled(system, q=None):
    sample = system.sample()
    return dh.simulate(system, sample["q"] if q is None else q, sample["xi"], h=1e-3, steps=1)


def test_a_waisted_body_is_refused_where_its_meridian_bends_inward():
    """With theta-dependence 1 + e cos 2 theta the radius h + h'' is R (1 - 3 e cos 2 theta): negative iff |e| > 1/3."""
    rolled(dh.systems.RollingBody(waisted, (0.5, 0.3)))
    rolled(dh.systems.RollingBody(waisted, (0.5, -0.3)))
    with pytest.raises(ValueError, match="not that of a convex body.*along the meridian"):
        rolled(dh.systems.RollingBody(waisted, (0.5, 0.35)))
    with pytest.raises(ValueError, match="not that of a convex body.*theta = 1.5[67]"):
        rolled(dh.systems.RollingBody(waisted, (0.5, -0.35)))


@pytest.mark.parametrize(
    ("support", "params"),
    [
        (support_of_disk, 0.6),
        (support_of_sphere, (0.2, 0.35)),
        (support_of_spheroid, (0.8, 0.01)),
        (lambda c: 0.5, None),
    ],
)
def test_convex_bodies_pass(support, params):
    dh.systems.RollingBody(support, params).check_shape(np.array(ROUND + (0, 0)))


def test_what_is_no_support_function_of_a_convex_body_is_refused():
    def uneven(n):
        return 0.5 * (n @ n)

    def dented(n):
        length = jnp.sqrt(n @ n)
        return length * (0.5 + 0.3 * (n[0] / length) ** 4)

    with pytest.raises(ValueError, match=r"H\(s n\) = s H\(n\)"):
        rolled(dh.systems.ConvexBody(uneven, None))
    with pytest.raises(ValueError, match="not that of a convex body"):
        rolled(dh.systems.ConvexBody(dented, None))
    rolled(dh.systems.ConvexBody())


def test_profiles_by_something_else_than_arc_length_are_refused():
    surface = dh.systems.BallOnSurface(curved, 1.0, radius=0.1)
    with pytest.raises(ValueError, match="not by arc length.*not 1"):
        rolled(surface, (*ROUND, 0.3, 0.0))
    with pytest.raises(ValueError, match="not by arc length"):
        dh.simulate(dh.timed(surface), (*ROUND, 0.3, 0.0, 0.0), (0.1, 0.2, 0.3), h=1e-3, steps=1)


@pytest.mark.parametrize(
    ("profile", "params"),
    [(profiles.cylinder, 2.0), (profiles.sphere, 0.9), (profiles.bowl, 0.9), (profiles.hoop, (2.0, 0.9))],
)
def test_the_profiles_of_the_library_pass(profile, params):
    rolled(dh.systems.BallOnSurface(profile, params), (*ROUND, 0.6, 0.2))


def test_a_ball_larger_than_the_curve_of_its_centre_is_refused():
    """The centre at 0.3 from that of a sphere, and the ball's radius 0.4: no sphere is left to roll on."""
    rolled(dh.systems.BallOnSurface(profiles.sphere, 0.41, radius=0.4), (*ROUND, 0.3, 0.0))
    with pytest.raises(ValueError, match="bends around the surface with the radius 0.3 only"):
        rolled(dh.systems.BallOnSurface(profiles.sphere, 0.3, radius=0.4), (*ROUND, 0.3, 0.0))


def test_a_ball_that_reaches_through_the_axis_is_refused():
    """On the outside of a cylinder, s downwards, the surface is at a - r."""

    def outside(s, a):
        return jnp.stack([a + 0 * s, -s])

    rolled(dh.systems.BallOnSurface(outside, 0.5, radius=0.4), (*ROUND, 0.3, 0.0))
    with pytest.raises(ValueError, match="reaches through the axis"):
        rolled(dh.systems.BallOnSurface(outside, 0.3, radius=0.4), (*ROUND, 0.3, 0.0))


def test_where_a_profile_is_not_defined_nothing_is_asked():
    def cap(s, radius):
        return jnp.where(jnp.abs(s) < 0.9, profiles.sphere(s, radius), np.nan)

    rolled(dh.systems.BallOnSurface(cap, 0.9), (*ROUND, 0.6, 0.2))
