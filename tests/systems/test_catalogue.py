"""What every system of the catalogue must satisfy; a new class in `dh.systems` is picked up by being listed there."""

import inspect
import pkgutil
import re
import time
from functools import cache
from importlib import import_module

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.analysis import trend
from discrete_hamel.testing import check_system

STEPS = 10_000
ROUNDOFF = 1e-12 * STEPS**0.5  # what "exact" means over the run, relative where the value is above 1

every_system = pytest.mark.parametrize("name", dh.systems.__all__)


@cache
def sampled(name):
    """The system with its default parameters, its sample data, 10^4 steps of the default scheme, and the seconds that
    the first call took."""
    system = getattr(dh.systems, name)()
    sample = system.sample()
    begin = time.perf_counter()
    dh.simulate(system, **sample, steps=1)
    seconds = time.perf_counter() - begin
    return system, sample, dh.simulate(system, **sample, steps=STEPS), seconds


def secular(t, values):
    """(share, significant): how much of the range of `values` a straight line explains, 1 for a drift and near 0 for an
    oscillation, and whether its slope is more than four standard errors, which 3 in 10^4 would be by chance (Student,
    38 degrees of freedom)."""
    size = np.ptp(values)
    if size <= ROUNDOFF * max(1.0, abs(values[0])):
        return 0.0, False
    found = trend(t, values)
    return abs(found.slope) * (t[-1] - t[0]) / size, found.significant


def test_all_systems_are_listed():
    package = import_module("discrete_hamel.systems")
    listed = {*dh.systems.__all__, *dh.systems.garage.__all__}  # test_garage.py looks at the latter
    for module in pkgutil.iter_modules(package.__path__):
        for name, value in vars(import_module(f"discrete_hamel.systems.{module.name}")).items():
            if inspect.isclass(value) and issubclass(value, dh.System) and hasattr(value, "sample"):
                assert name in listed, f"{name} of systems/{module.name}.py is not in dh.systems"
    assert list(dh.systems.__all__) == sorted(dh.systems.__all__)


@every_system
def test_it_says_what_it_is(name):
    system = getattr(dh.systems, name)
    first, *rest = inspect.getdoc(system).split("\n")
    assert first.endswith((".", ")")), first
    assert len(rest) >= 3, "a docstring names coordinates, equations and what is kept"
    assert "oordinates" in system.__doc__, "and says what the coordinates are"
    assert re.search(r"^ {8,}\S.*=", system.__doc__, re.MULTILINE), "with its equations on lines of their own"
    section = r"\[(QS|HE|ND|BE|MD)\] (\(?\d|ch|after Example \d|The Rattleback|momentum equation|Theorem \d)"
    source = rf"{section}|\(\d{{4}}\)|[A-Z]\w+.* (19|20)\d\d|`[A-Z]\w+`"  # or a work by year, or what it varies
    assert re.search(source, system.__doc__), "and where it comes from"
    lines = inspect.getsource(system).split("\n")
    for field in system.__annotations__:
        (line,) = (line for line in lines if line.startswith(f"    {field}:"))
        told = "#" in line or field in system.__doc__
        assert told, f"{name}.{field} needs its unit and meaning in a comment, or a place in the docstring"


@every_system
def test_names_fit_the_sample(name, record_property):
    system, sample, trajectory, seconds = sampled(name)
    record_property("first call, s", seconds)
    ready = system.at(jnp.asarray(sample["q"], float))
    n = trajectory.xi.shape[1]
    assert set(sample) == {"q", "xi", "h"}
    assert len(ready.coordinates) == len(sample["q"]) == trajectory.q.shape[1]
    assert len(ready.velocities) == n
    assert len(set(ready.coordinates)) == len(ready.coordinates)
    assert len(set(ready.velocities)) == n
    assert len(sample["xi"]) in (ready.rank, n)
    assert np.all(np.isfinite(trajectory.q))
    assert np.all(np.isfinite(trajectory.xi))
    assert np.any(trajectory.xi[0] != 0), "a sample at rest shows nothing"


@every_system
def test_invariants_are_kept_as_declared(name):
    system, _, trajectory, _ = sampled(name)
    values = trajectory.invariants()
    for label, invariant in system.invariants().items():
        value = values[label]
        assert value.shape == trajectory.t.shape
        assert invariant.kept in ("exact", "bounded", "continuous"), (label, invariant.kept)
        if invariant.kept == "exact":
            miss = np.max(np.abs(value - value[0]))
            assert miss < ROUNDOFF * max(1.0, abs(value[0])), f"{label} is off by {miss:.2e}"
        if invariant.kept == "bounded":
            share, significant = secular(trajectory.t, value)
            assert share < 0.2, f"{label} drifts: a line explains {share:.2f} of its range"
            assert not significant, f"{label} drifts by {trend(trajectory.t, value)} per unit time"
            if np.ptp(value):  # A drift as large as what oscillates would not have passed.
                line = np.ptp(value) * np.linspace(0.0, 1.0, len(value))
                assert trend(trajectory.t, value + line).significant, f"no drift of {label} could be noticed"


@every_system
def test_its_axioms_hold(name):
    """Frame, bracket, multipliers, energy, invariants and symmetries, at states and parameters drawn."""
    check_system(getattr(dh.systems, name)())


@every_system
def test_its_shapes_can_be_drawn_and_animated(name):
    """The same lines at every node, so that an animation moves what a plot drew; they have extent, and they do move."""
    system, _, trajectory, _ = sampled(name)
    if not trajectory.q.shape[1]:
        pytest.skip("a reduced system has no place to be drawn at")
    frames = [system.shapes(trajectory.q[k]) for k in (0, 500, STEPS // 2, -1)]
    for lines in frames:
        assert [np.shape(line) for line in lines] == [np.shape(line) for line in frames[0]]
        for line in lines:
            assert np.ndim(line) == 2
            assert np.shape(line)[1] in (2, 3)
            assert np.all(np.isfinite(line))
    assert frames[0], "at least one line"
    assert max(np.max(np.ptp(line, axis=0)) for line in frames[0]) > 0
    moved = [np.max(np.abs(a - b)) for lines in frames[1:] for a, b in zip(frames[0], lines, strict=True)]
    assert max(moved) > 1e-6


@every_system
def test_its_film_stays_within_the_picture_and_moves(name):
    """No frame of it is clipped, and none shows what another left."""
    pytest.importorskip("matplotlib")
    from discrete_hamel.drawing.films import film_scene, painter

    _, _, trajectory, _ = sampled(name)
    if not trajectory.q.shape[1]:
        pytest.skip("a reduced system has no place to be drawn at")
    scene = film_scene.scene(trajectory, np.array([0, 500, STEPS // 2, STEPS]))
    left, right, bottom, top = scene.box
    for drawn in (scene.behind, *(scene.moving(k) for k in range(4))):
        for piece in drawn:
            (low_x, low_y), (high_x, high_y) = piece.points.min(axis=0), piece.points.max(axis=0)
            assert left <= low_x <= high_x <= right
            assert bottom <= low_y <= high_y <= top
    film = painter.Painter(scene, 50)
    first, *others = (film.pixels(k)[round(50 * painter.BAND) + 1 :] for k in (0, 1, 2, 3))  # below the caption
    assert np.any(first != 255), "something is drawn"
    assert any(np.any(first != other) for other in others), "and it moves"
    np.testing.assert_array_equal(film.pixels(0)[round(50 * painter.BAND) + 1 :], first)


@pytest.mark.parametrize(
    ("system", "scheme", "drifts"),
    [
        (dh.systems.Gearbox(epsilon=0.0), dh.DiscreteHamel(), False),
        (dh.systems.Gearbox(epsilon=0.3), dh.DiscreteHamel(), True),
        (dh.systems.ContactOscillator(), dh.DiscreteHamel(), False),
        (dh.systems.ContactOscillator(), dh.RungeKutta4(), True),
    ],
    ids=["gearbox", "gearbox, not its own reverse", "oscillator", "oscillator by Runge and Kutta"],
)
def test_drift_is_told_from_oscillation(system, scheme, drifts):
    """Where the motion is not its own reverse, or the scheme not symmetric, both criteria fail what drifts."""
    run = dh.simulate(system, **system.sample(), steps=STEPS, scheme=scheme)
    share, significant = secular(run.t, run.invariants()["energy of the driven"])
    assert significant == drifts
    assert (share > 0.75) if drifts else (share < 0.2)
