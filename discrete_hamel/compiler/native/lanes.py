"""Many runs side by side as one native function: vectors with a lane for each run, a few of them at a time.

A lane has the numbers that it would have alone: its iteration stops when it has converged, and where one of its steps
fails it stays at the last good state while the others go on.
"""

import ctypes
from collections.abc import Iterable

import numpy as np

from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.native.circular import METADATA, circular
from discrete_hamel.compiler.native.hyperbolic import hyperbolic
from discrete_hamel.compiler.native.instructions import Code, Kind
from discrete_hamel.compiler.native.module import FEW, run_function
from discrete_hamel.compiler.native.object_code import INLINED, fused, machine_code, processor
from discrete_hamel.compiler.native.section import Memory, load
from discrete_hamel.compiler.native.side_by_side import solve_lanes, some
from discrete_hamel.compiler.native.solve import Solve, copy_values
from discrete_hamel.compiler.step.stepper import Stepper

POINTERS = ("numbers", "begin", "active", "counts", "rows", "final", "done", "steps", "most")
FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(POINTERS))
LANES = 128  # a multiple of which a call takes: enough to fill vectors, few enough for the first-level cache
LEVEL = 2  # of LLVM's optimisation, where all is one function: 4 % less time a step than 1, for a tenth more to compile
COUNTERS = ("lane", "node", "inside", "part", "step_round", "node_round")


def width() -> int:
    """Lanes of a vector: four of the processor's, which it works on in turns."""
    features = processor()[1].split(",")
    return 32 if "+avx512f" in features else 16 if "+avx" in features else 8


class LaneRun:
    """The machine code of a stepper's runs side by side; `varying` says which parameters differ from lane to lane."""

    def __init__(self, stepper: Stepper, varying: tuple[bool, ...]) -> None:
        self.varying = varying
        self.stepper, self.memory, self.width = stepper, Memory(), width()
        self.kind = kind = Kind(fused(), self.width)
        node, memory = stepper.node_velocity, self.memory
        changing = [*stepper.changing_length, *stepper.state]
        self.step = Solve(
            "step", stepper.root, (stepper.parameters, changing), stepper.guess, stepper.after, stepper.guards,
            memory, kind, stepper.angles, list(zip(stepper.left, stepper.terms, strict=True)),
        )  # fmt: skip
        levels = node.parameters, [*node.q, *node.p, *node.free]
        self.node = Solve("node", node.root, levels, node.free, node.whole, node.guards, memory, kind)
        self.alive, self.made, self.count, self.past, self.steps = (memory.new() for _ in range(5))
        self.most, self.verdict = memory.new(), memory.new()
        self.kept = memory.new(len(stepper.state))
        sections = [*self.step.sections, *self.node.sections]
        operations = sum(s.operations for s in sections)
        own = circular(kind, operations <= FEW) + hyperbolic(kind)
        functions = [own, *(s.text(operations <= INLINED) for s in sections)]
        run = run_function(self._run(Code(kind)).lines, POINTERS, memory, kind)
        text = kind.declarations() + "".join(functions) + run + METADATA
        self.library = machine_code(text, operations, LEVEL if operations <= INLINED else None)
        self.function = FUNCTION(self.library.address("run"))

    def _run(self, code: Code) -> Code:
        stepper, memory, graph, kind = self.stepper, self.memory, self.stepper.graph, self.kind
        node = stepper.node_velocity
        for name in COUNTERS:
            code.do(f"%{name} = alloca i64")
        for k, name in enumerate(("parts", "nodes", "every", "total")):
            code.do(f"%{name} = load i64, ptr {code(f'getelementptr inbounds i64, ptr %counts, i64 {k}')}")
        code.do("store i64 0, ptr %lane")
        code.do("br label %block")
        code.lines.append("block:")
        for k, place in enumerate(stepper.parameters):
            code.store(self._lanes(code, "numbers", str(k)), "%memory", memory.place(graph, place))
        for k, place in enumerate(node.parameters):
            code.store(self._lanes(code, "numbers", str(k)), "%memory", memory.place(node.graph, place))
        for solve in (self.step, self.node):
            solve.prepare.call(code)
        for k, place in enumerate(stepper.state):
            code.store(self._lanes(code, "begin", str(k)), "%memory", memory.place(graph, place))
        code.store(self._lanes(code, "active", "0"), "%memory", self.alive)
        for place in (self.made, self.steps, self.most):
            code.store(kind.number(0.0), "%memory", place)
        code.do("store i64 0, ptr %node")
        code.do("br label %next")
        code.lines.append("next:")
        code.do("store i64 0, ptr %inside")
        self._while(code, "node", "%nodes", "ahead", "written")
        code.lines.append("ahead:")
        self._while(code, "inside", "%every", "begun", "arrived")
        self._step(code)
        self._arrive(code)
        code.lines.append("written:")
        for k, place in enumerate(stepper.state):
            self._put(code, "final", str(k), load(code, memory, graph, place))
        for name, place in (("done", self.made), ("steps", self.steps), ("most", self.most)):
            self._put(code, name, "0", code.load("%memory", place))
        self._count(code, "lane", self.width)
        more = code(f"icmp slt i64 {code('load i64, ptr %lane')}, %total")
        code.do(f"br i1 {more}, label %block, label %over")
        code.lines += ["over:", "  ret void"]
        return code

    def _step(self, code: Code) -> None:
        """A step of the lanes that are alive; the state stays as it was where it fails."""
        stepper, memory, graph = self.stepper, self.memory, self.stepper.graph
        code.lines.append("begun:")
        for k, place in enumerate(stepper.state if stepper.composed else []):
            code.store(load(code, memory, graph, place), "%memory", self.kept + k)
        code.do("store i64 0, ptr %part")
        code.do("br label %parted")
        code.lines.append("parted:")
        for place in stepper.changing_length:
            row = code(f"add i64 {code('load i64, ptr %part')}, {len(stepper.parameters)}")
            code.store(self._lanes(code, "numbers", row), "%memory", memory.place(graph, place))
        solve_lanes(self.step, code, code.load("%memory", self.alive), self.count, self.verdict)
        most, count = code.load("%memory", self.most), code.load("%memory", self.count)
        code.store(code.select(code.compare("ogt", count, most), count, most), "%memory", self.most)
        alive = self._survive(code, self.step, self.step.outputs)
        self._move_parts(code, alive) if stepper.composed else self._move(code, alive)
        self._more(code, self.steps)
        self._count(code, "inside", 1)
        code.do("br label %ahead")

    def _move(self, code: Code, alive: str) -> None:
        """The state after a step, in the lanes that are alive: nearly always all."""
        memory, graph, state = self.memory, self.stepper.graph, self.stepper.state
        stopped = code(f"xor {self.kind.of('i1')} {alive}, {self.kind.bits('i1 true')}")
        code.do(f"br i1 {some(code, stopped)}, label %some_move, label %all_move")
        for label, where in (("some_move", alive), ("all_move", None)):
            code.lines.append(f"{label}:")
            copy_values(code, memory, graph, self.step.outputs, state, where)
            code.do("br label %stepped")
        code.lines.append("stepped:")

    def _move_parts(self, code: Code, alive: str) -> None:
        """The state after a part of a step; where it fails, that before the first part."""
        stepper, memory, graph = self.stepper, self.memory, self.stepper.graph
        copy_values(code, memory, graph, self.step.outputs, stepper.state)
        self._count(code, "part", 1)
        more = code(f"icmp slt i64 {code('load i64, ptr %part')}, %parts")
        code.do(f"br i1 {code(f'and i1 {more}, {some(code, alive)}')}, label %parted, label %stepped")
        code.lines.append("stepped:")
        for k, place in enumerate(stepper.state):
            new, old = load(code, memory, graph, place), code.load("%memory", self.kept + k)
            code.store(code.select(alive, new, old), "%memory", memory.place(graph, place))

    def _arrive(self, code: Code) -> None:
        """A node's numbers, of the lanes to whose momentum a velocity belongs."""
        stepper, memory, graph, node = self.stepper, self.memory, self.stepper.graph, self.stepper.node_velocity
        code.lines.append("arrived:")
        state = [load(code, memory, graph, i) for i in stepper.state]
        q, p, free = ([state[k] for k in place] for place in stepper.node_places())
        for values, places in ((q, node.q), (p, node.p), (free, node.free)):
            for value, place in zip(values, places, strict=True):
                code.store(value, "%memory", memory.place(node.graph, place))
        solve_lanes(self.node, code, code.load("%memory", self.alive), self.count, self.verdict)
        self._survive(code, self.node, self.node.outputs)
        state = [load(code, memory, graph, i) for i in stepper.state]
        q, p, _ = ([state[k] for k in place] for place in stepper.node_places())
        row = [*q, *p, *(load(code, memory, node.graph, i) for i in self.node.outputs)]
        first = code(f"mul i64 {code('load i64, ptr %node')}, {len(row)}")
        for k, value in enumerate(row):
            self._put(code, "rows", code(f"add i64 {first}, {k}"), value)
        self._more(code, self.made)
        self._count(code, "node", 1)
        code.do("br label %next")

    def _survive(self, code: Code, solve: Solve, outputs: list[int]) -> str:
        """The lanes that were alive, and whose solve and numbers are good."""
        kind, memory = self.kind, self.memory
        zero, one = kind.number(0.0), kind.number(1.0)
        alive = code.compare("une", code.load("%memory", self.alive), zero)
        good = code.compare("une", code.load("%memory", self.verdict), zero)
        nothing = zero
        for node in outputs:  # 0 x is 0 for what is finite
            nothing = code.fma(load(code, memory, solve.graph, node), zero, nothing)
        finite = code.compare("oeq", nothing, zero)
        bits = kind.of("i1")
        alive = code(f"and {bits} {alive}, {code(f'and {bits} {good}, {finite}')}")
        code.store(code.select(alive, one, zero), "%memory", self.alive)
        return alive

    def _more(self, code: Code, place: int) -> None:
        """One more, in the lanes that are alive."""
        total, alive = code.load("%memory", place), code.load("%memory", self.alive)
        code.store(code(f"fadd {self.kind.double} {total}, {alive}"), "%memory", place)

    def _while(self, code: Code, counter: str, end: str, then: str, otherwise: str) -> None:
        """Go on while there is something left to do, and a lane alive to do it."""
        left = code(f"icmp slt i64 {code(f'load i64, ptr %{counter}')}, {end}")
        alive = code.compare("une", code.load("%memory", self.alive), self.kind.number(0.0))
        code.do(f"br i1 {code(f'and i1 {left}, {some(code, alive)}')}, label %{then}, label %{otherwise}")

    def _count(self, code: Code, counter: str, more: int) -> None:
        value = code(f"load i64, ptr %{counter}")
        code.do(f"store i64 {code(f'add i64 {value}, {more}')}, ptr %{counter}")

    def _place(self, code: Code, array: str, row: str) -> str:
        """Where these lanes are in a row of an array of all lanes."""
        start = code(f"add i64 {code(f'mul i64 {row}, %total')}, {code('load i64, ptr %lane')}")
        return code(f"getelementptr inbounds double, ptr %{array}, i64 {start}")

    def _lanes(self, code: Code, array: str, row: str) -> str:
        return code(f"load {self.kind.double}, ptr {self._place(code, array, row)}, align 8")

    def _put(self, code: Code, array: str, row: str, value: str) -> None:
        code.do(f"store {self.kind.double} {value}, ptr {self._place(code, array, row)}, align 8")

    def advance(
        self, common: Iterable, own: np.ndarray, begin: np.ndarray, active: np.ndarray, nodes: int, every: int
    ) -> tuple[np.ndarray, ...]:
        """From `begin`, (numbers of the state, lanes): the last states, the nodes and steps done, the most iterations,
        and the nodes, (nodes, N + m + n, lanes); lanes that are `active` are to reach `nodes` nodes of `every` steps.

        Parameters that differ from lane to lane are rows of `own`, the others the numbers `common`. Several threads may
        call it at the same time, each for its part of the lanes.
        """
        numbers, different, lanes = iter(common), iter(own), begin.shape[-1:]
        rows = [next(different) if varies else np.broadcast_to(next(numbers), lanes) for varies in self.varying]
        return self(np.asarray(rows).reshape(len(rows), *lanes), begin, active, nodes, every)

    def __call__(
        self, numbers: np.ndarray, begin: np.ndarray, active: np.ndarray, nodes: int, every: int
    ) -> tuple[np.ndarray, ...]:
        """The same from a row for each parameter."""
        stepper, total = self.stepper, begin.shape[-1]
        parts = len(numbers) - len(stepper.parameters) if stepper.composed else 1
        whole = len(stepper.parameters) + stepper.composed * parts
        shapes = {"numbers": (whole, total), "begin": (len(stepper.state), total), "active": (total,)}
        given = {"numbers": numbers, "begin": begin, "active": active}
        given = {name: np.ascontiguousarray(array, np.float64) for name, array in given.items()}
        if parts < 1 or nodes < 0 or every < 1 or total % self.width:
            raise InputError(
                f"{total} lanes, {nodes} nodes of {every} steps of {parts}, which native lanes do not take."
            )
        for name, shape in shapes.items():
            if given[name].shape != shape:
                raise InputError(f"{name} has shape {given[name].shape}, where native lanes take {shape}.")
        width = len(stepper.node_velocity.q) + len(stepper.node_velocity.p) + stepper.n
        arrays = given | {
            "counts": np.array([parts, nodes, every, total], np.int64),
            "rows": np.zeros((nodes, width, total)),
        }
        arrays |= {
            "final": np.empty_like(given["begin"]),
            **{name: np.empty(total) for name in ("done", "steps", "most")},
        }
        self.function(*(arrays[name].ctypes.data for name in POINTERS))
        return tuple(arrays[name] for name in ("final", "done", "steps", "most", "rows"))
