"""Steady motions are steady under (D) for every tau if the frame is invariant and the group only translates; else not.

The rolling disk for the first hypothesis, circular Kepler orbits in Cartesian and polar coordinates for the second.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from checkers import slopes
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.testing.conserved_words import keeps_steady_rolling, steady_spin

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


# --- the second hypothesis: q' = -q / |q|^3 (or -q), with the frame (e_r, J q), which turns with q ---


def radial(q):
    r = jnp.sqrt(q @ q)
    return jnp.stack([q / r, jnp.stack([-q[1], q[0]])], axis=1)


KEPLER = dh.from_velocities(lambda q, v: 0.5 * v @ v + 1 / jnp.sqrt(q @ q), radial, 2)
POLAR = dh.from_velocities(lambda q, v: 0.5 * (v[0] ** 2 + (q[0] * v[1]) ** 2) + 1 / q[0], lambda q: jnp.eye(2), 2)
SPRING = dh.from_velocities(lambda q, v: 0.5 * v @ v - 0.5 * q @ q, radial, 2)
TURN_OF_THE_PLANE = {"turn": np.array([[0.0, -1.0], [1.0, 0.0]])}


def radii(system, rate, h, steps, tau=0.5, r=1.0):
    run = dh.simulate(system, q=[r, 0.0], xi=[0.0, rate], h=h, steps=steps, scheme=dh.DiscreteHamel(tau=tau))
    return run.q[:, 0] if system is POLAR else np.hypot(*run.q.T)


@pytest.mark.parametrize(
    ("system", "symmetries", "epicyclic"),
    [(KEPLER, TURN_OF_THE_PLANE, 1), (POLAR, [1], 1), (SPRING, TURN_OF_THE_PLANE, 2)],
)
def test_circles_are_relative_equilibria_with_constant_xi(system, symmetries, epicyclic):
    """What fails below is not the frame. Rates: 0 of the family, +-i of Kepler's ellipse, +-2i of a spring's."""
    found = dh.spectrum(system, [1.0, 0.0], [0.0, 1.0], symmetries=symmetries)
    rates = found.rates[np.argsort(found.rates.imag)]
    assert rates == pytest.approx(np.array([-1j, 0, 1j]) * epicyclic, abs=1e-12)
    assert dh.vector_field(system, [1.0, 0.0], [0.0, 1.0])[1] == pytest.approx([0, 0], abs=1e-15)


@pytest.mark.parametrize("tau", TAUS)
def test_circles_in_polar_coordinates_are_kept(tau):
    assert np.ptp(radii(POLAR, 1.0, 0.4, 500, tau)) < 1e-12 * 500**0.5


@pytest.mark.parametrize(("tau", "order"), [(0.0, 1), (0.5, 2), (1.0, 1)])
@pytest.mark.parametrize("system", [KEPLER, SPRING], ids=["Kepler", "spring"])
def test_circles_in_cartesian_coordinates_are_lost(system, tau, order):
    """From (r, omega) of a circle of (H): q_{k+tau} on the chord lies inside it."""
    counts = np.array([50, 100, 200])
    lost = [np.ptp(radii(system, 1.0, 1.0 / n, n, tau)) for n in counts]
    assert lost[-1] > 1e-6
    assert slopes(1 / counts, lost) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize(("h", "loss"), [(0.4, 3.7e-3), (0.2, 9.3e-4), (0.1, 2.3e-4)])
def test_the_circles_that_the_scheme_has_instead(h, loss):
    """At tau = 1/2 and one r, by hand: r_mid = r cos(theta / 2), tan(theta / 2) = h omega_h / 2, r_mid^3 omega_h^2 = 1;

    hence omega_h = omega (1 + (h omega_h / 2)^2)^(3/4); relative to omega, about (3/16) (h omega)^2. Here r = 2.
    """
    rate = turning = 2.0**-1.5
    for _ in range(50):
        turning = rate * (1 + (h * turning / 2) ** 2) ** 0.75
    assert turning / rate - 1 == pytest.approx(loss, rel=0.03)
    node = turning / (1 + (h * turning / 2) ** 2)  # p = r_mid^2 omega_h = r^2 xi at the node
    assert np.ptp(radii(KEPLER, node, h, 400, r=2.0)) < 1e-13
    assert np.ptp(radii(KEPLER, rate, h, 400, r=2.0)) > loss
