"""The root of a residual in the graph: Newton's iteration with the solve unrolled, the same as the plain path's."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.compiler.graph.elimination import solve
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import Packed, cycles, dependent, frontier, lower
from discrete_hamel.compiler.simplifying import sums
from discrete_hamel.compiler.simplifying.reduction import linear, reduced
from discrete_hamel.compiler.simplifying.regrouping import regroup_products
from discrete_hamel.mechanics.newton import MAX_ITERATIONS, NEGLIGIBLE, finished, sane, squared_size, units

SHRUNK = 1e-6
TWICE = 300  # operations up to which the first iteration is written out before the loop, which goes through memory
SMALL = 8  # unknowns, up to which sums as further ones do not pay
MANY = 60  # sums an unknown, beyond which they are of a solve inside the residual, and eliminating them is its own work
LARGE = 12  # unknowns, from which on the dense solve would only take longer to write down
Scalars = list[Array]
Found = tuple[Scalars, Array, Array, Scalars]  # z, whether it converged, the iterations, what was watched in the last
Values = Mapping[int, Array]
Cost = Callable[[Graph, list[int], list[int]], float]  # of outputs, from variables


class Root:
    """The root of `residual(z)`, given in a graph, by the same Newton iteration as `newton.newton`.

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
            fewer, remaining, formulas = reduced(graph, residual, unknowns, places)
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
        self.places = [unknowns.index(v) for v in self.unknowns]
        self.operations = graph.operations(self.correction)
        varying = dependent(graph, self.correction, self.unknowns)
        self.fixed = frontier(graph, self.correction, varying)

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

    def __call__(self, known: Values, everything: Scalars, watched: Sequence[int] = ()) -> Found:
        """From a guess of all unknowns, and what they are changes of (`Scheme.changes`), which only tells a size;
        `watched` are nodes of which the values in the last iteration are asked for.
        """
        graph, guess, n = self.graph, [everything[i] for i in self.places], len(self.correction)
        values, correct = lower(graph, self.fixed)(known), lower(graph, [*self.correction, *watched])
        if self.linear:  # the first correction is the solution, to the round-off of what it corrects
            found = correct(dict(zip([*self.fixed, *self.unknowns], [*values, *guess], strict=True)))
            z = [a + c for a, c in zip(guess, found[:n], strict=True)]
            return z, ~jnp.isnan(sum(z)), jnp.ones_like(z[0], int), found[n:]
        beside = _size([x for i, x in enumerate(everything) if i not in self.places] or [jnp.zeros_like(guess[0])])

        def weights(moved: Sequence[Array]) -> list[Array]:
            """Units of round-off; a guess of zeros has none, so that they are also those of where it leads to."""
            sizes = [lax.max(jnp.abs(g), jnp.abs(m)) for g, m in zip(guess, moved, strict=True)]
            return [units(size, sum(sizes, start=beside)) for size in sizes]

        def improve(z: Sequence[Array], fixed: Values) -> tuple[tuple, Scalars, tuple]:
            found = correct({**fixed, **dict(zip(self.unknowns, z, strict=True))})
            return tuple(a + c for a, c in zip(z, found[:n], strict=True)), found[:n], tuple(found[n:])

        fixed = Packed(tuple(self.fixed), jnp.stack(values or [guess[0]]))
        like, nothing = guess[0], tuple(jnp.zeros_like(guess[0]) for _ in watched)
        size, done, count = jnp.full_like(like, jnp.nan), jnp.zeros_like(like, bool), jnp.zeros_like(like, int)
        carry: tuple = (tuple(guess), size, done, count, nothing)
        once = None
        if self.operations <= TWICE:  # then units are those after the first iteration, for all
            moved, correction, seen = improve(guess, fixed.values())
            once = weights(moved)
            size = squared_size(correction, once)
            carry = (moved, size, finished(carry[1], size, self.negligible), count + 1, seen)

        def iterate(carry: tuple) -> tuple:
            z, size, _, count, _ = carry
            moved, correction, seen = improve(z, fixed.values())
            new = squared_size(correction, once or weights(moved))
            return moved, new, finished(size, new, self.negligible), count + 1, seen

        def unfinished(carry: tuple) -> Array:
            _, _, done, count, _ = carry
            return ~done & (count < MAX_ITERATIONS)

        root, size, done, count, seen = lax.while_loop(unfinished, iterate, carry)
        if once:  # a root so much smaller than what units were taken from is not known well enough
            done = done & (_size(root) >= SHRUNK * _size(carry[0]))
        return list(root), done & sane(size), count, list(seen)


def _size(numbers: Sequence[Array]) -> Array:
    return sum((jnp.abs(x) for x in numbers[1:]), start=jnp.abs(numbers[0]))
