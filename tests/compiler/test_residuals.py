"""What is left of the user's own equations decides that a step has converged, on every path."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.step import rounding
from discrete_hamel.mechanics.newton import newton

START = {"q": [0.1, 0.2], "xi": [1.0, -0.5], "h": 0.1, "steps": 12}  # before a sign changes


@jax.custom_jvp
def damped(v):
    return -0.7 * v


@damped.defjvp
def _nothing(primals, tangents):
    return damped(*primals), 0 * tangents[0]


FORCES = {
    "stopped": lambda q, v: -0.7 * jax.lax.stop_gradient(v),
    "coulomb": lambda q, v: -0.3 * jnp.sign(v),
    "compared": lambda q, v: jnp.where(v > 0, -0.3, 0.3) * jnp.ones_like(v),
    "its own rule": lambda q, v: damped(v),
}


def point(force, n=2):
    return dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(n), n, force=force)


def rows(traj):
    """The residual of the midpoint rule with unit mass, p1 - p0 = h F, from what is recorded."""
    force = jax.vmap(traj.system.force)
    return np.diff(traj.p, axis=0) - float(traj.h) * np.asarray(force((traj.q[1:] + traj.q[:-1]) / 2, traj.xi_mid))


@pytest.mark.parametrize("name", FORCES)
@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), dh.Gauss(stages=3)], ids=["hamel", "gauss"])
def test_forces_whose_derivatives_say_nothing(name, scheme):
    system = point(FORCES[name])
    run = lambda s: dh.simulate(s, **START, scheme=scheme)  # noqa: E731
    plain = dh.simulate(system, **START, scheme=scheme, compiled=False)
    for traj in (run(system), jax.jit(run)(system)):
        assert np.all(traj.report.converged)
        assert np.max(traj.report.residual) < 1e-14
        assert np.abs(traj.q - plain.q).max() < 1e-13


def test_momenta_of_a_midpoint_rule_with_a_stopped_gradient():
    assert np.abs(rows(dh.simulate(point(FORCES["stopped"]), **START))).max() < 1e-15


def test_lanes_with_a_stopped_gradient():
    system = point(FORCES["stopped"])
    starts = jnp.array([[1.0, -0.5], [0.3, 0.2], [-2.0, 1.0]])
    data = {name: START[name] for name in ("h", "steps")}
    found = dh.ensemble(system, jnp.tile(jnp.array([[0.1, 0.2]]), (3, 1)), starts, **data)
    for k, xi in enumerate(starts):
        plain = dh.simulate(system, START["q"], xi, **data, compiled=False)
        assert np.abs(found.q[k][-1] - plain.q[-1]).max() < 1e-13


def test_newton_that_is_told_a_wrong_slope_has_not_converged():
    """1.9 z = 1 with the slope of 1e12 z: corrections are small, and the residual is not."""

    @jax.custom_jvp
    def much(z):
        return 1.9 * z

    much.defjvp(lambda primals, tangents: (much(*primals), 1e12 * tangents[0]))
    _, report = newton(lambda z: much(z) - 1.0, jnp.array([0.5]))
    assert not report.converged
    assert report.residual > 1e-3


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4))
def test_terms_bound_a_residual_and_its_rounding(numbers):
    """|a - b + c (d - a)| <= |a| + |b| + |c| (|d| + |a|), and float32's error is so many roundings of it at most."""
    graph = Graph()
    a, b, c, d = (graph.input(name, x) for name, x in zip("abcd", numbers, strict=True))
    row = graph.add(graph.sub(a, b), graph.mul(c, graph.sub(d, a)))
    size = graph.samples[rounding.terms(graph, row)]
    assert abs(graph.samples[row]) <= size * (1 + 1e-15)
    x, y, z, w = (np.float32(number) for number in numbers)
    exact = float(x) - float(y) + float(z) * (float(w) - float(x))
    assert abs(float((x - y) + z * (w - x)) - exact) <= 4 * np.finfo(np.float32).eps * (
        abs(float(x)) + abs(float(y)) + abs(float(z)) * (abs(float(w)) + abs(float(x))) + 1e-30
    )
