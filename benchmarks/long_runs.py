"""Growth of the invariants' errors over 10^7 steps from many data: python benchmarks/long_runs.py [steps] [data].

For each exact invariant I of the pendulum, the sleigh and (a tenth of the steps) the rigid body, in units of its size:
* the root mean square over the data of max |I - I_0| up to a hundredth, a tenth and all of the steps;
* the exponent of growth of max |I - I_0| over these two decades, the mean over the data and its standard error: 1/2 for
  a random walk, 1 for a bias, less than 1/2 for what is bounded;
* the largest |I_end - I_0| in standard deviations of a random walk that has the changes seen over thousandths of the
  run: for a walk a number like 2 or 3, for a bias it grows with the square root of the steps.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import discrete_hamel as dh

SAVED = 1000
PARTS = np.geomspace(SAVED / 100, SAVED, 9).round().astype(int)  # saved nodes at which growth is read off
STEPS = (0.2, 0.1, 0.3, 0.07)  # their decimals make roundings lopsided; h = 1/4 would hide that


def data(system: dh.System, count: int) -> Iterator[dict]:
    """The sample of the system, and random data of its kind."""
    random = np.random.default_rng(0)
    yield system.sample()
    for k in range(1, count):
        h = STEPS[k % len(STEPS)]
        if isinstance(system, dh.systems.SphericalPendulum):
            gamma = random.normal(size=3)
            yield {"q": gamma / np.linalg.norm(gamma), "xi": 0.6 * random.normal(size=2), "h": h}
        else:
            yield {"q": system.sample()["q"], "xi": random.normal(size=system.rank), "h": h / 2}


def exponent(errors: np.ndarray) -> tuple[float, float]:
    """The slope of log errors against log steps, mean over the data and its standard error; errors[data, part]."""
    slopes = np.polyfit(np.log(PARTS), np.log(np.maximum(errors, 1e-17)).T, 1)[0]
    return float(np.mean(slopes)), float(np.std(slopes, ddof=1) / np.sqrt(len(slopes)))


def report(system: dh.System, scheme: Any, steps: int, count: int) -> None:
    """The rows of one system and scheme."""
    series: dict[str, list[np.ndarray]] = {}
    began, path = time.process_time(), ""
    for start in data(system, count):
        run = dh.simulate(system, **start, steps=steps, scheme=scheme, save_every=steps // SAVED, progress=False)
        path = run.report.path
        for name, values in run.invariants().items():
            if system.invariants()[name].kept == "exact":
                change = np.asarray(values) - values[0]
                series.setdefault(name, []).append(change / max(1.0, abs(float(values[0]))))
    spent = (time.process_time() - began) / steps / count
    print(f"{type(system).__name__}, {scheme!r}: {steps} steps, {count} data, {spent * 1e9:.0f} ns a step, {path} path")
    for name, changes in series.items():
        paths = np.array(changes)
        largest = np.maximum.accumulate(np.abs(paths), axis=1)[:, PARTS]
        rms = np.sqrt(np.mean(largest[:, [0, 4, 8]] ** 2, axis=0))
        spread = np.sqrt(np.mean(np.diff(paths, axis=1) ** 2, axis=1) * SAVED)
        strays = np.max(np.abs(paths[:, -1]) / np.maximum(spread, 1e-17))
        found, error = exponent(largest)
        sizes = " ".join(f"{r:.1e}" for r in rms)
        print(f"   {name:20} {sizes}   exponent {found:.2f} +- {error:.2f}   end {strays:.1f} sd of a walk", flush=True)


def main(steps: int, count: int) -> None:
    """All systems with the default scheme and the compensated one."""
    sleigh, pendulum, body = dh.systems.ChaplyginSleigh(), dh.systems.SphericalPendulum(), dh.systems.RigidBody()
    for scheme in (dh.DiscreteHamel(), dh.DiscreteHamel(compensated=True)):
        report(pendulum, scheme, steps, count)
        report(sleigh, scheme, steps, count)
        report(body, scheme, max(SAVED, steps // 10), count)


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000, int(sys.argv[2]) if len(sys.argv) > 2 else 16)
