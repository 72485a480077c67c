"""The writer's side of a store: tables that grow, and checkpoints, each finished by one atomic replacement."""

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from discrete_hamel.runs.storage import atomic_files
from discrete_hamel.runs.storage.column import Column
from discrete_hamel.runs.storage.lock import Lock
from discrete_hamel.runs.storage.reading import METADATA, Contents, checksum
from discrete_hamel.runs.storage.schema import Metadata
from discrete_hamel.runs.storage.table import Table


class Growing:
    """A store open for writing, with its lock; a new one has its place beside `path` until its first checkpoint."""

    def __init__(self, path: Path, nodes: Table, intervals: Table, labels: dict[str, np.ndarray]) -> None:
        self.path, self.place = path, new_place(path)
        try:
            self.lock = Lock(self.place, path)
        except OSError:
            shutil.rmtree(self.place, ignore_errors=True)
            raise
        self.nodes, self.intervals, self.labels = nodes, intervals, labels
        self.batch = atomic_files.WriteBatch()

    @classmethod
    def reopen(cls, contents: Contents, lock: Lock, nodes: Table, intervals: Table) -> "Growing":
        """The writer of a store that exists, whose last chunks are read if they are not full."""
        self = object.__new__(cls)
        self.path = self.place = contents.path
        self.lock, self.nodes, self.intervals = lock, nodes, intervals
        along = ("coordinate", "velocity", "momentum")
        self.labels = {name: np.asarray(contents.arrays[name]) for name in along if name in contents.arrays}
        self.batch = atomic_files.WriteBatch()
        for table in (nodes, intervals):
            table.reopen(self.place, contents)
        return self

    @property
    def waiting(self) -> int:
        """Files that a checkpoint will make appear."""
        return len(self.batch.waiting)

    def write_full(self) -> None:
        """Write the chunks that are full, so that memory does not grow; they appear with the next checkpoint."""
        for table in (self.nodes, self.intervals):
            table.write(self.place, self.batch, also_partial=False)

    def checkpoint(self, told: Mapping[str, object]) -> None:
        """Chunks first; last, in one replacement, the file that says how many rows there are and how to go on."""
        new = self.place != self.path
        if new:
            self._write_labels()
        for table in (self.nodes, self.intervals):
            table.write(self.place, self.batch, also_partial=True)
        self.batch.finish()
        metadata = self._metadata(told)
        metadata[".zattrs"]["checksum"] = checksum(metadata)
        whole = json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}).encode()
        atomic_files.write(self.place / METADATA, whole, aside=self.place / "time")
        if new:
            self.each_metadata(told)
            os.rename(self.place, self.path)
            atomic_files.flush(self.path.absolute().parent)
            self.place = self.path

    def each_metadata(self, told: Mapping[str, object]) -> None:
        """The same array by array, for readers that do not look at the one file: true while nobody writes."""
        for name, value in self._metadata(told).items():
            of_the_whole = "/" not in name
            self.batch.put(
                self.place / name, [json.dumps(value).encode()], aside=self.place / "time" if of_the_whole else None
            )
        self.batch.finish()

    def close(self) -> None:
        """Let others write; a store that never had a checkpoint disappears."""
        self.batch.drop()
        self.lock.release()
        if self.place != self.path:
            shutil.rmtree(self.place, ignore_errors=True)

    def _columns(self) -> list[tuple[Column, int]]:
        tables = (self.nodes, self.intervals)
        growing = [(column, table.rows) for table in tables for column in table.columns.values()]
        return growing + [(_label(name, values), len(values)) for name, values in self.labels.items()]

    def _metadata(self, told: Mapping[str, object]) -> Metadata:
        metadata: Metadata = {".zgroup": {"zarr_format": 2}, ".zattrs": {"discrete_hamel": json.dumps(told)}}
        for column, rows in self._columns():
            metadata |= column.metadata(rows)
        return metadata

    def _write_labels(self) -> None:
        for column, _ in self._columns():
            (self.place / column.name).mkdir(exist_ok=True)
        for name, values in self.labels.items():
            column = _label(name, values)
            self.batch.put(column.file(self.place, 0), column.encode(values))


def _label(name: str, values: np.ndarray) -> Column:
    return Column(name, (name,), values.dtype, max(1, len(values)), ())


def new_place(path: Path) -> Path:
    """A new folder beside `path`; what a process that died left of one is removed."""
    for old in path.parent.glob(f".{path.name}.new-*"):
        try:
            Lock(old, path).release()
        except OSError:
            continue  # in use
        shutil.rmtree(old, ignore_errors=True)
    place = path.parent / f".{path.name}.new-{os.getpid()}-{time.monotonic_ns()}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir()
    except OSError as error:
        raise type(error)(f"no store can be made at {path}: {error.strerror}.") from None
    return place
