"""What the passes made of a step, kept on disk beside its object code: another process need not run them again.

It is asked for by the graph as it was read, the processor, the library's own files, and the versions of Python and
NumPy, whose objects a pickle has. At other values passes may choose other pivots, and so make another program of the
same graph: each is kept with its decisions, and is what passes would make where they come out the same. It is kept as
Python's pickle, which can do as much as object code, and is promised as much: see `object_cache`.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from discrete_hamel._support.caches import garbage_kept
from discrete_hamel.compiler.native import object_cache
from discrete_hamel.compiler.native.object_code import digest_of
from discrete_hamel.compiler.step.stepper import KeptProgram

NOT_KEPT = ("sample", "part", "cost", "shape", "run", "kind", "name", "found")  # of a stepper: a process's own
MOST = 4  # programs of a graph


def _files() -> str:
    """The library's files that decide on what is kept, as they lie on disk, and whose objects a pickle has."""
    return repr((sorted(_stats(Path(__file__).parents[2])), sys.version, np.__version__))


def _stats(folder: Path | str) -> Iterator[tuple[str, int, int, int]]:
    """Of each file in it: when it was written, when it was put there, and how long it is."""
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _stats(entry.path)
        elif entry.name.endswith(".py"):
            found = entry.stat()
            yield entry.path, found.st_mtime_ns, found.st_ctime_ns, found.st_size


FILES = _files()  # as they are when they are loaded: a process may outlive them


def recall(graph: str, serves: Callable[[Mapping], bool]) -> KeptProgram | None:
    """A program that serves, of those kept of the graph with this digest."""
    for name in _programs(graph):
        if (kept := by_name(graph, name)) is not None and serves(kept.made):
            return kept
    return None


def by_name(graph: str, name: str) -> KeptProgram | None:
    """The program of a graph that is kept under a name."""
    content = object_cache.read(name)
    if content is None:
        return None
    with garbage_kept():
        return KeptProgram(graph, name, pickle.loads(content))


def keep(graph: str, decisions: object, attributes: dict[str, object]) -> str:
    """Keep a stepper's attributes, now that its first steps are verified; their name."""
    told = {name: value for name, value in attributes.items() if name not in NOT_KEPT}
    name = digest_of(f"program {graph} {decisions!r} {FILES}", 0)
    object_cache.keep(name, pickle.dumps(told, pickle.HIGHEST_PROTOCOL))
    names = [name, *(other for other in _programs(graph) if other != name)]
    object_cache.keep(_index(graph), "\n".join(names[:MOST]).encode())
    return name


def _index(graph: str) -> str:
    return digest_of(f"programs {graph} {FILES}", 0)


def _programs(graph: str) -> list[str]:
    """The names of those kept of a graph, the last one first."""
    return (object_cache.read(_index(graph)) or b"").decode().split()
