"""A matrix of parameters times a vector (`graph/matrix_products.py`) as a loop over vectors of rows.

The layers of a network are such products. Written out they are a load and an operation for each weight, longer than a
processor's cache of instructions; as a loop they are a few lines, eight rows side by side, and summed in the same
order. The matrix is laid out once a run in the order in which it is read: column by column, whole vectors of rows.
"""

from collections.abc import Callable
from typing import NamedTuple

from discrete_hamel.compiler.native.instructions import Code, Kind

LANES = 8  # rows side by side
BLOCK = 8  # such vectors that are summed up at once: each sum waits for its last addition


class Layout(NamedTuple):
    """Where a matrix is in memory: from `first` on, with so many places to the next row and the next column."""

    first: int
    down: int
    along: int
    rows: int
    columns: int

    @property
    def height(self) -> int:
        """Rows, up to whole vectors."""
        return -(-self.rows // LANES) * LANES


def layout(matrix: list[list[int]], place: Callable[[int], int]) -> Layout | None:
    """Where a matrix is, if its places follow each other evenly."""
    places = [[place(w) for w in row] for row in matrix]
    first = places[0][0]
    down, along = places[1][0] - first, places[0][1] - first
    even = all(p == first + r * down + k * along for r, row in enumerate(places) for k, p in enumerate(row))
    return Layout(first, down, along, len(places), len(places[0])) if even else None


def packing(name: str, at: Layout, packed: int) -> str:
    """The function that lays a matrix out by columns, from the place `packed` on."""
    code = Code(Kind(False))
    code.do("br label %column")
    code.lines.append("column:")
    k = "%k"
    code.lines.append("  %k = phi i64 [0, %entry], [%after, %next]")
    code.do("br label %row")
    code.lines += ["row:", "  %r = phi i64 [0, %column], [%below, %row]"]
    there = code(f"add i64 {code(f'mul i64 %r, {at.down}')}, {code(f'mul i64 {k}, {at.along}')}")
    value = code.load("%memory", code(f"add i64 {there}, {at.first}"))
    here = code(f"add i64 {code(f'mul i64 {k}, {at.height}')}, %r")
    code.store(value, "%memory", code(f"add i64 {here}, {packed}"))
    code.do("%below = add i64 %r, 1")
    code.do(f"br i1 {code(f'icmp slt i64 %below, {at.rows}')}, label %row, label %next")
    code.lines.append("next:")
    code.do("%after = add i64 %k, 1")
    code.do(f"br i1 {code(f'icmp slt i64 %after, {at.columns}')}, label %column, label %over")
    code.lines.append("over:")
    return _function(name, code)


def product(name: str, at: Layout, packed: int, vector: int, rows: int, fused: bool) -> str:
    """The function that multiplies: the vector from a place on, the products from another, up to whole vectors."""
    code = Code(Kind(fused, LANES))
    one, before = code.kind.double, "entry"
    for n, begin in enumerate(range(0, at.height, BLOCK * LANES)):
        starts = range(begin, min(begin + BLOCK * LANES, at.height), LANES)
        x = code(f"load double, ptr {_at(code, vector)}")
        same = _splat(code, x)
        firsts = [code(f"fmul {one} {same}, {_vector(code, packed + start)}") for start in starts]
        code.do(f"br label %block{n}")
        code.lines.append(f"block{n}:")
        code.lines.append(f"  %k{n} = phi i64 [1, %{before}], [%after{n}, %block{n}]")
        names = [f"%s{n}_{i}" for i, _ in enumerate(starts)]
        here = len(code.lines)
        same = _splat(code, code(f"load double, ptr {_at(code, code(f'add i64 %k{n}, {vector}'))}"))
        column = code(f"add i64 {code(f'mul i64 %k{n}, {at.height}')}, {packed}")
        sums = [
            code.fma(same, _vector(code, code(f"add i64 {column}, {start}")), old)
            for start, old in zip(starts, names, strict=True)
        ]
        phis = zip(names, firsts, sums, strict=True)
        code.lines[here:here] = [
            f"  {old} = phi {one} [{first}, %{before}], [{new}, %block{n}]" for old, first, new in phis
        ]
        code.do(f"%after{n} = add i64 %k{n}, 1")
        going = code(f"icmp slt i64 %after{n}, {at.columns}")
        code.do(f"br i1 {going}, label %block{n}, label %over{n}")
        code.lines.append(f"over{n}:")
        for start, value in zip(starts, sums, strict=True):
            code.do(f"store {one} {value}, ptr {_at(code, rows + start)}, align 8")
        before = f"over{n}"
    return _function(name, code)


def _function(name: str, code: Code) -> str:
    lines = "\n".join(code.lines)
    return f"define internal void @{name}(ptr noalias %memory) noinline nounwind {{\nentry:\n{lines}\n  ret void\n}}\n"


def _at(code: Code, place: int | str) -> str:
    return code(f"getelementptr inbounds double, ptr %memory, i64 {place}")


def _vector(code: Code, place: int | str) -> str:
    return code(f"load {code.kind.double}, ptr {_at(code, place)}, align 8")


def _splat(code: Code, value: str) -> str:
    one = code.kind.double
    first = code(f"insertelement {one} poison, double {value}, i32 0")
    return code(f"shufflevector {one} {first}, {one} poison, <{LANES} x i32> zeroinitializer")
