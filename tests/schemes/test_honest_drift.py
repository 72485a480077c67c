"""Motions that are their own reverse and others: what every scheme does to an energy that they keep.

An involution that reverses time maps the contact oscillator's torus to itself; on the gearbox v -> -v does not, as its
driver then turns the other way. On both (x^2 + z^2 + x'^2 + z'^2)/2 is an invariant. Modin and Verdier (2020).
benchmarks/honest_drift.py prints the whole table, docs/long_runs.md has it.
"""

import functools

import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.analysis import trend

H, STEPS = 0.1, 20_000
RATE = 6e-5  # per unit time at h = 0.1, as first measured; docs/long_runs.md has the table
CONTACT = dh.systems.ContactOscillator()
GEARBOX = dh.systems.Gearbox(epsilon=0.3)
UNIT = GEARBOX.replace(orthonormal=True)

HAMEL, STAGGERED, MIDPOINTS = dh.DiscreteHamel(), dh.StaggeredHamel(), dh.CortesMartinez()
LEAPFROG, KUTTA, EXACT = dh.Leapfrog(), dh.RungeKutta4(), dh.EnergyExact()
HAMEL4, HAMEL6, LEAPFROG4 = dh.Composed(HAMEL, order=4), dh.Composed(HAMEL, order=6), dh.Composed(LEAPFROG, order=4)
GAUSS2, GAUSS3 = dh.Gauss(2), dh.Gauss(3)
SYMMETRIC = [HAMEL, STAGGERED, MIDPOINTS, LEAPFROG, EXACT, HAMEL4, HAMEL6, LEAPFROG4, GAUSS2, GAUSS3]
FIRST = [dh.DiscreteHamel(tau=0.25), dh.CortesMartinez(0.0, 0.0)]


def named(scheme):
    return f"{type(scheme).__name__}, order {scheme.order}"


@functools.cache
def run(system, scheme, h=H, steps=STEPS):
    start = system.sample()
    return dh.simulate(system, start["q"], start["xi"], h=h, steps=steps, scheme=scheme)


def driven(system, scheme, **options):
    trajectory = run(system, scheme, **options)
    return trajectory.t, trajectory.invariants()["energy of the driven"]


def drift(system, scheme, **options):
    return trend(*driven(system, scheme, **options))


def off(system, scheme):
    """|E - E_0| at the nodes."""
    _, energy = driven(system, scheme)
    return np.abs(energy - energy[0])


def test_the_invariant_is_one():
    start = GEARBOX.sample()
    exact = dh.reference(GEARBOX, start["q"], start["xi"], t=np.linspace(0, 50, 11))
    energy = exact.invariants()["energy of the driven"]
    assert np.max(np.abs(energy - energy[0])) < 1e-10


@pytest.mark.parametrize("scheme", SYMMETRIC, ids=named)
def test_reversible_no_symmetric_scheme_drifts_although_none_is_exact(scheme):
    assert scheme.symmetric
    found = off(CONTACT, scheme)
    assert not drift(CONTACT, scheme).significant
    assert np.max(found) > 1e-12 * STEPS**0.5  # nothing makes it exact: it oscillates
    assert np.max(found) < 1.1 * np.max(found[: STEPS // 10])  # in a band that is filled at once


def test_what_is_not_symmetric_drifts_on_the_reversible_one():
    found = drift(CONTACT, KUTTA)
    assert found.significant
    assert found.slope < -1e-8


@pytest.mark.parametrize("scheme", FIRST, ids=repr)
@pytest.mark.parametrize("system", [CONTACT, GEARBOX], ids=["contact", "gearbox"])
def test_what_is_of_first_order_loses_the_energy_altogether(system, scheme):
    assert not scheme.symmetric
    assert np.max(off(system, scheme)) > H * driven(system, scheme)[1][0]


@pytest.mark.parametrize("scheme", [HAMEL, MIDPOINTS, EXACT], ids=repr)
def test_not_reversible_second_order_drifts_at_the_rate_first_measured(scheme):
    found = drift(GEARBOX, scheme)
    assert found.significant
    assert -8e-5 < found.slope < -4e-5


def test_the_staggered_form_gains_what_they_lose():
    found = drift(GEARBOX, STAGGERED)
    assert found.significant
    assert RATE / 4 < found.slope < RATE


def test_the_drift_falls_at_least_as_the_square_of_the_step_and_is_still_there():
    coarse, fine = drift(GEARBOX, HAMEL), drift(GEARBOX, HAMEL, h=H / 2, steps=2 * STEPS)
    assert fine.significant
    assert 4 * abs(fine.slope) < abs(coarse.slope) + 4 * (coarse.error + 4 * fine.error)


def test_exact_total_energy_does_not_mend_it():
    total = run(GEARBOX, EXACT).energy
    assert np.max(np.abs(total - total[0])) < 1e-12 * STEPS**0.5
    assert abs(drift(GEARBOX, EXACT).slope) > RATE / 2


@pytest.mark.parametrize("scheme", [HAMEL4, HAMEL6, LEAPFROG4, GAUSS2, GAUSS3, KUTTA], ids=named)
def test_higher_order_mends_it_by_its_order_but_not_altogether(scheme):
    """h^2 of the rate for each two orders; the slower drift stays, and is not the round-off of a kept energy."""
    found = drift(GEARBOX, scheme)
    assert abs(found.slope) < RATE * H ** (scheme.order - 2)
    assert abs(found.slope) > 2 * found.error
    assert np.max(off(GEARBOX, scheme)) > 1e-12 * STEPS**0.5


def test_leapfrog_hardly_drifts():
    """As found, to t = 2000: a thousandth of the rate of others of order two; composed of it, a scheme drifts more."""
    assert abs(drift(GEARBOX, LEAPFROG).slope) < 1e-2 * RATE
    assert abs(drift(GEARBOX, LEAPFROG4).slope) > 4 * abs(drift(GEARBOX, LEAPFROG).slope)


def test_over_ten_times_as_long_leapfrog_does_not_drift():
    """What stands out at t = 2000 is part of an oscillation whose period is some 18 000."""
    start = GEARBOX.sample()
    found = dh.simulate(GEARBOX, start["q"], start["xi"], h=H, steps=10 * STEPS, scheme=LEAPFROG, save_every=10)
    energy = found.invariants()["energy of the driven"]
    assert not trend(found.t, energy).significant
    assert abs(trend(found.t, energy).slope) < 0.5 * abs(drift(GEARBOX, LEAPFROG).slope)


@pytest.mark.parametrize("scheme", [HAMEL, HAMEL4, HAMEL6, EXACT, GAUSS2, GAUSS3], ids=named)
def test_a_frame_of_unit_fields_makes_it_exact(scheme):
    assert np.max(off(UNIT, scheme)) < 1e-12 * STEPS**0.5


@pytest.mark.parametrize("scheme", [MIDPOINTS, LEAPFROG], ids=repr)
def test_a_frame_of_unit_fields_changes_nothing_for_what_knows_no_frame(scheme):
    assert drift(UNIT, scheme).slope == pytest.approx(drift(GEARBOX, scheme).slope, rel=1e-6)


@pytest.mark.parametrize("scheme", [STAGGERED, KUTTA], ids=repr)
def test_a_frame_of_unit_fields_makes_it_slower_but_not_exact(scheme):
    found = drift(UNIT, scheme)
    assert found.significant
    assert abs(found.slope) < abs(drift(GEARBOX, scheme).slope)


def test_reversible_again_without_the_perturbation():
    assert not drift(GEARBOX.replace(epsilon=0.0), HAMEL).significant
