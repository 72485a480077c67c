"""JAX primitives whose rules are methods of the calls they carry: one for runs, one for what is linear in part.

A primitive and not `jax.custom_jvp`, because both modes are wanted from one rule, with a transpose of our own, and
because a batch of native kernels is one kernel after the other.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir


class Call(Protocol):
    """A function of arrays, hashable, that gives a list of arrays."""

    @property
    def native(self) -> bool:
        """Whether it is a native kernel, which vmap cannot enter."""

    def fast(self, *arguments: Array) -> list[Array]:
        """The function, by whatever is fastest."""

    def eager(self, *arguments: Array) -> list[Array]:
        """The same outside jit, where a look at the numbers tells what need not be compiled."""

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        """Those of what it gives; all are of one type, that of the last argument."""


class LinearCall(Call, Protocol):
    """A function that is linear in its last `vectors` arguments."""

    vectors: int

    def plain(self, *arguments: Array) -> list[Array]:
        """The same function in a form that JAX can differentiate by all arguments."""

    @property
    def transposed(self) -> "LinearCall":
        """The linear map's transpose, with the same other arguments."""


@partial(jax.jit, static_argnums=0)
def apply(call: Call, *arguments: Array) -> list[Array]:
    """The function, compiled."""
    return call.fast(*arguments)


def _batch(primitive: Primitive, arguments: tuple, axes: tuple, *, call: Call) -> tuple:
    """A kernel after the other; what is no kernel as one computation with an axis more."""
    if not call.native:
        outputs = jax.vmap(call.fast, in_axes=axes)(*arguments)
        return outputs, (0,) * len(outputs)
    moved = [jnp.moveaxis(a, axis, 0) for a, axis in zip(arguments, axes, strict=True) if axis is not None]

    def one(batch: list[Array]) -> list[Array]:
        rest = iter(batch)
        every = (a if axis is None else next(rest) for a, axis in zip(arguments, axes, strict=True))
        return primitive.bind(*every, call=call)

    outputs = lax.map(one, moved)
    return outputs, (0,) * len(outputs)


def _primitive(name: str, jvp: Callable) -> Primitive:
    primitive = Primitive(name)
    primitive.multiple_results = True
    primitive.def_impl(lambda *arguments, call: call.eager(*arguments))
    primitive.def_abstract_eval(
        lambda *avals, call: [jax.core.ShapedArray(shape, avals[-1].dtype) for shape in call.shapes(*avals)]
    )
    mlir.register_lowering(
        primitive, mlir.lower_fun(lambda *arguments, call: call.fast(*arguments), multiple_results=True)
    )
    batching.primitive_batchers[primitive] = partial(_batch, primitive)
    ad.primitive_jvps[primitive] = jvp
    return primitive


def _linear_jvp(primals: tuple, tangents: tuple, *, call: LinearCall) -> tuple[list, list]:
    """The map along the tangents of what it is linear in, and its own derivative by the rest."""
    outputs = linear.bind(*primals, call=call)
    split = len(primals) - call.vectors
    known, vectors = primals[:split], primals[split:]
    terms: list[list[Array]] = []
    if any(not isinstance(t, ad.Zero) for t in tangents[split:]):
        terms.append(linear.bind(*known, *map(ad.instantiate_zeros, tangents[split:]), call=call))
    varying = [i for i, t in enumerate(tangents[:split]) if not isinstance(t, ad.Zero)]
    if varying:

        def by_known(*some: Array) -> list[Array]:
            every = list(known)
            for i, value in zip(varying, some, strict=True):
                every[i] = value
            return call.plain(*every, *vectors)

        terms.append(jax.jvp(by_known, [known[i] for i in varying], [tangents[i] for i in varying])[1])
    return outputs, [sum(parts[1:], start=parts[0]) for parts in zip(*terms, strict=True)]


def _linear_transpose(cotangents: list, *arguments: Array, call: LinearCall) -> list:
    """The transposed map; nothing for arguments that are numbers, which can only be zero."""
    split = len(arguments) - call.vectors
    back = linear.bind(*arguments[:split], *map(ad.instantiate_zeros, cotangents), call=call.transposed)
    vectors = [b if ad.is_undefined_primal(a) else None for a, b in zip(arguments[split:], back, strict=True)]
    return [*(None for _ in range(split)), *vectors]


linear = _primitive("discrete_hamel_linear", _linear_jvp)
ad.primitive_transposes[linear] = _linear_transpose


def _run_jvp(primals: tuple, tangents: tuple, *, call: Any) -> tuple[list, list]:
    return call.jvp(primals, tangents)


run = _primitive("discrete_hamel_run", _run_jvp)
