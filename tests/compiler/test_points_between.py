"""The point between two nodes as an unknown: the same root in fewer operations, where rows see nothing else."""

import numpy as np
import pytest

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.simplifying.fewer_unknowns import fewer_unknowns, in_the_others
from discrete_hamel.compiler.simplifying.points_between import eliminate_points
from discrete_hamel.compiler.simplifying.regrouping import regroup_products
from discrete_hamel.compiler.step.verification import values_of


class Turning:
    """A vector that turns about two axes, or all, q1 - q0 - h xi x q = 0 at q = (1 - tau) q0 + tau q1, and
    xi + q3^2 - p."""

    def __init__(self, half=None, about_all=False):
        self.graph = graph = Graph()
        sample = iter((0.5, 0.1, 0.3, 0.2, -0.9, 0.4, 0.7, 0.4, -0.3, 0.3, 0.2, -0.8, 0.1))
        made = [graph.input(name, next(sample)) for name in ("tau", "h", "x", "y", "z", "p", "r")]
        tau, h, *q0, p, r = made
        self.tau = tau if half is None else graph.const(half)
        self.h, self.q0, self.parameters = h, q0, [tau, h]
        self.xi = [graph.input(name, next(sample)) for name in ("u", "v", "w")[: 2 + about_all]]
        self.q1 = [graph.input(name, next(sample)) for name in ("a", "b", "c")]
        rest = graph.sub(graph.const(1.0), self.tau)
        both = zip(q0, self.q1, strict=True)
        self.q = [graph.add(graph.mul(rest, a), graph.mul(self.tau, b)) for a, b in both]
        (u, v, *w), (x, y, z) = self.xi, self.q
        speed = [graph.mul(v, z), graph.neg(graph.mul(u, z)), graph.sub(graph.mul(u, y), graph.mul(v, x))]
        for third in w:
            speed[:2] = graph.sub(speed[0], graph.mul(third, y)), graph.add(speed[1], graph.mul(third, x))
        moved = zip(self.q1, q0, speed, strict=True)
        turning = [graph.sub(graph.sub(b, a), graph.mul(h, s)) for b, a, s in moved]
        balance = [graph.sub(graph.add(u, graph.mul(z, z)), p), graph.sub(graph.add(v, graph.mul(x, y)), r)]
        balance += [graph.sub(graph.add(third, graph.mul(x, x)), p) for third in w]
        self.rows, self.unknowns = [*balance, *turning], [*self.xi, *self.q1]


def moved(graph):
    """Other values than the samples, of the inputs."""
    random = np.random.default_rng(1)
    inputs = [i for i, node in enumerate(graph.nodes) if node[0] == "input"]
    return {i: graph.samples[i] * (1 + 0.1 * random.standard_normal()) for i in inputs}


@pytest.mark.parametrize("half", [None, 0.5, 1.0], ids=["tau", "1/2", "1"])
def test_the_same_formulas_in_fewer_operations(half):
    given = Turning(half)
    graph = given.graph
    fewer = eliminate_points(graph, given.rows, given.unknowns, [2, 3, 4], given.parameters)
    plain_rows, left, plain = fewer_unknowns(graph, given.rows, given.unknowns, [2, 3, 4])
    assert fewer.unknowns == left == given.xi
    assert set(fewer.points) == (set(given.q) if half != 1.0 else set())  # at tau = 1 that is the node itself
    if fewer.points:
        assert graph.operations(fewer.rows) < graph.operations(plain_rows)
    ours, theirs = in_the_others(graph, fewer.formulas, fewer.points), in_the_others(graph, plain)
    values = moved(graph)
    nodes = [*fewer.rows, *(ours[u] for u in given.q1)], [*plain_rows, *(theirs[u] for u in given.q1)]
    ours_there, theirs_there = (values_of(graph, each, values) for each in nodes)
    np.testing.assert_allclose(ours_there, theirs_there, rtol=1e-13)


def test_of_a_turn_about_any_axis_all_points_are_eliminated():
    """The third by a row with a quotient of the second, times its divisor: that is then 1 + |tau h xi|^2."""
    given = Turning(about_all=True)
    graph = given.graph
    fewer = eliminate_points(graph, given.rows, given.unknowns, [3, 4, 5], given.parameters)
    assert fewer.unknowns == given.xi
    assert len(fewer_unknowns(graph, given.rows, given.unknowns, [3, 4, 5])[1]) == 4
    values = moved(graph)
    known = in_the_others(graph, fewer.formulas, fewer.points)
    tau, h, *xi = values_of(graph, [*given.parameters, *given.xi], values)
    q0, q1 = (values_of(graph, some, values) for some in (given.q0, [known[u] for u in given.q1]))
    axis = np.array([[0, -xi[2], xi[1]], [xi[2], 0, -xi[0]], [-xi[1], xi[0], 0]])
    turned = np.linalg.solve(np.eye(3) - tau * h * axis, (np.eye(3) + (1 - tau) * h * axis) @ q0)
    np.testing.assert_allclose(q1, turned, rtol=1e-13)
    quotients = {graph.operands(i)[1] for i in graph.dependencies(fewer.rows) if graph.nodes[i][0] == "div"}
    sizes = 1 + (tau * h) ** 2 * np.array([xi[2] ** 2, np.dot(xi, xi)])
    np.testing.assert_allclose(sorted(values_of(graph, list(quotients), values)), sorted(sizes), rtol=1e-13)


def test_rates_have_the_step_in_one_product():
    """h u and h v in what moves on, (tau h) u and (tau h) v in the points and rows: h is a factor of nothing else."""
    given = Turning()
    graph = given.graph
    fewer = eliminate_points(graph, given.rows, given.unknowns, [2, 3, 4], given.parameters)
    share = graph.mul(given.tau, given.h)
    assert fewer.products == {graph.mul(step, rate) for step in (given.h, share) for rate in given.xi}
    everything = [*fewer.rows, *(formula for _, formula in fewer.formulas)]
    with_h = {i for i in graph.dependencies(everything) if {given.h, share}.intersection(graph.operands(i))}
    assert with_h == {*fewer.products, share}


def test_what_is_to_stay_whole_is_not_regrouped():
    graph = Graph()
    h, u, v = (graph.input(name, x) for name, x in zip("huv", (0.1, 0.3, 0.4), strict=True))
    product = graph.mul(h, u)
    for whole, first in (((), graph.mul(u, v)), ({product}, product)):
        (regrouped,) = regroup_products(graph, [graph.mul(product, v)], [[h], [u, v]], whole)
        assert first in graph.operands(regrouped)


def test_a_point_is_the_sum_that_it_stands_for():
    given = Turning()
    graph = given.graph
    fewer = eliminate_points(graph, given.rows, given.unknowns, [2, 3, 4], given.parameters)
    known = in_the_others(graph, fewer.formulas, fewer.points)
    sums = graph.substitute(given.q, {u: known[u] for u in given.q1})
    values = moved(graph)
    points = values_of(graph, [known[q] for q in given.q], values)
    np.testing.assert_allclose(points, values_of(graph, sums, values), rtol=1e-13)


def test_what_is_seen_beside_its_point_stays_as_it_is():
    """The last row sees the first new coordinate itself."""
    given = Turning()
    graph = given.graph
    given.rows[4] = graph.add(given.rows[4], graph.mul(given.h, given.q1[0]))
    fewer = eliminate_points(graph, given.rows, given.unknowns, [2, 3, 4], given.parameters)
    assert given.q[1] in fewer.points
    assert given.q[0] not in fewer.points


def test_a_point_that_is_no_formula_stays_as_it_is():
    """The second coordinate's row is not linear in its point: nothing gives the point, and so it is no unknown."""
    given = Turning()
    graph = given.graph
    given.rows[3] = graph.add(given.rows[3], graph.unary("sin", given.q[1]))
    fewer = eliminate_points(graph, given.rows, given.unknowns, [2, 3, 4], given.parameters)
    assert given.q1[1] in fewer.unknowns
    assert given.q[1] not in fewer.points
    assert set(fewer.points) <= {given.q[0], given.q[2]}
