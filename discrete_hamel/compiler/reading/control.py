"""Control flow and linear algebra in a jaxpr.

Loops are unrolled, choices that depend on the state are made all ways, solves are eliminated.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel.compiler.graph.elimination import solve_each
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.reading.primitive_rules import Value, as_nodes, elementwise, pick, symbolic
from discrete_hamel.compiler.simplifying.angle_identities import without_idle_angles

if TYPE_CHECKING:
    from jax.extend.core import ClosedJaxpr

MOST_ROUNDS = 60  # of a loop whose end depends on the state
Trace = Callable[[Graph, "ClosedJaxpr", list[Value]], list[Value]]
CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat2", "checkpoint")


def call(trace: Trace, graph: Graph, p: dict, values: list[Value]) -> list[Value]:
    """A function within the function."""
    inner = p.get("jaxpr") or p.get("call_jaxpr")
    if not hasattr(inner, "consts"):
        from jax.extend.core import ClosedJaxpr

        inner = ClosedJaxpr(inner, ())  # type: ignore[arg-type]
    return trace(graph, inner, values)  # type: ignore[arg-type]


def cond(trace: Trace, graph: Graph, p: dict, values: list[Value]) -> list[Value]:
    """A branch; where the choice depends on the state, both, and a selection."""
    which, *operands = values
    branches = p["branches"]
    if not symbolic(which):
        return trace(graph, branches[int(np.clip(which, 0, len(branches) - 1))], operands)
    results = [[as_nodes(graph, a) for a in trace(graph, branch, operands)] for branch in branches]
    return [elementwise(lambda *of: pick(graph, which.item(), of), *cases) for cases in zip(*results, strict=True)]


def scan(trace: Trace, graph: Graph, p: dict, values: list[Value]) -> list[Value]:
    """A loop of known length, unrolled."""
    consts, carry = values[: p["num_consts"]], values[p["num_consts"] : p["num_consts"] + p["num_carry"]]
    sequences = values[p["num_consts"] + p["num_carry"] :]
    places = range(p["length"])
    collected: list[list[Value]] = []
    for k in reversed(places) if p["reverse"] else places:
        outputs = trace(graph, p["jaxpr"], [*consts, *carry, *(np.asarray(s)[k, ...] for s in sequences)])
        carry = outputs[: p["num_carry"]]
        collected.append(outputs[p["num_carry"] :])
    if p["reverse"]:
        collected.reverse()
    if not collected:
        raise Unsupported("a loop of length 0")
    stacked = []
    for column in zip(*collected, strict=True):
        if any(symbolic(c) for c in column):
            column = tuple(as_nodes(graph, c) for c in column)
        stacked.append(np.stack(column))
    return [*carry, *stacked]


def while_loop(trace: Trace, graph: Graph, p: dict, values: list[Value]) -> list[Value]:
    """A loop, unrolled. Where its end depends on the state, it is to twice the rounds that the sample takes, and some:
    what is past the end is not taken, and a guard says whether the end was reached; if not, the step is plain.
    """
    ends, runs = p["cond_nconsts"], p["body_nconsts"]
    for_end, for_run, carry = values[:ends], values[ends : ends + runs], values[ends + runs :]
    past, rounds, most = None, 0, MOST_ROUNDS
    while True:
        (going,) = trace(graph, p["cond_jaxpr"], [*for_end, *carry])
        if not symbolic(going) and past is None:
            if not going:
                return carry
            carry = trace(graph, p["body_jaxpr"], [*for_run, *carry])
            continue
        here = as_nodes(graph, going).item()
        past = here if past is None else graph.mul(past, here)
        if graph.value(past) == 0.0:
            return carry
        if not graph.samples[past] and most == MOST_ROUNDS:
            most = min(MOST_ROUNDS, 2 * rounds + 4)
        if rounds >= most:
            return [_loop_result(graph, past, a) if symbolic(a) else a for a in carry]
        after = trace(graph, p["body_jaxpr"], [*for_run, *carry])
        pairs = ((as_nodes(graph, new), as_nodes(graph, old)) for new, old in zip(after, carry, strict=True))
        carry = [elementwise(partial(graph.select, past), new, old) for new, old in pairs]
        rounds += 1


def _loop_result(graph: Graph, going: int, carry: Value) -> Value:
    """What a loop leaves, to be trusted where it was not `going` on."""
    over = graph.sub(graph.const(0.5), going)
    for node in carry.ravel():
        if graph.operands(node):
            known = graph.guards.get(node)
            graph.guards[node] = over if known is None else graph.binary("min", known, over)
    return carry


def linear_solve(trace: Trace, graph: Graph, p: dict, values: list[Value]) -> list[Value]:
    """A x = b by elimination in the graph; A is read off the linear map matvec."""
    lengths, jaxprs = p["const_lengths"], p["jaxprs"]
    consts = values[: lengths.matvec]
    right = [as_nodes(graph, b) for b in values[sum(lengths) :]]
    if len(right) != 1:
        raise Unsupported("a linear solve of several unknown arrays")
    shape = right[0].shape
    unknowns = np.array([graph.input(object(), 1.0) for _ in range(right[0].size)], dtype=object)
    hidden = {*graph.hidden}
    (image,) = trace(graph, jaxprs.matvec, [*consts, unknowns.reshape(shape)])
    graph.hidden = hidden  # what is read there are the coefficients, of unknowns that are given by nobody
    rows = _with_numbers(graph, graph.derivative(list(as_nodes(graph, image).ravel()), list(unknowns)))
    numbers, found = right[0].ravel(), np.empty(right[0].size, dtype=object)
    for matrix, places in _matrices(rows).items():
        sides = [list(numbers[at]) for at in places]
        for at, x in zip(places, solve_each(graph, [dict(row) for row in matrix], sides, guarded=True), strict=True):
            found[at] = x
    return [found.reshape(shape)]


SHORT = 15  # operations of a coefficient that may be a number: some (sin^2 + cos^2)


def _with_numbers(graph: Graph, rows: list[dict[int, int]]) -> list[dict[int, int]]:
    """The coefficients, and for those that angles cancel in numbers, which need no guard as pivots."""
    short = [a for a in {a for row in rows for a in row.values()} if _operations(graph, a) <= SHORT]
    simpler = dict(zip(short, without_idle_angles(graph, short), strict=True))
    return [{j: simpler.get(a, a) for j, a in row.items()} for row in rows]


def _operations(graph: Graph, output: int) -> int:
    """How many operations are behind a node, up to sines, if they are not many more than SHORT."""
    seen, stack = {output}, [output]
    while stack and len(seen) <= 3 * SHORT:
        node = stack.pop()
        fresh = {a for a in graph.operands(node) if a not in seen} if graph.nodes[node][0] not in ("sin", "cos") else ()
        seen.update(fresh)
        stack += fresh
    return sum(1 for i in seen if graph.operands(i))


def _matrices(rows: list[dict[int, int]]) -> dict[tuple, list[list[int]]]:
    """The blocks into which A falls, and for each, as rows of column and node, the places that have it: the columns
    of a right side have all the same.
    """
    home = list(range(len(rows)))

    def root(i: int) -> int:
        while home[i] != i:
            home[i] = i = home[home[i]]
        return i

    for i, row in enumerate(rows):
        for j in row:
            home[root(i)] = root(j)
    blocks: dict[int, list[int]] = {}
    for i in range(len(rows)):
        blocks.setdefault(root(i), []).append(i)
    found: dict[tuple, list[list[int]]] = {}
    for block in blocks.values():
        place = {i: k for k, i in enumerate(block)}
        matrix = tuple(tuple((place[j], a) for j, a in sorted(rows[i].items())) for i in block)
        found.setdefault(matrix, []).append(block)
    return found


CONTROL: dict[str, Callable[[Trace, Graph, dict, list[Value]], list[Value]]] = {
    **dict.fromkeys(CALLS, call),
    "cond": cond,
    "scan": scan,
    "while": while_loop,
    "custom_linear_solve": linear_solve,
}
