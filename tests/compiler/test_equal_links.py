"""What is the same for each link, found in the graph, and evaluated eight links at a time."""

import ctypes

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from discrete_hamel.compiler.graph.equal_links import LEAST, EqualLinks, Group
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.native import section as sections
from discrete_hamel.compiler.native.equal_links import LANES, loop_over_links
from discrete_hamel.compiler.native.instructions import Code, Kind
from discrete_hamel.compiler.native.module import module
from discrete_hamel.compiler.native.object_code import available, fused, machine_code
from discrete_hamel.compiler.native.section import Memory, Section
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.step.verification import values_of

pytestmark = pytest.mark.skipif(bool(available()), reason=available())


def inputs(graph, name, values):
    return np.array([graph.input((name, k), v) for k, v in enumerate(values)], object)


def chain(x, y, a, picked, table):
    """Arrays over links: neighbours, backwards, one number for all, sums along the chain, comparisons, angles; what
    is given in a table, and what follows no order."""
    heading = jnp.cumsum(x)
    speed = a * jnp.cos(heading) - y * jnp.sin(heading)
    behind = jnp.cumsum((speed * y)[::-1])[::-1]
    tension = speed[1:] * y[:-1] - jnp.where(x[1:] > y[:-1], x[1:], a * behind[:-1])
    planar = jnp.cumsum((jnp.concatenate([x, y]) * a).reshape(-1, 2), 0)  # two sums side by side
    mirrored = speed[::-1] * jnp.tanh(y)
    going = jnp.array(0.0)
    pairs = [going := going * a + y[k] * x[k] for k in range(len(x))]  # link by link
    turned = jnp.stack(pairs) * behind[picked] + jnp.sqrt(jnp.abs(x[::-1] / (2.0 + jnp.cos(y)))) + jnp.maximum(x, a)
    return jnp.concatenate(
        [
            tension,
            turned,
            planar.ravel(),
            mirrored,
            behind * heading,
            table[:, 1] * x + table[::-1, 2],
            jnp.sum(tension)[None],
        ]
    )


def graph_of(links, seed=0):
    rng, graph = np.random.default_rng(seed), Graph()
    picked = rng.integers(links, size=links)
    nodes = [
        inputs(graph, name, rng.normal(size=size)) for name, size in (("x", links), ("y", links), ("a", 3 * links))
    ]
    (made,) = to_graph(graph, lambda x, y, a: chain(x, y, a[0], picked, a.reshape(-1, 3)), *nodes)
    return graph, [i for each in nodes for i in each], list(made)


def evaluated(graph, given, outputs, many=True):
    """The outputs by one section, and the section."""
    memory, kind = Memory(), Kind(fused())
    for node in given:
        memory.place(graph, node)
    section = Section("body", graph, outputs, given, memory, kind, many=many)
    code = Code(kind)
    for k, node in enumerate(given):
        code.store(code.load("%numbers", k), "%memory", memory.place(graph, node))
    section.call(code)
    for k, node in enumerate(outputs):
        code.store(code.load("%memory", memory.place(graph, node)), "%found", k)
    library = machine_code(*module(code, memory, [section], ["numbers", "found"]))
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(library.address("run"))
    numbers, found = np.array([graph.samples[i] for i in given]), np.zeros(len(outputs))
    run(numbers.ctypes.data, found.ctypes.data)
    return found, section


@pytest.mark.parametrize("links", [16, 17, 23, 32, 100])
def test_vectors_are_single_numbers_to_the_bit(links, monkeypatch):
    """And the numbers of the same operations in NumPy."""
    graph, given, outputs = graph_of(links, links)
    found, section = evaluated(graph, given, outputs)
    assert len(section.groups) >= (2 if links > LEAST else 1)
    expected = values_of(graph, outputs, {i: graph.samples[i] for i in given})
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-13)
    singly = lambda *of: loop_over_links(*of, lanes=1)  # noqa: E731
    monkeypatch.setattr(sections, "loop_over_links", singly)
    assert evaluated(graph, given, outputs)[0].tobytes() == found.tobytes()


@drawn(st.integers(1, 40), st.integers(0, 10**6))
def test_what_is_no_chain_is_evaluated_too(links, seed):
    graph, given, outputs = graph_of(links, seed)
    rng = np.random.default_rng(seed)
    outputs = [int(i) for i in rng.permutation(outputs)[: rng.integers(1, len(outputs) + 1)]]
    order = [i for i in graph.dependencies(outputs, given=given) if i not in given and graph.value(i) is None]
    places = (
        {i: k for k, i in enumerate(rng.permutation(given).tolist())} if rng.random() < 0.3 else {i: i for i in given}
    )
    _verify(graph, order, EqualLinks(graph, order, places.get))


def _verify(graph, order, found):
    """Operations and operands of each link, and that each node is evaluated once, behind its operands."""
    for batch in found.batches:
        assert len(batch.nodes) >= LEAST
        assert len({graph.nodes[i][0] for i in batch.nodes}) == 1
        for j, stride in enumerate(batch.strides):
            operands = [graph.operands(i)[j] for i in batch.nodes]
            if stride == 0:
                assert len(set(operands)) == 1
            else:
                rows, indices = zip(*(found.at[a] for a in operands), strict=True)
                assert len(set(rows)) == 1
                assert set(np.diff(indices)) == {stride}
    done = set()
    for part in found.schedule():
        batches = [batch.nodes for batch in part.batches] if isinstance(part, Group) else [[i] for i in part]
        before = set(done)
        for nodes in batches:
            for link, i in enumerate(nodes):
                inside = {a for a in graph.operands(i) if a in set(order) - before}
                assert inside <= done
                if isinstance(part, Group):  # of the same group only what is of the same link
                    assert all(any(len(b) > link and b[link] == a for b in batches) for a in inside)
            done |= set(nodes)
    assert done == set(order)
    assert sum(len(p) if isinstance(p, list) else p.links * len(p.batches) for p in found.schedule()) == len(order)


def test_sums_along_the_chain_are_no_batches():
    graph, given, outputs = graph_of(64)
    order = [i for i in graph.dependencies(outputs, given=given) if i not in given and graph.value(i) is None]
    found = EqualLinks(graph, order, {i: i for i in given}.get)
    sums = 7 * 64  # heading, behind, planar, the last, and a product and a sum of what goes from link to link
    batched = sum(len(batch.nodes) for batch in found.batches)
    assert (
        len(order) - sums - 128 - 20 <= batched <= len(order) - sums + 8
    )  # less hyperbolic tangents, products in no order


def test_rows_lie_side_by_side():
    graph, given, outputs = graph_of(32)
    memory = Memory()
    for node in given:
        memory.place(graph, node)
    section = Section("body", graph, outputs, given, memory, Kind(True), many=True)
    whole = [b.nodes for g in section.groups.values() for b in g.batches if memory.has(graph, b.nodes[0])]
    assert whole
    for nodes in whole:
        assert set(np.diff([memory.place(graph, i) for i in nodes])) == {1}


@pytest.mark.parametrize("angle", [1e6, 1.5e6, -1e9, 1e300, np.inf, np.nan])
def test_angles_beyond_reach_are_the_c_librarys(angle):
    graph = Graph()
    x = inputs(graph, "x", [0.1 * k for k in range(2 * LANES + 3)])
    graph.samples[x[LANES + 1]] = angle
    outputs = [graph.unary(name, i) for name in ("sin", "cos") for i in x]
    found, section = evaluated(graph, [*x], outputs)
    assert section.groups
    with np.errstate(invalid="ignore"):
        values = np.array([graph.samples[i] for i in x])
        expected = np.concatenate([np.sin(values), np.cos(values)])
    assert np.allclose(found, expected, rtol=0, atol=3e-16, equal_nan=True)


def test_what_is_small_is_left_as_it_was():
    graph, given, outputs = graph_of(32)
    assert not evaluated(graph, given, outputs, many=False)[1].groups
