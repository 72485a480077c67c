"""Energy of EnergyExact over the whole catalogue: python benchmarks/energy_exact.py [steps] [gonzalez] [system ...].

Prints, per system, the largest drift of the moving energy H in units of its size, the bound 1e-12 sqrt(steps), the
drift a step, and the exponent of growth. Systems with a slip are marked: their motion need not conserve H at all.
"""

import sys
import time
from typing import Any

import jax
import numpy as np

import discrete_hamel as dh
from discrete_hamel import hamel


@jax.jit
def moving_energy(system: dh.System, q: Any, xi: Any) -> Any:
    """E - <mu_U, b>, over nodes; the energy where there is no slip."""

    def at(q: Any, xi: Any) -> Any:
        m = system.rank
        return hamel.energy(system, q, xi) - hamel.momentum(system, q, xi)[m:] @ xi[m:]

    return jax.vmap(at)(q, xi)


def measure(name: str, steps: int, gradient: Any) -> str:
    system = getattr(dh.systems, name)()
    save_every = max(1, steps // 1000)
    began = time.perf_counter()
    trajectory = dh.simulate(
        system, **system.sample(), steps=steps, scheme=dh.EnergyExact(gradient), save_every=save_every
    )
    spent = time.perf_counter() - began
    energy = np.asarray(moving_energy(trajectory.system, trajectory.q, trajectory.xi))
    drift = np.maximum.accumulate(np.abs(energy - energy[0]))[1:]
    size = max(1.0, float(abs(energy[0])))
    k = np.arange(1, len(drift) + 1)
    late = k > len(drift) // 20
    grows = np.polyfit(np.log(k[late]), np.log(np.maximum(drift[late], 1e-18)), 1)[0]
    slip = " slip" if np.any(trajectory.xi[:, trajectory.system.rank :]) else ""
    verdict = "ok  " if drift[-1] <= 1e-12 * steps**0.5 * size else "ABOVE"
    return (
        f"{verdict} {name:28} drift {drift[-1] / size:.1e} of {size:.3g}, bound {1e-12 * steps**0.5:.1e}, "
        f"a step {(energy[-1] - energy[0]) / steps:+.1e}, exponent {grows:.2f}, "
        f"{spent / steps * 1e6:.0f} us a step{slip}"
    )


def main(arguments: list[str]) -> None:
    steps = int(next((a for a in arguments if a.isdigit()), "100000"))
    gradient = dh.Gonzalez() if "gonzalez" in arguments else dh.MeanValue()
    names = [a for a in arguments if a in dh.systems.__all__] or dh.systems.__all__
    for name in names:
        try:
            print(measure(name, steps, gradient), flush=True)
        except Exception as error:  # a soak goes on with the other systems
            print(f"FAIL {name}: {type(error).__name__}: {str(error)[:200]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
