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
    assert [line.get_label() for line in ax.lines] == ["omega", "v1"]


def test_momenta_are_p(sleigh, ax):
    plots.momenta(sleigh, ax=ax)
    np.testing.assert_array_equal(np.stack([line.get_ydata() for line in ax.lines], axis=1), sleigh.p)


def test_invariants_show_the_relative_change(sleigh, ax):
    broken = sleigh.replace(xi=sleigh.xi * np.linspace(1, 1.1, len(sleigh))[:, None])
    plots.invariants(broken, ax=ax)
    assert ax.lines[0].get_ydata()[-1] == pytest.approx(1.1**2 - 1, rel=1e-9)
    assert ax.get_yscale() == "log"


def test_path_in_a_plane_of_ones_own(pendulum, ax):
    plots.path(pendulum, along=("gamma1", "gamma2"), ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), pendulum.q[:, :2])


def test_refusals(pendulum, sleigh):
    with pytest.raises(ValueError, match="which plane"):
        plots.path(pendulum)
    with pytest.raises(ValueError, match="no coordinate 'z'"):
        plots.path(sleigh, along=("x", "z"))
    with pytest.raises(ValueError, match="one node only"):
        plots.overview(dh.simulate(sleigh.system, q=[0, 0, 0], xi=[1, 0], h=0.1, steps=0))


def test_the_style_is_left_behind(sleigh):
    before = dict(matplotlib.rcParams)
    pyplot.close(sleigh.plot())
    assert dict(matplotlib.rcParams) == before


def test_matplotlib_is_not_imported_before_something_is_drawn():
    code = "import sys, discrete_hamel, discrete_hamel.plots, discrete_hamel.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_matplotlib_is_said_with_the_remedy(sleigh, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "discrete_hamel\[plots\]"'):
        sleigh.plot()
