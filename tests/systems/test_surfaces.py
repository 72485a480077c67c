"""Balls and wheels on spheres and on surfaces, against the catalogue and the garage, which know them by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from multipliers import accelerations, assert_same, motion

import discrete_hamel as dh
from discrete_hamel.systems.mechanisms import rolling

m, garage = dh.mechanisms, dh.systems.garage


def slips(q, v, held):
    return rolling.one_forms(q, held) @ v


def places(q, system):
    """Of the hand's coordinates, those of the mechanism: where bodies are and how they lie."""
    if isinstance(system, garage.BallRobot):  # shell x, y, R; carriage on the shell; wheel
        carriage, shell = q[:9].reshape(3, 3), q[9:18].reshape(3, 3)
        return jnp.concatenate([q[19:21], (carriage @ shell).reshape(9), shell.T.reshape(9), q[18:19]])
    upper = jnp.append(q[21:23], system.radius) + (system.radius + system.upper_radius) * q[18:21]
    return jnp.concatenate([q[21:23], q[:9], upper, q[9:18]])


def robot(s):
    shell = m.Body("shell", m.FreeByMatrix(), mass=s.shell_mass, inertia=(s.shell_inertia,) * 3)
    carriage = m.Body("carriage", m.BallByMatrix(), on="shell", mass=s.mass, centre=(0, 0, -s.depth), inertia=s.moments)
    wheel = m.Body("wheel", m.Hinge("y"), on="carriage", at=(0, 0, s.wheel_radius - s.track),
                   inertia=(0, s.wheel_inertia, 0))  # fmt: skip
    inside = m.WheelOnSphere("wheel", s.wheel_radius, s.track, to="shell", inside=True)
    return m.mechanism(shell, carriage, wheel, m.RollingBall("shell", s.radius), inside)


def two_balls(s):
    lower = m.Body("lower", m.FreeByMatrix(), mass=s.mass, inertia=(s.inertia,) * 3)
    upper = m.Body("upper", m.FreeByMatrix(), at=(0, 0, 0), mass=s.upper_mass, inertia=(s.upper_inertia,) * 3)
    on_it = m.BallOnSphere("upper", s.upper_radius, s.radius, to="lower")
    return m.mechanism(lower, upper, m.RollingBall("lower", s.radius), on_it)


@pytest.mark.parametrize(
    ("system", "build"), [(garage.BallRobot(), robot), (garage.BallOnBall(), two_balls)], ids=["robot", "two balls"]
)
def test_what_rolls_on_balls_moves_as_by_hand(system, build):
    """The same accelerations of all places and attitudes, to 1e-10."""
    mechanism = build(system)
    rng = np.random.default_rng(4)
    run = dh.simulate(system, system.sample()["q"], 2.0 * rng.normal(size=system.rank), h=1e-3, steps=200)
    for k in (0, 200):
        q, xi = jnp.asarray(run.q[k]), jnp.asarray(run.xi[k])
        v, rate = motion(system, q, xi)
        there, moving = jax.jvp(lambda q: places(q, system), (q,), (v,))

        def twice(q, v):
            return jax.jvp(lambda q: places(q, system), (q,), (v,))[1]

        wanted = jax.jvp(twice, (q, v), (v, rate))[1]
        if isinstance(system, garage.BallOnBall):  # the lower one's height is one more coordinate there
            there, moving, wanted = (
                jnp.insert(a, 2, b) for a, b in zip((there, moving, wanted), (system.radius, 0, 0), strict=True)
            )
        assert np.abs(mechanism.gaps(there)).max() < 1e-13
        assert np.abs(slips(there, moving, mechanism.params)).max() < 1e-11
        assert_same(accelerations(rolling.lagrangian, slips, there, moving, mechanism.params)[0], wanted)


def off_slope(point, angle):
    return point @ jnp.stack([jnp.sin(angle), 0.0, jnp.cos(angle)])


def test_a_ball_on_a_slope():
    """5/7 of what slides."""
    body = m.Body("ball", m.Free(), shape=m.Sphere(0.1, mass=2.0))
    slope = m.mechanism(body, m.BallOnSurface("ball", 0.1, off_slope, 0.3))
    q, v = m.initial(slope)
    found = accelerations(rolling.lagrangian, slips, jnp.asarray(q), jnp.asarray(v), slope.params)[0]
    size = 5 / 7 * 9.81 * np.sin(0.3)
    np.testing.assert_allclose(found[:3], [size * np.cos(0.3), 0, -size * np.sin(0.3)], atol=1e-12)


def test_what_is_no_distance_is_refused():
    body = m.Body("ball", m.Free(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ValueError, match="gradient of length 3 "):
        m.mechanism(body, m.BallOnSurface("ball", 0.1, lambda point: 3 * point[2]))
