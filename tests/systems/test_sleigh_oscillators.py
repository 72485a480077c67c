"""The sleigh with an oscillator, [QS] 6.3: equations, periodic shape and group shift."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from carts import body_ahead, no_sideways
from hypothesis import given, settings
from multipliers import assert_lagrange_dalembert, assert_same
from scipy.optimize import brentq

import discrete_hamel as dh
from discrete_hamel.testing.strategies import sizes, vectors

# The sleigh with an oscillator: q = (r, theta, x, y).


def sliding_bodies(q, v, s):
    carried = body_ahead(q[1:], v[1:], q[0]) + v[0] * jnp.array([jnp.cos(q[1]), jnp.sin(q[1])])
    sleigh = 0.5 * s.sleigh * v[2:] @ v[2:] + 0.5 * s.inertia * v[1] ** 2
    return sleigh + 0.5 * s.mass * carried @ carried - 0.5 * s.stiffness * q[0] ** 2


def no_sideways_with_mass(q, v, s):
    return no_sideways(q[1:], v[1:], s)


oscillator_parameters = (sizes(), sizes(), sizes(), sizes())


@settings(max_examples=25)
@given(vectors(4), vectors(3), *oscillator_parameters)
def test_sleigh_oscillator(q, xi, sleigh, mass, inertia, stiffness):
    """Both frames against point masses; (6.5), and (6.6)-(6.8) as printed."""
    plain = dh.systems.SleighOscillator(sleigh, mass, inertia, stiffness)
    scaled = dh.systems.SleighOscillatorScaledFrame(sleigh, mass, inertia, stiffness)
    assert_lagrange_dalembert(plain, q, xi, sliding_bodies, no_sideways_with_mass)
    assert_lagrange_dalembert(scaled, q, xi, sliding_bodies, no_sideways_with_mass)

    r, total, turning = q[0], sleigh + mass, inertia + mass * q[0] ** 2
    p1, p2 = turning * xi[1], total * xi[2]
    shape, rate1, rate2 = momentum_rates(plain, q, xi)
    reduced = sleigh * mass / total
    assert_same(shape, reduced * r * p1**2 / turning**2 - stiffness * r)
    assert_same(rate1, mass * r * p1 * (mass * xi[0] - p2) / (total * turning))
    assert_same(rate2, mass * r * p1**2 / turning**2)

    power = sleigh / total
    p1 = turning**power * xi[1]
    shape, rate1, rate2 = momentum_rates(scaled, q, xi)
    assert_same(shape, reduced * r * p1**2 / turning ** (power + 1) - stiffness * r)
    assert_same(rate1, -mass * r * p1 * p2 / (total * turning))
    assert_same(rate2, mass * r * p1**2 / turning ** (power + 1))


@jax.jit
def momentum_rates(system, q, xi):
    """d/dt of dl/dxi along D."""
    velocity, rate = dh.vector_field(system, q, xi)
    momenta = jax.grad(system.lagrangian, 1)
    return jax.jvp(momenta, (jnp.asarray(q), jnp.append(xi, 0.0)), (velocity, rate))[1][:3]


def plane_motion(q):
    """(theta, x, y) as a matrix of SE(2)."""
    c, s = np.cos(q[0]), np.sin(q[0])
    return np.array([[c, -s, q[1]], [s, c, q[2]], [0, 0, 1]])


@pytest.mark.parametrize("xi", [(0.8, 0.3, 0.5), (1.0, -0.4, -0.2)])
def test_periodic_shape_and_group_shift(xi):
    """Theorem before 6.1: from r = 0, (r, p) has period 2 tau, tau the first return; g(t + 2 tau) = h g(t), h fixed."""
    system = dh.systems.SleighOscillator()
    start = {"q": [0.0, 0.4, 1.0, -2.0], "xi": xi}

    def place(t):
        return dh.reference(system, **start, t=float(t)).q[-1, 0]

    times = np.linspace(0.2, 6, 59)
    r = dh.reference(system, **start, t=times).q[:, 0]
    first = int(np.flatnonzero(np.sign(r[1:]) != np.sign(r[:-1]))[0])
    period = 2 * brentq(place, times[first], times[first + 1], xtol=1e-13)

    phases = np.array([0.3, 0.9, 1.4, 2.2])
    run = dh.reference(system, **start, t=np.concatenate([phases, phases + period, phases + 2 * period]))
    once, later, twice = run.q[:4], run.q[4:8], run.q[8:]
    np.testing.assert_allclose(later[:, 0], once[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.xi[4:8], run.xi[:4], rtol=0, atol=1e-9)
    shifts = [plane_motion(b[1:]) @ np.linalg.inv(plane_motion(a[1:])) for a, b in zip(once, later, strict=True)]
    again = [plane_motion(b[1:]) @ np.linalg.inv(plane_motion(a[1:])) for a, b in zip(later, twice, strict=True)]
    for shift in (*shifts[1:], *again):
        np.testing.assert_allclose(shift, shifts[0], rtol=0, atol=1e-8)
    assert np.linalg.norm(shifts[0] - np.eye(3)) > 0.1  # it does move on
    half = dh.reference(system, **start, t=phases + period / 2)
    assert np.max(np.abs(half.q[:, 0] - once[:, 0])) > 0.1  # and tau is no period


def test_straight_motion_oscillates_harmonically():
    """p1 = 0: p2 is constant and r'' = -k (M + m) / (M m) r."""
    system = dh.systems.SleighOscillator(sleigh=1.5, mass=0.4, inertia=0.3, stiffness=2.2)
    t = np.linspace(0, 5, 11)
    run = dh.reference(system, q=[0.2, 0.1, 0, 0], xi=[0.5, 0.0, 0.7], t=t)
    omega = np.sqrt(2.2 * 1.9 / (1.5 * 0.4))
    np.testing.assert_allclose(run.q[:, 0], 0.2 * np.cos(omega * t) + 0.5 / omega * np.sin(omega * t), atol=1e-10)
    np.testing.assert_allclose(run.xi[:, 2], 0.7, atol=1e-11)
