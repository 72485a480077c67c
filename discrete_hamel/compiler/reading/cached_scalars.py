"""Numbers as arrays of JAX's, made once: making one takes as long as two hundred steps of a pendulum.

So it is with what a run asks of its system and scheme: shapes, numbers, whether they are finite. `settle` makes the
same tree of the same parameters, and `once` keeps what was found of it.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import numpy as np
from jax import Array
from jax.dtypes import canonicalize_dtype

from discrete_hamel._support.arrays import ArrayLike, PyTree
from discrete_hamel._support.caches import Cache

P = TypeVar("P")
T = TypeVar("T")
_numbers = Cache(most=500)  # by their bits, and where JAX puts them
_settled = Cache(most=200)  # trees, by structure and numbers
_found = Cache(most=200)  # what is found of them, by identity
LARGEST = 2000  # numbers of a tree that is kept


def number(value: float) -> Array:
    """A number as an array.

    >>> number(0.5) is number(0.5), number(0.0) is number(-0.0)
    (True, False)
    """
    key = struct.pack("<d", value), *_place()
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


def _place() -> tuple:
    """Where JAX puts a number, and how long it is there."""
    return jax.config.jax_enable_x64, jax.config.jax_default_device  # type: ignore[attr-defined]


class Settled(NamedTuple):
    """A tree whose leaves are arrays with numbers, which nobody can change, and what is found of it."""

    tree: PyTree
    leaves: list[Array]
    kind: tuple
    numbers: np.ndarray
    listed: list[float]
    found: dict[Callable, object]


def settle(tree: P) -> P | None:
    """The tree with its numbers as arrays, if all its leaves then are arrays of the default float type, with numbers:
    the same one for the same numbers.

    >>> settle((1.0, 2.0)) is settle((1.0, 2.0)), settle((1.0, 2)) is None
    (True, True)
    """
    if known(tree):
        return tree
    leaves, structure = jax.tree.flatten(tree)
    key = structure, *_place(), *[struct.pack("<d", leaf) if type(leaf) is float else id(leaf) for leaf in leaves]
    made = _settled.get(key)
    if isinstance(made, Settled) and known(made.tree):
        return made.tree  # type: ignore[return-value]  # of the same structure
    kind, ready = canonicalize_dtype(float), [number(leaf) if type(leaf) is float else leaf for leaf in leaves]
    if not all(isinstance(a, Array) and a.dtype == kind and not a.weak_type for a in ready):
        return None
    tree = jax.tree.unflatten(structure, ready)
    here = not any(isinstance(leaf, jax.core.Tracer) or not leaf.is_fully_addressable for leaf in ready)
    if here and sum(leaf.size for leaf in ready) <= LARGEST:
        made = Settled(tree, ready, kind_of(tree), numbers := numbers_of(tree), numbers.tolist(), {})
        for cache, at in ((_settled, key), (_found, id(tree))):
            cache.pop(at, None)
            cache.fetch(at, lambda: made)
    return tree


def record_of(tree: PyTree) -> Settled | None:
    """What is known of a tree that `settle` has made."""
    made = _found.get(id(tree))
    return made if isinstance(made, Settled) and made.tree is tree else None


def known(tree: PyTree) -> bool:
    """Whether `settle` has made it, so that its leaves are numbers; and none was given away."""
    made = record_of(tree)
    return made is not None and not any([leaf.is_deleted() for leaf in made.leaves])


def once(function: Callable[[P], T], tree: P) -> T:
    """function(tree), asked for once of each tree that `settle` has made."""
    made = record_of(tree)
    if made is None:
        return function(tree)
    if function not in made.found:
        made.found[function] = function(tree)
    return made.found[function]  # type: ignore[return-value]  # what it gave


def kind_of(tree: PyTree) -> tuple:
    """What decides whether the same can be done with another tree: its structure, and its leaves' shapes and types."""
    if isinstance(tree, np.ndarray | Array):
        return None, tree.shape, tree.dtype
    if (made := record_of(tree)) is not None:
        return made.kind
    leaves, structure = jax.tree.flatten(tree)
    return structure, *[(getattr(leaf, "shape", ()), getattr(leaf, "dtype", float)) for leaf in leaves]


def numbers_of(tree: PyTree) -> np.ndarray:
    """The numbers of all its leaves, one after another."""
    if (made := record_of(tree)) is not None:
        return made.numbers
    return np.concatenate([np.zeros(0), *jax.tree.leaves(tree)], axis=None, dtype=np.float64)
