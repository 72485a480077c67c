"""JAX primitives whose rules are methods of the calls they carry: one for runs, one for what is linear in part.

A primitive and not `jax.custom_jvp`, because both modes are wanted from one rule, with a transpose of our own, and
because a batch of native kernels is one kernel after the other.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret

MANY = 100_000  # numbers of a run's records, up to which NumPy makes of them what XLA would compile for
T = TypeVar("T")
_interpreters, _staged = Cache(most=200), Cache(most=200)


class Call(Protocol):
    """A function of arrays, hashable, that gives a list of arrays."""

    def __hash__(self) -> int: ...

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


def by_numpy(call: Call, *arguments: Array) -> list[Array]:
    """The same by NumPy, the first times: nothing is compiled for it but native kernels' calls."""
    interpreted = _interpreters.fetch(call, lambda: interpret(call.fast, most=MANY, often=OFTEN))
    return [jax.device_put(a) for a in interpreted(*arguments)]


def of_trees(function: Callable[..., T], *trees: PyTree) -> T:
    """function(*trees), whose numbers are all of the last one's type; outside jit by NumPy, and so its derivatives.

    The function is hashable. Of one under jit XLA would compile each, for one call.
    """
    leaves, structure = jax.tree.flatten(trees)
    call = FunctionCall(_OfTrees(function, structure))
    made = jax.tree.structure(jax.eval_shape(_staged_of(function), *trees))
    return jax.tree.unflatten(made, run.bind(*leaves, call=call))


@dataclasses.dataclass(frozen=True)
class _OfTrees:
    """A function of trees, as one of their leaves."""

    function: Callable[..., PyTree]
    structure: jax.tree_util.PyTreeDef

    def __call__(self, *leaves: Array) -> list[Array]:
        return jax.tree.leaves(_staged_of(self.function)(*jax.tree.unflatten(self.structure, leaves)))


def _staged_of(function: Callable) -> Callable:
    """The function, which JAX traces once a shape."""
    return _staged.fetch(function, lambda: jax.jit(function))


def instantiate_zeros(tangent: Array | ad.Zero) -> Array:
    """As JAX's function of this name, which XLA compiles."""
    if not isinstance(tangent, ad.Zero):
        return tangent
    return np.zeros(tangent.aval.shape, tangent.aval.dtype)  # type: ignore[attr-defined, return-value]  # an array's


def _batch(primitive: Primitive, arguments: tuple, axes: tuple, *, call: Call) -> tuple:
    """A kernel after the other; what is no kernel as one computation with an axis more."""
    if isinstance(call, FunctionCall):
        outputs = primitive.bind(*arguments, call=FunctionCall(_Batched(call.function, axes)))
        return outputs, (0,) * len(outputs)
    if not call.native:
        outputs = jax.vmap(partial(apply, call), in_axes=axes)(*arguments)
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
        terms.append(linear.bind(*known, *map(instantiate_zeros, tangents[split:]), call=call))
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
    back = linear.bind(*arguments[:split], *map(instantiate_zeros, cotangents), call=call.transposed)
    vectors = [b if ad.is_undefined_primal(a) else None for a, b in zip(arguments[split:], back, strict=True)]
    return [*(None for _ in range(split)), *vectors]


linear = _primitive("discrete_hamel_linear", _linear_jvp)
ad.primitive_transposes[linear] = _linear_transpose


def _run_jvp(primals: tuple, tangents: tuple, *, call: Any) -> tuple[list, list]:
    return call.jvp(primals, tangents)


run = _primitive("discrete_hamel_run", _run_jvp)


@dataclasses.dataclass(frozen=True)
class _Batched:
    """A function of arrays for many of them, along these axes."""

    function: Callable[..., list[Array]]
    axes: tuple[int | None, ...]

    def __call__(self, *arrays: Array) -> list[Array]:
        return jax.vmap(self.function, in_axes=self.axes)(*arrays)


@dataclasses.dataclass(frozen=True)
class FunctionCall:
    """A function of arrays that gives a list of arrays, whose derivatives are found where they are asked for.

    Outside jit JAX traces and compiles the derivative of all that is made on the way, used or not.
    """

    function: Callable[..., list[Array]]  # hashable

    native = False

    def fast(self, *arguments: Array) -> list[Array]:
        return _staged_of(self.function)(*arguments)

    def eager(self, *arguments: Array) -> list[Array]:
        return by_numpy(self, *arguments)

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        return [a.shape for a in jax.eval_shape(_staged_of(self.function), *arguments)]

    def jvp(self, primals: tuple, tangents: tuple) -> tuple[list, list]:
        """The tangents of what it gives, as one linear map."""
        moving = tuple(i for i, t in enumerate(tangents) if not isinstance(t, ad.Zero))
        along = [tangents[i] for i in moving]
        made = run.bind(*primals, call=self)
        return made, linear.bind(*primals, *along, call=FunctionTangent(self.function, moving, len(made)))


@dataclasses.dataclass(frozen=True)
class FunctionDerivative:
    """What a function's tangent and cotangent share: its arguments come first, then vectors."""

    function: Callable[..., list[Array]]
    moving: tuple[int, ...]  # which arguments do
    outputs: int

    native = False

    def split(self, arguments: tuple) -> tuple[Callable, list, tuple]:
        """The function of what moves, where that is, and the vectors."""
        known, vectors = arguments[: -self.vectors], arguments[-self.vectors :]

        def by_moving(*some: Array) -> list[Array]:
            every = list(known)
            for i, value in zip(self.moving, some, strict=True):
                every[i] = value
            return _staged_of(self.function)(*every)

        return by_moving, [known[i] for i in self.moving], vectors

    @property
    def vectors(self) -> int:
        raise NotImplementedError

    def plain(self, *arguments: Array) -> list[Array]:
        raise NotImplementedError

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        raise NotImplementedError

    def fast(self, *arguments: Array) -> list[Array]:
        return self.plain(*arguments)

    def eager(self, *arguments: Array) -> list[Array]:
        return by_numpy(self, *arguments)


class FunctionTangent(FunctionDerivative):
    """The tangents of what moves -> those of what the function gives."""

    @property
    def vectors(self) -> int:
        return len(self.moving)

    @property
    def transposed(self) -> "FunctionCotangent":
        return FunctionCotangent(self.function, self.moving, self.outputs)

    def plain(self, *arguments: Array) -> list[Array]:
        function, at, vectors = self.split(arguments)
        return jax.jvp(function, at, list(vectors))[1]

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        return [a.shape for a in jax.eval_shape(_staged_of(self.function), *arguments[: -self.vectors])]


class FunctionCotangent(FunctionDerivative):
    """The cotangents of what the function gives -> those of what moves."""

    @property
    def vectors(self) -> int:
        return self.outputs

    @property
    def transposed(self) -> FunctionTangent:
        return FunctionTangent(self.function, self.moving, self.outputs)

    def plain(self, *arguments: Array) -> list[Array]:
        function, at, vectors = self.split(arguments)
        return list(jax.vjp(function, *at)[1](list(vectors)))

    def shapes(self, *arguments: Array) -> list[tuple[int, ...]]:
        return [arguments[i].shape for i in self.moving]
