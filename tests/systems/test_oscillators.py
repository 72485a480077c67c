"""The geared oscillators, against Lagrange-d'Alembert, and what reversibility and the frame decide."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multipliers import assert_lagrange_dalembert, assert_same, motion

import discrete_hamel as dh
from discrete_hamel.testing.strategies import numbers, vectors

STEPS = 200_000  # the driven energy has slow oscillations, which a shorter run could take for a drift


def springs(q, v, _):
    return 0.5 * (v @ v - q @ q)


def in_contact(q, v, _):
    return (v[0] + q[1] * v[2])[None]


def driven(q, v, s):
    driver = jnp.cos(q[1]) + s.epsilon / 2 * jnp.sin(2 * q[1])
    return 0.5 * v @ v - 0.5 * (q[0] ** 2 + q[2] ** 2) - driver


def geared(q, v, _):
    return (v[0] + jnp.sin(q[1]) * v[2])[None]


@settings(max_examples=25)
@given(vectors(3), vectors(2))
def test_contact_oscillator(q, xi):
    assert_lagrange_dalembert(dh.systems.ContactOscillator(), q, xi, springs, in_contact)


@settings(max_examples=25)
@given(vectors(3), vectors(2), numbers(0.0, 1.0), st.booleans())
def test_gearbox(q, xi, epsilon, orthonormal):
    system = dh.systems.Gearbox(epsilon=epsilon, orthonormal=orthonormal)
    assert_lagrange_dalembert(system, q, xi, driven, geared)
    acceleration = motion(system, q, xi)[1]
    assert_same(acceleration[1], np.sin(q[1]) - epsilon * np.cos(2 * q[1]))  # the driver drives, and is not driven


@settings(max_examples=25)
@given(vectors(3), vectors(2), numbers(0.1, 1.0))
def test_the_involution_that_keeps_the_sense_of_rotation(q, xi, epsilon):
    """The involution (x, y, z; v) -> (-x, -y, z; x', y', -z') reverses the motion of both for epsilon = 0 only."""

    def defect(system):
        def field(q, v):
            xi = dh.quasivelocities(system, q, v)
            return np.asarray(motion(system, q, xi)[1])

        v = np.asarray(system.frame(jnp.asarray(q)) @ np.array([*xi, 0.0]))
        flip = np.array([-1.0, -1.0, 1.0])
        return np.max(np.abs(field(flip * q, -flip * v) - flip * field(q, v)))

    assert defect(dh.systems.ContactOscillator()) < 1e-12
    assert defect(dh.systems.Gearbox(epsilon=0.0)) < 1e-12
    assert defect(dh.systems.Gearbox(epsilon=epsilon)) > epsilon * abs(np.cos(2 * q[1])) - 1e-12


@settings(max_examples=25)
@given(vectors(3), vectors(2), numbers(0.1, 1.0))
def test_v_to_minus_v_reverses_both(q, xi, epsilon):
    """[QS] Prop. 4.3: the acceleration is even in the velocity, so the gearbox is reversible in this sense."""
    for system in (dh.systems.ContactOscillator(), dh.systems.Gearbox(epsilon=epsilon)):
        assert_same(motion(system, q, xi)[1], motion(system, q, -np.asarray(xi))[1])


def test_the_gearbox_returns_under_v_to_minus_v_on_another_torus():
    """It comes back, and on the way the driver turns the other way round, which it never does by itself."""
    gearbox = dh.systems.Gearbox(epsilon=0.3)
    start = gearbox.sample()
    there = dh.reference(gearbox, start["q"], start["xi"], t=np.linspace(0, 20, 41))
    back = dh.reference(gearbox, there.q[-1], -there.xi[-1], t=np.linspace(0, 20, 41))
    np.testing.assert_allclose(back.q[-1], start["q"], atol=1e-9)
    assert np.min(there.xi[:, 0]) > 0 > np.max(back.xi[:, 0])


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_the_drift_is_that_of_a_frame(epsilon):
    """With epsilon = 0.3 the plain frame loses driven energy steadily; the orthonormal one keeps it to round-off."""
    rates = []
    for orthonormal in (False, True):
        system = dh.systems.Gearbox(epsilon=epsilon, orthonormal=orthonormal)
        run = dh.simulate(system, **system.sample(), steps=STEPS, save_every=100)
        energy = run.invariants()["energy of the driven"]
        rates.append((np.polyfit(run.t, energy, 1)[0], np.ptp(energy)))
    (plain, wobble), (_, kept) = rates
    assert kept < 1e-12 * STEPS**0.5
    total = abs(plain) * STEPS * 0.1
    assert total > wobble / 2 if epsilon else total < wobble / 10


def test_driver_of_the_contact_oscillator_is_harmonic():
    system = dh.systems.ContactOscillator()
    t = np.linspace(0, 6, 13)
    exact = dh.reference(system, q=[1.0, 0.3, 0.2], xi=[0.9, 0.5], t=t)
    np.testing.assert_allclose(exact.q[:, 1], 0.3 * np.cos(t) + 0.9 * np.sin(t), rtol=0, atol=1e-10)
