"""LLVM's instructions for nodes of the graph: the same bits whoever calls them, and at any level of optimisation.

No instruction has a fast-math flag, so that LLVM may reorder and merge, but not round otherwise. What is fused into
x y + z (one rounding, and one operation) is decided here: a product that only one sum uses, where the processor can.
"""

import struct
from collections import Counter
from collections.abc import Mapping

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import LATENCY

ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
COMPARISONS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
INTRINSICS = {"sqrt": "llvm.sqrt.f64", "abs": "llvm.fabs.f64", "floor": "llvm.floor.f64", "ceil": "llvm.ceil.f64"}
IN_LIBM = {
    **{f: f for f in ("tan", "exp", "exp2", "log", "cbrt", "tanh", "sinh", "cosh", "log1p", "expm1", "pow", "atan2")},
    **{f: f for f in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
}
# LLVM is not told that these are the C library's: it would take others in their place, at some levels only.
SYMBOLS = ("sin", "cos", *IN_LIBM)  # of the C library, that code may call

DECLARED = "".join(
    [
        "declare double @llvm.fma.f64(double, double, double)\n",
        *(f"declare double @{name}(double)\n" for name in INTRINSICS.values()),
        *(
            f"declare double @{name}(double) nounwind nobuiltin memory(none)\n"
            for name in SYMBOLS
            if name not in ("pow", "atan2")
        ),
        *(f"declare double @{name}(double, double) nounwind nobuiltin memory(none)\n" for name in ("pow", "atan2")),
    ]
)


def number(value: float) -> str:
    """A double as LLVM reads it, to the bit.

    >>> number(1.0)
    '0x3FF0000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Code:
    """The instructions of one function, in order; `fused` says whether the processor has x y + z as one operation."""

    def __init__(self, fused: bool) -> None:
        self.lines: list[str] = []
        self.fused, self.count = fused, 0

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
        if self.fused:
            return self(f"call double @llvm.fma.f64(double {x}, double {y}, double {z})")
        return self(f"fadd double {self(f'fmul double {x}, {y}')}, {z}")

    def at(self, pointer: str, place: int | str) -> str:
        """The address of a double."""
        return self(f"getelementptr inbounds double, ptr {pointer}, i64 {place}")

    def load(self, pointer: str, place: int | str) -> str:
        return self(f"load double, ptr {self.at(pointer, place)}")

    def store(self, value: str, pointer: str, place: int | str) -> None:
        address = self.at(pointer, place)
        self.do(f"store double {value}, ptr {address}")


class Emitted:
    """The values by node of part of a graph in one function, made as they are asked for, operands first.

    `known` are values by node that are there already; `order` lists all nodes that will be evaluated, and `outputs`
    those that are used outside as well.
    """

    def __init__(
        self, code: Code, graph: Graph, order: list[int], outputs: list[int], known: Mapping[int, str]
    ) -> None:
        self.code, self.graph, self.values = code, graph, dict(known)
        self.truths: dict[int, str] = {}  # as one bit
        self.zero_or_one: set[int] = set()
        self.turns: dict[int, tuple[str, str]] = {}
        self.ready: dict[int, int] = {}
        uses = Counter(a for i in order for a in graph.operands(i))
        shared = set(outputs)
        inside = set(order)
        self.single = {i for i in inside if graph.nodes[i][0] == "mul" and uses[i] == 1 and i not in shared}
        users = {a: i for i in order for a in graph.operands(i) if a in self.single}
        self.single = {i for i in self.single if graph.nodes[users[i]][0] in ("add", "sub")} if code.fused else set()
        for index in order:
            self._emit(index)

    def value(self, index: int) -> str:
        """The value of a node as a double."""
        constant = self.graph.value(index)
        if constant is not None:
            return number(constant)
        if index not in self.values:
            if index in self.truths:
                self.values[index] = self.code(f"uitofp i1 {self.truths[index]} to double")
            else:  # a product that was to be part of a sum
                x, y = (self.value(a) for a in self.graph.operands(index))
                self.values[index] = self.code(f"fmul double {x}, {y}")
        return self.values[index]

    def truth(self, index: int) -> str:
        """Whether a node is not 0, as one bit."""
        constant = self.graph.value(index)
        if constant is not None:
            return "true" if constant else "false"
        if index not in self.truths:
            self.truths[index] = self.code(f"fcmp une double {self.value(index)}, {number(0.0)}")
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
                pair = self.code(f"call {{double, double}} @circular(double {self.value(angle)})")
                both = (self.code(f"extractvalue {{double, double}} {pair}, {k}") for k in (0, 1))
                self.turns[angle] = (next(both), next(both))
            self.values[index] = self.turns[angle][operation == "cos"]
        elif operation == "select":
            truth, a, b = operands
            chosen = f"select i1 {self.truth(truth)}, double {self.value(a)}, double {self.value(b)}"
            self.values[index] = self.code(chosen)
        else:
            self.values[index] = _plainly(self.code, operation, [self.value(a) for a in operands])

    def _on_truths(self, index: int, operation: str, operands: list[int]) -> bool:
        """Comparisons, and what is made of them by and, or, not: one bit as long as nobody asks for a number."""
        if operation in COMPARISONS:
            x, y = (self.value(a) for a in operands)
            self.truths[index] = self.code(f"fcmp {COMPARISONS[operation]} double {x}, {y}")
            self.zero_or_one.add(index)
            return True
        if operation not in ("mul", "max", "sub") or not all(self._is_truth(a) for a in operands):
            return False
        if operation == "sub":
            if self.graph.value(operands[0]) != 1.0:
                return False
            self.truths[index] = self.code(f"xor i1 {self.truth(operands[1])}, true")
        else:
            x, y = (self.truth(a) for a in operands)
            self.truths[index] = self.code(f"{'and' if operation == 'mul' else 'or'} i1 {x}, {y}")
        self.zero_or_one.add(index)
        return True

    def _sum(self, operation: str, a: int, b: int) -> str:
        """x + y or x - y, with the product that is ready last as part of it."""
        products = [i for i in (a, b) if i in self.single and i not in self.values]
        if not products or a == b:
            return self.code(f"{ARITHMETIC[operation]} double {self.value(a)}, {self.value(b)}")
        product = max(products, key=lambda i: self.ready[i])
        x, y = (self.value(i) for i in self.graph.operands(product))
        if product == a:
            other = self.value(b)
            return self.code.fma(x, y, self.code(f"fneg double {other}") if operation == "sub" else other)
        if operation == "sub":
            x = self.code(f"fneg double {x}")
        return self.code.fma(x, y, self.value(a))


def _plainly(code: Code, operation: str, values: list[str]) -> str:
    """An operation on doubles."""
    x, y = values[0], values[-1]
    if operation in ARITHMETIC:
        return code(f"{ARITHMETIC[operation]} double {x}, {y}")
    if operation in INTRINSICS:
        return code(f"call double @{INTRINSICS[operation]}(double {x})")
    if operation in IN_LIBM:
        operands = ", ".join(f"double {v}" for v in values)
        return code(f"call double @{IN_LIBM[operation]}({operands})")
    if operation == "neg":
        return code(f"fneg double {x}")
    if operation in ("max", "min"):  # no number where either is none
        better = code(f"fcmp {'oge' if operation == 'max' else 'ole'} double {x}, {y}")
        chosen = code(f"or i1 {better}, {code(f'fcmp uno double {x}, {x}')}")
        return code(f"select i1 {chosen}, double {x}, double {y}")
    if operation == "sign":
        zero, below = number(0.0), code(f"fcmp olt double {x}, {number(0.0)}")
        below = code(f"select i1 {below}, double {number(-1.0)}, double {x}")
        return code(f"select i1 {code(f'fcmp ogt double {x}, {zero}')}, double {number(1.0)}, double {below}")
    if operation == "rsqrt":
        return code(f"fdiv double {number(1.0)}, {code(f'call double @llvm.sqrt.f64(double {x})')}")
    if operation == "logistic":
        power = code(f"call double @exp(double {code(f'fneg double {x}')})")
        return code(f"fdiv double {number(1.0)}, {code(f'fadd double {power}, {number(1.0)}')}")
    if operation == "stop_gradient":
        return x
    raise KeyError(operation)
