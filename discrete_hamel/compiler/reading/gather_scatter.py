"""Gather and scatter in NumPy: which entry of the operand each entry of a window is, as XLA defines it.

Each row of `indices` is where a window of the operand begins. A window that leaves the operand is moved into it, or is
nowhere, as the mode says; where the mode promises that there is none, XLA gathers what is moved and scatters nothing.
"""

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


def gather(p: dict, operand: np.ndarray, indices: np.ndarray, filling: float) -> np.ndarray:
    """The windows side by side, those outside the operand full of `filling`."""
    d, rank = p["dimension_numbers"], operand.ndim
    dropped = (*d.collapsed_slice_dims, *d.operand_batching_dims)
    batching, moved = (d.operand_batching_dims, d.start_indices_batching_dims), p["mode"] != Mode.FILL_OR_DROP
    at, inside = _windows(indices, operand.shape, list(p["slice_sizes"]), d.start_index_map, batching, moved)
    rows = inside.ndim
    found = np.where(inside.reshape(*inside.shape, *(1,) * rank), operand[at], filling)
    found = found.reshape([*inside.shape, *(n for k, n in enumerate(p["slice_sizes"]) if k not in dropped)])
    return np.moveaxis(found, range(rows, found.ndim), d.offset_dims)


def scatter_places(
    p: dict, shape: tuple[int, ...], indices: np.ndarray, updates: np.ndarray
) -> list[tuple[tuple, int]]:
    """Where in an operand of that shape each of the updates goes, in order; those that go nowhere are left out."""
    d = p["dimension_numbers"]
    dropped = (*d.inserted_window_dims, *d.operand_batching_dims)
    batching, moved = (d.operand_batching_dims, d.scatter_indices_batching_dims), p["mode"] == Mode.CLIP
    window = iter([updates.shape[k] for k in d.update_window_dims])
    sizes = [1 if axis in dropped else next(window) for axis in range(len(shape))]
    at, inside = _windows(indices, shape, sizes, d.scatter_dims_to_operand_dims, batching, moved)
    rows = inside.ndim
    ordered = np.moveaxis(updates, d.update_window_dims, range(rows, updates.ndim)).reshape(*inside.shape, *sizes)
    everywhere = np.broadcast_to(inside.reshape(*inside.shape, *(1,) * len(shape)), ordered.shape)
    places = zip(*(axis.ravel().tolist() for axis in at), strict=True)
    return [(place, u) for place, u, good in zip(places, ordered.flat, everywhere.flat, strict=True) if good]
