"""Wheeled systems one size above the papers', from constraints and by a frame written by hand

CPU seconds of the first dh.simulate of a new process, ten steps of 0.01, with no object code on disk (cold) and with it
(warm); microseconds of CPU a step, the difference of 3000 steps and 1000, best of the rounds, after 20 000 steps: a run
of fewer has the code of the first call; the largest error of a coordinate after 10 s beside `dh.reference`, for cars;
the process's memory. Plain paths are drawn in black.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from benchmarks.contests import Bar

ROUNDS = 5
PEERS = ()
SYSTEMS = ("car + 1", "car + 3", "bicycle", "snake of 3", "snake of 8", "snake of 20", "snake of 50")
WAYS = ("frame", "constraints")
FIRST = {"car + 3": (3, 1), "bicycle": (4, 2), "snake of 20": (4, 2)}  # bar and aim
STEP = {"car + 3": (4, 1), "bicycle": (20, 6), "snake of 20": (25, 8)}
PROGRAM = """
import json, resource, sys, time
from functools import partial
import numpy as np
import discrete_hamel as dh
from benchmarks.wheeled import model

name, way, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
given = model(name)
system, v = given.system(way), given.velocity()
run = partial(dh.simulate, system, q=given.q, v=v, h=0.01, progress=False)
began = time.process_time()
path = run(steps=10).report.path
first = time.process_time() - began
compiled = path == "compiled"
lengths = (1000, 3000) if compiled else (10, 30)
for _ in range(21 if compiled and rounds else 0):
    run(steps=1000)
best = dict.fromkeys(lengths, float("inf"))
for _ in range(rounds):
    for steps in lengths:
        began = time.process_time()
        traj = run(steps=steps)
        best[steps] = min(best[steps], time.process_time() - began)
step = 1e6 * (best[lengths[1]] - best[lengths[0]]) / (lengths[1] - lengths[0])
error = float("nan")
if name.startswith("car") and rounds:
    exact = dh.reference(given.system("frame"), q=given.q, v=v, t=10.0)
    error = float(np.max(np.abs(traj.q[1000] - exact.q[-1])))
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([path, first, step, error, memory]))
"""


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    for name in SYSTEMS[:2] if quick else SYSTEMS:
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                (path, cold, step, error, memory), (_, warm, *_) = (_run(name, way, n, folder) for n in (rounds, 0))
            yield {
                "system": name,
                "given by": way,
                "path": path,
                "first call cold, s": cold,
                "warm, s": warm,
                "a step, us": step,
                "error": error,
                "memory, MB": memory,
            }


def _run(name: str, way: str, rounds: int, folder: str) -> list[Any]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("JAX_")}
    command = [sys.executable, "-c", PROGRAM, name, way, str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, env=own | {"DISCRETE_HAMEL_CACHE": folder})
    if done.returncode:
        raise RuntimeError(f"{name} by its {way}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    by = {(row["system"], row["given by"]): row for row in rows}
    found = []
    for (name, way), row in by.items():
        if name in FIRST and (way == "constraints" or name == "snake of 20"):
            found.append(Bar(f"{name}, {way}: first call in seconds", row["first call cold, s"], *FIRST[name]))
            found.append(Bar(f"{name}, {way}: microseconds a step", row["a step, us"], *STEP[name]))
    if ("car + 3", "frame") in by:
        errors = [by["car + 3", way]["error"] for way in WAYS]
        found.append(Bar("car + 3, constraints: error over that of the frame by hand", errors[1] / errors[0], 2, 1))
    return found


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLACK, BLUE
    from paper_figures.pictures import mosaic

    figure, axes = mosaic([["first", "step"]], size=(7.2, 0.24 * len(rows) + 0.8))
    names = [f"{row['system']}, {row['given by']}" for row in rows]
    for ax, key in ((axes["first"], "first call cold, s"), (axes["step"], "a step, us")):
        plain = [row["path"] != "compiled" for row in rows]
        ax.barh(names, [row[key] for row in rows], color=[BLACK if p else BLUE for p in plain])
        ax.set(xlabel=key.replace(", ", " [") + "]", xscale="log")
        ax.tick_params(axis="y", labelsize=6)
    axes["step"].set_yticklabels([])
    return figure
