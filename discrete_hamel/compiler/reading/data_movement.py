"""Primitives that only move data, on arrays of node indices: all by NumPy, as JAX would compile each of them."""

from collections.abc import Callable
from functools import partial
from math import prod

import numpy as np
from jax.lax import GatherScatterMode as Mode

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.reading.gather_scatter import gather, scatter
from discrete_hamel.compiler.reading.primitive_rules import Value, as_nodes, elementwise, pick, symbolic

Nodes = np.ndarray
FEW = 1000  # numbers that are copied in a fifth of the time of `np.broadcast_to`


def _broadcast(p: dict, a: Nodes) -> Nodes:
    if a.size == prod(p["shape"]):
        return a.reshape(p["shape"])
    shape = [1] * len(p["shape"])
    for position, axis in enumerate(p["broadcast_dimensions"]):
        shape[axis] = a.shape[position]
    if prod(p["shape"]) > FEW:
        return np.broadcast_to(a.reshape(shape), p["shape"])
    whole = np.empty(p["shape"], a.dtype)
    whole[...] = a.reshape(shape)
    return whole


def _slice(p: dict, a: Nodes) -> Nodes:
    strides = p["strides"] or [1] * a.ndim
    return a[tuple(slice(*t) for t in zip(p["start_indices"], p["limit_indices"], strides, strict=True))]


def _pad(p: dict, a: Nodes, filling: Nodes) -> Nodes:
    sizes = [
        int(low + n + high + max(n - 1, 0) * gap)
        for (low, high, gap), n in zip(p["padding_config"], a.shape, strict=True)
    ]
    result = np.full([max(s, 0) for s in sizes], filling.item(), dtype=a.dtype)
    into, kept = [], []
    for (low, _, gap), n, size in zip(p["padding_config"], a.shape, sizes, strict=True):
        first = -(min(low, 0) // (gap + 1))  # what goes below the array, or beyond it, is left out
        end = max(first, min(n, -((low - size) // (gap + 1))))
        into.append(slice(low + first * (gap + 1), low + end * (gap + 1), gap + 1))
        kept.append(slice(first, end))
    result[tuple(into)] = a[tuple(kept)]
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
    "tile": lambda p, a: np.tile(a, p["reps"]),
    "rev": lambda p, a: np.flip(a, p["dimensions"]),
    "split": lambda p, a: np.split(a, np.cumsum(p["sizes"])[:-1], axis=p["axis"]),
    "copy": lambda p, a: a,
    "copy_p": lambda p, a: a,
    "optimization_barrier": lambda p, *a: list(a),
}


def _begin(shape: tuple[int, ...], sizes: tuple[int, ...], starts: tuple[Value, ...]) -> tuple[slice, ...]:
    """A window of some size in an array, moved into it where it would leave it."""
    begins = [min(max(int(s), 0), n - size) for s, n, size in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(b, b + size) for b, size in zip(begins, sizes, strict=True))


def _dynamic_slice(graph: Graph, p: dict, a: Nodes, *starts: Value) -> Nodes:
    return a[_begin(a.shape, p["slice_sizes"], starts)]


def _dynamic_update_slice(graph: Graph, p: dict, a: Nodes, update: Nodes, *starts: Value) -> Nodes:
    result = a.copy()
    result[_begin(a.shape, update.shape, starts)] = update
    return result


def _select(graph: Graph, p: dict, which: Value, *cases: Nodes) -> Nodes:
    which = np.broadcast_to(np.asarray(which).astype(int), cases[0].shape)
    return np.take_along_axis(np.stack(cases), which[None], axis=0)[0, ...]  # an array, if one of no axes


def _gather(graph: Graph, p: dict, a: Nodes, indices: Value) -> Nodes:
    filling = p.get("fill_value")
    return gather(p, a.shape, np.asarray(indices), graph.const(float("nan") if filling is None else filling))(a)


def _scatter(graph: Graph, p: dict, a: Nodes, indices: Value, updates: Nodes) -> Nodes:
    result = a.flatten()
    for k, place in scatter(p, a.shape, np.asarray(indices), updates.shape).in_turn():
        result[place] = updates.flat[k]
    return result.reshape(a.shape)


def _scatter_add(graph: Graph, p: dict, a: Nodes, indices: Value, updates: Nodes) -> Nodes:
    result = a.flatten()
    for k, place in scatter(p, a.shape, np.asarray(indices), updates.shape).in_turn():
        result[place] = graph.add(result[place], updates.flat[k])
    return result.reshape(a.shape)


def _window(graph: Graph, p: dict, a: Nodes, *starts: Value) -> Nodes:
    """A window that begins where the state says: one of all there are."""
    for i, start in enumerate(starts):
        if symbolic(start):
            places = range(a.shape[i] - p["slice_sizes"][i] + 1)
            cases = [_window(graph, p, a, *starts[:i], np.asarray(k), *starts[i + 1 :]) for k in places]
            return elementwise(partial(_in_reach, graph), np.broadcast_to(start, cases[0].shape), *cases)
    return _dynamic_slice(graph, p, a, *starts)


def _gather_by_state(graph: Graph, p: dict, a: Nodes, indices: Value) -> Nodes:
    """Entries of a table, along one axis, at places that the state says."""
    d = p["dimension_numbers"]
    if len(d.start_index_map) != 1:
        raise Unsupported("an index along several axes that depends on the state")
    (axis,) = d.start_index_map
    last = a.shape[axis] - p["slice_sizes"][axis]
    cases = [_gather(graph, p, a, np.full(indices.shape, k)) for k in range(last + 1)]
    at = np.broadcast_to(np.expand_dims(indices[..., 0], d.offset_dims), cases[0].shape)
    found = elementwise(partial(_in_reach, graph), at, *cases)
    if p["mode"] != Mode.FILL_OR_DROP:
        return found
    filling = graph.const(float("nan") if p.get("fill_value") is None else p["fill_value"])
    inside = elementwise(
        lambda k: graph.mul(graph.binary("ge", k, graph.const(0.0)), graph.binary("le", k, graph.const(float(last)))),
        at,
    )
    return elementwise(lambda truth, x: graph.select(truth, x, filling), inside, found)


def _in_reach(graph: Graph, which: int, *cases: int) -> int:
    """The case of a whole number, moved to where there is one."""
    if len(cases) == 1:
        return cases[0]
    return pick(graph, graph.binary("ge", which, graph.const(1.0)) if len(cases) == 2 else which, cases)


def _scatter_add_by_state(graph: Graph, p: dict, a: Nodes, indices: Value, updates: Value) -> Nodes:
    """Each update at every place where it may go, if that is where the state says."""
    d, updates = p["dimension_numbers"], as_nodes(graph, updates)
    if len(d.scatter_dims_to_operand_dims) != 1 or p["mode"] == Mode.CLIP:
        raise Unsupported("a sum at an index that depends on the state, along several axes or moved into the array")
    which = np.broadcast_to(np.expand_dims(indices[..., 0], d.update_window_dims), updates.shape).ravel()
    result = a.flatten()
    for k in range(a.shape[d.scatter_dims_to_operand_dims[0]]):
        for n, place in scatter(p, a.shape, np.full(indices.shape, k), updates.shape).in_turn():
            here = graph.binary("eq", which[n], graph.const(float(k)))
            result[place] = graph.add(result[place], graph.select(here, updates.flat[n], graph.const(0.0)))
    return result.reshape(a.shape)


BY_STATE: dict[str, Callable] = {
    "gather": _gather_by_state,
    "dynamic_slice": _window,
    "scatter-add": _scatter_add_by_state,
}

# Movements by indices, which must not depend on the state: primitive -> what it does, where its index operands begin
# and end.
BY_INDEX: dict[str, tuple[Callable, slice]] = {
    "gather": (_gather, slice(1, 2)),
    "scatter": (_scatter, slice(1, 2)),
    "scatter-add": (_scatter_add, slice(1, 2)),
    "select_n": (_select, slice(0, 1)),
    "dynamic_slice": (_dynamic_slice, slice(1, None)),
    "dynamic_update_slice": (_dynamic_update_slice, slice(2, None)),
}
