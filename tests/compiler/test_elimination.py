"""Unrolled linear solves against NumPy's, dense and sparse, where pivots are needed and where they fail."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discrete_hamel.compiler.graph.elimination import factors, solve, solve_each
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.lowering import lower
from discrete_hamel.compiler.simplifying.fewer_unknowns import fewer_unknowns, higher_powers, positive


def entries(graph, matrix):
    """An input a non-zero entry, but numbers where the entry is 0, 1 or -1."""
    return [
        {j: graph.const(a) if abs(a) == 1 else graph.input(("a", i, j), a) for j, a in enumerate(row) if a != 0}
        for i, row in enumerate(matrix)
    ]


def solved(matrix, right, guarded=False, at=None):
    """x of A x = b with the order of `matrix`, evaluated for the matrix `at`, and the values of the guards."""
    g = Graph()
    rows = entries(g, matrix)
    b = [g.input(("b", i), x) for i, x in enumerate(right)]
    x = solve(g, rows, b, guarded)
    at = matrix if at is None else at
    known = {a: jnp.asarray(at[i][j]) for i, row in enumerate(rows) for j, a in row.items() if g.value(a) is None}
    known |= {a: jnp.asarray(v) for a, v in zip(b, right, strict=True)}
    guards = g.guards_of(x)
    values = [float(v) for v in lower(g, [*x, *guards])(known)]
    return np.array(values[: len(x)]), values[len(x) :]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 7), st.floats(0.2, 1.0), st.booleans())
def test_solutions_are_those_of_lapack(seed, n, density, guarded):
    random = np.random.default_rng(seed)
    matrix = np.where(random.random((n, n)) < density, random.normal(size=(n, n)), 0.0)
    matrix[np.arange(n), random.permutation(n)] += random.choice([1.0, -1.0, 2.5], n)
    condition = np.linalg.cond(matrix)
    if condition > 1e4:
        return
    right = random.normal(size=n)
    x, guards = solved(matrix, right, guarded)
    expected = np.linalg.solve(matrix, right)
    assert np.abs(x - expected).max() < 1e-14 * 100 * condition * np.abs(expected).max()
    assert all(guard > 0 for guard in guards)


def test_several_right_sides_are_solved_with_one_elimination():
    graph, random = Graph(), np.random.default_rng(3)
    rows = entries(graph, random.normal(size=(6, 6)))
    right = [[graph.input(("b", i, k), x) for i, x in enumerate(random.normal(size=6))] for k in range(3)]
    assert solve_each(graph, rows, right, guarded=True) == [solve(graph, rows, b, guarded=True) for b in right]


def test_a_leading_nought_is_no_obstacle():
    matrix = np.array([[0.0, 2.0, 0.0, 0.3], [3.0, 0.0, 0.5, 0.0], [0.0, 0.4, 0.0, 5.0], [0.2, 0.0, 0.7, 0.0]])
    x, _ = solved(matrix, np.arange(1.0, 5.0))
    assert x == pytest.approx(np.linalg.solve(matrix, np.arange(1.0, 5.0)), rel=1e-13)


@pytest.mark.parametrize("angle", [0.0, 0.5, np.pi / 2, 2.0, np.pi])
def test_a_turning_block_is_solved_whatever_the_sample_was(angle):
    def turn(a):
        return np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.3], [0.2, 0.0, 2.0]])

    x, guards = solved(turn(0.4), [1.0, 2.0, 3.0], guarded=True, at=turn(angle))
    assert x == pytest.approx(np.linalg.solve(turn(angle), [1.0, 2.0, 3.0]), rel=1e-13)
    assert not guards  # by cofactors: there is no pivot to fail


def test_the_guard_tells_when_the_order_of_the_sample_no_longer_holds():
    random = np.random.default_rng(1)
    matrix = 0.3 * random.normal(size=(5, 5)) + 3 * np.eye(5)
    _, guards = solved(matrix, np.ones(5), guarded=True)
    assert guards
    assert min(guards) > 0
    worst = []
    for i in range(5):  # whichever pivot comes first is spoilt by one of these
        spoilt = matrix.copy()
        spoilt[i, i] = 1e-9
        x, guards = solved(matrix, np.ones(5), guarded=True, at=spoilt)
        error = np.abs(x - np.linalg.solve(spoilt, np.ones(5))).max()
        worst.append(error)
        assert error < 1e-11 or min(guards) < 0
    assert max(worst) > 1e-11  # so the guard was needed


def test_a_singular_matrix_is_refused_with_a_reason():
    with pytest.raises(Unsupported, match="singular"):
        solved(np.array([[1.5, 2.0], [3.0, 4.0]]), [1.0, 2.0])


def test_factors_give_the_determinant():
    g = Graph()
    matrix = np.random.default_rng(2).normal(size=(5, 5))
    nodes = np.array([[g.input((i, j), matrix[i, j]) for j in range(5)] for i in range(5)], dtype=object)
    packed, swaps, order = factors(g, nodes)
    values = np.array([[g.samples[i] for i in row] for row in packed])
    assert np.tril(values, -1) @ np.triu(values) + np.triu(values) == pytest.approx(matrix[order], abs=1e-14)
    sign = (-1) ** np.sum(swaps != np.arange(5))
    assert sign * np.prod(np.diag(values)) == pytest.approx(np.linalg.det(matrix), rel=1e-12)


def test_what_counts_as_safely_positive():
    g = Graph()
    x, y, one = g.input("x", 0.3), g.input("y", 2.0), g.const(1.0)
    assert positive(g, g.add(one, g.mul(g.mul(x, y), g.mul(y, x))))
    assert positive(g, g.sub(one, g.mul(x, g.neg(x))))
    assert not positive(g, g.sub(one, g.mul(x, x)))
    assert not positive(g, g.add(one, x))
    assert not positive(g, g.mul(x, x))  # may be 0
    assert not positive(g, g.add(one, g.unary("sin", x)))


def test_linear_rows_become_formulas():
    g = Graph()
    x, y, z = (g.input(name, value) for name, value in (("x", 0.3), ("y", 2.0), ("z", 1.0)))
    rows = [
        g.sub(g.mul(x, g.mul(x, y)), z),  # cubic
        g.sub(y, g.add(z, g.const(3.0))),  # y = z + 3
        g.add(g.mul(z, g.add(g.const(1.0), g.mul(x, x))), x),  # z = -x / (1 + x^2)
    ]
    left, unknowns, formulas = fewer_unknowns(g, rows, [x, y, z], [1, 2])
    assert unknowns == [x]
    assert [v for v, _ in formulas] == [y, z]
    known = {x: jnp.asarray(0.7)}
    for v, formula in reversed(formulas):
        (known[v],) = lower(g, [formula])(known)
    numbers = [float(r) for r in lower(g, rows)(known)]
    assert numbers[1:] == pytest.approx([0.0, 0.0], abs=1e-15)
    assert float(lower(g, left)(known)[0]) == pytest.approx(numbers[0], rel=1e-14)


def test_rows_of_first_degree_are_told_without_a_slope():
    g = Graph()
    x, y, a = (g.input(name, value) for name, value in (("x", 2.0), ("y", 3.0), ("a", 5.0)))
    sine, square = g.unary("sin", x), g.mul(x, x)
    rows = [
        g.add(g.mul(a, x), y), g.mul(x, y), g.div(x, y), g.add(sine, y), g.sub(g.mul(a, square), y),
        g.neg(g.mul(g.unary("cos", a), x)), g.sub(g.add(x, y), sine),
    ]  # fmt: skip
    assert higher_powers(g, rows, [x, y]) == [0b00, 0b00, 0b10, 0b01, 0b01, 0b00, 0b01]


def test_long_rows_give_the_same_formulas(monkeypatch):
    g = Graph()
    x, y, a = (g.input(name, value) for name, value in (("x", 2.0), ("y", 3.0), ("a", 5.0)))
    rows = [g.sub(g.mul(g.unary("sin", y), a), x), g.add(g.mul(y, y), x)]
    expected = fewer_unknowns(g, rows, [x, y], (0, 1))
    assert expected[1] == [y]
    monkeypatch.setattr("discrete_hamel.compiler.simplifying.fewer_unknowns.LONG", 0)
    assert fewer_unknowns(g, rows, [x, y], (0, 1)) == expected
