"""All steps of a run as one native function: intervals of steps, and what is kept of each, written where it stays."""

from collections.abc import Sequence
from functools import reduce

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.native.circular import METADATA, circular
from discrete_hamel.compiler.native.copied_rows import copy_numbers_at
from discrete_hamel.compiler.native.equal_links import circular_of_rows
from discrete_hamel.compiler.native.gauss_stages import StageSolve
from discrete_hamel.compiler.native.hyperbolic import hyperbolic
from discrete_hamel.compiler.native.instructions import Code, Kind, number
from discrete_hamel.compiler.native.module import FEW, copy_numbers, run_function
from discrete_hamel.compiler.native.object_code import INLINED
from discrete_hamel.compiler.native.section import Memory, load
from discrete_hamel.compiler.native.solve import Solve, copy_values
from discrete_hamel.compiler.step.collocation_step import StageStepper
from discrete_hamel.compiler.step.stepper import Stepper

POINTERS = ("numbers", "lengths", "begin", "counts", "q", "p", "xi", "mid", "residual", "iterations", "final", "ended")


class Run:
    """The text of the function @run for a stepper.

    It reads numbers (parameters), lengths (of the steps that a step consists of), the first state, and counts: how many
    lengths, how many intervals, how many steps each. It writes q, p, xi at the end of each interval, the interval's xi,
    the residual's norm, the most iterations; the state after the last whole interval; and in `ended` how many intervals
    are whole, and whether that is all of them.
    """

    def __init__(self, stepper: Stepper | StageStepper, kind: Kind) -> None:
        self.stepper, self.kind, self.memory = stepper, kind, Memory()
        node, size = stepper.node_velocity, len(stepper.state)
        self.step: Solve | StageSolve = (
            StageSolve(stepper, self.memory, kind)
            if isinstance(stepper, StageStepper)
            else _newton(stepper, self.memory, kind)
        )
        self.after, self.mid = self.step.outputs[:size], self.step.outputs[size:-1]
        self.norm = self.step.outputs[-1]
        levels = node.parameters, [*node.q, *node.p, *node.free]
        self.node = Solve("node", node.root, levels, node.free, node.whole, node.guards, self.memory, kind)
        self.operations = self.step.operations + self.node.operations
        self.inlined = self.operations <= INLINED

    def text(self) -> str:
        """The module."""
        sections = [solve.text(self.inlined) for solve in (self.step, self.node)]
        own = [circular(self.kind, self.operations <= FEW), hyperbolic(self.kind)]
        functions = [*own, circular_of_rows("".join(sections), self.kind.fused), *sections, self._run()]
        return self.kind.declarations() + "".join(functions) + METADATA

    def _run(self) -> str:
        code = Code(self.kind)
        self._enter(code)
        self._interval(code)
        for label, good in (("lost", 0), ("over", 1)):
            code.lines.append(f"{label}:")
            code.do(f"store i64 {code('load i64, ptr %whole')}, ptr %ended")
            code.do(f"store i64 {good}, ptr {code.at('%ended', 1)}")
            code.do("ret void")
        return run_function(code.lines, POINTERS, self.memory, self.kind)

    def _enter(self, code: Code) -> None:
        """Places, parameters, what depends on these alone, and the first state."""
        stepper, memory, graph = self.stepper, self.memory, self.stepper.graph
        composed, n = stepper.composed, stepper.n
        self.mean, self.largest = (memory.new(n), memory.new()) if composed else (0, 0)
        for name in ("whole", "inside", "most", "count", "part"):
            code.do(f"%{name} = alloca i64")
        for name, place in (("parts", 0), ("intervals", 1), ("every", 2)):
            code.do(f"%{name} = load i64, ptr {code(f'getelementptr inbounds i64, ptr %counts, i64 {place}')}")
        for of, nodes in ((graph, stepper.parameters), (stepper.node_velocity.graph, stepper.node_velocity.parameters)):
            copy_numbers(code, "%numbers", [memory.place(of, node) for node in nodes])
        for solve in (self.step, self.node):
            solve.prepare.call(code)
        for k, node in enumerate(stepper.state):
            value = code.load("%begin", k)
            code.store(value, "%memory", memory.place(graph, node))
            code.store(value, "%final", k)
        for name in ("whole", "inside", "most"):
            code.do(f"store i64 0, ptr %{name}")
        code.do("br label %next")

    def _interval(self, code: Code) -> None:
        code.lines.append("next:")
        done = code("load i64, ptr %whole")
        code.do(f"br i1 {code(f'icmp slt i64 {done}, %intervals')}, label %forward, label %over")
        code.lines.append("forward:")
        self._parts(code) if self.stepper.composed else self._one(code, "kept")
        code.lines.append("kept:")
        inside = code(f"add i64 {code('load i64, ptr %inside')}, 1")
        code.do(f"store i64 {inside}, ptr %inside")
        code.do(f"br i1 {code(f'icmp slt i64 {inside}, %every')}, label %next, label %saved")
        code.lines.append("saved:")
        self._save(code)
        code.do("br label %next")

    def _one(self, code: Code, then: str) -> None:
        """A step, the state then being the new one; where it fails the run is over."""
        stepper, memory, graph = self.stepper, self.memory, self.stepper.graph
        self.step.call(code, "%count")
        count, most = code("load i64, ptr %count"), code("load i64, ptr %most")
        larger = code(f"icmp sgt i64 {count}, {most}")
        code.do(f"store i64 {code(f'select i1 {larger}, i64 {count}, i64 {most}')}, ptr %most")
        copy_values(code, memory, graph, self.after, stepper.state)
        good = code(f"fcmp une double {load(code, memory, graph, self.step.good)}, {number(0.0)}")
        code.do(f"br i1 {good}, label %{then}, label %lost")

    def _parts(self, code: Code) -> None:
        """The steps that a step consists of: xi is their mean, and the residual the largest."""
        memory, graph, n = self.memory, self.stepper.graph, self.stepper.n
        for k in range(n + 1):
            code.store(
                number(0.0), "%memory", (self.mean if k < n else self.largest) + k % n if k < n else self.largest
            )
        code.do("store i64 0, ptr %part")
        code.do("br label %parted")
        code.lines.append("parted:")
        length = code.load("%lengths", code("load i64, ptr %part"))
        code.store(length, "%memory", memory.place(graph, self.stepper.changing_length[0]))
        self._one(code, "done_part")
        code.lines.append("done_part:")
        part = code("load i64, ptr %part")
        share = code(
            f"fdiv double {code.load('%lengths', part)}, {code.load('%numbers', len(self.stepper.parameters))}"
        )
        for k, node in enumerate(self.mid):
            before = code.load("%memory", self.mean + k)
            code.store(code.fma(share, load(code, memory, graph, node), before), "%memory", self.mean + k)
        norm, largest = load(code, memory, graph, self.norm), code.load("%memory", self.largest)
        larger = code(f"fcmp ugt double {norm}, {largest}")
        code.store(code(f"select i1 {larger}, double {norm}, double {largest}"), "%memory", self.largest)
        after = code(f"add i64 {part}, 1")
        code.do(f"store i64 {after}, ptr %part")
        code.do(f"br i1 {code(f'icmp slt i64 {after}, %parts')}, label %parted, label %kept")

    def _save(self, code: Code) -> None:
        """What is kept of an interval, if a velocity belongs to its last momentum."""
        stepper, memory, graph, node = self.stepper, self.memory, self.stepper.graph, self.stepper.node_velocity
        q, p, free = ([memory.place(graph, stepper.state[k]) for k in place] for place in stepper.node_places())
        for here, nodes in ((q, node.q), (p, node.p), (free, node.free)):
            copy_numbers_at(code, here, [memory.place(node.graph, i) for i in nodes])
        self.node.call(code, "%count")
        good = code(f"fcmp une double {load(code, memory, node.graph, self.node.good)}, {number(0.0)}")
        code.do(f"br i1 {good}, label %written, label %lost")
        code.lines.append("written:")
        k = code("load i64, ptr %whole")
        composed, n, state = stepper.composed, stepper.n, [memory.place(graph, i) for i in stepper.state]
        norm = load(code, memory, graph, self.norm) if not composed else code.load("%memory", self.largest)
        code.store(norm, "%residual", k)
        for name, here in (("q", q), ("p", p)):
            copy_numbers_at(code, here, range(len(here)), target=_row(code, name, k, len(here)))
        _copy_nodes(code, memory, node.graph, self.node.outputs, _row(code, "xi", k, n))
        if composed:
            copy_numbers_at(code, range(self.mean, self.mean + n), range(n), target=_row(code, "mid", k, n))
        else:
            _copy_nodes(code, memory, graph, self.mid, _row(code, "mid", k, n))
        copy_numbers_at(code, state, range(len(state)), target="%final")
        code.do(f"store i64 {code('load i64, ptr %most')}, ptr {code.at('%iterations', k)}")
        code.do(f"store i64 {code(f'add i64 {k}, 1')}, ptr %whole")
        code.do("store i64 0, ptr %inside")
        code.do("store i64 0, ptr %most")


def _newton(stepper: Stepper, memory: Memory, kind: Kind) -> Solve:
    """A step by Newton's iteration: the next state, the interval's xi, and the norm of what is left of the residual."""
    graph, changing = stepper.graph, [*stepper.changing_length, *stepper.state]
    squares = reduce(graph.add, (graph.mul(r, r) for r in stepper.left), graph.const(0.0))
    outputs = [*stepper.after, *stepper.xi, graph.unary("sqrt", squares)]
    return Solve(
        "step", stepper.root, (stepper.parameters, changing), stepper.guess, outputs, stepper.guards,
        memory, kind, stepper.angles, list(zip(stepper.left, stepper.terms, strict=True)),
    )  # fmt: skip


def _row(code: Code, name: str, k: str, count: int) -> str:
    """Where the row of an array of so many columns begins."""
    return code.at(f"%{name}", code(f"mul i64 {k}, {count}"))


def _copy_nodes(code: Code, memory: Memory, graph: Graph, nodes: Sequence[int], row: str) -> None:
    """The values of nodes, of which some may be numbers."""
    there = [k for k, node in enumerate(nodes) if graph.value(node) is None]
    copy_numbers_at(code, [memory.place(graph, nodes[k]) for k in there], there, target=row)
    for k in {*range(len(nodes))} - {*there}:
        code.store(load(code, memory, graph, nodes[k]), row, k)
