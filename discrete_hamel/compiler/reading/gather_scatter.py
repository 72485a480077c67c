"""Gather and scatter in NumPy: which entry of the operand each entry of a window is, as XLA defines it.

Each row of `indices` is where a window of the operand begins. A window that leaves the operand is moved into it, or is
nowhere, as the mode says; where the mode promises that there is none, XLA gathers what is moved and scatters nothing.
"""

from collections.abc import Callable, Iterator
from math import prod
from typing import NamedTuple

import numpy as np
from jax.lax import GatherScatterMode as Mode


class Windows(NamedTuple):
    """The places of all windows' entries, one integer array an axis of the operand, of shape (*rows, *window); and
    which rows' windows are in the operand."""

    at: tuple[np.ndarray, ...]
    inside: np.ndarray


def _windows(
    indices: np.ndarray,
    shape: tuple[int, ...],
    sizes: list[int],
    targets: tuple[int, ...],
    batching: tuple[tuple[int, ...], tuple[int, ...]],
    moved: bool,
) -> Windows:
    """`targets` are the operand's axes that a row's numbers are along; `batching`, axes shared with the rows'."""
    rows = indices.shape[:-1]
    starts = np.zeros((*rows, len(shape)), int)
    starts[..., list(targets)] = indices
    for axis, row_axis in zip(*batching, strict=True):
        along = [-1 if k == row_axis else 1 for k in range(len(rows))]
        starts[..., axis] = np.arange(rows[row_axis]).reshape(along)
    last = np.array(shape) - sizes
    inside = np.all((starts >= 0) & (starts <= last), axis=-1)
    if moved:
        inside = np.ones_like(inside)
    starts = np.clip(starts, 0, last)
    starts, offsets = starts.reshape(*rows, *(1,) * len(sizes), len(sizes)), np.indices(sizes)
    return Windows(tuple(starts[..., axis] + offsets[axis] for axis in range(len(shape))), inside)


def gather(p: dict, shape: tuple[int, ...], indices: np.ndarray, filling: float) -> Callable[[np.ndarray], np.ndarray]:
    """Of an operand of that shape the windows side by side, those outside of it full of `filling`."""
    d, rank = p["dimension_numbers"], len(shape)
    dropped = (*d.collapsed_slice_dims, *d.operand_batching_dims)
    batching, moved = (d.operand_batching_dims, d.start_indices_batching_dims), p["mode"] != Mode.FILL_OR_DROP
    at, inside = _windows(indices, shape, list(p["slice_sizes"]), d.start_index_map, batching, moved)
    rows = inside.ndim
    window = [n for k, n in enumerate(p["slice_sizes"]) if k not in dropped]

    def in_order(entries: np.ndarray) -> np.ndarray:
        entries = entries.reshape([*inside.shape, *window])
        return np.moveaxis(entries, range(rows, entries.ndim), d.offset_dims)

    places = in_order(_flat(at, shape))
    flat, form = places.ravel(), places.shape  # the place of one entry would take a number, and no array
    if inside.all():
        return lambda operand: operand.take(flat).reshape(form)
    good = in_order(np.broadcast_to(inside.reshape([*inside.shape, *(1,) * rank]), at[0].shape))
    return lambda operand: np.where(good, operand.take(flat).reshape(form), filling)


def _flat(at: tuple[np.ndarray, ...], shape: tuple[int, ...]) -> np.ndarray:
    """Places by an integer an axis as those in the array laid out flat."""
    places = np.zeros((), int)
    for axis, n in zip(at, shape, strict=True):
        places = places * n + axis
    return places


class Scatter(NamedTuple):
    """Where updates go: from which of theirs to which place of the operand, both laid out flat, in order."""

    taken: np.ndarray
    into: np.ndarray

    def in_turn(self) -> Iterator[tuple[int, int]]:
        return zip(self.taken.tolist(), self.into.tolist(), strict=True)


def scatter(p: dict, shape: tuple[int, ...], indices: np.ndarray, updates: tuple[int, ...]) -> Scatter:
    """Of updates of that shape, into an operand of the other; those that go nowhere are left out."""
    d = p["dimension_numbers"]
    dropped = (*d.inserted_window_dims, *d.operand_batching_dims)
    batching, moved = (d.operand_batching_dims, d.scatter_indices_batching_dims), p["mode"] == Mode.CLIP
    window = iter([updates[k] for k in d.update_window_dims])
    sizes = [1 if axis in dropped else next(window) for axis in range(len(shape))]
    at, inside = _windows(indices, shape, sizes, d.scatter_dims_to_operand_dims, batching, moved)
    rows = inside.ndim
    every = np.arange(prod(updates)).reshape(updates)
    ordered = np.moveaxis(every, d.update_window_dims, range(rows, len(updates))).reshape([*inside.shape, *sizes])
    good = np.broadcast_to(inside.reshape([*inside.shape, *(1,) * len(shape)]), ordered.shape)
    return Scatter(ordered[good], _flat(at, shape)[good])
