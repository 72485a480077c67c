"""Balls on surfaces: equations, with poles and without, harmonic rise and fall in a cylinder."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from multipliers import assert_lagrange_dalembert, assert_same, motion, orthogonal, together, turning_energy

import discrete_hamel as dh
from discrete_hamel.mechanics.frames import structure_functions
from discrete_hamel.systems.balls_on_surfaces import bowl, cylinder, hoop, sphere
from discrete_hamel.testing.strategies import numbers, rotations, sizes, vectors

UNTURNED = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)


# Balls on surfaces in (W, s, theta): the centre's place in space and the contact's velocity by hand.


def _centre(q, s):
    a, z = s.curve(q[9])
    return jnp.stack([a * jnp.cos(q[10]), a * jnp.sin(q[10]), z])


def _normal(q, s):
    tangent = jax.jacfwd(lambda q: _centre(q, s))(q)
    along, around = tangent[:, 9], jnp.stack([-jnp.sin(q[10]), jnp.cos(q[10]), 0.0 * q[10]])
    return jnp.cross(along, around)


def surface_lagrangian(q, v, s):
    place, velocity = jax.jvp(lambda q: _centre(q, s), (q,), (v,))
    moment = s.moment()
    turning = turning_energy(v[:9], moment * jnp.eye(3))
    return turning + 0.5 * s.mass * velocity @ velocity - s.mass * s.gravity * place[2]


def surface_contact(q, v, s):
    """The ball's material point at -r beta has no velocity along the surface: two components."""
    _, velocity = jax.jvp(lambda q: _centre(q, s), (q,), (v,))
    in_body = q[:9].reshape(3, 3).T @ (-s.radius * _normal(q, s))
    at_contact = velocity + v[:9].reshape(3, 3) @ in_body
    c, sn = jnp.cos(q[10]), jnp.sin(q[10])
    tangent = jax.jacfwd(lambda q: _centre(q, s))(q)[:, 9]
    return jnp.stack([at_contact @ tangent, at_contact @ jnp.stack([-sn, c, 0.0 * c])])


SURFACE = surface_lagrangian, together(orthogonal, surface_contact)


@pytest.mark.parametrize("profile", [hoop, bowl, sphere, cylinder])
def test_ball_on_surface_is_lagrange_dalembert(profile):
    @settings(max_examples=25)
    @given(sizes(0.5, 2.0), sizes(0.1, 1.0), sizes(0.1, 0.4), rotations(), numbers(0.3, 1.2), numbers(), vectors(3))
    def check(m, inertia, radius, r, s, theta, xi):
        params = (2.0, 0.9) if profile is hoop else 1.1
        ball = dh.systems.BallOnSurface(profile, params, m, inertia, radius, 9.81)
        assert_lagrange_dalembert(ball, np.concatenate([r.reshape(9), [s, theta]]), xi, *SURFACE)

    check()


@settings(max_examples=25)
@given(sizes(0.1, 1.0), sizes(0.1, 0.4), numbers(0.3, 1.2), numbers(), rotations())
def test_structure_is_the_bracket_of_the_frame(inertia, radius, s, theta, r):
    """[MD] (10.10)-(10.12), given by hand for speed, against autodiff; likewise the pole-free ball's."""
    ball = dh.systems.BallOnSurface(hoop, (2.0, 0.9), 1.0, inertia, radius)
    q = jnp.concatenate([r.reshape(9), jnp.array([s, theta])])
    assert_same(ball.structure(q), structure_functions(ball.frame, q))
    free = dh.systems.BallOnSphere(1.0, inertia, radius, 1.0, inside=True)
    q = jnp.concatenate([r.reshape(9), jnp.array([s, theta, 0.3])])
    assert_same(free.structure(q), structure_functions(free.frame, q))


@jax.jit
def _printed_rates(ball, q, xi):
    """(10.13), (10.14) and the autonomous s'' of the docstring: left and right sides."""
    rates = dh.vector_field(ball, q, xi)
    s, (v, spin, pivot) = q[9], xi[:3]
    a, _ = ball.curve(s)
    (da, dz), (dda, ddz) = jax.jvp(ball.slope, (s,), (1.0,))
    bend = da * ddz - dz * dda
    m, j, r, g = ball.mass, ball.moment(), ball.radius, ball.gravity
    along = r * v
    _, swing_rate = jax.jvp(lambda q, xi: ball.curve(q[9])[0] ** 2 * xi[2], (q, xi), rates)
    left = jnp.stack([rates[1][1], swing_rate, (m + j / r**2) * r * rates[1][0], rates[0][10], rates[0][9]])
    right = jnp.stack(
        [
            (dz - a * bend) * pivot * along,
            j * a * bend / (j + m * r**2) * spin * along,
            -dz * (m * g + j * spin * pivot) + (j + m * r**2) * a * da * pivot**2,
            -r * pivot,
            along,
        ]
    )
    return left, right


@settings(max_examples=25)
@given(sizes(0.5, 2.0), sizes(0.1, 1.0), sizes(0.1, 0.4), numbers(-1.0, 1.2), vectors(3))
def test_adjoint_equations_of_the_thesis(m, inertia, radius, s, xi):
    ball = dh.systems.BallOnSurface(hoop, (2.0, 0.9), m, inertia, radius, 9.81)
    q = jnp.array([*UNTURNED, s, 0.2])
    assert_same(*_printed_rates(ball, q, jnp.concatenate([xi, jnp.zeros(2)])))


@pytest.mark.parametrize("inside", [False, True])
def test_pole_free_ball_is_the_ball_in_the_thesis_coordinates(inside):
    free = dh.systems.BallOnSphere(1.1, 0.31, 0.4, 2.0, 9.81, inside=inside)
    v, side = (1.6, -1.0) if inside else (2.4, 1.0)
    ball = dh.systems.BallOnSurface(bowl if inside else sphere, v, 1.1, 0.31, 0.4, 9.81)
    s, theta, xi = 0.7, 0.2, np.array([0.5, 3.0, -1.3])
    tau, beta, eta = (np.asarray(axis) for axis in ball.axes(s, theta))
    a = v * np.sin(s / v)
    nu = xi[0] * tau + xi[1] * beta + a * xi[2] * eta
    x = np.array([a * np.cos(theta), a * np.sin(theta), side * v * np.cos(s / v)])
    same = dh.reference(ball, (*UNTURNED, s, theta), xi, t=0.8)
    exact = dh.reference(free, (*UNTURNED, *x), nu, t=0.8)
    s, theta = same.q[-1][9:]
    wanted = [v * np.sin(s / v) * np.cos(theta), v * np.sin(s / v) * np.sin(theta), side * v * np.cos(s / v)]
    np.testing.assert_allclose(exact.q[-1][9:], wanted, atol=1e-9)
    np.testing.assert_allclose(exact.q[-1][:9], same.q[-1][:9], atol=1e-9)
    np.testing.assert_allclose(exact.invariants()["normal spin"], 3.0, atol=1e-9)


def free_lagrangian(q, v, s):
    turning = turning_energy(v[:9], s.inertia * jnp.eye(3))
    return turning + 0.5 * s.mass * v[9:] @ v[9:] - s.mass * s.gravity * q[11]


def free_contact(q, v, s):
    """The material point at x - r beta is at rest along the surface; its normal velocity is that of |x|."""
    out = q[9:] / jnp.linalg.norm(q[9:])
    beta = -out if s.inside else out
    in_body = q[:9].reshape(3, 3).T @ (-s.radius * beta)
    return v[9:] + v[:9].reshape(3, 3) @ in_body


FREE = free_lagrangian, together(orthogonal, free_contact)


@pytest.mark.parametrize("inside", [False, True])
def test_ball_on_sphere_is_lagrange_dalembert(inside):
    @settings(max_examples=25)
    @given(sizes(0.5, 2.0), sizes(0.1, 1.0), rotations(), rotations(), vectors(3))
    def check(m, inertia, r, place, nu):
        ball = dh.systems.BallOnSphere(m, inertia, 0.4, 1.5, 9.81, inside=inside)
        x = place[0] * (1.1 if inside else 1.9)
        assert_lagrange_dalembert(ball, np.concatenate([r.reshape(9), x]), nu, *FREE)

    check()


def test_ball_rolls_through_the_bottom_of_its_bowl():
    """Where (s, theta) have their pole the free ball has none; |x|, spin and momentum are exact on the way."""
    ball = dh.systems.BallOnSphere(1.0, 0.001, 0.05, 0.3, 9.81, inside=True)
    start, nu = (*UNTURNED, 0.15, 0.0, -0.2), (0.0, 0.0, 0.0)
    run = dh.simulate(ball, start, nu, h=0.002, steps=2000)
    assert np.min(np.linalg.norm(run.q[:, 9:11], axis=1)) < 2e-3
    assert np.min(run.q[:, 9]) < -0.149
    for name in ("distance of the centres", "normal spin", "vertical momentum"):
        value = run.invariants()[name]
        assert np.max(np.abs(value - value[0])) < 1e-12 * 2000**0.5


@settings(max_examples=25)
@given(sizes(0.05, 0.4), numbers(0.1, 0.66), numbers(0.5, 3.0), numbers(-3.0, 3.0), numbers(-1.0, 1.0), numbers())
def test_cylinder_ball_rises_and_falls_harmonically(radius, ratio, pivot, spin, s, v):
    """s'' = -theta'^2 J / (J + m r^2) (s - s0) at every state, s0 = s - (m g + J Omega1 Omega2) / (J Omega2^2)."""
    inertia = ratio * radius**2
    ball = dh.systems.BallInCylinder(1.0, inertia, radius, 1.0, 9.81)
    _, second = motion(ball, jnp.array([*UNTURNED, s, 0.0]), jnp.array([v, spin, pivot]))
    above = (9.81 + inertia * spin * pivot) / (inertia * pivot**2)
    assert_same(second[9], -((radius * pivot) ** 2) * inertia / (inertia + radius**2) * above)


@settings(max_examples=25)
@given(sizes(0.5, 2.0), sizes(0.1, 1.0), sizes(0.1, 0.4), numbers(0.3, 2.8), vectors(3))
def test_energy_on_the_sphere_is_the_thesis_with_its_brace_squared(m, inertia, radius, phi, xi):
    """[MD] 10.6 with its slip mended: as printed, the brace is of the first power, and the energy is another one."""
    v, g, total = 0.9, 9.81, inertia + m * radius**2
    ball = dh.systems.BallOnSurface(sphere, v, m, inertia, radius, g)
    fall, c1, pivot = radius * xi[0] / v, xi[1], xi[2]
    c2 = pivot * np.sin(phi) ** 2 - inertia / total * c1 / v * np.cos(phi)
    brace = inertia * c1 * np.cos(phi) / (total * v) + c2
    rest = 0.5 * (m + inertia / radius**2) * v**2 * fall**2 + m * g * v * np.cos(phi) + 0.5 * inertia * c1**2
    energy = dh.energy(ball, (*UNTURNED, v * phi, 0.2), xi)
    assert_same(energy, rest + 0.5 * total * v**2 * brace**2 / np.sin(phi) ** 2)
    if abs(brace) > 0.1 and abs(brace - 1) > 0.1:
        assert abs(float(energy) - rest - 0.5 * total * v**2 * brace / np.sin(phi) ** 2) > 1e-4


def test_period_ratio_is_root_7_2_for_a_solid_ball_and_root_5_2_for_a_shell():
    for moment, ratio in ((2 / 5, np.sqrt(7 / 2)), (2 / 3, np.sqrt(5 / 2))):
        ball = dh.systems.BallInCylinder(inertia=moment * 0.05**2)
        around = 2 * np.pi / (0.05 * 80.0)
        run = dh.reference(ball, (*UNTURNED, 0.0, 0.0), (0.0, 0.0, -80.0), t=ratio * around)
        assert abs(run.q[-1][9]) < 1e-9
        assert abs(run.xi[-1][0]) < 1e-7


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (dh.systems.ChaplyginSphere(mass=-1.0), "mass"),
        (dh.systems.ChaplyginSphere(inertia=(0.1, 0.1, 0.4)), "inertia.*triangle"),
        (dh.systems.BallOnSurface(radius=0.0), "radius"),
        (dh.systems.BallInCylinder(radius=0.5), "radius.*does not fit into the cylinder"),
        (dh.systems.BallOnSphere(radius=0.5, inside=True), "radius.*does not fit into the sphere"),
        (dh.systems.BasketballOnHoop(radius=30.0), "radius.*does not fit into the hoop"),
        (dh.systems.BasketballOnHoop(gravity=-1.0), "gravity"),
    ],
)
def test_bad_parameters_get_a_sentence(system, words):
    with pytest.raises(ValueError, match=f"the parameter {words}"):
        dh.simulate(system, **type(system)().sample(), steps=1)


def test_contact_force_of_a_ball_at_rest_carries_its_weight():
    """On top of the sphere the reaction is m g e_z, and zero where the centre falls freely is nowhere near."""
    ball = dh.systems.BallOnSphere()
    np.testing.assert_allclose(dh.reactions(ball, (*UNTURNED, 0, 0, 0.35), np.zeros(3)), [0, 0, 9.8], atol=1e-13)
    q, nu = (*UNTURNED, 0.21, 0.0, 0.28), np.array([1.0, 2.0, 3.0])
    _, second = motion(ball, jnp.asarray(q), jnp.asarray(nu))
    np.testing.assert_allclose(dh.reactions(ball, q, nu), np.asarray(second[9:]) + [0, 0, 9.8], atol=1e-12)
