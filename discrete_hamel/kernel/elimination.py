"""Sparse Gaussian elimination in the graph, unrolled, with a pivot order fixed at the sample point.

The order is Markowitz's: of the entries not below a tenth of their column, at the sample, the one that fills in least.
It can be a bad order elsewhere along a run; the caller notices, because Newton's method then fails or is slow, and lets
the plain path with true pivoting take that step.
"""

from discrete_hamel.kernel.graph import Graph

THRESHOLD = 0.1


def solve(graph: Graph, rows: list[dict[int, int]], right: list[int]) -> list[int]:
    """x with A x = b; A as one dictionary column -> node a row."""
    rows, right = [dict(row) for row in rows], list(right)
    active, steps = set(range(len(rows))), []
    while active:
        pivot_row, pivot_column = _pivot(graph, rows, active)
        active.remove(pivot_row)
        pivot = rows[pivot_row].pop(pivot_column)
        reciprocal = graph.div(graph.const(1.0), pivot)
        for i in active:
            entry = rows[i].pop(pivot_column, None)
            if entry is None:
                continue
            factor = graph.mul(entry, reciprocal)
            for j, a in rows[pivot_row].items():
                changed = graph.sub(rows[i].get(j, graph.const(0.0)), graph.mul(factor, a))
                rows[i][j] = changed
            right[i] = graph.sub(right[i], graph.mul(factor, right[pivot_row]))
        steps.append((pivot_row, pivot_column, reciprocal))
    solution: dict[int, int] = {}
    for row, column, reciprocal in reversed(steps):
        total = right[row]
        for j, a in rows[row].items():
            total = graph.sub(total, graph.mul(a, solution[j]))
        solution[column] = graph.mul(total, reciprocal)
    return [solution[j] for j in range(len(rows))]


def _pivot(graph: Graph, rows: list[dict[int, int]], active: set[int]) -> tuple[int, int]:
    size = {(i, j): abs(graph.samples[a]) for i in active for j, a in rows[i].items() if not graph.is_zero(a)}
    largest: dict[int, float] = {}
    count: dict[int, int] = {}
    for (_, j), s in size.items():
        largest[j], count[j] = max(largest.get(j, 0.0), s), count.get(j, 0) + 1
    acceptable = [(i, j) for (i, j), s in size.items() if s > THRESHOLD * largest[j]]
    if not acceptable:
        raise ZeroDivisionError("the matrix is singular at the sample point")

    def cost(at: tuple[int, int]) -> tuple:
        i, j = at
        constant = graph.value(rows[i][j]) is not None
        return (len(rows[i]) - 1) * (count[j] - 1), not constant, -size[at], at

    return min(acceptable, key=cost)
