"""Constraining before varying, and the missing bracket: what they give by hand, and that they are told apart."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.analysis import ConstrainedFirst, WithoutBracket, wrong_way

S = dh.systems
DISK = S.RollingDisk()
NUMBERS = st.floats(0.3, 2.0) | st.floats(-2.0, -0.3)


@settings(max_examples=20)
@given(NUMBERS, NUMBERS, st.floats(0.1, 1.0))
def test_the_sleigh_without_its_reaction_would_go_straight(omega, v, a):
    """m a v omega terms come from the momentum across the blade: lost when v2 = 0 is put in first.   [HE] 4"""
    sleigh = S.ChaplyginSleigh(1.0, 0.7, a)
    found = wrong_way(sleigh, [0.2, 0, 0], [omega, v])
    assert found.right == pytest.approx([-a * v * omega / (0.7 + a**2), a * omega**2], rel=1e-12)
    assert np.max(np.abs(found.constrained_first)) < 1e-13
    assert np.max(np.abs(found.without_bracket)) < 1e-13


@settings(max_examples=20)
@given(st.floats(-0.8, 0.8), NUMBERS, NUMBERS, NUMBERS)
def test_the_disk_as_in_sympy(theta, fall, turn, spin):
    """(phi' sin theta + psi')': Kane's -(m R^2/(m R^2 + B)) cos(theta) phi' theta', and 0 if constrained first."""
    xi, q = [fall, turn, spin], [theta, 0.4, 0, 0, 0]
    found = wrong_way(DISK, q, xi)

    def spinning(xidot):
        return turn * np.cos(theta) * fall + xidot[1] * np.sin(theta) + xidot[2]

    size = 1e-11 * (1 + np.max(np.abs(found.right)))
    assert spinning(found.right) == pytest.approx(-2 / 3 * np.cos(theta) * turn * fall, abs=size)
    assert spinning(found.constrained_first) == pytest.approx(0.0, abs=size)


def test_verdicts():
    q, xi = [0.3, 0.4, 0, 0, 0], [0.2, 3.0, 0.5]
    turned = S.ChaplyginSleighMomentumFrame()  # its fields of D do not commute within D either
    for system, words in (
        (turned, "are right here"),
        (ConstrainedFirst(turned), "are those of constraining before varying"),
    ):
        found = wrong_way(turned, [0.3, 0, 0], [1.5, 0.3], lambda q, xi, s=system: dh.vector_field(s, q, xi)[1][:2])
        assert words in found.verdict
    assert "by neither" in wrong_way(DISK, q, xi, [1.0, 2.0, 3.0]).verdict
    same = dh.vector_field(ConstrainedFirst(DISK), q, xi)[1][:3]  # brackets of this frame have nothing along D
    assert "give the same" in wrong_way(DISK, q, xi, same).verdict
    body = S.RigidBody()
    torque_free = wrong_way(body, np.eye(3).ravel(), [0.1, 1.0, 0.4], [0.0, 0.0, 0.0])
    assert "lack the bracket term" in torque_free.verdict
    with pytest.raises(ValueError, match="3 components"):
        wrong_way(DISK, q, xi, [1.0])


def test_both_ways_are_right_where_the_constraint_is_integrable_and_the_frame_commutes():
    def lagrangian(q, v):
        return 0.5 * v @ v - jnp.cos(q[0])

    plane = dh.from_constraints(lagrangian, lambda q: jnp.array([[0.0, 1.0, 1.0]]))
    found = wrong_way(plane, [0.3, 0.1, 0.2], [0.4, -0.3])
    assert np.max(np.abs(found.right - found.constrained_first)) < 1e-13
    assert np.max(np.abs(found.right - found.without_bracket)) < 1e-13
    assert "does not tell them apart" in found.verdict
    assert "off by" in repr(found)


def test_the_wrong_systems_run_and_go_elsewhere():
    """The wrong sleigh keeps turning for ever; the right one has stopped (rate m a v/(J + m a^2) = 0.5 or so)."""
    sleigh = S.ChaplyginSleigh()
    for wrong in (ConstrainedFirst(sleigh), WithoutBracket(sleigh)):
        runs = [dh.simulate(s, [0, 0, 0], [0.5, 1.0], h=0.05, steps=400) for s in (sleigh, wrong)]
        assert abs(runs[0].xi[-1, 0]) < 1e-3
        assert runs[1].xi[-1, 0] == pytest.approx(0.5, rel=1e-12)
