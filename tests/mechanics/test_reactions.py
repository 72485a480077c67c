"""Reaction forces, one sign: d/dt dL/dqdot - dL/dq = lambda_a A^a. Closed forms, and a solve with multipliers."""

import cartesian
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh

NUMBERS = st.floats(-2.0, 2.0)
SIZES = st.floats(0.2, 3.0)
REACTIONS, RATES = jax.jit(dh.reactions), jax.jit(dh.vector_field)
BY_MULTIPLIERS = jax.jit(cartesian.lagrange_dalembert, static_argnums=(0, 1))


@settings(max_examples=40)
@given(SIZES, SIZES, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_sleigh_against_the_closed_form(m, j, a, theta, omega, v):
    """The blade pushes to the left, lambda > 0, when the sleigh turns left: m times the centre's v omega + a omega'."""
    sleigh = dh.systems.ChaplyginSleigh(m, j, a)
    found = REACTIONS(sleigh, jnp.array([theta, 0.0, 0.0]), jnp.array([omega, v]))
    assert np.asarray(found) == pytest.approx([m * j * omega * v / (j + m * a**2)], rel=1e-12, abs=1e-12)


def penny(q, v):
    """A vertical disk, q = (phi, psi, x, y): m = 1.5, I = 0.3 about the axis, J = 0.2 about the vertical."""
    return 0.5 * (0.2 * v[0] ** 2 + 0.3 * v[1] ** 2 + 1.5 * (v[2] ** 2 + v[3] ** 2))


def penny_rolls(q):
    """x' = R psi' cos phi, y' = R psi' sin phi with R = 0.8."""
    return jnp.array([[0.0, -0.8 * jnp.cos(q[0]), 1.0, 0.0], [0.0, -0.8 * jnp.sin(q[0]), 0.0, 1.0]])


def test_vertical_disk_against_the_closed_form():
    """The user's own rows give the user's own multipliers: the friction force m (x'', y'')."""
    phi, turn, spin = 0.6, 1.1, -2.3
    speed = 0.8 * spin
    system = dh.from_constraints(penny, penny_rolls)
    q = [phi, 0.0, 0.0, 0.0]
    xi = dh.quasivelocities(system.at(q), q, [turn, spin, speed * np.cos(phi), speed * np.sin(phi)])
    found = dh.reactions(system, q, xi)
    expected = 1.5 * speed * turn * np.array([-np.sin(phi), np.cos(phi)])
    assert np.asarray(found) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=25)
@given(st.tuples(SIZES, SIZES, NUMBERS), st.lists(NUMBERS, min_size=5, max_size=5))
def test_sleigh_against_multipliers(params, numbers):
    system = dh.systems.ChaplyginSleigh(*params)
    q, xi = jnp.array(numbers[:3]), jnp.array(numbers[3:])
    v = dh.velocities(system, q, xi)
    agrees(system, cartesian.sleigh, cartesian.blade, jnp.array(params), q, xi, v)


@settings(max_examples=25)
@given(
    st.tuples(SIZES, SIZES, SIZES, SIZES, SIZES),
    st.floats(-1.2, 1.2),
    st.lists(NUMBERS, min_size=7, max_size=7),
)
def test_disk_against_multipliers(params, lean, numbers):
    system = dh.systems.RollingDisk(*params)
    q, xi = jnp.array([lean, *numbers[:4]]), jnp.array(numbers[4:])
    v = dh.velocities(system, q, xi)
    agrees(system, cartesian.disk, cartesian.rolling_along_and_across, jnp.array(params), q, xi, v)


def agrees(system, lagrangian, one_forms, params, q, xi, v):
    """Accelerations and reactions of both; and the reactions do no work."""
    acceleration, multipliers = BY_MULTIPLIERS(lagrangian, one_forms, params, q, v)
    size = 1 + float(jnp.max(jnp.abs(multipliers))) + float(jnp.max(jnp.abs(acceleration)))
    assert np.asarray(REACTIONS(system, q, xi)) == pytest.approx(np.asarray(multipliers), abs=1e-11 * size)
    velocity, rate = RATES(system, q, xi)
    _, ours = jax.jvp(lambda q, xi: dh.velocities(system, q, xi), (q, jnp.pad(xi, (0, len(rate) - len(xi)))), (v, rate))
    assert np.asarray(ours) == pytest.approx(np.asarray(acceleration), abs=1e-11 * size)
    assert abs(float(multipliers @ one_forms(q, params) @ velocity)) < 1e-12 * size


def test_the_sign_matters():
    sleigh = dh.systems.ChaplyginSleigh()
    left, right = (dh.reactions(sleigh, [0.0, 0, 0], [omega, 1.0])[0] for omega in (1.0, -1.0))
    assert left > 0 > right
