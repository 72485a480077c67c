"""Matrices of parameters times vectors as loops: the numbers of what is written out, and of NumPy."""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.matrix_products import find_products
from discrete_hamel.compiler.native.instructions import Code, Kind
from discrete_hamel.compiler.native.matrix_products import Layout, layout
from discrete_hamel.compiler.native.module import module
from discrete_hamel.compiler.native.object_code import available, fused, machine_code
from discrete_hamel.compiler.native.section import LONGEST, Memory, Section
from discrete_hamel.compiler.reading.jaxprs import to_graph

pytestmark = pytest.mark.skipif(bool(available()), reason=available())
GAMMA, XI = (0.3, 0.2, -(0.87**0.5)), (0.6, 0.0)


def inputs(graph, name, values):
    return np.array([graph.input((name, k), v) for k, v in enumerate(values.ravel())], object).reshape(values.shape)


def evaluated(graph, given, outputs, steady):
    """The outputs by one section, and the section."""
    memory, kind = Memory(), Kind(fused())
    for node in given:
        memory.place(graph, node)
    section = Section("body", graph, outputs, given, memory, kind, steady)
    prepare = Section("prepare", graph, [], [], memory, kind)
    prepare.lay_out(memory.matrices)
    code = Code(kind)
    for k, node in enumerate(given):
        code.store(code.load("%numbers", k), "%memory", memory.place(graph, node))
    prepare.call(code)
    section.call(code)
    for k, node in enumerate(outputs):
        code.store(code.load("%memory", memory.place(graph, node)), "%found", k)
    library = machine_code(*module(code, memory, [prepare, section], ["numbers", "found"]))
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(library.address("run"))
    numbers, found = np.array([graph.samples[i] for i in given]), np.zeros(len(outputs))
    run(numbers.ctypes.data, found.ctypes.data)
    return found, section


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (9, 37), (65, 8), (130, 5), (8, 40), (200, 3), (7, 80)])
def test_products_are_numpys(rows, columns):
    """Also where rows do not fill vectors or blocks; fewer than eight rows are written out."""
    rng, graph = np.random.default_rng(rows), Graph()
    matrix, x, shift = rng.normal(size=(rows, columns)), rng.normal(size=columns), rng.normal(size=rows)
    nodes = [inputs(graph, name, a) for name, a in (("a", matrix), ("x", x), ("b", shift))]
    (made,) = to_graph(graph, lambda a, x, b: jnp.tanh(a @ jnp.sin(x) + b) + (a @ jnp.cos(x)), *nodes)
    given = [i for a in nodes for i in a.ravel()]
    found, section = evaluated(graph, given, list(made), {*nodes[0].ravel(), *nodes[2]})
    assert len(section.products) == (2 if rows >= 8 else 0)
    expected = np.tanh(matrix @ np.sin(x) + shift) + matrix @ np.cos(x)
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_what_else_uses_a_sum_or_a_product_is_written_out():
    rng, graph = np.random.default_rng(0), Graph()
    a, x = (inputs(graph, name, rng.normal(size=size)) for name, size in (("a", (32, 16)), ("x", 16)))
    (made,) = to_graph(graph, lambda a, x: jnp.append(a @ x, a[3, 2] * x[2]), a, x)
    (found,) = find_products(graph, graph.dependencies(made), made, {*a.ravel()})
    assert len(found.rows) == 31
    assert made[3] not in found.rows
    results, section = evaluated(graph, [*a.ravel(), *x], list(made), {*a.ravel()})
    assert len(section.products) == 0  # its rows no longer follow each other evenly
    values = np.vectorize(lambda i: graph.samples[i])
    assert np.allclose(results[:-1], values(a) @ values(x), rtol=1e-13)


def test_places_that_are_not_even_are_no_layout():
    assert layout([[0, 1, 2], [10, 11, 12]], lambda k: k) == Layout(0, 10, 1, 2, 3)
    assert layout([[0, 10], [1, 11], [2, 12]], lambda k: k) == Layout(0, 1, 10, 3, 2)
    assert layout([[0, 1, 2], [10, 11, 13]], lambda k: k) is None


def test_a_short_section_stays_in_registers():
    rng, graph = np.random.default_rng(0), Graph()
    a, x = (inputs(graph, name, rng.normal(size=size)) for name, size in (("a", (8, 8)), ("x", 8)))
    (made,) = to_graph(graph, lambda a, x: a @ x, a, x)
    results, section = evaluated(graph, [*a.ravel(), *x], list(made), {*a.ravel()})
    assert section.operations < LONGEST
    assert not section.products


def layers(width):
    rng, sizes = np.random.default_rng(0), (5, width, width, 2)
    return tuple(
        (jnp.asarray(rng.normal(size=(b, a)) / np.sqrt(a)), jnp.asarray(0.1 * rng.normal(size=b)))
        for a, b in zip(sizes[:-1], sizes[1:], strict=True)
    )


def friction(q, xi, weights):
    x = jnp.concatenate([q, xi[:2]])
    for matrix, shift in weights[:-1]:
        x = jnp.tanh(matrix @ x + shift)
    return jnp.append(-0.1 * xi[:2] + 0.01 * (weights[-1][0] @ x + weights[-1][1]), 0.0)


@pytest.mark.parametrize("width", [19, 24])
def test_a_network_as_friction_is_that_of_the_plain_path(width):
    def run(weights, compiled):
        system = dh.forced(dh.systems.SphericalPendulum(), friction, params=weights)
        return dh.simulate(system, GAMMA, XI, h=0.05, steps=40, compiled=compiled)

    weights = layers(width)
    found, expected = (run(weights, compiled) for compiled in (True, False))
    assert found.report.path == "compiled"
    for name in ("q", "p", "xi", "xi_mid"):
        a, b = getattr(found, name), getattr(expected, name)
        assert abs(a - b).max() < 1e-13 * abs(b).max()
    other = jax.tree.map(lambda a: 1.1 * a, weights)  # laid out anew in each run
    assert abs(run(other, True).q - run(other, False).q).max() < 1e-13
    staged = jax.jit(lambda weights: run(weights, True).q[-1])
    assert abs(staged(weights) - found.q[-1]).max() < 1e-13
    assert abs(staged(other) - run(other, False).q[-1]).max() < 1e-13


def test_the_gradient_by_weights_is_that_of_differences_and_of_the_plain_path():
    """Of 500 weights and more, which are copied in a loop; the cotangents go by the matrices' columns."""

    def last(weights, compiled=True):
        system = dh.forced(dh.systems.SphericalPendulum(), friction, params=weights)
        return dh.simulate(system, GAMMA, XI, h=0.05, steps=20, compiled=compiled).q[-1] @ jnp.arange(1.0, 4.0)

    weights = layers(21)
    found, expected = jax.jit(jax.grad(last))(weights), jax.jit(jax.grad(lambda w: last(w, False)))(weights)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert abs(a - b).max() < 1e-12 * abs(b).max()
    along = jax.tree.map(lambda a: jnp.cos(jnp.arange(a.size, dtype=float)).reshape(a.shape), weights)
    by_gradient = sum(jnp.vdot(a, b) for a, b in zip(*map(jax.tree.leaves, (found, along)), strict=True))
    # Of order four: the values are round 3, so that with 1e-5 and two values round-off alone is 1e-7 of the slope.
    values = [last(jax.tree.map(lambda a, b, e=e: a + e * b, weights, along)) for e in (-2e-3, -1e-3, 1e-3, 2e-3)]
    by_differences = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / 12e-3
    assert abs(by_differences - by_gradient) < 1e-7 * abs(by_gradient)
    _, moved = jax.jit(lambda w, d: jax.jvp(last, (w,), (d,)))(weights, along)
    assert abs(moved - by_gradient) < 1e-11 * abs(by_gradient)
