"""10^5 members x 10^3 steps of the sleigh and of the disk: python benchmarks/ensembles.py [ROUNDS | processes [WHICH]]

With one and with two cores, and beside the lanes kernel alone on one core, all taking turns; and resident memory. With
the word `processes` instead: four processes on this machine share one store, one of them is killed, and the others do
its blocks.
"""

import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import jax
import numpy as np
from lanes import CASES, Ours, interleaved, spread

import discrete_hamel as dh

MEMBERS, STEPS = 100_000, 1000
KERNEL = 10_240  # lanes of the kernel alone, whose time does not depend on it


def members_of(name: str, members: int) -> dict:
    """What `dh.ensemble` takes."""
    system, q, xi, h = CASES[name]
    velocities = np.tile(xi, (members, 1)).astype(float)
    velocities[:, -1] += spread(members)
    return {"system": system, "q": q, "xi": velocities, "h": h, "steps": STEPS, "progress": False}


def main(rounds: int) -> None:
    print(f"discrete_hamel {dh.__version__}, jax {jax.__version__}, python {sys.version.split()[0]}")
    print(f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores; best of {rounds} rounds")
    for name in ("sleigh", "disk"):
        data, kernel = members_of(name, MEMBERS), Ours(name, KERNEL, STEPS)
        kernel()
        dh.ensemble(**members_of(name, 2048))
        runs = {f"{k} cores": partial(dh.ensemble, **data, workers=k) for k in (1, 2)}
        best = interleaved(runs | {"kernel": kernel}, rounds)
        each = {k: 1e9 * t / STEPS / (KERNEL if k == "kernel" else MEMBERS) for k, t in best.items()}
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name}: kernel alone {each['kernel']:.1f} ns a member-step; ensemble on one core {each['1 cores']:.1f} "
            f"({each['1 cores'] / each['kernel']:.2f} x the kernel), on two {each['2 cores']:.1f} "
            f"({best['1 cores'] / best['2 cores']:.2f} x faster); {3600e9 / each['1 cores']:.1e} member-steps a "
            f"core-hour; resident {memory:.2f} GB at most",
            flush=True,
        )


SCRIPT = """
import sys, time
import numpy as np
import discrete_hamel as dh
sys.path.insert(0, sys.argv[2])
from ensembles import members_of
begin = time.perf_counter()
runs = dh.ensemble(**members_of("sleigh", 200_000), store=sys.argv[1], workers=1)
print(f"{int(runs.finished.values.sum())} members in {time.perf_counter() - begin:.1f} s", flush=True)
"""


def processes(which: int) -> None:
    """Four processes, of which this one dies."""
    with tempfile.TemporaryDirectory() as folder:
        script, store = Path(folder) / "script.py", Path(folder) / "runs.zarr"
        script.write_text(SCRIPT)
        command = [sys.executable, "-m", "discrete_hamel.cli.launch", "--local", "4", str(script), str(store)]
        command.append(str(Path(__file__).parent))
        begin = time.perf_counter()
        launched = subprocess.Popen(command)
        while launched.poll() is None and len(list((store / "q").glob("[0-9]*"))) < 20:
            time.sleep(0.05)
        children = Path(f"/proc/{launched.pid}/task/{launched.pid}/children").read_text().split()
        os.kill(int(children[which]), signal.SIGKILL)
        there = len(list((store / "q").glob("[0-9]*")))
        code = launched.wait()
        print(f"killed process {which} when {there} of {-(-200_000 // 2048)} blocks were there: exit code {code}")
        print(f"{time.perf_counter() - begin:.1f} s in all")
        runs = dh.ensemble(**members_of("sleigh", 2048))
        import xarray

        with xarray.open_zarr(store, chunks=None) as stored:
            same = np.array_equal(stored.failure.values[:2048], runs.failure.values)
            print(f"all finished: {bool(stored.finished.values.all())}, failures the same: {same}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["processes"]:
        processes(int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
