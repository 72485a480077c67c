"""All steps of a run as one native kernel, and its derivatives as two more: forwards, and backwards in time.

A run leaves a row a step: (the next state, the unknowns that are no part of it, Newton's iterations). These rows are
all that its derivatives need, so that a gradient keeps a row of numbers a step and no more.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cached_property, reduce
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.compiler.graph.expressions import Unsupported
from discrete_hamel.compiler.graph.lowering import Packed, constants, lower, one_kernel
from discrete_hamel.compiler.native.histories import Steps
from discrete_hamel.compiler.native.host import usable
from discrete_hamel.compiler.native.sweeps import Cotangents, Tangents
from discrete_hamel.compiler.step.linearised import Linearised, Sweep
from discrete_hamel.compiler.step.stepper import Stepper

Scalars = list[Array]


class History:
    """The loops over the steps of a stepper, each step being `parts` steps of another scheme where it is composed."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, self.graph = stepper, stepper.graph
        self.linearised = Linearised(stepper)
        self.guards = [*stepper.guards, *self.linearised.guards]
        self.size, self.width = len(stepper.state), len(self.linearised.row) + 1
        self.sweeps: dict[Hashable, Sweep] = {}
        self.foreign: dict[Hashable, Callable | None] = {}  # native code, as it is asked for

    @property
    def native(self) -> bool:
        return self.stepper.native

    @cached_property
    def without(self) -> str:
        """Why derivatives are not scalar code; nothing if they are."""
        if self.graph.own_derivatives:
            return f"{', '.join(sorted(self.graph.own_derivatives))} with derivatives of its own"
        try:
            self.linearised.backwards(tuple(range(len(self.stepper.parameters))))
        except Unsupported as reason:
            return str(reason)
        return ""

    def kernel(self, loop: Callable, *arrays: Array) -> tuple[Array, list[Array]]:
        """What a loop over arrays gives, as one native kernel, and a zero that depends on all the arrays.

        They are used inside and handed back, so that they last as long as the kernel runs: XLA aborts where what is in
        a kernel, or comes out of it, takes the place of what went in.
        """

        def lasting(*arrays: Array) -> tuple[list[Array], tuple[Array, ...], Array]:
            return loop(*arrays), arrays, _nothing(arrays)

        outputs, arrays, zero = (one_kernel(lasting) if self.native else lasting)(*lax.optimization_barrier(arrays))
        return zero + _nothing(arrays), outputs

    @cached_property
    def steps(self) -> Steps | None:
        """The native code of a run, where there can be some."""
        with suppress(Unsupported):
            return Steps(self.stepper, self.linearised, self.guards) if usable(self.stepper.shape) else None
        return None

    def native_sweep(self, kind: type, way: str, active: tuple[int, ...]) -> Any:
        """The native code of all tangents, or of all cotangents, where there can be some."""
        key = kind, active
        if key not in self.foreign:
            self.foreign[key] = None
            with suppress(Unsupported):
                if self.steps:
                    known = self.stepper, self.linearised, self.sweep(way, active), self.width
                    self.foreign[key] = kind(*known, len(active))
        return self.foreign[key]

    def sweep(self, way: str, active: tuple[int, ...]) -> Sweep:
        if (way, active) not in self.sweeps:
            self.sweeps[way, active] = getattr(self.linearised, way)(active)
        return self.sweeps[way, active]

    def _constants(self, outputs: list[int], inputs: list[int], parameters: Array) -> Packed:
        stepper = self.stepper
        varying = [*self.linearised.length, *stepper.state, *stepper.unknowns, *inputs]
        return constants(self.graph, outputs, stepper.parameters, varying, list(parameters))

    def _length(self, lengths: Array, part: Array) -> dict[int, Array]:
        """The length of a step, where it is not a parameter."""
        return {node: _at(lengths, part) for node in self.linearised.length}

    def advance(self, known: dict[int, Array]) -> tuple[Scalars, Array, Array]:
        """A step: its row but for the iterations; these; and whether all can be trusted."""
        stepper, graph = self.stepper, self.graph
        known, converged, count, _ = stepper.solve(known)
        extra = [known[u] for u in self.linearised.extra]
        good = reduce(lax.bitwise_and, [g > 0 for g in lower(graph, self.guards)(known)], converged)
        return [*lower(graph, stepper.after)(known), *extra], count, good

    def run(self, saved: int, every: int, parameters: Array, lengths: Array, begin: Array) -> tuple[Array, ...]:
        """`saved` intervals of `every` steps: the rows of the last step of each; the states before these (for every = 1
        they are those of the rows before, and left out); and how many steps went well.

        Where one does not, all rows from there on are NaN.
        """
        if self.steps:
            return self.steps(saved, every, parameters, lengths, begin)
        parts, stepper, dtype = len(lengths), self.stepper, begin.dtype
        outputs = [*stepper.root.needs(), *stepper.guess, *stepper.after, *stepper.left, *stepper.terms, *self.guards]

        def loop(parameters: Array, lengths: Array, begin: Array) -> list[Array]:
            fixed = self._constants(outputs, [], parameters)

            def one(carry: tuple) -> tuple:
                k, inside, part, done, state, most, _, rows, *befores = carry
                here = dict(zip(stepper.state, state, strict=True))
                new, count, good = self.advance({**fixed.values(), **self._length(lengths, part), **here})
                most, at = lax.max(most, count), (k * parts + part, jnp.zeros_like(k))
                rows = lax.dynamic_update_slice(rows, jnp.stack([*new, most.astype(dtype)])[None], at)
                befores = [lax.dynamic_update_slice(b, jnp.stack(state)[None], at) for b in befores]
                part, over = _next(part, parts)
                inside, whole = _next(inside, every, over)
                most = lax.select(whole, jnp.zeros_like(most), most)
                return k + whole, inside, part, done + good, tuple(new[: self.size]), most, good, rows, *befores

            def going(carry: tuple) -> Array:
                return (carry[0] < saved) & carry[6]

            zero, nothing = jnp.zeros((), int), jnp.full((saved * parts, self.width), jnp.nan, dtype)
            before = [nothing[:, : self.size]] if every > 1 else []  # an array of no numbers would make XLA abort
            carry = zero, zero, zero, zero, tuple(begin), zero, jnp.asarray(True), nothing, *before
            final: Any = lax.while_loop(going, one, carry)
            return [final[3].astype(dtype), *final[7:]]

        zero, (done, rows, *befores) = self.kernel(loop, parameters, lengths, begin)
        lost = done // (parts * every) * parts if every > 1 else done  # from here on, if anything
        first = jnp.minimum(lost, len(rows) - parts).astype(int)
        last = lax.dynamic_slice_in_dim(rows, first, parts)
        last = jnp.where((first + jnp.arange(parts) < lost)[:, None], last, jnp.nan)
        rows = lax.dynamic_update_slice_in_dim(rows, last, first, 0)
        return rows, befores[0] if befores else jnp.zeros((0, self.size), dtype), done + zero

    def _values(self, fixed: Packed, length: dict, before: Scalars, row: Scalars) -> dict[int, Array]:
        """The values by node that a row determines."""
        stepper, linearised = self.stepper, self.linearised
        values = {**fixed.values(), **length, **dict(zip(stepper.state, before, strict=True))}
        values |= {u: row[k] for u, k in linearised.source.items()}
        return values | {f: row[k] for f, k in linearised.given.items()}

    def tangent(
        self, active: tuple[int, ...], parameters: Array, lengths: Array, begin: Array, rows: Array, vectors: Any
    ) -> Array:
        """The tangents of all rows, from those of some parameters, of the lengths and of the first state."""
        native = self.native_sweep(Tangents, "forwards", active)
        if native:
            return native(parameters, lengths, begin, rows, vectors)
        sweep, parts, count = self.sweep("forwards", active), len(lengths), self.width - 1

        def loop(
            parameters: Array, lengths: Array, begin: Array, rows: Array, start: Array, *more: Array
        ) -> list[Array]:
            fixed = self._constants(sweep.outputs, sweep.inputs, parameters)
            evaluate = lower(self.graph, sweep.outputs)
            moved = list(more[0]) if active else []

            def one(carry: tuple) -> tuple:
                k, part, state, before, tangents = carry
                row = _scalars(rows, k, count)
                values = self._values(fixed, self._length(lengths, part), list(before), row)
                along = [*moved, *(_at(more[-1], part) for _ in self.linearised.length), *state]
                new = evaluate({**values, **dict(zip(sweep.inputs, along, strict=True))})
                out = jnp.stack([*new, jnp.zeros_like(new[0])])[None]
                tangents = lax.dynamic_update_slice(tangents, out, (k, jnp.zeros_like(k)))
                return k + 1, _next(part, parts)[0], tuple(new[: self.size]), tuple(row[: self.size]), tangents

            zero = jnp.zeros((), int)
            carry = zero, zero, tuple(start), tuple(begin), jnp.zeros_like(rows)
            return [lax.while_loop(lambda carry: carry[0] < len(rows), one, carry)[-1]]

        moved, stretched, start = vectors
        more = [*([jnp.stack(moved)] if active else []), *([stretched] if self.linearised.length else [])]
        zero, (tangents,) = self.kernel(loop, parameters, lengths, begin, rows, start, *more)
        return tangents + zero

    def adjoint(
        self, active: tuple[int, ...], parameters: Array, lengths: Array, begin: Array, rows: Array, done: Array,
        cotangent: Array,
    ) -> tuple[Scalars, Array, Array]:  # fmt: skip
        """The cotangents of some parameters, of the lengths and of the first state, from those of all rows.

        It begins at the last step that went well. What weighs anything after it is NaN, and so is the result.
        """
        sweep, parts, many = self.sweep("backwards", active), len(lengths), len(active)
        stretching, count = bool(self.linearised.length), self.width - 1

        def loop(
            parameters: Array, lengths: Array, begin: Array, rows: Array, done: Array, cotangent: Array
        ) -> list[Array]:
            fixed = self._constants(sweep.outputs, sweep.inputs, parameters)
            evaluate, last = lower(self.graph, sweep.outputs), done.astype(int) - 1

            def one(carry: tuple) -> tuple:
                k, part, moved, state, row, *stretched = carry
                before = _scalars(rows, lax.max(k - 1, jnp.zeros_like(k)), count)
                before = [lax.select(k > 0, b, begin[i]) if i < self.size else b for i, b in enumerate(before)]
                values = self._values(fixed, self._length(lengths, part), before[: self.size], list(row))
                weights = _scalars(cotangent, k, count)
                weights = [w + state[i] if i < self.size else w for i, w in enumerate(weights)]
                new = evaluate({**values, **dict(zip(sweep.inputs, weights, strict=True))})
                moved = tuple(a + b for a, b in zip(moved, new[:many], strict=True))
                stretched = [lax.dynamic_update_slice(a, new[many][None], (k,)) for a in stretched]
                part = lax.select(part == 0, jnp.full_like(part, parts - 1), part - 1) if parts > 1 else part
                return k - 1, part, moved, tuple(new[many + stretching :]), tuple(before), *stretched

            zero = jnp.zeros((), rows.dtype)
            first = tuple(_scalars(rows, last, count))
            stretched = [jnp.zeros(len(rows), rows.dtype)] if stretching else []
            part = lax.rem(last, jnp.full_like(last, parts))
            carry = last, part, (zero,) * many, (zero,) * self.size, first, *stretched

            def going(carry: tuple) -> Array:
                return carry[0] >= 0

            final: Any = lax.while_loop(going, one, carry)
            _, _, moved, state, _, *stretched = final
            return [jnp.stack([*moved, *state]), *stretched]

        native = self.native_sweep(Cotangents, "backwards", active)
        if native:
            ends, *by_step = native(parameters, lengths, begin, rows, done, cotangent)
            zero = jnp.zeros((), rows.dtype)
        else:
            zero, (ends, *by_step) = self.kernel(loop, parameters, lengths, begin, rows, done, cotangent)
        lost = jnp.any((cotangent[:, :-1] != 0) & (jnp.arange(len(rows))[:, None] >= done))
        poison = jnp.where(lost, jnp.nan, zero).astype(rows.dtype)
        ends = ends + poison
        stretched = by_step[0].reshape(-1, parts).sum(0) + poison if stretching else jnp.zeros_like(lengths)
        return [ends[i] for i in range(many)], stretched, ends[many:]


def _next(index: Array, period: int, when: Array | bool = True) -> tuple[Array, Array]:
    """The next index of a cycle, and whether the cycle is over; a cycle of one costs nothing."""
    if period == 1:
        return index, jnp.asarray(when)
    over = (index + 1 == period) & when
    return lax.select(over, jnp.zeros_like(index), index + when), over


def _nothing(arrays: tuple[Array, ...]) -> Array:
    first = [lax.index_in_dim(a.reshape(-1), 0, keepdims=False) for a in arrays]
    return sum(first[1:], start=first[0]) * 0


def _at(array: Array, k: Array) -> Array:
    return lax.dynamic_slice(array, (k,), (1,))[0]


def _scalars(rows: Array, k: Array, count: int) -> Scalars:
    row = lax.dynamic_slice(rows, (k, jnp.zeros_like(k)), (1, rows.shape[1]))
    return [row[0, i] for i in range(count)]
