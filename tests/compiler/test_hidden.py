"""A literal 0 times what overflows is no number, compiled or not; what a literal 0 multiplies has no node."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.paths import compiled_for
from discrete_hamel.compiler.simplifying import hidden
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.validation import initial_data

SECOND = jnp.array([0.0, 1.0])


def kinetic(q, v):
    return 0.5 * v @ v


def overflows(q, v):  # at q = 1.77
    return jnp.exp(400 * q)


FORCES = {
    "a product": lambda q, v: 0.0 * overflows(q, v),
    "a matrix": lambda q, v: jnp.diag(SECOND) @ jnp.stack([overflows(q, v)[0], -q[1]]),
    "a difference with itself": lambda q, v: overflows(q, v) - overflows(q, v),
    "a product of all": lambda q, v: jnp.stack([jnp.prod(jnp.stack([overflows(q, v)[0], q[1], 0.0])), 0.0]),
    "a root of the negative": lambda q, v: 0.0 * jnp.sqrt(1.77 - q),
    "0 / 0": lambda q, v: 0.0 / jnp.maximum(1.77 - q, 0.0),
}
SYSTEMS = {name: dh.from_velocities(kinetic, lambda q: jnp.eye(2), 2, force=force) for name, force in FORCES.items()}
SYSTEMS["a potential"] = dh.from_velocities(
    lambda q, v: kinetic(q, v) - 0.0 * overflows(q, v)[0], lambda q: jnp.eye(2), 2
)
DATA = {"q": np.array([0.1, 0.2]), "xi": np.array([1.0, 0.5]), "h": 0.05, "steps": 50}


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_overflows_behind_a_zero_ends_the_run(name):
    """On both paths at the same step, with the same numbers before."""
    runs = [dh.simulate(SYSTEMS[name], **DATA, compiled=compiled, on_failure="mark") for compiled in (True, False)]
    good = [int(np.sum(run.report.converged)) for run in runs]
    assert 30 < good[0] == good[1] < 40
    assert np.isnan(runs[0].q[-1]).all()
    assert np.abs(runs[0].q - runs[1].q)[: good[0] + 1].max() < 1e-13


def test_so_it_does_by_stages():
    data = {**DATA, "scheme": dh.Gauss(stages=2), "on_failure": "mark"}
    runs = [dh.simulate(SYSTEMS["a product"], **data, compiled=compiled) for compiled in (True, False)]
    good = [int(np.sum(run.report.converged)) for run in runs]
    assert 30 < good[0] == good[1] < 40


def test_so_it_does_under_jit_and_in_lanes():
    system = SYSTEMS["a product"]

    def run(q):
        return dh.simulate(system, **{**DATA, "q": q})

    assert 30 < int(np.sum(jax.jit(run)(jnp.asarray(DATA["q"])).report.converged)) < 40
    lanes = dh.ensemble(system, **{**DATA, "q": np.stack([DATA["q"], [-5.0, -5.0]])}, progress=False)
    assert not np.isfinite(lanes.isel(member=0).q[-1]).all()
    assert np.isfinite(lanes.isel(member=1).q[-1]).all()


def test_a_start_is_refused_however_often_it_is_tried():
    """From its third call on what a start is checked for is a list of operations on numbers."""
    for _ in range(5):
        initial_data(SYSTEMS["a product"], [0.1, 0.2], [1.0, 0.5], None)
        with pytest.raises(ValueError, match="not finite at the initial data"):
            initial_data(SYSTEMS["a product"], [3.0, 0.2], [1.0, 0.5], None)


def test_what_is_finite_for_sure_has_no_guard():
    graph = Graph()
    x, y = (graph.input(name, 0.5) for name in "xy")
    one, square = graph.const(1.0), graph.mul(x, x)
    sure = [
        graph.power(x, 9), graph.unary("sqrt", graph.add(square, graph.mul(y, y))), graph.unary("sin", y),
        graph.div(y, graph.add(one, square)), graph.unary("exp", graph.unary("tanh", x)),
        graph.div(one, graph.add(graph.power(graph.unary("sin", x), 2), graph.power(graph.unary("cos", x), 2))),
    ]  # fmt: skip
    unsure = [
        graph.power(x, 12), graph.unary("sqrt", graph.sub(square, one)), graph.unary("tan", y),
        graph.div(y, graph.sub(one, square)), graph.unary("exp", x), graph.unary("log", square),
    ]  # fmt: skip
    for node in sure:
        graph.hidden = {node}
        assert not hidden.finiteness(graph, []), graph.nodes[node]
    for node in unsure:
        graph.hidden = {node}
        assert len(hidden.finiteness(graph, [])) == 1, graph.nodes[node]
        assert not hidden.finiteness(graph, [graph.mul(graph.add(y, node), x)]), graph.nodes[node]  # seen there


def test_finite_systems_stay_as_fast():
    """The frame of the rolling disk has zeros that multiply sines: nothing is watched."""
    system = dh.systems.RollingDisk()
    sample = system.sample()
    run = dh.simulate(system, **sample, steps=3)
    assert (run.report.path, run.report.plain_steps) == ("compiled", 0)
    ready, q, xi = checks.initial_data(system, sample["q"], sample["xi"], None)
    canonical = checks.canonical(ready), checks.canonical(dh.DiscreteHamel()), q, xi, jnp.asarray(sample["h"])
    assert not compiled_for(*canonical)[0].stepper.guards
