"""The compiled step: a scheme's residual, Jacobian and update as scalar code around one Newton loop."""

from collections.abc import Callable
from functools import reduce

import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.compiler.graph.leaves import scalars
from discrete_hamel.compiler.graph.lowering import Packed, constants, cycles, lower
from discrete_hamel.compiler.step.near_angles import turn
from discrete_hamel.compiler.step.program import PASSES, Program, run_passes
from discrete_hamel.compiler.step.roots import Cost, Scalars, Values
from discrete_hamel.compiler.step.rounding import allowed
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


def in_steps(scheme: Scheme, h: Array) -> tuple[Scheme, Array]:
    """The scheme whose steps make up a step, and their lengths."""
    return scheme.substeps(h) or (scheme, h[None])


class Stepper(Program):
    """A step of `scheme` for systems with the tree structure of the sample; hashed by identity, built once."""

    def __init__(self, system: System, scheme: Scheme, state: State, h: Array, cost: Cost = cycles) -> None:
        super().__init__(system, scheme, state, h, cost)
        self.run: Callable | None = None  # its machine code, where there is some
        run_passes(self, PASSES)

    def arguments(self, system: System, scheme: Scheme, h: Array) -> tuple[Scalars, Array]:
        """The numbers a run is given: parameters and step, and the lengths of the steps that a step consists of."""
        scheme, lengths = in_steps(scheme, h)
        return scalars((system, scheme, lengths[0])), lengths

    def prepare(self, parameters: Scalars) -> tuple[Packed, Packed]:
        """What depends on the parameters only, evaluated once for all steps: of the step, and of the velocity."""
        outputs = [*self.root.needs(), *self.guess, *self.after, *self.xi, *self.left, *self.terms, *self.guards]
        changing = [*self.changing_length, *self.state, *self.unknowns]
        step = constants(self.graph, outputs, self.parameters, changing, parameters[: len(self.parameters)])
        return step, self.node_velocity.prepare(parameters)

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
        known, converged, count, left = self.solve(known)
        after, xi, guards = (lower(self.graph, outputs)(known) for outputs in (self.after, self.xi, self.guards))
        norm = lax.sqrt(sum(r * r for r in left))
        nodal: Scalars = []
        if self.row.nodal:
            q, p, free = ([after[i] for i in place] for place in self.node_places())
            nodal, found, trusted = self.node_velocity.at(fixed[1].values(), q, p, free)
            guards, converged = [*guards, *trusted], converged & found
        good = reduce(lax.bitwise_and, [g > 0 for g in guards], converged)
        return after, [*xi, *nodal, norm], good, count

    def solve(self, known: Values) -> tuple[dict[int, Array], Array, Array, Scalars]:
        """The values by node at the root of the step's residual, whether it was found, the iterations, and what is left
        of the residual, which decides.
        """
        watched = [node for angle in self.angles for node in angle.seen]
        z, converged, count, seen = self.root(known, lower(self.graph, self.guess)(known), watched)
        known = self.root.all_unknowns(known, z)
        if self.angles:
            values, near = turn(self.graph, self.angles, seen, known)
            known, converged = {**known, **values}, converged & near
        left, sizes = lower(self.graph, self.left)(known), lower(self.graph, self.terms)(known)
        for row, size in zip(left, sizes, strict=True):
            converged = converged & allowed(row, size, self.root.negligible)
        return known, converged, count, left
