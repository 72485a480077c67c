"""[HE] 6.3: the spherical pendulum by Hamel, generalised Stormer-Verlet (angles) and RATTLE (Cartesian).

What [HE] 6.3 claims is the smallest energy error; of the length it says 1e-14 and proposes compensated summation.
"""

import functools

import numpy as np
import pytest

import discrete_hamel as dh

LENGTH, H, STEPS = 9.8, 0.2, 10_000
G1, G2, TURN = 0.3, 0.2, 0.6  # gamma and xi^1 of [HE] 6.3; xi^2 = 0
DEPTH = (1 - G1**2 - G2**2) ** 0.5

# The same motion in each system's coordinates: cos theta = -gamma3, gamma3' = -gamma2 xi1, and the vertical momentum
# over m r^2 is gamma1 xi1 = sin^2(theta) phi'.
SINE = (G1**2 + G2**2) ** 0.5
THETA_RATE, PHI_RATE = -G2 * TURN / SINE, G1 * TURN / SINE**2
POSITION = LENGTH * np.array([SINE, 0.0, -DEPTH])
VELOCITY = LENGTH * np.array([DEPTH * THETA_RATE, SINE * PHI_RATE, SINE * THETA_RATE])


@functools.cache
def run(name, h=H):
    if name.startswith("Hamel"):
        pendulum, scheme = dh.systems.SphericalPendulum(), dh.DiscreteHamel(compensated="compensated" in name)
        return dh.simulate(pendulum, [G1, G2, -DEPTH], [TURN, 0.0], h=h, steps=STEPS, scheme=scheme)
    if name == "Stormer-Verlet":
        angles, scheme = dh.systems.SphericalPendulumAngles(), dh.StormerVerlet()
        start = [np.arccos(DEPTH), 0.0], [THETA_RATE, PHI_RATE]
        return dh.simulate(angles, *start, h=h, steps=STEPS, scheme=scheme)
    cartesian, scheme = dh.systems.SphericalPendulumCartesian(), dh.Rattle()
    return dh.simulate(cartesian, POSITION, v=VELOCITY, h=h, steps=STEPS, scheme=scheme)


def energy_error(name, h=H):
    """Relative to the energy's range, m g r, which all three share."""
    energy = run(name, h).energy
    return np.max(np.abs(energy - energy[0])) / (LENGTH * 9.8)


def lengths_off(name, h=H):
    """|q| / |q_0| - 1 at the nodes, without rounding of its own; the angles have no length to lose."""
    size = np.sqrt(np.sum(run(name, h).q.astype(np.longdouble) ** 2, axis=1))
    return np.asarray(size / size[0] - 1, float)


def length_error(name, h=H):
    return np.max(np.abs(lengths_off(name, h)))


def height(name):
    """cos of the angle from the downward vertical, along the run."""
    q = run(name).q
    return np.cos(q[:, 0]) if name == "Stormer-Verlet" else -q[:, 2] / np.linalg.norm(q[0])


def test_it_is_one_motion_three_times():
    energies = [run(name).energy[0] / (LENGTH * 9.8) for name in ("Hamel", "Stormer-Verlet", "RATTLE")]
    assert energies == pytest.approx([energies[0]] * 3, abs=1e-13)
    for name in ("Stormer-Verlet", "RATTLE"):
        assert height(name)[:6] == pytest.approx(height("Hamel")[:6], abs=H**2)


def test_the_energy_error_of_hamel_is_the_smallest():
    """Round-off against O(h^2), which does not grow: 10 000 steps as [HE] 6.3."""
    assert energy_error("Hamel") < 1e-12 * STEPS**0.5
    for name in ("Stormer-Verlet", "RATTLE"):
        early = np.abs(run(name).energy[:1000] - run(name).energy[0])
        assert energy_error(name) > 1e-4
        assert energy_error(name) < 1.1 * np.max(early) / (LENGTH * 9.8)  # bounded: the band is filled at once


EPS = np.finfo(float).eps
STEP_SIZES = (H, 0.05)
FASTEST = 1.7  # rad/s, above what the pendulum reaches


def test_the_length_is_kept_by_both_that_have_one():
    """Hamel's walks at random, with no constraint imposed, a rounding a step: [HE] has 1e-14 here. RATTLE imposes it
    anew at each step, so that its error is that of one step."""
    assert length_error("Hamel") < EPS * STEPS**0.5
    assert length_error("RATTLE") < 4 * EPS


def test_compensated_summation_takes_both_errors_down_to_round_off():
    """As [HE] 6.3 supposes. The energy's is the rounding of the changes h F of the momenta, which walks; the length is
    kept to the rounding of the three numbers that hold gamma, half a unit here and half a unit at the start."""
    assert np.max(np.abs(run("Hamel, compensated").xi)) < FASTEST
    assert energy_error("Hamel, compensated") < EPS * (1 + H * FASTEST * STEPS**0.5)
    assert energy_error("Hamel, compensated") < energy_error("Hamel") / 2
    for h in STEP_SIZES:
        assert length_error("Hamel, compensated", h) < EPS < length_error("Hamel", h) / 2


def test_with_it_hamel_has_the_smallest_errors_of_energy_and_of_length():
    """Energy: 1e-15, RATTLE 1.5e-3, Stormer-Verlet 5e-3 at the step of [HE]. Length: 8e-17, RATTLE 3.6e-16."""
    hamel, others = "Hamel, compensated", ("RATTLE", "Stormer-Verlet")
    for h in STEP_SIZES:
        assert energy_error(hamel, h) < 1e-9 * min(energy_error(name, h) for name in others)
        assert length_error(hamel, h) < length_error("RATTLE", h)
        spread = [np.sqrt(np.mean(lengths_off(name, h) ** 2)) for name in (hamel, "RATTLE")]
        assert spread[0] < spread[1]


def test_with_the_constraint_on_velocities_only_verlet_would_lose_the_length():
    """The nonholonomic leapfrog on x . x' = 0 does: that the length is kept is not a matter of course."""
    cartesian = dh.systems.SphericalPendulumCartesian()
    drifting = dh.simulate(cartesian, POSITION, v=VELOCITY, h=H, steps=1000, scheme=dh.Leapfrog())
    size = np.linalg.norm(drifting.q, axis=1)
    assert np.max(np.abs(size / size[0] - 1)) > 1e-4
