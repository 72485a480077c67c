"""What a user's functions read besides their arguments: a constant of what is compiled, which in Python may change.

A notebook says k = 2.0 in one cell and has L read it in another; a dict of numbers is changed in place; a potential is
defined anew. Before each run what is read so is looked at, and where it is another, all that is compiled is forgotten.
Floats, arrays and functions are followed, and integers that have a name; not lists, in which functions keep count, nor
attributes of objects.
"""

import dataclasses
import dis
import sys
import weakref
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from zlib import crc32

import numpy as np
from jax import Array

from discrete_hamel._support.caches import clear_caches
from discrete_hamel.compiler.reading.cached_scalars import once

LIBRARIES = (str(Path(__file__).parents[2]), str(Path(np.__file__).parents[1]), str(Path(dataclasses.__file__).parent))
FOLLOWED = (FunctionType, MethodType, partial, dict, tuple)
MOST = 200  # functions and dictionaries that one reads, each looked at once
_read: "weakref.WeakKeyDictionary[object, tuple]" = weakref.WeakKeyDictionary()  # by function or class, at its last run


class _Same:
    """An object that cannot change, equal to itself alone."""

    def __init__(self, it: object) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.it is other.it

    __hash__ = None  # type: ignore[assignment]


def forget_if_changed(it: object) -> None:
    """Forget all that is compiled if a function of a system or scheme reads others than at its last run."""
    for root in once(_roots, it):
        now = _of_class(root) if isinstance(root, type) else _of_function(root, set())
        if _read.setdefault(root, now) != now:
            _read[root] = now
            clear_caches()


def of_a_user(it: object) -> bool:
    """Whether methods of its class, or of one within, are a user's, who may have them look at anything."""
    return any(isinstance(root, type) for root in once(_roots, it))


def _roots(it: object) -> tuple[FunctionType | type, ...]:
    return tuple(_each_root(it)) if dataclasses.is_dataclass(it) and not isinstance(it, type) else ()


def _each_root(it: object) -> Iterator[FunctionType | type]:
    """The functions among its fields, and its class where that is the user's."""
    if not _library(type(it).__module__):
        yield type(it)
    for value in vars(it).values():
        if isinstance(value, FunctionType):
            yield value
        elif isinstance(value, tuple):
            yield from (
                one for pair in value if isinstance(pair, tuple) for one in pair if isinstance(one, FunctionType)
            )
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from _each_root(value)


@cache
def _library(module: str) -> bool:
    return (getattr(sys.modules.get(module), "__file__", None) or "").startswith(LIBRARIES)


@lru_cache(maxsize=1000)
def _names(code: CodeType) -> tuple[frozenset[str], bool]:
    """The global names that a function reads and does not set, those within it too; and whether it is a library's."""
    read = [(one.opname, one.argval) for one in dis.get_instructions(code)]
    names = {name for how, name in read if how == "LOAD_GLOBAL"} - {name for how, name in read if how == "STORE_GLOBAL"}
    inner = [_names(one)[0] for one in code.co_consts if isinstance(one, CodeType)]
    return frozenset(names).union(*inner), code.co_filename.startswith(LIBRARIES)


def _of_function(function: FunctionType, seen: set[int]) -> tuple:
    names, library = _names(function.__code__)
    if library:
        return ()
    outside = function.__globals__
    values = [outside[name] for name in names if name in outside]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not set yet
            continue
    return function.__code__, *(_of_value(value, seen) for value in values)


def _of_class(owner: type) -> tuple:
    users = [one for one in owner.__mro__ if one is not object and not _library(one.__module__)]
    return tuple(_of_value(it, set()) for one in users for name, it in vars(one).items() if not name.startswith("__"))


def _of_value(value: object, seen: set[int], named: bool = True) -> object:
    """What is compared of a value; None of what is not followed, or has been already."""
    if isinstance(value, float | np.floating | complex) or (named and isinstance(value, int | str)):
        return value if value == value else "nan"
    if isinstance(value, Array):
        return _Same(value)
    if isinstance(value, np.ndarray):
        return value.shape, crc32(np.ascontiguousarray(value).data) if value.dtype.kind == "f" else None
    if not isinstance(value, FOLLOWED) or id(value) in seen or len(seen) > MOST:
        return None
    seen.add(id(value))
    if isinstance(value, FunctionType):
        return _of_function(value, seen)
    if isinstance(value, MethodType):
        return _of_value(value.__func__, seen)
    if isinstance(value, partial):
        return tuple(_of_value(one, seen) for one in (value.func, *value.args, *value.keywords.values()))
    inside = value.values() if isinstance(value, dict) else value
    return tuple(_of_value(one, seen, named=False) for one in inside)
