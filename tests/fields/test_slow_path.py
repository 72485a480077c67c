"""A slow path is not silent: fields by DiscreteHamel() say which scheme to take, and by that scheme say nothing.

Beams and wave maps need no scheme of their own: their steps are compiled as those of other systems.
"""

import warnings

import numpy as np
import pytest

import discrete_hamel as dh

STRING = dh.fields.String(points=16)
RUN = {name: value for name, value in STRING.sample().items() if name in ("q", "xi", "h")} | {"steps": 2}


def test_a_field_on_the_plain_path_says_which_scheme_to_take():
    said = (
        r"String with DiscreteHamel takes the plain path with \d+ coordinates.*Give scheme=dh.fields.TridiagonalTension"
    )
    with pytest.warns(dh.SlowPath, match=said):
        run = dh.simulate(STRING, **RUN)
    assert run.report.path == "plain"


def test_by_its_own_scheme_it_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dh.simulate(STRING, **RUN, scheme=dh.fields.TridiagonalTension())


def test_nor_where_the_plain_path_was_asked_for_or_coordinates_are_few():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dh.simulate(STRING, **RUN, compiled=False)
        dh.simulate(dh.fields.String(points=4), **dh.fields.String(points=4).sample(), steps=2)


@pytest.mark.parametrize("system", [dh.fields.Beam(points=8), dh.fields.SphereField(points=8)], ids=repr)
def test_beams_and_wave_maps_are_compiled_and_the_same_by_either_scheme(system):
    run = {name: value for name, value in system.sample().items() if name in ("q", "xi", "h")} | {"steps": 20}
    one, own = dh.simulate(system, **run), dh.simulate(system, **run, scheme=dh.fields.NeighbourHamel())
    assert one.report.path == "compiled"
    assert own.report.path == "plain"
    assert np.max(np.abs(one.q - own.q)) < 1e-11 * np.max(np.abs(own.q))
