"""The three loops of a `History` as native functions: all steps of a run, their tangents, and their cotangents."""

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array

from discrete_hamel.kernel.graph import Graph, Unsupported
from discrete_hamel.kernel.linearised import Linearised, Sweep
from discrete_hamel.kernel.lowering import dependent, frontier
from discrete_hamel.kernel.native.circular import METADATA, circular
from discrete_hamel.kernel.native.ffi import Foreign
from discrete_hamel.kernel.native.instructions import DECLARED, Code, number
from discrete_hamel.kernel.native.object_code import fused
from discrete_hamel.kernel.native.run import FEW, INLINED, MOST_PLACES
from discrete_hamel.kernel.native.sections import Memory, Section, loaded
from discrete_hamel.kernel.native.solve import Solve, copied
from discrete_hamel.kernel.stepper import Stepper

NOT_A_NUMBER = number(float("nan"))


def module(code: Code, memory: Memory, sections: Sequence[Section], pointers: Sequence[str]) -> tuple[str, int]:
    """The text of a module with the function @run, and how many operations it has."""
    if memory.size > MOST_PLACES:
        raise Unsupported(f"{memory.size} numbers that a step passes on, of {MOST_PLACES} at most")
    operations = sum(s.operations for s in sections)
    functions = [circular(code.fused, operations <= FEW), *(s.text(operations <= INLINED) for s in sections)]
    arguments = ", ".join(f"ptr noalias %{name}" for name in pointers)
    body = f"  %memory = alloca [{max(memory.size, 1)} x double], align 64\n" + "\n".join(code.lines)
    run = f"define void @run({arguments}) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"
    return DECLARED + "".join(functions) + run + METADATA, operations


class Counter:
    """A whole number in memory, for loops."""

    def __init__(self, code: Code, begin: str) -> None:
        self.code, self.place = code, code("alloca i64")
        self.set(begin)

    def set(self, value: str) -> None:
        self.code.do(f"store i64 {value}, ptr {self.place}")

    @property
    def value(self) -> str:
        return self.code(f"load i64, ptr {self.place}")

    def next(self, period: str) -> None:
        """One more, of a cycle."""
        more = self.code(f"add i64 {self.value}, 1")
        self.set(self.code(f"select i1 {self.code(f'icmp eq i64 {more}, {period}')}, i64 0, i64 {more}"))


def _counts(code: Code, names: Sequence[str]) -> None:
    for k, name in enumerate(names):
        code.do(f"%{name} = load i64, ptr {code(f'getelementptr inbounds i64, ptr %counts, i64 {k}')}")


def _filled(code: Code, name: str, first: str, end: str, value: str, label: str) -> None:
    """Part of an array filled with a number."""
    at = Counter(code, first)
    code.do(f"br label %{label}")
    code.lines.append(f"{label}:")
    code.do(f"br i1 {code(f'icmp slt i64 {at.value}, {end}')}, label %{label}_one, label %{label}_done")
    code.lines.append(f"{label}_one:")
    code.store(value, name, at.value)
    at.set(code(f"add i64 {at.value}, 1"))
    code.do(f"br label %{label}")
    code.lines.append(f"{label}_done:")


class Steps:
    """All steps of a run: a row of each interval's last step, the states before these, and how many went well."""

    def __init__(self, stepper: Stepper, linearised: Linearised, guards: list[int]) -> None:
        self.stepper, graph = stepper, stepper.graph
        memory, code = Memory(), Code(fused())
        changing = [*stepper.changing_length, *stepper.state]
        outputs = [*stepper.after, *linearised.extra]
        self.size, self.width = len(stepper.state), len(outputs) + 1
        solve = Solve(
            "step", stepper.root, (stepper.parameters, changing), stepper.guess, outputs, guards,
            memory, code.fused, stepper.angles,
        )  # fmt: skip
        pointers = ("numbers", "lengths", "begin", "counts", "rows", "befores", "done")
        _counts(code, ("parts", "saved", "every"))
        for k, node in enumerate(stepper.parameters):
            code.store(code.load("%numbers", k), "%memory", memory.place(graph, node))
        for k, node in enumerate(stepper.state):
            code.store(code.load("%begin", k), "%memory", memory.place(graph, node))
        solve.prepare.call(code)
        code.do("%count = alloca i64")
        code.do("%total = mul i64 %saved, %parts")
        code.do("%keeps = icmp sgt i64 %every, 1")
        row, whole, inside, part, most, done = (Counter(code, "0") for _ in range(6))
        code.do("br label %next")
        code.lines.append("next:")
        code.do(f"br i1 {code(f'icmp slt i64 {whole.value}, %saved')}, label %forward, label %over")
        code.lines.append("forward:")
        code.do("br i1 %keeps, label %keep, label %step")
        code.lines.append("keep:")
        code.do(f"%at = mul i64 {row.value}, {self.size}")
        for k, node in enumerate(stepper.state):
            place = code(f"add i64 %at, {k}")
            code.store(loaded(code, memory, graph, node), "%befores", place)
        code.do("br label %step")
        code.lines.append("step:")
        for node in stepper.changing_length:
            code.store(code.load("%lengths", part.value), "%memory", memory.place(graph, node))
        solve.call(code, "%count")
        made, before = code("load i64, ptr %count"), most.value
        most.set(code(f"select i1 {code(f'icmp sgt i64 {made}, {before}')}, i64 {made}, i64 {before}"))
        good = code(f"fcmp une double {loaded(code, memory, graph, solve.good)}, {number(0.0)}")
        code.do(f"br i1 {good}, label %written, label %lost")
        code.lines.append("written:")
        values = [loaded(code, memory, graph, i) for i in solve.outputs]
        start = code.at("%rows", code(f"mul i64 {row.value}, {self.width}"))
        for k, value in enumerate(values):
            code.store(value, start, k)
        code.store(code(f"sitofp i64 {most.value} to double"), start, self.width - 1)
        copied(code, memory, graph, solve.outputs[: self.size], stepper.state)
        done.set(code(f"add i64 {done.value}, 1"))
        part.next("%parts")
        code.do(f"%same = mul i64 {whole.value}, %parts")
        row.set(code(f"add i64 %same, {part.value}"))
        code.do(f"br i1 {code(f'icmp eq i64 {part.value}, 0')}, label %stepped, label %next")
        code.lines.append("stepped:")
        inside.next("%every")
        code.do(f"br i1 {code(f'icmp eq i64 {inside.value}, 0')}, label %interval, label %next")
        code.lines.append("interval:")
        most.set("0")
        whole.set(code(f"add i64 {whole.value}, 1"))
        row.set(code(f"mul i64 {whole.value}, %parts"))
        code.do("br label %next")
        code.lines.append("lost:")  # all of an interval, if it has several steps, and all that would have followed
        first = code(f"select i1 %keeps, i64 {code(f'mul i64 {whole.value}, %parts')}, i64 {row.value}")
        ends = ((self.width, "rows", "%total"), (self.size, "befores", code("select i1 %keeps, i64 %total, i64 0")))
        for width, name, end in ends:
            begin, until = code(f"mul i64 {first}, {width}"), code(f"mul i64 {end}, {width}")
            _filled(code, f"%{name}", begin, until, NOT_A_NUMBER, f"fill_{name}")
        code.do("br label %over")
        code.lines.append("over:")
        code.store(code(f"sitofp i64 {done.value} to double"), "%done", 0)
        text, operations = module(code, memory, solve.sections, pointers)
        self.foreign = Foreign(text, operations, 4, 3)

    def __call__(self, saved: int, every: int, parameters: Array, lengths: Array, begin: Array) -> tuple[Array, ...]:
        """As `History.run`."""
        parts = len(lengths)
        arguments = _arguments(self.stepper, parameters, lengths, begin, self.size, (parts, saved, every))
        count = saved * parts
        rows, befores, done = self.foreign(
            arguments, [(count, self.width), (count if every > 1 else 0, self.size), (1,)]
        )
        return rows, befores, done[0]


def _arguments(
    stepper: Stepper, parameters: Array, lengths: Array, begin: Array, size: int, counts: tuple[int, ...]
) -> dict[str, tuple[Array, tuple[int, ...]]]:
    """What all loops are given first, with its shapes."""
    return {
        "parameters": (parameters, (len(stepper.parameters),)),
        "lengths": (lengths, lengths.shape[:1]),
        "the first state": (begin, (size,)),
        "counts": (jnp.array(counts, jnp.int64), (len(counts),)),
    }


class Swept:
    """What the loops over the rows of a run share: the values at a step, and the evaluation of a `Sweep`."""

    def __init__(self, stepper: Stepper, linearised: Linearised, sweep: Sweep, width: int) -> None:
        self.stepper, self.linearised, self.sweep = stepper, linearised, sweep
        self.graph: Graph = stepper.graph
        self.size, self.width, self.parts_text = len(stepper.state), width, ""
        self.memory, self.code = Memory(), Code(fused())
        graph, memory = self.graph, self.memory
        self.read = {**linearised.source, **linearised.given}  # node -> column of the row it is in
        varying = [*linearised.length, *stepper.state, *self.read, *sweep.inputs]
        changing = dependent(graph, sweep.outputs, varying)
        fixed = [i for i in frontier(graph, sweep.outputs, changing) if i not in stepper.parameters]
        for node in (*stepper.parameters, *varying):
            memory.place(graph, node)
        self.prepare = Section("prepare", graph, fixed, stepper.parameters, memory, self.code.fused)
        have = [*stepper.parameters, *fixed, *varying]
        self.body = Section("sweep", graph, sweep.outputs, have, memory, self.code.fused)

    def enter(self) -> None:
        code = self.code
        for k, node in enumerate(self.stepper.parameters):
            code.store(code.load("%numbers", k), "%memory", self.memory.place(self.graph, node))
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

    def __init__(self, stepper: Stepper, linearised: Linearised, sweep: Sweep, width: int, active: int) -> None:
        super().__init__(stepper, linearised, sweep, width)
        code, memory, graph = self.code, self.memory, self.graph
        self.active = active
        _counts(code, ("parts", "total"))
        self.enter()
        for i, node in enumerate(sweep.inputs[:active]):
            code.store(code.load("%moved", i), "%memory", memory.place(graph, node))
        k, part = Counter(code, "0"), Counter(code, "0")
        code.do("br label %next")
        code.lines.append("next:")
        code.do(f"br i1 {code(f'icmp slt i64 {k.value}, %total')}, label %forward, label %over")
        code.lines.append("forward:")
        here = k.value
        self.at(here, part.value)
        along = self.before(here, "%tangents", "%start")
        later = sweep.inputs[active:]
        for node in later[: len(linearised.length)]:
            code.store(code.load("%stretched", part.value), "%memory", memory.place(graph, node))
        for i, node in enumerate(later[len(linearised.length) :]):
            code.store(code.load(along, i), "%memory", memory.place(graph, node))
        self.body.call(code)
        row = code.at("%tangents", code(f"mul i64 {here}, {width}"))
        for i, node in enumerate(sweep.outputs):
            code.store(loaded(code, memory, graph, node), row, i)
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
        arguments = _arguments(self.stepper, parameters, lengths, begin, self.size, (parts, count)) | {
            "rows": (rows, (count, self.width)),
            "parameters' tangents": (jnp.stack(moved) if moved else jnp.zeros(0), (self.active,)),
            "lengths' tangents": (stretched, (parts,)),
            "the first state's tangent": (start, (self.size,)),
        }
        return self.call(arguments, [(count, self.width)])[0]


class Cotangents(Swept):
    """The cotangents of parameters, lengths and the first state, from those of all rows."""

    def __init__(self, stepper: Stepper, linearised: Linearised, sweep: Sweep, width: int, active: int) -> None:
        super().__init__(stepper, linearised, sweep, width)
        code, memory, graph = self.code, self.memory, self.graph
        self.active, stretching = active, len(linearised.length)
        _counts(code, ("parts", "total"))
        self.enter()
        _filled(code, "%ends", "0", str(active + self.size), number(0.0), "zero_ends")
        _filled(code, "%stretched", "0", "%total", number(0.0), "zero_stretched")
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
        for i, node in enumerate(sweep.inputs):
            weight = code.load(weights, i)
            if i < self.size:
                weight = code(f"fadd double {weight}, {code.load('%ends', active + i)}")
            code.store(weight, "%memory", memory.place(graph, node))
        self.body.call(code)
        new = [loaded(code, memory, graph, node) for node in sweep.outputs]
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
        arguments = _arguments(self.stepper, parameters, lengths, begin, self.size, (parts, count)) | {
            "rows": (rows, (count, self.width)),
            "steps that went well": (done[None], (1,)),
            "the rows' cotangents": (cotangent, (count, self.width)),
        }
        ends, stretched = self.call(arguments, [(self.active + self.size,), (count,)])
        return ends, stretched
