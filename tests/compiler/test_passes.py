"""Between the passes of the compiler: the graph stays sound, and what a pass hands on is worth what it was given."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.step.program import PASSES, Program, run_passes
from discrete_hamel.compiler.step.verification import NUMBERS, values_of
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
    return values_of(graph, outputs, given)


class Verifier:
    """Looks at a program between its passes: what is wrong with its graph, and whether what it computes has moved."""

    def __init__(self):
        self.seen, self.rows, self.made = [], None, None

    def __call__(self, name, program):
        assert not unsound(program.graph), name
        self.rows = self.same(name, self.rows, elsewhere(program.graph, program.rows))
        after = [*program.after, *program.xi] if hasattr(program, "after") else program.made
        self.made = self.same(name, self.made, elsewhere(program.graph, after))
        self.seen.append(name)

    def same(self, name, before, after):
        if before is not None:
            scale = np.max(np.abs(before), initial=1.0)
            np.testing.assert_allclose(after, before, rtol=1e-10, atol=1e-12 * scale, err_msg=name)
        return after


def build(cls, passes=PASSES, look=None):
    system = checks.canonical(cls())
    sample = system.sample()
    system, q, xi = checks.initial_data(system, sample["q"], sample["xi"], None)
    scheme, h = checks.canonical(dh.DiscreteHamel()), jnp.asarray(sample.get("h", 0.01))
    return run_passes(Program(system, scheme, scheme.start(system, q, xi, h), h), passes, look)


@pytest.mark.parametrize("cls", SYSTEMS)
def test_passes_keep_graphs_sound_and_values(cls):
    verifier = Verifier()
    made = build(cls, look=verifier)
    assert verifier.seen == [one.name for one in made.done] == [one.__name__.replace("_", " ") for one in PASSES]
    sizes = [one.nodes for one in made.done]
    assert sizes == sorted(sizes)  # nodes are only added
    assert sizes[-1] == len(made.graph.nodes)
    assert "mul" in repr(made.graph)


@pytest.mark.parametrize("place", [1, 6], ids=["rows", "outputs"])
def test_a_pass_that_changes_a_value_is_seen(place):
    def wrong(program):
        for outputs in (program.rows, getattr(program, "after", [])):
            outputs[:] = [program.graph.mul(program.graph.const(1.001), o) for o in outputs]
        return ""

    with pytest.raises(AssertionError, match="wrong"):
        build(dh.systems.ChaplyginSleigh, [*PASSES[:place], wrong], Verifier())


def test_what_explain_prints_are_the_passes_that_were_run():
    found = dh.explain(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3])
    names = [one.__name__.replace("_", " ") for one in PASSES]
    assert [name for name, *_ in found.passes] == [*names, "emit", "verify steps"]
    assert "unknowns left" in repr(found)


def test_an_unsound_graph_is_seen():
    graph = Graph()
    node = graph.add(graph.input("x", 1.0), graph.input("y", 2.0))
    assert not unsound(graph)
    graph.samples[node] = 4.0
    assert "sample" in unsound(graph)
