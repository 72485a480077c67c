"""What a store says of itself, validated when it is opened: whatever was edited in it ends in `StoreDamaged`.

The checksum tells that something was altered; this tells what cannot be, also where somebody has made the checksum fit.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeGuard, cast

import numpy as np

from discrete_hamel._support.errors import PHYSICAL, InputError, StoreDamaged
from discrete_hamel.runs.storage.column import LARGEST, Column
from discrete_hamel.runs.storage.schema import Manifest

BITS = {"float32": "<f4", "float64": "<f8"}


def parse(text: str | bytes) -> Any:
    """JSON, or a ValueError: nesting without end and numbers without end are errors like any other."""
    try:
        return json.loads(text)
    except (TypeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(str(error)) from None


def _text(value: object) -> bool:
    return isinstance(value, str)


def whole(value: object, least: int = 0) -> bool:
    """Is it an integer, as a JSON number without a point, and not below `least`?"""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < LARGEST


def numbers(value: object) -> bool:
    """Is it a number, or a list of equal lists of numbers?"""
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (ValueError, TypeError, OverflowError):
        return False


def _texts(value: object) -> TypeGuard[dict]:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _description(value: object) -> bool:
    """What `manifest.describe` says of a system or a scheme."""
    return (
        isinstance(value, dict)
        and _text(value.get("class"))
        and _text(value.get("structure"))
        and isinstance(value.get("leaves"), dict)
        and all(map(numbers, value["leaves"].values()))
        and isinstance(value.get("fields"), dict)
        and all(isinstance(field, bool | int | str) or _description(field) for field in value["fields"].values())
    )


def _start(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), list) and numbers(value[name]) and np.ndim(value[name]) == 1 for name in ("q", "xi")
    )


def _failure(value: object) -> bool:
    kinds = [kind.__name__ for kind in PHYSICAL]
    return isinstance(value, list) and len(value) == 2 and value[0] in kinds and _text(value[1])


def _or_null(rule: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or rule(value)


# A run's manifest, format 2: `storage.manifest.manifest`, and what `Recording` adds to it.
FORM: dict[str, Callable[[object], bool]] = {
    "format": whole,
    "versions": lambda value: _texts(value) and "discrete_hamel" in value,
    "dtype": lambda value: _text(value) and value in BITS,
    "system": _description,
    "equations": _texts,
    "scheme": _or_null(_description),
    "h": _or_null(lambda value: isinstance(value, float | int) and math.isfinite(value) and value != 0),
    "save_every": lambda value: whole(value, 1),
    "start": _start,
    "path": _or_null(lambda value: isinstance(value, list) and len(value) == 2 and all(map(_text, value))),
    "finished": whole,
    "plain_until": whole,
    "plain_steps": whole,
    "state": _or_null(lambda value: isinstance(value, list) and all(map(numbers, value))),
    "failure": _or_null(_failure),
}
OF_A_SCHEME = ("h", "path")  # null where no scheme has made the run, and only there


def form(told: dict[str, object], path: Path) -> Manifest:
    """The manifest, if each of its entries is of the kind that this library writes."""
    told.setdefault("plain_steps", 0)  # not counted by earlier versions
    for name, holds in FORM.items():
        if name not in told:
            raise StoreDamaged(f"{path} is damaged: its manifest lacks {name!r}.")
        try:
            fits = holds(told[name])
        except (RecursionError, OverflowError):
            fits = False
        if not fits:
            raise StoreDamaged(f"{path} is damaged: its manifest's {name!r} is nothing that discrete_hamel writes.")
    for name in OF_A_SCHEME:
        if (told[name] is None) != (told["scheme"] is None):
            raise StoreDamaged(f"{path} is damaged: its manifest's {name!r} does not go with its 'scheme'.")
    return cast(Manifest, told)


def arrays(columns: dict[str, Column], rows: dict[str, int], told: Manifest, path: Path) -> None:
    """Refuse arrays that are not those of the run in the manifest: another type, shape, length or dimension."""
    floats = np.dtype(BITS[told["dtype"]])
    coordinates, velocities = (len(told["start"][name]) for name in ("q", "xi"))
    momenta = columns["p"].shape if "p" in columns else ()
    nodes = {
        "time": ((), ()),
        "q": (("coordinate",), (coordinates,)),
        "p": (("momentum",), momenta[:1]),
        "xi": (("velocity",), (velocities,)),
        "v": (("coordinate",), (coordinates,)),
        "energy": ((), ()),
    }
    intervals = {
        "xi_mid": (("velocity",), (velocities,), floats),
        "converged": ((), (), np.dtype("|b1")),
        "iterations": ((), (), np.dtype("<i8")),
        "residual": ((), (), floats),
    }
    wanted: dict[str, tuple] = {
        name: ("time", *more, floats) for name, more in nodes.items() if name != "energy" or name in columns
    }
    if told["scheme"] is not None:
        wanted |= {name: ("interval", *more) for name, more in intervals.items()}
    for name, (along, dimensions, shape, dtype) in wanted.items():
        if name not in columns:
            raise StoreDamaged(f"{path} has no array {name!r}.")
        found = columns[name]
        if (found.dtype, found.shape, found.dimensions) != (dtype, shape, (along, *dimensions)):
            raise StoreDamaged(
                f"{path} is damaged: its array {name!r} is of type {found.dtype.str}, {found.shape} along "
                f"{found.dimensions}; the run in its manifest has {dtype.str}, {shape} along {(along, *dimensions)}."
            )
    lengths = {"time": told["finished"] + 1, "interval": told["finished"]}
    for along, length in lengths.items():
        growing = {name: column for name, column in columns.items() if column.dimensions[:1] == (along,)}
        for name, column in growing.items():
            if rows[name] != length or column.chunk != next(iter(growing.values())).chunk:
                raise StoreDamaged(
                    f"{path} is damaged: its array {name!r} has {rows[name]} rows in chunks of {column.chunk}; the run "
                    f"in its manifest has {length}, in chunks of {next(iter(growing.values())).chunk}."
                )
