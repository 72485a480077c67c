"""dh.compare: one table of what the schemes do, whose numbers are those of the runs."""

import functools

import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.analysis import trend

SLEIGH = dh.systems.ChaplyginSleigh()
START = ([0.1, 0.0, 0.0], [1.5, -0.3])
SCHEMES = [
    dh.DiscreteHamel(),
    dh.DiscreteHamel(tau=0.0),
    dh.Leapfrog(),
    dh.RungeKutta4(),
    dh.StormerVerlet(),
    dh.Rattle(),
]


@functools.cache
def table():
    return dh.compare(SLEIGH, *START, schemes=SCHEMES, h=0.05, t_end=4.0)


def test_the_numbers_are_those_of_the_runs():
    row = table()["DiscreteHamel(tau=0.5)"]
    run = dh.simulate(SLEIGH, *START, h=0.05, steps=80)
    exact = dh.reference(SLEIGH, *START, t=run.t)
    distance = max(np.max(np.abs(run.q - exact.q)), np.max(np.abs(run.xi - exact.xi)))
    assert row.error == pytest.approx(distance, rel=1e-9)
    drift = np.max(np.abs(run.energy - run.energy[0]))  # round-off, and so is how it is compiled
    assert row.deviation["energy"] == pytest.approx(drift, abs=1e-14)
    assert row.steps == 80
    assert row.iterations == np.mean(run.report.iterations)
    assert row.seconds > 0


def test_it_tells_the_schemes_apart():
    """Exact energy and constraint for the one, not for the others; order one is worse than two, two than four."""
    hamel, first, leapfrog, kutta = table().rows[:4]
    assert kutta.error < hamel.error < first.error
    assert hamel.deviation["energy"] < 1e-12 < leapfrog.deviation["energy"]
    assert hamel.constraint < 1e-12 < leapfrog.constraint
    assert first.constraint < 1e-12  # at its own point, tau = 0
    assert kutta.constraint > 1e-9
    assert first.deviation["energy"] > 1e-3


def test_a_refusal_is_a_row_with_its_sentence():
    refusals = table().rows[4:]
    assert [row.reason.split()[0] for row in refusals] == ["StormerVerlet", "Rattle"]
    assert all(np.isnan(row.error) for row in refusals)
    for row in refusals:
        assert row.reason in repr(table())


def test_a_failure_is_a_row_with_its_sentence():
    found = dh.compare(SLEIGH, *START, schemes={"too far": dh.RungeKutta4()}, h=1e6, t_end=1e7)
    assert "step" in found["too far"].reason
    assert "too far: step" in repr(found)


def test_the_users_own_mistake_is_raised_and_no_row():
    with pytest.raises(ValueError, match="q"):
        dh.compare(SLEIGH, [0.1, 0.0], [1.5, -0.3], schemes=SCHEMES, h=0.05, t_end=4.0)
    with pytest.raises(ValueError, match=r"not a whole number of steps h = 0.3; use t_end = 3.9"):
        dh.compare(SLEIGH, *START, schemes=SCHEMES, h=0.3, t_end=4.0)


def test_equal_cost_gives_the_cheap_more_steps():
    """What costs less takes more steps, and all of them come to the same time within the noise of the clock."""
    pair = [dh.DiscreteHamel(), dh.Composed(dh.DiscreteHamel(), order=6)]
    cheap, dear = dh.compare(SLEIGH, *START, schemes=pair, h=0.002, t_end=4.0, equal_cost=True).rows
    assert cheap.steps == 2000
    assert dear.steps < 1000  # nine steps in one
    assert dear.steps * dear.h == pytest.approx(4.0)


def test_dataset_and_figure():
    pytest.importorskip("xarray")
    data = table().to_xarray()
    assert dict(data.sizes) == {"scheme": 6, "invariant": 1}
    assert float(data.error.sel(scheme="Leapfrog()")) == table()["Leapfrog()"].error
    assert float(data.drift.sel(scheme="RungeKutta4()", invariant="energy")) == table().rows[3].drift["energy"].slope
    pytest.importorskip("matplotlib")
    left, right = table().plot().axes
    assert len(left.lines) == len(right.lines) == 4
    assert left.lines[0].get_ydata()[-1] == table().rows[0].errors[-1]


def test_a_trend_is_found_with_an_honest_error_bar():
    """Over many draws of noise the true slope lies within two standard errors about as often as it should."""
    t = np.linspace(0.0, 100.0, 4001)
    draws = np.random.default_rng(0).normal(size=(300, len(t)))
    found = [trend(t, 1e-3 * t + noise) for noise in draws]
    within = np.mean([abs(slope - 1e-3) < 2 * error for slope, error in found])
    assert 0.90 < within < 0.99
    assert not trend(t, np.cos(30 * t)).significant
    assert trend(t, np.cos(30 * t) + 1e-3 * t).significant
