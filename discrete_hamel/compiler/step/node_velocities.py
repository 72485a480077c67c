"""xi at a node from q and p there: the Legendre inverse mu(q, xi)^D = p, and the slip xi^U = b(q)."""

from functools import reduce

import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.leaves import inputs_like
from discrete_hamel.compiler.graph.lowering import Packed, constants, lower
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.simplifying.identities import angles_in
from discrete_hamel.compiler.step.over_lanes import broadcast, over_lanes
from discrete_hamel.compiler.step.roots import Root, Scalars, Values
from discrete_hamel.compiler.step.sincos import REACH
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

FEW = 16  # operations that cost less than to look at a node again


class NodeVelocity:
    """The Legendre inverse as scalar code, in a graph of its own; `scheme.nodal` says that xi^D is known already."""

    def __init__(self, system: System, state: State, scheme: Scheme) -> None:
        self.graph = graph = Graph()
        (mechanics, rule), self.parameters = inputs_like(graph, (system, scheme))
        q, self.q = inputs_like(graph, state.q)
        p, self.p = inputs_like(graph, state.p)
        free, unknowns = inputs_like(graph, state.xi)
        (whole,) = to_graph(graph, hamel.full, mechanics, q, free)
        if scheme.nodal:
            difference, self.root = [], Root(graph, [], unknowns, ([], []))
        else:
            (missed,) = to_graph(graph, lambda a, b, *node: b.missed_momentum(a, *node), mechanics, rule, q, p, free)
            difference = list(missed)
            self.root = Root(graph, difference, unknowns, (self.parameters, [*self.q, *self.p]))
        self.whole, self.free = list(whole), unknowns
        self.guards = graph.guards_of([*difference, *self.whole])

    @property
    def after_all(self) -> bool:
        """Whether it is best found for all nodes at once after the steps: it takes no iteration, but some work."""
        return self.root.linear and self.graph.operations([*self.root.needs(), *self.whole]) > FEW

    def said(self, nodal: bool) -> str:
        """In words, for who looks at the passes: with each step where `nodal`."""
        if not self.root.unknowns:
            return "known"
        return f"{len(self.root.unknowns)} unknowns, {'with each step' if nodal else 'for all nodes at once'}"

    def prepare(self, parameters: Scalars) -> Packed:
        """What depends on the parameters only."""
        outputs = [*self.root.needs(), *self.whole, *self.guards]
        known = parameters[: len(self.parameters)]
        return constants(self.graph, outputs, self.parameters, [*self.q, *self.p, *self.free], known)

    def at(self, fixed: Values, q: Scalars, p: Scalars, free: Scalars) -> tuple[Scalars, Array, Scalars]:
        """xi at one node, whether it was found, and its guards; `free` is where the search starts."""
        known = {**fixed, **dict(zip([*self.q, *self.p], [*q, *p], strict=True))}
        z, found, *_ = self.root(known, free)
        known = self.root.all_unknowns(known, z)
        return lower(self.graph, self.whole)(known), found, lower(self.graph, self.guards)(known)

    def side_by_side(self, parameters: Scalars, q: Scalars, p: Scalars, free: Scalars) -> tuple[Array, Array | None]:
        """xi at all nodes of a run, a row a component, where that takes no iteration; and at which nodes it can be
        trusted (None: at all of them).

        Trusted is what no small pivot has spoiled; whether it is finite is looked at in any case (`loops.run`). Where
        an angle is beyond the reach of polynomials, all sines are the library's.
        """
        graph, length = self.graph, len(p[0])
        known = dict(zip(self.parameters, parameters, strict=False))
        known |= dict(zip([*self.q, *self.p], [*q, *p], strict=True))

        def at_root(polynomials: bool) -> tuple[Array, list[Array]]:
            values = self._at_root(known, free, polynomials)
            whole = over_lanes(graph, self.whole, values, polynomials=polynomials)
            guards = over_lanes(graph, self.guards, values, polynomials=polynomials)
            return jnp.stack([broadcast(x, length) for x in whole]), [broadcast(x, length) > 0 for x in guards]

        angles = list(angles_in(graph, [*self.root.needs(), *self.whole, *self.guards]))
        within = [jnp.all(jnp.abs(x) <= REACH) for x in over_lanes(graph, angles, known)]
        near = reduce(jnp.bitwise_and, within, jnp.asarray(True))
        whole, guards = lax.cond(near, lambda: at_root(True), lambda: at_root(False)) if within else at_root(True)
        return whole, reduce(jnp.bitwise_and, guards) if guards else None

    def _at_root(self, known: Values, free: Scalars, polynomials: bool) -> dict[int, Array]:
        """The values by node where the momenta are p, from one correction of `free`."""
        root, graph = self.root, self.graph
        guess = dict(zip(root.unknowns, (free[i] for i in root.places), strict=True))
        correction = over_lanes(graph, root.correction, {**known, **guess}, polynomials=polynomials)
        values = {**known, **{node: g + c for (node, g), c in zip(guess.items(), correction, strict=True)}}
        for unknown, formula in reversed(root.formulas):
            (values[unknown],) = over_lanes(graph, [formula], values, polynomials=polynomials)
        return values
