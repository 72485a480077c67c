"""The root of a residual in the graph: what Newton's iteration corrects by, with the solve unrolled.

A Jacobian that would be long to write out is kept over the corrections of a step, in vector lanes
(`native/kept.py`): then `directions` are nodes for a direction of the unknowns, and the tangents of the rows along it.
So is a long sparse elimination, as a table: then `solution` are nodes for what J x is to be, and x.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from discrete_hamel.compiler.graph.differentiation import push
from discrete_hamel.compiler.graph.elimination import solve
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import cycles, dependent, frontier, lower
from discrete_hamel.compiler.graph.matrix_products import find_products
from discrete_hamel.compiler.simplifying import residual_sums
from discrete_hamel.compiler.simplifying.elimination_table import EliminationTable, elimination_table
from discrete_hamel.compiler.simplifying.fewer_unknowns import Formulas, fewer_unknowns, linear
from discrete_hamel.compiler.simplifying.points_between import eliminate_points
from discrete_hamel.compiler.simplifying.regrouping import regroup_products
from discrete_hamel.mechanics.newton import NEGLIGIBLE, noise, sane

SHRUNK = 1e-6
SMALL = 8  # unknowns, up to which sums as further ones do not pay
MANY = 60  # sums an unknown, beyond which they are of a solve inside the residual, and eliminating them is its own work
LARGE = 12  # unknowns, from which on the dense solve would only take longer to write down
# Operations of a Jacobian and its elimination, from which on it is kept, in vector lanes. First call and step, written
# out and kept: bicycle (45 000) 9.1 s, 16 us and 6.5 s, 8 us; snake of 20 (54 000) 5.2 s, 21 us and 2.3 s, 8 us.
MOST_UNROLLED = 10_000
CHAIN = 12  # sums an unknown, up to which they are those along a chain or a tree, and its elimination is sparse
FEWEST = 32  # unknowns, below which a table never pays
LONG = 75_000  # operations of a chain's sparse Jacobian and its elimination, from which on it is kept as a table
# Operations of the residual with eight tangents that take as long as a line of a table. Some two would be right for
# time; but of 100 skew hinges a run by the table loses its 14th step, whichever the pivots are.
LINE = 4.0
SHORTER = 2 / 3  # of an iteration's operations, up to which a last correction by what is kept of it pays
SURE = 1e-3  # of what is negligible, where the rate of corrections of other directions is all that is known
SHOWS = 100.0  # units of round-off, down to which a correction's size is not only noise
Scalars = list[Array]
Values = Mapping[int, Array]
Cost = Callable[[Graph, list[int], list[int]], float]  # of outputs, from variables


class Solved(NamedTuple):
    """Newton's correction; and where it is short, what solves J x = b for any `right` side b, and the sides -r."""

    correction: list[int]
    right: list[int]
    solution: list[int]
    sides: list[int]


def _subtract_in_turn(graph: Graph, side: int) -> int:
    """c - (a - b) as (c - a) + b: where a and b are products that is one operation less."""
    name, *operands = graph.nodes[side]
    inner = graph.nodes[operands[1]][0] if name == "sub" else ""
    if inner not in ("add", "sub"):
        return side
    c, (a, b) = operands[0], graph.operands(operands[1])
    return (graph.add if inner == "sub" else graph.sub)(graph.sub(c, a), b)


def _solve_by(graph: Graph, right: list[int], solution: list[int], sides: list[int]) -> Solved:
    sides = [_subtract_in_turn(graph, side) for side in sides]
    return Solved(graph.substitute(solution, dict(zip(right, sides, strict=True))), right, solution, sides)


class Again(NamedTuple):
    """A correction by the Jacobian of the iteration before: what is kept of that, node -> input, and the correction."""

    kept: dict[int, int]
    correction: list[int]


class Root:
    """The root of `residual(z)`, given in a graph: `native/solve.py` finds it, by the iteration of `newton.newton`.

    No residual means that the guess is the root. Where that is cheaper, unknowns at some `places` are first eliminated;
    z is then what remains. `known` lists the nodes that are given, those that change seldom (parameters) apart from
    those that change with every step.
    """

    def __init__(
        self,
        graph: Graph,
        residual: list[int],
        unknowns: list[int],
        known: tuple[list[int], list[int]],
        places: Iterable[int] = (),
        negligible: float = NEGLIGIBLE,
        cost: Cost = cycles,
        kept: bool = False,
    ) -> None:
        self.graph, self.levels, self.negligible, self.cost = graph, [*known, unknowns], negligible, cost
        self.unknowns, rows = unknowns, residual
        self.formulas: Formulas = []
        self.points: dict[int, int] = {}  # nodes that are unknowns by themselves, among those of the formulas
        self.directions: tuple[list[int], list[int]] | None = None
        self.solution: tuple[list[int], list[int]] | None = None
        self.table: EliminationTable | None = None
        self.factors: dict[int, int] = {}  # of the table, by place: inputs that stand for them
        self.solved: Solved | None = None
        self.whole = set[int]()  # products that are not regrouped
        # Points, and corrections by parts, are for lanes: there they are tested not to drift in 10^6 steps, here not.
        self.unbiased = kept
        if residual:
            points: dict[int, int] = {}
            if self.unbiased:
                fewer, remaining, formulas = fewer_unknowns(graph, residual, unknowns, places)
            else:
                fewer, remaining, formulas, points, self.whole = eliminate_points(
                    graph, residual, unknowns, places, known[0]
                )
            surely = formulas and remaining and graph.operations(fewer) <= 1.1 * graph.operations(residual)
            least = (fewer, remaining) if surely else (residual, unknowns)
        long = operations_unrolled(graph, least[0], unknowns, {*known[0]}) if residual and kept else 0.0
        if residual and kept and (self._tabulate(*least, long == 0) or long > MOST_UNROLLED):
            rows, self.unknowns = least
            if surely:
                self._keep(formulas, points)
            if self.table is None:
                inputs = [graph.input(("direction", k), 1.0) for k in range(len(self.unknowns))]
                self.directions = inputs, push(graph, rows, dict(zip(self.unknowns, inputs, strict=True)))
            self.correction = [graph.input(("correction", k), 0.0) for k in range(len(self.unknowns))]
        elif residual:
            shorter = self._correction(fewer, remaining)
            self.solved = self._correction(residual, unknowns) if formulas and not surely else shorter
            self.correction = self.solved.correction
            cheaper = remaining and cost(graph, shorter.correction, remaining) < cost(graph, self.correction, unknowns)
            if surely or cheaper:
                self.unknowns, self.solved, self.correction, rows = remaining, shorter, shorter.correction, fewer
                self._keep(formulas, points)
        else:  # the guess is the root
            self.correction = [graph.const(0.0)] * len(unknowns)
        self.rows = rows
        large = len(self.unknowns) > LARGE or self.kept is not None
        self.linear = self.kept is None and (residual_sums.affine if large else linear)(graph, rows, self.unknowns)
        # Elsewhere than at the sample its order of pivots may lose digits, which a second correction gives back.
        self.corrections = 2 if self.linear and len(self.unknowns) > SMALL else 1
        self.again = None if self.solved is None or self.linear else self._again(self.solved)
        self.places = [unknowns.index(v) for v in self.unknowns]
        self.operations = graph.operations(self.needs())

    def _keep(self, formulas: Formulas, points: dict[int, int]) -> None:
        self.points = points
        right = self._regroup([f for _, f in formulas])
        self.formulas = list(zip([unknown for unknown, _ in formulas], right, strict=True))

    def _regroup(self, outputs: list[int], right: Iterable[int] = ()) -> list[int]:
        return regroup_products(self.graph, outputs, [*self.levels, [*right]], self.whole)

    def _again(self, solved: "Solved") -> Again | None:
        """None where that would not be much shorter, or is never relied on."""
        graph = self.graph
        if not solved.right or not self.negligible:
            return None
        by_side = dependent(graph, solved.solution, solved.right)
        before = frontier(graph, solved.solution, by_side)
        varying = dependent(graph, before, self.unknowns)
        kept = {node: graph.input_like(("kept", node), node) for node in before if node in varying}
        correction = graph.substitute(solved.solution, {**kept, **dict(zip(solved.right, solved.sides, strict=True))})
        longer = graph.operations(correction) > SHORTER * graph.operations(self.correction)
        return None if longer else Again(kept, correction)

    def _correction(self, residual: list[int], unknowns: list[int]) -> "Solved":
        graph, found, many = self.graph, list[Solved](), len(unknowns) > SMALL
        variables = residual_sums.variables(graph, residual, unknowns) if many else []
        variables = variables if len(variables) <= MANY * len(unknowns) else []
        if not variables or len(unknowns) <= LARGE:
            found += self._by_its_jacobian(residual, unknowns)
        if variables:
            found += self._in_both_orders(residual_sums.correction(graph, residual, unknowns, variables))
        return min(found, key=lambda one: self.cost(graph, one.correction, unknowns))

    def _by_its_jacobian(self, residual: list[int], unknowns: list[int]) -> list["Solved"]:
        graph = self.graph
        rows, sides = graph.derivative(residual, unknowns), [graph.neg(r) for r in residual]
        if self.unbiased:
            return self._in_both_orders(solve(graph, rows, sides))
        right = [graph.input(("right", k), 1.0) for k in range(len(residual))]
        solution, in_order = solve(graph, rows, right), self._regroup(sides)
        entries = iter(self._regroup([a for row in rows for a in row.values()]))
        inside = solve(graph, [{j: next(entries) for j in row} for row in rows], right)
        grouped = self._regroup(solution, right)
        return [_solve_by(graph, right, *each) for each in ((inside, in_order), (grouped, in_order), (solution, sides))]

    def _in_both_orders(self, correction: list[int]) -> list["Solved"]:
        """With its products regrouped, and as it is."""
        return [Solved(c, [], [], []) for c in (self._regroup(correction), correction)]

    def _tabulate(self, rows: list[int], unknowns: list[int], chain: bool) -> bool:
        """Keep the sparse elimination as a table, where it would be long, of a chain, or the dense one longer."""
        graph, n = self.graph, len(unknowns)
        sums = residual_sums.variables(graph, rows, unknowns) if n >= FEWEST else []
        if not 0 < len(sums) <= MANY * n:
            return False
        table = elimination_table(graph, residual_sums.extended_jacobian(graph, rows, unknowns, sums), n)
        lines = len(table.lines)
        written = graph.operations([*rows, *(node for node, _ in table.entries)]) + 2 * lines
        dense = -(-n // 8) * graph.operations(rows) + n**3 / 24 + 10 * n**2
        if written < LONG if chain else dense < LINE * lines:
            return False
        right = [graph.input(("right", k), 1.0) for k in range(n)]
        made, self.factors = table.solution(graph, [*right, *[graph.const(0.0)] * len(sums)])
        self.table, self.solution = table, (right, made[:n])
        return True

    @property
    def kept(self) -> tuple[list[int], list[int]] | None:
        """What is given and made with a Jacobian that is kept: `directions`, or the `solution`."""
        if self.solution is None:
            return self.directions
        right, made = self.solution
        return [*right, *self.factors.values()], made

    @property
    def anew(self) -> list[int]:
        """What is evaluated with a Jacobian that is kept as a table."""
        return [] if self.table is None else [node for node, _ in self.table.entries]

    def needs(self) -> list[int]:
        """What an iteration evaluates."""
        return self.correction if self.kept is None else [*self.rows, *(self.anew or self.kept[1])]

    def all_unknowns(self, known: Values, z: Scalars) -> dict[int, Array]:
        """The values of z and of the eliminated unknowns, by node."""
        values = {**known, **dict(zip(self.unknowns, z, strict=True))}
        for unknown, formula in reversed(self.formulas):
            (values[unknown],) = lower(self.graph, [formula])(values)
        return values


def operations_unrolled(graph: Graph, rows: list[int], unknowns: list[int], steady: Collection[int] = ()) -> float:
    """About how many operations Newton's correction would be, if it were written out: the Jacobian, and its solve.

    None are counted where sums along a chain make that a sparse one, nor those of products with matrices of `steady`
    nodes, which are loops.
    """
    n = len(unknowns)
    if n > SMALL and 0 < len(residual_sums.variables(graph, rows, unknowns)) <= CHAIN * n:
        return 0.0
    support, entries, order = {u: 1 << k for k, u in enumerate(unknowns)}, 0, graph.dependencies(rows)
    loops = set[int]().union(*(one.inside for one in find_products(graph, order, rows, steady)))
    for index in order:
        if index not in support:
            support[index] = of_operands = reduce(or_, (support[a] for a in graph.operands(index)), 0)
            entries += 0 if index in loops else of_operands.bit_count()
    return 1.5 * entries + n**3 / 3


def forecast(size: Array, new: Array, rate: Array, left: Array, newton: Array) -> tuple[Array, Array]:
    """How corrections by a Jacobian that is kept shrink, and the next one by that: squares, in units of round-off.

    Such a correction errs by the last one's share, rate = new / size, or less, again and again. What has come down to
    round-off does not show it any more: the share is that of before, of what should be `left`. After Newton's
    correction there is none yet.
    """
    shows = (rate == 0) | (new > SHOWS**2)
    share = jnp.where(shows, new / size, rate)
    ahead = share * jnp.where(shows, new, jnp.minimum(new, left))
    return jnp.where(newton != 0, 0.0, share), jnp.where(newton != 0, 0.0, ahead)


def near(size: Array, new: Array, negligible: float) -> Array:
    """Whether one more correction, by the Jacobian of this one, ends it: what that leaves is `negligible`.

    Newton's next one would be new (new / size)^2, and this errs by 2 (new / size)^2 of it. Given are squares, in units
    of round-off.
    """
    square = new * new
    return square * (square * new) <= (negligible / 2 * (size * size)) ** 2


def not_enough(size: Array, made: Array, negligible: float) -> Array:
    """Whether what a correction by a Jacobian that was kept since one of `size` leaves is not `negligible`.

    It erred by 2 made / size of itself: that is known of the direction that it had, where `near` knows the rate of
    another. In squares, in units of round-off.
    """
    return made * made > SHOWS**4 + negligible**2 / 4 * size


def may_stop(new: Array, ahead: Array, negligible: float) -> Array:
    """Whether to stop after a correction by a Jacobian that was kept, where the next one's squared size is `ahead`.

    Where corrections stall, or grow, it does not: Newton's follows, and `newton.finished` decides.
    """
    return (new <= 1) | (ahead <= negligible**2) & (new < noise(negligible) ** 2) | ~sane(new)


def hardly_shrunk(size: Array, new: Array) -> Array:
    """Whether a correction has shrunk by less than four."""
    return new > size / 16
