"""The arrays of a store that grow together: full chunks leave for the disk, the last one is kept until it is full."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from discrete_hamel._support.errors import StoreDamaged
from discrete_hamel.runs.storage.atomic_files import WriteBatch
from discrete_hamel.runs.storage.column import Column
from discrete_hamel.runs.storage.reading import Contents

Derived = Callable[[dict[str, np.ndarray], int], dict[str, np.ndarray]]


class Table:
    """Columns with one growing dimension; `derived` makes the rows of those that are not `given`."""

    def __init__(self, columns: list[Column], given: tuple[str, ...] = (), derived: Derived | None = None) -> None:
        self.columns = {column.name: column for column in columns}
        self.given, self.derived = given or tuple(self.columns), derived
        self.chunk = columns[0].chunk if columns else 1
        self.rows = 0  # all
        self.begin = 0  # of the rows that are kept here: where their chunk begins
        self.kept: dict[str, np.ndarray] = {}
        self.changed = False

    def extend(self, given: dict[str, np.ndarray]) -> None:
        """Append rows."""
        count = len(next(iter(given.values())))
        if not count or not self.columns:
            return
        parts = {name: [self.kept[name], rows] if name in self.kept else [rows] for name, rows in given.items()}
        self.kept = {name: np.concatenate([np.asarray(a) for a in arrays]) for name, arrays in parts.items()}
        self.rows += count
        self.changed = True

    def full(self) -> int:
        """How many chunks are kept that will not change any more."""
        return (self.rows - self.begin) // self.chunk

    def write(self, store: Path, batch: WriteBatch, *, also_partial: bool) -> None:
        """Write full chunks, which then are forgotten here, and if asked for what there is of the last one."""
        for _ in range(self.full()):
            self._write_first(store, batch)
            self.kept = {name: rows[self.chunk :] for name, rows in self.kept.items()}
            self.begin += self.chunk
            self.changed = self.rows > self.begin
        if also_partial and self.changed and self.rows > self.begin:
            self._write_first(store, batch)
            self.changed = False

    def _write_first(self, store: Path, batch: WriteBatch) -> None:
        rows = {name: kept[: self.chunk] for name, kept in self.kept.items()}
        if self.derived is not None:
            rows |= self.derived(rows, self.chunk)
        for name, column in self.columns.items():
            batch.put(column.file(store, self.begin // self.chunk), column.encode(rows[name]))

    def reopen(self, store: Path, contents: Contents) -> None:
        """Go on after the stored rows: those of a last chunk that is not full are read."""
        for name in self.columns:
            if (store / name).is_symlink() or not (store / name).is_dir():
                raise StoreDamaged(f"{store / name} is no folder of the store's own, so nothing is written there.")
        self.rows = min((len(contents.arrays[name]) for name in self.columns), default=0)
        self.begin = self.rows - self.rows % self.chunk
        if self.rows > self.begin:
            number, count = self.begin // self.chunk, self.rows - self.begin
            self.kept = {name: self.columns[name].decode(store, number)[:count] for name in self.given}
