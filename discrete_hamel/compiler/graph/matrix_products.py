"""Matrices of parameters times vectors, found among sums of products: the layers of a network."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from discrete_hamel.compiler.graph.expressions import Graph

FEWEST = 8  # rows
LEAST = 64  # numbers of a matrix, below which it is as well written out


class RowSums(NamedTuple):
    """Nodes that are sums over k of matrix[r][k] vector[k], and what is in these sums only."""

    rows: list[int]
    vector: list[int]
    matrix: list[list[int]]
    inside: set[int]


def find_products(graph: Graph, order: Sequence[int], outputs: Iterable[int], steady: Collection[int]) -> list[RowSums]:
    """The products of matrices of `steady` nodes with vectors of others, among nodes in order.

    >>> graph = Graph()
    >>> x = [graph.input(("x", k), 1.0) for k in range(8)]
    >>> a = [[graph.input((r, k), 1.0 + r + k) for k in range(8)] for r in range(8)]
    >>> rows = []
    >>> for row in a:
    ...     rows.append(graph.mul(row[0], x[0]))
    ...     for w, one in zip(row[1:], x[1:]):
    ...         rows[-1] = graph.add(rows[-1], graph.mul(w, one))
    >>> (found,) = find_products(graph, graph.dependencies(rows), rows, {w for row in a for w in row})
    >>> found.rows == rows, found.vector == x, found.matrix == a, len(found.inside)
    (True, True, True, 112)
    """
    if len(steady) < LEAST:
        return []
    uses = Counter(a for i in order for a in graph.operands(i))
    uses.update(outputs)
    there, taken = set(order), set[int]()
    sums: dict[tuple[int, ...], list[tuple[int, list[int], set[int]]]] = {}
    for end in reversed(order):
        if graph.nodes[end][0] == "add" and end not in taken:
            terms, inside = _terms(graph, end, uses, there, steady)
            if len(terms) > 1:
                taken |= inside
                vector = tuple(x for _, x in terms)
                sums.setdefault(vector, []).append((end, [w for w, _ in terms], inside))
    made = []
    for vector, found in sums.items():
        if len(found) >= FEWEST and len(found) * len(vector) >= LEAST and len(set(vector)) == len(vector):
            found.sort(key=lambda one: one[1])
            inside = set[int]().union(*(one[2] for one in found))
            made.append(RowSums([one[0] for one in found], list(vector), [one[1] for one in found], inside))
    return made


def _terms(
    graph: Graph, end: int, uses: Counter[int], there: set[int], steady: Collection[int]
) -> tuple[list[tuple[int, int]], set[int]]:
    """(factor, of what) of the terms of a sum, first to last, and the nodes in it alone; nothing if it is of others."""
    terms, inside, at = list[tuple[int, int]](), set[int](), end

    def term(i: int) -> tuple[int, int] | None:
        if graph.nodes[i][0] != "mul" or uses[i] != 1 or i not in there:
            return None
        a, b = graph.operands(i)
        if (a in steady) == (b in steady):
            return None
        return (a, b) if a in steady else (b, a)

    while True:
        a, b = graph.operands(at)
        first, second = term(a), term(b)
        if first and second:
            inside |= {a, b}
            return [first, second, *reversed(terms)], inside
        if not first and not second:
            return [], set()
        one, rest = (first, b) if first else (second, a)
        assert one is not None
        if graph.nodes[rest][0] != "add" or uses[rest] != 1 or rest not in there:
            return [], set()
        terms.append(one)
        inside |= {a, b}
        at = rest
