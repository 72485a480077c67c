"""A slow path is not silent: a run that takes more than a second there says what to change, and by the best that there
is says nothing.

Beams and wave maps need no scheme of their own: their steps are compiled as those of other systems.
"""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import erf

import discrete_hamel as dh
from discrete_hamel.compiler import paths

STRING = dh.fields.String(points=16)
RUN = {name: value for name, value in STRING.sample().items() if name in ("q", "xi", "h")} | {"steps": 2}


def test_a_long_run_of_a_field_on_the_plain_path_says_which_scheme_to_take():
    said = r"String with DiscreteHamel takes the plain path.*Give scheme=dh.fields.TridiagonalTension"
    with warnings.catch_warnings():
        warnings.simplefilter("error", dh.SlowPath)
        with pytest.raises(dh.SlowPath, match=said):  # after some steps, not after all
            dh.simulate(STRING, **RUN | {"steps": 10**6, "save_every": 1000})


def test_a_long_run_of_two_coordinates_says_the_reason_at_its_line(monkeypatch):
    system = dh.forced(dh.systems.ChaplyginSleigh(), lambda q, xi, f: f * jnp.array([erf(q[0]), 0.0, 0.0]), params=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dh.SlowPath)
        dh.simulate(system, [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=500)
        with pytest.raises(dh.SlowPath, match="plain path, where this run takes more than a second: .*erf"):
            dh.simulate(system, [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=10**6)
    monkeypatch.setattr(paths, "SLOW", 0.0)
    monkeypatch.setattr(paths, "TELLING", 0.0)
    with pytest.warns(dh.SlowPath) as said:
        dh.simulate(system, [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=5)
    assert [one.filename for one in said] == [__file__]


def test_by_its_own_scheme_it_says_nothing(monkeypatch):
    monkeypatch.setattr(paths, "SLOW", 0.0)
    monkeypatch.setattr(paths, "TELLING", 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dh.simulate(STRING, **RUN, scheme=dh.fields.TridiagonalTension())
        dh.simulate(STRING, **RUN, compiled=False)
        dh.simulate(dh.systems.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=500)


@pytest.mark.parametrize(("seconds", "steps", "slow"), [(1e-4, 9000, False), (1e-4, 11_000, True), (0.6, 2, True)])
def test_the_time_is_that_of_the_steps_without_what_xla_takes_to_compile(seconds, steps, slow, monkeypatch):
    now, done = 100.0, 0
    monkeypatch.setattr(paths.time, "perf_counter", lambda: now)
    pace, said = paths.Pace(STRING, dh.DiscreteHamel(), "a reason", steps), []
    monkeypatch.setattr(pace, "warn", lambda: said.append(done))
    while done < steps:
        piece = min(pace.most, steps - done)
        now += seconds * piece + (0.0 if done else 30.0)  # the first call compiles
        done += piece
        pace.at(done)
    assert len(said) == slow
    assert not said or said[0] <= max(2, 2 + 4 * paths.TELLING / seconds)


def test_a_piece_without_a_step_tells_nothing(monkeypatch):
    """A run ends at the step that failed: on a busy machine that piece took long, and divided by no steps."""
    monkeypatch.setattr(paths, "TELLING", 0.0)
    pace = paths.Pace(STRING, dh.DiscreteHamel(), "a reason", 30)
    for steps in (1, 8, 8):
        pace.most = 1
        pace.at(steps)
    assert pace.most == paths.ALL


@pytest.mark.parametrize("system", [dh.fields.Beam(points=8), dh.fields.SphereField(points=8)], ids=repr)
def test_beams_and_wave_maps_are_compiled_and_the_same_by_either_scheme(system):
    run = {name: value for name, value in system.sample().items() if name in ("q", "xi", "h")} | {"steps": 20}
    one, own = dh.simulate(system, **run), dh.simulate(system, **run, scheme=dh.fields.NeighbourHamel())
    assert one.report.path == "compiled"
    assert own.report.path == "plain"
    assert np.max(np.abs(one.q - own.q)) < 1e-11 * np.max(np.abs(own.q))
