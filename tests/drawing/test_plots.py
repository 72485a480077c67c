"""Pictures of trajectories: what is drawn is the data, into the axes asked for, and matplotlib is loaded only then."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

import discrete_hamel as dh
from discrete_hamel import plots
from discrete_hamel.drawing.plots import named_quantity


@pytest.fixture(scope="module")
def sleigh():
    return dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=100)


@pytest.fixture(scope="module")
def pendulum():
    system = dh.systems.SphericalPendulum()
    return dh.simulate(system, **system.sample(), steps=20)


@pytest.fixture
def ax():
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


def test_overview_of_a_path(sleigh):
    figure = sleigh.plot()
    main, *others = figure.axes
    np.testing.assert_array_equal(main.lines[0].get_xydata(), sleigh.q[:, 1:])
    assert main.get_aspect() == 1
    assert len(others) == 2
    assert all(ax.get_ylabel() for ax in figure.axes)
    pyplot.close(figure)


def test_overview_without_a_plane_shows_the_coordinates(pendulum):
    figure = pendulum.plot()
    assert [line.get_label() for line in figure.axes[0].lines] == ["gamma1", "gamma2", "gamma3"]
    pyplot.close(figure)


def test_overview_into_given_axes(sleigh, ax):
    assert sleigh.plot(ax=ax) is ax.figure
    assert len(ax.figure.axes) == 1


def test_velocities_leave_out_what_the_constraint_forbids(sleigh, ax):
    plots.velocities(sleigh, ax=ax)
    assert [line.get_label() for line in ax.lines] == ["omega [rad/s]", "v1 [m/s]"]


def test_momenta_are_p(sleigh, ax):
    plots.momenta(sleigh, ax=ax)
    np.testing.assert_array_equal(np.stack([line.get_ydata() for line in ax.lines], axis=1), sleigh.p)


def test_invariants_show_the_relative_change(sleigh, ax):
    broken = sleigh.replace(xi=sleigh.xi * np.linspace(1, 1.1, len(sleigh))[:, None])
    plots.invariants(broken, ax=ax)
    assert ax.lines[0].get_ydata()[-1] == pytest.approx(1.1**2 - 1, rel=1e-9)
    assert ax.get_yscale() == "log"


def test_axes_carry_the_units_that_the_system_says(sleigh, pendulum):
    main, velocities, kept = sleigh.plot().axes
    assert (main.get_xlabel(), main.get_ylabel(), kept.get_xlabel()) == ("x [m]", "y [m]", "t [s]")
    assert kept.get_ylabel() == "relative change"
    shared = pendulum.plot(plots.momenta)  # one unit for all is on the axis, and not repeated
    assert shared.get_ylabel() == "momenta [kg m²/s]"
    assert [line.get_label() for line in shared.lines] == ["p xi1", "p xi2"]
    resting = sleigh.replace(xi=np.where(np.arange(101)[:, None] == 0, 0.0, sleigh.xi))
    assert resting.plot(plots.invariants).lines[0].get_label() == "energy [J] (absolute)"
    spectrum = pendulum.plot(plots.power_spectrum, of="xi1")
    assert (spectrum.get_xlabel(), spectrum.get_ylabel()) == ("frequency [1/s]", "power density of xi1 [rad²/s]")
    pyplot.close("all")


def test_a_system_that_says_no_units_has_none_on_its_axes(sleigh):
    plain = type("Plain", (dh.systems.ChaplyginSleigh,), {"units": {}})
    run = sleigh.replace(system=plain())
    for draw in (plots.path, plots.coordinates, plots.velocities, plots.momenta, plots.invariants):
        ax = run.plot(draw)
        shown = [ax.get_xlabel(), ax.get_ylabel(), *(line.get_label() for line in ax.lines)]
        assert not any("[" in text for text in shown)
    assert "turns per unit of t" in run.plot(plots.power_spectrum, of="x").get_xlabel()
    pyplot.close("all")


def test_path_in_a_plane_of_ones_own(pendulum, ax):
    plots.path(pendulum, along=("gamma1", "gamma2"), ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), pendulum.q[:, :2])


def test_plot_takes_the_function_that_draws(sleigh, ax):
    assert sleigh.plot(plots.momenta, ax=ax) is ax
    assert len(ax.lines) == sleigh.p.shape[1]


def test_a_phase_portrait_shows_its_quantities(sleigh, pendulum, ax):
    plots.phase_portrait([sleigh, sleigh], of=("theta", "p v1"), labels=["one", "other"], ax=ax)
    curves = [line for line in ax.lines if len(line.get_xdata()) > 1]
    assert [line.get_label() for line in curves] == ["one", "other"]
    np.testing.assert_allclose(curves[1].get_xydata(), np.stack([sleigh.q[:, 0], sleigh.p[:, 1]], axis=1), atol=1e-15)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("theta [rad]", "p v1 [kg m/s]")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t", lambda run: run.t),
        ("x", lambda run: run.q[:, 1]),
        ("v1", lambda run: run.xi[:, 1]),
        ("p omega", lambda run: run.p[:, 0]),
        ("energy", lambda run: run.energy),
        (lambda q, xi: q[1] ** 2 + xi[0], lambda run: run.q[:, 1] ** 2 + run.xi[:, 0]),
    ],
)
def test_quantities_have_names(sleigh, name, expected):
    np.testing.assert_allclose(named_quantity.along(sleigh, name), expected(sleigh), atol=1e-15)


def test_the_power_spectrum_is_scipys_and_its_integral_the_variance(pendulum):
    signal = pytest.importorskip("scipy.signal")
    for window, name in ((np.hanning, np.hanning(21)), (np.ones, np.ones(21))):
        frequencies, power = plots.power_density(pendulum.t, pendulum.q[:, 0], window)
        by_scipy = signal.periodogram(
            np.asarray(pendulum.q)[:, 0], 1 / float(pendulum.h), window=name, detrend="constant"
        )
        np.testing.assert_allclose(frequencies, by_scipy[0], rtol=1e-12)
        np.testing.assert_allclose(power, by_scipy[1], rtol=1e-9, atol=1e-18)
    assert power.sum() * frequencies[1] == pytest.approx(np.var(pendulum.q[:, 0]), rel=1e-12)  # without a window


@pytest.mark.parametrize("count", [64, 65])
def test_a_line_in_the_spectrum_is_at_its_frequency(count):
    t = np.arange(count) / 16
    frequencies, power = plots.power_density(t, np.cos(2 * np.pi * 3 * t))
    assert frequencies[np.argmax(power)] == pytest.approx(3, abs=16 / count)
    assert power.sum() * frequencies[1] == pytest.approx(0.5, rel=0.05)


def test_the_power_spectrum_is_drawn(pendulum, ax):
    plots.power_spectrum(pendulum, of="gamma1", ax=ax)
    frequencies, power = plots.power_density(pendulum.t, pendulum.q[:, 0])
    shown = ax.lines[0].get_xydata()
    np.testing.assert_array_equal(shown, np.stack([frequencies, power], axis=1)[: len(shown)])
    with pytest.raises(ValueError, match="equal times"):
        plots.power_density(pendulum.t**2, pendulum.q[:, 0])
    with pytest.raises(ValueError, match="at least 4"):
        plots.power_density([0, 1], [0, 1])
    with pytest.raises(ValueError, match="not finite"):
        plots.power_density(pendulum.t, np.full(21, np.nan))


def test_a_section_shows_the_crossings(ax):
    system = dh.systems.SleighOscillator()
    run = dh.simulate(system, **system.sample(), steps=400)
    plots.section(run, where="r", of=("theta", "p r'"), sense=1, ax=ax)
    r = run.q[:, 0]
    k = np.flatnonzero((r[:-1] < 0) & (r[1:] >= 0))
    assert len(k) > 3
    part = (r[k] / (r[k] - r[k + 1]))[:, None]
    both = np.stack([run.q[:, 1], run.p[:, 0]], axis=1)
    between = (1 - part) * both[k] + part * both[k + 1]  # off by h^2 / 8 times a second derivative, all below 8 here
    np.testing.assert_allclose(ax.lines[0].get_xydata(), between, atol=run.h**2)
    assert np.max(np.abs(both[k] - between)) > 2 * run.h**2  # which tells a crossing from the node before it
    assert "r = 0, upward" in ax.get_xlabel()
    with pytest.raises(ValueError, match="does not go through zero"):
        plots.section(run, where=lambda q, xi: q[0] + 100.0, of=("t", "theta"), ax=ax)


def test_eigenvalues_lie_where_the_spectrum_has_them(ax):
    sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    found = dh.spectrum(sleigh, [0, 0, 0], [0.0, 2.0], dh.DiscreteHamel(), 0.1)
    plots.eigenvalues(found, ax=ax)
    circles, crosses = (line for line in ax.lines if line.get_marker() in "ox")
    np.testing.assert_array_equal(circles.get_xydata(), np.stack([found.rates.real, found.rates.imag], axis=1))
    np.testing.assert_array_equal(crosses.get_xydata()[:, 0], found.logarithms.real)
    assert circles.get_xdata().min() == pytest.approx(-0.8 / 0.86)  # -m a v / (J + m a^2)


def test_a_mistyped_quantity_names_the_nearest(sleigh):
    with pytest.raises(ValueError, match="Did you mean 'p omega'"):
        plots.phase_portrait(sleigh, of=("theta", "p omga"))
    with pytest.raises(ValueError, match="give one trajectory, or a list"):
        plots.phase_portrait({"not": "a run"}, of=("theta", "x"))
    with pytest.raises(ValueError, match="one number at each state"):
        named_quantity.along(sleigh, lambda q, xi: q)


def test_pictures_that_cannot_be_written_are_refused(tmp_path):
    plots.writable(tmp_path / "run.png")
    with pytest.raises(ValueError, match="none of these"):
        plots.writable(tmp_path / "run.bmpp")
    with pytest.raises(ValueError, match="no folder"):
        plots.writable(tmp_path / "nowhere" / "run.png")


def test_refusals(pendulum, sleigh):
    with pytest.raises(ValueError, match="which plane"):
        plots.path(pendulum)
    with pytest.raises(ValueError, match="no coordinate 'z'"):
        plots.path(sleigh, along=("x", "z"))
    with pytest.raises(dh.InputTypeError, match=r"not 'run.png', and returns a figure; .* dh.plots.save"):
        sleigh.plot("run.png")
    with pytest.raises(ValueError, match="one node only"):
        plots.overview(dh.simulate(sleigh.system, q=[0, 0, 0], xi=[1, 0], h=0.1, steps=0))


def test_the_style_is_left_behind(sleigh):
    before = dict(matplotlib.rcParams)
    pyplot.close(sleigh.plot())
    assert dict(matplotlib.rcParams) == before


def test_matplotlib_is_not_imported_before_something_is_drawn():
    code = "import sys, discrete_hamel.drawing.plots, discrete_hamel.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_matplotlib_is_said_with_the_remedy(sleigh, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "discrete_hamel\[plots\]"'):
        sleigh.plot()
