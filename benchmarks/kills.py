"""SIGKILL at random moments of a run with a store: python benchmarks/kills.py [ensemble] [kills] [seed] [unflushed].

For each kill a process starts the run, and is killed at a random moment after its store has appeared. Then the store is
opened in xarray and with dh.load, all of it read and compared bit for bit with the same stretch of a run that was never
interrupted; the run is resumed, and compared whole. Prints the tally. `unflushed` does not wait for the disk, and so is
faster: what is written survives a kill even if it has not reached the disk.

With `ensemble` three processes share the blocks of a store, and one of them, whichever, is killed again and again, a
new one joining in its place, until the blocks are done; then the store is compared bit for bit with a run in memory.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import jax
import numpy as np

# A forked process has none of JAX's threads, so all must be done in the one that it has, and chunks be small.
jax.config.update("jax_cpu_enable_async_dispatch", False)

import discrete_hamel as dh  # noqa: E402
from discrete_hamel.runs.storage import atomic_files, layout  # noqa: E402

STEPS, CHECKPOINT = 3000, 25  # 120 checkpoints, each of 15 files and more
CHUNK = 64  # rows: 47 chunks a column; kills meet full ones, half full ones, and checkpoints in between
NAMES = ("t", "q", "p", "xi", "xi_mid")
STORED = ("time", "q", "p", "xi", "v", "energy", "xi_mid", "iterations", "residual", "converged")


def run(store: str | None, **options: Any) -> dh.Trajectory:
    """The run that is killed: the rolling of a sleigh, its checkpoints many."""
    sleigh = dh.systems.ChaplyginSleigh(mass=1.3, inertia=0.7, offset=0.4)
    data = {"q": [0.1, 0.0, 0.0], "xi": [1.5, -0.3]}
    return dh.simulate(sleigh, **data, h=0.01, steps=STEPS, store=store, progress=False, **options)


def opened(store: Path, whole: Any) -> int:
    """Nodes that the store of a killed run holds, all equal to those of the whole run; else AssertionError."""
    import xarray

    with xarray.open_zarr(store) as data:
        found = data.load()
    nodes = found.sizes["time"]
    assert found.sizes["interval"] == nodes - 1
    for name in STORED:
        values = found[name].values
        assert np.array_equal(values, whole[name].values[: len(values)]), f"xarray reads another {name}"
    loaded = dh.load(store)
    assert len(loaded) == nodes
    for name, ours in zip(NAMES, ("time", "q", "p", "xi", "xi_mid"), strict=True):
        assert np.array_equal(getattr(loaded, name), found[ours].values), f"dh.load reads another {name}"
    return nodes


def resumed(store: Path, reference: dh.Trajectory, whole: Any) -> None:
    """Go on, and compare with the run that was never interrupted."""
    import xarray

    result = run(str(store), resume=True)
    for name in NAMES:
        assert np.array_equal(getattr(result, name), getattr(reference, name)), f"resumed to another {name}"
    with xarray.open_zarr(store) as data:
        for name in STORED:
            assert np.array_equal(data[name].values, whole[name].values), f"resumed to another {name} in the store"


def campaign(kills: int, seed: int, folder: Path) -> dict[str, Any]:
    """The tally of so many kills."""
    import xarray

    draw = random.Random(seed)
    reference = run(None)
    run(str(folder / "whole.zarr"))
    with xarray.open_zarr(folder / "whole.zarr") as data:
        whole = data.load()
    length = max(_length(folder / f"timed{k}.zarr") for k in range(3))
    tally: dict[str, Any] = {"kills": 0, "opened": 0, "bit-identical": 0, "in the midst of writing": 0, "nodes": []}
    while tally["kills"] < kills:
        store = folder / f"{tally['kills']}.zarr"
        process = _started(store)
        time.sleep(draw.uniform(0, length))
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if os.WIFSIGNALED(status):  # else it was faster this time
            tally["kills"] += 1
            tally["in the midst of writing"] += any(store.rglob("*.part"))
            tally["nodes"].append(opened(store, whole))
            tally["opened"] += 1
            resumed(store, reference, whole)
            tally["bit-identical"] += 1
        shutil.rmtree(store)
    return tally


def _started(store: Path) -> int:
    """A process in the midst of the run: its store has appeared."""
    process = os.fork()
    if not process:  # a copy of this process, so that it has compiled already
        run(str(store), checkpoint_every=CHECKPOINT)
        os._exit(0)
    patience = time.monotonic() + 60
    while not store.exists():
        if time.monotonic() > patience:
            os.kill(process, signal.SIGKILL)
            raise RuntimeError("the store of a run has not appeared for a minute")
        time.sleep(0.001)
    return process


def _length(store: Path) -> float:
    """Seconds from the appearance of the store to the end."""
    process = _started(store)
    began = time.monotonic()
    os.waitpid(process, 0)
    return time.monotonic() - began


MEMBERS, BLOCK, SLOWER = 4000, 128, 0.1  # 32 blocks; seconds that each takes longer than it has to
WORKERS, BEAT = 3, 0.25


def ensemble(store: str | None) -> Any:
    """What processes share."""
    from discrete_hamel.runs.ensemble import block_claims, block_runs

    block_runs.BLOCK, block_claims.BEAT, whole = BLOCK, BEAT, block_runs.Run.block
    if store is not None:
        block_runs.Run.block = lambda self, *part: time.sleep(SLOWER) or whole(self, *part)
    sleighs = dh.systems.ChaplyginSleigh(offset=np.linspace(0.1, 0.5, MEMBERS))
    data = {"q": [0.1, 0.0, 0.0], "xi": [1.5, -0.3], "h": 0.01, "steps": 100, "save_every": 10}
    return dh.ensemble(sleighs, **data, store=store, workers=1, progress=False)


def shared(kills: int, seed: int) -> None:
    """So many kills of processes that share stores, as many stores as it takes."""
    draw, reference, began = random.Random(seed), ensemble(None), time.monotonic()
    tally = {"kills": 0, "with a claim": 0, "while it wrote": 0, "stores bit-identical": 0}
    with tempfile.TemporaryDirectory() as folder:
        while tally["kills"] < kills:
            store = Path(folder) / f"{tally['stores bit-identical']}.zarr"
            _worked_on(store, kills, draw, tally)
            found = ensemble(str(store))
            for name in reference.variables:
                same = np.array_equal(found[name], reference[name], equal_nan=reference[name].dtype.kind == "f")
                assert same, f"another {name}"
            assert not _left(store), "the dead have left something"
            tally["stores bit-identical"] += 1
    print(", ".join(f"{name}: {count}" for name, count in tally.items()), f"({time.monotonic() - began:.0f} s)")


def _worked_on(store: Path, kills: int, draw: random.Random, tally: dict[str, int]) -> None:
    """Until one process has come to the end, kill one and let another join."""
    working = [_worker(store) for _ in range(WORKERS)]
    try:
        while not store.exists():  # they are still starting
            assert all(process.poll() is None for process in working)
            time.sleep(0.01)
        while all(process.poll() is None for process in working) and tally["kills"] < kills:
            time.sleep(draw.uniform(0, 1))
            before = _left(store)
            at_work = [k for k in range(WORKERS) if any(f"process {working[k].pid} " in claim for claim in before)]
            victim = draw.choice(at_work or range(WORKERS))
            working[victim].kill()
            if working[victim].wait() == -signal.SIGKILL:
                tally["kills"] += 1
                tally["with a claim"] += victim in at_work
                tally["while it wrote"] += any(store.rglob("*.part"))
            working[victim] = _worker(store)
        for process in working:
            assert process.wait() == 0
    finally:
        for process in working:
            process.kill()
            process.wait()


def _worker(store: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, __file__, "worker", str(store)])


def _left(store: Path) -> list[str]:
    """What claims say, of the living and the dead, and the names of what is half written."""
    found = [path.name for path in store.rglob("*.part")]
    for claim in (store / "member" / ".claims").glob("*"):
        with suppress(FileNotFoundError):  # given back meanwhile
            found.append(claim.read_text())
    return found


def main(kills: int, seed: int) -> None:
    began = time.monotonic()
    warnings.filterwarnings("ignore", message="os.fork")
    layout.LONGEST = layout.SHORTEST = CHUNK
    with tempfile.TemporaryDirectory() as folder:
        tally = campaign(kills, seed, Path(folder))
    nodes = tally.pop("nodes")
    print(", ".join(f"{name}: {count}" for name, count in tally.items()))
    print(
        f"stores held {min(nodes)} to {max(nodes)} of {STEPS + 1} nodes, median {int(np.median(nodes))}; "
        f"{time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        ensemble(sys.argv[2])
        sys.exit()
    if "unflushed" in sys.argv:
        sys.argv.remove("unflushed")
        atomic_files.flush = lambda _: None
    if sys.argv[1:2] == ["ensemble"]:
        shared(*(int(word) for word in [*sys.argv[2:], *("20", "1")[len(sys.argv) - 2 :]]))
    else:
        main(*(int(word) for word in [*sys.argv[1:], *("200", "1")[len(sys.argv) - 1 :]]))
