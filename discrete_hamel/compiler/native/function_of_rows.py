"""A function of the rows of arrays as native code: vectors with a lane for each row, a few rows at a time."""

import ctypes
import math
from collections.abc import Sequence

import numpy as np

from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import dependent, frontier
from discrete_hamel.compiler.native.instructions import Code, Kind
from discrete_hamel.compiler.native.lanes import width
from discrete_hamel.compiler.native.module import Counter, module
from discrete_hamel.compiler.native.object_code import fused, machine_code
from discrete_hamel.compiler.native.section import Memory, Section, load


class NativeColumns:
    """The `outputs` of a graph, whose inputs are `parameters` and, of arrays, `columns`: machine code."""

    def __init__(
        self, graph: Graph, parameters: Sequence[int], columns: Sequence[Sequence[int]], outputs: Sequence[int]
    ) -> None:
        self.width, self.outputs, self.memory = width(), list(outputs), Memory()
        self.graph, self.parameters, self.columns = graph, list(parameters), columns
        kind, moving = Kind(fused(), self.width), [node for nodes in columns for node in nodes]
        fixed = [
            i for i in frontier(graph, self.outputs, dependent(graph, self.outputs, moving)) if i not in self.parameters
        ]
        given = [*self.parameters, *moving]
        for node in given:
            self.memory.place(graph, node)
        self.prepare = Section("prepare", graph, fixed, self.parameters, self.memory, kind)
        self.row = Section("row", graph, self.outputs, [*given, *fixed], self.memory, kind)
        self.pointers = ["numbers", "counts", *(f"rows{k}" for k in range(len(columns))), "result"]
        text = module(self._loop(Code(kind)), self.memory, [self.prepare, self.row], self.pointers)
        self.library = machine_code(*text)
        pointers = [ctypes.c_void_p] * len(self.pointers)
        self.function = ctypes.CFUNCTYPE(None, *pointers)(self.library.address("run"))

    def _loop(self, code: Code) -> Code:
        graph, memory, kind = self.graph, self.memory, code.kind
        for k, node in enumerate(self.parameters):
            code.store(
                self._same(code, code(f"load double, ptr {_at(code, '%numbers', k)}")),
                "%memory",
                memory.place(graph, node),
            )
        self.prepare.call(code)
        total = code("load i64, ptr %counts")
        at = Counter(code, "0")
        code.do("br label %next")
        code.lines.append("next:")
        code.do(f"br i1 {code(f'icmp slt i64 {at.value}, {total}')}, label %block, label %over")
        code.lines.append("block:")
        first = at.value
        lanes = [code(f"add i64 {first}, {lane}") for lane in range(self.width)]
        for k, nodes in enumerate(self.columns):
            starts = [code(f"mul i64 {row}, {len(nodes)}") for row in lanes]
            for i, node in enumerate(nodes):
                value = "poison"
                for lane, start in enumerate(starts):
                    place = _at(code, f"%rows{k}", code(f"add i64 {start}, {i}"))
                    one = code(f"load double, ptr {place}, align 8")
                    value = code(f"insertelement {kind.double} {value}, double {one}, i32 {lane}")
                code.store(value, "%memory", memory.place(graph, node))
        self.row.call(code)
        for i, node in enumerate(self.outputs):
            value = load(code, memory, graph, node)
            place = _at(code, "%result", code(f"add i64 {code(f'mul i64 {total}, {i}')}, {first}"))
            code.do(f"store {kind.double} {value}, ptr {place}, align 8")
        at.set(code(f"add i64 {first}, {self.width}"))
        code.do("br label %next")
        code.lines.append("over:")
        return code

    def _same(self, code: Code, value: str) -> str:
        """A number in all lanes."""
        kind = code.kind.double
        first = code(f"insertelement {kind} poison, double {value}, i32 0")
        return code(f"shufflevector {kind} {first}, {kind} poison, <{self.width} x i32> zeroinitializer")

    def __call__(self, numbers: np.ndarray, states: Sequence[np.ndarray]) -> np.ndarray:
        """The outputs, a row a number of them; of as many rows as fill vectors."""
        count = len(states[0]) // self.width * self.width
        rows = [np.ascontiguousarray(a[:count], float) for a in states]
        sizes = [math.prod(a.shape[1:]) for a in rows]
        if sizes != [len(nodes) for nodes in self.columns] or len(numbers) != len(self.parameters):
            raise InputError("arrays of other shapes than the native function was made for")
        result = np.empty((len(self.outputs), count))
        arrays = [np.ascontiguousarray(numbers, float), np.array([count], np.int64), *rows, result]
        self.function(*(a.ctypes.data for a in arrays))
        return result


def _at(code: Code, pointer: str, place: int | str) -> str:
    return code(f"getelementptr inbounds double, ptr {pointer}, i64 {place}")
