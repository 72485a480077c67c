"""What a literal 0 hides: 0 x is no node of a graph, so that nobody sees there that x overflows, where JAX has a NaN.

The reading notes each such x (`Graph.hidden`). Nearly all are finite wherever their inputs are, by interval arithmetic,
or are terms and factors of what is made, which then is not finite either; for the others there is a guard.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.simplifying.angle_identities import without_idle_angles

MOST = float(np.finfo(float).max)
LARGEST = 1e30  # what inputs are taken to be at most: of their polynomials, those to the tenth degree do not overflow
ANY = (-math.inf, math.inf)
SHOWING = ("add", "sub", "mul", "neg")  # not finite where an operand is not; as a quotient where its dividend is not
Range = tuple[float, float]


def guards(graph: Graph, outputs: Iterable[int]) -> list[int]:
    """What has to be positive for the outputs to be trusted: pivots, and 1 where all that is hidden is finite."""
    outputs = [*outputs]
    return [*graph.guards_of(outputs), *finiteness(graph, outputs)]


def finiteness(graph: Graph, outputs: list[int]) -> list[int]:
    """1 where all that is hidden is finite, else 0; nothing if that is sure, or is seen in the outputs."""
    ranges = _Ranges(graph)
    sources = set(_sources(graph, ranges, graph.hidden))
    sources = {x for x in without_idle_angles(graph, sorted(sources)) if not ranges.finite(x)}
    sources -= _terms_and_factors(graph, outputs) if sources else set()
    if not sources:
        return []
    total = graph.const(0.0)
    for x in sorted(sources):
        total = graph.add(total, graph.unary("abs", x))
    return [graph.binary("le", total, graph.const(MOST))]


def _sources(graph: Graph, ranges: "_Ranges", hidden: Iterable[int]) -> Iterable[int]:
    """Nodes that are all finite only if what is hidden is, where something finite turns into what is not."""
    seen = set[int]()
    for x in hidden:
        stack = [x]
        while stack:
            index = stack.pop()
            if index in seen or ranges.finite(index):
                continue
            seen.add(index)  # what is behind it is looked at once, not for each that needs it
            name, operands = graph.nodes[index][0], graph.operands(index)
            worse = [a for a in operands if not ranges.finite(a)]
            if name == "div":
                yield graph.div(graph.const(1.0), operands[1])
                stack.append(operands[0])
            elif name in SHOWING and worse:
                stack.extend(worse)
            else:
                yield index


def _terms_and_factors(graph: Graph, outputs: Iterable[int]) -> set[int]:
    """The nodes without which the outputs are not finite."""
    seen: set[int] = set()
    stack = list(outputs)
    while stack:
        index = stack.pop()
        if index not in seen:
            seen.add(index)
            name, operands = graph.nodes[index][0], graph.operands(index)
            if name == "div":
                stack += [operands[0], graph.div(graph.const(1.0), operands[1])][: 1 + (graph.value(operands[0]) != 1)]
            elif name in SHOWING:
                stack.extend(operands)
    return seen


class _Ranges:
    """Between what numbers nodes are, where inputs are of moderate size; where they may be none, `ANY`."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.found = graph, dict[int, Range]()

    def finite(self, index: int) -> bool:
        if index not in self.found:
            for i in self.graph.dependencies([index], given=self.found):
                if i not in self.found:
                    self.found[i] = self._of(i)
        return _bounded(self.found[index])

    def _of(self, index: int) -> Range:
        value, operands = self.graph.value(index), self.graph.operands(index)
        if value is not None:
            return (value, value) if math.isfinite(value) else ANY
        if not operands:
            return -LARGEST, LARGEST
        name, of = self.graph.nodes[index][0], [self.found[a] for a in operands]
        if name in ("lt", "le", "gt", "ge", "eq", "ne"):
            return 0.0, 1.0
        of = of[1:] if name == "select" else of
        if name not in RANGES or not all(map(_bounded, of)):
            return ANY
        if name == "mul" and operands[0] == operands[1]:
            return 0.0, max(of[0][0] ** 2, of[0][1] ** 2) if max(map(abs, of[0])) < 1e154 else math.inf
        return RANGES[name](*of[0], *of[-1])


def _bounded(range_: Range) -> bool:
    return range_[0] >= -MOST and range_[1] <= MOST


def _of_ends(operation: Callable[[float, float], float], a: float, b: float, c: float, d: float) -> Range:
    ends = [operation(x, y) for x in (a, b) for y in (c, d)]
    return min(ends), max(ends)


# From the least and the most of the first operand, and of the last.
RANGES: dict[str, Callable[[float, float, float, float], Range]] = {
    "add": lambda a, b, c, d: (a + c, b + d),
    "sub": lambda a, b, c, d: (a - d, b - c),
    "neg": lambda a, b, *_: (-b, -a),
    "mul": lambda *of: _of_ends(lambda x, y: x * y, *of),
    "div": lambda a, b, c, d: ANY if c <= 0 <= d else _of_ends(lambda x, y: x / y, a, b, c, d),
    "max": lambda a, b, c, d: (max(a, c), max(b, d)),
    "min": lambda a, b, c, d: (min(a, c), min(b, d)),
    "select": lambda a, b, c, d: (min(a, c), max(b, d)),
    "abs": lambda a, b, *_: (max(a, -b, 0.0), max(-a, b)),
    "floor": lambda a, b, *_: (a - 1, b),
    "ceil": lambda a, b, *_: (a, b + 1),
    "stop_gradient": lambda a, b, *_: (a, b),
    "sqrt": lambda a, b, *_: ANY if a < 0 else (math.sqrt(a), math.sqrt(b)),
    "rsqrt": lambda a, b, *_: ANY if a <= 0 else (1 / math.sqrt(b), 1 / math.sqrt(a)),
    "log": lambda a, b, *_: ANY if a <= 0 else (math.log(a), math.log(b)),
    "exp": lambda a, b, *_: ANY if b > 700 else (math.exp(a), math.exp(b)),
    **dict.fromkeys(("sin", "cos", "tanh", "sign"), lambda *_: (-1.0, 1.0)),
    **dict.fromkeys(("atan", "atan2"), lambda *_: (-4.0, 4.0)),
    "logistic": lambda *_: (0.0, 1.0),
}
