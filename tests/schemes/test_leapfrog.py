"""The nonholonomic leapfrog: the geometric nonholonomic integrator by hand, and what it refuses."""

import jax.numpy as jnp
import numpy as np
import pytest
from cases import BLADE, PARTICLE, SLEIGH, has_slope, orbit, velocity
from checkers import STEP

import discrete_hamel as dh

SCHEME = dh.Leapfrog()


def test_second_order_with_an_affine_constraint_and_a_force():
    has_slope(SCHEME, BLADE, 2)


def gearing(q):
    """x' + y z' = 0 of the contact oscillator."""
    return np.array([1.0, 0.0, q[1]])


def reflected(q, p):
    """p reflected in D by the metric, which is the identity: (P* - Q*) p."""
    a = gearing(q)
    return p - 2 * a * (a @ p) / (a @ a)


def test_it_is_the_geometric_nonholonomic_integrator():
    """Explicit: Verlet, then a reflection of the momentum at the node.   Ferraro, Iglesias, Martin de Diego (2008)"""
    system, h = dh.systems.ContactOscillator(), 0.1
    state = dh.start(system, SCHEME, jnp.array([1.0, 0.3, 0.2]), jnp.array([0.9, 0.5]), h)
    q = np.asarray(state.q)
    p = np.asarray(system.frame(state.q)) @ np.asarray([*state.xi, 0.0])
    p = p + h / 2 * gearing(q) * np.asarray(state.reaction)  # P+ of the first node
    for _ in range(50):
        state, interval = STEP(system, SCHEME, state, h)
        assert int(interval.report.iterations) <= 2  # linear: Newton has nothing left to do after the first
        half = p - h / 2 * q
        q = q + h * half
        p = reflected(q, half - h / 2 * q)
        assert np.asarray(state.q) == pytest.approx(q, abs=1e-12)


def test_nodal_velocities_are_on_the_constraint_and_chords_are_not():
    states = orbit(SCHEME, SLEIGH, 0.1, 20)
    assert max(abs(float(velocity(SCHEME, SLEIGH, state)[2])) for state in states) < 1e-15
    slips = []
    for one, two in zip(states[:-1], states[1:], strict=True):
        heading, change = (one.q[0] + two.q[0]) / 2, two.q - one.q
        slips.append(float(change[2] * jnp.cos(heading) - change[1] * jnp.sin(heading)))
    assert np.max(np.abs(slips)) > 1e-6


def test_without_constraints_it_is_stormer_verlet():
    one, two = (orbit(scheme, PARTICLE, 0.1, 20)[-1] for scheme in (SCHEME, dh.StormerVerlet()))
    assert np.asarray(one.q) == pytest.approx(np.asarray(two.q), abs=1e-13)


@pytest.mark.parametrize("system", [dh.systems.Suslov(), dh.systems.SphericalPendulum()], ids=["redundant", "advected"])
def test_refuses_what_has_no_momentum_in_coordinates(system):
    start = system.sample()
    with pytest.raises(ValueError, match=r"Leapfrog .*Use DiscreteHamel"):
        dh.simulate(system, start["q"], start["xi"], h=0.1, steps=2, scheme=SCHEME)
