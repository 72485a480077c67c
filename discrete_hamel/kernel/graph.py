"""A scalar expression graph: folded and hash-consed, with a sample value at every node.

A node is (operation, operands); equal nodes are one node, so common subexpressions are found as they are built, and
products with 0 and 1 never come to be. The sample value (of the inputs, at some typical point) rides along, which lets
the elimination choose pivots without evaluating anything again.
"""

import math
from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np

# name -> (value, derivative as graph expression of (graph, node, operand))
UNARY: dict[str, tuple[Callable, Callable]] = {
    "sin": (np.sin, lambda g, _, a: g.unary("cos", a)),
    "cos": (np.cos, lambda g, _, a: g.neg(g.unary("sin", a))),
    "tan": (np.tan, lambda g, n, _: g.add(g.const(1.0), g.mul(n, n))),
    "exp": (np.exp, lambda g, n, _: n),
    "log": (np.log, lambda g, _, a: g.div(g.const(1.0), a)),
    "sqrt": (np.sqrt, lambda g, n, _: g.div(g.const(0.5), n)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda g, n, a: g.div(g.mul(g.const(-0.5), n), a)),
    "tanh": (np.tanh, lambda g, n, _: g.sub(g.const(1.0), g.mul(n, n))),
    "sinh": (np.sinh, lambda g, _, a: g.unary("cosh", a)),
    "cosh": (np.cosh, lambda g, _, a: g.unary("sinh", a)),
    "asin": (np.arcsin, lambda g, _, a: g.unary("rsqrt", g.sub(g.const(1.0), g.mul(a, a)))),
    "acos": (np.arccos, lambda g, _, a: g.neg(g.unary("rsqrt", g.sub(g.const(1.0), g.mul(a, a))))),
    "atan": (np.arctan, lambda g, _, a: g.div(g.const(1.0), g.add(g.const(1.0), g.mul(a, a)))),
    "log1p": (np.log1p, lambda g, _, a: g.div(g.const(1.0), g.add(g.const(1.0), a))),
    "expm1": (np.expm1, lambda g, n, _: g.add(n, g.const(1.0))),
}


class Graph:
    """Grows node by node; a node is an index into `nodes` and `samples`."""

    def __init__(self) -> None:
        self.nodes: list[tuple] = []
        self.samples: list[float] = []
        self._known: dict[tuple, int] = {}

    def _make(self, node: tuple, sample: float) -> int:
        index = self._known.get(node)
        if index is None:
            index = self._known[node] = len(self.nodes)
            self.nodes.append(node)
            self.samples.append(float(sample))
        return index

    def const(self, value: float) -> int:
        return self._make(("const", float(value)), value)

    def input(self, name: Any, sample: float) -> int:
        """A variable; `name` is any hashable key."""
        return self._make(("input", name), sample)

    def value(self, a: int) -> float | None:
        """The number a constant node is, else None."""
        node = self.nodes[a]
        return node[1] if node[0] == "const" else None

    def is_zero(self, a: int) -> bool:
        return self.value(a) == 0.0

    def add(self, a: int, b: int) -> int:
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.const(x + y)
        if x == 0:
            return b
        if y == 0:
            return a
        if self.nodes[b][0] == "neg":
            return self.sub(a, self.nodes[b][1])
        if self.nodes[a][0] == "neg":
            return self.sub(b, self.nodes[a][1])
        a, b = min(a, b), max(a, b)
        return self._make(("add", a, b), self.samples[a] + self.samples[b])

    def sub(self, a: int, b: int) -> int:
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.const(x - y)
        if y == 0:
            return a
        if x == 0:
            return self.neg(b)
        if a == b:
            return self.const(0.0)
        if self.nodes[b][0] == "neg":
            return self.add(a, self.nodes[b][1])
        return self._make(("sub", a, b), self.samples[a] - self.samples[b])

    def neg(self, a: int) -> int:
        x, node = self.value(a), self.nodes[a]
        if x is not None:
            return self.const(-x)
        if node[0] == "neg":
            return node[1]
        if node[0] == "sub":
            return self.sub(node[2], node[1])
        return self._make(("neg", a), -self.samples[a])

    def mul(self, a: int, b: int) -> int:
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.const(x * y)
        if x == 0 or y == 0:
            return self.const(0.0)
        for factor, other in ((x, b), (y, a)):
            if factor == 1:
                return other
            if factor == -1:
                return self.neg(other)
        if self.nodes[a][0] == "neg":
            return self.neg(self.mul(self.nodes[a][1], b))
        if self.nodes[b][0] == "neg":
            return self.neg(self.mul(a, self.nodes[b][1]))
        a, b = min(a, b), max(a, b)
        return self._make(("mul", a, b), self.samples[a] * self.samples[b])

    def div(self, a: int, b: int) -> int:
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None and y != 0:
            return self.const(x / y)
        if y == 1:
            return a
        if x == 0:
            return self.const(0.0)
        with np.errstate(all="ignore"):
            return self._make(("div", a, b), np.divide(self.samples[a], self.samples[b]))

    def power(self, a: int, exponent: int) -> int:
        """Integer powers by repeated squaring."""
        if exponent < 0:
            return self.div(self.const(1.0), self.power(a, -exponent))
        result, square = self.const(1.0), a
        while exponent:
            if exponent & 1:
                result = self.mul(result, square)
            exponent >>= 1
            square = self.mul(square, square) if exponent else square
        return result

    def unary(self, name: str, a: int) -> int:
        x = self.value(a)
        with np.errstate(all="ignore"):
            sample = UNARY[name][0](self.samples[a])
        if x is not None and math.isfinite(sample):
            return self.const(sample)
        return self._make((name, a), sample)

    def operands(self, index: int) -> tuple[int, ...]:
        node = self.nodes[index]
        return () if node[0] in ("const", "input") else node[1:]

    def needed(self, outputs: Iterable[int], given: Container[int] = ()) -> list[int]:
        """The nodes that outputs depend on, operands first; not looking behind those that are given."""
        seen: set[int] = set()
        stack = list(outputs)
        while stack:
            index = stack.pop()
            if index not in seen:
                seen.add(index)
                if index not in given:
                    stack.extend(self.operands(index))
        return sorted(seen)

    def operations(self, outputs: Iterable[int]) -> int:
        """How many arithmetic operations outputs cost."""
        return sum(1 for i in self.needed(outputs) if self.operands(i))

    def derivative(self, outputs: list[int], variables: list[int]) -> list[dict[int, int]]:
        """For each output, variable position -> d output / d variable, non-zero entries only."""
        partial: dict[int, dict[int, int]] = {v: {k: self.const(1.0)} for k, v in enumerate(variables)}
        for index in self.needed(outputs):
            if index not in partial:
                partial[index] = self._chain(index, partial)
        return [partial[o] for o in outputs]

    def _chain(self, index: int, partial: dict[int, dict[int, int]]) -> dict[int, int]:
        operation = self.nodes[index][0]
        operands = self.operands(index)
        if not any(partial[a] for a in operands):
            return {}
        if operation in UNARY:
            slope = UNARY[operation][1](self, index, operands[0])
            return {k: self.mul(slope, d) for k, d in partial[operands[0]].items()}
        if operation == "neg":
            return {k: self.neg(d) for k, d in partial[operands[0]].items()}
        a, b = operands
        one, zero = self.const(1.0), self.const(0.0)
        weights = {"add": lambda: (one, one), "sub": lambda: (one, self.const(-1.0)), "mul": lambda: (b, a)}
        if operation == "div":
            reciprocal = self.div(one, b)
            left, right = reciprocal, self.neg(self.mul(index, reciprocal))
        else:
            left, right = weights[operation]()
        pa, pb = partial[a], partial[b]
        entries = {k: self.add(self.mul(left, pa.get(k, zero)), self.mul(right, pb.get(k, zero))) for k in {**pa, **pb}}
        return {k: d for k, d in entries.items() if not self.is_zero(d)}
