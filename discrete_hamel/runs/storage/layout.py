"""Which arrays a store holds of a run: at its nodes, on its intervals, and the names of coordinates and velocities."""

from functools import partial

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.storage.column import Column, array_name
from discrete_hamel.runs.trajectory import invariants_at

LONGEST, SHORTEST = 1 << 14, 1 << 10  # rows of a chunk
NUMBERS = 1 << 20  # of q in a chunk at most: with many coordinates it has fewer rows
RUN = ("time", "q", "p", "xi")  # what the run itself gives at nodes; all else there is made of q and xi
INTERVAL = {"xi_mid", "converged", "iterations", "residual"}
LABELS = {"coordinate", "velocity", "momentum", "interval"}
RESERVED = {*RUN, "v", *INTERVAL, *LABELS}  # no invariant's name
Shaped = jax.Array | jax.ShapeDtypeStruct


def chunk_of(nodes: int, coordinates: int) -> int:
    """Rows of a chunk, a power of two, for a run of so many nodes: files neither tiny nor of many megabytes."""
    rows = min(LONGEST, max(SHORTEST, 1 << (nodes - 1).bit_length()))
    widest = NUMBERS // max(1, coordinates)
    return min(rows, 1 << max(0, widest.bit_length() - 1))


def _at_node(system: System, q: Array, xi: Array) -> dict[str, Array]:
    invariants = invariants_at(system, q, xi)
    if taken := set(invariants) & RESERVED:
        raise InputError(f"the invariant {taken.pop()!r} has the name of another array; give it a different name.")
    return {"v": hamel.velocities(system, q, xi)} | invariants


@jax.jit
def _at_nodes(system: System, q: Array, xi: Array) -> dict[str, Array]:
    return jax.vmap(partial(_at_node, system))(q, xi)


def derive(system: System, q: np.ndarray, xi: np.ndarray, length: int) -> dict[str, np.ndarray]:
    """v, the energy and the invariants at the nodes of a chunk, always as one of `length` nodes: so their last bits do
    not depend on how many of these are there yet.
    """
    count = len(q)
    full = (np.pad(a, ((0, length - count), (0, 0)), mode="edge") for a in (q, xi))
    return {name: np.asarray(values)[:count] for name, values in _at_nodes(system, *full).items()}


def node_columns(system: System, q: Shaped, p: Shaped, xi: Shaped, chunk: int) -> list[Column]:
    """The arrays along `time`."""
    dimensions = {"time": (), "q": ("coordinate",), "p": ("momentum",), "xi": ("velocity",), "v": ("coordinate",)}
    like: dict[str, Shaped] = {"time": jax.ShapeDtypeStruct((), q.dtype), "q": q, "p": p, "xi": xi}
    like |= jax.eval_shape(_at_node, system, q, xi)
    return [
        Column(
            array_name(name),
            ("time", *dimensions.get(name, tuple(f"{name} {axis + 1}" for axis in range(len(leaf.shape))))),
            np.dtype(leaf.dtype).newbyteorder("<"),
            chunk,
            tuple(leaf.shape),
        )
        for name, leaf in like.items()
    ]


def interval_columns(xi: Array, chunk: int) -> list[Column]:
    """The arrays along `interval`: xi_mid and the report."""
    floats = np.dtype(xi.dtype).newbyteorder("<")
    return [
        Column("xi_mid", ("interval", "velocity"), floats, chunk, tuple(xi.shape)),
        Column("converged", ("interval",), np.dtype("|b1"), chunk, ()),
        Column("iterations", ("interval",), np.dtype("<i8"), chunk, ()),
        Column("residual", ("interval",), floats, chunk, ()),
    ]


def labels(system: System, coordinates: int, velocities: int, momenta: int) -> dict[str, np.ndarray]:
    """Names along `coordinate`, `velocity` and `momentum`."""
    of_xi = names(system.velocities, "xi", velocities)
    lists = {
        "coordinate": names(system.coordinates, "q", coordinates),
        "velocity": of_xi,
        "momentum": of_xi[:momenta],
    }
    return {name: np.array(values, dtype="<U") for name, values in lists.items()}


def names(given: tuple[str, ...], letter: str, count: int) -> list[str]:
    """The names that a system gives, and numbered letters where it gives none."""
    return [given[i] if i < len(given) else f"{letter}{i}" for i in range(count)]
