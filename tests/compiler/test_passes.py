"""Between the passes of the compiler: the graph stays sound, and what a pass hands on is worth what it was given."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.step import roots, stepper
from discrete_hamel.compiler.step.verification import NUMBERS, evaluated
from discrete_hamel.runs import validation as checks

SYSTEMS = (dh.systems.RollingDisk, dh.systems.Snakeboard, dh.systems.ChaplyginSleigh)


def unsound(graph):
    """What is wrong with a graph: operands come first, equal nodes are one, samples are those of the operations."""
    if len(set(graph.nodes)) != len(graph.nodes):
        return "two nodes are equal"
    for index, (name, *_) in enumerate(graph.nodes):
        operands = graph.operands(index)
        if any(a >= index for a in operands):
            return f"node {index} comes before its operands"
        if operands:
            with np.errstate(all="ignore"):
                value = float(NUMBERS[name](*(np.float64(graph.samples[a]) for a in operands)))
            if not np.isclose(value, graph.samples[index], rtol=1e-14, equal_nan=True):
                return f"the sample of node {index} is {graph.samples[index]}, where {name} gives {value}"
    return ""


def elsewhere(graph, outputs):
    """Their values where no sample has been: numbers that only round-off keeps from those before a pass."""
    random = np.random.default_rng(0)
    inputs = [i for i, node in enumerate(graph.nodes) if node[0] == "input"]
    given = {i: graph.samples[i] * (1 + 0.01 * random.standard_normal()) for i in inputs}
    return evaluated(graph, outputs, given)


def watched(name, transform, seen, graph, outputs, *rest):
    made = transform(graph, outputs, *rest)
    assert not unsound(graph), name
    before, after = elsewhere(graph, outputs), elsewhere(graph, made)
    np.testing.assert_allclose(
        after, before, rtol=1e-10, atol=1e-12 * np.max(np.abs(before), initial=1.0), err_msg=name
    )
    seen.add(name)
    return made


def build(cls):
    system = checks.canonical(cls())
    sample = system.sample()
    system, q, xi = checks.initial_data(system, sample["q"], sample["xi"], None)
    scheme, h = checks.canonical(dh.DiscreteHamel()), jnp.asarray(sample.get("h", 0.01))
    return stepper.Stepper(system, scheme, scheme.start(system, q, xi, h), h)


@pytest.mark.parametrize("cls", SYSTEMS)
def test_passes_keep_graphs_sound_and_values(cls, monkeypatch):
    seen = set()
    for module, name in ((stepper, "without_idle_angles"), (stepper, "regrouped"), (roots, "regrouped")):
        monkeypatch.setattr(module, name, partial(watched, name, getattr(module, name), seen))
    made = build(cls)
    assert seen == {"without_idle_angles", "regrouped"}
    assert not unsound(made.graph)
    assert "mul" in repr(made.graph)


def test_a_pass_that_changes_a_value_is_seen(monkeypatch):
    wrong = lambda graph, outputs, *_: [graph.mul(graph.const(1.001), o) for o in outputs]  # noqa: E731
    monkeypatch.setattr(stepper, "regrouped", partial(watched, "wrong", wrong, set()))
    with pytest.raises(AssertionError, match="wrong"):
        build(dh.systems.ChaplyginSleigh)


def test_an_unsound_graph_is_seen():
    graph = Graph()
    node = graph.add(graph.input("x", 1.0), graph.input("y", 2.0))
    assert not unsound(graph)
    graph.samples[node] = 4.0
    assert "sample" in unsound(graph)
