"""Idle angles and regrouped products: the same numbers, for fewer operations."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import cycles, dependent, lower
from discrete_hamel.compiler.simplifying.angle_identities import idle, without_idle_angles
from discrete_hamel.compiler.simplifying.regrouping import regroup_products

POINT = (0.3, 0.7, 0.45, 1.2)


def inputs(graph, point=POINT):
    return [graph.input(f"x{k}", value) for k, value in enumerate(point)]


def values(graph, outputs, variables, point):
    known = dict(zip(variables, map(jnp.asarray, point), strict=True))
    return np.array([float(v) for v in lower(graph, outputs)(known)])


def turned(g, angle, a, b):
    """R(angle)^T R(angle) (a, b), which is (a, b)."""
    s, c = g.unary("sin", angle), g.unary("cos", angle)
    x, y = g.sub(g.mul(c, a), g.mul(s, b)), g.add(g.mul(s, a), g.mul(c, b))
    return g.add(g.mul(c, x), g.mul(s, y)), g.sub(g.mul(c, y), g.mul(s, x))


def test_an_angle_that_cancels_is_gone():
    g = Graph()
    angle, a, b, _ = inputs(g)
    assert without_idle_angles(g, list(turned(g, angle, a, b))) == [a, b]


def test_it_cancels_out_of_what_is_divided_by():
    g = Graph()
    angle, a, b, _ = inputs(g)
    s, c = g.unary("sin", angle), g.unary("cos", angle)
    determinant = g.add(g.mul(s, s), g.mul(c, c))
    whole, _ = turned(g, angle, g.div(a, determinant), b)
    (simple,) = without_idle_angles(g, [whole])
    assert angle not in g.dependencies([simple])
    assert values(g, [simple], inputs(g), POINT) == pytest.approx([POINT[1]], rel=1e-15)


def test_an_angle_that_matters_stays():
    g = Graph()
    angle, a, b, _ = inputs(g)
    s, c = g.unary("sin", angle), g.unary("cos", angle)
    for kept in (
        g.sub(g.mul(c, c), g.mul(s, s)),  # cos 2x
        g.add(g.mul(a, g.mul(s, s)), g.mul(b, g.mul(c, c))),
        g.add(g.mul(s, s), g.mul(g.mul(c, c), g.mul(c, c))),  # 1 - s^2 c^2
        g.add(g.unary("exp", s), g.mul(c, c)),  # no polynomial in s
        g.mul(s, c),
    ):
        assert not idle(g, kept, s, c)
        assert without_idle_angles(g, [kept]) == [kept]


def test_what_a_sum_rounds_off_stays_as_it_is():
    """It is nothing to algebra, which could put any angle to 0 in it."""
    g = Graph()
    angle, a, b, _ = inputs(g)
    s, c = g.unary("sin", angle), g.unary("cos", angle)
    x = g.mul(g.mul(g.mul(a, c), c), s)
    rounded_off = g.sub(g.sub(g.add(x, b), x), b)
    assert idle(g, rounded_off, s, c)
    assert without_idle_angles(g, [rounded_off]) == [rounded_off]


def test_an_angle_stays_at_which_what_cancels_would_be_infinite():
    """(a cos / sin) b - (b cos / sin) a, rounded in its own way, has no value at angle 0."""
    g = Graph()
    angle, a, b, _ = inputs(g)
    s, c = g.unary("sin", angle), g.unary("cos", angle)
    over = g.mul(g.div(g.const(1.0), s), c)
    nothing = g.sub(g.mul(g.mul(over, a), b), g.mul(g.mul(over, b), a))
    assert idle(g, nothing, s, c)
    assert without_idle_angles(g, [nothing]) == [nothing]


def test_slow_factors_are_multiplied_before_fast_ones():
    g = Graph()
    mass, length, position, unknown = inputs(g)
    before = g.mul(g.mul(unknown, mass), g.mul(position, length))
    (after,) = regroup_products(g, [before], [[mass, length], [position], [unknown]])
    assert after == g.mul(g.mul(g.mul(mass, length), position), unknown)
    assert len(dependent(g, [after], [unknown])) < len(dependent(g, [before], [unknown]))
    assert cycles(g, [after], [unknown]) < cycles(g, [before], [unknown])


def test_common_slow_factors_go_in_front_of_a_sum():
    g = Graph()
    mass, _, x, y = inputs(g)
    (after,) = regroup_products(g, [g.sub(g.mul(mass, x), g.mul(y, mass))], [[mass], [], [x, y]])
    assert after == g.mul(mass, g.sub(x, y))


def test_one_division_serves_all_that_divide_by_the_same():
    g = Graph()
    a, b, x, _ = inputs(g)
    outputs = regroup_products(g, [g.div(a, x), g.div(b, x)], [[a, b], [], [x]])
    assert sum(g.nodes[i][0] == "div" for i in g.dependencies(outputs)) == 1


@st.composite
def expressions(draw, depth=4):
    """A graph and an expression of four inputs in it."""
    graph = Graph()
    made = [*inputs(graph), graph.const(2.0), graph.const(-0.5)]
    for _ in range(draw(st.integers(3, 25))):
        operation = draw(st.sampled_from(["add", "sub", "mul", "mul", "neg", "div", "sin", "cos"]))
        a, b = draw(st.sampled_from(made)), draw(st.sampled_from(made))
        if operation == "div":
            made.append(graph.div(a, graph.add(graph.const(3.0), graph.mul(b, b))))
        else:
            made.append(graph.apply(operation, *((a,) if operation in ("neg", "sin", "cos") else (a, b))))
    return graph, made[-3:], made[:4]


@settings(deadline=None, max_examples=100)
@given(expressions(), st.permutations([0, 1, 2, 2]), st.lists(st.floats(-1.5, 1.5), min_size=4, max_size=4))
def test_the_numbers_stay_the_same(expression, levels, point):
    graph, outputs, variables = expression
    groups = [[v for v, at in zip(variables, levels, strict=True) if at == k] for k in range(3)]
    simple = regroup_products(graph, without_idle_angles(graph, outputs), groups)
    before, after = (values(graph, o, variables, point) for o in (outputs, simple))
    largest = max(np.abs(values(graph, graph.dependencies(outputs), variables, point)).max(), 1.0)
    assert np.abs(after - before).max() <= 1e-13 * largest**2
