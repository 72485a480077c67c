"""Sparse elimination as a table of places: what a loop of a few instructions does with it, whatever the size.

Written out, the elimination of a hundred links is a hundred thousand operations of code, which takes seconds to compile
and streams from a far cache. Here it is data: the entries of A have places in one array, and each line of the table

    a[target] = a[before] - a[factor] a[source]

is an operation on them. Where a pivot is no number the lines stop for a division, -1/pivot at its place; with a zero
for `before` such a line makes the factors too. Of entries that are numbers the array has what becomes of them.

Where it can be, the pivot of an unknown is in its own row, and that of a sum in the row that says what it is: these are
ones, until what they add up is eliminated. What is divided by are then the unknowns' own entries alone, in a mechanism
the inertia that a joint feels, which is never zero (Featherstone 2008, ch. 7).

Lines come in batches that depend on nothing in the same one, so that a processor need not wait for what it has just
stored: one after another they take four times as long.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discrete_hamel.compiler.graph.decision import Decision
from discrete_hamel.compiler.graph.elimination import singular
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.simplifying.residual_sums import THRESHOLD, WORTH, Rows, shells_of

ZERO, NOTHING = 0, 1  # the place of a zero, and of what nobody reads
BATCH = 8  # lines
CANCELLED = 1e-3  # of the largest term of a pivot: below, it is a difference that may be nothing elsewhere
LINES = 0.3  # new entries, of a line
LAST = 1000  # more than any filling in


class Step(NamedTuple):
    """A pivot: row and column, the place of -1/pivot, and the places of what is in its row and of the factors."""

    row: int
    column: int
    reciprocal: int
    others: dict[int, int]  # by column
    factors: dict[int, int]  # by row


class EliminationTable(NamedTuple):
    """How A is eliminated."""

    entries: list[tuple[int, int]]  # a node and the place of its value
    lines: np.ndarray  # target, before, factor, source of each
    pivots: list[tuple[int, int]]  # its place, and the line before which it is divided by
    steps: list[Step]
    constant: np.ndarray  # whether what is at a place is a number
    sample: np.ndarray  # the array, after that, at the sample

    def eliminate(self, entries: list[float]) -> list[float]:
        """The array after the elimination of these values of `entries`."""
        a, begin = self.sample.tolist(), 0
        for (_, place), value in zip(self.entries, entries, strict=True):
            a[place] = value
        for pivot, end in [*self.pivots, (None, len(self.lines))]:
            for target, before, factor, source in self.lines[begin:end].tolist():
                a[target] = a[before] - a[factor] * a[source]
            if pivot is not None:
                a[pivot] = -1.0 / a[pivot] if a[pivot] else float("nan")
            begin = end
        return a

    def solution(self, graph: Graph, right: list[int]) -> tuple[list[int], dict[int, int]]:
        """x with A x = `right`, and the inputs that are the array's values in it, by place."""
        held: dict[int, int] = {}

        def value(place: int) -> int:
            if self.constant[place]:
                return graph.const(float(self.sample[place]))
            if place not in held:
                held[place] = graph.input(("factor", place), float(self.sample[place]))
            return held[place]

        right, x = list(right), dict[int, int]()
        for step in self.steps:
            for other, factor in step.factors.items():
                right[other] = graph.sub(right[other], graph.mul(value(factor), right[step.row]))
        for step in reversed(self.steps):
            total = right[step.row]
            for k, place in step.others.items():
                total = graph.sub(total, graph.mul(value(place), x[k]))
            x[step.column] = graph.neg(graph.mul(total, value(step.reciprocal)))
        return [x[j] for j in range(len(right))], held


def elimination_table(graph: Graph, rows: Rows, count: int) -> EliminationTable:
    """That of A, as one dictionary column -> node a row: `count` unknowns, then sums; from the farthest, by shells."""
    elimination = _Elimination(graph, graph.samples, rows, count)
    graph.decisions.append(Decision(_pivots, (rows, count), elimination.order))
    return elimination.table()


def _pivots(graph: Graph, samples: Sequence[float], rows: Rows, count: int) -> list[tuple[int, int]]:
    return _Elimination(graph, samples, rows, count).order


class _Elimination:
    """Entries by row and column as places; what is at them at the samples, and whether it is a number."""

    def __init__(self, graph: Graph, samples: Sequence[float], rows: Rows, count: int) -> None:
        self.sample, self.constant, self.largest = [0.0, 0.0], [True, False], [0.0, 0.0]
        self.count, self.filled = count, list[int]()  # by row, a bit for each column
        self.entries: list[tuple[int, int]] = []
        self.rows: Rows = []
        self.columns: dict[int, set[int]] = {j: set() for j in range(len(rows))}
        for i, row in enumerate(rows):
            self.rows.append({})
            for j, node in row.items():
                if not graph.is_zero(node):
                    known = graph.value(node)
                    self.rows[i][j] = place = self._new(samples[node], known is not None)
                    self.columns[j].add(i)
                    if known is None:
                        self.entries.append((node, place))
            self.filled.append(sum(1 << j for j in self.rows[i]))
        self.work: list[tuple[int, ...]] = []  # lines, and the places of pivots
        self.steps = self._eliminate_all()
        self.order = [(step.row, step.column) for step in self.steps]

    def _new(self, sample: float, constant: bool) -> int:
        self.sample.append(sample)
        self.largest.append(abs(sample))
        self.constant.append(constant)
        return len(self.sample) - 1

    def _eliminate_all(self) -> list[Step]:
        steps = list[Step]()
        shells = shells_of(self.rows, self.columns)
        while shells:
            i, j = self._pivot(shells[-1])
            shells[-1].remove(j)
            if not shells[-1]:
                shells.pop()
            steps.append(self._eliminate(i, j))
        return steps

    def table(self) -> EliminationTable:
        constant, sample = np.array(self.constant), np.array(self.sample)
        return EliminationTable(self.entries, *self._batches(), self.steps, constant, sample)

    def _batches(self) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Lines and pivots in the order of how much lies behind them."""
        written, read = [0] * len(self.sample), [0] * len(self.sample)
        levels: list[tuple[list[tuple[int, ...]], list[int]]] = [([], [])]
        for target, *operands in self.work:
            level = 1 + max(written[target], read[target], *(written[a] for a in operands))
            written[target] = level
            for a in operands:
                read[a] = max(read[a], level)
            levels += [([], []) for _ in range(level + 1 - len(levels))]
            if operands:
                levels[level][0].append((target, *operands))
            else:
                levels[level][1].append(target)
        lines, pivots = list[tuple[int, ...]](), list[tuple[int, int]]()
        for together, divided in levels:
            lines += together + [(NOTHING, ZERO, ZERO, ZERO)] * (-len(together) % BATCH)
            pivots += [(place, len(lines)) for place in divided]
        return np.array(lines, int).reshape(-1, 4), pivots

    def _eliminate(self, i: int, j: int) -> Step:
        rows, columns, sample, constant = self.rows, self.columns, self.sample, self.constant
        for k in rows[i]:
            columns[k].remove(i)
        pivot = rows[i].pop(j)
        sample[pivot] = -1.0 / sample[pivot]
        if not constant[pivot]:
            self.work.append((pivot,))
        one, factors = constant[pivot] and sample[pivot] == -1.0, dict[int, int]()
        for other in sorted(columns.pop(j)):
            old = rows[other].pop(j)
            self.filled[other] ^= 1 << j
            place = self._new(0.0, False) if constant[old] and not constant[pivot] else old
            factors[other] = old if one else self._line(place, ZERO, old, pivot)
        for other, factor in factors.items():
            for k, a in rows[i].items():
                before = rows[other].get(k, ZERO)
                number = constant[factor] and constant[a]
                fresh = before == ZERO or constant[before] and not number
                rows[other][k] = place = self._new(0.0, False) if fresh else before
                self.filled[other] |= 1 << k
                columns[k].add(other)
                self._line(place, before, factor, a)
                if constant[place] and sample[place] == 0.0:
                    del rows[other][k]
                    self.filled[other] ^= 1 << k
                    columns[k].remove(other)
        return Step(i, j, pivot, dict(rows[i]), factors)

    def _line(self, target: int, before: int, factor: int, source: int) -> int:
        """a[target] = a[before] - a[factor] a[source], at once where these are numbers."""
        sample, constant = self.sample, self.constant
        change = sample[factor] * sample[source]
        self.largest[target] = max(self.largest[before], abs(change))
        sample[target] = sample[before] - change
        constant[target] = constant[before] and constant[factor] and constant[source]
        if not constant[target]:
            self.work.append((target, before, factor, source))
        return target

    def _pivot(self, shell: set[int]) -> tuple[int, int]:
        """The one in its own row that fills in least; where there is none, as in `residual_sums`."""
        own = [(self._filling(j), j, j) for j in sorted(shell) if j in self.columns[j] and self._lasts(self.rows[j][j])]
        return min(own)[1:] if own else self._acceptable(shell)

    def _lasts(self, place: int) -> bool:
        return abs(self.sample[place]) > CANCELLED * self.largest[place]

    def _filling(self, j: int) -> float:
        """Entries that would be new, less those that go, and something for each line."""
        row, others = self.filled[j], self.columns[j] - {j}
        new = sum((row & ~self.filled[i]).bit_count() for i in others)
        wide, high = len(self.rows[j]) - 1, len(others)
        dividing = 0 if self.constant[self.rows[j][j]] else 1 if j < self.count else LAST
        return new - wide - high + LINES * wide * high + dividing

    def _acceptable(self, shell: set[int]) -> tuple[int, int]:
        best: tuple[int, int, int] | None = None
        rows, columns, sample, constant = self.rows, self.columns, self.sample, self.constant
        for j in sorted(shell):
            others = len(columns[j]) - 1
            sizes = {i: abs(sample[rows[i][j]]) for i in sorted(columns[j])}
            least = THRESHOLD * max(sizes.values(), default=0.0)
            for i, size in sizes.items():
                cost = others * (len(rows[i]) - 1) + (0 if constant[rows[i][j]] else WORTH)
                if (best is None or cost < best[0]) and size > least:
                    best = cost, i, j
        return best[1:] if best else singular()
