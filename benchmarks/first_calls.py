"""The first call of every system of the catalogue

Seconds from `import discrete_hamel` being done to the end of the first dh.simulate of a system's sample motion, ten
steps, each in a fresh Python process and without any compilation cache; and of the same call again. The import is told
apart.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.contests import Bar
from discrete_hamel.cli.names import catalogue

ROUNDS = 1
PEERS = ()
PROGRAM = """
import json, sys, time
began = time.perf_counter()
import discrete_hamel as dh
imported = time.perf_counter()
system = getattr(dh.systems, sys.argv[1])()
sample = dict(system.sample())
sample.setdefault("h", 0.01)

def seconds():
    start = time.perf_counter()
    path = dh.simulate(system, **sample, steps=10, progress=False).report.path
    return time.perf_counter() - start, path

print(json.dumps([imported - began, *seconds(), seconds()[0]]))
"""


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    for name in list(catalogue())[:: 8 if quick else 1]:
        turns = []
        for _ in range(rounds):
            command = [sys.executable, "-c", PROGRAM, name]
            done = subprocess.run(command, capture_output=True, text=True, env=own)
            if done.returncode:
                raise RuntimeError(f"the sample motion of {name}: {done.stderr.strip().splitlines()[-1]}")
            turns.append(json.loads(done.stdout))
        imported, first, path, again = min(turns, key=lambda turn: turn[1])
        yield {
            "system": name,
            "first call, s": first,
            "second call, ms": 1e3 * again,
            "import, s": imported,
            "path": path,
        }


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    slowest = max(rows, key=lambda row: row["first call, s"])
    return [Bar(f"first call in seconds, of {len(rows)} systems the slowest ({slowest['system']})",
                slowest["first call, s"], 3, 1)]  # fmt: skip


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLACK, BLUE
    from paper_figures.pictures import mosaic

    rows = sorted(rows, key=lambda row: row["first call, s"])
    figure, axes = mosaic([["time"]], size=(5.4, 0.16 * len(rows) + 0.8))
    ax = axes["time"]
    ax.barh([row["system"] for row in rows], [row["first call, s"] for row in rows], color=BLUE)
    for limit, words in ((1, "aim"), (3, "bar")):
        ax.axvline(limit, color=BLACK, linewidth=0.8, linestyle="--")
        ax.annotate(words, (limit, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8)
    longest = max(3.2, 1.05 * rows[-1]["first call, s"])
    ax.set(xlabel="first call in a fresh process [s]", xlim=(0, longest), ylim=(-0.7, len(rows) - 0.3))
    ax.tick_params(axis="y", labelsize=6)
    ax.grid(axis="y", visible=False)
    return figure
