"""Newton's iteration of many runs side by side: each lane has the numbers that it would have alone.

Nearly all steps are alike: no lane stops after the first correction, and after the second the rate proves of all that
they are at the root, or will be after one more correction by the same Jacobian (`root.near`). These go straight on, and
ask nothing of the residual. As soon as one lane differs, the others wait until it has converged.
"""

from discrete_hamel.compiler.native.instructions import Code
from discrete_hamel.compiler.native.section import load
from discrete_hamel.compiler.native.solve import Solve, copy_values
from discrete_hamel.mechanics.newton import MAX_ITERATIONS


def solve_lanes(solve: Solve, code: Code, active: str, count: int, verdict: int) -> None:
    """The roots of the lanes marked `active` (numbers), and the outputs there; their iterations go to the place
    `count`, and to `verdict` whether the roots are good.
    """
    kind, memory, graph, root = code.kind, solve.memory, solve.graph, solve.root
    zero, one = kind.number(0.0), kind.number(1.0)
    solve.begin.call(code)
    copy_values(code, memory, graph, solve.guess, root.unknowns)
    if root.linear:
        for _ in range(root.corrections):
            solve.correct_once(code)
        code.store(one, "%memory", count)
        solve.finish(code)
        code.store(load(code, memory, graph, solve.good), "%memory", verdict)
        return
    code.store(zero, "%memory", count)
    code.store(kind.number(float("nan")), "%memory", memory.place(graph, solve.before))
    code.do(f"store i64 0, ptr %{solve.name}_round")
    solve.correct.call(code)
    solve.measure.call(code)
    copy_values(code, memory, graph, solve.measures, solve.measured)
    if solve.last:
        code.store(zero, "%memory", memory.place(graph, solve.once))
        _go_straight_on(solve, code, code.compare("une", active, zero), count, verdict)
        code.lines.append(f"{solve.name}_unlike:")
    _wait_for_all(solve, code, active, count)
    if solve.last:
        once = code.compare("une", load(code, memory, graph, solve.once), zero)
        code.do(f"br i1 {some(code, once)}, label %{solve.name}_more, label %{solve.name}_finish")
        code.lines.append(f"{solve.name}_more:")
        _correct_last(solve, code, once, count, "once", "finish")
        code.lines.append(f"{solve.name}_finish:")
    solve.finish(code)
    code.store(load(code, memory, graph, solve.good), "%memory", verdict)
    if solve.last:
        code.do(f"br label %{solve.name}_over")
        code.lines.append(f"{solve.name}_over:")


def _go_straight_on(solve: Solve, code: Code, alive: str, count: int, verdict: int) -> None:
    """What all lanes that are alive do nearly always; where one of them does not, on to @unlike."""
    kind, memory, graph, name = code.kind, solve.memory, solve.graph, solve.name
    zero, bits = kind.number(0.0), kind.of("i1")
    places = [*solve.root.unknowns, *solve.kept_jacobian.values(), *(solve.kept[w] for w in solve.watched)]
    moved = [*solve.moved, *solve.kept_jacobian, *solve.watched]
    solve.judge.call(code)
    stopped = code.compare("une", load(code, memory, graph, solve.done), zero)
    early = some(code, code(f"and {bits} {stopped}, {alive}"))
    code.do(f"br i1 {early}, label %{name}_unlike, label %{name}_second")
    code.lines.append(f"{name}_second:")
    copy_values(code, memory, graph, [*moved, solve.new], [*places, solve.before])
    code.store(code.select(alive, kind.number(1.0), zero), "%memory", count)
    code.do(f"store i64 1, ptr %{name}_round")
    solve.correct.call(code)
    solve.proof.call(code)
    far = code.compare("oeq", load(code, memory, graph, solve.enough), zero)
    code.do(f"br i1 {some(code, code(f'and {bits} {far}, {alive}'))}, label %{name}_unlike, label %{name}_third")
    code.lines.append(f"{name}_third:")
    copy_values(code, memory, graph, [*moved, solve.new], [*places, solve.before])
    code.store(code.select(alive, kind.number(2.0), zero), "%memory", count)
    more = code(f"and {bits} {alive}, {code.compare('une', load(code, memory, graph, solve.more), zero)}")
    code.do(f"br i1 {some(code, more)}, label %{name}_near, label %{name}_settled")
    code.lines.append(f"{name}_near:")
    _correct_last(solve, code, more, count, "last", "settled")
    code.lines.append(f"{name}_settled:")
    code.store(kind.number(1.0), "%memory", memory.place(graph, solve.ended))
    solve.finish(code, settled=True)
    code.store(load(code, memory, graph, solve.sound), "%memory", verdict)
    code.do(f"br label %{name}_over")


def _wait_for_all(solve: Solve, code: Code, active: str, count: int) -> None:
    """The iteration from a correction on, of the lanes that have not ended."""
    kind, memory, graph, name = code.kind, solve.memory, solve.graph, solve.name
    zero, one = kind.number(0.0), kind.number(1.0)
    code.store(code(f"fsub {kind.double} {one}, {active}"), "%memory", memory.place(graph, solve.ended))
    code.do(f"br label %{name}_judge")
    code.lines.append(f"{name}_iterate:")
    solve.correct.call(code)
    code.do(f"br label %{name}_judge")
    code.lines.append(f"{name}_judge:")
    solve.judge.call(code)
    going = code.compare("oeq", load(code, memory, graph, solve.ended), zero)
    _count(code, going, count)
    sources = [*solve.moved, solve.new, *solve.kept]
    copy_values(code, memory, graph, sources, [*solve.root.unknowns, solve.before, *solve.kept.values()], going)
    left = code.compare("oeq", load(code, memory, graph, solve.ended), zero)
    more = code(f"add i64 {code(f'load i64, ptr %{name}_round')}, 1")
    code.do(f"store i64 {more}, ptr %{name}_round")
    few = code(f"icmp slt i64 {more}, {MAX_ITERATIONS}")
    again = code(f"and i1 {some(code, left)}, {few}")
    code.do(f"br i1 {again}, label %{name}_iterate, label %{name}_found")
    code.lines.append(f"{name}_found:")


def _correct_last(solve: Solve, code: Code, where: str, count: int, begin: str, end: str) -> None:
    """One more correction by the Jacobian of the last, or two; from the label `begin` to `end`."""
    kind, name, memory, graph = code.kind, solve.name, solve.memory, solve.graph
    places, zero = [*solve.root.unknowns, *(solve.kept[w] for w in solve.watched)], kind.number(0.0)
    code.store(code.select(where, kind.number(1.0), zero), "%memory", memory.place(graph, solve.once))
    code.do(f"store i64 0, ptr %{name}_round")
    code.do(f"br label %{name}_{begin}")
    code.lines.append(f"{name}_{begin}:")
    once = code.compare("une", load(code, memory, graph, solve.once), zero)
    solve.correct_last.call(code)
    copy_values(code, memory, graph, [*solve.last, *solve.watched], places, once)
    _count(code, once, count)
    further = code.compare("une", load(code, memory, graph, solve.further), zero)
    further = code(f"and {kind.of('i1')} {once}, {further}")
    code.store(code.select(further, kind.number(1.0), zero), "%memory", memory.place(graph, solve.once))
    first = code(f"icmp eq i64 {code(f'load i64, ptr %{name}_round')}, 0")
    code.do(f"store i64 1, ptr %{name}_round")
    code.do(f"br i1 {code(f'and i1 {first}, {some(code, further)}')}, label %{name}_{begin}, label %{name}_{end}")


def _count(code: Code, where: str, count: int) -> None:
    made = code.load("%memory", count)
    more = code(f"fadd {code.kind.double} {made}, {code.kind.number(1.0)}")
    code.store(code.select(where, more, made), "%memory", count)


def some(code: Code, truths: str) -> str:
    """Whether any lane's truth is."""
    lanes = code.kind.lanes
    return code(f"icmp ne i{lanes} {code(f'bitcast <{lanes} x i1> {truths} to i{lanes}')}, 0")
