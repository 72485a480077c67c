"""Steady rolling of the disk is steady under (D) for every tau, in an invariant frame; in another it is not."""

import jax.numpy as jnp
import numpy as np
import pytest
from checkers import keeps_steady_rolling, slopes, steady_spin
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh

TAUS = (0.0, 0.3, 0.5, 1.0)
SIZES = st.floats(0.3, 3.0)
DISKS = st.builds(
    lambda m, r, a, k, g: dh.systems.RollingDisk(m, r, a * m * r**2, k * m * r**2, g),
    SIZES,
    SIZES,
    st.floats(0.1, 0.5),
    st.floats(0.2, 1.0),
    st.floats(1.0, 10.0),
)
LEANS = st.floats(-1.2, 1.2)
TURNS = st.floats(0.3, 4.0) | st.floats(-4.0, -0.3)


@settings(max_examples=60)
@given(DISKS, LEANS, TURNS, st.floats(0.001, 0.1))
def test_every_steady_rolling_is_a_relative_equilibrium(disk, theta, turn, h):
    for tau in TAUS:
        keeps_steady_rolling(disk, dh.DiscreteHamel(tau=tau), theta, turn, steady_spin(disk, theta, turn), h)


@settings(max_examples=20)
@given(DISKS, st.floats(-5, 5), st.floats(0.001, 0.1))
def test_upright_rolling_and_spinning_in_place(disk, rate, h):
    """The two lines of the family where the balance of lean does not give psi'."""
    for tau in TAUS:
        keeps_steady_rolling(disk, dh.DiscreteHamel(tau=tau), 0.0, 0.0, rate, h)
        keeps_steady_rolling(disk, dh.DiscreteHamel(tau=tau), 0.0, rate, 0.0, h)


@settings(max_examples=20)
@given(LEANS, TURNS, st.floats(0.01, 1.0) | st.floats(-1.0, -0.01))
def test_other_motions_are_not(theta, turn, miss):
    disk = dh.systems.RollingDisk()
    with pytest.raises(AssertionError, match="steady rolling is lost"):
        keeps_steady_rolling(disk, dh.DiscreteHamel(), theta, turn, steady_spin(disk, theta, turn) + miss, 0.05)


def turned(q):
    """(u_1, u_2, u_3) turned by the disk's own angle psi, on which nothing physical depends."""
    c, s = jnp.cos(q[2]), jnp.sin(q[2])
    return jnp.eye(5).at[:3, :3].set(jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))


DISK = dh.systems.RollingDisk()


def turned_lagrangian(q, eta):
    return DISK.lagrangian(q, turned(q) @ eta)


def turned_frame(q):
    return DISK.frame(q) @ turned(q)


def lean_lost(system, eta, steps: int, tau: float) -> float:
    """The largest change of lean up to t = 1."""
    q = [THETA, 0.0, 0.0, 0.0, 0.0]
    lean = dh.simulate(system, q=q, xi=eta, h=1.0 / steps, steps=steps, scheme=dh.DiscreteHamel(tau=tau)).q[:, 0]
    return float(np.max(np.abs(lean - lean[0])))


THETA, TURN = 0.3, 2.0
STEADY = np.array([0.0, TURN, steady_spin(DISK, THETA, TURN)])  # also in the turned frame, since psi_0 = 0


@pytest.mark.parametrize(("tau", "order"), [(0.0, 1), (0.5, 2), (1.0, 1)])
def test_a_frame_that_is_not_invariant_loses_it(tau, order):
    """The reason to choose frames: the lean of a steady motion moves, by as much as the order allows."""
    system = dh.from_quasivelocities(turned_lagrangian, turned_frame, 3)
    counts = np.array([100, 200, 400])
    lost = [lean_lost(system, STEADY, int(n), tau) for n in counts]
    assert lost[-1] > 1e-7
    assert slopes(1 / counts, lost) == pytest.approx(order, abs=0.15)
    assert lean_lost(DISK, STEADY, 400, tau) < 1e-11
