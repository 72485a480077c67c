"""A scalar expression graph: folded and hash-consed, with a sample value at every node.

A node is (operation, operands); equal nodes are one node, so common subexpressions are found as they are built, and
products with 0 and 1 never come to be. The sample value (of the inputs, at some typical point) rides along, which lets
the elimination choose pivots without evaluating anything again.
"""

import math
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable
from typing import TypeVar

import numpy as np

from discrete_hamel._support.caches import StartReason
from discrete_hamel.compiler.graph.decision import Decision
from discrete_hamel.compiler.graph.operations import BINARY, UNARY
from discrete_hamel.compiler.graph.size_limits import MOST_NODES

Outcome = TypeVar("Outcome")


class Unsupported(Exception):
    """Why a function cannot be turned into a scalar graph; `at_start` says that from another start it may be."""

    def __init__(self, why: str, at_start: bool = False) -> None:
        super().__init__(why)
        self.reason = StartReason(why) if at_start else why


class Graph:
    """Grows node by node; a node is an index into `nodes` and `samples`."""

    def __init__(self) -> None:
        self.nodes: list[tuple] = []
        self._operands: list[tuple[int, ...]] = []
        self.samples: list[float] = []
        self.guards: dict[int, int] = {}  # reciprocal of a pivot -> what has to be positive for it to be trusted
        self.hidden: set[int] = set()  # what was read and is in no node, as it is multiplied by a literal 0
        self.own_derivatives: set[str] = set()  # primitives met whose derivative is not that of what they compute
        self.decisions: list[Decision] = []
        self.sampled_as: dict[int, int] = {}  # input -> the node whose sample it has
        self._known: dict[tuple, int] = {}

    def __repr__(self) -> str:
        """How many nodes there are of each operation, the most frequent first."""
        count = Counter(node[0] for node in self.nodes)
        return f"Graph({', '.join(f'{number} {name}' for name, number in count.most_common())})"

    def _make(self, node: tuple, sample: float) -> int:
        index = self._known.get(node)
        if index is None:
            if len(self.nodes) >= MOST_NODES:
                raise Unsupported(f"more than {MOST_NODES} operations")
            index = self._known[node] = len(self.nodes)
            self.nodes.append(node)
            self._operands.append(() if node[0] in ("const", "input") else node[1:])
            self.samples.append(float(sample))
        return index

    def copy_node(self, operation: str, operands: Iterable[int], sample: float) -> int:
        """A node as it stands in another graph, of which nothing is to be folded any more."""
        return self._make((operation, *operands), sample)

    def const(self, value: float) -> int:
        return self._make(("const", float(value)), value)

    def input(self, name: Hashable, sample: float) -> int:
        """A variable; `name` is any hashable key."""
        return self._make(("input", name), sample)

    def input_like(self, name: Hashable, node: int) -> int:
        """A variable that has the sample of a node."""
        index = self.input(name, self.samples[node])
        self.sampled_as[index] = node
        return index

    def decide(self, rule: Callable[..., Outcome], *about: object) -> Outcome:
        """What a rule makes of this graph, its samples and plain data: on record, as a program depends on it."""
        outcome = rule(self, self.samples, *about)
        self.decisions.append(Decision(rule, about, outcome))
        return outcome

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

    def binary(self, name: str, a: int, b: int) -> int:
        """The operations of the table that have two operands."""
        x, y = self.value(a), self.value(b)
        with np.errstate(all="ignore"):
            sample = float(BINARY[name][0](self.samples[a], self.samples[b]))
        if x is not None and y is not None and math.isfinite(sample):
            return self.const(sample)
        if name == "pow" and y is not None and y == int(y) and abs(y) <= 16:
            return self.power(a, int(y))
        return self._make((name, a, b), sample)

    def select(self, truth: int, a: int, b: int) -> int:
        """a where `truth` is not 0, else b."""
        known = self.value(truth)
        if known is not None or a == b:
            return a if known else b
        return self._make(("select", truth, a, b), self.samples[a if self.samples[truth] else b])

    def operands(self, index: int) -> tuple[int, ...]:
        return self._operands[index]

    def dependencies(self, outputs: Iterable[int], given: Container[int] = (), since: int = 0) -> list[int]:
        """The nodes that outputs depend on, operands first; not looking behind those that are given, or were there
        before the node `since`, and so cannot depend on it."""
        seen: set[int] = set()
        stack, behind = list(outputs), self._operands
        while stack:
            index = stack.pop()
            if index not in seen:
                seen.add(index)
                if index >= since and index not in given:
                    stack.extend(behind[index])
        return sorted(seen)

    def guards_of(self, outputs: Iterable[int]) -> list[int]:
        """What has to be positive for the pivots in the outputs to be trusted."""
        return sorted({self.guards[i] for i in self.dependencies(outputs) if i in self.guards})

    def operations(self, outputs: Iterable[int]) -> int:
        """How many arithmetic operations outputs cost."""
        behind = self._operands
        return sum(1 for i in self.dependencies(outputs) if behind[i])

    def substitute(self, outputs: list[int], replacements: dict[int, int]) -> list[int]:
        """The outputs with nodes replaced by others, folded anew."""
        new, first = dict(replacements), min(replacements, default=0)
        for index in self.dependencies(outputs, given=replacements, since=first):
            operands = self.operands(index)
            if index > first and index not in new and any(new[a] != a for a in operands):
                new[index] = self.apply(self.nodes[index][0], *(new[a] for a in operands))
            new.setdefault(index, index)
        return [new[o] for o in outputs]

    def apply(self, operation: str, *operands: int) -> int:
        """The node of an operation by its name."""
        for table, make in ((UNARY, self.unary), (BINARY, self.binary)):
            if operation in table:
                return make(operation, *operands)
        return getattr(self, operation)(*operands)

    def derivative(self, outputs: list[int], variables: list[int]) -> list[dict[int, int]]:
        """For each output, variable position -> d output / d variable, non-zero entries only."""
        partial: dict[int, dict[int, int]] = {v: {k: self.const(1.0)} for k, v in enumerate(variables)}
        first = min(variables, default=0)
        for index in self.dependencies(outputs, since=first):
            if index not in partial:
                partial[index] = self._chain(index, partial) if index > first else {}
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
        one, zero = self.const(1.0), self.const(0.0)
        if operation == "select":
            truth, pa, pb = operands[0], partial[operands[1]], partial[operands[2]]
            return {k: self.select(truth, pa.get(k, zero), pb.get(k, zero)) for k in {**pa, **pb}}
        a, b = operands
        weights = {"add": lambda: (one, one), "sub": lambda: (one, self.const(-1.0)), "mul": lambda: (b, a)}
        if operation == "div":
            reciprocal = self.div(one, b)
            left, right = reciprocal, self.neg(self.mul(index, reciprocal))
        elif operation in BINARY:
            left, right = BINARY[operation][1](self, index, a, b)
        else:
            left, right = weights[operation]()
        pa, pb = partial[a], partial[b]
        entries = {k: self.add(self.mul(left, pa.get(k, zero)), self.mul(right, pb.get(k, zero))) for k in {**pa, **pb}}
        return {k: d for k, d in entries.items() if not self.is_zero(d)}
