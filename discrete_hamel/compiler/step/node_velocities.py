"""xi at a node from q and p there: the Legendre inverse mu(q, xi)^D = p, and the slip xi^U = b(q)."""

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.simplifying import hidden
from discrete_hamel.compiler.step.root import Root
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


class NodeVelocity:
    """The Legendre inverse as scalar code, in a graph of its own; `scheme.nodal` says that xi^D is known already.

    What is read is made at once, and the rest by `find_root`.
    """

    root: Root
    pivots: list[int]
    guards: list[int]

    def __init__(self, system: System, state: State, scheme: Scheme) -> None:
        self.graph = graph = Graph()
        (mechanics, rule), self.parameters = inputs_like(graph, (system, scheme))
        q, self.q = inputs_like(graph, state.q)
        p, self.p = inputs_like(graph, state.p)
        free, unknowns = inputs_like(graph, state.xi)
        (whole,) = to_graph(graph, hamel.full, mechanics, q, free)
        self.difference = list[int]()
        if not scheme.nodal:
            (missed,) = to_graph(graph, lambda a, b, *node: b.missed_momentum(a, *node), mechanics, rule, q, p, free)
            self.difference += list(missed)
        self.whole, self.free = list(whole), unknowns

    def find_root(self) -> None:
        """Newton's correction, and what has to be positive for it to be trusted."""
        graph, outputs = self.graph, [*self.difference, *self.whole]
        known = (self.parameters, [*self.q, *self.p]) if self.difference else ([], [])
        self.root = Root(graph, self.difference, self.free, known)
        self.pivots = graph.guards_of(outputs)
        self.guards = [*self.pivots, *hidden.finiteness(graph, outputs)]

    @property
    def said(self) -> str:
        """In words, for who looks at the passes."""
        return f"{len(self.root.unknowns)} unknowns" if self.root.unknowns else "known"
