"""A Jacobian in vector lanes, kept over the corrections of a step: where unrolling it would take longer than it saves.

The tangents of eight unknowns go side by side in one vector, so that the code of a Jacobian grows with the residual and
not with its square. It is evaluated at the step's guess and eliminated with row pivots; the corrections that follow are
Broyden's,

    s_k = B_k^-1 (-r(z_k)),  B_{k+1} = B_k + r(z_{k+1}) s_k^T / (s_k^T s_k)        Kelley (1995), ch. 7

in the units of round-off of the unknowns. A correction that has hardly shrunk asks for the Jacobian anew, which is
Newton's method. Nothing is kept from step to step, so that a step is a function of its state alone, to the bit.
"""

from collections.abc import Callable, Iterable

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import frontier
from discrete_hamel.compiler.native.instructions import Code, Kind, number
from discrete_hamel.compiler.native.section import Memory, Section, load
from discrete_hamel.compiler.step.root import Root

WIDTH = 8  # columns of a vector
MOST_KEPT = 8  # corrections, beyond which the Jacobian is evaluated again
LEAST = 0.5  # of a denominator that is 1 where corrections shrink: below, the last one says nothing


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


def splat(code: Code, value: str) -> str:
    """A number in all lanes."""
    one, lanes = code.kind.double, code.kind.lanes
    first = code(f"insertelement {one} poison, double {value}, i32 0")
    return code(f"shufflevector {one} {first}, {one} poison, <{lanes} x i32> zeroinitializer")


class KeptJacobian:
    """The corrections of a root with `directions`: residual, slopes and columns, and what is made of them.

    `values` are nodes that the residual leaves in memory besides; `have` are those that are there before.
    """

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
        assert root.directions is not None
        self.name, self.root, self.memory, self.weights, self.graph = name, root, memory, weights, root.graph
        graph, rows, (directions, along) = root.graph, root.rows, root.directions
        self.n, self.stride = len(rows), -(-len(rows) // WIDTH) * WIDTH
        varying = set(directions)
        for index in graph.dependencies(along):
            if not varying.isdisjoint(graph.operands(index)):
                varying.add(index)
        scalars = [i for i in frontier(graph, along, varying) if i not in have]
        inside = set(graph.dependencies([*rows, *values], given=have)) - have
        behind = set(graph.dependencies(scalars, given=have | inside))
        passed = [i for i in sorted(behind & inside) if graph.value(i) is None]
        self.residual = Section(f"{name}_residual", graph, [*rows, *values, *passed], have, memory, kind, steady)
        known = have | {i for i in (*rows, *values, *passed) if graph.value(i) is None}
        self.slopes = Section(f"{name}_slopes", graph, scalars, known, memory, kind, steady)
        self.columns = JacobianColumns(
            f"{name}_columns", graph, along, directions, known | set(scalars), memory, kind.fused
        )  # fmt: skip
        self.matrix, self.made = memory.new(self.n * self.stride), memory.new(self.stride)
        self.units = memory.new(self.stride)
        self.past = memory.new((MOST_KEPT + 1) * self.stride)
        self.order, self.held, self.again = memory.new(self.n), memory.new(), memory.new()

        self.sections = [self.residual, self.slopes, self.columns]
        self.operations = sum(s.operations for s in self.sections)

    def begin(self, code: Code) -> None:
        """Before the first correction, which asks for the Jacobian."""
        code.do(f"store i64 1, ptr {code.at('%memory', self.again)}")

    def call(self, code: Code, fresh: int) -> None:
        """A correction, at the places of the root's; the node `fresh` is whether it is Newton's."""
        name, memory, graph = self.name, self.memory, self.graph
        self.residual.call(code)
        asked = code(f"load i64, ptr {code.at('%memory', self.again)}")
        again = code(f"icmp ne i64 {asked}, 0")
        code.store(code(f"uitofp i1 {again} to double"), "%memory", memory.place(graph, fresh))
        code.do(f"br i1 {again}, label %{name}_anew, label %{name}_kept")
        code.lines.append(f"{name}_anew:")
        self.slopes.call(code)
        code.do(f"call void @{name}_jacobian(ptr %memory)")
        code.do(f"call void @{name}_factor(ptr %memory)")
        code.do(f"store i64 0, ptr {code.at('%memory', self.held)}")
        code.do(f"br label %{name}_kept")
        code.lines.append(f"{name}_kept:")
        for k, row in enumerate(self.root.rows):
            code.store(code(f"fneg double {load(code, memory, graph, row)}"), "%memory", self.made + k)
        for k, weight in enumerate(self.weights):
            code.store(load(code, memory, graph, weight), "%memory", self.units + k)
        code.do(f"call void @{name}_solve(ptr %memory)")
        for k, node in enumerate(self.root.correction):
            code.store(code.load("%memory", self.made + k), "%memory", memory.place(graph, node))

    def decide(self, code: Code, slow: int) -> None:
        """Whether the next correction asks for the Jacobian: this one has hardly shrunk, or there is no more room."""
        hardly = code(f"fcmp une double {load(code, self.memory, self.graph, slow)}, {number(0.0)}")
        held = code(f"load i64, ptr {code.at('%memory', self.held)}")
        over = code(f"icmp sge i64 {held}, {MOST_KEPT}")
        again = code(f"zext i1 {code(f'or i1 {hardly}, {over}')} to i64")
        code.do(f"store i64 {again}, ptr {code.at('%memory', self.again)}")

    def text(self, inline: bool) -> str:
        """The functions that a module needs for this."""
        parts = [self.columns.kind.intrinsics(), *(s.text(inline) for s in self.sections)]
        parts += [self._function(name, body) for name, body in self._bodies.items()]
        return "".join(parts)

    @property
    def _bodies(self) -> dict[str, Callable[[Code], None]]:
        return {"jacobian": self._jacobian, "factor": self._factor, "solve": self._solve}

    def _function(self, name: str, body: Callable[[Code], None]) -> str:
        code = Code(self.columns.kind)
        body(code)
        lines = "\n".join(code.lines)
        head = f"define internal void @{self.name}_{name}(ptr noalias %memory) noinline nounwind {{\nentry:\n"
        return f"{head}{lines}\n  ret void\n}}\n"

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
                code.do(f"store {one} {value}, ptr {_at(code, place)}, align 8")

        def set_one(column: str, first: str) -> None:
            lane = code(f"sub i64 {column}, {first}")
            place = code(f"add i64 {code(f'mul i64 {column}, {WIDTH}')}, {columns.base}")
            code.do(f"store double {number(1.0)}, ptr {_at(code, code(f'add i64 {place}, {lane}'))}")

        loop(code, "pass", "0", str(self.stride), some_columns, WIDTH)

    def _factor(self, code: Code) -> None:
        """P J = L U by rows, in place: below the diagonal L, on it the reciprocals of the pivots."""
        n, stride, one = self.n, self.stride, code.kind.double
        lanes = f"<{', '.join(f'i64 {k}' for k in range(WIDTH))}>"

        def row(i: str) -> str:
            return _at(code, code(f"add i64 {code(f'mul i64 {i}, {stride}')}, {self.matrix}"))

        def entry(i: str, k: str) -> str:
            return code(f"getelementptr inbounds double, ptr {row(i)}, i64 {k}")

        def column(k: str) -> None:
            after = code(f"add i64 {k}, 1")
            largest = code(f"call double @llvm.fabs.f64(double {code(f'load double, ptr {entry(k, k)}')})")
            _, best = loop(code, "search", after, str(n), lambda i, a, p: larger(i, k, a, p), 1, (largest, k))
            code.do(f"store i64 {best}, ptr {_at(code, code(f'add i64 {k}, {self.order}'))}")
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
            return _at(scalar, scalar(f"add i64 {i}, {at}"))

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

        def past(j: str) -> str:
            return scalar(f"add i64 {scalar(f'mul i64 {j}, {self.stride}')}, {self.past}")

        def products(i: str, then: str, both: str, square: str) -> tuple[str, str]:
            weight = value(self.units, i)
            step, now = (scalar(f"fmul double {weight}, {value(at, i)}") for at in (then, made))
            return scalar.fma(step, now, both), scalar.fma(step, step, square)

        def follow(j: str) -> None:
            then, after = past(j), scalar(f"add i64 {j}, 1")
            zeros = (number(0.0), number(0.0))
            both, square = loop(scalar, "inner", "0", str(n), lambda i, *s: products(i, then, *s), 1, zeros)
            share = scalar(f"fdiv double {both}, {square}")
            left = scalar(f"fsub double {number(1.0)}, {share}")
            much = scalar(f"fcmp ogt double {left}, {number(LEAST)}")
            last = scalar(f"icmp eq i64 {after}, {held}")
            divisor = scalar(f"select i1 {scalar(f'and i1 {last}, {much}')}, double {left}, double {number(1.0)}")
            moved = scalar(f"select i1 {last}, double {number(0.0)}, double {share}")
            following = past(scalar(f"select i1 {last}, i64 {j}, i64 {after}"))
            loop(scalar, "moved", "0", str(n), lambda i: move(i, following, moved, divisor))

        def move(i: str, following: str, share: str, divisor: str) -> None:
            new = scalar.fma(share, value(following, i), value(made, i))
            scalar.do(f"store double {scalar(f'fdiv double {new}, {divisor}')}, ptr {place(made, i)}")

        loop(scalar, "order", "0", str(n), swap)
        loop(scalar, "down", "0", str(n), down)
        loop(scalar, "up", "0", str(n), up)
        held = scalar(f"load i64, ptr {_at(scalar, str(self.held))}")
        loop(scalar, "follow", "0", held, follow)
        newest = past(held)
        loop(scalar, "keep", "0", str(n), lambda i: scalar.do(f"store double {value(made, i)}, ptr {place(newest, i)}"))
        scalar.do(f"store i64 {scalar(f'add i64 {held}, 1')}, ptr {_at(scalar, str(self.held))}")


def _at(code: Code, place: str) -> str:
    return code(f"getelementptr inbounds double, ptr %memory, i64 {place}")


def loop(
    code: Code, label: str, first: str, end: str, body: Callable, step: int = 1, begin: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """`body(i, *carried)` for i from first to before end; what it returns is carried to the next, and to the end.

    Doubles are carried, and whole numbers by the last of two.
    """
    kinds = ["double" if value.startswith("0x") or k == 0 else "i64" for k, value in enumerate(begin)]
    code.do(f"br label %{label}_enter")
    code.lines += [f"{label}_enter:", f"  br label %{label}", f"{label}:"]
    at = f"%{label}_at"
    carried = [f"%{label}_c{k}" for k in range(len(begin))]
    here = len(code.lines)
    code.do(f"br i1 {code(f'icmp slt i64 {at}, {end}')}, label %{label}_body, label %{label}_over")
    code.lines.append(f"{label}_body:")
    made = body(at, *carried) or ()
    code.do(f"br label %{label}_again")
    code.lines += [f"{label}_again:", f"  %{label}_next = add i64 {at}, {step}", f"  br label %{label}"]
    code.lines.append(f"{label}_over:")
    phis = [f"  {at} = phi i64 [{first}, %{label}_enter], [%{label}_next, %{label}_again]"]
    for kind, name, before, after in zip(kinds, carried, begin, made, strict=True):
        phis.append(f"  {name} = phi {kind} [{before}, %{label}_enter], [{after}, %{label}_again]")
    code.lines[here:here] = phis
    return tuple(carried)
