"""Growth of the invariants' errors over 10^7 steps: python benchmarks/long_runs.py [steps].

For each exact invariant: the largest drift in units of its size, the bound 1e-12 sqrt(steps), the bias a step, and
the exponent of growth of the error's spread over stretches of n steps, n = 10^3 .. steps / 30: 1/2 for a random walk,
1 for a bias.
"""

import sys
import time
from typing import Any

import numpy as np

import discrete_hamel as dh

SAVED = 10_000


def spread(values: Any, length: int) -> float:
    """Root mean square change over stretches of `length` saved nodes."""
    changes = values[length:] - values[:-length]
    return float(np.sqrt(np.mean(changes**2)))


def growth(values: Any) -> float:
    """The exponent of `spread` in the length, fitted from 1 to a thirtieth of the run; 0 where nothing changes."""
    lengths = np.unique(np.geomspace(1, len(values) // 30, 12).astype(int))
    spreads = np.array([spread(values, int(n)) for n in lengths])
    if np.any(spreads == 0):
        return 0.0
    return float(np.polyfit(np.log(lengths), np.log(spreads), 1)[0])


def report(name: str, system: dh.System, data: dict, steps: int, scheme: Any) -> None:
    began = time.perf_counter()
    run = dh.simulate(system, **data, steps=steps, scheme=scheme, save_every=steps // SAVED)
    spent = time.perf_counter() - began
    print(f"{name}, {scheme!r}: {steps} steps, {spent / steps * 1e6:.2f} us a step, {run.report.path} path")
    for invariant, values in run.invariants().items():
        size = max(1.0, float(np.abs(values[0])))
        change = (np.asarray(values) - values[0]) / size
        print(
            f"   {invariant:20} drift {np.abs(change).max():.1e}, bound {1e-12 * steps**0.5:.1e}, "
            f"a step {change[-1] / steps:+.1e}, exponent {growth(change):.2f}",
            flush=True,
        )


def main(steps: int) -> None:
    """The rigid body for a tenth of `steps`, and EnergyExact for a hundredth of them."""
    sleigh, pendulum, body = dh.systems.ChaplyginSleigh(), dh.systems.SphericalPendulum(), dh.systems.RigidBody()
    hamel = dh.DiscreteHamel()
    for scheme in (hamel, dh.DiscreteHamel(compensated=True), dh.Composed(hamel, order=4), dh.EnergyExact()):
        count = max(SAVED, steps // 100) if isinstance(scheme, dh.EnergyExact) else steps
        report("sleigh", sleigh, sleigh.sample(), count, scheme)
        report("pendulum", pendulum, pendulum.sample(), count, scheme)
        report("rigid body", body, body.sample(), max(SAVED, count // 10), scheme)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
