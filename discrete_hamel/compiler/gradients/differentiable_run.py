"""All steps of a run as one native function, and its derivatives as two more: forwards, and backwards in time.

A run leaves a row a step: (the next state, the unknowns that are no part of it, Newton's iterations). These rows are
all that its derivatives need, so that a gradient keeps a row of numbers a step and no more.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cached_property
from typing import Any

import jax.numpy as jnp
from jax import Array

from discrete_hamel.compiler.graph.expressions import Unsupported
from discrete_hamel.compiler.native.derivative_sweeps import Cotangents, Tangents
from discrete_hamel.compiler.native.run_history import Steps
from discrete_hamel.compiler.step.linearised import LinearisedStep
from discrete_hamel.compiler.step.stepper import Stepper


class History:
    """The loops over the steps of a stepper, each step being `parts` steps of another scheme where it is composed."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, self.graph = stepper, stepper.graph
        self.linearised = LinearisedStep(stepper)
        self.guards = [*stepper.guards, *self.linearised.guards]
        self.size, self.width = len(stepper.state), len(self.linearised.row) + 1
        self.steps = Steps(stepper, self.linearised, self.guards)
        self.foreign: dict[Hashable, Callable | None] = {}  # native code, as it is asked for

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

    def native_sweep(self, kind: type[Tangents] | type[Cotangents], active: tuple[int, ...]) -> Any:
        """The native code of all tangents, or of all cotangents; None where there can be none."""
        key = kind, active
        if key not in self.foreign:
            self.foreign[key] = None
            if not self.without:
                way = self.linearised.forwards if kind is Tangents else self.linearised.backwards
                with suppress(Unsupported):
                    self.foreign[key] = kind(self.stepper, self.linearised, way(active), self.width, len(active))
        return self.foreign[key]

    def run(self, saved: int, every: int, parameters: Array, lengths: Array, begin: Array) -> tuple[Array, ...]:
        """`saved` intervals of `every` steps: the rows of the last step of each; the states before these (for every = 1
        they are those of the rows before, and left out); and how many steps went well.

        Where one does not, all rows from there on are NaN.
        """
        return self.steps(saved, every, parameters, lengths, begin)

    def adjoint(
        self, active: tuple[int, ...], parameters: Array, lengths: Array, begin: Array, rows: Array, done: Array,
        cotangent: Array,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """The cotangents of some parameters, of the lengths and of the first state, from those of all rows.

        It begins at the last step that went well. What weighs anything after it is NaN, and so is the result.
        """
        many, known = len(active), (parameters, lengths, begin, rows, done, cotangent)
        ends, *by_step = self.native_sweep(Cotangents, active)(*known)
        lost = jnp.any((cotangent[:, :-1] != 0) & (jnp.arange(len(rows))[:, None] >= done))
        poison = jnp.where(lost, jnp.nan, 0.0).astype(rows.dtype)
        ends = ends + poison
        stretched = by_step[0].reshape(-1, len(lengths)).sum(0) + poison if by_step else jnp.zeros_like(lengths)
        return ends[:many], stretched, ends[many:]
