"""The discrete Lagrange-d'Alembert scheme: its equations by hand, and what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import BLADE, PARTICLE, SLEIGH, SUSLOV, has_slope, orbit
from checkers import STEP
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh

POINTS = [(0.5, 0.5), (0.0, 0.0), (0.0, 0.5), (0.5, 0.0)]
fractions = st.floats(0.0, 1.0)


def test_order_with_an_affine_constraint_and_a_force():
    has_slope(dh.CortesMartinez(), BLADE, 2)


def sleigh_by_hand(q, v, mass, inertia, offset):
    """Blade at (x, y), mass centre `offset` ahead of it."""
    vx = v[1] - offset * jnp.sin(q[0]) * v[0]
    vy = v[2] + offset * jnp.cos(q[0]) * v[0]
    return 0.5 * inertia * v[0] ** 2 + 0.5 * mass * (vx**2 + vy**2)


@jax.jit
def principle(q, a, h, parameters):
    """(D_1 L_d(q1, q2) + D_2 L_d(q0, q1)) on theta' and on the blade's direction at q1."""

    def discrete(q, q1):
        return h * sleigh_by_hand((1 - a) * q + a * q1, (q1 - q) / h, *parameters)

    covector = jax.grad(discrete, 1)(q[0], q[1]) + jax.grad(discrete, 0)(q[1], q[2])
    return covector[0], covector[1] * jnp.cos(q[1][0]) + covector[2] * jnp.sin(q[1][0])


@settings(max_examples=30)
@given(fractions, fractions, st.floats(0.5, 2.0), st.floats(-1.0, 1.0), st.floats(-2.0, 2.0), st.floats(0.01, 0.2))
def test_its_nodes_satisfy_the_principle_by_hand(a, b, mass, offset, turn, h):
    sleigh = dh.systems.ChaplyginSleigh(mass=mass, inertia=0.7, offset=offset)
    scheme = dh.CortesMartinez(a, b)
    state = dh.start(sleigh, scheme, jnp.array([0.1, 0.0, 0.0]), jnp.array([turn, 0.8]), h)
    q = [state.q]
    for _ in range(2):
        state, _ = STEP(sleigh, scheme, state, h)
        q.append(state.q)
    assert np.max(np.abs(principle(jnp.stack(q), a, h, (mass, 0.7, offset)))) < 1e-12
    for q0, q1 in zip(q[:-1], q[1:], strict=True):
        heading = (1 - b) * q0[0] + b * q1[0]
        slip = (q1[2] - q0[2]) * np.cos(heading) - (q1[1] - q0[1]) * np.sin(heading)
        assert abs(slip) < 1e-13


@pytest.mark.parametrize("tau", [0.0, 0.3, 0.5, 1.0])
def test_without_constraints_in_coordinates_it_is_discrete_hamel(tau):
    """In the frame d/dq variations are the same: the variational tau-rule."""
    one = orbit(dh.CortesMartinez(lagrangian_at=tau, constraint_at=0.2), PARTICLE, 0.1, 20)[-1]
    two = orbit(dh.DiscreteHamel(tau=tau), PARTICLE, 0.1, 20)[-1]
    assert np.asarray(one.q) == pytest.approx(np.asarray(two.q), abs=1e-13)
    assert np.asarray(one.p) == pytest.approx(np.asarray(two.p), abs=1e-13)


def test_with_constraints_it_is_not_discrete_hamel():
    one, two = (orbit(scheme, SLEIGH, 0.1, 20)[-1] for scheme in (dh.CortesMartinez(), dh.DiscreteHamel()))
    assert np.max(np.abs(one.q - two.q)) > 1e-5


def test_attitudes_stay_orthogonal_at_the_midpoint_only():
    for b, kept in ((0.5, True), (0.0, False)):
        attitude = np.asarray(orbit(dh.CortesMartinez(0.5, b), SUSLOV, 0.05, 50)[-1].q).reshape(3, 3)
        gap = np.max(np.abs(attitude.T @ attitude - np.eye(3)))
        assert gap < 1e-13 if kept else gap > 1e-3


@pytest.mark.parametrize(
    "system", [dh.systems.SphericalPendulum(), dh.systems.ReducedSuslov()], ids=["gamma", "reduced"]
)
def test_refuses_coordinates_that_do_not_determine_the_velocity(system):
    start = system.sample()
    with pytest.raises(ValueError, match=r"^CortesMartinez needs a Lagrangian L\(q, qdot\).*Use DiscreteHamel"):
        dh.simulate(system, start["q"], start["xi"], h=0.1, steps=2, scheme=dh.CortesMartinez())
