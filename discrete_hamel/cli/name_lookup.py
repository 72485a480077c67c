"""Names a person types: the catalogue, the schemes, and the nearest name where one is mistyped."""

import difflib
import inspect
from collections.abc import Iterable

import discrete_hamel as dh
from discrete_hamel._support.errors import InputError
from discrete_hamel.schemes.scheme import Scheme

MANY = 15  # names; so many are listed only where none of them is near


def catalogue() -> dict[str, type[dh.System]]:
    """The system classes of dh.systems and dh.systems.garage, by name."""
    shelves = dh.systems, dh.systems.garage
    found = {name: getattr(shelf, name) for shelf in shelves for name in shelf.__all__}
    return {
        name: item for name, item in sorted(found.items()) if isinstance(item, type) and issubclass(item, dh.System)
    }


def schemes() -> dict[str, type[Scheme]]:
    """The scheme classes of dh, by name, without the one that they all are."""
    found = {name: getattr(dh, name) for name in dh.__all__ if name != "Scheme"}
    return {name: item for name, item in found.items() if isinstance(item, type) and issubclass(item, Scheme)}


def headline(thing: object) -> str:
    """The first line of a docstring; nothing where Python was told to leave docstrings out (-OO)."""
    return (inspect.cleandoc(thing.__doc__) if thing.__doc__ else "").partition("\n")[0]


def choose(name: str, known: Iterable[str], what: str) -> str:
    """`name` if it is known (whatever its case), else a ValueError with the nearest name.

    >>> choose("sfere", ["Disk", "Sphere"], "system")
    Traceback (most recent call last):
    discrete_hamel._support.errors.InputError: there is no system 'sfere'. Did you mean Sphere? There are: Disk, Sphere.
    More in the documentation: errors.html#inputerror
    """
    known = list(known)
    folded = {item.casefold(): item for item in known}
    if name.casefold() in folded:
        return folded[name.casefold()]
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    hint = f" Did you mean {folded[near[0]]}?" if near else ""
    listed = "" if near and len(known) > MANY else f" There are: {', '.join(known)}."
    raise InputError(f"there is no {what} {name!r}.{hint}{listed}")
