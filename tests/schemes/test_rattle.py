"""RATTLE: its order, the classical scheme by hand, the constraint, and what it refuses."""

import numpy as np
import pytest
from cases import PENDULUM, SLEIGH, SURFACE, has_slope, orbit, velocity

import discrete_hamel as dh

SCHEME = dh.Rattle()


@pytest.mark.parametrize("case", [PENDULUM, SURFACE], ids=["sphere", "surface"])
def test_second_order(case):
    has_slope(SCHEME, case, 2)


def by_hand(x, v, h):
    """Unit sphere, unit mass, g = 9.8: the multipliers solved for in closed form."""
    gravity = np.array([0.0, 0.0, -9.8])
    free = x + h * (v + h / 2 * gravity)  # |free - r x| = 1 for the half-step's reaction
    r = free @ x - np.sqrt((free @ x) ** 2 - (free @ free - 1))
    x1 = free - r * x
    half = (x1 - x) / h
    v1 = half + h / 2 * gravity
    return x1, v1 - x1 * (x1 @ v1)


def test_it_is_rattle_by_hand():
    x = np.array(PENDULUM.q)
    v = np.asarray(PENDULUM.system.frame(x) @ np.array([*PENDULUM.xi, 0.0]))
    for state in orbit(SCHEME, PENDULUM, 0.05, 50)[1:]:
        x, v = by_hand(x, v, 0.05)
        found = PENDULUM.system.frame(state.q) @ velocity(SCHEME, PENDULUM, state)
        assert np.asarray(state.q) == pytest.approx(x, abs=1e-11)
        assert np.asarray(found) == pytest.approx(v, abs=1e-11)


def test_the_constraint_holds_where_the_velocity_constraint_alone_drifts():
    def height(scheme):
        return max(abs(float(SURFACE.system.constraint(state.q))) for state in orbit(scheme, SURFACE, 0.1, 100))

    assert height(SCHEME) < 1e-14 * 100
    assert height(dh.DiscreteHamel()) > 1e-5


class TooMany(dh.systems.SphericalPendulumCartesian):
    """Claims two holonomic constraints for one constrained velocity."""

    def constraint(self, q):
        return q[:2]


def test_refuses_nonholonomic_systems_with_a_sentence():
    for case in (SLEIGH,):
        with pytest.raises(ValueError, match=r"Rattle is for holonomic constraints, and ChaplyginSleigh has no method"):
            dh.simulate(case.system, case.q, case.xi, h=0.1, steps=2, scheme=SCHEME)
    with pytest.raises(ValueError, match=r"constraint\(q\) has 2 and this system constrains 1"):
        dh.simulate(TooMany(), TooMany().sample()["q"], TooMany().sample()["xi"], h=0.1, steps=2, scheme=SCHEME)
