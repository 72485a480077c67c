"""Newton's iteration of a `Root` as native code, by the rule of `mechanics/newton.py` itself, read into the graph."""

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import dependent, frontier
from discrete_hamel.compiler.native.copied_rows import ROW, copy_numbers_at
from discrete_hamel.compiler.native.instructions import Code, Kind, number
from discrete_hamel.compiler.native.kept import KeptJacobian, SparseFactors
from discrete_hamel.compiler.native.kept_columns import DenseJacobian
from discrete_hamel.compiler.native.section import MANY, Memory, Section, load
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.simplifying.fewer_unknowns import hides_slopes
from discrete_hamel.compiler.step.near_angles import Angle, turn
from discrete_hamel.compiler.step.root import SHRUNK, SURE, Root, forecast, hardly_shrunk, may_stop, near, not_enough
from discrete_hamel.compiler.step.rounding import allowed
from discrete_hamel.mechanics.newton import MAX_ITERATIONS, finished, sane, squared_size, units, vanishing


class Solve:
    """From what is known to the root, and what is made of it (`outputs`), in one graph.

    `levels` are the nodes that are given: parameters, and what changes from step to step; `guess` is one of all
    unknowns, and of what they are changes of. The outputs are evaluated at the root, with the sines and cosines of
    `angles` from those of the last iteration. `good` is the node that says whether the root was found, all `guards` are
    positive, and what is `left` of the equations is round-off of terms of these sizes.
    """

    def __init__(
        self,
        name: str,
        root: Root,
        levels: tuple[list[int], list[int]],
        guess: list[int],
        outputs: list[int],
        guards: list[int],
        memory: Memory,
        kind: Kind,
        angles: Sequence[Angle] = (),
        left: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.name, self.root, self.memory = name, root, memory
        self.graph = graph = root.graph
        self.guess = [guess[i] for i in root.places]
        self.moved = [graph.add(z, c) for z, c in zip(root.unknowns, root.correction, strict=True)]
        rule: list[int] = [] if root.linear else self._rule(guess)
        watched = [angle.seen[k] for k in range(3) for angle in angles]  # of links side by side
        self.kept = {node: graph.input_like((name, "seen", node), node) for node in watched}
        self.kept |= {} if root.linear else {self.done: self.ended}
        self.kept_jacobian = root.again.kept if root.again else {}
        self.kept |= {**self.kept_jacobian, self.more: self.once} if root.again else {}
        again = root.again.correction if root.again else []
        self.further = self._further(again) if again else graph.const(0.0)
        self.last = [graph.add(z, c) for z, c in zip(root.unknowns, again, strict=False)]  # after one correction more
        self.watched = watched
        count = len(outputs)
        whole = graph.substitute([*outputs, *guards, *(node for pair in left for node in pair)], root.points)
        turned, beside = turn(graph, whole, angles, self.kept)
        self.outputs = outputs = turned[:count]
        positive, rows = [*turned[count : count + len(guards)], *beside], turned[count + len(guards) :]
        trusted = [graph.binary("gt", g, graph.const(0.0)) for g in positive]
        checks = [self._allowed(*pair) for pair in zip(rows[::2], rows[1::2], strict=True)]
        self.good = reduce(graph.mul, [*trusted, *checks], self._converged())
        # where the rate of corrections proves convergence nothing needs to be asked of the residual
        proves = not root.linear and not graph.own_derivatives and not hides_slopes(graph, root.rows, root.unknowns)
        self.sound = reduce(graph.mul, trusted, self._size_holds()) if proves else self.good

        given, made = root.kept or ([], [])
        fresh = [*root.unknowns, *(u for u, _ in root.formulas), *self.kept.values()]
        fresh += [*root.correction, self.newton, self.rate, self.left] if given else []
        fresh += [] if root.linear else [self.before, *self.measured]
        stages = [[f] for _, f in reversed(root.formulas)] + [[*outputs, self.good]]
        iterated = [*self.moved, *root.correction, *watched, *self.kept_jacobian]
        judged = [*([] if root.linear else self.measures), *rule]
        evaluated = [*root.rows, *made, *root.anew] if given else []
        everything = [*iterated, *self.last, *judged, *evaluated, *self.guess, *(o for stage in stages for o in stage)]
        by_step = dependent(graph, everything, [*levels[1], *fresh, *given])
        by_root = dependent(graph, everything, [*fresh, *given])
        fixed = [i for i in frontier(graph, everything, by_step) if i not in levels[0]]
        have = {*levels[0], *levels[1], *fresh, *fixed}

        steady = set(levels[0]) if kind.lanes == 1 else set()
        many = root.operations > MANY

        def section(part: str, outputs: list[int]) -> Section:
            return Section(f"{name}_{part}", graph, outputs, have, memory, kind, steady, many)

        for place in (*levels[0], *levels[1], *fresh):
            memory.place(graph, place)
        self.prepare = Section(f"{name}_prepare", graph, fixed, levels[0], memory, kind)
        ahead = [i for i in frontier(graph, [*iterated, *self.last, *judged, *evaluated], by_root) if i in by_step]
        self.begin = section("begin", [*self.guess, *ahead])
        have |= {i for i in [*self.guess, *ahead] if graph.value(i) is None}
        held = DenseJacobian if root.directions else SparseFactors
        self.held = held(name, root, self.measured[:-1], watched, have, memory, kind, steady) if given else None
        have |= {i for i in (watched if given else []) if graph.value(i) is None}
        self.correct = section("correct", iterated)
        self.correct_last = section("last", [*self.last, *watched, self.further] if self.last else [])
        done = {i for i in iterated if graph.value(i) is None}
        self.measure, self.judge = (
            Section(f"{name}_{part}", graph, outputs, have | done, memory, kind, steady, many)
            for part, outputs in (("measure", judged[: -len(rule) or None]), ("judge", rule))
        )
        proof = [self.new, self.enough, self.more] if self.last and kind.lanes > 1 else []
        self.proof = Section(f"{name}_proof", graph, proof, have | done, memory, kind)
        self.stages: list[Section] = []
        for k, stage in enumerate(stages):
            mine = {i for i in graph.dependencies(stage, given=have) if i not in have and graph.value(i) is None}
            later = [o for other in stages[k + 1 :] for o in other]
            passed = set(graph.dependencies(later, given=have | mine)) & mine
            self.stages.append(section(f"finish_{k}", [*stage, *sorted(passed)]))
            have |= passed | {o for o in stage if graph.value(o) is None}
        settled = [*outputs, self.sound]
        self.settled = [self.stages[-1].part_for(f"{name}_settled", settled)] if proof else []
        self.prepare.lay_out(memory.matrices)

    @property
    def sections(self) -> list[Section | KeptJacobian]:
        held = [self.held] if self.held else []
        corrections: list[Section | KeptJacobian] = [*held, self.correct, self.correct_last]
        rest = [self.measure, self.judge, self.proof, *self.stages, *self.settled]
        return [self.prepare, self.begin, *corrections, *rest]

    @property
    def operations(self) -> int:
        return sum(s.operations for s in self.sections)

    def text(self, inline: bool) -> str:
        """The functions that a module needs for this."""
        return "".join(s.text(inline) for s in self.sections)

    def _node(self, function: Callable, *arguments: Sequence[int] | int) -> np.ndarray:
        """A function of `mechanics/newton.py`, of nodes."""
        return to_graph(self.graph, function, *map(_array, arguments))[0]

    def _size(self, nodes: list[int]) -> int:
        return reduce(self.graph.add, (self.graph.unary("abs", node) for node in nodes))

    def _rule(self, guess: list[int]) -> list[int]:
        """The squared size of a correction, and whether to stop after it.

        Units of round-off, and the size of the unknowns, are those of the guess and of what its first correction made
        of it.
        """
        graph, root = self.graph, self.root
        self.before = graph.input((self.name, "before"), 1.0)
        self.ended = graph.input((self.name, "ended"), 1.0)
        both = zip(self.guess, self.moved, strict=True)
        sizes = [_larger(graph, graph.unary("abs", g), graph.unary("abs", m)) for g, m in both]
        beside = [g for i, g in enumerate(guess) if i not in root.places]
        self.measures = [*self._node(units, sizes, self._size([*sizes, *beside])), self._size(self.moved)]
        self.measured = [graph.input((self.name, "measure", k), 1.0) for k in range(len(self.measures))]
        self.new = self._node(lambda c, w: squared_size(list(c), list(w)), root.correction, self.measured[:-1]).item()
        self.done = self._node(lambda a, b: finished(a, b, root.negligible), self.before, self.new).item()
        if root.again is not None:
            self.enough = enough = self._node(lambda a, b: near(a, b, root.negligible), self.before, self.new).item()
            over = self._node(lambda a, b: vanishing(a, b, SURE * root.negligible), self.before, self.new).item()
            self.once = graph.input((self.name, "once"), 0.0)
            self.more = graph.mul(enough, graph.sub(graph.const(1.0), over))
            self.done = graph.binary("max", self.done, enough)
            return [self.new, self.done, self.more]
        if root.kept is None:
            return [self.new, self.done]
        self.newton = graph.input((self.name, "newton"), 1.0)
        self.rate, self.left = (graph.input((self.name, which), 0.0) for which in ("rate", "left"))
        self.ahead = [n.item() for n in to_graph(graph, forecast, *map(_array, self._sizes()))]
        kept = self._node(lambda a, b: may_stop(a, b, root.negligible), self.new, self.ahead[1]).item()
        self.done = graph.select(self.newton, self.done, kept)
        self.slow = self._node(hardly_shrunk, self.before, self.new).item()
        return [self.new, self.done, self.slow, *self.ahead]

    def _further(self, again: list[int]) -> int:
        """Whether a correction by the Jacobian of the one before, which is that of `before`, was not enough."""
        made = self._node(lambda c, w: squared_size(list(c), list(w)), again, self.measured[:-1]).item()
        return self._node(lambda a, b: not_enough(a, b, self.root.negligible), self.before, made).item()

    def _sizes(self) -> list[int]:
        return [self.before, self.new, self.rate, self.left, self.newton]

    def _converged(self) -> int:
        """As in `Root`: the iteration ended well, at a root whose size its units are a measure for."""
        graph, root = self.graph, self.root
        if root.linear:
            total = reduce(graph.add, root.unknowns, graph.const(0.0))
            return graph.binary("eq", total, total)
        well = graph.mul(self._size_holds(), self._node(sane, self.before).item())
        return graph.mul(graph.binary("ne", self.ended, graph.const(0.0)), well)

    def _size_holds(self) -> int:
        """Whether the root is of a size that its units are a measure for."""
        graph = self.graph
        least = graph.mul(graph.const(SHRUNK), self.measured[-1])
        return graph.binary("ge", self._size(self.root.unknowns), least)

    def _allowed(self, row: int, size: int) -> int:
        return self._node(lambda a, b: allowed(a, b, self.root.negligible), row, size).item()

    def call(self, code: Code, count: str) -> None:
        """Find the root, from what is in memory, and the outputs; the iterations are stored at `count`."""
        graph, memory, z = self.graph, self.memory, self.root.unknowns
        assert code.kind.lanes == 1
        self.begin.call(code)
        copy_values(code, memory, graph, self.guess, z)
        code.do(f"store i64 {int(self.root.linear)}, ptr {count}")
        if self.held:
            self.held.begin(code)
        if not self.root.linear:
            code.store(number(float("nan")), "%memory", memory.place(graph, self.before))
            code.do(f"br label %{self.name}_iterate")
            code.lines.append(f"{self.name}_iterate:")
        for _ in range(self.root.corrections - 1):
            self.correct_once(code)
        if self.held:
            self.held.call(code, self.newton)
        self.correct.call(code)
        if not self.root.linear:
            first = code(f"icmp eq i64 {code(f'load i64, ptr {count}')}, 0")
            code.do(f"br i1 {first}, label %{self.name}_measure, label %{self.name}_judge")
            code.lines.append(f"{self.name}_measure:")
            self.measure.call(code)
            copy_values(code, memory, graph, self.measures, self.measured)
            code.do(f"br label %{self.name}_judge")
            code.lines.append(f"{self.name}_judge:")
            self.judge.call(code)
        copy_values(code, memory, graph, [*self.moved, *self.kept], [*z, *self.kept.values()])
        if not self.root.linear:
            copy_values(code, memory, graph, [self.new], [self.before])
            if self.held:
                self.held.decide(code, self.slow)
                copy_values(code, memory, graph, self.ahead, [self.rate, self.left])
            made = code(f"add i64 {code(f'load i64, ptr {count}')}, 1")
            code.do(f"store i64 {made}, ptr {count}")
            over = code(f"fcmp une double {load(code, memory, graph, self.ended)}, {number(0.0)}")
            many = code(f"icmp sge i64 {made}, {MAX_ITERATIONS}")
            code.do(f"br i1 {code(f'or i1 {over}, {many}')}, label %{self.name}_found, label %{self.name}_iterate")
            code.lines.append(f"{self.name}_found:")
        if self.last:
            once = code(f"fcmp une double {load(code, memory, graph, self.once)}, {number(0.0)}")
            code.do(f"br i1 {once}, label %{self.name}_once, label %{self.name}_finish")
            for part, after in (("once", "twice"), ("twice", "finish")):
                code.lines.append(f"{self.name}_{part}:")
                self.correct_last.call(code)
                places = [*z, *(self.kept[w] for w in self.watched)]
                copy_values(code, memory, graph, [*self.last, *self.watched], places)
                made = code(f"load i64, ptr {count}")
                code.do(f"store i64 {code(f'add i64 {made}, 1')}, ptr {count}")
                further = code(f"fcmp une double {load(code, memory, graph, self.further)}, {number(0.0)}")
                code.do(f"br i1 {further}, label %{self.name}_{after}, label %{self.name}_finish")
            code.lines.append(f"{self.name}_finish:")
        self.finish(code)

    def correct_once(self, code: Code) -> None:
        """A correction of a linear root."""
        self.correct.call(code)
        places = [*self.root.unknowns, *self.kept.values()]
        copy_values(code, self.memory, self.graph, [*self.moved, *self.kept], places)

    def finish(self, code: Code, settled: bool = False) -> None:
        """What follows at the root: the eliminated unknowns, outputs, and `good`; `sound` where it is settled."""
        stages = [*self.stages[:-1], *(self.settled if settled else self.stages[-1:])]
        for (unknown, formula), stage in zip([*reversed(self.root.formulas), (None, None)], stages, strict=True):
            stage.call(code)
            if unknown is not None and formula is not None:
                copy_values(code, self.memory, self.graph, [formula], [unknown])


def _larger(graph: Graph, a: int, b: int) -> int:
    """The larger of two, b where one of them is no number: one instruction, as what looks at both is not."""
    return graph.select(graph.binary("gt", a, b), a, b)


def _array(nodes: Sequence[int] | int) -> np.ndarray:
    return np.array(nodes, dtype=object)


def copy_values(
    code: Code, memory: Memory, graph: Graph, sources: Sequence[int], places: Sequence[int], where: str | None = None
) -> None:
    """The values of nodes at the places of others, all read before any is written; of lanes only `where` is true."""
    if where is None and code.kind.lanes == 1 and len(sources) >= ROW:
        sources, places = _copy_rows(code, memory, graph, sources, places)
    values = [load(code, memory, graph, node) for node in sources]
    if where is not None:
        olds = [load(code, memory, graph, node) for node in places]
        values = [code.select(where, new, old) for new, old in zip(values, olds, strict=True)]
    for value, node in zip(values, places, strict=True):
        code.store(value, "%memory", memory.place(graph, node))


def _copy_rows(
    code: Code, memory: Memory, graph: Graph, sources: Sequence[int], places: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Copy what is in memory, where none of it is overwritten; what is left to copy, from where and where to."""
    pairs = [
        (memory.place(graph, to), memory.place(graph, a))
        for a, to in zip(sources, places, strict=True)
        if graph.value(a) is None
    ]
    targets, here = ([pair[k] for pair in sorted(pairs)] for k in (0, 1))
    if not set(here).isdisjoint(targets):
        return [*sources], [*places]
    copy_numbers_at(code, here, targets)
    numbers = [(a, to) for a, to in zip(sources, places, strict=True) if graph.value(a) is not None]
    return [a for a, _ in numbers], [to for _, to in numbers]
