"""Pendulums and tops against Lagrange-d'Alembert in Cartesian coordinates, and against each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multipliers import (
    accelerations,
    assert_lagrange_dalembert,
    assert_same,
    holonomic,
    motion,
    orthogonal,
    rates,
    together,
    turning_energy,
)

import discrete_hamel as dh
from discrete_hamel.mechanics.frames import structure_functions
from discrete_hamel.systems.balls_on_surfaces import sphere
from discrete_hamel.testing.strategies import directions, inertias, numbers, rotations, sizes, vectors


def turned(q, v):
    """The angular velocity of rod and body, R^T R', for q = R of any dimension."""
    n = int(len(q) ** 0.5)
    return q.reshape(n, n).T @ v.reshape(n, n)


@holonomic
def rotation(q):
    n = int(len(q) ** 0.5)
    r = q.reshape(n, n)
    return (r.T @ r)[np.triu_indices(n)]


def no_turn_about_the_rod(q, v, _):
    n = int(len(q) ** 0.5)
    return turned(q, v)[: n - 1, : n - 1][np.triu_indices(n - 1, 1)]


kept_on_the_rod = together(rotation, no_turn_about_the_rod)


def bob(q, v, s):
    """A point mass at the end of the body's last axis, the vertical being the last axis of space."""
    n = int(len(q) ** 0.5)
    velocity = s.length * v.reshape(n, n)[:, -1]
    return 0.5 * s.mass * velocity @ velocity - s.mass * s.gravity * s.length * q[-1]


def assert_gamma_moves_like_a_bob(system, attitude, omega, xi):
    """gamma is the last row of R; R' = R omega."""
    rate = attitude @ omega
    velocity, second = motion(system, jnp.asarray(attitude[-1]), jnp.asarray(xi))
    assert_same(velocity, rate[-1])
    wanted, _ = accelerations(bob, kept_on_the_rod, attitude.ravel(), rate.ravel(), system)
    assert_same(second, wanted.reshape(attitude.shape)[-1])


@settings(max_examples=25)
@given(rotations(), vectors(2), sizes(), sizes(), sizes(0.0, 10.0))
def test_spherical_pendulum(attitude, xi, mass, length, gravity):
    system = dh.systems.SphericalPendulum(mass=mass, length=length, gravity=gravity)
    omega = np.array([[0, 0, xi[1]], [0, 0, -xi[0]], [-xi[1], xi[0], 0]])
    assert_gamma_moves_like_a_bob(system, attitude, omega, xi)


@pytest.mark.parametrize("n", [2, 4])
def test_n_sphere_pendulum(n):
    @settings(max_examples=25)
    @given(vectors(n * n), vectors(n - 1), sizes(), sizes(), sizes(0.0, 10.0))
    def check(entries, xi, mass, length, gravity):
        attitude, _ = np.linalg.qr(entries.reshape(n, n) + 3 * np.eye(n))
        system = dh.systems.NSpherePendulum(n, mass=mass, length=length, gravity=gravity)
        omega = np.zeros((n, n))
        omega[:-1, -1], omega[-1, :-1] = xi, -xi
        assert_gamma_moves_like_a_bob(system, attitude, omega, xi)

    check()


@settings(max_examples=25)
@given(vectors(3), vectors(2), sizes(), sizes(), sizes(0.0, 10.0))
def test_three_sphere_pendulum_is_the_spherical_pendulum(gamma, xi, mass, length, gravity):
    general = dh.systems.NSpherePendulum(3, mass=mass, length=length, gravity=gravity)
    usual = dh.systems.SphericalPendulum(mass=mass, length=length, gravity=gravity)
    # E_13 and E_23 are turns about e_2 and -e_1.
    assert_same(motion(general, gamma, xi)[1], motion(usual, gamma, np.array([-xi[1], xi[0]]))[1])
    wanted = usual.vertical_momentum(gamma, np.array([-xi[1], xi[0]])) ** 2
    assert_same(general.horizontal_momentum(gamma, xi), wanted)


def point_mass(q, v, s):
    return 0.5 * s.mass * v @ v - s.mass * s.gravity * q[2]


@holonomic
def at_its_distance(q):
    return 0.5 * q @ q


@settings(max_examples=25)
@given(directions().filter(lambda x: x[2] < 0.9), vectors(2), sizes(), sizes(), sizes(0.0, 10.0))
def test_spherical_pendulum_in_cartesian_coordinates(x, xi, mass, length, gravity):
    system = dh.systems.SphericalPendulumCartesian(mass=mass, length=length, gravity=gravity)
    assert_lagrange_dalembert(system, length * x, xi, point_mass, at_its_distance)
    assert_same(system.constraint(length * x), [0.0])
    assert_same(system.structure(length * x), by_autodiff(system, length * x))


@jax.jit
def by_autodiff(system, q):
    return structure_functions(system.frame, q)


def point_mass_in_angles(q, v, s):
    return point_mass(*jax.jvp(lambda q: on_the_sphere(q, s.length), (q,), (v,)), s)


def on_the_sphere(q, length):
    return length * jnp.array([jnp.sin(q[0]) * jnp.cos(q[1]), jnp.sin(q[0]) * jnp.sin(q[1]), -jnp.cos(q[0])])


@settings(max_examples=25)
@given(numbers(0.2, 2.9), numbers(), vectors(2), sizes(), sizes(), sizes(0.0, 10.0))
def test_spherical_pendulum_in_angles(theta, phi, xi, mass, length, gravity):
    system = dh.systems.SphericalPendulumAngles(mass=mass, length=length, gravity=gravity)
    assert_lagrange_dalembert(system, [theta, phi], xi, point_mass_in_angles)


def test_all_spherical_pendulums_make_one_motion():
    """Height against time, from the angles, from Cartesian coordinates and from gamma, by the reference integrator."""
    angles, cartesian = dh.systems.SphericalPendulumAngles(), dh.systems.SphericalPendulumCartesian()
    t = np.linspace(0, 5, 11)
    first = dh.reference(angles, **{k: angles.sample()[k] for k in ("q", "xi")}, t=t)
    second = dh.reference(cartesian, **{k: cartesian.sample()[k] for k in ("q", "xi")}, t=t)
    s, c = np.sin(1.2), np.cos(1.2)
    third = dh.reference(dh.systems.SphericalPendulum(), q=[s, 0.0, -c], xi=[0.8 * s, 0.0], t=t)
    heights = [-9.8 * np.cos(first.q[:, 0]), second.q[:, 2], 9.8 * third.q[:, 2]]
    np.testing.assert_allclose(heights[1], heights[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(heights[2], heights[0], rtol=0, atol=1e-9)
    assert np.ptp(heights[0]) > 1.0
    azimuth = np.unwrap(np.arctan2(second.q[:, 1], second.q[:, 0]))
    np.testing.assert_allclose(azimuth, first.q[:, 1], rtol=0, atol=1e-9)


def free_body(_, v, s):
    return turning_energy(v, s.inertia)


def heavy_body(q, v, s):
    return turning_energy(v, s.inertia) - s.weight @ q[6:]


def symmetric_body(q, v, s):
    moments = jnp.diag(jnp.stack([s.inertia_across, s.inertia_across, s.inertia_axis]))
    return turning_energy(v, moments) - s.mass * s.gravity * s.distance * q[8]


@settings(max_examples=25)
@given(rotations(), vectors(3), inertias(), vectors(3, -5.0, 5.0))
def test_rigid_body_and_heavy_top(attitude, omega, inertia, weight):
    free, heavy = dh.systems.RigidBody(inertia=inertia), dh.systems.HeavyTop(inertia=inertia, weight=weight)
    assert_lagrange_dalembert(free, attitude.ravel(), omega, free_body, orthogonal)
    assert_lagrange_dalembert(heavy, attitude.ravel(), omega, heavy_body, orthogonal)


@settings(max_examples=25)
@given(rotations(), vectors(3), sizes(), numbers(0.1, 1.9), sizes(), sizes(), sizes(0.0, 10.0))
def test_lagrange_top(attitude, omega, across, share, mass, distance, gravity):
    top = dh.systems.LagrangeTop(across, share * across, mass, distance, gravity)
    assert_lagrange_dalembert(top, attitude.ravel(), omega, symmetric_body, orthogonal)
    # and Euler's equations as the docstring prints them
    j1, j3, torque = across, share * across, mass * gravity * distance
    (w1, w2, w3), (g1, g2, _) = omega, attitude[2]
    wanted = [((j1 - j3) * w2 * w3 + torque * g2) / j1, ((j3 - j1) * w3 * w1 - torque * g1) / j1, 0.0]
    assert_same(rates(top, attitude.ravel(), omega)[1], wanted)


@pytest.mark.parametrize(("spin", "falls"), [(0.9, True), (1.1, False)])
def test_a_sleeping_top_needs_its_spin(spin, falls):
    """Upright spin is stable iff (J3 omega3)^2 > 4 J1 m g a: 10 % to either side of the bound."""
    top = dh.systems.LagrangeTop(gravity=9.8)
    rate = spin * np.sqrt(4 * top.inertia_across * top.mass * top.gravity * top.distance) / top.inertia_axis
    lean = 1e-4
    attitude = [1.0, 0, 0, 0, np.cos(lean), -np.sin(lean), 0, np.sin(lean), np.cos(lean)]
    run = dh.simulate(top, q=attitude, xi=[0.0, 0.0, rate], h=0.005, steps=4000)
    most = np.max(np.arccos(np.clip(run.q[:, 8], -1, 1)))
    assert (most > 0.1) if falls else (most < 10 * lean)


@settings(max_examples=25)
@given(st.integers(0, 2))
def test_free_axes_of_a_rigid_body(axis):
    """Steady spin about the middle axis is unstable, about the others it is not."""
    body = dh.systems.RigidBody(inertia=(1.0, 2.0, 2.5))
    jacobian = jax.jacfwd(lambda xi: rates(body, body.sample()["q"], xi)[1])(jnp.eye(3)[axis])
    growth = np.max(np.linalg.eigvals(jacobian).real)
    i1, i2, i3 = 1.0, 2.0, 2.5
    wanted = np.sqrt((i2 - i1) * (i3 - i2) / (i1 * i3)) if axis == 1 else 0.0
    np.testing.assert_allclose(growth, wanted, atol=1e-7)


def test_a_ball_on_a_sphere_is_a_lagrange_top():
    """[MD] 10.5: the centre moves as the tip of the top with A = (m + J/r^2) v^2, C omega3 = J v C1 / r and m g v."""
    m, j, r, v, g = 1.1, 0.31, 0.4, 0.9, 9.81
    start, xi, t = (*np.eye(3).ravel(), 0.6, 0.2), (0.5, 3.0, -1.3), np.linspace(0.0, 0.8, 5)
    ball = dh.reference(dh.systems.BallOnSurface(sphere, v, m, j, r, g), start, xi, t=t)
    phi, theta = ball.q[:, 9] / v, ball.q[:, 10]
    tip = np.stack([np.sin(phi) * np.cos(theta), np.sin(phi) * np.sin(theta), np.cos(phi)], axis=1)
    across = (m + j / r**2) * v**2
    top = dh.systems.LagrangeTop(inertia_across=across, inertia_axis=0.5 * across, mass=m, distance=v, gravity=g)
    c, s = np.cos, np.sin
    around = np.array([[c(0.2), -s(0.2), 0.0], [s(0.2), c(0.2), 0.0], [0.0, 0.0, 1.0]])
    down = np.array([[c(phi[0]), 0.0, s(phi[0])], [0.0, 1.0, 0.0], [-s(phi[0]), 0.0, c(phi[0])]])
    omega = down.T @ np.array([0.0, r * xi[0] / v, -r * xi[2]])  # phi' about the second axis, theta' about the vertical
    omega[2] = j * v * xi[1] / r / (0.5 * across)
    attitude = dh.reference(top, (around @ down).reshape(9), omega, t=t).q.reshape(-1, 3, 3)
    np.testing.assert_allclose(attitude[:, :, 2], tip, atol=1e-9)
    assert np.max(np.abs(tip[-1] - tip[0])) > 0.5
