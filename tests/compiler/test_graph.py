"""The scalar graph: what it folds, what it computes, and its derivatives against JAX's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import lower
from discrete_hamel.compiler.graph.operations import BINARY, IN_JAX, UNARY

POINT = (0.3, 0.7, 0.45)  # inside every domain, but that of acosh
ABOVE_ONE = (1.3, 1.7, 2.2)


def inputs(graph, point=POINT):
    return [graph.input(f"x{k}", value) for k, value in enumerate(point)]


def values(graph, outputs, variables, point):
    return [float(v) for v in lower(graph, outputs)(dict(zip(variables, map(jnp.asarray, point), strict=True)))]


def test_products_with_nought_and_one_never_come_to_be():
    g = Graph()
    x, y, _ = inputs(g)
    nought, one = g.const(0.0), g.const(1.0)
    assert g.mul(x, nought) == nought
    assert g.mul(one, x) == g.add(x, nought) == g.sub(x, nought) == g.div(x, one) == x
    assert g.sub(x, x) == nought
    assert g.neg(g.neg(x)) == x
    assert g.add(x, y) == g.add(y, x)
    assert g.mul(g.neg(x), g.neg(y)) == g.mul(x, y)
    assert g.sub(x, y) != g.sub(y, x)
    assert g.select(one, x, y) == x
    assert g.select(nought, x, y) == y


def test_folding_does_not_hide_a_division_by_nought():
    g = Graph()
    (x, *_) = inputs(g)
    pole = g.div(x, g.const(0.0))
    assert g.value(pole) is None
    assert values(g, [pole], [x], [1.0]) == [np.inf]


@pytest.mark.parametrize("name", sorted(UNARY))
def test_every_function_and_its_slope(name):
    point = ABOVE_ONE if name == "acosh" else POINT
    g = Graph()
    x, *_ = inputs(g, point)
    node = g.unary(name, x)
    (row,) = g.derivative([node], [x])
    slope = row.get(0, g.const(0.0))
    expected = IN_JAX[name](point[0]), jax.grad(IN_JAX[name])(point[0])
    assert values(g, [node, slope], [x], point[:1]) == pytest.approx([float(e) for e in expected], rel=1e-14)
    assert g.samples[node] == pytest.approx(float(expected[0]), rel=1e-14)


@pytest.mark.parametrize("name", sorted(BINARY))
@pytest.mark.parametrize("point", [(0.3, 0.7), (0.7, 0.3)])
def test_every_function_of_two_and_its_slopes(name, point):
    g = Graph()
    x, y, *_ = inputs(g, (*point, 0.0))
    node = g.binary(name, x, y)
    (row,) = g.derivative([node], [x, y])
    slopes = [row.get(k, g.const(0.0)) for k in range(2)]
    expected = [IN_JAX[name](*map(jnp.asarray, point)), *jax.grad(IN_JAX[name], (0, 1))(*point)]
    assert values(g, [node, *slopes], [x, y], point) == pytest.approx([float(e) for e in expected], rel=1e-14)


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 7])
def test_whole_powers(exponent):
    g = Graph()
    x, *_ = inputs(g)
    assert values(g, [g.power(x, exponent)], [x], [1.7]) == pytest.approx([1.7**exponent], rel=1e-14)


OPERATIONS = ("add", "sub", "mul", "div", "sin", "exp", "neg", "select", "atan2")


@st.composite
def expressions(draw):
    """A list of steps, each an operation on earlier results; folding meets numbers 0, 1, -1 often."""
    return draw(
        st.lists(
            st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50)),
            min_size=1,
            max_size=12,
        )
    )


NUMBERS = (0.0, 1.0, -1.0, 2.0)


def followed(steps, variables, numbers, apply):
    results = [*variables, *numbers]
    for name, *places in steps:
        arity = {"select": 3, "neg": 1, "sin": 1, "exp": 1}.get(name, 2)
        results.append(apply(name, *(results[k % len(results)] for k in places[:arity])))
    return results[-1]


def in_jax(name, *a):
    return IN_JAX[name](*a)


@settings(deadline=None, max_examples=60)
@given(expressions(), st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_any_expression_and_its_derivatives_are_those_of_jax(steps, point):
    g = Graph()
    variables = inputs(g)
    node = followed(steps, variables, [g.const(n) for n in NUMBERS], g.apply)
    (row,) = g.derivative([node], variables)
    outputs = [node, *(row.get(k, g.const(0.0)) for k in range(3))]

    def function(x):
        return followed(steps, list(x), [jnp.asarray(n) for n in NUMBERS], in_jax)

    with jax.disable_jit():
        x = jnp.array(point)
        expected = np.array([function(x), *jax.jacfwd(function)(x)])
        found = np.array(values(g, outputs, variables, point))
    usable = np.isfinite(expected)  # 0 * inf is NaN in floating point, and 0 in the graph
    if usable.all() and np.abs(expected).max() < 1e8:
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_substitution_folds_anew():
    g = Graph()
    x, y, z = inputs(g)
    node = g.add(g.mul(x, y), g.unary("sin", z))
    assert g.substitute([node], {x: g.const(0.0)}) == [g.unary("sin", z)]
    assert g.substitute([node], {y: z, z: y}) == [g.add(g.mul(x, z), g.unary("sin", y))]
