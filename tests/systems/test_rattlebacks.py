"""Convex bodies of any shape: equations, reversal of the rattleback's spin in one sense only."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from contact import as_point_masses, assert_second_order, placed
from hypothesis import given, settings
from multipliers import assert_lagrange_dalembert, assert_same

import discrete_hamel as dh
from discrete_hamel.systems.rigid_bodies import inertia_matrix
from discrete_hamel.testing.strategies import inertias, numbers, rotations, sizes, vectors

LEVEL = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0, 0)


def lowest_of_stone(gamma, s):
    semiaxes = jnp.asarray(s.semiaxes)
    return -(semiaxes**2) * gamma / jnp.linalg.norm(semiaxes * gamma) + s.depth * jnp.eye(3)[2]


def inertia_of_stone(s):
    c, sn = jnp.cos(s.tilt), jnp.sin(s.tilt)
    a, b, third = s.inertia
    return jnp.array(
        [
            [a * c**2 + b * sn**2, (a - b) * c * sn, 0.0],
            [(a - b) * c * sn, a * sn**2 + b * c**2, 0.0],
            [0.0, 0.0, third],
        ]
    )


def lowest_of_ellipsoid(gamma, s):
    semiaxes = jnp.asarray(s.params)
    return -(semiaxes**2) * gamma / jnp.linalg.norm(semiaxes * gamma)


STONE = as_point_masses(lowest_of_stone, inertia_of_stone)
ELLIPSOID = as_point_masses(lowest_of_ellipsoid, lambda s: inertia_matrix(s.inertia))


@settings(max_examples=25)
@given(sizes(), vectors(3, 0.3, 1.0), numbers(-0.25, 0.25), vectors(3, 0.2, 1.0), numbers(), rotations(), vectors(3))
def test_rattleback_is_lagrange_dalembert(m, semiaxes, depth, second, tilt, r, omega):
    inertia = np.sum(second) - second  # moments of a body with these second moments of mass
    stone = dh.systems.Rattleback(m, tuple(semiaxes), depth, tuple(inertia), tilt, 9.81)
    assert_lagrange_dalembert(stone, placed(r), omega, *STONE)


@settings(max_examples=25)
@given(sizes(), vectors(3, 0.3, 1.0), inertias(), rotations(), vectors(3))
def test_convex_body_is_lagrange_dalembert(m, semiaxes, inertia, r, omega):
    body = dh.systems.ConvexBody(params=tuple(semiaxes), mass=m, inertia=inertia)
    assert_lagrange_dalembert(body, placed(r), omega, *ELLIPSOID)


@settings(max_examples=25)
@given(vectors(3, 0.2, 1.0), numbers(), rotations(), vectors(3))
def test_a_full_matrix_is_the_principal_moments_turned(second, tilt, r, omega):
    moments = np.sum(second) - second
    c, s = np.cos(tilt), np.sin(tilt)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    by_moments = dh.systems.Rattleback(inertia=tuple(moments), tilt=tilt)
    by_matrix = dh.systems.Rattleback(inertia=turn @ np.diag(moments) @ turn.T)
    q, xi = placed(r), np.concatenate([omega, np.zeros(3)])
    for one, other in zip(dh.vector_field(by_moments, q, xi), dh.vector_field(by_matrix, q, xi), strict=True):
        assert_same(one, other)


def test_the_matrix_of_the_literature_is_the_default():
    """Kane and Levinson (1982): moments 2e-4, 1.6e-3, 1.7e-3 and the product of inertia -2e-5."""
    matrix = [[2e-4, -2e-5, 0.0], [-2e-5, 1.6e-3, 0.0], [0.0, 0.0, 1.7e-3]]
    stone = dh.systems.Rattleback(inertia=matrix)
    np.testing.assert_allclose(stone.moments(), dh.systems.Rattleback().moments(), rtol=0, atol=2e-10)
    run = dh.simulate(stone, **stone.sample(), steps=20)
    known = dh.simulate(dh.systems.Rattleback(), **stone.sample(), steps=20)
    np.testing.assert_allclose(run.xi, known.xi, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("inertia", "words"),
    [
        ([[2e-4, 1e-5, 0], [0, 1.6e-3, 0], [0, 0, 1.7e-3]], "symmetric"),
        ([[2e-4, 1e-3, 0], [1e-3, 1.6e-3, 0], [0, 0, 1.7e-3]], "positive definite"),
        ([[2e-4, 0, 0], [0, 1.6e-3, 0], [0, 0, 2.7e-3]], "triangle inequality"),
    ],
)
def test_impossible_matrices_are_refused(inertia, words):
    stone = dh.systems.Rattleback(inertia=inertia)
    with pytest.raises(ValueError, match=words):
        dh.simulate(stone, **stone.sample(), steps=1)


@jax.jit
def _momentum_equation(body, q, xi):
    """M' and its right side, M the momentum about the contact."""

    def momentum(q, xi):
        rho = body.to_centre(q[6:9])
        return body.moments() @ xi[:3] + body.mass * jnp.cross(rho, jnp.cross(xi[:3], rho)), rho

    rates = dh.vector_field(body, q, xi)
    (m, rho), (m_rate, rho_rate) = jax.jvp(momentum, (q, xi), rates)
    omega, gamma = xi[:3], q[6:9]
    moving = body.mass * jnp.cross(rho_rate, jnp.cross(omega, rho))
    return m_rate, jnp.cross(m, omega) + moving + body.mass * body.gravity * jnp.cross(gamma, rho)


@settings(max_examples=25)
@given(sizes(), vectors(3, 0.3, 1.0), inertias(), rotations(), vectors(3))
def test_momentum_equation_of_the_docstring(m, semiaxes, inertia, r, omega):
    body = dh.systems.ConvexBody(params=tuple(semiaxes), mass=m, inertia=inertia)
    assert_same(*_momentum_equation(body, placed(r), np.concatenate([omega, np.zeros(3)])))


def test_rattleback_is_the_convex_body_of_its_support_function():
    stone = dh.systems.Rattleback(1.0, (0.3, 0.2, 0.15), 0.05, (0.002, 0.004, 0.005), 0.3, 9.81)

    def support(normal, params):
        semiaxes, depth = params
        return jnp.sqrt(jnp.sum((semiaxes * normal) ** 2)) + depth * normal[2]

    body = dh.systems.ConvexBody(support, (jnp.array([0.3, 0.2, 0.15]), 0.05), 1.0, stone.moments(), 9.81)
    one, two = (dh.reference(s, LEVEL, (0.5, 0.3, 4.0), t=1.0) for s in (stone, body))
    np.testing.assert_allclose(one.q[-1], two.q[-1], atol=1e-9)
    assert_second_order(stone, LEVEL, (0.5, 0.3, 4.0), 1.0, one.q[-1], lambda run: run.q[-1], (400, 800, 1600))


def spin(run):
    """gamma . omega: the turning rate about the vertical."""
    return np.sum(run.q[:, 6:9] * run.xi[:, :3], axis=1)


def wobble(run):
    """How far the stone is from level."""
    return np.sqrt(run.q[:, 6] ** 2 + run.q[:, 7] ** 2)


def test_spin_reverses_in_one_sense_only_within_seconds():
    """Kane and Levinson's stone, the same push in both senses: within eight seconds one turns to the opposite spin, the
    other keeps 99.9 per cent."""
    stone = dh.systems.Rattleback()
    against = spin(dh.simulate(stone, LEVEL, (0.02, 0.02, -5.0), h=0.001, steps=8000))
    along = spin(dh.simulate(stone, LEVEL, (0.02, 0.02, 5.0), h=0.001, steps=8000))
    assert against[0] == -5.0
    assert against.max() > 4.5
    assert along.min() > 0.999 * 5.0


def test_without_tilt_neither_sense_reverses():
    """Principal axes along the ellipsoid's: mirror symmetry makes both senses alike."""
    stone = dh.systems.Rattleback(tilt=0.0)
    one = spin(dh.simulate(stone, LEVEL, (0.02, 0.02, -5.0), h=0.001, steps=8000))
    other = spin(dh.simulate(stone, LEVEL, (0.02, -0.02, 5.0), h=0.001, steps=8000))
    assert one.max() < -4.95
    np.testing.assert_allclose(one, -other, atol=1e-6)


@jax.jit
def _around_level(stone, turning):
    """d(gamma1, gamma2, omega1, omega2)' at gamma = e_3, omega = turning e_3."""

    def rate(z):
        gamma = jnp.stack([z[0], z[1], jnp.sqrt(1 - z[0] ** 2 - z[1] ** 2)])
        velocity, rates = dh.vector_field(
            stone, jnp.concatenate([jnp.zeros(6), gamma, jnp.zeros(2)]), jnp.stack([z[2], z[3], turning])
        )
        return jnp.concatenate([velocity[6:8], rates[:2]])

    return jax.jacfwd(rate)(jnp.zeros(4))


def test_the_stable_sense_is_asymptotically_stable():
    """[ND], The Rattleback: fast enough, one sense attracts and the other repels, though energy is kept."""
    stone = dh.systems.Rattleback(1.0, (0.035, 0.056, 0.026), -0.0015, (0.00074, 0.00094, 0.00136), 0.533, 9.81)
    rates = {n: np.real(np.linalg.eigvals(_around_level(stone, n))) for n in (-40.0, 40.0)}
    assert rates[-40.0].max() < -0.01  # a spectrum known to 1e-8
    assert rates[40.0].max() > 0.01
    np.testing.assert_allclose(np.sort(rates[-40.0]), np.sort(-rates[40.0]), atol=1e-8)  # reversible
    steps, h = 4000, 0.0005
    quiet = dh.simulate(stone, LEVEL, (0.2, 0.0, -40.0), h=h, steps=steps)
    loud = dh.simulate(stone, LEVEL, (0.2, 0.0, 40.0), h=h, steps=steps)
    early, late = slice(0, steps // 4), slice(-steps // 4, None)
    assert wobble(quiet)[late].max() < 0.8 * wobble(quiet)[early].max()
    assert wobble(loud)[late].max() > 1.5 * wobble(loud)[early].max()
    for run in (quiet, loud):
        assert np.max(np.abs(run.energy / run.energy[0] - 1)) < 1e-4


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (dh.systems.Rattleback(mass=-1.0), "mass of Rattleback"),
        (dh.systems.Rattleback(semiaxes=(0.2, 0.0, 0.02)), "semiaxes of Rattleback"),
        (dh.systems.Rattleback(inertia=(1e-4, 1e-4, 3e-4)), "inertia of Rattleback breaks the triangle inequality"),
        (dh.systems.Rattleback(depth=0.03), "depth of Rattleback"),
        (dh.systems.ConvexBody(inertia=(0.1, -0.1, 0.1)), "inertia of ConvexBody"),
    ],
)
def test_bad_parameters_get_a_sentence(system, words):
    with pytest.raises(ValueError, match=f"the parameter {words}"):
        dh.simulate(system, LEVEL, (0.1, 0.0, 1.0), h=0.001, steps=1)
