"""One growing Zarr array: rows in chunks of equal length, each a file with its checksum, and reading them lazily."""

import math
import re
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError, StoreDamaged
from discrete_hamel.runs.storage import atomic_files
from discrete_hamel.runs.storage.schema import Metadata

NAME = re.compile(r"[^\W.][^/\\\x00-\x1f]*")  # no way out of the store, and nothing hidden
MISSING = {"f": "NaN"}  # what others show where a chunk is missing; for whole numbers xarray would take it as a mark
TYPE = re.compile(r"\|b1|<[fi][48]|<U\d{1,4}")
LARGEST = 1 << 62  # bytes: what is beyond no index can reach
CHECK = [{"id": "crc32"}]  # Zarr's own filter, so that every reader of Zarr verifies the chunks


@dataclass(frozen=True)
class Column:
    """What does not change of an array while it grows; its first dimension is the one that grows."""

    name: str
    dimensions: tuple[str, ...]
    dtype: np.dtype
    chunk: int  # rows of a chunk
    shape: tuple[int, ...]  # of a row

    def metadata(self, rows: int) -> Metadata:
        """The array's .zarray and .zattrs (Zarr, version 2), as xarray wants them."""
        array = {
            "zarr_format": 2,
            "shape": [rows, *self.shape],
            "chunks": [self.chunk, *(max(1, size) for size in self.shape)],
            "dtype": self.dtype.str,
            "compressor": None,
            "filters": CHECK,
            "fill_value": MISSING.get(self.dtype.kind),
            "order": "C",
        }
        return {f"{self.name}/.zarray": array, f"{self.name}/.zattrs": {"_ARRAY_DIMENSIONS": list(self.dimensions)}}

    def file(self, store: Path, number: int) -> Path:
        """Where a chunk is."""
        return store / self.name / ".".join([str(number), *("0" for _ in self.shape)])

    def encode(self, rows: np.ndarray) -> list[bytes]:
        """A chunk as it is in its file: the checksum, the rows, and zeros up to the length of a chunk."""
        data = np.ascontiguousarray(rows, self.dtype).tobytes()
        data += bytes(self.chunk * self._row_bytes() - len(data))
        return [struct.pack("<I", zlib.crc32(data)), data]

    def decode(self, store: Path, number: int) -> np.ndarray:
        """The rows of a chunk's file, of which `StoreDamaged` names what is wrong."""
        path = self.file(store, number)
        if path.parent.is_symlink():
            raise StoreDamaged(f"{path.parent} is a link; a store holds its own files.")
        where = f"rows {number * self.chunk} to {(number + 1) * self.chunk - 1} of {self.name!r}"
        try:
            data = atomic_files.read(path)
        except StoreDamaged as error:
            raise StoreDamaged(f"{error} With it {where} are lost; the rest can be read.") from None
        if len(data) != 4 + self.chunk * self._row_bytes():
            raise StoreDamaged(
                f"{path} is damaged: it has {len(data)} bytes, not {4 + self.chunk * self._row_bytes()}. "
                f"With it {where} are lost; the rest can be read."
            )
        if struct.unpack("<I", data[:4])[0] != zlib.crc32(memoryview(data)[4:]):
            raise StoreDamaged(
                f"{path} is damaged: its checksum is not that of its contents. "
                f"With it {where} are lost; the rest can be read."
            )
        return np.frombuffer(data, self.dtype, offset=4).reshape(self.chunk, *self.shape)

    def _row_bytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape)


def array_name(name: object) -> str:
    """A name that may be a folder in a store, or a sentence."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot be the name of an array in a store: names begin with a letter and hold no slash."
        )
    return name


def column_of(name: str, metadata: Metadata) -> tuple[Column, int]:
    """The column that the metadata of a store describe, and its rows; a ValueError says what is wrong with them."""
    array, attributes = (metadata.get(f"{name}/{part}") for part in (".zarray", ".zattrs"))
    if not isinstance(array, dict) or not isinstance(attributes, dict):
        raise InputError(f"the array {name!r} has no metadata.")
    sizes, chunks, dtype = (array.get(key) for key in ("shape", "chunks", "dtype"))
    dimensions = attributes.get("_ARRAY_DIMENSIONS")
    if not isinstance(sizes, list) or not isinstance(chunks, list) or not isinstance(dimensions, list):
        raise InputError(f"the array {name!r} has no shape, chunks and dimensions.")
    if not len(sizes) == len(chunks) == len(dimensions) > 0:
        raise InputError(f"the array {name!r} has a shape, chunks and dimensions that do not belong together.")
    if not isinstance(dtype, str) or not TYPE.fullmatch(dtype):
        raise InputError(f"the array {name!r} is encoded in a way that discrete_hamel does not write.")
    if array.get("filters") != CHECK or array.get("compressor") is not None:
        raise InputError(f"the array {name!r} is encoded in a way that discrete_hamel does not write.")
    if not all(type(size) is int and size >= 0 for size in (*sizes, *chunks)) or chunks[0] < 1:
        raise InputError(f"the array {name!r} has the shape {sizes} in chunks of {chunks}.")
    if max(math.prod(sizes), math.prod(chunks)) * np.dtype(dtype).itemsize >= LARGEST:
        raise InputError(f"the array {name!r} has the shape {sizes} in chunks of {chunks}, beyond any memory.")
    if not all(isinstance(dimension, str) for dimension in dimensions):
        raise InputError(f"the array {name!r} has dimensions without names.")
    return Column(array_name(name), tuple(dimensions), np.dtype(dtype), chunks[0], tuple(sizes[1:])), sizes[0]


class StoredArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in a store, of which only what is asked for is read: `a[k]`, `a[i:j]`, `a[::1000, 0]`.

    Anything else that NumPy can do with an array reads all of it first.
    """

    def __init__(self, store: Path, column: Column, rows: int) -> None:
        self._store, self._column = store, column
        self.shape, self.dtype = (rows, *column.shape), column.dtype
        self._last: tuple[int, np.ndarray] = (-1, np.zeros(0))

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def _chunk(self, number: int) -> np.ndarray:
        if self._last[0] != number:  # one is kept, for loops over rows
            self._last = (number, self._column.decode(self._store, number))
        return self._last[1]

    def _rows(self, wanted: np.ndarray, rest: tuple) -> np.ndarray:
        """Rows by number, in any order, of each only what `rest` asks for."""
        chunks = wanted // self._column.chunk
        first = np.zeros((0, *self._column.shape), self.dtype)[(slice(None), *rest)]
        out = np.empty((len(wanted), *first.shape[1:]), self.dtype)
        for number in np.unique(chunks):
            here = chunks == number
            out[here] = self._chunk(int(number))[(slice(None), *rest)][wanted[here] - number * self._column.chunk]
        return out

    def _pieces(self, begin: int, end: int, rest: tuple) -> Iterable[np.ndarray]:
        """Consecutive rows, a chunk at a time."""
        length = self._column.chunk
        for number in range(begin // length, -(-end // length)):
            rows = self._chunk(number)[max(begin - number * length, 0) : end - number * length]
            yield rows[(slice(None), *rest)]

    def __getitem__(self, key: int | slice | tuple | np.ndarray | None) -> np.ndarray:
        rows, *others = key if isinstance(key, tuple) else (key,)
        rest, count = tuple(others), len(self)
        if rows is Ellipsis or rows is None or any(not isinstance(item, int | slice) for item in rest):
            return np.asarray(self)[key]
        if isinstance(rows, int | np.integer):
            number = int(rows) + (count if rows < 0 else 0)
            if not 0 <= number < count:
                raise IndexError(f"row {rows} of {count} rows.")
            chunk, inside = divmod(number, self._column.chunk)
            return self._chunk(chunk)[(inside, *rest)].copy()
        if isinstance(rows, slice):
            begin, end, by = rows.indices(count)
            if by == 1:
                empty = np.zeros((0, *self._column.shape), self.dtype)[(slice(None), *rest)]
                return np.concatenate([empty, *self._pieces(begin, max(begin, end), rest)])
            return self._rows(np.arange(begin, end, by), rest)
        wanted = np.asarray(rows)
        if wanted.dtype == bool or wanted.ndim != 1 or np.any((wanted < -count) | (wanted >= count)):
            return np.asarray(self)[key]
        return self._rows(wanted % max(count, 1), rest)

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        whole = self[:]
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __jax_array__(self) -> Array:
        import jax.numpy as jnp

        return jnp.asarray(self[:])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> object:
        plain = (np.asarray(a) if isinstance(a, StoredArray) else a for a in inputs)
        return getattr(ufunc, method)(*plain, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __repr__(self) -> str:
        return f"<{self._column.name}: {self.dtype} of shape {self.shape} in {self._store}>"
