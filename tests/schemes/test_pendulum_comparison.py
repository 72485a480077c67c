"""[HE] 6.3: the spherical pendulum by Hamel, generalised Stormer-Verlet (angles) and RATTLE (Cartesian coordinates)."""

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
def run(name):
    if name == "Hamel":
        pendulum, scheme = dh.systems.SphericalPendulum(), dh.DiscreteHamel()
        return dh.simulate(pendulum, [G1, G2, -DEPTH], [TURN, 0.0], h=H, steps=STEPS, scheme=scheme)
    if name == "Stormer-Verlet":
        angles, scheme = dh.systems.SphericalPendulumAngles(), dh.StormerVerlet()
        start = [np.arccos(DEPTH), 0.0], [THETA_RATE, PHI_RATE]
        return dh.simulate(angles, *start, h=H, steps=STEPS, scheme=scheme)
    cartesian, scheme = dh.systems.SphericalPendulumCartesian(), dh.Rattle()
    return dh.simulate(cartesian, POSITION, v=VELOCITY, h=H, steps=STEPS, scheme=scheme)


def energy_error(name):
    """Relative to the energy's range, m g r, which all three share."""
    energy = run(name).energy
    return np.max(np.abs(energy - energy[0])) / (LENGTH * 9.8)


def length_error(name):
    """Relative; the angles have no length to lose."""
    size = np.linalg.norm(run(name).q, axis=1)
    return np.max(np.abs(size / size[0] - 1))


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


def test_the_length_is_kept_by_both_that_have_one():
    """Hamel walks at random, with no constraint imposed; RATTLE imposes it anew at each step, so stays at round-off."""
    assert length_error("Hamel") < 1e-14 * STEPS**0.5
    assert length_error("RATTLE") < 1e-14


def test_with_the_constraint_on_velocities_only_verlet_would_lose_the_length():
    """The nonholonomic leapfrog on x . x' = 0 does: that the length is kept is not a matter of course."""
    cartesian = dh.systems.SphericalPendulumCartesian()
    drifting = dh.simulate(cartesian, POSITION, v=VELOCITY, h=H, steps=1000, scheme=dh.Leapfrog())
    size = np.linalg.norm(drifting.q, axis=1)
    assert np.max(np.abs(size / size[0] - 1)) > 1e-4
