"""A Jacobian in vector lanes, kept over the corrections of a step: where unrolling it would take longer than it saves.

The tangents of eight unknowns go side by side in one vector, so that the code of a Jacobian grows with the residual and
not with its square. It is eliminated with row pivots.
"""

from collections.abc import Callable, Iterable

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.native.instructions import Code, Kind, number
from discrete_hamel.compiler.native.kept import WIDTH, KeptJacobian, at_place, loop, splat
from discrete_hamel.compiler.native.section import Memory, Section
from discrete_hamel.compiler.step.root import Root


class JacobianColumns(Section):
    """The tangents of outputs, eight columns a vector; `given` are scalars, the same in all columns.

    The places of tangents that no later part reads are used again: what is at work then stays in the nearest cache.
    """

    def __init__(
        self, name: str, graph: Graph, outputs: list[int], directions: list[int], given: Iterable[int],
        memory: Memory, fused: bool,
    ) -> None:  # fmt: skip
        self.slots = {node: k for k, node in enumerate(directions)}
        super().__init__(name, graph, outputs, [*given, *directions], memory, Kind(fused, WIDTH))

    def _allot(self) -> None:
        home = {i: k for k, part in enumerate(self.parts) for i in part}
        last = dict.fromkeys(self.outputs, len(self.parts))
        for k, part in enumerate(self.parts):
            for a in (a for i in part for a in self.graph.operands(i)):
                if a in home and home[a] != k:
                    last[a] = max(last.get(a, k), k)
        self.shared = [[i for i in part if i in last] for part in self.parts]
        free, count = list[int](), len(self.slots)
        for k, part in enumerate(self.shared):
            for i in part:
                self.slots[i] = free.pop() if free else (count := count + 1) - 1
            free += [self.slots[i] for i in last if last[i] == k and i in home]
        self.base = self.memory.new(WIDTH * count)

    def at(self, code: Code, node: int) -> str:
        """The address of a tangent."""
        return code(f"getelementptr inbounds double, ptr %memory, i64 {self.base + WIDTH * self.slots[node]}")

    def value(self, code: Code, node: int) -> str:
        """A tangent, or the number that it is."""
        known = self.graph.value(node)
        return self._load(code, node) if known is None else code.kind.number(known)

    def _load(self, code: Code, node: int) -> str:
        one = code.kind.double
        if node in self.slots:
            return code(f"load {one}, ptr {self.at(code, node)}, align 8")
        place = code(f"getelementptr inbounds double, ptr %memory, i64 {self.memory.place(self.graph, node)}")
        return splat(code, code(f"load double, ptr {place}, align 8"))

    def _store(self, code: Code, node: int, value: str) -> None:
        code.do(f"store {code.kind.double} {value}, ptr {self.at(code, node)}, align 8")


class DenseJacobian(KeptJacobian):
    """That of a root with `directions`."""

    def __init__(
        self,
        name: str,
        root: Root,
        weights: list[int],
        values: list[int],
        have: set[int],
        memory: Memory,
        kind: Kind,
        steady: set[int],
    ) -> None:
        super().__init__(name, root, weights, values, have, memory, kind, steady)
        directions, along = root.directions or ([], [])
        given = self.known | set(self.scalars)
        self.columns = JacobianColumns(f"{name}_columns", self.graph, along, directions, given, memory, kind.fused)
        self.matrix, self.order = memory.new(self.n * self.stride), memory.new(self.n)
        self._consists_of([self.residual, self.slopes, self.columns])

    def _anew(self, code: Code) -> None:
        code.do(f"call void @{self.name}_jacobian(ptr %memory)")
        code.do(f"call void @{self.name}_factor(ptr %memory)")

    def _correct(self, code: Code, right: list[str]) -> None:
        for k, value in enumerate(right):
            code.store(value, "%memory", self.made + k)
        code.do(f"call void @{self.name}_solve(ptr %memory)")

    @property
    def _bodies(self) -> dict[str, Callable[[Code], None]]:
        return {"jacobian": self._jacobian, "factor": self._factor, "solve": self._solve}

    def _jacobian(self, code: Code) -> None:
        """The matrix, eight columns at a time: directions that are unit vectors, and the tangents of the rows."""
        columns, one = self.columns, code.kind.double
        directions, along = self.root.directions or ([], [])

        def some_columns(first: str) -> None:
            for node in directions:
                code.do(f"store {one} zeroinitializer, ptr {columns.at(code, node)}, align 8")
            end = code(f"add i64 {first}, {WIDTH}")
            few = code(f"icmp slt i64 {end}, {self.n}")
            end = code(f"select i1 {few}, i64 {end}, i64 {self.n}")
            loop(code, "unit", first, end, lambda c: set_one(c, first))
            columns.call(code)
            for k, node in enumerate(along):
                value = columns.value(code, node)
                place = code(f"add i64 {first}, {self.matrix + k * self.stride}")
                code.do(f"store {one} {value}, ptr {at_place(code, place)}, align 8")

        def set_one(column: str, first: str) -> None:
            lane = code(f"sub i64 {column}, {first}")
            place = code(f"add i64 {code(f'mul i64 {column}, {WIDTH}')}, {columns.base}")
            code.do(f"store double {number(1.0)}, ptr {at_place(code, code(f'add i64 {place}, {lane}'))}")

        loop(code, "pass", "0", str(self.stride), some_columns, WIDTH)

    def _factor(self, code: Code) -> None:
        """P J = L U by rows, in place: below the diagonal L, on it the reciprocals of the pivots."""
        n, stride, one = self.n, self.stride, code.kind.double
        lanes = f"<{', '.join(f'i64 {k}' for k in range(WIDTH))}>"

        def row(i: str) -> str:
            return at_place(code, code(f"add i64 {code(f'mul i64 {i}, {stride}')}, {self.matrix}"))

        def entry(i: str, k: str) -> str:
            return code(f"getelementptr inbounds double, ptr {row(i)}, i64 {k}")

        def column(k: str) -> None:
            after = code(f"add i64 {k}, 1")
            largest = code(f"call double @llvm.fabs.f64(double {code(f'load double, ptr {entry(k, k)}')})")
            _, best = loop(code, "search", after, str(n), lambda i, a, p: larger(i, k, a, p), 1, (largest, k))
            code.do(f"store i64 {best}, ptr {at_place(code, code(f'add i64 {k}, {self.order}'))}")
            upper, lower = row(k), row(best)
            loop(code, "swap", "0", str(stride), lambda c: swap(c, upper, lower), WIDTH)
            pivot = entry(k, k)
            reciprocal = code(f"fdiv double {number(1.0)}, {code(f'load double, ptr {pivot}')}")
            code.do(f"store double {reciprocal}, ptr {pivot}")
            first = code(f"and i64 {k}, {-WIDTH}")
            loop(code, "below", after, str(n), lambda i: eliminate(i, k, upper, reciprocal, first))

        def larger(i: str, k: str, best: str, at: str) -> tuple[str, str]:
            size = code(f"call double @llvm.fabs.f64(double {code(f'load double, ptr {entry(i, k)}')})")
            more = code(f"fcmp ogt double {size}, {best}")
            return (
                code(f"select i1 {more}, double {size}, double {best}"),
                code(f"select i1 {more}, i64 {i}, i64 {at}"),
            )

        def swap(c: str, upper: str, lower: str) -> None:
            places = [code(f"getelementptr inbounds double, ptr {p}, i64 {c}") for p in (upper, lower)]
            values = [code(f"load {one}, ptr {p}, align 8") for p in places]
            for value, place in zip(values, reversed(places), strict=True):
                code.do(f"store {one} {value}, ptr {place}, align 8")

        def eliminate(i: str, k: str, upper: str, reciprocal: str, first: str) -> None:
            target = row(i)
            place = code(f"getelementptr inbounds double, ptr {target}, i64 {k}")
            factor = code(f"fmul double {code(f'load double, ptr {place}')}, {reciprocal}")
            code.do(f"store double {factor}, ptr {place}")
            back, at_k = splat(code, code(f"fneg double {factor}")), whole(k)
            loop(code, "block", first, str(stride), lambda c: subtract(c, upper, target, back, at_k), WIDTH)

        def subtract(c: str, upper: str, target: str, back: str, at_k: str) -> None:
            above, here = (code(f"getelementptr inbounds double, ptr {p}, i64 {c}") for p in (upper, target))
            old = code(f"load {one}, ptr {here}, align 8")
            new = code.fma(back, code(f"load {one}, ptr {above}, align 8"), old)
            right = code(f"icmp sgt <{WIDTH} x i64> {code(f'add <{WIDTH} x i64> {whole(c)}, {lanes}')}, {at_k}")
            code.do(f"store {one} {code.select(right, new, old)}, ptr {here}, align 8")

        def whole(i: str) -> str:
            kind = f"<{WIDTH} x i64>"
            first = code(f"insertelement {kind} poison, i64 {i}, i32 0")
            return code(f"shufflevector {kind} {first}, {kind} poison, <{WIDTH} x i32> zeroinitializer")

        loop(code, "column", "0", str(n), column)

    def _solve(self, code: Code) -> None:
        """-B^-1 r, from -r: by L and U, and then by the corrections since the Jacobian was evaluated."""
        n, made = self.n, self.made
        scalar = Code(Kind(code.kind.fused))
        scalar.lines, scalar.count = code.lines, code.count

        def value(at: int | str, i: str) -> str:
            return scalar(f"load double, ptr {place(at, i)}")

        def place(at: int | str, i: str) -> str:
            return at_place(scalar, scalar(f"add i64 {i}, {at}"))

        def entry(i: str, k: str) -> str:
            return value(scalar(f"add i64 {scalar(f'mul i64 {i}, {self.stride}')}, {self.matrix}"), k)

        def swap(k: str) -> None:
            other = scalar(f"load i64, ptr {place(self.order, k)}")
            here, there = place(made, k), place(made, other)
            a, b = (scalar(f"load double, ptr {p}") for p in (here, there))
            scalar.do(f"store double {b}, ptr {here}")
            scalar.do(f"store double {a}, ptr {there}")

        def subtract(i: str, k: str, known: str) -> None:
            back = scalar(f"fneg double {entry(i, k)}")
            scalar.do(f"store double {scalar.fma(back, known, value(made, i))}, ptr {place(made, i)}")

        def down(k: str) -> None:
            known = value(made, k)
            loop(scalar, "lower", scalar(f"add i64 {k}, 1"), str(n), lambda i: subtract(i, k, known))

        def up(from_end: str) -> None:
            k = scalar(f"sub i64 {n - 1}, {from_end}")
            known = scalar(f"fmul double {value(made, k)}, {entry(k, k)}")
            scalar.do(f"store double {known}, ptr {place(made, k)}")
            loop(scalar, "upper", "0", k, lambda i: subtract(i, k, known))

        loop(scalar, "order", "0", str(n), swap)
        loop(scalar, "down", "0", str(n), down)
        loop(scalar, "up", "0", str(n), up)
        code.count = scalar.count
        self._follow(code)
