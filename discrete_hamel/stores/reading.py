"""A store as it is found: what its metadata say, verified, and its arrays, of which nothing is read yet."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

from discrete_hamel.failures import StoreDamaged
from discrete_hamel.stores import files
from discrete_hamel.stores.columns import Column, StoredArray, column_of, named
from discrete_hamel.stores.manifest import FORMAT

METADATA = ".zmetadata"  # of all arrays in one file (xarray reads it first): its replacement finishes a checkpoint
NOT_OURS = "is a Zarr store, but not one that discrete_hamel wrote: it lacks its manifest."


def checksum(metadata: dict[str, Any]) -> int:
    """Of the metadata of all arrays and of the manifest."""
    return zlib.crc32(json.dumps(metadata, sort_keys=True).encode())


class Contents:
    """The manifest of a store and its arrays by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not os.path.exists(path):
            raise FileNotFoundError(f"there is no store at {path}.")
        metadata = _metadata(path)
        self.manifest: dict[str, Any] = json.loads(metadata[".zattrs"]["discrete_hamel"])
        if "kind" in self.manifest:
            raise ValueError(
                f"{path} is the store of an ensemble, not of one run: xarray.open_zarr({str(path)!r}) reads it, and "
                "dh.ensemble with store=... and resume=True goes on with it."
            )
        if self.manifest["format"] != FORMAT:
            raise ValueError(
                f"{path} has format {self.manifest['format']}, this version of discrete_hamel reads {FORMAT}; "
                f"it was written by {self.manifest['versions']['discrete_hamel']}."
            )
        names = [key.removesuffix("/.zarray") for key in metadata if key.endswith("/.zarray")]
        self.columns: dict[str, Column] = {}
        self.arrays: dict[str, StoredArray] = {}
        for name in names:
            column, rows = column_of(named(name), metadata)
            self.columns[name], self.arrays[name] = column, StoredArray(path, column, rows)


def _metadata(path: Path) -> dict[str, Any]:
    """What the one file says, its checksum compared; damage and foreign stores are told apart."""
    file = path / METADATA
    if not file.exists() and not file.is_symlink():
        if any((path / name).exists() for name in (".zgroup", "zarr.json")):
            raise ValueError(f"{path} {NOT_OURS}")
        raise ValueError(f"{path} is no Zarr store.")
    try:
        metadata = dict(json.loads(files.read(file))["metadata"])
        if "discrete_hamel" not in metadata[".zattrs"]:
            raise ValueError(f"{path} {NOT_OURS}")
        attributes = dict(metadata[".zattrs"])
        told = attributes.pop("checksum", None)
        whole = checksum({**metadata, ".zattrs": attributes}) == told
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        whole = False
    if not whole:
        raise StoreDamaged(
            f"{file} is damaged: it is cut off, or its checksum is not that of its contents. The arrays beside it may "
            "be whole, and each chunk has its own checksum; but what made the run is not known any more."
        )
    return metadata
