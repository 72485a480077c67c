"""All steps of a run as a native function that JAX calls: a row of numbers each, which its derivatives need."""

from jax import Array

from discrete_hamel.compiler.native.ffi import Foreign
from discrete_hamel.compiler.native.instructions import Code, Kind, number
from discrete_hamel.compiler.native.module import Counter, arguments, copy_numbers, counts, fill, module
from discrete_hamel.compiler.native.object_code import fused
from discrete_hamel.compiler.native.section import Memory, load
from discrete_hamel.compiler.native.solve import Solve, copy_values
from discrete_hamel.compiler.step.linearised import LinearisedStep
from discrete_hamel.compiler.step.stepper import Stepper

NOT_A_NUMBER = number(float("nan"))


class Steps:
    """All steps of a run: a row of each interval's last step, the states before these, and how many went well."""

    def __init__(self, stepper: Stepper, linearised: LinearisedStep, guards: list[int]) -> None:
        self.stepper, graph = stepper, stepper.graph
        memory, code = Memory(), Code(Kind(fused()))
        changing = [*stepper.changing_length, *stepper.state]
        outputs = [*stepper.after, *linearised.extra]
        self.size, self.width = len(stepper.state), len(outputs) + 1
        solve = Solve(
            "step", stepper.root, (stepper.parameters, changing), stepper.guess, outputs, guards,
            memory, code.kind, stepper.angles, list(zip(stepper.left, stepper.terms, strict=True)),
        )  # fmt: skip
        pointers = ("numbers", "lengths", "begin", "counts", "rows", "befores", "done")
        counts(code, ("parts", "saved", "every"))
        copy_numbers(code, "%numbers", [memory.place(graph, node) for node in stepper.parameters])
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
            code.store(load(code, memory, graph, node), "%befores", place)
        code.do("br label %step")
        code.lines.append("step:")
        for node in stepper.changing_length:
            code.store(code.load("%lengths", part.value), "%memory", memory.place(graph, node))
        solve.call(code, "%count")
        made, before = code("load i64, ptr %count"), most.value
        most.set(code(f"select i1 {code(f'icmp sgt i64 {made}, {before}')}, i64 {made}, i64 {before}"))
        good = code(f"fcmp une double {load(code, memory, graph, solve.good)}, {number(0.0)}")
        code.do(f"br i1 {good}, label %written, label %lost")
        code.lines.append("written:")
        values = [load(code, memory, graph, i) for i in solve.outputs]
        start = code.at("%rows", code(f"mul i64 {row.value}, {self.width}"))
        for k, value in enumerate(values):
            code.store(value, start, k)
        code.store(code(f"sitofp i64 {most.value} to double"), start, self.width - 1)
        copy_values(code, memory, graph, solve.outputs[: self.size], stepper.state)
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
            fill(code, f"%{name}", begin, until, NOT_A_NUMBER, f"fill_{name}")
        code.do("br label %over")
        code.lines.append("over:")
        code.store(code(f"sitofp i64 {done.value} to double"), "%done", 0)
        text, operations = module(code, memory, solve.sections, pointers)
        self.foreign = Foreign(text, operations, 4, 3)

    def __call__(self, saved: int, every: int, parameters: Array, lengths: Array, begin: Array) -> tuple[Array, ...]:
        """As `History.run`."""
        parts = len(lengths)
        given = arguments(self.stepper, parameters, lengths, begin, self.size, (parts, saved, every))
        count = saved * parts
        rows, befores, done = self.foreign(given, [(count, self.width), (count if every > 1 else 0, self.size), (1,)])
        return rows, befores, done[0]
