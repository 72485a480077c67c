"""The root of a residual in the graph: what Newton's iteration corrects by, with the solve unrolled."""

from collections.abc import Callable, Iterable, Mapping

from jax import Array

from discrete_hamel.compiler.graph.elimination import solve
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import cycles, lower
from discrete_hamel.compiler.simplifying import sums
from discrete_hamel.compiler.simplifying.fewer_unknowns import fewer_unknowns, linear
from discrete_hamel.compiler.simplifying.regrouping import regroup_products
from discrete_hamel.mechanics.newton import NEGLIGIBLE

SHRUNK = 1e-6
SMALL = 8  # unknowns, up to which sums as further ones do not pay
MANY = 60  # sums an unknown, beyond which they are of a solve inside the residual, and eliminating them is its own work
LARGE = 12  # unknowns, from which on the dense solve would only take longer to write down
Scalars = list[Array]
Values = Mapping[int, Array]
Cost = Callable[[Graph, list[int], list[int]], float]  # of outputs, from variables


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
    ) -> None:
        self.graph, self.levels, self.negligible, self.cost = graph, [*known, unknowns], negligible, cost
        self.unknowns, self.formulas, rows = unknowns, [], residual
        if residual:
            fewer, remaining, formulas = fewer_unknowns(graph, residual, unknowns, places)
            surely = formulas and remaining and graph.operations(fewer) <= 1.1 * graph.operations(residual)
            shorter = self._correction(fewer, remaining)
            self.correction = shorter if surely else self._correction(residual, unknowns)
            if surely or remaining and cost(graph, shorter, remaining) < cost(graph, self.correction, unknowns):
                self.unknowns, self.correction, rows = remaining, shorter, fewer
                right = regroup_products(graph, [f for _, f in formulas], self.levels)
                self.formulas = list(zip([unknown for unknown, _ in formulas], right, strict=True))
        else:  # the guess is the root
            self.correction = [graph.const(0.0)] * len(unknowns)
        large = len(self.unknowns) > LARGE
        self.linear = (sums.affine if large else linear)(graph, rows, self.unknowns)
        # Elsewhere than at the sample its order of pivots may lose digits, which a second correction gives back.
        self.corrections = 2 if self.linear and len(self.unknowns) > SMALL else 1
        self.places = [unknowns.index(v) for v in self.unknowns]
        self.operations = graph.operations(self.correction)

    def _correction(self, residual: list[int], unknowns: list[int]) -> list[int]:
        graph, candidates, many = self.graph, [], len(unknowns) > SMALL
        variables = sums.variables(graph, residual, unknowns) if many else []
        variables = variables if len(variables) <= MANY * len(unknowns) else []
        if not variables or len(unknowns) <= LARGE:
            rows = graph.derivative(residual, unknowns)
            candidates.append(solve(graph, rows, [graph.neg(r) for r in residual]))
        if variables:
            candidates.append(sums.correction(graph, residual, unknowns, variables))
        candidates = [
            c for correction in candidates for c in (regroup_products(graph, correction, self.levels), correction)
        ]
        return min(candidates, key=lambda outputs: self.cost(graph, outputs, unknowns))

    def needs(self) -> list[int]:
        """What is evaluated on the way to the root and to the eliminated unknowns."""
        return [*self.correction, *(f for _, f in self.formulas)]

    def all_unknowns(self, known: Values, z: Scalars) -> dict[int, Array]:
        """The values of z and of the eliminated unknowns, by node."""
        values = {**known, **dict(zip(self.unknowns, z, strict=True))}
        for unknown, formula in reversed(self.formulas):
            (values[unknown],) = lower(self.graph, [formula])(values)
        return values
