"""Particles, charged particles and coaxial discs against Lagrange-d'Alembert and their closed solutions."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import assume, given, settings
from multipliers import accelerations, assert_lagrange_dalembert, assert_same, motion, rates

import discrete_hamel as dh
from discrete_hamel.mechanics.frames import structure_functions
from discrete_hamel.testing.strategies import numbers, sizes, vectors


def free(_, v, s):
    return 0.5 * s.mass * v @ v


def sprung(q, v, s):
    return 0.5 * s.mass * v @ v - 0.5 * s.stiffness * q @ q


def contact(q, v, _):
    return (v[2] - q[1] * v[0])[None]


def swept(q, v, _):
    return (v[2] - q[0] * v[1] + q[1] * v[0])[None]


@settings(max_examples=25)
@given(vectors(3), vectors(2), sizes(), sizes(0.0, 3.0))
def test_nonholonomic_and_heisenberg(q, xi, mass, stiffness):
    assert_lagrange_dalembert(dh.systems.NonholonomicParticle(mass), q, xi, free, contact)
    heisenberg = dh.systems.HeisenbergParticle(mass, stiffness)
    assert_lagrange_dalembert(heisenberg, q, xi, sprung, swept)
    v, second = motion(heisenberg, jnp.asarray(q), jnp.asarray(xi))
    push = stiffness * q[2] / (1 + q[0] ** 2 + q[1] ** 2)  # the docstring's lambda
    assert_same(mass * second, -stiffness * q + push * np.array([q[1], -q[0], 1.0]))
    assert_same(accelerations(sprung, swept, jnp.asarray(q), v, heisenberg)[1], [push])


@settings(max_examples=25)
@given(numbers(), numbers(-1.0, 1.0).filter(lambda v: abs(v) > 0.05), numbers(-1.0, 1.0))
def test_nonholonomic_particle_closed_form(y0, v, c):
    t = np.linspace(0, 3, 4)
    run = dh.reference(dh.systems.NonholonomicParticle(), q=[0.0, y0, 0.0], xi=[c, v], t=t)
    y = y0 + v * t
    x = c / v * (np.arcsinh(y) - np.arcsinh(y0))
    z = c / v * (np.sqrt(1 + y**2) - np.sqrt(1 + y0**2))
    np.testing.assert_allclose(run.q, np.stack([x, y, z], axis=1), rtol=0, atol=1e-9)


def blade_on_incline(q, v, s):
    drop = s.mass * s.gravity * jnp.sin(s.incline) * q[1]
    return 0.5 * s.inertia * v[0] ** 2 + 0.5 * s.mass * v[1:] @ v[1:] + drop


def along_the_blade(q, v, _):
    return (jnp.sin(q[0]) * v[1] - jnp.cos(q[0]) * v[2])[None]


@settings(max_examples=25)
@given(vectors(3), vectors(2), sizes(), sizes(), numbers(-1.5, 1.5), sizes(0.0, 10.0))
def test_knife_edge(q, xi, mass, inertia, incline, gravity):
    system = dh.systems.KnifeEdgeOnIncline(mass, inertia, incline, gravity)
    assert_lagrange_dalembert(system, q, xi, blade_on_incline, along_the_blade)
    assert_same(rates(system, q, xi)[1], [0.0, gravity * np.sin(incline) * np.cos(q[0]), 0.0])


@settings(max_examples=25)
@given(numbers(0.3, 2.0), numbers(0.1, 1.0))
def test_knife_edge_traces_a_cycloid(omega, incline):
    """Let go at theta = 0: x = g sin(alpha) sin^2(omega t) / (2 omega^2), y makes it a cycloid."""
    system = dh.systems.KnifeEdgeOnIncline(incline=incline)
    t = np.linspace(0, 4, 9)
    run = dh.reference(system, q=[0.0, 0.0, 0.0], xi=[omega, 0.0], t=t)
    push = 9.8 * np.sin(incline) / (2 * omega**2)
    np.testing.assert_allclose(run.q[:, 1], push * np.sin(omega * t) ** 2, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 2], push * (omega * t - np.sin(2 * omega * t) / 2), rtol=1e-9, atol=1e-9)


def invariant_under_translations(q, v, _):
    b = jnp.sin(q[0])
    return 0.5 * (v[0] ** 2 + (1 - b**2) * v[1] ** 2 + v[2] ** 2) - 0.5 * q[0] ** 2


def geared(q, v, _):
    return (v[2] - jnp.sin(q[0]) * v[1])[None]


@settings(max_examples=25)
@given(vectors(3), vectors(2))
def test_translation_invariant_particle(q, xi):
    """[QS] 4.3: p' = b b' p r' for p along d/ds1 + b d/ds2, and the docstring's r''."""
    system = dh.systems.TranslationInvariantParticle()
    assert_lagrange_dalembert(system, q, xi, invariant_under_translations, geared)
    v, second = motion(system, jnp.asarray(q), jnp.asarray(xi))

    def momentum(q, v):
        by_v = jax.grad(invariant_under_translations, 1)(q, v, None)
        return by_v[1] + jnp.sin(q[0]) * by_v[2]

    p, rate = jax.jvp(momentum, (jnp.asarray(q), v), (v, second))
    assert_same(rate, np.sin(q[0]) * np.cos(q[0]) * p * v[0])
    assert_same(second[0], -q[0] - np.sin(q[0]) * np.cos(q[0]) * p**2)


def lorentz(_, v, s):
    return s.charge * (jnp.cross(v, s.magnetic) + s.electric)


@settings(max_examples=25)
@given(vectors(3), vectors(3), sizes(), numbers(), vectors(3), vectors(3))
def test_charged_particles(q, xi, mass, charge, magnetic, electric):
    """The vector potential gives the Lorentz force e (v x B + E), with its charge (a slip of [MD]), free or held."""
    whole = dh.systems.ChargedParticle(mass, charge, magnetic, electric)
    held = dh.systems.ChargedNonholonomicParticle(mass, charge, magnetic, electric)
    assert_lagrange_dalembert(whole, q, xi, free, force=lorentz)
    assert_lagrange_dalembert(held, q, xi[:2], free, contact, force=lorentz)
    assert_same(motion(whole, q, xi)[1], charge / mass * (np.cross(xi, magnetic) + electric))


@settings(max_examples=25)
@given(sizes(), sizes(), numbers(0.1, 1.0))
def test_cyclotron(charge, strength, speed):
    """In B alone a particle circles at the rate e B / m, with radius m v / (e B)."""
    system = dh.systems.ChargedParticle(1.0, charge, (0.0, 0.0, strength), (0.0, 0.0, 0.0))
    radius, t = speed / (charge * strength), np.linspace(0, 3, 7)
    run = dh.reference(system, q=[radius, 0.0, 0.0], xi=[0.0, -speed, 0.0], t=t)
    turn = charge * strength * t
    np.testing.assert_allclose(run.q[:, :2] / radius, np.stack([np.cos(turn), -np.sin(turn)], 1), rtol=0, atol=1e-8)


def two_discs(q, v, s):
    masses = jnp.stack([s.mass1, s.mass1, s.mass2, s.mass2])
    drop = s.gravity * jnp.sin(s.incline) * (s.mass1 * q[0] + s.mass2 * q[2])
    return 0.5 * masses @ v**2 + drop


def across_the_axis(q, v, _):
    axis = q[2:] - q[:2]
    return jnp.stack([v[:2] @ axis, v[2:] @ axis])


@settings(max_examples=25)
@given(vectors(4), vectors(2), sizes(), sizes(), numbers(-1.0, 1.0), sizes(0.0, 10.0))
def test_coaxial_discs(q, xi, mass1, mass2, incline, gravity):
    """[BE] Remark 7: the distance stays, although the discs are free to slide along their axis."""
    assume(np.linalg.norm(q[2:] - q[:2]) > 0.1)
    system = dh.systems.CoaxialDiscs(mass1, mass2, incline, gravity)
    assert_lagrange_dalembert(system, q, xi, two_discs, across_the_axis)
    assert_same(system.structure(q), by_autodiff(system, q))
    v, _ = motion(system, jnp.asarray(q), jnp.asarray(xi))
    assert_same((q[2:] - q[:2]) @ (v[2:] - v[:2]), 0.0)


@jax.jit
def by_autodiff(system, q):
    return structure_functions(system.frame, q)


def test_level_discs_run_on_circles():
    """Without gravity both velocities are constant, so the discs circle about the point of the axis that rests."""
    system = dh.systems.CoaxialDiscs(incline=0.0)
    run = dh.reference(system, q=[0.0, 0.0, 0.0, 1.0], xi=[-0.5, -1.5], t=np.linspace(0, 5, 11))
    np.testing.assert_allclose(run.xi[:, :2], [[-0.5, -1.5]] * 11, atol=1e-11)
    centre = np.array([0.0, -0.5])
    np.testing.assert_allclose(np.linalg.norm(run.q[:, :2] - centre, axis=1), 0.5, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 2:] - centre, axis=1), 1.5, atol=1e-10)
