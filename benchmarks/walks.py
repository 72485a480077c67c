"""The four walks of docs/architecture.md: which files a call enters, in the order in which it first does.

    python -m benchmarks.walks [simulate from_constraints ensemble grad]

Each runs in a fresh process, after everything is imported. Files that are reached by callbacks (`calls_back`) are
marked, and do not count as entries of their rooms (`entries`): where a step is read or the initial data are looked at,
the user's system is asked, and answers out of its own room.
"""

import importlib
import itertools
import os
import pkgutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import discrete_hamel as dh

PACKAGE = Path(dh.__file__).parent


def sleigh() -> dict:
    """The arguments that the walks share."""
    return {"q": [0.1, 0, 0], "xi": [1.5, -0.3], "h": 0.01, "steps": 100}


def simulate() -> None:
    dh.simulate(dh.systems.ChaplyginSleigh(), **sleigh())


def from_constraints() -> None:
    import jax.numpy as jnp

    system = dh.from_constraints(
        lambda q, v: 0.5 * v @ v - q[1], lambda q: jnp.array([[jnp.sin(q[2]), -jnp.cos(q[2]), 0.0]])
    )
    dh.simulate(system, q=[0.0, 0.0, 0.3], v=[jnp.cos(0.3), jnp.sin(0.3), 0.5], h=0.01, steps=100)


def ensemble() -> None:
    import numpy as np

    given = sleigh() | {"q": np.tile([0.1, 0, 0], (4, 1)), "xi": np.array([[1.5, 0.1 * k] for k in range(4)])}
    dh.ensemble(dh.systems.ChaplyginSleigh(), **given, progress=False)


def grad() -> None:
    import jax
    import jax.numpy as jnp

    given = sleigh()
    xi = jnp.asarray(given.pop("xi"))
    jax.grad(lambda xi: dh.simulate(dh.systems.ChaplyginSleigh(), xi=xi, **given).q[-1, 1])(xi)


WALKS: dict[str, Callable[[], None]] = {
    "simulate": simulate, "from_constraints": from_constraints, "ensemble": ensemble, "grad": grad,
}  # fmt: skip
# In the order of the house, as in tests/test_layers.py: a room calls those before it, and is called back by these.
ROOMS = (".", "_support", "mechanics", "schemes", "systems", "fields", "compiler", "runs", "analysis", "control")


class Visit(NamedTuple):
    """A file that a call gets to first, from which room, and whether by a callback into what the user handed in."""

    file: str
    caller: str
    callback: bool

    @property
    def room(self) -> str:
        return room(self.file)


def room(name: str) -> str:
    return name.split("/")[0] if "/" in name else "."


def visited(walk: Callable[[], object]) -> list[Visit]:
    """The package's files whose functions are called, by first call."""
    os.environ["DISCRETE_HAMEL_CACHE"] = "off"  # what another process has kept spares half of the way
    for module in pkgutil.walk_packages([str(PACKAGE)], "discrete_hamel."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in dh.__all__:  # what is public is looked up once a process, too
        getattr(dh, name)
    seen: dict[str, Visit] = {}
    root = f"{PACKAGE}/"

    def look(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(root) or frame.f_code.co_name == "<module>":
            return
        if (file := name.removeprefix(root)) not in seen:
            seen[file] = visit(file, [one for one in stack(frame) if one.f_code.co_filename.startswith(root)], root)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return list(seen.values())


def stack(frame: FrameType | None) -> Iterator[FrameType]:
    """The calls that are going on, the last one first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def visit(file: str, calls: list[FrameType], root: str) -> Visit:
    """What `_support` calls is called by who called it: a cache that builds, a context that is entered."""
    files = [one.f_code.co_filename.removeprefix(root) for one in calls]
    way = [k for k, name in enumerate(files) if k == 0 or room(name) != "_support"]
    callers = [room(files[k]) for k in way[1:]]
    back = any(calls_back(calls[a], files[a], files[b]) for a, b in itertools.pairwise(way))
    return Visit(file, callers[0] if callers else "", back)


def calls_back(called: FrameType, file: str, caller: str) -> bool:
    """Whether a call goes into what was handed in: a method of the System or the Scheme, called by a room that has
    neither; a function that the compiler reads or interprets; a function that a higher room handed down."""
    here, there = ROOMS.index(room(file)), ROOMS.index(room(caller))
    given = isinstance(called.f_locals.get("self"), dh.System | dh.Scheme) and there > ROOMS.index("fields")
    read = caller.startswith("compiler/reading/") and here != there
    return given or read or here > there > 0


def entries(visits: list[Visit]) -> list[str]:
    """The rooms that the call goes into from another one, in order, each once for as long as no other comes between.

    To come back to the caller's room is not to enter it. Callbacks are left out, and the ground floor `_support` is
    counted but separates nothing: a maintainer need not leave the room to know what `Cache` or `floats` does.
    """
    order: list[str] = []
    inside = ""
    for visit in visits:
        if visit.callback or visit.caller == visit.room:
            continue
        if visit.room == "_support":
            order.append(visit.room) if "_support" not in order[-1:] else None
        elif visit.room != inside:
            inside = visit.room
            order.append(visit.room)
    return order


def main() -> None:
    names = sys.argv[1:] or list(WALKS)
    if len(names) > 1:
        for name in names:
            subprocess.run([sys.executable, "-m", "benchmarks.walks", name], check=True)
        return
    visits = visited(WALKS[names[0]])
    order = entries(visits)
    called_back = [visit for visit in visits if visit.callback]
    print(f"{names[0]}: {len(visits)} files, {len(called_back)} of them by callbacks; enters {' > '.join(order)}")
    for one in dict.fromkeys(order):
        print(f"  {one}: entered {order.count(one)} times")
    for visit in visits:
        how = " (callback)" if visit.callback else f" from {visit.caller}" if visit.caller != visit.room else ""
        print(f"    {visit.file}{how}")


if __name__ == "__main__":
    main()
