"""Newton's correction with the residual's sums as further unknowns, which makes its Jacobian sparse.

Where a residual sums up along many coordinates (the positions of a chain's bobs, what hangs below a link) each row
depends on all unknowns, and elimination costs n^3. With each sum s = a + b a variable, and s - a - b = 0 a row,

    r(z, s) = 0,    s - g(z, s) = 0,

every row has a few entries only, at whatever n. Eliminated from the tips of a tree to its root that costs what the tree
has links: by hand it is the articulated-body algorithm (Featherstone 2008, ch. 7), the sums of velocities going up and
those of forces coming down. The second rows hold at any z, so that the correction is Newton's own.
"""

from collections.abc import Sequence
from math import inf

import numpy as np

from discrete_hamel.compiler.graph.elimination import guard, singular
from discrete_hamel.compiler.graph.expressions import Graph

FEW = 2  # unknowns in a sum, up to which it is no variable
THRESHOLD = 0.5  # of the largest of its column: a pivot
WORTH = 4  # new entries, of a pivot that is a number
Rows = list[dict[int, int]]


def variables(graph: Graph, residual: list[int], unknowns: list[int]) -> list[int]:
    """The sums on the way to the residual that depend on more than a few unknowns and sums before them."""
    own, found = set(unknowns), []
    support: dict[int, set[int]] = {}
    for index in graph.dependencies(residual):
        parts = [support[a] for a in graph.operands(index)]
        support[index] = {index} if index in own else set().union(*parts)
        is_sum = graph.nodes[index][0] in ("add", "sub") and all(parts) and index not in residual
        if is_sum and len(support[index]) > FEW:
            found.append(index)
            support[index] = {index}
    return found


def affine(graph: Graph, outputs: list[int], unknowns: list[int]) -> bool:
    """Whether outputs are of first degree in the unknowns as they are written."""
    degree: dict[int, float] = dict.fromkeys(unknowns, 1)
    for index in graph.dependencies(outputs):
        parts = [degree[a] for a in graph.operands(index)]
        if index not in degree:
            degree[index] = _degree(graph.nodes[index][0], parts)
    return all(degree[o] <= 1 for o in outputs)


def _degree(operation: str, parts: list[float]) -> float:
    if operation in ("add", "sub", "neg"):
        return max(parts)
    if operation == "mul":
        return sum(parts)
    if operation == "div" and not parts[1]:
        return parts[0]
    return inf if any(parts) else 0


def correction(graph: Graph, residual: list[int], unknowns: list[int], variables: list[int]) -> list[int]:
    """-J^-1 r by elimination of unknowns and `variables` (from above) together."""
    rows = extended_jacobian(graph, residual, unknowns, variables)
    right = [*(graph.neg(r) for r in residual), *(graph.const(0.0) for _ in variables)]
    return eliminate(graph, rows, right)[: len(unknowns)]


def extended_jacobian(graph: Graph, residual: list[int], unknowns: list[int], variables: list[int]) -> Rows:
    """The Jacobian K of r(z, s) and s - g(z, s) by (z, s).

    K (x, y) = (b, 0) has x = J^-1 b, and K^T (x, y) = (b, 0) has x = J^-T b.
    """
    one, zero, n = graph.const(1.0), graph.const(0.0), len(unknowns)
    terms = [a for index in variables for a in graph.operands(index)]
    rows = graph.derivative([*residual, *terms], [*unknowns, *variables])
    rows, of_terms = rows[: len(residual)], iter(rows[len(residual) :])
    for k, index in enumerate(variables):  # s - a - b, or s - a + b
        first, second = next(of_terms), next(of_terms)
        combined = graph.add if graph.nodes[index][0] == "add" else graph.sub
        row = {j: graph.neg(combined(first.get(j, zero), second.get(j, zero))) for j in {**first, **second}}
        rows.append({**row, n + k: one})
    return rows


def eliminate(graph: Graph, rows: Rows, right: list[int], guarded: bool = False) -> list[int]:
    """x with A x = b, A as one dictionary column -> node a row, the farthest unknowns first (`shells_of`).

    Of those equally far the pivot that fills in least. An entry may be a pivot if at the sample it is not below half of
    its column: the order serves all of a run, where a sine of a quarter may be a sine of nothing. Numbers stay what
    they are, and are worth some filling in; put first, as in `elimination.solve`, they would undo the sums. `guarded`
    as there.
    """
    rows, right = [{j: a for j, a in row.items() if not graph.is_zero(a)} for row in rows], list(right)
    columns: dict[int, set[int]] = {j: set() for j in range(len(rows))}
    for i, row in enumerate(rows):
        for j in row:
            columns[j].add(i)
    shells, steps = shells_of(rows, columns), []
    while shells:
        i, j = _pivot(graph, rows, columns, shells[-1])
        shells[-1].remove(j)
        if not shells[-1]:
            shells.pop()
        for k in rows[i]:
            columns[k].remove(i)
        pivot = rows[i].pop(j)
        reciprocal = graph.div(graph.const(1.0), pivot)
        if guarded:
            guard(graph, pivot, reciprocal, [rows[k][j] for k in sorted(columns[j])])
        for other in sorted(columns.pop(j)):
            factor = graph.mul(rows[other].pop(j), reciprocal)
            for k, a in rows[i].items():
                entry = graph.sub(rows[other].get(k, graph.const(0.0)), graph.mul(factor, a))
                if graph.is_zero(entry):
                    rows[other].pop(k, None)
                    columns[k].discard(other)
                else:
                    rows[other][k] = entry
                    columns[k].add(other)
            right[other] = graph.sub(right[other], graph.mul(factor, right[i]))
        steps.append((i, j, reciprocal))
    solution: dict[int, int] = {}
    for i, j, reciprocal in reversed(steps):
        total = right[i]
        for k, a in rows[i].items():
            total = graph.sub(total, graph.mul(a, solution[k]))
        solution[j] = graph.mul(total, reciprocal)
    return [solution[j] for j in range(len(rows))]


def shells_of(rows: Rows, columns: dict[int, set[int]]) -> list[set[int]]:
    """The unknowns by how many rows lie between them and the first one.

    Where rows are those of a tree, what is farthest is at a tip: to eliminate it concerns its neighbours alone. The
    order that only fills in least goes at all of the tree at once, and leaves parts with two ends.
    """
    left, shells = set(columns), []
    while left:
        shell = {min(left)}
        while shell:
            left -= shell
            shells.append(shell)
            shell = {k for j in shell for i in columns[j] for k in rows[i]} & left
    return shells


def _pivot(graph: Graph, rows: Rows, columns: dict[int, set[int]], shell: set[int]) -> tuple[int, int]:
    """Markowitz's choice: the acceptable entry with the least (entries of its row - 1)(of its column - 1)."""
    entries = [
        (i, j, a, (len(columns[j]) - 1) * (len(rows[i]) - 1) + (0 if graph.value(a) is not None else WORTH))
        for j in sorted(shell)
        for i in sorted(columns[j])
        for a in [rows[i][j]]
    ]
    return graph.decide(_costs_least, np.array(entries, np.int32).reshape(-1, 4)) or singular()


def _costs_least(_: Graph, samples: Sequence[float], entries: np.ndarray) -> tuple[int, int] | None:
    """Row and column of the acceptable entry, of (row, column, node, cost), that costs least; the first of several."""
    size, column = np.array([abs(samples[a]) for a in entries[:, 2].tolist()]), entries[:, 1]
    largest = {j: size[column == j].max() for j in set(column.tolist())}
    acceptable = [k for k, j in enumerate(column.tolist()) if size[k] > THRESHOLD * largest[j]]
    best = min(acceptable, key=entries[:, 3].tolist().__getitem__, default=None)
    return None if best is None else (int(entries[best, 0]), int(entries[best, 1]))
