"""Numbers copied from places to places: those that follow each other as vectors.

Of a hundred links the unknowns, their angles and sines, states and what is kept of a run are thousands of numbers;
copied one by one they would be a seventh of the code of a step.
"""

from collections.abc import Sequence

from discrete_hamel.compiler.native.instructions import Code

ROW = 32  # numbers that follow each other, from which on they are copied as vectors
WIDTH = 8  # numbers of a vector
STRAIGHT = 8  # vectors, up to which no loop is written


def copy_numbers_at(
    code: Code, sources: Sequence[int], targets: Sequence[int], source: str = "%memory", target: str = "%memory"
) -> None:
    """The numbers at places behind one pointer to places behind another, of which none is read afterwards: those that
    follow each other as vectors."""
    begin = 0
    while begin < len(sources):
        end = begin + 1
        while end < len(sources) and sources[end] - sources[begin] == targets[end] - targets[begin] == end - begin:
            end += 1
        if end - begin < ROW:
            for k in range(begin, end):
                code.store(code.load(source, sources[k]), target, targets[k])
        else:
            addresses = code.at(source, sources[begin]), code.at(target, targets[begin])
            _copy_row(code, *addresses, end - begin)
        begin = end


def _copy_row(code: Code, source: str, target: str, count: int) -> None:
    """Numbers that follow each other; the last vector begins so far before the end as it is long."""
    vector = f"<{WIDTH} x double>"

    def copy(at: int | str) -> None:
        here, there = (code(f"getelementptr inbounds double, ptr {p}, i64 {at}") for p in (source, target))
        code.do(f"store {vector} {code(f'load {vector}, ptr {here}, align 8')}, ptr {there}, align 8")

    if count <= STRAIGHT * WIDTH:
        for at in [*range(0, count - WIDTH, WIDTH), count - WIDTH]:
            copy(at)
        return
    label = f"copy_{code.count}"
    code.do(f"br label %{label}_enter")
    code.lines += [f"{label}_enter:", f"  br label %{label}", f"{label}:"]
    code.lines.append(f"  %{label}_at = phi i64 [0, %{label}_enter], [%{label}_next, %{label}]")
    late = code(f"icmp sgt i64 %{label}_at, {count - WIDTH}")
    copy(code(f"select i1 {late}, i64 {count - WIDTH}, i64 %{label}_at"))
    code.lines.append(f"  %{label}_next = add i64 %{label}_at, {WIDTH}")
    more = code(f"icmp slt i64 %{label}_next, {count}")
    code.do(f"br i1 {more}, label %{label}, label %{label}_over")
    code.lines.append(f"{label}_over:")
