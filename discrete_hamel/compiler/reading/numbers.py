"""Numbers as arrays of JAX's, made once: making one takes as long as two hundred steps of a pendulum."""

import struct

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
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
    array = jax.device_put(np.asarray(value, jnp.result_type(float)))  # for `jnp.asarray` XLA compiles
    if not isinstance(array, jax.core.Tracer):
        if len(_numbers) >= _numbers.most:
            _numbers.clear()
        _numbers[key] = array
    return array


def with_arrays(tree: PyTree) -> PyTree | None:
    """The tree with its numbers as arrays, if all its leaves then are arrays of the default float type."""
    leaves, structure = jax.tree.flatten(tree)
    kind, ready = jnp.result_type(float), [number(leaf) if type(leaf) is float else leaf for leaf in leaves]
    usable = all(isinstance(a, Array) and a.dtype == kind and not a.weak_type for a in ready)
    return jax.tree.unflatten(structure, ready) if usable else None
