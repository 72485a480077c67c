"""A run, its tangent and its adjoint as calls of the primitives: compiled where that can be trusted, else plain."""

import dataclasses
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.interpreters import ad

from discrete_hamel.compiler.gradients.differentiable_run import History
from discrete_hamel.compiler.gradients.jax_primitives import apply, by_numpy, instantiate_zeros, linear, run
from discrete_hamel.compiler.gradients.plain_run import PlainHistory
from discrete_hamel.compiler.native.derivative_sweeps import Cotangents, Tangents


def _pack(arguments: tuple) -> tuple[Array, Array, Array]:
    """The parameters in one array, lengths, and the first state."""
    *parameters, lengths, begin = arguments
    return _in_one(parameters), lengths, begin


def _in_one(arrays: list) -> Array:
    if any(isinstance(array, jax.core.Tracer) for array in arrays):
        return jnp.concatenate(arrays)
    return np.concatenate(arrays) if arrays else np.zeros(0)  # type: ignore[return-value]  # NumPy's


@dataclasses.dataclass(frozen=True)
class RunCall:
    """`saved` intervals of `every` steps: (parameters leaf by leaf, lengths, first state) -> rows, the states before
    them, how many steps went well, and how many of these the plain path took, from the interval on in which a compiled
    one failed. Where the plain path does not go on, there is nothing from there on.
    """

    history: History
    plain: PlainHistory
    saved: int
    every: int
    goes_on: bool = True

    native = True

    def fast(self, *arguments: Array) -> list[Array]:
        known = _pack(arguments)
        rows, befores, compiled = self.history.run(self.saved, self.every, *known)
        if not self.goes_on:
            return [rows, befores, compiled, jnp.zeros_like(compiled)]
        rows, befores, done = self.plain.resume(self.saved, self.every, *known, rows, befores, compiled)
        interval, whole = self.every * len(known[1]), compiled == self.saved * self.every * len(known[1])
        return [rows, befores, done, jnp.where(whole, 0, done - compiled // interval * interval)]

    def eager(self, *arguments: Array) -> list[Array]:
        """XLA compiles the plain path, which takes seconds, where a step has failed only."""
        found = by_numpy(dataclasses.replace(self, goes_on=False), *arguments)
        return found if int(found[2]) == self.saved * self.every * arguments[-2].size else apply(self, *arguments)

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        count, size = self.saved * arguments[-2].size, arguments[-1].size
        return [(count, self.history.width), (count if self.every > 1 else 0, size), (), ()]

    def jvp(self, primals: tuple, tangents: tuple) -> tuple[list, list]:
        """The rows of every step, of which the saved ones are some."""
        count = len(primals) - 2
        ends = np.cumsum([0, *(a.size for a in primals[:count])]).tolist()
        moving = [i for i in range(count) if not isinstance(tangents[i], ad.Zero)]
        active = tuple(k for i in moving for k in range(ends[i], ends[i + 1]))
        call = dataclasses.replace(self, saved=self.saved * self.every, every=1)
        rows, _, *how = run.bind(*primals, call=call)
        done, by_plain = map(lax.stop_gradient, how)
        along = _in_one([tangents[i] for i in moving]), *map(instantiate_zeros, tangents[count:])
        (moved,) = linear.bind(
            *_pack(primals), rows, done, by_plain, *along, call=TangentCall(self.history, self.plain, active)
        )
        none, parts = np.zeros((), rows.dtype), primals[-2].size
        if self.every == parts == 1:
            left_out = np.zeros((0, primals[-1].size), rows.dtype)
            return [rows, left_out, done, by_plain], [moved, left_out, none, none]
        saved, befores = self._save(primals[-1], rows, parts)
        outputs = [self._with_most(saved, rows, parts), befores, done, by_plain]
        return outputs, [*self._save(along[-1], moved, parts), none, none]

    @partial(jax.jit, static_argnums=(0, 3))
    def _save(self, begin: Array, rows: Array, parts: int) -> tuple[Array, Array]:
        """The rows of the last step of each interval, and the states before them."""
        if self.every == 1:
            return rows, jnp.zeros((0, begin.size), rows.dtype)
        befores = jnp.concatenate([begin[None], rows[:-1, : begin.size]])
        rows, befores = (a.reshape(self.saved, self.every, parts, -1)[:, -1] for a in (rows, befores))
        return rows.reshape(-1, rows.shape[-1]), befores.reshape(-1, begin.size)

    @partial(jax.jit, static_argnums=(0, 3))
    def _with_most(self, saved: Array, rows: Array, parts: int) -> Array:
        """With the most iterations of any step of an interval, for each of the steps that its last one consists of."""
        most = jnp.max(lax.stop_gradient(rows[:, -1]).reshape(self.saved, -1), axis=1)
        return jnp.concatenate([saved[:, :-1], jnp.repeat(most, parts)[:, None]], axis=1)


@dataclasses.dataclass(frozen=True)
class Derivative:
    """What the tangent and the adjoint share: the history, and the parameters by which it is differentiated.

    Arguments: parameters (in one array), lengths, first state, rows of every step, how many went well, how many plain;
    then vectors.
    """

    history: History
    plain_history: PlainHistory
    active: tuple[int, ...]
    guarded: bool = True  # whether steps may be among the rows that static pivots do not serve
    kind: ClassVar[type]  # of the native code
    vectors: ClassVar[int]

    @property
    def native(self) -> bool:
        return self.history.native_sweep(self.kind, self.active) is not None

    def fast(self, *arguments: Array) -> list[Array]:
        if not self.native:
            return self.plain(*arguments)
        if not self.history.guards or not self.guarded:
            return self.by_compiled(*arguments)
        return lax.cond(arguments[-self.vectors - 1] == 0, self.by_compiled, self.plain, *arguments)

    def eager(self, *arguments: Array) -> list[Array]:
        """As `RunCall.eager`."""
        guarded = bool(np.asarray(arguments[-self.vectors - 1]))
        by = apply if guarded or not self.native else by_numpy
        return by(dataclasses.replace(self, guarded=guarded), *arguments)

    def _split(self, arguments: tuple) -> tuple[tuple, Array, tuple]:
        """Parameters, lengths, first state and rows; how many steps went well; and the vectors."""
        known, vectors = arguments[: -self.vectors], arguments[-self.vectors :]
        return known[:-2], known[-2], vectors

    def by_compiled(self, *arguments: Array) -> list[Array]:
        raise NotImplementedError

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        raise NotImplementedError

    def plain(self, *arguments: Array) -> list[Array]:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class TangentCall(Derivative):
    """Tangents of the active parameters, of the lengths and of the first state -> those of the rows."""

    kind, vectors = Tangents, 3

    @property
    def transposed(self) -> "AdjointCall":
        return AdjointCall(self.history, self.plain_history, self.active)

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        return [arguments[-self.vectors - 3].shape]

    def by_compiled(self, *arguments: Array) -> list[Array]:
        (parameters, lengths, begin, rows), _, vectors = self._split(arguments)
        return [self.history.native_sweep(Tangents, self.active)(parameters, lengths, begin, rows, vectors)]

    def plain(self, *arguments: Array) -> list[Array]:
        (parameters, lengths, begin, rows), _, vectors = self._split(arguments)
        return [self.plain_history.tangent(self.active, parameters, lengths, begin, rows, vectors)]


@dataclasses.dataclass(frozen=True)
class AdjointCall(Derivative):
    """The cotangent of the rows -> those of the active parameters, of the lengths and of the first state."""

    kind, vectors = Cotangents, 1

    @property
    def transposed(self) -> TangentCall:
        return TangentCall(self.history, self.plain_history, self.active)

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        return [(len(self.active),), *(a.shape for a in arguments[-6:-4])]

    def by_compiled(self, *arguments: Array) -> list[Array]:
        (parameters, lengths, begin, rows), done, (weights,) = self._split(arguments)
        known = parameters, lengths, begin, rows, done, weights
        return [*self.history.adjoint(self.active, *known)]

    def plain(self, *arguments: Array) -> list[Array]:
        (parameters, lengths, begin, rows), _, (weights,) = self._split(arguments)
        known = parameters, lengths, begin, rows, weights
        return [*self.plain_history.adjoint(self.active, *known)]
