"""Numbers as arrays of JAX's, made once: making one takes as long as two hundred steps of a pendulum."""

import struct

import jax
import numpy as np
from jax import Array
from jax.dtypes import canonicalize_dtype

from discrete_hamel._support.arrays import ArrayLike, PyTree
from discrete_hamel._support.caches import Cache

_numbers = Cache(most=500)  # by their bits, and where JAX puts them


def number(value: float) -> Array:
    """A number as an array.

    >>> number(0.5) is number(0.5), number(0.0) is number(-0.0)
    (True, False)
    """
    key = struct.pack("<d", value), jax.config.jax_enable_x64, jax.config.jax_default_device  # type: ignore[attr-defined]
    array = _numbers.get(key)
    if isinstance(array, Array) and not array.is_deleted():  # by someone to whom it was donated
        return array
    array = jax.device_put(np.asarray(value, canonicalize_dtype(float)))  # for `jnp.asarray` XLA compiles
    if not isinstance(array, jax.core.Tracer):
        if len(_numbers) >= _numbers.most:
            _numbers.clear()
        _numbers[key] = array
    return array


def on_device(array: ArrayLike) -> Array:
    """An array of JAX's; by `jnp.asarray`, for which XLA compiles, it is the same."""
    return array if isinstance(array, Array) else jax.device_put(array)


def kind_of(tree: PyTree) -> tuple:
    """What decides whether the same can be done with another tree: its structure, and its leaves' shapes and types."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, *[(np.shape(leaf), getattr(leaf, "dtype", float)) for leaf in leaves]


def with_arrays(tree: PyTree) -> PyTree | None:
    """The tree with its numbers as arrays, if all its leaves then are arrays of the default float type."""
    leaves, structure = jax.tree.flatten(tree)
    kind, ready = canonicalize_dtype(float), [number(leaf) if type(leaf) is float else leaf for leaf in leaves]
    usable = all(isinstance(a, Array) and a.dtype == kind and not a.weak_type for a in ready)
    return jax.tree.unflatten(structure, ready) if usable else None
