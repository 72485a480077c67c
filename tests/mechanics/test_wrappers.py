"""What is made of another system hands on what that one says, names among it, unless it says otherwise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.analysis import ConstrainedFirst, WithoutBracket

S = dh.systems
NAMES = ("coordinates", "velocities", "units", "clock", "redundant")
MADE = {
    "forced": lambda system: dh.forced(system, lambda q, xi: -0.1 * xi),
    "constrained first": ConstrainedFirst,
    "without bracket": WithoutBracket,
    "both": lambda system: dh.forced(WithoutBracket(system), lambda q, xi: 0.0 * xi),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
@pytest.mark.parametrize(
    "system", [S.ChaplyginSleigh(), S.SphericalPendulum(), S.BallInCylinder()], ids=lambda s: type(s).__name__
)
def test_names_and_checks_are_those_of_the_system_within(make, system):
    made, q = make(system), jnp.asarray(system.sample()["q"])
    for name in NAMES:
        assert getattr(made, name) == getattr(system, name)
    assert np.array_equal(made.holonomic(q), system.holonomic(q))
    assert hasattr(made, "shapes") == hasattr(system, "shapes")
    assert hasattr(made, "scenery") == hasattr(system, "scenery")
    with pytest.raises(ValueError, match="positive"):
        make(system.replace(mass=-1.0)).check()


def test_a_bowl_is_drawn_around_a_ball_that_is_driven_too():
    ball = S.BallInCylinder()
    q = jnp.asarray(ball.sample()["q"])
    for made, place in ((dh.forced(ball, lambda q, xi: 0.0 * xi), q), (dh.timed(ball), jnp.append(q, 0.3))):
        for one, other in zip(made.scenery(place[None]), ball.scenery(q[None]), strict=True):
            assert np.array_equal(one, other)


def test_a_bracket_of_its_own_is_the_one_that_counts():
    """Forces on a system without its bracket leave it without: its coadjoint is zero, not that of the frame."""
    body = S.ChaplyginSleigh()
    q, xi = jnp.asarray([0.1, 0.0, 0.0]), jnp.asarray([1.5, 0.3])
    wrong = WithoutBracket(body)
    still = dh.forced(wrong, lambda q, xi: 0.0 * xi)
    assert np.array_equal(dh.vector_field(still, q, xi)[1], dh.vector_field(wrong, q, xi)[1])
    assert not np.allclose(dh.vector_field(still, q, xi)[1], dh.vector_field(body, q, xi)[1])


def test_a_frame_given_as_a_map_is_handed_on_with_its_inverse_and_its_bracket():
    """Forces on a beam of many sections cost what the beam costs; a frame of one's own has no map but itself."""
    beam = dh.fields.Beam(points=3, blade=True)
    q, xi = jnp.asarray(beam.sample()["q"]), jnp.arange(9.0)
    damped = dh.forced(beam, lambda q, xi: -0.1 * xi)
    assert damped.frame_is_a_map
    assert np.array_equal(damped.velocity(q, xi), beam.velocity(q, xi))
    assert np.array_equal(damped.quasivelocity(q, q), beam.quasivelocity(q, q))
    assert np.array_equal(damped.coadjoint(q, xi, xi**2), beam.coadjoint(q, xi, xi**2))
    assert np.any(beam.coadjoint(q, xi, xi**2))
    assert not np.any(WithoutBracket(beam).coadjoint(q, xi, xi**2))

    class Twice(type(beam)):
        def frame(self, q):
            return 2 * jax.jacfwd(lambda xi: type(beam).velocity(self, q, xi))(jnp.zeros(9))

    twice = Twice(points=3, blade=True)
    assert not twice.frame_is_a_map
    np.testing.assert_allclose(twice.velocity(q, xi), 2 * beam.velocity(q, xi))


class Skate(dh.NonlinearSystem):
    mass: float = 1.0
    rank = 2
    coordinates = ("theta", "x", "y")
    velocities = ("omega", "v")
    units = {"theta": "rad", "omega": "rad/s"}

    def lagrangian(self, q, v):
        return 0.5 * self.mass * v @ v + 0.0 * q[0]

    def velocity(self, q, z):
        return jnp.stack([z[0], z[1] * jnp.cos(q[0]), z[1] * jnp.sin(q[0])])

    def check(self):
        if self.mass <= 0:
            raise ValueError("the mass must be positive.")


def test_a_system_recognised_as_linear_keeps_its_names_and_its_checks():
    skate = Skate()
    ordinary = dh.as_linear(skate, [0.2, -0.1, 0.4])
    for name in ("coordinates", "velocities", "units", "clock"):
        assert getattr(ordinary, name) == getattr(skate, name)
    assert ordinary.slip(jnp.zeros(3)).shape == (1,)
    with pytest.raises(ValueError, match="must be positive"):
        ordinary.replace(original=skate.replace(mass=-1.0)).check()
