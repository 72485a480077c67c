"""dh.compare: one table of what the schemes do, whose numbers are those of the runs."""

import functools
import io
import sys

import numpy as np
import pytest
from problems import OwnSteps

import discrete_hamel as dh
from discrete_hamel._support import console
from discrete_hamel.analysis import trend

SLEIGH = dh.systems.ChaplyginSleigh()
START = ([0.1, 0.0, 0.0], [1.5, -0.3])
SCHEMES = [
    dh.DiscreteHamel(),
    dh.DiscreteHamel(tau=0.0),
    dh.Leapfrog(),
    OwnSteps(),
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


def test_it_says_which_path_was_timed():
    """Where they are different, times do not compare: it says so, and all can be put on the plain one."""
    assert [row.path for row in table().rows[:4]] == ["compiled", "compiled", "compiled", "plain"]
    assert "Times on different paths do not compare" in repr(table())
    assert repr(table()).splitlines()[1].split()[-2:] == ["path", "Newton"]
    pair = [dh.DiscreteHamel(), OwnSteps()]
    alike = dh.compare(SLEIGH, *START, schemes=pair, h=0.05, t_end=4.0, compiled=False)
    assert [row.path for row in alike.rows] == ["plain", "plain"]
    assert "do not compare" not in repr(alike)


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
    assert float(data.drift.sel(scheme="OwnSteps()", invariant="energy")) == table().rows[3].drift["energy"].slope
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


def test_the_constraint_is_that_of_the_chords_by_hand():
    """|y' cos theta - x' sin theta| of (q_{k+1} - q_k)/h at the chord's middle, in the larger of its components."""
    run = dh.simulate(SLEIGH, *START, h=0.05, steps=80, scheme=dh.Leapfrog())
    theta, chord = (run.q[1:, 0] + run.q[:-1, 0]) / 2, np.diff(run.q, axis=0) / 0.05
    across = np.abs(chord[:, 2] * np.cos(theta) - chord[:, 1] * np.sin(theta))
    wanted = np.max(across * np.maximum(np.abs(np.cos(theta)), np.abs(np.sin(theta))))
    assert table()["Leapfrog()"].constraint == pytest.approx(wanted, rel=1e-6)


def test_the_table_shows_every_number():
    """Its head, and for each scheme step, error, fitted drift, energy, constraint, time and iterations."""
    head, *lines = repr(table()).split("\n")[1:6]
    assert [
        word for word in ("error", "drift", "energy off", "constraint", "us/step", "Newton") if word not in head
    ] == []
    for row, line in zip(table().rows, lines, strict=False):
        cells = (row.scheme, "0.05", f"{row.error:.1e}", str(row.drift["energy"]), f"{row.deviation['energy']:.1e}")
        assert [cell for cell in (*cells, f"{row.constraint:.1e}", f"{row.iterations:.1f}") if cell not in line] == []


def test_the_fitted_slope_is_that_of_the_energy():
    """Of the scheme that drifts most, tau = 0, against NumPy's straight line through all nodes."""
    run = dh.simulate(SLEIGH, *START, h=0.05, steps=80, scheme=dh.DiscreteHamel(tau=0.0))
    slope, error = table()["DiscreteHamel(tau=0.0)"].drift["energy"]
    assert slope == pytest.approx(np.polyfit(run.t, run.energy, 1)[0], rel=0.05)
    assert 0 < error < abs(slope)


class Watched(io.StringIO):
    def isatty(self):
        return True


def test_a_progress_bar_counts_the_schemes(monkeypatch):
    monkeypatch.setattr(console, "SILENT", 0.0)
    monkeypatch.setattr(console, "APART", 0.0)
    shown = Watched()
    monkeypatch.setattr(sys, "stderr", shown)
    dh.compare(SLEIGH, *START, schemes=SCHEMES[:2], h=0.05, t_end=1.0, progress=True)
    assert "1 of 2 schemes" in shown.getvalue()
    assert "2 of 2 schemes" in shown.getvalue()
    assert "steps" not in shown.getvalue()  # the runs inside stay silent
    quiet = Watched()
    monkeypatch.setattr(sys, "stderr", quiet)
    dh.compare(SLEIGH, *START, schemes=SCHEMES[:1], h=0.05, t_end=1.0, progress=False)
    assert quiet.getvalue() == ""
