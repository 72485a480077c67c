"""The parameters of systems and schemes: numbers as arrays, so that new values do not compile anew; refused if not."""

from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.inputs import short
from discrete_hamel.compiler.reading.cached_scalars import on_device, once, settle
from discrete_hamel.compiler.reading.outside_values import forget_if_changed

P = TypeVar("P")


def canonical(tree: P) -> P:
    """Numbers as arrays of the default float type, so that 1, 1.0 and an array of it share one compilation."""
    ready = settle(tree)
    forget_if_changed(tree if ready is None else ready)
    if ready is not None:
        return ready

    def leaf(path: tuple, value: object) -> object:
        if isinstance(value, bool | np.bool_):
            return jnp.asarray(value)
        try:
            kind = float if isinstance(value, int | float) else None
            array = value if isinstance(value, Array) else on_device(np.asarray(value, kind))
            np.dtype(array.dtype)  # which a key of jax.random has not
        except (TypeError, ValueError, OverflowError):
            if isinstance(tree, type):
                raise InputTypeError(f"give an instance, {tree.__name__}(...), not the class.") from None
            where = f"the parameter {jax.tree_util.keystr(path).lstrip('.')} of {type(tree).__name__}"
            raise InputError(f"{where} must be a number, or an array of numbers; got {short(value)}.") from None
        ready = array.dtype == jnp.result_type(float) and not array.weak_type
        return array if ready or not jnp.issubdtype(array.dtype, jnp.floating) else jnp.asarray(array, float)

    return jax.tree_util.tree_map_with_path(leaf, tree)


def _finite(tree: PyTree) -> bool:
    return all(np.isfinite(leaf).all() for leaf in map(np.asarray, jax.tree.leaves(tree)))


def finite_parameters(system: PyTree) -> None:
    """Refuses NaN and infinity among the parameters of a system or scheme."""
    if once(_finite, system):
        return
    for path, leaf in jax.tree_util.tree_leaves_with_path(system):
        if jnp.issubdtype(np.asarray(leaf).dtype, jnp.floating) and not np.all(np.isfinite(leaf)):
            where = jax.tree_util.keystr(path).lstrip(".")
            raise InputError(f"the parameter {where} of {type(system).__name__} is not finite: {leaf}.")
