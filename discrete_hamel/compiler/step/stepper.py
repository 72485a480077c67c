"""The compiled step: a scheme's residual, Jacobian and update as scalar code around one Newton loop."""

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler.graph.decision import holds_at
from discrete_hamel.compiler.graph.lowering import cycles
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.step.program import PASSES, READING, Program, graph_of, run_passes
from discrete_hamel.compiler.step.root import Cost
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

_by_graph = Cache(most=100)


def in_a_row(leaf: Array) -> Array:
    """A leaf's numbers in one row: by NumPy where JAX does not trace it, which XLA would compile for."""
    return jnp.ravel(leaf) if isinstance(leaf, jax.core.Tracer) else on_device(np.ravel(leaf))


def in_steps(scheme: Scheme, h: Array) -> tuple[Scheme, Array]:
    """The scheme whose steps make up a step, and their lengths."""
    return scheme.substeps(h) or (scheme, in_a_row(h))


class KeptProgram(NamedTuple):
    """What another process made of a graph: the graph's digest, the name it is kept under, and its attributes."""

    graph: str
    name: str
    made: Mapping


Recall = Callable[
    [str, Callable[[Mapping], bool]], KeptProgram | None
]  # of a graph's digest, and what tells which serves


class Stepper(Program):
    """A step of `scheme` for systems with the tree structure of the sample; hashed by identity, built once.

    What has the same graph as a step that was built `like` it before is that, but for the sample; so is what another
    process has made of this graph, if it decided as this one would: `recall` gives it. What is `known` to have been
    made at these very values is that without reading the functions.
    """

    code: tuple[str, int] | None = None  # the digest of its object code, and its operations, as another process kept it
    name: str | None = None  # that it is kept under
    found = False  # in this process, where another start may have made it

    def __init__(
        self,
        system: System,
        scheme: Scheme,
        state: State,
        h: Array,
        cost: Cost = cycles,
        like: Hashable = None,
        recall: Recall = lambda *_: None,
        known: KeptProgram | None = None,
    ) -> None:
        super().__init__(system, scheme, state, h, cost)
        self.kind: tuple[str, Hashable] | None = None
        if known is None:
            run_passes(self, READING)
        if like is None:
            run_passes(self, PASSES[len(READING) :])
            return
        self.kind = (graph_of(self) if known is None else known.graph), like
        if isinstance(before := _by_graph.get(self.kind), Stepper):
            self._take(vars(before))
            self.found = True
        elif (kept := known or recall(self.kind[0], self._decides_so)) is not None:
            self._take(kept.made)
            self.name = kept.name
        else:
            run_passes(self, PASSES[len(READING) :])

    def _decides_so(self, made: Mapping) -> bool:
        """Whether the passes would make this, from what was read here."""
        pairs = (made["graph"], self.graph), (made["node_velocity"].graph, self.node_velocity.graph)
        return all(holds_at(graph, read.samples) for graph, read in pairs)

    def decisions(self) -> list[object]:
        """What was decided by the sample."""
        return [one.outcome for graph in (self.graph, self.node_velocity.graph) for one in graph.decisions]

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
        given = (system, scheme) if self.composed else (system, scheme, lengths)
        return [in_a_row(leaf) for leaf in jax.tree.leaves(given)], lengths
