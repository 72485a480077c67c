"""The store of an ensemble: one Zarr store, a chunk for each block of members, each written whole by whoever ran it."""

import errno
import hashlib
import json
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from discrete_hamel._support.arrays import PathLike
from discrete_hamel._support.errors import InputError, StoreDamaged, StoreFailed
from discrete_hamel.runs.ensemble import block_claims, shared_blocks
from discrete_hamel.runs.ensemble.batch import Task
from discrete_hamel.runs.ensemble.ensemble_members import Members
from discrete_hamel.runs.ensemble.ensemble_result import EnsembleLayout, with_reasons
from discrete_hamel.runs.ensemble.reduction import Reduction, code, kept_shapes
from discrete_hamel.runs.storage import atomic_files, store_options
from discrete_hamel.runs.storage.column import Column
from discrete_hamel.runs.storage.manifest import describe, differences, versions
from discrete_hamel.runs.storage.optional import xarray_module
from discrete_hamel.runs.storage.reading import METADATA, checksum, verify
from discrete_hamel.runs.storage.schema import Metadata

if TYPE_CHECKING:
    from xarray import Dataset

KIND = "ensemble 1"


def manifest(
    members: Members, task: Task, nodes: int, first_too: bool, reduction: Reduction | None
) -> dict[str, object]:
    """What an ensemble is made from; what differs from member to member as a digest."""
    from discrete_hamel.runs.storage.manifest import manifest as of_a_run

    sample, q, xi = members.lead
    whole = of_a_run(sample, task.scheme, jnp.asarray(q), jnp.asarray(xi), task.h, task.every)
    equations = dict(whole["equations"])
    if reduction is not None:
        equations |= code(reduction, sample, q, xi)
    described_as = describe(sample)
    return whole | {
        "kind": KIND,
        "system": {"class": described_as["class"], "structure": described_as["structure"]},
        "start": _digests(members),
        "versions": versions(),
        "nodes": nodes,
        "first node too": first_too,
        "members": len(members),
        "block": members.place.size,
        "equations": equations,
        "keeps": sorted(kept_shapes(reduction, sample, q, xi) or ()),
    }


def _digests(members: Members) -> dict[str, str]:
    """Digests of the parameters and data of all members, the same wherever their blocks are: sums over blocks."""
    leaves = jax.tree_util.tree_leaves_with_path((members.system, members.q, members.velocity))
    place, axes = members.place, (*members.axes, 0, 0)
    here = range(-(-len(members) // place.size)) if place.own is None else place.own
    arrays = [np.asarray(leaf) for _, leaf in leaves]
    of_all = [
        0 if axis is None else sum(_digest(b"%d" % k, array[place.slot(k)]) for k in here)
        for array, axis in zip(arrays, axes, strict=True)
    ]
    sums = np.array([total % 2**64 for total in of_all], np.uint64)
    if place.own is not None:
        sums = shared_blocks.sum_over_processes(sums)
    sums += np.array(
        [_digest(b"", array) if axis is None else 0 for array, axis in zip(arrays, axes, strict=True)], np.uint64
    )
    names = [jax.tree_util.keystr(path).lstrip(".") for path, _ in leaves]
    return {name: f"{total:016x}" for name, total in zip(names, sums, strict=True)}


def _digest(before: bytes, rows: np.ndarray) -> int:
    return int.from_bytes(hashlib.sha256(before + np.ascontiguousarray(rows).tobytes()).digest()[:8], "big")


class Shards:
    """The store: made by whoever comes first, written by all who work on it."""

    def __init__(self, path: PathLike, contents: EnsembleLayout, made_from: dict[str, object], members: int) -> None:
        self.path, self.contents, self.members = store_options.place(path), contents, members
        self.size = next(iter(contents.columns.values())).chunk
        self.first = not self.path.exists() and self._made(made_from)
        if not self.first:
            self._refuse_another(made_from)

    def _made(self, made_from: dict[str, object]) -> bool:
        """A new store without any block; False if another process was faster."""
        place = self.path.parent / f".{self.path.name}.new-{secrets.token_hex(8)}"
        metadata: Metadata = {".zgroup": {"zarr_format": 2}, ".zattrs": {"discrete_hamel": json.dumps(made_from)}}
        beside = {"member": ("member", np.arange(self.members))} | self.contents.coordinates
        batch = atomic_files.WriteBatch()
        try:
            place.mkdir(parents=True)
            for column in self.contents.columns.values():
                metadata |= column.metadata(self.members)
                (place / column.name).mkdir()
            for name, (dimension, values) in beside.items():
                label = Column(name, (dimension,), _little_endian(values).dtype, max(1, len(values)), ())
                metadata |= label.metadata(len(values))
                (place / name).mkdir()
                batch.put(label.file(place, 0), label.encode(_little_endian(values)))
            metadata[".zattrs"]["checksum"] = checksum(metadata)
            for name, value in metadata.items():
                batch.put(place / name, [json.dumps(value).encode()])
            whole = json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}).encode()
            batch.put(place / METADATA, [whole])
            batch.finish()
            os.rename(place, self.path)
            atomic_files.flush(self.path.absolute().parent)
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                return False
            raise type(error)(f"no store can be made at {self.path}: {error.strerror}.") from None
        return True

    def _refuse_another(self, made_from: dict[str, object]) -> None:
        """All who work on a store run the same thing: what it was made from decides."""
        if differing := differences(stored_manifest(self.path), json.loads(json.dumps(made_from))):
            raise InputError(
                f"{self.path} was made by another ensemble (stored -> asked for): "
                + "; ".join(differing)
                + ". Give another store."
            )

    def has(self, number: int) -> bool:
        """Whether all chunks of a block are there and undamaged."""
        try:
            for column in self.contents.columns.values():
                column.decode(self.path, number)
        except (StoreDamaged, OSError):
            return False
        return True

    def write(self, number: int, block: dict[str, np.ndarray]) -> None:
        """A block's chunks; each appears whole, and the block counts once all have."""
        batch = atomic_files.WriteBatch(
            secrets.token_hex(4)
        )  # another process may write the same block, if our claim was void
        try:
            columns = dict(self.contents.columns)
            columns["finished"] = columns.pop("finished")  # appears last, for those who read meanwhile
            for name, column in columns.items():
                batch.put(column.file(self.path, number), column.encode(block[name]))
            batch.finish()
        except OSError as error:
            batch.drop()
            if isinstance(error, FileNotFoundError) and self.has(number):
                return  # another process has written it, and `clear` taken ours for what a dead one left
            raise StoreFailed(
                f"{self.path} cannot be written: {error.strerror}. Blocks that are in it are whole; make room, and the "
                "same call goes on."
            ) from error

    def clear(self) -> None:
        """Of a store that has all blocks, remove what the dead have left: claims, and chunks half written."""
        with suppress(OSError):  # nobody has died, or whoever looks may not write
            if left := list((self.path / block_claims.PLACE).iterdir()):
                for name in self.contents.columns:
                    left += (self.path / name).glob(f"*{atomic_files.PART}")
            for path in left:
                path.unlink(missing_ok=True)

    def open_result(self, attributes: dict[str, object]) -> "Dataset":
        """The result as xarray opens it, of which little is read before it is asked for."""
        stored = xarray_module().open_zarr(self.path, consolidated=True, chunks=None).drop_attrs(deep=False)
        return with_reasons(stored).assign_attrs(attributes)


def _little_endian(values: np.ndarray) -> np.ndarray:
    """As a store's label holds it."""
    return values.astype(values.dtype.newbyteorder("<"))


def stored_manifest(path: Path) -> dict[str, object]:
    """What an ensemble's store says it was made from."""
    try:
        _, made_from = verify(path)
    except StoreDamaged:
        raise
    except (OSError, ValueError):
        raise InputError(f"{path} is not the store of an ensemble.") from None
    if made_from.get("kind") != KIND:
        raise InputError(f"{path} is the store of one run, not of an ensemble; dh.load reads it.")
    return made_from
