"""Gauss' stages put back into their equations until they settle, as native code: a vector with a lane for each stage.

`step/collocation_step.py` says what a sweep is. What is one number for all stages, as a node's q or the size of a
change, is that number in each lane, so that one rule and one memory serve both.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import numpy as np

from discrete_hamel.compiler.graph.lowering import dependent, frontier
from discrete_hamel.compiler.native.circular import circular
from discrete_hamel.compiler.native.hyperbolic import hyperbolic
from discrete_hamel.compiler.native.instructions import GROUP, Code, Kind, number
from discrete_hamel.compiler.native.section import Memory, Section
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.step.collocation_step import NOISE, StageStepper, is_settled
from discrete_hamel.mechanics.newton import MAX_ITERATIONS, sane, units
from discrete_hamel.schemes.coefficients.quadrature import collocation


class StageSolve:
    """A step of a `StageStepper`: from its state in memory to `outputs`, which are nodes that have places there.

    They are the next state, the interval's xi, and the norm of what is left of the equations. `good` says whether the
    sweeps settled, at stages that can be trusted.
    """

    def __init__(self, stepper: StageStepper, memory: Memory, kind: Kind) -> None:
        self.stepper, self.memory, self.graph = stepper, memory, stepper.graph
        self.lanes = 1 << (stepper.stages - 1).bit_length()  # what is left over stays at the node, and weighs nothing
        self.kind, self.wide = Kind(kind.fused, self.lanes), Memory()
        graph, made = self.graph, [*stepper.slopes, *stepper.whole, *stepper.guards]
        count = len(stepper.state) + stepper.n
        self.outputs = [self._input("made", k) for k in range(count + 1)]
        self.good = self._input("good")
        self.node = [self._input("node", k) for k in range(len(stepper.node))]
        self.low = [self._input("low", k) for k in range(len(stepper.low))]
        self.part = self._input("part")  # h b of a stage
        self.slopes = [self._input("slope", k) for k in range(len(stepper.node))]
        self.size, self.new, self.ended, self.left = (self._input(name) for name in ("size", "new", "ended", "left"))
        self._rule()

        varying = dependent(graph, made, stepper.node)
        fixed = [i for i in frontier(graph, made, varying) if i not in stepper.parameters]
        have = {*stepper.parameters, *stepper.node, *fixed}
        rule = self.size, self.new, self.ended, self.left, *self.sizes
        for place in (*have, *self.node, *self.low, self.part, *self.slopes, *rule):
            self.wide.place(graph, place)
        self.fixed = self._section("fixed", fixed, stepper.parameters)
        self.sweep = self._section("sweep", stepper.slopes, have)
        self.weigh = self._section("weigh", self.weights, [*self.sizes, *stepper.parameters])
        self.judge = self._section("judge", [self.settled], [self.size, self.new])
        swept = {i for i in stepper.slopes if graph.value(i) is None}
        self.end = self._section("end", [*stepper.whole, *stepper.guards], have | swept)
        self.verdict = self._section("verdict", [self.well], [self.size, self.ended, self.left])
        self.sections = [self.fixed, self.sweep, self.weigh, self.judge, self.end, self.verdict]
        for place in (*stepper.parameters, *stepper.state, *self.outputs, self.good):
            memory.place(graph, place)
        self.at = memory.new(self.lanes * self.wide.size)

    def _section(self, part: str, outputs: Iterable[int], given: Iterable[int]) -> Section:
        return Section(f"stages_{part}", self.graph, outputs, given, self.wide, self.kind)

    def _input(self, name: str, k: int = 0) -> int:
        return self.graph.input(("stages", name, k), 1.0)

    def _read(self, function: Callable, *arguments: int) -> int:
        """A function of the rule of ending, of nodes."""
        return to_graph(self.graph, function, *(np.array(a, dtype=object) for a in arguments))[0].item()

    def _rule(self) -> None:
        """Units of round-off, of what a step begins with and moves by; when to stop; and what can be trusted then."""
        graph, h = self.graph, self.stepper.length[0]
        self.sizes = [self._input("size", 1 + k) for k in range(len(self.node))]
        total = reduce(graph.add, self.sizes)
        self.weights = [graph.mul(h, self._read(units, size, total)) for size in self.sizes]
        self.settled = self._read(is_settled, self.size, self.new)
        noise = graph.binary("le", self.left, graph.const(NOISE**2))
        self.well = graph.mul(graph.mul(self.ended, self._read(sane, self.size)), noise)

    @property
    def operations(self) -> int:
        """Of a sweep, and of what is done once a step."""
        return sum(s.operations for s in self.sections)

    @property
    def prepare(self) -> "_Call":
        return _Call("stages_prepare")

    def call(self, code: Code, count: str) -> None:
        """Sweep until the stages settle, from what is in memory; the sweeps are stored at `count`."""
        code.do(f"store i64 {code('call i64 @stages_step(ptr %memory)')}, ptr {count}")

    def text(self, inline: bool) -> str:
        """The functions that a module needs for this."""
        parts = [self._function("void @stages_prepare", self._prepare), self._function("i64 @stages_step", self._step)]
        tangents = "" if self.lanes == GROUP else self.kind.intrinsics() + hyperbolic(self.kind)  # else a run has them
        sections = (s.text(inline) for s in self.sections)
        return "".join([tangents, circular(self.kind, inline), *sections, *parts])

    def _function(self, head: str, body: Callable[[Code], None]) -> str:
        code = Code(self.kind)
        code.do(f"%stages = getelementptr inbounds double, ptr %memory, i64 {self.at}")
        body(code)
        lines = "\n".join(code.lines)
        return f"define internal {head}(ptr noalias %memory) noinline nounwind {{\nentry:\n{lines}\n}}\n"

    def _prepare(self, code: Code) -> None:
        """What depends on the parameters only, once a run."""
        for node in self.stepper.parameters:
            self._put(code, node, self._broadcast(code, node))
        _, b, _ = collocation(self.stepper.stages)
        length = self._value(code, self.stepper.length[0])
        self._put(code, self.part, self._times(code, length, self._vector(b)))
        self.fixed.call(code, "%stages")
        code.do("ret void")

    def _step(self, code: Code) -> None:
        self._begin(code)
        code.lines.append("iterate:")
        count = code("phi i64 [0, %entry], [%more, %iterate]")
        old = [self._value(code, slope) for slope in self.slopes]
        self._move(code, old)
        self.sweep.call(code, "%stages")
        new = [self._value(code, slope) for slope in self.stepper.slopes]
        self._put(code, self.new, self._shift(code, new, old, [self._value(code, w) for w in self.weights]))
        self.judge.call(code, "%stages")
        self._put(code, self.ended, self._value(code, self.settled))
        self._put(code, self.size, self._value(code, self.new))
        for slope, value in zip(self.slopes, new, strict=True):
            self._put(code, slope, value)
        code.do(f"%more = add i64 {count}, 1")
        ended = code(f"fcmp une double {self._lane(code, self._value(code, self.ended), 0)}, {number(0.0)}")
        many = code(f"icmp sge i64 %more, {MAX_ITERATIONS}")
        code.do(f"br i1 {code(f'or i1 {ended}, {many}')}, label %found, label %iterate")
        code.lines.append("found:")
        self._finish(code, new)
        code.do("%sweeps = add i64 %more, 2")  # the first slopes, and the last
        code.do("ret i64 %sweeps")

    def _begin(self, code: Code) -> None:
        """All stages at the node, the slopes there, and what counts as round-off."""
        stepper, h = self.stepper, self._value(code, self.stepper.length[0])
        state = [self._broadcast(code, node) for node in stepper.node]
        for node, place, value in zip(stepper.node, self.node, state, strict=True):
            self._put(code, place, value)
            self._put(code, node, value)
        for node, place in zip(stepper.low, self.low, strict=True):
            self._put(code, place, self._broadcast(code, node))
        self.sweep.call(code, "%stages")
        slopes = [self._value(code, slope) for slope in stepper.slopes]
        for place, size, value, slope in zip(self.slopes, self.sizes, state, slopes, strict=True):
            self._put(code, place, slope)
            moves = code.unary("fabs", self._times(code, h, slope))
            self._put(code, size, self._plus(code, code.unary("fabs", value), moves))
        self.weigh.call(code, "%stages")
        self._put(code, self.size, self.kind.number(float("nan")))
        code.do("br label %iterate")

    def _move(self, code: Code, slopes: Sequence[str]) -> None:
        """(Q, P)_i = (q, p) + a_ij/b_j (h b_j K_j), the sum first."""
        share, _, _ = collocation(self.stepper.stages)
        part, columns = self._value(code, self.part), [self._vector(column) for column in share.T]
        lows = [self._value(code, low) for low in self.low] or [self.kind.number(0.0)] * len(slopes)
        for node, begin, slope, moved in zip(self.stepper.node, self.node, slopes, lows, strict=True):
            added = self._times(code, part, slope)
            for j, column in enumerate(columns):
                moved = code.fma(column, self._one_lane(code, added, j), moved)
            self._put(code, node, self._plus(code, self._value(code, begin), moved))

    def _shift(self, code: Code, new: Sequence[str], old: Sequence[str], weights: Sequence[str]) -> str:
        """The squared size of a change of all slopes, in each lane."""
        total = self.kind.number(0.0)
        for a, b, w in zip(new, old, weights, strict=True):
            change = self._times(code, w, code(f"fsub {self.kind.double} {a}, {b}"))
            total = code.fma(change, change, total)
        return self._all(code, self._sum(code, total))

    def _finish(self, code: Code, old: Sequence[str]) -> None:
        """The slopes once more, where they lead, what is left of the equations, and whether it can be trusted."""
        stepper, kind, graph = self.stepper, self.kind, self.graph
        _, b, _ = collocation(stepper.stages)
        self._move(code, old)
        self.sweep.call(code, "%stages")
        self.end.call(code, "%stages")
        last = [self._value(code, slope) for slope in stepper.slopes]
        h, weights = self._value(code, stepper.length[0]), [self._value(code, w) for w in self.weights]
        self._put(code, self.left, self._shift(code, last, old, weights))
        norm = code.unary("sqrt", self._shift(code, last, old, [h] * len(last)))
        self.verdict.call(code, "%stages")
        part, weigh = self._value(code, self.part), self._vector(b)
        whole = [self._sum(code, self._times(code, weigh, self._value(code, x))) for x in stepper.whole]
        added = [self._times(code, part, slope) for slope in last]
        after, low = self._add(code, added)
        made = [*after, *whole[: stepper.rank], *low, *whole, self._lane(code, norm, 0)]
        good = code.compare("une", self._value(code, self.well), kind.number(0.0))
        for guard in stepper.guards:
            positive = code.compare("ogt", self._value(code, guard), kind.number(0.0))
            good = code(f"and {kind.of('i1')} {good}, {positive}")
        bits = code(f"bitcast {kind.of('i1')} {good} to i{kind.lanes}")
        every = code(f"icmp eq i{kind.lanes} {bits}, -1")
        made.append(code(f"uitofp i1 {every} to double"))
        for node, value in zip([*self.outputs, self.good], made, strict=True):
            place = code(f"getelementptr inbounds double, ptr %memory, i64 {self.memory.place(graph, node)}")
            code.do(f"store double {value}, ptr {place}, align 8")

    def _add(self, code: Code, added: Sequence[str]) -> tuple[list[str], list[str]]:
        """q and p with what all stages add to them; where it is carried along, also what these sums round off."""
        begin = [self._lane(code, self._value(code, node), 0) for node in self.node]
        if not self.low:
            return [code(f"fadd double {x}, {self._sum(code, a)}") for x, a in zip(begin, added, strict=True)], []
        sums = []
        for x, low, change in zip(begin, self.low, added, strict=True):
            off = self._lane(code, self._value(code, low), 0)
            for j in range(self.stepper.stages):
                x, rest = self._two_sum(code, x, self._lane(code, change, j))
                off = code(f"fadd double {off}, {rest}")
            sums.append(self._two_sum(code, x, off))
        return [x for x, _ in sums], [off for _, off in sums]

    def _two_sum(self, code: Code, x: str, y: str) -> tuple[str, str]:
        """x + y, and what it rounds off."""
        new = code(f"fadd double {x}, {y}")
        grown = code(f"fsub double {new}, {x}")
        before = code(f"fsub double {new}, {grown}")
        rests = code(f"fsub double {x}, {before}"), code(f"fsub double {y}, {grown}")
        return new, code(f"fadd double {rests[0]}, {rests[1]}")

    def _value(self, code: Code, node: int) -> str:
        """A node's value at all stages."""
        value = self.graph.value(node)
        if value is not None:
            return self.kind.number(value)
        return code.load("%stages", self.wide.place(self.graph, node))

    def _put(self, code: Code, node: int, value: str) -> None:
        code.store(value, "%stages", self.wide.place(self.graph, node))

    def _times(self, code: Code, x: str, y: str) -> str:
        return code(f"fmul {self.kind.double} {x}, {y}")

    def _plus(self, code: Code, x: str, y: str) -> str:
        return code(f"fadd {self.kind.double} {x}, {y}")

    def _vector(self, values: np.ndarray) -> str:
        """A constant a stage."""
        padded = [*values, *[0.0] * (self.lanes - len(values))]
        return f"<{', '.join(f'double {number(float(x))}' for x in padded)}>"

    def _lane(self, code: Code, value: str, k: int) -> str:
        return code(f"extractelement {self.kind.double} {value}, i32 {k}")

    def _sum(self, code: Code, value: str) -> str:
        """Of all lanes, two by two."""
        terms = [self._lane(code, value, k) for k in range(self.kind.lanes)]
        while len(terms) > 1:
            pairs = [terms[k : k + 2] for k in range(0, len(terms), 2)]
            terms = [code(f"fadd double {', '.join(pair)}") if len(pair) > 1 else pair[0] for pair in pairs]
        return terms[0]

    def _all(self, code: Code, scalar: str) -> str:
        """One number in each lane."""
        one = code(f"insertelement {self.kind.double} poison, double {scalar}, i32 0")
        return self._one_lane(code, one, 0)

    def _one_lane(self, code: Code, value: str, k: int) -> str:
        kind, places = self.kind.double, ", ".join([f"i32 {k}"] * self.kind.lanes)
        return code(f"shufflevector {kind} {value}, {kind} poison, <{self.kind.lanes} x i32> <{places}>")

    def _broadcast(self, code: Code, node: int) -> str:
        """A number from the run's memory, in each lane."""
        place = code(f"getelementptr inbounds double, ptr %memory, i64 {self.memory.place(self.graph, node)}")
        return self._all(code, code(f"load double, ptr {place}, align 8"))


class _Call:
    """A function of a module, called as a `Section` is."""

    def __init__(self, name: str) -> None:
        self.name = name

    def call(self, code: Code) -> None:
        code.do(f"call void @{self.name}(ptr %memory)")
