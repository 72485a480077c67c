"""A Jacobian that is kept over the corrections of a step: where making it anew for each would take longer.

It is evaluated at the step's guess and inverted, in vector lanes (`native/kept_columns.py`), or, where sums along
chains and trees make it sparse, eliminated by a table; the corrections that follow are Broyden's,

    s_k = B_k^-1 (-r(z_k)),  B_{k+1} = B_k + r(z_{k+1}) s_k^T / (s_k^T s_k)        Kelley (1995), ch. 7

in the units of round-off of the unknowns. A correction that has hardly shrunk asks for the Jacobian anew, which is
Newton's method. Nothing is kept from step to step, so that a step is a function of its state alone, to the bit.
"""

from collections.abc import Callable

import numpy as np

from discrete_hamel.compiler.graph.lowering import dependent, frontier
from discrete_hamel.compiler.native.instructions import Code, Kind, number
from discrete_hamel.compiler.native.section import Memory, Section, load
from discrete_hamel.compiler.simplifying.elimination_table import BATCH, ZERO
from discrete_hamel.compiler.step.root import Root

WIDTH = 8  # columns of a vector
MOST_KEPT = 8  # corrections, beyond which the Jacobian is evaluated again
LEAST = 0.5  # of a denominator that is 1 where corrections shrink: below, the last one says nothing


class KeptJacobian:
    """The corrections of a root by a Jacobian that is kept: residual, what is evaluated anew, and what is made of them.

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
        assert root.kept is not None
        self.name, self.root, self.memory, self.weights, self.graph = name, root, memory, weights, root.graph
        self.kind, graph, rows, (given, made) = kind, root.graph, root.rows, root.kept
        self.n, self.stride = len(rows), -(-len(rows) // WIDTH) * WIDTH
        needed = root.anew or frontier(graph, made, dependent(graph, made, given))
        scalars = [i for i in dict.fromkeys(needed) if i not in have]
        inside = set(graph.dependencies([*rows, *values], given=have)) - have
        behind = set(graph.dependencies(scalars, given=have | inside))
        passed = [i for i in sorted(behind & inside) if graph.value(i) is None]
        self.residual = Section(f"{name}_residual", graph, [*rows, *values, *passed], have, memory, kind, steady)
        self.known = have | {i for i in (*rows, *values, *passed) if graph.value(i) is None}
        self.slopes = Section(f"{name}_slopes", graph, scalars, self.known, memory, kind, steady)
        self.scalars, self.made, self.units = scalars, memory.new(self.stride), memory.new(self.stride)
        self.past = memory.new((MOST_KEPT + 1) * self.stride)
        self.held, self.again = memory.new(), memory.new()
        self.sections = [self.residual, self.slopes, self._last_section()]
        self.operations = sum(s.operations for s in self.sections)

    def _last_section(self) -> Section:
        """Of which the solve consists besides; and room in memory for what is kept."""
        raise NotImplementedError

    def begin(self, code: Code) -> None:
        """Before the first correction, which asks for the Jacobian."""
        for k in range(self.n, self.stride):  # what fills up the last vector
            for first in (self.made, self.units):
                code.store(number(0.0), "%memory", first + k)
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
        self._anew(code)
        code.do(f"store i64 0, ptr {code.at('%memory', self.held)}")
        code.do(f"br label %{name}_kept")
        code.lines.append(f"{name}_kept:")
        for k, weight in enumerate(self.weights):
            code.store(load(code, memory, graph, weight), "%memory", self.units + k)
        self._correct(code, [code(f"fneg double {load(code, memory, graph, row)}") for row in self.root.rows])
        for k, node in enumerate(self.root.correction):
            code.store(code.load("%memory", self.made + k), "%memory", memory.place(graph, node))

    def _anew(self, code: Code) -> None:
        """What is kept, from the slopes."""
        raise NotImplementedError

    def _correct(self, code: Code, right: list[str]) -> None:
        """-B^-1 r at `made`, from -r."""
        raise NotImplementedError

    def decide(self, code: Code, slow: int) -> None:
        """Whether the next correction asks for the Jacobian: this one has hardly shrunk, or there is no more room."""
        hardly = code(f"fcmp une double {load(code, self.memory, self.graph, slow)}, {number(0.0)}")
        held = code(f"load i64, ptr {code.at('%memory', self.held)}")
        over = code(f"icmp sge i64 {held}, {MOST_KEPT}")
        again = code(f"zext i1 {code(f'or i1 {hardly}, {over}')} to i64")
        code.do(f"store i64 {again}, ptr {code.at('%memory', self.again)}")

    def text(self, inline: bool) -> str:
        """The functions that a module needs for this."""
        parts = [s.text(inline) for s in self.sections]
        declared = Kind(False, WIDTH).intrinsics()
        return "".join([declared, *parts, *[self._function(name, body) for name, body in self._bodies.items()]])

    @property
    def _bodies(self) -> dict[str, Callable[[Code], None]]:
        raise NotImplementedError

    def _function(self, name: str, body: Callable[[Code], None]) -> str:
        code = Code(Kind(self.kind.fused, WIDTH))
        body(code)
        lines = "\n".join(code.lines)
        head = f"define internal void @{self.name}_{name}(ptr noalias %memory) noinline nounwind {{\nentry:\n"
        return f"{head}{lines}\n  ret void\n}}\n"

    def _follow(self, code: Code) -> None:
        """What is `made` by the Jacobian, by the corrections since it was evaluated too; and this one is kept."""
        n, made, one = self.stride, self.made, code.kind.double

        def place(at: int | str, i: str) -> str:
            return at_place(code, code(f"add i64 {i}, {at}"))

        def value(at: int | str, i: str) -> str:
            return code(f"load {one}, ptr {place(at, i)}, align 8")

        def past(j: str) -> str:
            return code(f"add i64 {code(f'mul i64 {j}, {self.stride}')}, {self.past}")

        def products(i: str, then: str, both: str, square: str) -> tuple[str, str]:
            weight = value(self.units, i)
            step, now = (code(f"fmul {one} {weight}, {value(at, i)}") for at in (then, made))
            return code.fma(step, now, both), code.fma(step, step, square)

        def follow(j: str) -> None:
            then, after = past(j), code(f"add i64 {j}, 1")
            none = (code.kind.number(0.0),) * 2
            parts = loop(code, "inner", "0", str(n), lambda i, *s: products(i, then, *s), WIDTH, none, (one, one))
            both, square = (sum_of_lanes(code, part) for part in parts)
            share = code(f"fdiv double {both}, {square}")
            left = code(f"fsub double {number(1.0)}, {share}")
            much = code(f"fcmp ogt double {left}, {number(LEAST)}")
            last = code(f"icmp eq i64 {after}, {held}")
            divisor = code(f"select i1 {code(f'and i1 {last}, {much}')}, double {left}, double {number(1.0)}")
            moved = code(f"select i1 {last}, double {number(0.0)}, double {share}")
            following = past(code(f"select i1 {last}, i64 {j}, i64 {after}"))
            shares = splat(code, moved), splat(code, divisor)
            loop(code, "moved", "0", str(n), lambda i: move(i, following, *shares), WIDTH)

        def move(i: str, following: str, share: str, divisor: str) -> None:
            new = code.fma(share, value(following, i), value(made, i))
            code.do(f"store {one} {code(f'fdiv {one} {new}, {divisor}')}, ptr {place(made, i)}, align 8")

        def keep(i: str) -> None:
            code.do(f"store {one} {value(made, i)}, ptr {place(newest, i)}, align 8")

        held = code(f"load i64, ptr {at_place(code, str(self.held))}")
        loop(code, "follow", "0", held, follow)
        newest = past(held)
        loop(code, "keep", "0", str(n), keep, WIDTH)
        code.do(f"store i64 {code(f'add i64 {held}, 1')}, ptr {at_place(code, str(self.held))}")


class SparseFactors(KeptJacobian):
    """Those of a root with a table: a loop over its lines makes them, and substitution is written out."""

    def _last_section(self) -> Section:
        """Substitution."""
        root, memory = self.root, self.memory
        assert root.table is not None
        self.table, (self.right, solved) = root.table, root.solution or ([], [])
        size = len(self.table.sample)
        self.array, self.spare = memory.new(size + 1), size
        for node in self.right:
            memory.place(self.graph, node)
        for place, node in root.factors.items():
            memory.put(self.graph, node, self.array + place)
        given = self.known.union(self.scalars, self.right, root.factors.values())
        self.numbers = self._tables()
        self.substitution = Section(f"{self.name}_substitution", self.graph, solved, given, memory, self.kind)
        return self.substitution

    def _tables(self) -> dict[str, np.ndarray]:
        """The table, as arrays of constants: entries and numbers with their places, lines, and where they stop."""
        table, memory = self.table, self.memory
        used = np.unique(table.lines[:, 1:])
        numbers = used[table.constant[used]]
        stops = [*table.pivots, (self.spare, len(table.lines))]
        wide = "<u2" if self.spare < 2**16 else "<u4"
        return {
            "entries": np.array([(memory.place(self.graph, i), p) for i, p in table.entries], "<u4").reshape(-1, 2),
            "places": numbers.astype("<u4"),
            "values": table.sample[numbers].astype("<f8"),
            "lines": table.lines.astype(wide),
            "pivots": np.array([place for place, _ in stops], "<u4"),
            "stops": np.array([0, *(line for _, line in stops)], "<u4"),
        }

    def text(self, inline: bool) -> str:
        made = (_constant(f"{self.name}_{name}", array) for name, array in self.numbers.items())
        return "".join(made) + super().text(inline)

    def _anew(self, code: Code) -> None:
        code.do(f"call void @{self.name}_eliminate(ptr %memory)")

    def _correct(self, code: Code, right: list[str]) -> None:
        memory, graph, (_, solved) = self.memory, self.graph, self.root.solution or ([], [])
        for place, value in zip(self.right, right, strict=True):
            code.store(value, "%memory", memory.place(graph, place))
        self.substitution.call(code)
        for k, node in enumerate(solved):
            code.store(load(code, memory, graph, node), "%memory", self.made + k)
        code.do(f"call void @{self.name}_follow(ptr %memory)")

    @property
    def _bodies(self) -> dict[str, Callable[[Code], None]]:
        return {"eliminate": self._eliminate, "follow": self._follow}

    def _eliminate(self, code: Code) -> None:
        """The table's lines, with the entries and numbers put where they begin."""
        array = code(f"getelementptr inbounds double, ptr %memory, i64 {self.array}")
        scalar = Code(Kind(code.kind.fused))
        scalar.lines, scalar.count = code.lines, code.count
        numbers = self.numbers

        def whole(name: str, at: str) -> str:
            kind = f"i{8 * numbers[name].itemsize}"
            address = scalar(f"getelementptr inbounds {kind}, ptr @{self.name}_{name}, i64 {at}")
            return scalar(f"zext {kind} {scalar(f'load {kind}, ptr {address}')} to i64")

        def entry(k: str) -> None:
            first = scalar(f"mul i64 {k}, 2")
            value = scalar.load("%memory", whole("entries", first))
            scalar.store(value, array, whole("entries", scalar(f"add i64 {first}, 1")))

        def put_number(k: str) -> None:
            scalar.store(scalar.load(f"@{self.name}_values", k), array, whole("places", k))

        def batch(k: str) -> None:
            kind = f"i{8 * numbers['lines'].itemsize}"
            here = scalar(f"getelementptr inbounds {kind}, ptr @{self.name}_lines, i64 {scalar(f'mul i64 {k}, 4')}")
            made = [line(kind, here, 4 * j) for j in range(BATCH)]
            for value, target in made:
                scalar.store(value, array, target)

        def line(kind: str, here: str, first: int) -> tuple[str, str]:
            words = [scalar(f"getelementptr inbounds {kind}, ptr {here}, i64 {first + j}") for j in range(4)]
            places = [scalar(f"zext {kind} {scalar(f'load {kind}, ptr {word}')} to i64") for word in words]
            before, factor, source = (scalar.load(array, place) for place in places[1:])
            return scalar.fma(scalar(f"fneg double {factor}"), source, before), places[0]

        def up_to_pivot(k: str) -> None:
            stop = whole("stops", scalar(f"add i64 {k}, 1"))
            loop(scalar, "batch", whole("stops", k), stop, batch, BATCH)
            place = whole("pivots", k)
            scalar.store(scalar(f"fdiv double {number(-1.0)}, {scalar.load(array, place)}"), array, place)

        scalar.store(number(0.0), array, ZERO)
        scalar.store(number(1.0), array, self.spare)
        loop(scalar, "given", "0", str(len(numbers["entries"])), entry)
        loop(scalar, "number", "0", str(len(numbers["places"])), put_number)
        loop(scalar, "pivot", "0", str(len(numbers["pivots"])), up_to_pivot)
        code.count = scalar.count


def _constant(name: str, array: np.ndarray) -> str:
    """An array as a constant of a module."""
    octets = "".join(f"\\{octet:02X}" for octet in array.tobytes())
    return f'@{name} = internal constant [{array.nbytes} x i8] c"{octets}", align 64\n'


def splat(code: Code, value: str) -> str:
    """A number in all lanes."""
    one, lanes = code.kind.double, code.kind.lanes
    first = code(f"insertelement {one} poison, double {value}, i32 0")
    return code(f"shufflevector {one} {first}, {one} poison, <{lanes} x i32> zeroinitializer")


def sum_of_lanes(code: Code, value: str) -> str:
    """Halves added to each other, until one number is left."""
    lanes = code.kind.lanes
    while lanes > 1:
        whole, half = f"<{lanes} x double>", lanes // 2
        lower, upper = (
            code(f"shufflevector {whole} {value}, {whole} poison, <{half} x i32> <{places}>")
            for places in (", ".join(f"i32 {first + k}" for k in range(half)) for first in (0, half))
        )
        value, lanes = code(f"fadd <{half} x double> {lower}, {upper}"), half
    return code(f"extractelement <1 x double> {value}, i32 0")


def at_place(code: Code, place: str) -> str:
    return code(f"getelementptr inbounds double, ptr %memory, i64 {place}")


def loop(
    code: Code,
    label: str,
    first: str,
    end: str,
    body: Callable,
    step: int = 1,
    begin: tuple[str, ...] = (),
    kinds: tuple[str, ...] = ("double", "i64"),
) -> tuple[str, ...]:
    """`body(i, *carried)` for i from first to before end; what it returns is carried to the next, and to the end.

    Of these `kinds` is what is carried.
    """
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
    for kind, name, before, after in zip(kinds, carried, begin, made, strict=False):
        phis.append(f"  {name} = phi {kind} [{before}, %{label}_enter], [{after}, %{label}_again]")
    code.lines[here:here] = phis
    return tuple(carried)
