"""Primitives that only move data, on arrays of node indices.

The common ones are NumPy's; the others JAX runs itself, on the indices as integers.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Nodes = np.ndarray
AT_ONCE = 16  # updates whose places are asked for
NOWHERE = -1  # the index of what is gathered from outside an array


def _broadcast(p: dict, a: Nodes) -> Nodes:
    shape = [1] * len(p["shape"])
    for position, axis in enumerate(p["broadcast_dimensions"]):
        shape[axis] = a.shape[position]
    return np.broadcast_to(a.reshape(shape), p["shape"])


def _slice(p: dict, a: Nodes) -> Nodes:
    strides = p["strides"] or [1] * a.ndim
    return a[tuple(slice(*t) for t in zip(p["start_indices"], p["limit_indices"], strides, strict=True))]


def _pad(p: dict, a: Nodes, filling: Nodes) -> Nodes:
    sizes = [
        int(low + n + high + max(n - 1, 0) * gap)
        for (low, high, gap), n in zip(p["padding_config"], a.shape, strict=True)
    ]
    result = np.full([max(s, 0) for s in sizes], filling.item(), dtype=object)
    into, kept = [], []
    for (low, _, gap), n, size in zip(p["padding_config"], a.shape, sizes, strict=True):
        places = low + (gap + 1) * np.arange(n)
        inside = (places >= 0) & (places < size)
        into.append(places[inside].astype(int))
        kept.append(np.flatnonzero(inside))
    result[np.ix_(*into)] = a[np.ix_(*kept)]
    return result


def _unstack(p: dict, a: Nodes) -> list[Nodes]:
    moved = np.moveaxis(a, p["axis"], 0)
    return [moved[k, ...] for k in range(len(moved))]  # the dots keep what has no axes left an array


BY_NUMPY: dict[str, Callable] = {
    "broadcast_in_dim": _broadcast,
    "reshape": lambda p, a: a.reshape(p["new_sizes"]),
    "squeeze": lambda p, a: a.reshape([n for i, n in enumerate(a.shape) if i not in p["dimensions"]]),
    "transpose": lambda p, a: a.transpose(p["permutation"]),
    "stack": lambda p, *a: np.stack(a, axis=p["axis"]),
    "unstack": _unstack,
    "concatenate": lambda p, *a: np.concatenate(a, axis=p["dimension"]),
    "slice": _slice,
    "pad": _pad,
    "rev": lambda p, a: np.flip(a, p["dimensions"]),
    "split": lambda p, a: np.split(a, np.cumsum(p["sizes"])[:-1], axis=p["axis"]),
    "copy": lambda p, a: a,
    "copy_p": lambda p, a: a,
    "optimization_barrier": lambda p, *a: list(a),
}

# primitive -> positions of its index operands, which must not depend on the state
BY_JAX: dict[str, Callable[[int], tuple[int, ...]]] = {
    "gather": lambda count: (1,),
    "scatter": lambda count: (1,),
    "select_n": lambda count: (0,),
    "dynamic_slice": lambda count: tuple(range(1, count)),
    "dynamic_update_slice": lambda count: tuple(range(2, count)),
    "tile": lambda count: (),
}


def scatter_add(graph: Any, equation: Any, operand: Nodes, indices: Any, updates: Nodes) -> Nodes:
    """operand with updates added where JAX puts each of them."""
    result = operand.copy()
    numbers = np.arange(updates.size)
    for first in range(0, updates.size, AT_ONCE):
        only = jnp.asarray(numbers == np.minimum(first + np.arange(AT_ONCE), updates.size)[:, None], float)
        each = jax.vmap(
            lambda one: equation.primitive.bind(jnp.zeros(operand.shape), jnp.asarray(indices), one, **equation.params)
        )(only.reshape(AT_ONCE, *updates.shape))
        for k, *at in np.argwhere(np.asarray(each)):
            result[tuple(at)] = graph.add(result[tuple(at)], updates.flat[first + k])
    return result


def by_jax(graph: Any, equation: Any, operands: list[Any]) -> list[Nodes]:
    """A movement of `operands`: index arrays as numbers, the others as node arrays."""
    parameters = dict(equation.params)
    if equation.primitive.name == "gather":
        parameters["fill_value"] = NOWHERE
    arrays = [jnp.asarray(a.astype(np.int64)) if a.dtype == object else jnp.asarray(a) for a in operands]
    result = equation.primitive.bind(*arrays, **parameters)
    moved = [np.asarray(r).astype(object) for r in (result if equation.primitive.multiple_results else [result])]
    for array in moved:
        filling = equation.params.get("fill_value")
        array[array == NOWHERE] = graph.const(float("nan") if filling is None else filling)
    return moved
