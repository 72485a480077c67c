"""A store as it is found: what its metadata say, verified, and its arrays, of which nothing is read yet."""

import json
import os
import zlib
from pathlib import Path

from discrete_hamel._support.errors import InputError, StoreDamaged
from discrete_hamel.runs.storage import atomic_files, validation
from discrete_hamel.runs.storage.column import Column, StoredArray, array_name, column_of
from discrete_hamel.runs.storage.manifest import FORMAT
from discrete_hamel.runs.storage.schema import Metadata

METADATA = ".zmetadata"  # of all arrays in one file (xarray reads it first): its replacement finishes a checkpoint
NOT_OURS = "is a Zarr store, but not one that discrete_hamel wrote: it lacks its manifest."


def checksum(metadata: Metadata) -> int:
    """Of the metadata of all arrays and of the manifest."""
    return zlib.crc32(json.dumps(metadata, sort_keys=True).encode())


class Contents:
    """The manifest of a store and its arrays by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not os.path.exists(path):
            raise FileNotFoundError(f"there is no store at {path}.")
        metadata, told = verify(path)
        if "kind" in told:
            raise InputError(
                f"{path} is the store of an ensemble, not of one run: xarray.open_zarr({str(path)!r}) reads it, and "
                "dh.ensemble with store=... goes on with it."
            )
        if validation.whole(told.get("format")) and told["format"] != FORMAT:
            versions = told.get("versions")
            by = versions.get("discrete_hamel") if isinstance(versions, dict) else None
            raise InputError(
                f"{path} has format {told['format']}, this version of discrete_hamel reads {FORMAT}; "
                f"it was written by {by or 'an unknown version'}."
            )
        self.manifest = validation.form(told, path)
        self.columns: dict[str, Column] = {}
        self.arrays: dict[str, StoredArray] = {}
        for key in metadata:
            name, zarray, rest = key.rpartition("/.zarray")
            if not zarray or rest:
                continue
            try:
                column, rows = column_of(array_name(name), metadata)
            except ValueError as error:
                raise StoreDamaged(f"{path} is damaged: {error}") from None
            self.columns[name], self.arrays[name] = column, StoredArray(path, column, rows)

    def require_arrays(self) -> "Contents":
        """Refuse arrays that are not those of the run in the manifest."""
        rows = {name: len(array) for name, array in self.arrays.items()}
        validation.arrays(self.columns, rows, self.manifest, self.path)
        return self


def verify(path: Path) -> tuple[Metadata, dict[str, object]]:
    """What the one file says of all arrays, and the manifest in it; damage and foreign stores are told apart."""
    file = path / METADATA
    if not file.exists() and not file.is_symlink():
        if any((path / name).exists() for name in (".zgroup", "zarr.json")):
            raise InputError(f"{path} {NOT_OURS}")
        raise InputError(f"{path} is no Zarr store.")
    damaged = StoreDamaged(
        f"{file} is damaged: it is cut off, or its checksum is not that of its contents. The arrays beside it may "
        "be whole, and each chunk has its own checksum; but what made the run is not known any more."
    )
    contents = atomic_files.read(file)
    try:
        metadata = dict(validation.parse(contents)["metadata"])
        attributes = dict(metadata[".zattrs"])
        told = attributes.pop("checksum", None)
        right = checksum({**metadata, ".zattrs": attributes}) == told
    except (KeyError, TypeError, ValueError, RecursionError):
        raise damaged from None
    if "discrete_hamel" not in attributes:
        raise InputError(f"{path} {NOT_OURS}")
    if not right:
        raise damaged
    try:
        manifest = dict(validation.parse(attributes["discrete_hamel"]))
    except (TypeError, ValueError):
        raise StoreDamaged(f"{file} is damaged: its manifest cannot be read.") from None
    return metadata, manifest
