"""A Jacobian in vector lanes, kept over the corrections of a step: where unrolling it would take longer than it saves.

The tangents of eight unknowns go side by side in one vector, so that the code of a Jacobian grows with the residual and
not with its square. It is inverted with row pivots.
"""

from collections.abc import Callable, Iterable

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.native.instructions import Code, Kind, number
from discrete_hamel.compiler.native.kept import WIDTH, KeptJacobian, at_place, loop, splat, sum_of_lanes
from discrete_hamel.compiler.native.section import Memory, Section


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

    def _last_section(self) -> Section:
        """Columns of the Jacobian."""
        memory, (directions, along) = self.memory, self.root.directions or ([], [])
        given = self.known | set(self.scalars)
        name, fused = f"{self.name}_columns", self.kind.fused
        self.columns = JacobianColumns(name, self.graph, along, directions, given, memory, fused)
        self.matrix, self.order = memory.new(self.n * self.stride), memory.new(self.n)
        self.right = memory.new(self.stride)
        return self.columns

    def begin(self, code: Code) -> None:
        super().begin(code)
        for k in range(self.n, self.stride):
            code.store(number(0.0), "%memory", self.right + k)

    def _anew(self, code: Code) -> None:
        code.do(f"call void @{self.name}_jacobian(ptr %memory)")
        code.do(f"call void @{self.name}_invert(ptr %memory)")

    def _correct(self, code: Code, right: list[str]) -> None:
        for k, value in enumerate(right):
            code.store(value, "%memory", self.made + k)
        code.do(f"call void @{self.name}_solve(ptr %memory)")

    @property
    def _bodies(self) -> dict[str, Callable[[Code], None]]:
        return {"jacobian": self._jacobian, "invert": self._invert, "solve": self._solve}

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

    def _invert(self, code: Code) -> None:
        """(P J)^-1 in place of J, by Gauss and Jordan with row pivots; `order` has the rows that P takes.

        A product with it is short sums side by side, where substitution waits for each unknown in turn.
        """
        n = self.n

        def larger(i: str, k: str, best: str, at: str) -> tuple[str, str]:
            size = code(f"call double @llvm.fabs.f64(double {code(f'load double, ptr {self._entry(code, i, k)}')})")
            more = code(f"fcmp ogt double {size}, {best}")
            return (
                code(f"select i1 {more}, double {size}, double {best}"),
                code(f"select i1 {more}, i64 {i}, i64 {at}"),
            )

        def put_in_order(i: str) -> None:
            code.do(f"store i64 {i}, ptr {self._row_number(code, i)}")

        def column(k: str, at: str) -> tuple[str]:
            """With the pivot in the row `at`; gives that of the next column."""
            swap_numbers(k, at)
            pivot = code(f"load double, ptr {self._entry(code, at, k)}")
            reciprocal = code(f"fdiv double {number(1.0)}, {pivot}")
            upper, lower = self._row(code, k), self._row(code, at)
            self._store_row(code, at, upper)
            scale = splat(code, reciprocal)
            scaled = [code(f"fmul {code.kind.double} {scale}, {part}") for part in lower]
            self._store_row(code, k, scaled)
            code.do(f"store double {reciprocal}, ptr {self._entry(code, k, k)}")
            after = code(f"add i64 {k}, 1")

            def below(i: str, best: str, at: str) -> tuple[str, str]:
                subtract(i, k, scaled, reciprocal)
                return larger(i, after, best, at)

            _, following = loop(code, "below", after, str(n), below, 1, (number(-1.0), after))
            loop(code, "above", "0", k, lambda i: subtract(i, k, scaled, reciprocal))
            return (following,)

        def swap_numbers(k: str, at: str) -> None:
            places = self._row_number(code, k), self._row_number(code, at)
            numbers = [code(f"load i64, ptr {place}") for place in places]
            for one, place in zip(numbers, reversed(places), strict=True):
                code.do(f"store i64 {one}, ptr {place}")

        def subtract(i: str, k: str, scaled: list[str], reciprocal: str) -> None:
            place = self._entry(code, i, k)
            back = code(f"fneg double {code(f'load double, ptr {place}')}")
            several = splat(code, back)
            rows = zip(self._row(code, i), scaled, strict=True)
            self._store_row(code, i, [code.fma(several, above, here) for here, above in rows])
            code.do(f"store double {code(f'fmul double {back}, {reciprocal}')}, ptr {place}")

        loop(code, "order", "0", str(n), put_in_order)
        _, first = loop(code, "search", "0", str(n), lambda i, *s: larger(i, "0", *s), 1, (number(-1.0), "0"))
        loop(code, "column", "0", str(n), column, 1, (first,), ("i64",))

    def _solve(self, code: Code) -> None:
        """-B^-1 r, from -r: by the inverse, and then by the corrections since the Jacobian was evaluated."""
        one, right = code.kind.double, self.right

        def gather(k: str) -> None:
            taken = code(f"load i64, ptr {self._row_number(code, k)}")
            value = code(f"load double, ptr {at_place(code, code(f'add i64 {taken}, {self.made}'))}")
            code.do(f"store double {value}, ptr {at_place(code, code(f'add i64 {k}, {right}'))}")

        def row(i: str) -> None:
            first, *rest = zip(self._row(code, i), parts, strict=True)
            total = code(f"fmul {one} {first[0]}, {first[1]}")
            for entries, values in rest:
                total = code.fma(entries, values, total)
            whole = sum_of_lanes(code, total)
            code.do(f"store double {whole}, ptr {at_place(code, code(f'add i64 {i}, {self.made}'))}")

        loop(code, "gather", "0", str(self.n), gather)
        places = (at_place(code, str(right + c)) for c in range(0, self.stride, WIDTH))
        parts = [code(f"load {one}, ptr {place}, align 8") for place in places]
        loop(code, "row", "0", str(self.n), row)
        self._follow(code)

    def _row_number(self, code: Code, k: str) -> str:
        """The address of the number that the k-th row has in J."""
        return at_place(code, code(f"add i64 {k}, {self.order}"))

    def _entry(self, code: Code, i: str, k: str) -> str:
        first = code(f"add i64 {code(f'mul i64 {i}, {self.stride}')}, {self.matrix}")
        return at_place(code, code(f"add i64 {first}, {k}"))

    def _row(self, code: Code, i: str) -> list[str]:
        """The vectors of a row."""
        return [code(f"load {code.kind.double}, ptr {place}, align 8") for place in self._places(code, i)]

    def _store_row(self, code: Code, i: str, parts: list[str]) -> None:
        for part, place in zip(parts, self._places(code, i), strict=True):
            code.do(f"store {code.kind.double} {part}, ptr {place}, align 8")

    def _places(self, code: Code, i: str) -> list[str]:
        first = self._entry(code, i, "0")
        columns = range(0, self.stride, WIDTH)
        return [code(f"getelementptr inbounds double, ptr {first}, i64 {c}") for c in columns]
