"""What native functions over the steps of a run have in common: a module's text, whole numbers, arguments."""

from collections.abc import Sequence
from typing import Protocol

import jax.numpy as jnp
from jax import Array

from discrete_hamel.compiler.native.circular import METADATA, circular
from discrete_hamel.compiler.native.equal_links import circular_of_rows
from discrete_hamel.compiler.native.hyperbolic import hyperbolic
from discrete_hamel.compiler.native.instructions import Code, Kind
from discrete_hamel.compiler.native.object_code import INLINED, architecture
from discrete_hamel.compiler.native.section import Memory
from discrete_hamel.compiler.step.stepper import Stepper

FEW = 1500  # operations up to which sines are evaluated where they are used
MANY = 500  # numbers from which on they are copied in a loop, which keeps memory from becoming registers
MOST_ON_STACK = 320_000  # bytes of memory; what is more is the heap's


class Evaluated(Protocol):
    """What a module has functions of."""

    operations: int

    def text(self, inline: bool) -> str: ...


def module(code: Code, memory: Memory, sections: Sequence[Evaluated], pointers: Sequence[str]) -> tuple[str, int]:
    """The text of a module with the function @run, and how many operations it has."""
    operations = sum(s.operations for s in sections)
    own = circular(code.kind, operations <= FEW) + hyperbolic(code.kind)
    texts = [s.text(operations <= INLINED) for s in sections]
    functions = [own, circular_of_rows("".join(texts), code.kind.fused), *texts]
    run = run_function([*code.lines, "  ret void"], pointers, memory, code.kind)
    return code.kind.declarations() + "".join(functions) + run + METADATA, operations


SMALL_TO_ZERO = {  # how numbers below 2.2e-308 become zeros, as operands and as results
    "x86_64": (
        "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)\n",
        """  %kept = alloca i32
  %changed = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %kept)
  %bits = load i32, ptr %kept
  %more = or i32 %bits, 32832
  store i32 %more, ptr %changed
  call void @llvm.x86.sse.ldmxcsr(ptr %changed)
""",
        "  call void @llvm.x86.sse.ldmxcsr(ptr %kept)\n",
    ),
    "aarch64": (
        "declare i64 @llvm.aarch64.get.fpcr()\ndeclare void @llvm.aarch64.set.fpcr(i64)\n",
        """  %kept = call i64 @llvm.aarch64.get.fpcr()
  %changed = or i64 %kept, 16777216
  call void @llvm.aarch64.set.fpcr(i64 %changed)
""",
        "  call void @llvm.aarch64.set.fpcr(i64 %kept)\n",
    ),
}


FROM_THE_HEAP = """  %block = call ptr @malloc(i64 {bytes})
  %none = icmp eq ptr %block, null
  br i1 %none, label %nothing, label %enough
nothing:
  call void @llvm.trap()
  unreachable
enough:
  %first = ptrtoint ptr %block to i64
  %after = add i64 %first, {beyond}
  %even = and i64 %after, -{align}
  %memory = inttoptr i64 %even to ptr
"""
# Without "stackrealign" what has no register lies astride two lines of the cache, and takes ten times as long to load.
BODY = 'noinline nounwind "stackrealign"'
ALIGN = 64  # bytes: a vector's, and a line's of the cache


def run_function(lines: Sequence[str], pointers: Sequence[str], memory: Memory, kind: Kind) -> str:
    """The function @run with this body, in which numbers below 2.2e-308 are zeros, as they are in what XLA compiles.

    What decays comes to such numbers, or its squares do, and a processor takes some fifty cycles for each. The body is
    a function of its own, so that LLVM moves nothing out of where this holds. In the body %memory has room for what
    has a place: on the stack, where LLVM can make registers of it, or from the heap, as stacks are short.
    """
    declared, before, after = SMALL_TO_ZERO.get(architecture(), ("", "", ""))
    count, taken = max(memory.size, 1), list(pointers)
    size, room = 8 * kind.lanes * count, f"  %memory = alloca [{count} x {kind.double}], align {ALIGN}\n"
    if size > MOST_ON_STACK:
        declared += "declare noalias ptr @malloc(i64)\ndeclare void @free(ptr)\ndeclare void @llvm.trap()\n"
        before += FROM_THE_HEAP.format(bytes=size + ALIGN, beyond=ALIGN - 1, align=ALIGN)
        after = "  call void @free(ptr %block)\n" + after
        taken, room = [*taken, "memory"], ""
    given, inside = (", ".join(f"ptr noalias %{name}" for name in names) for names in (pointers, taken))
    body = room + "\n".join(lines)
    return (
        f"define internal void @steps({inside}) {BODY} {{\nentry:\n{body}\n}}\n"
        f"{declared}define void @run({given}) nounwind {{\nentry:\n{before}"
        f"  call void @steps({', '.join(f'ptr %{name}' for name in taken)})\n{after}  ret void\n}}\n"
    )


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


def counts(code: Code, names: Sequence[str]) -> None:
    for k, name in enumerate(names):
        code.do(f"%{name} = load i64, ptr {code(f'getelementptr inbounds i64, ptr %counts, i64 {k}')}")


def copy_numbers(code: Code, source: str, places: Sequence[int]) -> None:
    """The numbers from `source` on to these places in memory: of very many that follow each other all at once."""
    if len(places) < MANY or [*places] != [*range(places[0], places[0] + len(places))]:
        for k, place in enumerate(places):
            code.store(code.load(source, k), "%memory", place)
        return
    at, label = Counter(code, "0"), f"numbers_{places[0]}"
    code.do(f"br label %{label}")
    code.lines.append(f"{label}:")
    here = at.value
    code.store(code.load(source, here), "%memory", code(f"add i64 {here}, {places[0]}"))
    at.set(code(f"add i64 {here}, 1"))
    code.do(f"br i1 {code(f'icmp slt i64 {at.value}, {len(places)}')}, label %{label}, label %{label}_there")
    code.lines.append(f"{label}_there:")


def fill(code: Code, name: str, first: str, end: str, value: str, label: str) -> None:
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


def arguments(
    stepper: Stepper, parameters: Array, lengths: Array, begin: Array, size: int, counts: tuple[int, ...]
) -> dict[str, tuple[Array, tuple[int, ...]]]:
    """What all loops are given first, with its shapes."""
    return {
        "parameters": (parameters, (len(stepper.parameters),)),
        "lengths": (lengths, lengths.shape[:1]),
        "the first state": (begin, (size,)),
        "counts": (jnp.array(counts, jnp.int64), (len(counts),)),
    }
