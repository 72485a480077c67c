"""10^8 steps of the spherical pendulum with a store: python benchmarks/soak.py [steps] [nodes] [compensated].

Prints the time a step (wall clock and of this process), the store's size, the most memory in use, and for each exact
invariant: the largest drift in units of its size, the bound 1e-12 sqrt(steps), and the mean drift a step. Times of
nodes are k h from the index; what a sum of so many steps would have made of them is printed beside it.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import discrete_hamel as dh


def size(store: Path) -> int:
    """Bytes on disk."""
    return sum(file.stat().st_blocks * 512 for file in store.rglob("*") if file.is_file())


def summed(h: float, steps: int) -> float:
    """The time that adding h at each step would give, a piece at a time."""
    t, piece = 0.0, np.full(1_000_000, h)
    for _ in range(steps // len(piece)):
        t = float(np.cumsum(np.concatenate([[t], piece]))[-1])
    return t


def soak(steps: int, nodes: int, compensated: bool, folder: Path) -> None:
    pendulum, store = dh.systems.SphericalPendulum(), folder / "pendulum.zarr"
    data, scheme = pendulum.sample(), dh.DiscreteHamel(compensated=compensated)
    dh.simulate(pendulum, **data, steps=1000, scheme=scheme)  # compiles
    wall, cpu = time.perf_counter(), time.process_time()
    run = dh.simulate(pendulum, **data, steps=steps, save_every=steps // nodes, scheme=scheme, store=store)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{scheme!r}: {steps:.0e} steps, h = {data['h']}, {len(run)} nodes saved, {run.report.path} path")
    each = f"{wall / steps * 1e9:.0f} and {cpu / steps * 1e9:.0f} ns a step"
    print(f"   {wall:.1f} s by the wall, {cpu:.1f} s of CPU: {each}")
    print(f"   store {size(store) / 1e6:.1f} MB, at most {memory:.0f} MB of memory")
    for name, values in dh.load(store).invariants().items():
        unit = max(1.0, float(np.abs(values[0])))
        drift = (np.asarray(values) - values[0]) / unit
        bound = 1e-12 * steps**0.5
        print(
            f"   {name:18} drift {np.abs(drift).max():.1e} (bound {bound:.0e}), {drift[-1] / steps:+.1e} a step",
            flush=True,
        )
    exact = steps * data["h"]
    print(f"   t at the end: {run.t[-1]!r}, k h = {exact!r}, summed {summed(data['h'], steps)!r}")


if __name__ == "__main__":
    words = sys.argv[1:]
    count = int(float(words[0])) if words else 100_000_000
    kept = int(float(words[1])) if len(words) > 1 else 100_000
    with tempfile.TemporaryDirectory() as place:
        soak(count, kept, "compensated" in words, Path(place))
