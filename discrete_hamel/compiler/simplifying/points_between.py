"""Points between two nodes as unknowns, where rows see the next node through them alone.

In q1 - q0 - h Psi(q) xi = 0, mu(q, xi) - .. = 0 with q = (1 - tau) q0 + tau q1 that is q, and what it solves is

    q - q0 - tau h Psi(q) xi = 0,    then    q1 = q0 + h Psi(q) xi,

where (1 - tau) q0 + tau (q0 + ..) has been made q0 + tau (..), once and not in each entry of a Jacobian.

A product with h = 0.2 rounds to one side by up to a tenth of a unit, so that h (xi1 a - xi2 b) in the first half of a
step and (h^2) xi1 xi2 in the second would drift. Here h xi is one number in both: what it rounds off is another xi.
"""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.simplifying.fewer_unknowns import TERMS, Formulas, fewer_unknowns, polynomial

MOST = 12  # coordinates, beyond which an iteration is hardly shorter for it: 1 % of that of a chain of 14 links


class Fewer(NamedTuple):
    """The rows and unknowns that remain, the formulas of the others, the nodes that are unknowns by themselves, and the
    products h xi that are to stay what they are."""

    rows: list[int]
    unknowns: list[int]
    formulas: Formulas
    points: dict[int, int]
    products: set[int]


class _Point(NamedTuple):
    """A sum that stands for the unknown in it: its node, itself as an unknown, what gives the unknown then, its row."""

    node: int
    itself: int
    unknown: int
    formula: int
    row: int


def eliminate_points(
    graph: Graph, residual: list[int], unknowns: list[int], places: Iterable[int], parameters: Iterable[int]
) -> Fewer:
    """As `fewer_unknowns`, of these points where they can be eliminated."""
    places = list(places)
    given, standing = _with_products(graph, residual, unknowns, places, {*parameters})
    points = _points(graph, given, unknowns, places, standing)
    while points:
        seen = {p.node: p.itself for p in points.values()}
        others = graph.substitute(given, seen)
        rows = [points[i].row if i in points else row for i, row in enumerate(others)]
        inside = [points[i].itself if i in points else unknown for i, unknown in enumerate(unknowns)]
        rows, left, formulas = fewer_unknowns(graph, rows, inside, places, cleared=True)
        stay = {i for i, p in points.items() if p.itself in left}
        if not stay:
            formulas = [*((p.unknown, p.formula) for p in points.values()), *formulas]
            back = graph.substitute([*rows, *(f for _, f in formulas)], standing)
            named = zip((u for u, _ in formulas), back[len(rows) :], strict=True)
            return Fewer(back[: len(rows)], left, list(named), seen, {*standing.values()})
        points = _points(graph, given, unknowns, sorted({*points} - stay), standing)
    return Fewer(*fewer_unknowns(graph, residual, unknowns, places), {}, set())


def _with_products(
    graph: Graph, residual: list[int], unknowns: list[int], places: list[int], parameters: set[int]
) -> tuple[list[int], dict[int, int]]:
    """The rows at these places as sums of (h xi) b, and what stands for each product h xi.

    They are multiplied out but for the sums of which unknowns are a part, and sums of what they were come last.
    """
    if len(places) > MOST:
        return residual, {}
    rows, standing, here = list(residual), dict[int, int](), {unknowns[i] for i in places}
    sums = {y: graph.input_like(("sum", y), y) for y, _ in _sums(graph, residual, here, {*unknowns}).values()}
    for i in places:
        (row,) = graph.substitute([residual[i]], sums)
        terms = polynomial(graph, row, TERMS)
        if terms is None:
            continue
        fast: list[tuple[float, int]] = []
        slow: list[tuple[float, int]] = []
        for factors, x in terms.items():
            scale = [f for f in factors if f in parameters]
            rate = [f for f in factors if f in unknowns and f not in here]
            first = reduce(graph.mul, [*scale, *rate], graph.const(abs(x)))
            if scale and rate:
                first = _stand_for(graph, first, standing)
            rest = [f for f in factors if f not in scale and f not in rate]
            (fast if scale and rate else slow).append((x, reduce(graph.mul, rest, first)))
        (rows[i],) = graph.substitute([_sum(graph, [*fast, *slow])], {v: y for y, v in sums.items()})
    return rows, standing


def _stand_for(graph: Graph, product: int, standing: dict[int, int]) -> int:
    """An unknown in place of a product."""
    alone = graph.input_like(("product", product), product)
    standing[alone] = product
    return alone


def _points(
    graph: Graph, residual: list[int], unknowns: list[int], places: list[int], standing: dict[int, int]
) -> dict[int, _Point]:
    """The points by the places of their unknowns; what stands for their shares of products is put to `standing`."""
    sums = _sums(graph, residual, {unknowns[i] for i in places}, set(unknowns))
    itself = {u: graph.input_like(("between", u), y) for u, (y, _) in sums.items()}
    rows = graph.substitute(residual, {y: itself[u] for u, (y, _) in sums.items()})
    seen = _rows_with(graph, rows, set(sums))
    found: dict[int, _Point] = {}
    for i in places:
        u = unknowns[i]
        if u not in sums or seen[u] != 1 << i or (formula := _alone(graph, rows[i], u)) is None:
            continue
        node, share = sums[u]
        (start,) = graph.substitute([node], {u: graph.const(0.0)})
        point = _along(graph, start, share, formula, standing)
        found[i] = _Point(node, itself[u], u, formula, graph.sub(itself[u], point))
    return found


def _sums(graph: Graph, rows: list[int], wanted: set[int], unknowns: set[int]) -> dict[int, tuple[int, int]]:
    """Unknown -> the one node a + b u with a and b that no unknown changes, and b."""
    changing, shares = set(unknowns), {u: (u, graph.const(1.0)) for u in wanted}
    found: dict[int, list[tuple[int, int]]] = {u: [] for u in wanted}
    for index in graph.dependencies(rows):
        name, operands = graph.nodes[index][0], graph.operands(index)
        if changing.isdisjoint(operands):
            continue
        changing.add(index)
        if len(operands) != 2 or operands[0] == operands[1]:
            continue
        for a, b in (operands, operands[::-1]):
            if b in shares and a not in changing:
                unknown, share = shares[b]
                if name == "mul" and b == unknown:
                    shares[index] = unknown, a
                elif name == "add":
                    found[unknown].append((index, share))
    return {u: only[0] for u, only in found.items() if len(only) == 1}


def _rows_with(graph: Graph, rows: list[int], unknowns: set[int]) -> dict[int, int]:
    """Unknown -> the rows that it is in, a bit each."""
    within = dict.fromkeys(graph.dependencies(rows), 0)
    for i, row in enumerate(rows):
        within[row] |= 1 << i
    for index in reversed(within):
        for a in graph.operands(index):
            within[a] |= within[index]
    return {u: within.get(u, 0) for u in unknowns}


def _alone(graph: Graph, row: int, unknown: int) -> int | None:
    """What a row that is unknown + f or f - unknown says that the unknown is."""
    terms = _terms(graph, row)
    signs = [sign for sign, term in terms if term == unknown]
    if len(signs) != 1 or any(unknown in graph.dependencies([t]) for _, t in terms if t != unknown):
        return None
    (rest,) = graph.substitute([row], {unknown: graph.const(0.0)})
    return graph.neg(rest) if signs[0] > 0 else rest


def _terms(graph: Graph, index: int, sign: float = 1.0) -> list[tuple[float, int]]:
    """What a node is a sum of, with signs."""
    name, operands = graph.nodes[index][0], graph.operands(index)
    if name not in ("add", "sub", "neg"):
        return [(sign, index)]
    signs = (sign, -sign) if name == "sub" else (-sign,) if name == "neg" else (sign, sign)
    return [term for s, a in zip(signs, operands, strict=True) for term in _terms(graph, a, s)]


def _along(graph: Graph, start: int, share: int, formula: int, standing: dict[int, int]) -> int:
    """start + share formula, with what start and one term of the formula have in common collected."""
    terms = _terms(graph, formula)
    for k, (sign, term) in enumerate(terms):
        both = (graph.sub if sign < 0 else graph.add)(start, graph.mul(share, term))
        collected = polynomial(graph, both, TERMS)
        if collected is not None and list(collected.values()) == [1.0] and all(len(f) == 1 for f in collected):
            ((known,),) = collected
            rest = [*terms[:k], *terms[k + 1 :]]
            within = [_share_of(graph, share, term, standing) for _, term in rest]
            if None not in within:
                return _sum(graph, [(1.0, known), *((s, w) for (s, _), w in zip(rest, within, strict=True) if w)])
            return graph.add(known, graph.mul(share, _sum(graph, rest)))
    return graph.add(start, graph.mul(share, formula))


def _share_of(graph: Graph, share: int, term: int, standing: dict[int, int]) -> int | None:
    """share (h xi) b as ((share h) xi) b."""
    factors = graph.operands(term) if graph.nodes[term][0] == "mul" else (term,)
    alone = [f for f in factors if f in standing]
    if len(alone) != 1:
        return None
    scale, rate = graph.operands(standing[alone[0]])
    product = graph.mul(graph.mul(share, scale), rate)
    return reduce(graph.mul, [f for f in factors if f not in alone], _stand_for(graph, product, standing))


def _sum(graph: Graph, terms: list[tuple[float, int]]) -> int:
    total = graph.const(0.0)
    for sign, term in terms:
        total = (graph.add if sign > 0 else graph.sub)(total, term)
    return total
