"""Newton's correction along a chain: one elimination for all links, swept down and up, at a cost linear in them.

With y_k the unknowns of link k and its ties, the linearised equations of link k are

    A y_k + B y_{k-1} + C y_{k+1} = b_k

where B and C have few columns that are not zero: the ties. Coming from the last link, y_{k+1} is known on the columns
of C as S y_k + s, with S on the columns of B. Put in and solved, that gives y_k = T y_{k-1} + t, hence the next S and
s; going back up, y_0, y_1, ... follow one after another. In a chain of pendulums S is the inertia of all that hangs
below, as in Featherstone's articulated-body algorithm (2008, ch. 7), found here by elimination in the graph. Pivots are
chosen once, at the start of the run; where they are bad Newton's iteration fails, and the plain path takes the step.
"""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.kernel.elimination import solve
from discrete_hamel.kernel.graph import Graph, Unsupported
from discrete_hamel.kernel.links import FROM_ABOVE, Links
from discrete_hamel.kernel.lowering import lowered
from discrete_hamel.kernel.passes import Passes, sampled

Rows = list[dict[int, int]]


class Sweep:
    """Solves the linearised `residual` for the `unknowns`, both nodes of one link."""

    def __init__(self, links: Links, residual: list[int], unknowns: list[int], known: Mapping[int, Array]) -> None:
        self.links, self.residual = links, residual
        _, ties = links.varying(residual, unknowns)
        self.columns = [*unknowns, *(t.node for t in ties)]
        here, neighbours = self._equations(residual, ties)
        self.below = sorted({j for side, _, j in neighbours if side < 0})
        self.above = sorted({j for side, _, j in neighbours if side > 0})
        self.rows, self.neighbours = here, neighbours
        entries = {a for row in here for a in row.values() if links.graph.value(a) is None}
        self.entries = [*residual, *sorted(entries - set(residual))]
        self.size = len(unknowns)
        self._eliminate(known)

    def _equations(self, residual: list[int], ties: list[Any]) -> tuple[Rows, list[tuple[int, int, int]]]:
        """The rows of A, as column -> node, and where B or C is -1: (side, row, column). What is tied otherwise than by
        a sum gets a row and a column of its own, so that B and C are always numbers."""
        graph, one, neighbours = self.links.graph, self.links.graph.const(1.0), []
        slopes = graph.derivative([*residual, *(t.of for t in ties)], self.columns)
        rows, slopes = slopes[: len(residual)], slopes[len(residual) :]
        own: dict[int, int] = {}
        for i, (tie, slope) in enumerate(zip(ties, slopes, strict=True)):
            column = len(residual) + i
            row = {column: one}
            rows.append(row)
            if tie.is_sum:
                neighbours.append((tie.side, column, column))
                row |= {j: graph.neg(a) for j, a in slope.items()}
                continue
            if tie.of not in own:
                own[tie.of] = len(self.columns)
                self.columns.append(tie.of)
            neighbours.append((tie.side, column, own[tie.of]))
        for of, column in own.items():
            (slope,) = graph.derivative([of], self.columns[: len(residual) + len(ties)])
            rows.append({column: one, **{j: graph.neg(a) for j, a in slope.items()}})
        return [rows[i] for i in range(len(rows))], neighbours

    def _eliminate(self, known: Mapping[int, Array]) -> None:
        """The solution for one link in a graph of its own, with the orders of pivots of the middle link."""
        values = dict(zip(self.entries, sampled(self.links, self.entries, known), strict=True))
        self.graph = graph = Graph()
        middle = self.links.n // 2
        inputs = {a: graph.input(("entry", a), float(values[a][middle])) for a in self.entries}
        s_sample, t_sample = self._sample(values, middle)
        self.slopes = [graph.input(("S", i), float(x)) for i, x in enumerate(s_sample.ravel())]
        self.offsets = [graph.input(("s", i), float(x)) for i, x in enumerate(t_sample)]
        self.came = [graph.input(("y below", i), 1.0) for i in self.below]

        def entry(a: int) -> int:
            value = self.links.graph.value(a)
            return inputs[a] if value is None else graph.const(value)

        rows = [{j: entry(a) for j, a in row.items()} for row in self.rows]
        right = [graph.neg(inputs[a]) for a in self.residual]
        right += [graph.const(0.0)] * (len(rows) - len(right))
        for side, i, j in self.neighbours:
            if side < 0:
                right[i] = graph.add(right[i], self.came[self.below.index(j)])
                continue
            place = self.above.index(j)
            right[i] = graph.add(right[i], self.offsets[place])
            for b, column in enumerate(self.below):
                slope = self.slopes[place * len(self.below) + b]
                rows[i][column] = graph.sub(rows[i].get(column, graph.const(0.0)), slope)
        solution = solve(graph, rows, right)
        self.kept = sorted({*range(self.size), *self.below})
        t = graph.substitute(solution, dict.fromkeys(self.came, graph.const(0.0)))
        slopes = graph.derivative(solution, self.came)
        matrix = [[row.get(b, graph.const(0.0)) for b in range(len(self.below))] for row in slopes]
        self.inputs = [inputs[a] for a in self.entries]
        self.carried = [a for i in self.above for a in matrix[i]], [t[i] for i in self.above]
        self.stored = [[t[i], *matrix[i]] for i in self.kept]

    def _sample(self, values: dict[int, np.ndarray], middle: int) -> tuple[np.ndarray, np.ndarray]:
        """S and s as they come to the middle link, by numbers."""
        size, below, above = len(self.columns), self.below, self.above
        s: np.ndarray = np.zeros((len(above), len(below)))
        t: np.ndarray = np.zeros(len(above))
        for k in range(self.links.n - 1, middle, -1):
            a, b, right = np.zeros((size, size)), np.zeros((size, len(below))), np.zeros(size)
            right[: self.size] = [-values[r][k] for r in self.residual]
            for i, row in enumerate(self.rows):
                for j, node in row.items():
                    number = self.links.graph.value(node)
                    a[i, j] = values[node][k] if number is None else number
            for side, i, j in self.neighbours:
                if side < 0:
                    b[i, below.index(j)] += 1.0
                else:
                    right[i] += t[above.index(j)]
                    a[i, below] -= s[above.index(j)]
            try:
                solved = np.linalg.solve(a, np.column_stack([right, b]))[above]
            except np.linalg.LinAlgError:
                raise Unsupported("a link that is singular where the run starts") from None
            t, s = solved[:, 0], solved[:, 1:]
        return s, t

    @property
    def operations(self) -> int:
        """Of one link in one iteration."""
        stored = [a for row in self.stored for a in row]
        return self.links.graph.operations(self.entries) + self.graph.operations([*stored, *sum(self.carried, [])])

    def __call__(self, known: Mapping[int, Array]) -> list[Array]:
        """The correction of each unknown along the chain, at the values `known` (of the unknowns too)."""
        outputs = [*self.carried[0], *self.carried[1], *(a for row in self.stored for a in row)]
        elimination, cut = lowered(self.graph, outputs), len(self.carried[0]) + len(self.carried[1])

        def down(carry: tuple, entries: list[Array]) -> tuple[tuple, tuple]:
            values = zip([*self.slopes, *self.offsets, *self.inputs], [*carry, *entries], strict=True)
            results = elimination(dict(values))
            return tuple(results[:cut]), tuple(results[cut:])

        def up(came: tuple, rows: tuple) -> tuple[tuple, tuple]:
            width = 1 + len(self.below)
            y = {}
            for place, j in enumerate(self.kept):
                t, *slopes = rows[place * width : (place + 1) * width]
                y[j] = sum((a * b for a, b in zip(slopes, came, strict=True)), start=t)
            return tuple(y[j] for j in self.below), tuple(y[j] for j in range(self.size))

        zero = jnp.zeros_like(known[self.columns[0]][0])
        passes = Passes(self.links, self.entries, set(known), FROM_ABOVE)
        _, rows = passes(known, (zero,) * cut, down)
        _, correction = lax.scan(up, (zero,) * len(self.below), rows)
        return list(correction)
