"""A slow path is not silent: fields by DiscreteHamel() say which scheme to take, and by that scheme say nothing."""

import warnings

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
