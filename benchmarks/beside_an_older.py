"""The loop alone, of an older commit and of these files by turns: python -m benchmarks.beside_an_older [commit]

A step's time is the difference of calls of 120 000 and of 20 000 steps that keep each thousandth node, the best of many
turns that both take one after the other in two processes. Without a commit it is the one before the move (89392dd).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import discrete_hamel as dh
from benchmarks.house import BEFORE_THE_MOVE, ROOT, unpack

SYSTEMS = ("SphericalPendulum", "RollingDisk", "ChaplyginSleigh", "Snakeboard", "HeavyTop", "RollerRacer")
TURNS = 30
LONG, SHORT = 120_000, 20_000

WORKER = """
import json, sys, time
import discrete_hamel as dh

for line in sys.stdin:
    name, data = json.loads(line)
    system = getattr(dh.systems, name)()
    seconds = []
    for steps in data.pop("of"):
        began = time.perf_counter()
        report = dh.simulate(system, **data, steps=steps, save_every=1000).report
        seconds.append(time.perf_counter() - began)
        assert report.path == "compiled", report
    print("took", *seconds, flush=True)
"""


class Worker:
    """A process with one version of the package."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-c", WORKER]
        self.process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, name: str, data: dict) -> list[float]:
        """Of calls of each number of steps in data["of"]."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, data]) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("took"):
                return [float(word) for word in line.split()[1:]]
        raise SystemExit(f"the process of {name} ended")


def main() -> None:
    commit = sys.argv[1] if len(sys.argv) > 1 else BEFORE_THE_MOVE
    with tempfile.TemporaryDirectory() as folder:
        unpack(commit, Path(folder))
        workers = Worker(Path(folder)), Worker(ROOT)
        print(f"{'':20}{commit:>10}{'here':>10}   us a step, and the ratio")
        for name in SYSTEMS:
            sample = getattr(dh.systems, name)().sample()
            data = {part: np.asarray(sample[part]).tolist() for part in ("q", "xi", "h")} | {"of": [SHORT, LONG]}
            turns = [[worker.seconds(name, dict(data)) for worker in workers] for _ in range(TURNS + 1)][1:]
            short, long = np.min(turns, axis=0).T
            then, now = 1e6 * (long - short) / (LONG - SHORT)
            print(f"{name:20}{then:10.3f}{now:10.3f}{now / then:10.2f}", flush=True)


if __name__ == "__main__":
    main()
