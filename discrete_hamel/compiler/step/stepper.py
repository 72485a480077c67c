"""The compiled step: a scheme's residual, Jacobian and update as scalar code around one Newton loop."""

import itertools
from collections.abc import Callable
from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.leaves import inputs_like, scalars
from discrete_hamel.compiler.graph.lowering import Packed, constants, cycles, lowered, one_kernel_works
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.simplifying.identities import without_idle_angles
from discrete_hamel.compiler.simplifying.regrouping import regrouped
from discrete_hamel.compiler.step.near_angles import angles_met, turned
from discrete_hamel.compiler.step.node_velocities import NodeVelocity
from discrete_hamel.compiler.step.roots import Cost, Root, Scalars, Values
from discrete_hamel.compiler.step.rounding import allowed, terms
from discrete_hamel.compiler.step.rows import Row
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

FUSED = 300  # operations an iteration up to which XLA's fusion pass helps: by a fifth; beyond, it can cost fivefold
LARGEST = 5000  # operations an iteration; beyond, compiling takes many seconds


def in_steps(scheme: Scheme, h: Array) -> tuple[Scheme, Array]:
    """The scheme whose steps make up a step, and their lengths."""
    return scheme.substeps(h) or (scheme, h[None])


def _size_of(graph: Graph, guess: int, coordinates: set[int]) -> int:
    """For a guess q + h qdot of what is eliminated, of which only the size counts: q, which takes no sines."""
    terms = graph.operands(guess) if graph.nodes[guess][0] in ("add", "sub") else ()
    return next((q for q in terms if q in coordinates), guess)


class Stepper:
    """A step of `scheme` for systems with the tree structure of the sample; hashed by identity, built once.

    Where a step consists of steps of another scheme, it is the step of that one that is built, with its length among
    what changes from step to step.
    """

    def __init__(
        self, system: System, scheme: Scheme, state: State, h: Array, cost: Cost = cycles, most: int = LARGEST
    ) -> None:
        self.run: Callable | None = None  # its machine code, where there is some
        parts = scheme.substeps(h)
        self.composed = parts is not None
        scheme, h = (scheme, h) if parts is None else (parts[0], parts[1][0])
        if type(scheme).step is not Scheme.step or type(scheme).velocity is not Scheme.velocity:
            raise Unsupported(f"{type(scheme).__name__} steps in a way of its own")
        self.native = one_kernel_works()
        self.graph = graph = Graph()
        self.shape = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), state)
        (mechanics, rule), parameters = inputs_like(graph, (system, scheme))
        step, self.length = inputs_like(graph, h)
        node, self.state = inputs_like(graph, state)
        self.parameters = parameters if self.composed else [*parameters, *self.length]
        self.changing_length = self.length if self.composed else []
        changing = [*self.changing_length, *self.state]
        (guess,) = to_graph(graph, lambda a, b, c, h: b.guess(a, c, h), mechanics, rule, node, step)
        unknown, unknowns = inputs_like(graph, np.array([graph.samples[g] for g in guess]))
        (residual,) = to_graph(
            graph, lambda a, b, c, h, z: b.residual(a, c, h, z), mechanics, rule, node, step, unknown
        )
        *after, xi = to_graph(
            graph,
            lambda a, b, c, h, z: jax.tree.leaves(b.advance(a, c, h, z)),
            mechanics, rule, node, step, unknown,
        )  # fmt: skip
        self.n = len(xi)
        rows, self.unknowns = without_idle_angles(graph, list(residual)), unknowns
        width = system.rank + len(state.q)
        places = [i for i in range(len(unknowns)) if i % width >= system.rank]
        known = self.parameters, changing
        sizes = np.cumsum([0, *(leaf.size for leaf in jax.tree.leaves(self.shape))])
        self.places = [range(*ends) for ends in itertools.pairwise(sizes)]
        # The rows with the same constants as what follows from them: two roundings of h F add up over many steps.
        rows = regrouped(graph, rows, [*known, unknowns])
        self.root = Root(graph, rows, unknowns, known, places, scheme.negligible, cost)
        iterated = self.root.places
        self.guess = [g if i in iterated else _size_of(graph, g, set(node.q)) for i, g in enumerate(guess)]
        self.guess += [number for name in scheme.changes for number in getattr(node, name).ravel()]
        made = without_idle_angles(graph, [*(index for leaf in after for index in leaf.ravel()), *xi])
        left = [rows[i] for i in iterated]  # the others hold to a rounding, by what is eliminated with them
        outputs = regrouped(graph, [*made, *left, *(terms(graph, row) for row in left)], [*known, unknowns])
        ends = np.cumsum([len(self.state), len(xi), len(left)])
        self.after, self.xi, self.left, self.terms = (list(part) for part in np.split(outputs, ends))
        self.guards = graph.guards_of([*self.guess, *rows, *made])
        self.angles = angles_met(graph, [*outputs, *self.guards], self.root)
        if self.root.operations > most:
            raise Unsupported(f"{self.root.operations} operations an iteration, of {most} at most")
        self.node_velocity = NodeVelocity(system, state, scheme)
        self.fused = self.root.operations <= FUSED
        self.row = Row(self.after, self.xi, self.composed, not (self.fused and self.node_velocity.after_all))

    def given(self, system: System, scheme: Scheme, h: Array) -> tuple[Scalars, Array]:
        """The numbers a run is given: parameters and step, and the lengths of the steps that a step consists of."""
        scheme, lengths = in_steps(scheme, h)
        return scalars((system, scheme, lengths[0])), lengths

    def prepared(self, parameters: Scalars) -> tuple[Packed, Packed]:
        """What depends on the parameters only, evaluated once for all steps: of the step, and of the velocity."""
        outputs = [*self.root.needs(), *self.guess, *self.after, *self.xi, *self.left, *self.terms, *self.guards]
        changing = [*self.changing_length, *self.state, *self.unknowns]
        step = constants(self.graph, outputs, self.parameters, changing, parameters[: len(self.parameters)])
        return step, self.node_velocity.prepared(parameters)

    def __call__(
        self, fixed: tuple[Packed, Packed], lengths: Array, state: Scalars
    ) -> tuple[Scalars, Scalars, Array, Array]:
        """The next state; what is recorded of the step (the interval's xi, the nodal xi if `row.nodal`, the norm of the
        residual); whether it can be trusted; and the iterations: all in scalars.
        """
        if not self.composed:
            return self._step(fixed, lengths[0], state)
        whole = jnp.sum(lengths)

        def one(k: Array, carry: tuple) -> tuple:
            state, (*before, largest), trusted, most = carry
            after, (*recorded, norm), good, count = self._step(fixed, lengths[k], list(state))
            xi, nodal = recorded[: self.n], recorded[self.n :]
            mean = [a + lengths[k] / whole * b for a, b in zip(before[: self.n], xi, strict=True)]
            record = (*mean, *nodal, jnp.maximum(largest, norm))
            return tuple(after), record, trusted & good, jnp.maximum(most, count)

        nothing = tuple(jnp.zeros_like(state[0]) for _ in range((1 + self.row.nodal) * self.n + 1))
        begin = (tuple(state), nothing, jnp.asarray(True), jnp.asarray(0))
        after, record, good, count = lax.fori_loop(0, len(lengths), one, begin)
        return list(after), list(record), good, count

    def _step(
        self, fixed: tuple[Packed, Packed], length: Array, state: Scalars
    ) -> tuple[Scalars, Scalars, Array, Array]:
        known = {**fixed[0].values(), **dict(zip([*self.length, *self.state], [length, *state], strict=True))}
        known, converged, count, left = self.solved(known)
        after, xi, guards = (lowered(self.graph, outputs)(known) for outputs in (self.after, self.xi, self.guards))
        norm = lax.sqrt(sum(r * r for r in left))
        nodal: Scalars = []
        if self.row.nodal:
            q, p, free = ([after[i] for i in place] for place in self.node_places())
            nodal, found, trusted = self.node_velocity.at(fixed[1].values(), q, p, free)
            guards, converged = [*guards, *trusted], converged & found
        good = reduce(lax.bitwise_and, [g > 0 for g in guards], converged)
        return after, [*xi, *nodal, norm], good, count

    def solved(self, known: Values) -> tuple[dict[int, Array], Array, Array, Scalars]:
        """The values by node at the root of the step's residual, whether it was found, the iterations, and what is left
        of the residual, which decides.
        """
        watched = [node for angle in self.angles for node in angle.seen]
        z, converged, count, seen = self.root(known, lowered(self.graph, self.guess)(known), watched)
        known = self.root.all_unknowns(known, z)
        if self.angles:
            values, near = turned(self.graph, self.angles, seen, known)
            known, converged = {**known, **values}, converged & near
        left, sizes = lowered(self.graph, self.left)(known), lowered(self.graph, self.terms)(known)
        for row, size in zip(left, sizes, strict=True):
            converged = converged & allowed(row, size, self.root.negligible)
        return known, converged, count, left

    def node_places(self) -> tuple[range, range, range]:
        """Where in a state's numbers q, p and the free part of xi are."""
        leaves = jax.tree.unflatten(jax.tree.structure(self.shape), self.places)
        return leaves.q, leaves.p, leaves.xi
