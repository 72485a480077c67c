"""What the passes made of a step, kept on disk beside its object code: another process need not run them again.

It is asked for by the graph as it was read, the values at which pivots were chosen, the processor, the library's own
files, and the versions of Python and NumPy, whose objects a pickle has. It is kept as Python's pickle, which can do as
much as object code, and is promised as much: see `object_cache`.
"""

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.caches import garbage_kept
from discrete_hamel.compiler.native import object_cache
from discrete_hamel.compiler.native.object_code import digest_of

NOT_KEPT = ("sample", "part", "cost", "shape", "run", "kind", "recalled")  # of a stepper: what a process makes itself


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


def name_of(graph: str, run: PyTree) -> str:
    """What is asked for: by a graph's digest, and by the values of system, scheme, state and step."""
    values = b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(run))
    return digest_of(f"passes {graph} {values.hex()} {FILES}", 0)


def recall(name: str) -> dict[str, object] | None:
    """The stepper's attributes that were kept under this name."""
    kept = object_cache.read(name)
    if kept is None:
        return None
    with garbage_kept():
        return pickle.loads(kept)


def keep(name: str, attributes: dict[str, object]) -> None:
    """Keep a stepper's attributes, now that its first steps are verified."""
    told = {name: value for name, value in attributes.items() if name not in NOT_KEPT}
    object_cache.keep(name, pickle.dumps(told, pickle.HIGHEST_PROTOCOL))
