"""Sparse linear solves in the graph, unrolled: elimination by numbers first, then small blocks by Cramer's rule.

What is left after the pivots that are numbers falls into blocks. Up to three unknowns they are solved by cofactors,
which needs no pivots and so holds wherever a run leads (a heading that turns past 90 degrees, a rotation matrix).
Larger ones are eliminated in Markowitz's order: of the entries not below a tenth of their column, at the sample, the
one that fills in least. That can be a bad order elsewhere. In Newton's method the caller notices: it then fails, or is
slow. A solve that is part of the residual is `guarded` instead: it leaves a guard in the graph, which is positive where
its pivot is good enough. Where either complains, the plain path with true pivoting takes that step.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NoReturn

import numpy as np

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported

THRESHOLD = 0.1
BY_COFACTORS = 3
Parts = tuple[int, ...]  # a number of each right side
GROWTH = 100.0  # how much larger than its pivot an entry of the column may become on the way


def solve(graph: Graph, rows: list[dict[int, int]], right: list[int], guarded: bool = False) -> list[int]:
    """x with A x = b; A as one dictionary column -> node a row."""
    return solve_each(graph, rows, [right], guarded)[0]


def solve_each(
    graph: Graph, rows: list[dict[int, int]], rights: Iterable[list[int]], guarded: bool = False
) -> list[list[int]]:
    """The same for several b, with A eliminated once."""
    rows = [{j: a for j, a in row.items() if not graph.is_zero(a)} for row in rows]
    right = list(zip(*rights, strict=True))  # of each row
    active, steps = set(range(len(rows))), []
    solution: dict[int, Parts] = {}
    while active:
        pivot_at = _pivot(graph, rows, active, numbers=True)
        small = [] if pivot_at else [block for block in _blocks(rows, active) if len(block) <= BY_COFACTORS]
        if small:
            for block in sorted(small, key=len):
                solution |= _cofactors(graph, {i: rows[i] for i in block}, right)
                active -= set(block)
            continue
        pivot_row, pivot_column = pivot_at or _pivot(graph, rows, active) or singular()
        active.remove(pivot_row)
        pivot = rows[pivot_row].pop(pivot_column)
        reciprocal = graph.div(graph.const(1.0), pivot)
        if guarded:
            guard(graph, pivot, reciprocal, [rows[i][pivot_column] for i in active if pivot_column in rows[i]])
        for i in sorted(active):
            entry = rows[i].pop(pivot_column, None)
            if entry is None:
                continue
            factor = graph.mul(entry, reciprocal)
            for j, a in rows[pivot_row].items():
                rows[i][j] = graph.sub(rows[i].get(j, graph.const(0.0)), graph.mul(factor, a))
                if graph.is_zero(rows[i][j]):
                    del rows[i][j]
            right[i] = _less(graph, right[i], factor, right[pivot_row])
        steps.append((pivot_row, pivot_column, reciprocal))
    for row, column, reciprocal in reversed(steps):
        total = right[row]
        for j, a in rows[row].items():
            total = _less(graph, total, a, solution[j])
        solution[column] = tuple(graph.mul(x, reciprocal) for x in total)
    return [list(x) for x in zip(*(solution[j] for j in range(len(rows))), strict=True)]


def _less(graph: Graph, x: Parts, factor: int, y: Parts) -> Parts:
    """x - factor y, for each right side."""
    return tuple(graph.sub(a, graph.mul(factor, b)) for a, b in zip(x, y, strict=True))


def singular() -> NoReturn:
    """Where pivots are chosen, at the sample, there is none."""
    raise Unsupported("a linear solve that is singular where the run starts", at_start=True)


def _blocks(rows: list[dict[int, int]], active: set[int]) -> list[list[int]]:
    """The active rows, put together where they share an unknown."""
    blocks: list[tuple[set[int], set[int]]] = []
    for i in sorted(active):
        members, columns = {i}, set(rows[i])
        for block in [b for b in blocks if b[1] & columns]:
            blocks.remove(block)
            members, columns = members | block[0], columns | block[1]
        blocks.append((members, columns))
    return [sorted(members) for members, _ in blocks]


def _cofactors(graph: Graph, rows: dict[int, dict[int, int]], right: list[Parts]) -> dict[int, Parts]:
    """x_j = (sum over i of the cofactor of a_ij times b_i) / determinant, for up to three unknowns."""
    columns = sorted({j for row in rows.values() for j in row})
    if len(columns) != len(rows):
        singular()
    zero = graph.const(0.0)
    matrix = [[row.get(j, zero) for j in columns] for row in rows.values()]
    n = len(columns)

    def determinant(m: list[list[int]]) -> int:
        if not m:
            return graph.const(1.0)
        total = zero
        for j, a in enumerate(m[0]):
            minor = graph.mul(a, determinant([[*row[:j], *row[j + 1 :]] for row in m[1:]]))
            total = (graph.sub if j % 2 else graph.add)(total, minor)
        return total

    def cofactor(i: int, j: int) -> int:
        minor = determinant([[*row[:j], *row[j + 1 :]] for k, row in enumerate(matrix) if k != i])
        return graph.neg(minor) if (i + j) % 2 else minor

    cofactors = [[cofactor(i, j) for j in range(n)] for i in range(n)]
    whole = zero
    for a, c in zip(matrix[0], cofactors[0], strict=True):
        whole = graph.add(whole, graph.mul(a, c))
    if not graph.decide(_not_zero, whole):
        singular()
    reciprocal = graph.div(graph.const(1.0), whole)

    def quotient(j: int, k: int) -> int:
        total = zero
        for i, row in enumerate(rows):
            total = graph.add(total, graph.mul(cofactors[i][j], right[row][k]))
        return graph.mul(total, reciprocal)

    sides = range(len(right[next(iter(rows))]))
    return {column: tuple(quotient(j, k) for k in sides) for j, column in enumerate(columns)}


def guard(graph: Graph, pivot: int, reciprocal: int, others: list[int]) -> None:
    """pivot^2 > (largest other / GROWTH)^2, where the pivot is not a number and there is a choice at all."""
    if graph.value(pivot) is None and others:
        total = graph.const(0.0)
        for a in others:
            total = graph.add(total, graph.mul(a, a))
        graph.guards[reciprocal] = graph.sub(graph.mul(pivot, pivot), graph.mul(graph.const(GROWTH**-2), total))


def _pivot(graph: Graph, rows: list[dict[int, int]], active: set[int], numbers: bool = False) -> tuple[int, int] | None:
    """Row and column of the next pivot, among entries that are numbers if so asked."""
    return graph.decide(_fills_in_least, {(i, j): a for i in active for j, a in rows[i].items()}, numbers)


def _fills_in_least(
    graph: Graph, samples: Sequence[float], entries: dict[tuple[int, int], int], numbers: bool
) -> tuple[int, int] | None:
    """Markowitz's choice among the entries that are large enough."""
    size = {at: abs(samples[a]) for at, a in entries.items()}
    largest: dict[int, float] = {}
    for (_, j), s in size.items():
        largest[j] = max(largest.get(j, 0.0), s)
    in_row, in_column = Counter(i for i, _ in entries), Counter(j for _, j in entries)
    allowed = {at for at, a in entries.items() if not numbers or graph.value(a) is not None}
    acceptable = [at for at in allowed if size[at] > THRESHOLD * largest[at[1]]]

    def cost(at: tuple[int, int]) -> tuple:
        i, j = at
        return (in_row[i] - 1) * (in_column[j] - 1), -size[at], at

    return min(acceptable, key=cost, default=None)


def _not_zero(_: Graph, samples: Sequence[float], node: int) -> bool:
    return abs(samples[node]) > 0


def _largest(_: Graph, samples: Sequence[float], nodes: tuple[int, ...]) -> int:
    return int(np.argmax([abs(samples[i]) for i in nodes]))


def factors(graph: Graph, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P A = L U with rows swapped as the sample asks: L and U in one matrix, the swaps, and the order of the rows."""
    a, n = matrix.copy(), len(matrix)
    swaps, order = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    for k in range(n):
        best = k + graph.decide(_largest, tuple(a[k:, k].tolist()))
        swaps[k] = best
        a[[k, best]], order[[k, best]] = a[[best, k]], order[[best, k]]
        reciprocal = graph.div(graph.const(1.0), a[k, k])
        guard(graph, a[k, k], reciprocal, list(a[k + 1 :, k]))
        for i in range(k + 1, n):
            a[i, k] = graph.mul(a[i, k], reciprocal)
            for j in range(k + 1, n):
                a[i, j] = graph.sub(a[i, j], graph.mul(a[i, k], a[k, j]))
    return a, swaps, order
