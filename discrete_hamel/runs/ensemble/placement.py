"""Where the data of an ensemble's members lie: all of them on each host, or sharded over the devices of all.

Sharded data stay where they are, but for what has to move so that each process has whole blocks; results that are not
stored come back sharded as the data were.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.native.lanes import LANES
from discrete_hamel.runs.ensemble.ensemble_result import EnsembleLayout
from discrete_hamel.runs.ensemble.shared_blocks import Blocks, together


class Placement(Protocol):
    """Which rows of the members' data this process has, and how blocks of them become arrays of all members."""

    members: int
    size: int  # members a block
    own: Sequence[int] | None  # the blocks whose data are here; None: all

    def rows(self, array: Array) -> np.ndarray:
        """Of an array over members, the rows that are here."""

    def few(self, arrays: Sequence[Array | np.ndarray], most: int) -> list[np.ndarray]:
        """Rows of the first members all of whose numbers are finite, and of the first member: the same everywhere."""

    def slot(self, number: int) -> slice:
        """Where a block lies in the rows that are here."""

    def together(self, contents: EnsembleLayout, results: Blocks) -> Mapping[str, Array | np.ndarray]:
        """The arrays of all members."""


def is_sharded(array: object) -> bool:
    """Whether no single device has all of an array."""
    return isinstance(array, jax.Array) and not array.is_fully_replicated


def placement(arrays: Sequence[Array], members: int, block: int) -> Placement:
    """Where the members are, who are in blocks of `block` at most."""
    size = min(block, -(-members // LANES) * LANES)
    if sharded := [array for array in arrays if is_sharded(array)]:
        return Sharded(sharded, members, size)
    return Whole(members, size)


class Whole:
    """All data are here."""

    def __init__(self, members: int, size: int) -> None:
        self.members, self.size = members, size
        self.own: Sequence[int] | None = None

    def rows(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def few(self, arrays: Sequence[Array | np.ndarray], most: int) -> list[np.ndarray]:
        finite = np.all([np.isfinite(a).reshape(self.members, -1).all(axis=1) for a in arrays], axis=0)
        who = [*np.flatnonzero(finite)[:most].tolist(), 0]
        return [np.asarray(a)[np.array(who)] for a in arrays]

    def slot(self, number: int) -> slice:
        return slice(number * self.size, min((number + 1) * self.size, self.members))

    def together(self, contents: EnsembleLayout, results: Blocks) -> Mapping[str, Array | np.ndarray]:
        return together(contents, results, self.members)


class Sharded:
    """Data on the devices of a mesh, here as blocks in the order of its devices, as many on each.

    The last blocks are filled up with copies of the last member, which nobody runs.
    """

    def __init__(self, arrays: Sequence[jax.Array], members: int, size: int) -> None:
        self.given, mesh = _sharding(arrays)
        self.members, self.size = members, size
        self.all = mesh.size * math.ceil(members / size / mesh.size)  # blocks, those that only fill up included
        self.sharding = NamedSharding(Mesh(mesh.devices.ravel(), ("blocks",)), PartitionSpec("blocks"))
        held = self.sharding.addressable_devices_indices_map((self.all,)).values()
        self.numbers = sorted(k for index in held if index for k in range(self.all)[index[0]])
        self.own: Sequence[int] | None = [k for k in self.numbers if k * size < members]

    def rows(self, array: Array) -> np.ndarray:
        if not is_sharded(array):
            who = (np.array(self.numbers)[:, None] * self.size + np.arange(self.size)).ravel()
            return np.asarray(array)[np.minimum(who, self.members - 1)]
        blocks = jax.jit(self._in_blocks, out_shardings=self.sharding)(_with_auto_axes(array))
        parts = {shard.index[0].start or 0: np.asarray(shard.data) for shard in blocks.addressable_shards}
        return np.concatenate([rows for _, part in sorted(parts.items()) for rows in part])

    def _in_blocks(self, a: jax.Array) -> jax.Array:
        filled = jnp.pad(a, ((0, self.all * self.size - self.members), *((0, 0),) * (a.ndim - 1)), mode="edge")
        return filled.reshape(self.all, self.size, *a.shape[1:])

    def few(self, arrays: Sequence[Array | np.ndarray], most: int) -> list[np.ndarray]:
        everywhere = NamedSharding(self.sharding.mesh, PartitionSpec())

        @partial(jax.jit, out_shardings=everywhere)
        def first(arrays: list[Array]) -> list[Array]:
            finite = jnp.array([jnp.isfinite(a).reshape(self.members, -1).all(axis=1) for a in arrays]).all(axis=0)
            who = jnp.nonzero(finite, size=most, fill_value=0)[0]
            return [jnp.asarray(a)[jnp.append(who, 0)] for a in arrays]

        return [np.asarray(a) for a in first([_with_auto_axes(a) for a in arrays])]  # type: ignore[arg-type]

    def slot(self, number: int) -> slice:
        begin = self.numbers.index(number) * self.size
        return slice(begin, begin + min(self.size, self.members - number * self.size))

    def together(self, contents: EnsembleLayout, results: Blocks) -> Mapping[str, Array | np.ndarray]:
        whole = {}
        for name, column in contents.columns.items():
            local = np.zeros((len(self.numbers), self.size, *column.shape), column.dtype)
            for number, arrays in results.items():
                local[self.numbers.index(number), : len(arrays[name])] = arrays[name]

            def piece(index: tuple[slice, ...], local: np.ndarray = local) -> np.ndarray:
                begin, end, _ = index[0].indices(self.all)
                return local[[self.numbers.index(k) for k in range(begin, end)]]

            blocks = jax.make_array_from_callback((self.all, *local.shape[1:]), self.sharding, piece)  # type: ignore[arg-type]
            members = jax.jit(self._of_members, out_shardings=_auto(self.given))(blocks)
            whole[name] = _on(self.given, members)
        return whole

    def _of_members(self, blocks: jax.Array) -> jax.Array:
        return blocks.reshape(-1, *blocks.shape[2:])[: self.members]


def _auto(sharding: NamedSharding) -> NamedSharding:
    """The same over a mesh whose axes leave it to the compiler how what is computed is sharded."""
    return NamedSharding(Mesh(sharding.mesh.devices, sharding.mesh.axis_names), sharding.spec)


def _on(sharding: NamedSharding, array: jax.Array) -> jax.Array:
    """An array whose pieces lie where this sharding has them, as one of this sharding."""
    pieces = [shard.data for shard in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(array.shape, sharding, pieces)


def _with_auto_axes(array: Array) -> Array:
    return _on(_auto(array.sharding), array) if is_sharded(array) else array  # type: ignore[arg-type]


def _sharding(arrays: Sequence[Array]) -> tuple[NamedSharding, Mesh]:
    """How results are sharded, over members alone, and the mesh; or a sentence."""
    for array in arrays:
        sharding = array.sharding
        if not isinstance(sharding, NamedSharding) or not sharding.spec or sharding.spec[0] is None:
            raise InputError(
                f"data of an ensemble are sharded over members, their first axis; got {sharding}. Put them there with "
                'jax.device_put(array, NamedSharding(mesh, PartitionSpec("members"))).'
            )
        if list(sharding.mesh.devices.flat) != list(arrays[0].sharding.mesh.devices.flat):  # type: ignore[attr-defined]
            raise InputError("data of an ensemble are sharded over one mesh; these have several, of other devices.")
    mesh = arrays[0].sharding.mesh  # type: ignore[attr-defined]
    there, count = len({device.process_index for device in mesh.devices.flat}), jax.process_count()
    if there != count:
        raise InputError(
            f"the mesh of an ensemble's data has devices of {there} of the {count} processes, which all take "
            "part; make it of all jax.devices()."
        )
    return NamedSharding(mesh, PartitionSpec(arrays[0].sharding.spec[0])), mesh  # type: ignore[attr-defined]
