"""The compiled step: a scheme's residual, Jacobian and update as scalar code around one Newton loop."""

from collections.abc import Callable, Hashable, Mapping

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler.graph.lowering import cycles
from discrete_hamel.compiler.step.program import PASSES, READING, Program, graph_of, run_passes
from discrete_hamel.compiler.step.root import Cost
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

_by_graph = Cache(most=100)


def in_steps(scheme: Scheme, h: Array) -> tuple[Scheme, Array]:
    """The scheme whose steps make up a step, and their lengths."""
    return scheme.substeps(h) or (scheme, h[None])


class Stepper(Program):
    """A step of `scheme` for systems with the tree structure of the sample; hashed by identity, built once.

    What has the same graph as a step that was built `like` it before is that, but for the sample; so is what another
    process has made of this graph, which `recall` gives by the graph's digest. Where that is known to be `graph`, the
    functions are read only if nothing was made of it.
    """

    code: tuple[str, int] | None = None  # the digest of its object code, and its operations, as another process kept it
    recalled = False

    def __init__(
        self,
        system: System,
        scheme: Scheme,
        state: State,
        h: Array,
        cost: Cost = cycles,
        like: Hashable = None,
        recall: Callable[[str], Mapping | None] = lambda _: None,
        graph: str | None = None,
    ) -> None:
        super().__init__(system, scheme, state, h, cost)
        self.kind: tuple[str, Hashable] | None = None
        if graph is None or like is None or not self._as_before(graph, like, recall):
            run_passes(self, READING)
            if like is None or not self._as_before(graph_of(self), like, recall):
                run_passes(self, PASSES[len(READING) :])

    def _as_before(self, graph: str, like: Hashable, recall: Callable[[str], Mapping | None]) -> bool:
        """Whether a step of this graph was made before, here or in another process: then this is it."""
        self.kind = graph, like
        if isinstance(known := _by_graph.get(self.kind), Stepper):
            self._take(vars(known))
        elif (kept := recall(graph)) is not None:
            self._take(kept)
            self.recalled = True
        else:
            return False
        return True

    def _take(self, made: Mapping) -> None:
        """What was made of the same graph."""
        done = [*self.done, *(one._replace(seconds=0.0) for one in made["done"][len(self.done) : len(PASSES)])]
        vars(self).update({**made, "sample": self.sample, "part": self.part, "done": done})

    def keep(self) -> None:
        """For steps of the same graph, now that its code is made."""
        if self.kind is not None:
            _by_graph.fetch(self.kind, lambda: self)

    def arguments(self, system: System, scheme: Scheme, h: Array) -> tuple[list[Array], Array]:
        """What a run is given: the numbers of its parameters, in an array for each leaf, and the lengths of the steps
        that a step consists of.

        Not in an array for each number: XLA would take a minute for the thousands that a network has.
        """
        scheme, lengths = in_steps(scheme, h)
        given = (system, scheme) if self.composed else (system, scheme, lengths[0])
        return [jnp.ravel(leaf) for leaf in jax.tree.leaves(given)], lengths
