"""Fewer unknowns: rows that are linear in one unknown give it as a formula of the others, before any iteration.

In q1 - q0 - h Psi(q_tau) xi = 0 that is often all of q1: Newton's method is then left with xi only. An unknown is
eliminated only by a divisor that is a number, or a polynomial that cannot come near zero (1 + h^2 xi^2 / 4, say), so
that no accuracy can be lost wherever a run leads.
"""

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from types import MappingProxyType

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.operations import FLAT

TERMS = 40  # of a polynomial, beyond which it is not looked at
LONG = 10_000  # operations of rows, beyond which a slope is sought only where a row is of first degree as it is written

Polynomial = dict[tuple[int, ...], float]  # sorted factors -> coefficient
Formulas = list[tuple[int, int]]  # unknown and the expression it equals, which may use the unknowns that come later


def fewer_unknowns(
    graph: Graph, residual: list[int], unknowns: list[int], places: Iterable[int], cleared: bool = False
) -> tuple[list[int], list[int], Formulas]:
    """The rows and unknowns that remain, and the formulas of the others; tries row i for unknown i, i in `places`,
    if it is to be `cleared` without the quotients that others have put in.
    """
    formulas, open_places = [], list(places)
    gone: list[int] = []
    known: dict[int, int] = {}
    if graph.operations(residual) > LONG:
        powers = higher_powers(graph, residual, unknowns)
        open_places = [i for i in open_places if not powers[i] >> i & 1]
    for numbers_only in (True, False):
        for i in [i for i in open_places if i not in gone]:
            (row,) = graph.substitute([residual[i]], known)
            row = without_quotients(graph, row) if cleared else row
            slope = _slope(graph, row, unknowns[i])
            if slope is None or not _is_divisor(graph, slope, numbers_only):
                continue
            (rest,) = graph.substitute([row], {unknowns[i]: graph.const(0.0)})
            formula = graph.neg(graph.div(rest, slope))
            formulas.append((unknowns[i], formula))
            gone.append(i)
            known = _with(graph, known, unknowns[i], formula)
    kept = [i for i in range(len(residual)) if i not in gone]
    return graph.substitute([residual[i] for i in kept], known), [unknowns[i] for i in kept], formulas


def higher_powers(graph: Graph, rows: list[int], unknowns: list[int]) -> list[int]:
    """Of each row the unknowns in which it is not of first degree as it is written, a bit each.

    What cancels is not seen: a slope would show it, and take as long for each row as this for all.
    """
    depends, higher = {u: 1 << k for k, u in enumerate(unknowns)}, dict.fromkeys(unknowns, 0)
    for index in graph.dependencies(rows):
        if index in higher:
            continue
        name, parts = graph.nodes[index][0], [depends[a] for a in graph.operands(index)]
        depends[index] = found = reduce(or_, parts, 0)
        if name in ("add", "sub", "neg"):
            found = 0
        elif name in ("mul", "div"):
            found = parts[0] & parts[1] if name == "mul" else parts[1]
        higher[index] = reduce(or_, (higher[a] for a in graph.operands(index)), found)
    return [higher[row] for row in rows]


def in_the_others(graph: Graph, formulas: Formulas, points: Mapping[int, int] = MappingProxyType({})) -> dict[int, int]:
    """Each eliminated unknown in those that remain, for all to be put in at once; `points` are nodes that are such."""
    known: dict[int, int] = {}
    for unknown, formula in formulas:
        known = _with(graph, known, unknown, formula)
    return known | {node: known[itself] for node, itself in points.items()}


def _with(graph: Graph, known: dict[int, int], unknown: int, formula: int) -> dict[int, int]:
    before = zip(known, graph.substitute(list(known.values()), {unknown: formula}), strict=True)
    return {**dict(before), unknown: formula}


def linear(graph: Graph, rows: list[int], unknowns: list[int]) -> bool:
    """Whether rows are linear in the unknowns all together: their slopes are free of them, and hide nothing."""
    slopes = [a for row in graph.derivative(rows, unknowns) for a in row.values()]
    return not set(graph.dependencies(slopes)) & set(unknowns) and not hides_slopes(graph, rows, unknowns)


def hides_slopes(graph: Graph, rows: list[int], unknowns: list[int]) -> bool:
    """Whether rows change with the unknowns in ways that no slope shows: a sign, a comparison, `stop_gradient`."""
    varying = set(unknowns)
    for index in graph.dependencies(rows):
        if any(a in varying for a in graph.operands(index)):
            if graph.nodes[index][0] in FLAT:
                return True
            varying.add(index)
    return False


def _slope(graph: Graph, row: int, unknown: int) -> int | None:
    """d row / d unknown, if the row is linear in it."""
    slope = graph.derivative([row], [unknown])[0].get(0)
    if slope is None or unknown in graph.dependencies([slope]) or hides_slopes(graph, [row], [unknown]):
        return None
    return slope


def _is_divisor(graph: Graph, slope: int, numbers_only: bool) -> bool:
    value = graph.value(slope)
    if numbers_only or value is not None:
        return value is not None and value != 0
    return positive(graph, slope)


def without_quotients(graph: Graph, row: int) -> int:
    """A row times what its quotients are divided by, multiplied out, if that is one that cannot come near zero."""
    quotients = [i for i in graph.dependencies([row]) if graph.nodes[i][0] == "div"]
    below = {graph.operands(i)[1] for i in quotients}
    if len(below) != 1 or not positive(graph, divisor := below.pop()):
        return row
    share = graph.input_like(("reciprocal", divisor), graph.div(graph.const(1.0), divisor))
    (flat,) = graph.substitute([row], {i: graph.mul(graph.operands(i)[0], share) for i in quotients})
    if (terms := polynomial(graph, flat, TERMS)) is None:
        return row
    most, cleared = max(factors.count(share) for factors in terms), graph.const(0.0)
    for factors, x in terms.items():
        others = [divisor] * (most - factors.count(share)) + [f for f in factors if f != share]
        cleared = graph.add(cleared, reduce(graph.mul, others, graph.const(x)))
    terms = polynomial(graph, cleared, TERMS)
    return row if terms is None else sum_of_products(graph, terms)


def sum_of_products(graph: Graph, terms: Polynomial) -> int:
    """The sum of products that a polynomial is."""
    products = [reduce(graph.mul, factors, graph.const(x)) for factors, x in terms.items()]
    return reduce(graph.add, products, graph.const(0.0))


def positive(graph: Graph, index: int) -> bool:
    """Whether a node is a polynomial with a positive constant term and otherwise positive terms of even powers only."""
    terms = polynomial(graph, index, TERMS)
    if terms is None:
        return False
    even = all(all(factors.count(f) % 2 == 0 for f in factors) for factors in terms)
    return even and all(c > 0 for c in terms.values()) and () in terms


def polynomial(
    graph: Graph, index: int, most: int, known: dict[int, Polynomial | None] | None = None
) -> Polynomial | None:
    """A node multiplied out; None if that takes more than `most` terms. What is no polynomial is a factor.

    `known` keeps those of other nodes, for the same `most`.
    """
    known = {} if known is None else known
    for i in graph.dependencies([index], given=known):
        if i in known:
            continue
        parts = [known[a] for a in graph.operands(i)] if graph.nodes[i][0] in ("add", "sub", "neg", "mul") else None
        known[i] = _multiplied_out(graph, i, parts, most)
    return known[index]


def _multiplied_out(graph: Graph, index: int, parts: list[Polynomial | None] | None, most: int) -> Polynomial | None:
    operation, value = graph.nodes[index][0], graph.value(index)
    if value is not None:
        return {(): value}
    if parts is None:
        return {(index,): 1.0}
    if any(part is None or len(part) > most for part in parts):
        return None
    first, second = parts[0] or {}, (parts[1] if len(parts) > 1 else {}) or {}
    result: Polynomial = {}
    if operation == "mul":
        if len(first) * len(second) > most * most:
            return None
        for a, x in first.items():
            for b, y in second.items():
                factors = tuple(sorted((*a, *b)))
                result[factors] = result.get(factors, 0.0) + x * y
            if len(result) > 2 * most:  # some may cancel
                return None
    else:
        signs = {"add": (1.0, 1.0), "sub": (1.0, -1.0), "neg": (-1.0, 0.0)}[operation]
        for sign, part in zip(signs, (first, second), strict=True):
            for factors, x in part.items():
                result[factors] = result.get(factors, 0.0) + sign * x
    return {factors: x for factors, x in result.items() if x != 0}
