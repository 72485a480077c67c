"""The first call of every system of the catalogue, and of the analyses, in a new process

CPU seconds from `import discrete_hamel` being done to the end of the first call: of dh.simulate over ten steps of a
system's sample motion, with the making of the system; of a gradient through 100 steps of the disk, of dh.crossings and
of dh.spectrum. Each in a fresh Python process without XLA's compilation cache; without object code on disk (cold) and
with that of a process before (warm). Python's own bytecode is there, as it is after an installation. The import is told
apart.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.contests import Bar
from discrete_hamel.cli.name_lookup import catalogue

ROUNDS = 1
PEERS = ()
COLD, WARM = "cold, CPU s", "warm, CPU s"
BARS = {"gradient": (2, 1), "crossings": (1, 1), "spectrum": (1.5, 1)}  # of the disk: bar and aim, cold
PROGRAM = """
import json, sys, time
began = time.process_time()
import discrete_hamel as dh
imported = time.process_time()

def simulated(name):
    shelf = dh.systems if name in dh.systems.__all__ else dh.systems.garage
    system = getattr(shelf, name)()
    sample = {"h": 0.01, **system.sample()}
    return lambda: dh.simulate(system, **sample, steps=10, progress=False).report.path

def disk():
    system = dh.systems.RollingDisk()
    return system, {"h": 0.01, **system.sample()}

def gradient():
    import jax
    system, sample = disk()
    q, xi = (jax.numpy.asarray(sample.pop(name)) for name in ("q", "xi"))
    whole = lambda xi: dh.simulate(system, q, xi, **sample, steps=100).q[-1, 0]
    return lambda: jax.block_until_ready(jax.grad(whole)(xi)) is not None and "compiled"

def crossings():
    system, sample = disk()
    trajectory = dh.simulate(system, **sample, steps=300, progress=False)
    return lambda: len(dh.crossings(trajectory, lambda q, xi: xi[0])) >= 0 and trajectory.report.path

def spectrum():
    system = dh.systems.RollingDisk()
    rolls = dict(q=[0.0, 0.7, 0.0, 0.1, 0.0], xi=[0.0, 0.0, 6.0], scheme=dh.DiscreteHamel(), h=0.01)
    return lambda: dh.spectrum(system, **rolls) and ""

OTHERS = {"gradient": gradient, "crossings": crossings, "spectrum": spectrum}
name = sys.argv[1]
first = (OTHERS[name] if name in OTHERS else lambda: simulated(name))()
path = first()
ended = time.process_time()
first()
print(json.dumps([imported - began, ended - imported, time.process_time() - ended, path]))
"""


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    left_out = ("JAX_", "DISCRETE_HAMEL_", "PYTHONDONTWRITEBYTECODE")
    own = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    with tempfile.TemporaryDirectory() as bytecode:
        own["PYTHONPYCACHEPREFIX"] = bytecode
        for name in ("VerticalDisk", "WhippleBicycle"):  # they fill it: the second with the garage
            _seconds(name, own | {"DISCRETE_HAMEL_CACHE": "off"})
        _seconds("spectrum", own | {"DISCRETE_HAMEL_CACHE": "off"})
        for name in [*list(catalogue())[:: 8 if quick else 1], *BARS]:
            cold, warm = [], []
            for _ in range(rounds):
                with tempfile.TemporaryDirectory() as folder:
                    for turns in (cold, warm):
                        turns.append(_seconds(name, own | {"DISCRETE_HAMEL_CACHE": str(Path(folder, "cache"))}))
            imported, first, again, path = min(cold, key=lambda turn: turn[1])
            yield {
                "first call of": name,
                COLD: first,
                WARM: min(turn[1] for turn in warm),
                "second call, CPU ms": 1e3 * again,
                "import, CPU s": imported,
                "path": path,
            }


def _seconds(name: str, environment: dict[str, str]) -> list[Any]:
    """CPU seconds of the import, of the first call and of the second, and the path, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, name], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"the first call of {name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    found = []
    systems = [row for row in rows if row["first call of"] not in BARS]
    for kind, bar, aim in ((COLD, 1.0, 0.5), (WARM, 0.4, 0.2)):
        slowest = max(systems, key=lambda row: row[kind])
        words = f"first call of {len(systems)} systems, the slowest ({slowest['first call of']}), {kind}"
        found.append(Bar(words, slowest[kind], bar, aim))
    others = {row["first call of"]: row[COLD] for row in rows if row["first call of"] in BARS}
    return found + [Bar(f"first {name} of the disk, {COLD}", others[name], *BARS[name]) for name in others]


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLACK, BLUE
    from paper_figures.pictures import mosaic

    rows = sorted(rows, key=lambda row: row[COLD])
    figure, axes = mosaic([["time"]], size=(5.4, 0.16 * len(rows) + 0.8))
    ax = axes["time"]
    names = [row["first call of"] for row in rows]
    ax.barh(names, [row[COLD] for row in rows], color=BLUE, alpha=0.4, label="cold")
    ax.barh(names, [row[WARM] for row in rows], color=BLUE, height=0.4, label="warm")
    for limit, words in ((0.4, "warm"), (1, "cold")):
        ax.axvline(limit, color=BLACK, linewidth=0.8, linestyle="--")
        ax.annotate(words, (limit, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8)
    longest = max(1.2, 1.05 * rows[-1][COLD])
    ax.set(xlabel="first call in a fresh process [CPU s]", xlim=(0, longest), ylim=(-0.7, len(rows) - 0.3))
    ax.tick_params(axis="y", labelsize=6)
    ax.grid(axis="y", visible=False)
    return figure
