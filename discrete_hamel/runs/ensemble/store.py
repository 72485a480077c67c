"""The store of an ensemble: one Zarr store, a chunk for each block of members, each written whole by whoever ran it."""

import errno
import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from discrete_hamel._support.errors import StoreBusy, StoreDamaged, StoreFailed
from discrete_hamel.runs.ensemble.batches import Task
from discrete_hamel.runs.ensemble.members import Members
from discrete_hamel.runs.ensemble.processes import Team
from discrete_hamel.runs.ensemble.reductions import code, kept
from discrete_hamel.runs.ensemble.results import Contents, told
from discrete_hamel.runs.storage import files, requests
from discrete_hamel.runs.storage.columns import Column
from discrete_hamel.runs.storage.lock import Lock
from discrete_hamel.runs.storage.manifest import described, differences, versions
from discrete_hamel.runs.storage.reading import METADATA, checksum, verified

KIND = "ensemble 1"
LOCK = "member/.lock"  # beside a label, where readers of Zarr do not look


def manifest(members: Members, task: Task, nodes: int, first_too: bool, reduction: Any, team: Team) -> dict[str, Any]:
    """What an ensemble is made from; what differs from member to member as a digest."""
    from discrete_hamel.runs.storage.manifest import manifest as of_a_run

    sample, q, xi = members.lead
    whole = of_a_run(sample, task.scheme, jnp.asarray(q), jnp.asarray(xi), task.h, task.every)
    equations = dict(whole["equations"])
    if reduction is not None:
        equations |= code(reduction, sample, q, xi)
    described_as = described(sample) or {}
    return whole | {
        "kind": KIND,
        "system": {"class": described_as["class"], "structure": described_as["structure"]},
        "start": _digests(members, team),
        "versions": versions(),
        "nodes": nodes,
        "first node too": first_too,
        "members": len(members),
        "block": members.place.size,
        "equations": equations,
        "keeps": sorted(kept(reduction, sample, q, xi) or ()),
    }


def _digests(members: Members, team: Team) -> dict[str, str]:
    """Digests of the parameters and data of all members, the same wherever their blocks are: sums over blocks."""
    leaves = jax.tree_util.tree_leaves_with_path((members.system, members.q, members.velocity))
    place, axes = members.place, (*members.axes, 0, 0)
    all_blocks = range(-(-len(members) // place.size))
    mine = place.own if place.own is not None else all_blocks if team.first else ()
    sums = []
    for (_, leaf), axis in zip(leaves, axes, strict=True):
        whole = np.asarray(leaf)
        if axis is None:
            sums.append(_digest(b"", whole) if team.first else 0)
        else:
            sums.append(sum(_digest(b"%d" % k, whole[place.slot(k)]) for k in mine))
    told = np.array([json.loads(words) for words in team.exchange("digests", json.dumps(sums))], object)
    names = [jax.tree_util.keystr(path).lstrip(".") for path, _ in leaves]
    return {name: f"{total % 2**64:016x}" for name, total in zip(names, told.sum(axis=0), strict=True)}


def _digest(before: bytes, rows: np.ndarray) -> int:
    return int.from_bytes(hashlib.sha256(before + np.ascontiguousarray(rows).tobytes()).digest()[:8], "big")


class Shards:
    """The store, made by the first process and written by all."""

    def __init__(
        self, path: Any, contents: Contents, made_from: dict[str, Any], members: int, resume: bool, team: Team
    ) -> None:
        self.path, self.contents, self.members = requests.place(path), contents, members
        self.size = next(iter(contents.columns.values())).chunk
        self.lock: Lock | None = None  # held by the first process for all of its launch
        if team.first:
            team.attempt(lambda: self._taken_up(made_from) if resume and self.path.exists() else self._made(made_from))
        else:
            team.await_first()

    def _made(self, made_from: dict[str, Any]) -> None:
        """A new store without any block."""
        if self.path.exists():
            raise FileExistsError(
                f"{self.path} exists already; go on with resume=True, save under another name, or remove it first."
            )
        place = self.path.parent / f".{self.path.name}.new-{os.getpid()}-{time.monotonic_ns()}"
        metadata: dict[str, Any] = {".zgroup": {"zarr_format": 2}, ".zattrs": {"discrete_hamel": json.dumps(made_from)}}
        beside = {"member": ("member", np.arange(self.members))} | self.contents.coordinates
        batch = files.Batch()
        try:
            place.mkdir(parents=True)
            for column in self.contents.columns.values():
                metadata |= column.metadata(self.members)
                (place / column.name).mkdir()
            for name, (dimension, values) in beside.items():
                label = Column(name, (dimension,), _stored(values).dtype, max(1, len(values)), ())
                metadata |= label.metadata(len(values))
                (place / name).mkdir()
                batch.put(label.file(place, 0), label.encoded(_stored(values)))
            metadata[".zattrs"]["checksum"] = checksum(metadata)
            for name, value in metadata.items():
                batch.put(place / name, [json.dumps(value).encode()])
            whole = json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}).encode()
            batch.put(place / METADATA, [whole])
            batch.finish()
            self._lock(place)
            os.rename(place, self.path)
            files.flushed(self.path.absolute().parent)
        except OSError as error:
            self.close()
            shutil.rmtree(place, ignore_errors=True)
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                raise StoreBusy(f"{self.path} has just been made by another launch.") from None
            raise type(error)(f"no store can be made at {self.path}: {error.strerror}.") from None

    def _taken_up(self, made_from: dict[str, Any]) -> None:
        """An existing store, if it is of the same ensemble."""
        stored = stored_manifest(self.path)
        if differing := differences(stored, json.loads(json.dumps(made_from))):
            raise ValueError(
                f"{self.path} was made by another ensemble (stored -> asked for): "
                + "; ".join(differing)
                + ". Give another store."
            )
        try:
            self._lock(self.path)
        except StoreBusy:
            raise
        except OSError:
            if self.missing():
                raise
            # A whole store may lie where nobody can write: it is only read.

    def _lock(self, place: Path) -> None:
        """One launch at a time, where the file system has locks; some of those that clusters share have none."""
        try:
            self.lock = Lock(place, self.path, LOCK)
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK):
                raise

    def close(self) -> None:
        """Let other launches write."""
        if self.lock is not None:
            self.lock.release()
            self.lock = None

    def missing(self) -> list[int]:
        """The blocks of which some chunk is not there, or damaged."""
        return [k for k in range(-(-self.members // self.size)) if not self._whole(k)]

    def _whole(self, number: int) -> bool:
        try:
            for column in self.contents.columns.values():
                column.decoded(self.path, number)
        except (StoreDamaged, OSError):
            return False
        return True

    def write(self, number: int, block: dict[str, np.ndarray]) -> None:
        """A block's chunks; each appears whole, and the block counts once all have."""
        batch = files.Batch()
        try:
            columns = dict(self.contents.columns)
            columns["finished"] = columns.pop("finished")  # appears last, for those who read meanwhile
            for name, column in columns.items():
                batch.put(column.file(self.path, number), column.encoded(block[name]))
            batch.finish()
        except OSError as error:
            batch.drop()
            raise StoreFailed(
                f"{self.path} cannot be written: {error.strerror}. Blocks that are in it are whole; make room, and go "
                "on with resume=True."
            ) from error

    def opened(self, attributes: dict[str, Any]) -> Any:
        """The result as xarray opens it, of which little is read before it is asked for."""
        import xarray

        stored = xarray.open_zarr(self.path, consolidated=True, chunks=None).drop_attrs(deep=False)
        return told(stored).assign_attrs(attributes)


def _stored(values: np.ndarray) -> np.ndarray:
    """As a store's label holds it."""
    return values.astype(values.dtype.newbyteorder("<"))


def stored_manifest(path: Path) -> dict[str, Any]:
    """What an ensemble's store says it was made from."""
    try:
        _, made_from = verified(path)
    except StoreDamaged:
        raise
    except (OSError, ValueError):
        raise ValueError(f"{path} is not the store of an ensemble.") from None
    if made_from.get("kind") != KIND:
        raise ValueError(f"{path} is the store of one run, not of an ensemble; dh.load reads it.")
    return made_from
