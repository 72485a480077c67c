"""Products with their factors in the order in which they change: parameters, then the state, then the unknowns.

(m 0.5) (2 (R u)) becomes (m R) u, and m R is evaluated once for all steps. What two terms of a sum have in common of
slowly changing factors goes in front of the sum. Only roundings change.
"""

from collections.abc import Container
from functools import reduce
from typing import NamedTuple

from discrete_hamel.compiler.graph.expressions import Graph


class Product(NamedTuple):
    """A node as sign times a product of one factor a level; None where a level has none."""

    sign: int
    parts: tuple[int | None, ...]


def regroup_products(
    graph: Graph, outputs: list[int], levels: list[list[int]], whole: Container[int] = ()
) -> list[int]:
    """The outputs with regrouped products; `levels` has the variables that change ever more often, `whole` products
    that stay as they are."""
    level = {index: k for k, variables in enumerate(levels) for index in variables}
    products: dict[int, Product] = {}
    for index in graph.dependencies(outputs):
        operands = graph.operands(index)
        if operands:
            level[index] = max(level[a] for a in operands)
        else:
            level.setdefault(index, 0)
        if index in whole:
            products[index] = _single(graph, index, level[index], len(levels))
            continue
        products[index] = _product(graph, index, [products[a] for a in operands], level[index], len(levels))
        level.setdefault(node(graph, products[index]), level[index])
    return [node(graph, products[o]) for o in outputs]


def node(graph: Graph, product: Product) -> int:
    """The product multiplied, slowest factors first."""
    first, *others = [part for part in product.parts if part is not None] or [graph.const(1.0)]
    result = reduce(graph.mul, others, first)
    return result if product.sign > 0 else graph.neg(result)


def _single(graph: Graph, index: int, at: int, levels: int) -> Product:
    sign, index = (-1, graph.nodes[index][1]) if graph.nodes[index][0] == "neg" else (1, index)
    if graph.value(index) == 1.0:
        return Product(sign, (None,) * levels)
    return Product(sign, tuple(index if k == at else None for k in range(levels)))


def _product(graph: Graph, index: int, operands: list[Product], at: int, levels: int) -> Product:
    operation = graph.nodes[index][0]
    if operation == "mul":
        return _product_of(graph, *operands)
    if operation == "neg":
        return Product(-operands[0].sign, operands[0].parts)
    if operation == "add" and operands[0] == operands[1]:
        two = _single(graph, graph.const(2.0), 0, levels)
        return _product_of(graph, two, operands[0])
    if operation in ("add", "sub"):
        return _sum(graph, operation, (operands[0], operands[1]), at, levels)
    if not operands:
        return _single(graph, index, at, levels)
    if operation == "div":
        return _quotient(graph, operands[0], operands[1], levels)
    return _single(graph, graph.apply(operation, *(node(graph, p) for p in operands)), at, levels)


def _product_of(graph: Graph, a: Product, b: Product) -> Product:
    return Product(a.sign * b.sign, tuple(_times(graph, x, y) for x, y in zip(a.parts, b.parts, strict=True)))


def _times(graph: Graph, a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return a if b is None else b
    product = graph.mul(a, b)
    return None if graph.value(product) == 1.0 else product


def _quotient(graph: Graph, a: Product, b: Product, levels: int) -> Product:
    """a times 1 / b: a division by the same thing is done once."""
    below = node(graph, b)
    if graph.value(below) is not None:
        return _single(graph, graph.div(node(graph, a), below), _fastest(a), levels)
    reciprocal = _single(graph, graph.div(graph.const(1.0), below), _fastest(b), levels)
    return _product_of(graph, a, reciprocal)


def _fastest(product: Product) -> int:
    return max((k for k, part in enumerate(product.parts) if part is not None), default=0)


def _sum(graph: Graph, operation: str, terms: tuple[Product, Product], at: int, levels: int) -> Product:
    """The common slow factors in front; both terms as they are if they have none in common."""
    (_, a), (_, b) = terms
    shared = 0
    while shared < at and a[shared] == b[shared]:
        shared += 1
    front, nothing = a[:shared], (None,) * shared
    rest = [node(graph, Product(p.sign, (*nothing, *p.parts[shared:]))) for p in terms]
    total = _single(graph, graph.apply(operation, *rest), at, levels)
    if graph.is_zero(node(graph, total)):
        return total
    return Product(total.sign, (*front, *total.parts[shared:]))
