"""What `differentiable_run.py` does, by JAX's own arrays and pivoted solves: rows of a run, and their derivatives.

It takes over where static pivots do not serve, and it is what second derivatives are taken of.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel._support.arrays import PyTree
from discrete_hamel.compiler.gradients.differentiable_run import History
from discrete_hamel.compiler.graph.lowering import used_of
from discrete_hamel.mechanics.newton import Report, newton
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


class Form:
    """A pytree's structure and shapes, to make it of the numbers in its leaves."""

    def __init__(self, tree: PyTree) -> None:
        leaves, self.structure = jax.tree.flatten(tree)
        self.shapes = [jnp.shape(leaf) for leaf in leaves]

    def tree(self, numbers: Array) -> Any:
        """The tree of numbers along the last axis; axes before it stay in front of every leaf."""
        leaves, at = [], 0
        for shape in self.shapes:
            size = 1
            for n in shape:
                size *= n
            leaves.append(numbers[..., at : at + size].reshape(*numbers.shape[:-1], *shape))
            at += size
        return jax.tree.unflatten(self.structure, leaves)


class PlainHistory:
    """The same steps as those of a History, which says what is in a row."""

    def __init__(self, history: History, system: System, scheme: Scheme, state: State) -> None:
        self.history, self.mechanics, self.state = history, Form((system, scheme)), Form(state)
        places = history.stepper.unknowns
        self.extra = [places.index(u) for u in history.linearised.extra]

    def resume(
        self, saved: int, every: int, parameters: Array, lengths: Array, begin: Array,
        rows: Array, befores: Array, done: Array,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """What `History.run` gives, gone on with from the interval in which a step went wrong, if one did, to the end
        or to a step that fails here too: then all rows from there on are NaN.

        A loop that is not entered where all went well: it costs nothing then, and copies no rows.
        """
        parts, size = len(lengths), len(begin)
        count = saved * every * parts
        system, scheme = self.mechanics.tree(parameters)

        def one(carry: tuple) -> tuple:
            k, _, before, most, rows, befores = carry
            inside, place = (k // parts) % every, k // (parts * every) * parts + k % parts
            after, extra, report = self._step(system, scheme, self.state.tree(before), lengths[k % parts])
            most = jnp.maximum(jnp.where((inside == 0) & (k % parts == 0), 0, most), report.iterations)
            row = jnp.concatenate([after, extra, most[None].astype(after.dtype)])
            rows = lax.dynamic_update_index_in_dim(rows, row, place, 0)
            if every > 1:
                befores = lax.dynamic_update_index_in_dim(befores, before, place, 0)
            well = report.converged
            return k + well, well, jnp.where(well, after, before), most, rows, befores

        def going(carry: tuple) -> Array:
            k, well, *_ = carry
            return (k < count) & well

        interval = done.astype(int) // (parts * every)
        first = jnp.clip(interval * parts - 1, 0, len(rows) - 1)
        before = jnp.where(interval > 0, lax.dynamic_index_in_dim(rows, first, keepdims=False)[:size], begin)
        start = jnp.where(done.astype(int) < count, interval * parts * every, count)
        begins = start, jnp.asarray(True), before, jnp.asarray(0), rows, befores
        k, well, _, _, rows, befores = lax.while_loop(going, one, begins)
        # Of the interval that could not be finished nothing stays; rows behind it are NaN already.
        lost = jnp.clip(k // (parts * every) * parts, 0, len(rows) - parts)
        last = lax.dynamic_slice_in_dim(rows, lost, parts)
        rows = lax.dynamic_update_slice_in_dim(rows, jnp.where(well, last, jnp.nan), lost, 0)
        return rows, befores, k.astype(begin.dtype)

    def _step(self, system: System, scheme: Scheme, state: State, length: Array) -> tuple[Array, Array, Report]:
        """One step: the numbers of the next state, the unknowns that are no part of it, and how the solve went."""
        z, report = newton(
            lambda z: scheme.residual(system, state, length, z),
            scheme.guess(system, state, length),
            scheme.negligible,
            scheme.beside(state),
        )
        after, _ = scheme.advance(system, state, length, z)
        return jnp.concatenate([*map(jnp.ravel, jax.tree.leaves(after))]), z[jnp.array(self.extra, int)], report

    def _tangent(
        self, parameters: Array, length: Array, before: Array, row: Array, moved: Array, stretched: Array, start: Array
    ) -> Array:
        """The tangent of a step's row: J dz = -(r_s ds + r_theta dtheta) by a pivoted solve."""
        z = self._unknowns(parameters, length, before, row)

        def residual(parameters: Array, length: Array, before: Array, z: Array) -> Array:
            system, scheme = self.mechanics.tree(parameters)
            return scheme.residual(system, self.state.tree(before), length, z)

        def after(parameters: Array, length: Array, before: Array, z: Array) -> Array:
            system, scheme = self.mechanics.tree(parameters)
            state, _ = scheme.advance(system, self.state.tree(before), length, z)
            return jnp.concatenate([*map(jnp.ravel, jax.tree.leaves(state)), z[jnp.array(self.extra, int)]])

        at = parameters, length, before
        along = moved, stretched, start
        _, change = jax.jvp(lambda a, b, c: residual(a, b, c, z), at, along)
        jacobian = jax.jacfwd(residual, 3)(*at, z)
        _, new = jax.jvp(after, (*at, z), (*along, -jnp.linalg.solve(jacobian, change)))
        return jnp.concatenate([new, jnp.zeros(1, new.dtype)])

    def _unknowns(self, parameters: Array, length: Array, before: Array, row: Array) -> Array:
        history, stepper = self.history, self.history.stepper
        known = used_of(stepper.graph, stepper.parameters, parameters, [f for _, f in stepper.root.formulas])
        known |= dict(zip([*stepper.state, *stepper.length], [*before, length], strict=True))
        kept = [row[history.linearised.source[u]] for u in stepper.root.unknowns]
        known = stepper.root.all_unknowns(known, kept)
        return jnp.stack([known[u] for u in stepper.unknowns])

    def _scatter(self, active: tuple[int, ...], moved: Array, parameters: Array) -> Array:
        """The tangent of all parameters."""
        whole = jnp.zeros_like(parameters)
        return whole.at[jnp.array(active)].set(moved) if active else whole

    def _stretch(self, spread: Array, stretched: Array) -> Array:
        """The tangent of a step's length, which is the last parameter unless lengths vary from step to step."""
        return stretched if self.history.linearised.length else spread[-1]

    def tangent(
        self, active: tuple[int, ...], parameters: Array, lengths: Array, begin: Array, rows: Array, vectors: tuple
    ) -> Array:
        """As `History.tangent`."""
        moved, stretched, start = vectors
        spread, times = self._scatter(active, moved, parameters), len(rows) // len(lengths)
        befores = jnp.concatenate([begin[None], rows[:-1, : len(begin)]])

        def one(state: Array, here: tuple) -> tuple[Array, Array]:
            length, stretch, before, row = here
            stretch = self._stretch(spread, stretch)
            new = self._tangent(parameters, length, before, row, spread, stretch, state)
            return new[: len(begin)], new

        return lax.scan(one, start, (jnp.tile(lengths, times), jnp.tile(stretched, times), befores, rows))[1]

    def adjoint(
        self, active: tuple[int, ...], parameters: Array, lengths: Array, begin: Array, rows: Array, cotangent: Array
    ) -> tuple[Array, Array, Array]:
        """As `History.adjoint`."""
        times = len(rows) // len(lengths)
        befores = jnp.concatenate([begin[None], rows[:-1, : len(begin)]])
        none = jnp.zeros(len(active), rows.dtype)

        def one(carry: tuple, here: tuple) -> tuple[tuple, Array]:
            moved, state = carry
            length, before, row, weights = here

            def along(moved: Array, stretch: Array, start: Array) -> Array:
                spread = self._scatter(active, moved, parameters)
                stretch = self._stretch(spread, stretch)
                return self._tangent(parameters, length, before, row, spread, stretch, start)

            _, pull = jax.vjp(along, none, jnp.zeros_like(length), jnp.zeros_like(before))
            more, stretch, state = pull(weights.at[: len(before)].add(state))
            return (moved + more, state), stretch

        here = jnp.tile(lengths, times), befores, rows, cotangent
        (moved, state), stretched = lax.scan(one, (none, jnp.zeros_like(begin)), here, reverse=True)
        return moved, stretched.reshape(times, -1).sum(0), state
