"""Reversible and not: what each scheme does to an energy that the motion keeps. Modin and Verdier (2020); design 3.

The contact oscillator is reversible, the gearbox is not; on both (x^2 + z^2 + x'^2 + z'^2)/2 is an invariant.
benchmarks/honest_drift.py prints the whole table.
"""

import functools

import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.analysis import trend

H, STEPS = 0.1, 20_000
CONTACT = dh.systems.ContactOscillator()
GEARBOX = dh.systems.Gearbox(epsilon=0.3)
HAMEL = dh.DiscreteHamel()


@functools.cache
def run(system, scheme, h=H, steps=STEPS):
    start = system.sample()
    return dh.simulate(system, start["q"], start["xi"], h=h, steps=steps, scheme=scheme)


def driven(system, scheme, **options):
    trajectory = run(system, scheme, **options)
    return trajectory.t, trajectory.invariants()["energy of the driven"]


def drift(system, scheme, **options):
    return trend(*driven(system, scheme, **options))


HAMEL4, GAUSS, EXACT = dh.Composed(HAMEL, order=4), dh.Gauss(2), dh.EnergyExact()
MIDPOINTS, LEAPFROG, KUTTA = dh.CortesMartinez(), dh.Leapfrog(), dh.RungeKutta4()


def test_the_invariant_is_one():
    start = GEARBOX.sample()
    exact = dh.reference(GEARBOX, start["q"], start["xi"], t=np.linspace(0, 50, 11))
    energy = exact.invariants()["energy of the driven"]
    assert np.max(np.abs(energy - energy[0])) < 1e-10


@pytest.mark.parametrize("scheme", [HAMEL, MIDPOINTS, LEAPFROG], ids=repr)
def test_reversible_no_drift_although_not_exact(scheme):
    _, energy = driven(CONTACT, scheme)
    off = np.abs(energy - energy[0])
    assert not drift(CONTACT, scheme).significant
    assert np.max(off) > 1e-5  # nothing makes it exact: it oscillates
    assert np.max(off) < 1.1 * np.max(off[: STEPS // 10])  # in a band that is filled at once


def test_what_is_not_symmetric_drifts_on_the_reversible_one():
    found = drift(CONTACT, KUTTA)
    assert found.significant
    assert found.slope < -1e-8


@pytest.mark.parametrize("scheme", [HAMEL, MIDPOINTS], ids=repr)
def test_not_reversible_it_drifts_at_the_rate_of_the_design(scheme):
    """6e-5 per unit time at h = 0.1."""
    found = drift(GEARBOX, scheme)
    assert found.significant
    assert -8e-5 < found.slope < -4e-5


def test_the_drift_falls_at_least_as_the_square_of_the_step_and_is_still_there():
    coarse, fine = drift(GEARBOX, HAMEL), drift(GEARBOX, HAMEL, h=H / 2, steps=2 * STEPS)
    assert fine.significant
    assert 4 * abs(fine.slope) < abs(coarse.slope) + 4 * (coarse.error + 4 * fine.error)


def test_exact_total_energy_does_not_mend_it():
    total = run(GEARBOX, EXACT).energy
    assert np.max(np.abs(total - total[0])) < 1e-12 * STEPS**0.5
    found = drift(GEARBOX, EXACT)
    assert found.significant
    assert found.slope < -4e-5


@pytest.mark.parametrize("scheme", [HAMEL4, GAUSS], ids=["composed", "gauss"])
def test_higher_order_mends_it_by_its_order_but_not_altogether(scheme):
    found = drift(GEARBOX, scheme)
    assert abs(found.slope) < 1e-2 * abs(drift(GEARBOX, HAMEL).slope)
    assert found.significant


def test_leapfrog_hardly_drifts():
    """As found: a thousandth of the rate of the others of order two."""
    assert abs(drift(GEARBOX, LEAPFROG).slope) < 1e-2 * abs(drift(GEARBOX, HAMEL).slope)


def test_a_frame_of_unit_fields_makes_it_exact_for_hamel_and_changes_nothing_for_cortes_martinez():
    unit = GEARBOX.replace(orthonormal=True)
    _, energy = driven(unit, HAMEL)
    assert np.max(np.abs(energy - energy[0])) < 1e-12 * STEPS**0.5
    assert drift(unit, MIDPOINTS).slope == pytest.approx(drift(GEARBOX, MIDPOINTS).slope, rel=1e-6)


def test_reversible_again_without_the_perturbation():
    assert not drift(GEARBOX.replace(epsilon=0.0), HAMEL).significant
