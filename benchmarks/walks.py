"""The four walks of docs/architecture.md: which files a call enters, in the order in which it first does.

    python -m benchmarks.walks [simulate from_constraints ensemble grad]

Each runs in a fresh process, after everything is imported.
"""

import importlib
import pkgutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

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


def visited(walk: Callable[[], None]) -> list[str]:
    """The package's files whose functions are called, by first call."""
    for module in pkgutil.walk_packages([str(PACKAGE)], "discrete_hamel."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    seen: dict[str, None] = {}
    root = f"{PACKAGE}/"

    def look(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root) and frame.f_code.co_name != "<module>":
            seen.setdefault(name.removeprefix(root))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return list(seen)


def room(name: str) -> str:
    return name.split("/")[0] if "/" in name else "."


def rooms(files: list[str]) -> list[str]:
    """The rooms in order, each once for as long as the walk stays in it."""
    order = [room(name) for name in files]
    return [one for k, one in enumerate(order) if k == 0 or order[k - 1] != one]


def main() -> None:
    names = sys.argv[1:] or list(WALKS)
    if len(names) > 1:
        for name in names:
            subprocess.run([sys.executable, "-m", "benchmarks.walks", name], check=True)
        return
    files = visited(WALKS[names[0]])
    order = rooms(files)
    print(f"{names[0]}: {len(files)} files; rooms {' > '.join(order)}")
    for one in dict.fromkeys(order):
        print(f"  {one}: entered {order.count(one)} times")
    for name in files:
        print(f"    {name}")


if __name__ == "__main__":
    main()
