"""Sines at the root from those next to it: as accurate as the library's, and refused where they would not be."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.native.host import HostRun
from discrete_hamel.compiler.step import near_angles
from discrete_hamel.compiler.step.near_angles import Angle, near, turn
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.compiler.step.verification import values_of
from paper_figures.speeds import start

BOUND = 2.3e-16  # one unit in the last place of 1
LIMIT = near(jnp.float64)


def from_next_to(angle, distance):
    """sin and cos of angle + distance from those of the angle, whether they are trusted, and angle + distance."""
    graph = Graph()
    here, *seen = (graph.input(name, angle) for name in ("here", "angle", "sine", "cosine"))
    nodes = Angle(tuple(seen), (here, graph.unary("sin", here), graph.unary("cos", here)))
    outputs, positive = turn(graph, list(nodes.here[1:]), [nodes], dict(zip(seen, seen, strict=True)))
    at = angle + distance
    sine, cosine, within = values_of(
        graph, [*outputs, *positive], dict(zip([here, *seen], [at, angle, np.sin(angle), np.cos(angle)], strict=True))
    )
    return sine, cosine, within > 0, at


@given(st.floats(-1e4, 1e4), st.floats(-0.99 * LIMIT, 0.99 * LIMIT))
def test_sines_next_to_known_ones_are_the_librarys(angle, distance):
    sine, cosine, trusted, at = from_next_to(angle, distance)
    assert trusted
    assert max(abs(sine - np.sin(at)), abs(cosine - np.cos(at))) <= BOUND


@pytest.mark.parametrize("distance", [1.01 * LIMIT, -1e-2, 1.0, np.nan])
def test_sines_farther_away_are_not_trusted(distance):
    assert not from_next_to(0.7, distance)[2]


DISK = start(dh.systems.RollingDisk(), dh.DiscreteHamel(), (0.3, 0.1, 0.0, 0.0, 0.0), (0.1, 0.6, -2.0), 0.01)


def test_which_angles_are_known_from_the_iteration():
    assert len(Stepper(*DISK).angles) == 1  # the lean; the heading is in no equation of motion
    pendulum = start(dh.systems.SphericalPendulum(), dh.DiscreteHamel(), (0.6, 0.0, -0.8), (0.6, 0.1), 0.01)
    assert Stepper(*pendulum).angles == []


@pytest.mark.parametrize(("limit", "done"), [(LIMIT, 20), (0.0, 0)])
def test_a_step_that_ends_too_far_off_is_left_to_the_plain_path(monkeypatch, limit, done):
    monkeypatch.setattr(near_angles, "near", lambda dtype: limit)
    _, whole, good, _ = HostRun(Stepper(*DISK))(*DISK, 20, 1)
    assert (whole, good) == (done, done == 20)


@pytest.mark.parametrize(
    "scheme", [dh.DiscreteHamel(), dh.Composed(dh.DiscreteHamel(), order=4)], ids=["step", "composed"]
)
def test_angles_beyond_the_reach_of_polynomials(scheme):
    """Sines are polynomials up to 10^6; from there on they are the library's."""
    turns = 2 * np.pi * 2e5
    q, xi = (0.3 + turns, 0.1, 0.0, 0.0, 0.0), (0.1, 0.6, -2.0)
    run = dh.simulate(dh.systems.RollingDisk(), q, xi, h=0.01, steps=30, scheme=scheme)
    plain = dh.simulate(dh.systems.RollingDisk(), q, xi, h=0.01, steps=30, scheme=scheme, compiled=False)
    assert run.report.path == "compiled"
    assert np.abs(run.xi - plain.xi).max() < 1e-13 * turns  # what one rounding of the angle does to its sine
