"""The loops over the rows of a run as native functions: their tangents forwards, their cotangents backwards in time."""

from collections.abc import Sequence

from jax import Array

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import dependent, frontier
from discrete_hamel.compiler.native.ffi import Foreign
from discrete_hamel.compiler.native.instructions import Code, Kind, number
from discrete_hamel.compiler.native.module import Counter, arguments, copy_numbers, counts, fill, module
from discrete_hamel.compiler.native.object_code import fused
from discrete_hamel.compiler.native.section import Memory, Section, load
from discrete_hamel.compiler.step.linearised import LinearisedStep, LinearMap
from discrete_hamel.compiler.step.stepper import Stepper


class Swept:
    """What the loops over the rows of a run share: the values at a step, and the evaluation of a `LinearMap`."""

    def __init__(self, stepper: Stepper, linearised: LinearisedStep, linear: LinearMap, width: int) -> None:
        self.stepper, self.linearised, self.linear = stepper, linearised, linear
        self.graph: Graph = stepper.graph
        self.size, self.width, self.parts_text = len(stepper.state), width, ""
        self.memory, self.code = Memory(), Code(Kind(fused()))
        graph, memory = self.graph, self.memory
        self.read = {**linearised.source, **linearised.given}  # node -> column of the row it is in
        varying = [*linearised.length, *stepper.state, *self.read, *linear.inputs]
        changing = dependent(graph, linear.outputs, varying)
        fixed = [i for i in frontier(graph, linear.outputs, changing) if i not in stepper.parameters]
        for node in (*stepper.parameters, *varying):
            memory.place(graph, node)
        self.prepare = Section("prepare", graph, fixed, stepper.parameters, memory, self.code.kind)
        have = [*stepper.parameters, *fixed, *varying]
        self.body = Section("sweep", graph, linear.outputs, have, memory, self.code.kind, set(stepper.parameters))
        self.prepare.lay_out(memory.matrices)

    def enter(self) -> None:
        code = self.code
        copy_numbers(code, "%numbers", [self.memory.place(self.graph, node) for node in self.stepper.parameters])
        self.prepare.call(code)

    def at(self, k: str, part: str) -> tuple[str, str]:
        """The values at the k-th step; addresses of its row, and of the state before it."""
        code, memory, graph = self.code, self.memory, self.graph
        row = code.at("%rows", code(f"mul i64 {k}, {self.width}"))
        before = self.before(k, "%rows", "%begin")
        for i, node in enumerate(self.stepper.state):
            code.store(code.load(before, i), "%memory", memory.place(graph, node))
        for node, column in self.read.items():
            code.store(code.load(row, column), "%memory", memory.place(graph, node))
        for node in self.linearised.length:
            code.store(code.load("%lengths", part), "%memory", memory.place(graph, node))
        return row, before

    def before(self, k: str, rows: str, begin: str) -> str:
        """Where the row before the k-th is, or the beginning."""
        code = self.code
        previous = code.at(rows, code(f"mul i64 {code(f'sub i64 {k}, 1')}, {self.width}"))
        return code(f"select i1 {code(f'icmp eq i64 {k}, 0')}, ptr {begin}, ptr {previous}")

    def foreign(self, pointers: Sequence[str], arguments: int) -> Foreign:
        text, operations = module(self.code, self.memory, [self.prepare, self.body], pointers)
        return Foreign(text, operations, arguments, len(pointers) - arguments)


class Tangents(Swept):
    """The tangents of all rows."""

    def __init__(
        self, stepper: Stepper, linearised: LinearisedStep, linear: LinearMap, width: int, active: int
    ) -> None:
        super().__init__(stepper, linearised, linear, width)
        code, memory, graph = self.code, self.memory, self.graph
        self.active = active
        counts(code, ("parts", "total"))
        self.enter()
        for i, node in enumerate(linear.inputs[:active]):
            code.store(code.load("%moved", i), "%memory", memory.place(graph, node))
        k, part = Counter(code, "0"), Counter(code, "0")
        code.do("br label %next")
        code.lines.append("next:")
        code.do(f"br i1 {code(f'icmp slt i64 {k.value}, %total')}, label %forward, label %over")
        code.lines.append("forward:")
        here = k.value
        self.at(here, part.value)
        along = self.before(here, "%tangents", "%start")
        later = linear.inputs[active:]
        for node in later[: len(linearised.length)]:
            code.store(code.load("%stretched", part.value), "%memory", memory.place(graph, node))
        for i, node in enumerate(later[len(linearised.length) :]):
            code.store(code.load(along, i), "%memory", memory.place(graph, node))
        self.body.call(code)
        row = code.at("%tangents", code(f"mul i64 {here}, {width}"))
        for i, node in enumerate(linear.outputs):
            code.store(load(code, memory, graph, node), row, i)
        code.store(number(0.0), row, width - 1)
        part.next("%parts")
        k.set(code(f"add i64 {here}, 1"))
        code.do("br label %next")
        code.lines.append("over:")
        names = ("numbers", "lengths", "begin", "counts", "rows", "moved", "stretched", "start", "tangents")
        self.call = self.foreign(names, 8)

    def __call__(self, parameters: Array, lengths: Array, begin: Array, rows: Array, vectors: tuple) -> Array:
        """As `History.tangent`."""
        moved, stretched, start = vectors
        count, parts = len(rows), len(lengths)
        given = arguments(self.stepper, parameters, lengths, begin, self.size, (parts, count)) | {
            "rows": (rows, (count, self.width)),
            "parameters' tangents": (moved, (self.active,)),
            "lengths' tangents": (stretched, (parts,)),
            "the first state's tangent": (start, (self.size,)),
        }
        return self.call(given, [(count, self.width)])[0]


class Cotangents(Swept):
    """The cotangents of parameters, lengths and the first state, from those of all rows."""

    def __init__(
        self, stepper: Stepper, linearised: LinearisedStep, linear: LinearMap, width: int, active: int
    ) -> None:
        super().__init__(stepper, linearised, linear, width)
        code, memory, graph = self.code, self.memory, self.graph
        self.active, stretching = active, len(linearised.length)
        counts(code, ("parts", "total"))
        self.enter()
        fill(code, "%ends", "0", str(active + self.size), number(0.0), "zero_ends")
        fill(code, "%stretched", "0", "%total", number(0.0), "zero_stretched")
        done = code.load("%done", 0)
        limit = code("sitofp i64 %total to double")
        within = [code(f"fcmp oge double {done}, {number(0.0)}"), code(f"fcmp ole double {done}, {limit}")]
        sure = code(f"select i1 {code(f'and i1 {within[0]}, {within[1]}')}, double {done}, double {number(0.0)}")
        k = Counter(code, code(f"fptosi double {sure} to i64"))
        code.do("br label %next")
        code.lines.append("next:")
        code.do(f"br i1 {code(f'icmp sgt i64 {k.value}, 0')}, label %back, label %over")
        code.lines.append("back:")
        here = code(f"sub i64 {k.value}, 1")
        k.set(here)
        self.at(here, code(f"srem i64 {here}, %parts"))
        weights = code.at("%cotangent", code(f"mul i64 {here}, {width}"))
        for i, node in enumerate(linear.inputs):
            weight = code.load(weights, i)
            if i < self.size:
                weight = code(f"fadd double {weight}, {code.load('%ends', active + i)}")
            code.store(weight, "%memory", memory.place(graph, node))
        self.body.call(code)
        new = [load(code, memory, graph, node) for node in linear.outputs]
        for i in range(active):
            code.store(code(f"fadd double {code.load('%ends', i)}, {new[i]}"), "%ends", i)
        for value in new[active : active + stretching]:
            code.store(value, "%stretched", here)
        for i, value in enumerate(new[active + stretching :]):
            code.store(value, "%ends", active + i)
        code.do("br label %next")
        code.lines.append("over:")
        names = ("numbers", "lengths", "begin", "counts", "rows", "done", "cotangent", "ends", "stretched")
        self.call = self.foreign(names, 7)

    def __call__(
        self, parameters: Array, lengths: Array, begin: Array, rows: Array, done: Array, cotangent: Array
    ) -> tuple[Array, Array]:
        """Cotangents of the active parameters and of the first state in one array, and of the length of each step."""
        count, parts = len(rows), len(lengths)
        given = arguments(self.stepper, parameters, lengths, begin, self.size, (parts, count)) | {
            "rows": (rows, (count, self.width)),
            "steps that went well": (done[None], (1,)),
            "the rows' cotangents": (cotangent, (count, self.width)),
        }
        ends, stretched = self.call(given, [(self.active + self.size,), (count,)])
        return ends, stretched
