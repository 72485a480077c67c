"""LLVM's instructions for nodes of the graph: the same bits whoever calls them, and at any level of optimisation.

No instruction has a fast-math flag, so that LLVM may reorder and merge, but not round otherwise. What is fused into
x y + z (one rounding, and one operation) is decided here: a product that only one sum uses, where the processor can.
"""

import struct
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import LATENCY

ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
COMPARISONS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil"}
OF_ONE: tuple[str, ...] = ("tan", "exp", "exp2", "log", "cbrt", "sinh", "cosh", "log1p", "expm1")
OF_ONE += ("asin", "acos", "atan", "asinh", "acosh", "atanh")
OF_TWO = ("pow", "atan2")
# LLVM is not told that these are the C library's: it would take others in their place, at some levels only.
SYMBOLS = ("sin", "cos", *OF_ONE, *OF_TWO)
GROUP = 16  # of the same function, of so many numbers at once where they can be had


def number(value: float) -> str:
    """A double as LLVM reads it, to the bit.

    >>> number(1.0)
    '0x3FF0000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Kind(NamedTuple):
    """What values are: doubles, or vectors of one double a lane; and whether x y + z is one operation."""

    fused: bool
    lanes: int = 1

    def of(self, scalar: str) -> str:
        """The type that has one of these in each lane."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    @property
    def double(self) -> str:
        return self.of("double")

    def number(self, value: float) -> str:
        """The same number in each lane."""
        return self.bits(f"double {number(value)}")

    def bits(self, constant: str) -> str:
        """The same constant, with its type, in each lane."""
        return constant.split(" ")[1] if self.lanes == 1 else f"<{', '.join([constant] * self.lanes)}>"

    def intrinsic(self, name: str) -> str:
        return f"@llvm.{name}.{'' if self.lanes == 1 else f'v{self.lanes}'}f64"

    @property
    def circular(self) -> str:
        """The function that gives sine and cosine."""
        return "@circular" if self.lanes == 1 else f"@circular{self.lanes}"

    @property
    def hyperbolic(self) -> str:
        """The function that gives the hyperbolic tangent."""
        return "@hyperbolic" if self.lanes == 1 else f"@hyperbolic{self.lanes}"

    def intrinsics(self) -> str:
        """LLVM's own that code of this kind may call."""
        one, unary = self.double, (*INTRINSICS.values(), "fma")
        operands = (", ".join([one] * (3 if f == "fma" else 1)) for f in unary)
        return "".join(f"declare {one} {self.intrinsic(f)}({of})\n" for f, of in zip(unary, operands, strict=True))

    def declarations(self) -> str:
        """What code of this kind may call, and the C library's."""
        lines = [self.intrinsics()]
        for name in SYMBOLS:
            operands = "double, double" if name in OF_TWO else "double"
            lines.append(f"declare double @{name}({operands}) nounwind nobuiltin memory(none)\n")
        return "".join(lines)


class Code:
    """The instructions of one function, in order."""

    def __init__(self, kind: Kind) -> None:
        self.lines: list[str] = []
        self.kind, self.count = kind, 0

    def __call__(self, instruction: str) -> str:
        """A new value."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {instruction}")
        return f"%v{self.count}"

    def do(self, instruction: str) -> None:
        """What has no value."""
        self.lines.append(f"  {instruction}")

    def fma(self, x: str, y: str, z: str) -> str:
        """x y + z, rounded once where the processor can."""
        kind = self.kind.double
        if self.kind.fused:
            return self(f"call {kind} {self.kind.intrinsic('fma')}({kind} {x}, {kind} {y}, {kind} {z})")
        return self(f"fadd {kind} {self(f'fmul {kind} {x}, {y}')}, {z}")

    def unary(self, intrinsic: str, x: str) -> str:
        kind = self.kind.double
        return self(f"call {kind} {self.kind.intrinsic(intrinsic)}({kind} {x})")

    def select(self, truth: str, x: str, y: str) -> str:
        return self(f"select {self.kind.of('i1')} {truth}, {self.kind.double} {x}, {self.kind.double} {y}")

    def compare(self, how: str, x: str, y: str) -> str:
        return self(f"fcmp {how} {self.kind.double} {x}, {y}")

    def library(self, name: str, values: list[str]) -> str:
        """A function of the C library, lane by lane."""
        kind = self.kind.double
        if self.kind.lanes == 1:
            return self(f"call double @{name}({', '.join(f'double {v}' for v in values)})")
        whole = "poison"
        for lane in range(self.kind.lanes):
            each = [self(f"extractelement {kind} {v}, i32 {lane}") for v in values]
            one = self(f"call double @{name}({', '.join(f'double {v}' for v in each)})")
            whole = self(f"insertelement {kind} {whole}, double {one}, i32 {lane}")
        return whole

    def at(self, pointer: str, place: int | str) -> str:
        """The address of a value."""
        return self(f"getelementptr inbounds {self.kind.double}, ptr {pointer}, i64 {place}")

    def load(self, pointer: str, place: int | str) -> str:
        return self(f"load {self.kind.double}, ptr {self.at(pointer, place)}, align 8")

    def store(self, value: str, pointer: str, place: int | str) -> None:
        address = self.at(pointer, place)
        self.do(f"store {self.kind.double} {value}, ptr {address}, align 8")


Load = Callable[[Code, int], str]
Store = Callable[[Code, int, str], None]


class Emitted:
    """The values by node of part of a graph in one function, made as they are asked for, operands first.

    `order` lists all nodes that will be evaluated, and `outputs` those that are used outside as well, which go to
    `store` as soon as they are there; what is not in `order` comes from `load` when it is first used. Loaded all at
    once, and stored all at the end, values would outlive the registers, and LLVM take three times as long. A part of
    what is evaluated elsewhere, `among`, has its bits: by that it is decided what is one operation.
    """

    def __init__(
        self,
        code: Code,
        graph: Graph,
        order: list[int],
        outputs: list[int],
        load: Load,
        store: Store,
        among: list[int] | None = None,
    ) -> None:
        self.code, self.graph, self.load = code, graph, load
        self.values: dict[int, str] = {}
        self.truths: dict[int, str] = {}  # as one bit
        self.zero_or_one: set[int] = set()
        self.turns: dict[int, tuple[str, str]] = {}
        self.ready: dict[int, int] = {}
        among = order if among is None else among
        uses = Counter(a for i in among for a in graph.operands(i))
        shared = set(outputs)
        self.inside = inside = set(order)
        products = {i for i in inside if graph.nodes[i][0] == "mul" and uses[i] == 1 and i not in shared}
        users = {a: graph.nodes[i][0] for i in among for a in graph.operands(i) if a in products}
        self.single = {i for i in products if code.kind.fused and users[i] in ("add", "sub")}
        self.grouped: dict[int, list[int]] = {}
        for index in self._in_groups(order):
            self._emit(index)
            if index in shared:
                store(code, index, self.value(index))

    def _in_groups(self, order: list[int]) -> list[int]:
        """The order with each GROUP of hyperbolic tangents together, none of which depends on another, behind all that
        they are of: the units of a network's layer."""
        tangents = [i for i in order if self.graph.nodes[i][0] == "tanh"]
        if self.code.kind.lanes > 1 or len(tangents) < GROUP:
            return order
        behind = dict.fromkeys(order, 0)  # how many of them lie behind one another
        for i in order:
            before = max((behind.get(a, 0) for a in self.graph.operands(i)), default=0)
            behind[i] = before + (self.graph.nodes[i][0] == "tanh")
        for layer in ([i for i in tangents if behind[i] == k] for k in sorted({behind[i] for i in tangents})):
            self.grouped |= {layer[k]: layer[k : k + GROUP] for k in range(0, len(layer) - GROUP + 1, GROUP)}
        return sorted(order, key=lambda i: (behind[i], self.graph.nodes[i][0] != "tanh"))

    def _group(self, members: list[int]) -> None:
        """Hyperbolic tangents at once."""
        code, several = self.code, Kind(self.code.kind.fused, GROUP)
        whole = "poison"
        for k, i in enumerate(members):
            (x,) = self.graph.operands(i)
            whole = code(f"insertelement {several.double} {whole}, double {self.value(x)}, i32 {k}")
        found = code(f"call {several.double} {several.hyperbolic}({several.double} {whole})")
        for k, i in enumerate(members):
            self.values[i] = code(f"extractelement {several.double} {found}, i32 {k}")

    def value(self, index: int) -> str:
        """The value of a node as a double."""
        constant = self.graph.value(index)
        if constant is not None:
            return self.code.kind.number(constant)
        if index not in self.values:
            if index not in self.inside:
                self.values[index] = self.load(self.code, index)
            elif index in self.truths:
                self.values[index] = self._count(self.truths[index])
            else:  # a product that was to be part of a sum
                x, y = (self.value(a) for a in self.graph.operands(index))
                self.values[index] = self.code(f"fmul {self.code.kind.double} {x}, {y}")
        return self.values[index]

    def _count(self, truth: str) -> str:
        kind = self.code.kind
        return self.code(f"uitofp {kind.of('i1')} {truth} to {kind.double}")

    def truth(self, index: int) -> str:
        """Whether a node is not 0, as one bit."""
        constant = self.graph.value(index)
        if constant is not None:
            return self.code.kind.bits(f"i1 {'true' if constant else 'false'}")
        if index not in self.truths:
            self.truths[index] = self.code.compare("une", self.value(index), self.code.kind.number(0.0))
        return self.truths[index]

    def _is_truth(self, index: int) -> bool:
        return index in self.zero_or_one or str(self.graph.value(index)) in ("0.0", "1.0")  # and not -0.0

    def _emit(self, index: int) -> None:
        operation, *operands = self.graph.nodes[index]
        if operation == "const":
            return
        late = [self.ready.get(a, 0) for a in operands]
        self.ready[index] = max(late) + LATENCY.get(operation, 4)
        if index in self.single:
            return
        if self._on_truths(index, operation, operands):
            return
        if operation in ("add", "sub"):
            self.values[index] = self._sum(operation, *operands)
        elif operation in ("sin", "cos"):
            (angle,) = operands
            if angle not in self.turns:
                kind = self.code.kind.double
                pair = self.code(f"call {{{kind}, {kind}}} {self.code.kind.circular}({kind} {self.value(angle)})")
                both = (self.code(f"extractvalue {{{kind}, {kind}}} {pair}, {k}") for k in (0, 1))
                self.turns[angle] = (next(both), next(both))
            self.values[index] = self.turns[angle][operation == "cos"]
        elif operation == "tanh":
            if index in self.grouped:
                self._group(self.grouped[index])
            elif index not in self.values:
                kind, name = self.code.kind.double, self.code.kind.hyperbolic
                self.values[index] = self.code(f"call {kind} {name}({kind} {self.value(*operands)})")
        elif operation == "select":
            truth, a, b = operands
            self.values[index] = self.code.select(self.truth(truth), self.value(a), self.value(b))
        else:
            self.values[index] = _plainly(self.code, operation, [self.value(a) for a in operands])

    def _on_truths(self, index: int, operation: str, operands: list[int]) -> bool:
        """Comparisons, and what is made of them by and, or, not: one bit as long as nobody asks for a number."""
        if operation in COMPARISONS:
            x, y = (self.value(a) for a in operands)
            self.truths[index] = self.code.compare(COMPARISONS[operation], x, y)
            self.zero_or_one.add(index)
            return True
        if operation not in ("mul", "max", "sub") or not all(self._is_truth(a) for a in operands):
            return False
        if operation == "sub":
            if self.graph.value(operands[0]) != 1.0:
                return False
            bits = self.code.kind.of("i1")
            self.truths[index] = self.code(f"xor {bits} {self.truth(operands[1])}, {self.code.kind.bits('i1 true')}")
        else:
            x, y = (self.truth(a) for a in operands)
            both = "and" if operation == "mul" else "or"
            self.truths[index] = self.code(f"{both} {self.code.kind.of('i1')} {x}, {y}")
        self.zero_or_one.add(index)
        return True

    def _sum(self, operation: str, a: int, b: int) -> str:
        """x + y or x - y, with the product that is ready last as part of it."""
        kind = self.code.kind.double
        products = [i for i in (a, b) if i in self.single and i not in self.values]
        if not products or a == b:
            return self.code(f"{ARITHMETIC[operation]} {self.code.kind.double} {self.value(a)}, {self.value(b)}")
        product = max(reversed(products), key=lambda i: self.ready[i])
        x, y = (self.value(i) for i in self.graph.operands(product))
        if product == a:
            other = self.value(b)
            return self.code.fma(x, y, self.code(f"fneg {kind} {other}") if operation == "sub" else other)
        if operation == "sub":
            x = self.code(f"fneg {kind} {x}")
        return self.code.fma(x, y, self.value(a))


def _plainly(code: Code, operation: str, values: list[str]) -> str:
    """An operation on doubles."""
    x, y, kind = values[0], values[-1], code.kind
    zero, one = kind.number(0.0), kind.number(1.0)
    if operation in ARITHMETIC:
        return code(f"{ARITHMETIC[operation]} {kind.double} {x}, {y}")
    if operation in INTRINSICS:
        return code.unary(INTRINSICS[operation], x)
    if operation in SYMBOLS:
        return code.library(operation, values)
    if operation == "neg":
        return code(f"fneg {kind.double} {x}")
    if operation in ("max", "min"):  # no number where either is none
        better = code.compare("oge" if operation == "max" else "ole", x, y)
        return code.select(code(f"or {kind.of('i1')} {better}, {code.compare('uno', x, x)}"), x, y)
    if operation == "sign":
        below = code.select(code.compare("olt", x, zero), kind.number(-1.0), x)
        return code.select(code.compare("ogt", x, zero), one, below)
    if operation == "rsqrt":
        return code(f"fdiv {kind.double} {one}, {code.unary('sqrt', x)}")
    if operation == "logistic":
        power = code.library("exp", [code(f"fneg {kind.double} {x}")])
        return code(f"fdiv {kind.double} {one}, {code(f'fadd {kind.double} {power}, {one}')}")
    if operation == "stop_gradient":
        return x
    raise KeyError(operation)
