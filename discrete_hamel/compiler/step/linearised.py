"""The derivative of a compiled step in the graph: the implicit function theorem, forwards and backwards.

A step is r(z, s, theta) = 0, s' = o(z, s, theta). Tangents and cotangents of it are

    J dz = -(r_s ds + r_theta dtheta),  ds' = o_z dz + o_s ds + o_theta dtheta,       J = r_z
    J^T w = o_z^T c,  (s, theta)^* = (o_s, o_theta)^T c - (r_s, r_theta)^T w,

with the unknowns that Newton's method is left with, and the same elimination of J. Nothing is kept of the way to the
root: J is evaluated there.
"""

from functools import cached_property
from typing import NamedTuple

from discrete_hamel.compiler.graph.differentiation import pull, push
from discrete_hamel.compiler.graph.elimination import solve
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.simplifying import residual_sums
from discrete_hamel.compiler.simplifying.fewer_unknowns import in_the_others
from discrete_hamel.compiler.simplifying.regrouping import regroup_products
from discrete_hamel.compiler.step.root import LARGE
from discrete_hamel.compiler.step.stepper import Stepper


class LinearMap(NamedTuple):
    """Outputs in the graph, and the input nodes that stand for the (co)tangents they are linear in."""

    inputs: list[int]
    outputs: list[int]


class LinearisedStep:
    """The linearised step of a stepper: `row`, what a step leaves behind, is the next state and the unknowns that are
    not part of it.
    """

    def __init__(self, stepper: Stepper) -> None:
        self.graph = graph = stepper.graph
        root = stepper.root
        self.parameters, self.state, self.unknowns = stepper.parameters, stepper.state, root.unknowns
        self.length = stepper.changing_length
        residual = stepper.left
        if not residual or len(residual) != len(self.unknowns):
            raise Unsupported("a step without unknowns")
        self.extra = [u for u in self.unknowns if u not in stepper.after]
        row = [*stepper.after, *self.extra]
        self.source = {u: row.index(u) for u in self.unknowns}
        formulas = in_the_others(graph, root.formulas, root.points)
        whole = graph.substitute([*residual, *row], formulas)
        self.residual, self.row = whole[: len(residual)], whole[len(residual) :]
        # where an eliminated unknown is part of the next state, its value is known
        self.given = {f: stepper.after.index(u) for u, f in formulas.items() if u in stepper.after}
        many = len(self.unknowns) > LARGE
        self.sums = residual_sums.variables(graph, self.residual, self.unknowns) if many else []
        self.jacobian = residual_sums.extended_jacobian(graph, self.residual, self.unknowns, self.sums)
        self.guards = self._guards()

    def _guards(self) -> list[int]:
        """What has to be positive for J and its transpose to be solved with well; empty if that is sure."""
        right = [self.graph.input(("right", i), 1.0) for i in range(len(self.unknowns))]
        both = (self.jacobian, self._transposed)
        return self.graph.guards_of([x for rows in both for x in self._solve(rows, right)])

    def _solve(self, rows: residual_sums.Rows, right: list[int]) -> list[int]:
        """J^-1 of the right side, or by the transposed rows J^-T."""
        if not self.sums:
            return solve(self.graph, rows, right, guarded=True)
        zeros = [self.graph.const(0.0)] * len(self.sums)
        return residual_sums.eliminate(self.graph, rows, [*right, *zeros], guarded=True)[: len(right)]

    @cached_property
    def _transposed(self) -> list[dict[int, int]]:
        return [{i: row[j] for i, row in enumerate(self.jacobian) if j in row} for j in range(len(self.jacobian))]

    def forwards(self, active: tuple[int, ...]) -> LinearMap:
        """The tangent of the row, from those of some parameters, the length, and the state."""
        graph = self.graph
        variables = [*(self.parameters[i] for i in active), *self.length, *self.state]
        tangents = {v: graph.input(("tangent", v), 1.0) for v in variables}
        right = [graph.neg(r) for r in push(graph, self.residual, tangents)]
        unknowns = self._solve(self.jacobian, right)
        row = push(graph, self.row, {**tangents, **dict(zip(self.unknowns, unknowns, strict=True))})
        return self._in_order(list(tangents.values()), row)

    def backwards(self, active: tuple[int, ...]) -> LinearMap:
        """The cotangents of some parameters, the length, and the state, from that of the row."""
        graph = self.graph
        cotangents = [graph.input(("cotangent", i), 1.0) for i in range(len(self.row))]
        right = pull(graph, self.row, cotangents, self.unknowns)
        weights = [graph.neg(w) for w in self._solve(self._transposed, right)]
        variables = [*(self.parameters[i] for i in active), *self.length, *self.state]
        outputs = pull(graph, [*self.row, *self.residual], [*cotangents, *weights], variables)
        return self._in_order(cotangents, outputs)

    def _in_order(self, inputs: list[int], outputs: list[int]) -> LinearMap:
        levels = [self.parameters, [*self.length, *self.state, *self.unknowns], inputs]
        graph = self.graph
        ordered = min(
            regroup_products(graph, outputs, levels), outputs, key=lambda o: _varying(graph, o, self.parameters)
        )
        return LinearMap(inputs, ordered)


def _varying(graph: Graph, outputs: list[int], parameters: list[int]) -> int:
    """How many operations there are besides those of the parameters alone."""
    fixed = set(parameters)
    count = 0
    for index in graph.dependencies(outputs):
        operands = graph.operands(index)
        if operands and all(a in fixed or graph.value(a) is not None for a in operands):
            fixed.add(index)
        else:
            count += bool(operands)
    return count
