"""Energy of EnergyExact over the whole catalogue: python benchmarks/energy_exact.py [steps] [gonzalez] [system ...].

Per system: the largest drift of the moving energy H, relative to max(1, |H|), and in units of round-off times
sqrt(steps): a random walk of one unit a step comes to about 1, a bias of one unit a step to sqrt(steps). The unit is
what H changes by when every number that it is made of is rounded, eps (sum |q dl/dq| + sum |mu xi| + |l|). Then the
bias a step, also in units, and the exponent of growth of the spread over stretches of the run: 1/2 for a random walk.
Where a prescribed motion moves the constraint the motion itself does not keep H: those are marked "driven".
"""

import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

SAVED = 1000
DRIVEN = ("DrivenRollerRacer", "DrivenSnakeboard")


@jax.jit
def moving_energy(system: dh.System, q: Any, xi: Any) -> tuple[Any, Any]:
    """H = E - <mu_U, b> over nodes, the energy where there is no slip; and its unit of round-off."""

    def at(q: Any, xi: Any) -> tuple[Any, Any]:
        free = isinstance(system, dh.NonlinearSystem)  # its energy is of all velocities, qdot = psi(q, z)
        xi, m = (dh.velocities(system, q, xi), None) if free else (xi, system.rank)
        value, (slope, mu) = jax.value_and_grad(system.lagrangian, (0, 1))(q, xi)
        size = jnp.sum(jnp.abs(q * slope)) + jnp.sum(jnp.abs(mu * xi)) + jnp.abs(value)
        return mu[:m] @ xi[:m] - value, jnp.finfo(q.dtype).eps * size

    return jax.vmap(at)(q, xi)


def growth(values: np.ndarray) -> float:
    """The exponent of the root mean square change over n saved nodes in n, from 1 to a tenth of the run."""
    lengths = np.unique(np.geomspace(1, len(values) // 10, 10).astype(int))
    spreads = np.array([np.sqrt(np.mean((values[n:] - values[:-n]) ** 2)) for n in lengths])
    return float(np.polyfit(np.log(lengths), np.log(spreads), 1)[0]) if np.all(spreads > 0) else 0.0


def measure(name: str, steps: int, gradient: Any) -> str:
    system, scheme = getattr(dh.systems, name)(), dh.EnergyExact(gradient)
    began = time.perf_counter()
    run = dh.simulate(system, **system.sample(), steps=steps, scheme=scheme, save_every=max(1, steps // SAVED))
    spent = time.perf_counter() - began
    energy, units = (np.asarray(a) for a in moving_energy(run.system, run.q, run.xi))
    drift, unit, size = float(np.max(np.abs(energy - energy[0]))), float(np.max(units)), max(1.0, abs(energy[0]))
    well = drift <= 1e-12 * steps**0.5 * size and drift <= 4 * unit * steps**0.5
    verdict = "driven" if name in DRIVEN else "ok" if well else "ABOVE"
    return (
        f"{verdict:6} {name:28} drift {drift / size:.1e}, units {drift / unit / steps**0.5:7.3f} sqrt(steps), "
        f"a step {(energy[-1] - energy[0]) / unit / steps:+.1e}, exponent {growth(energy):.2f}, "
        f"{spent / steps * 1e6:.0f} us a step, {run.report.path} path"
    )


def main(arguments: list[str]) -> None:
    steps = int(next((a for a in arguments if a.isdigit()), "100000"))
    gradient = dh.Gonzalez() if "gonzalez" in arguments else dh.MeanValue()
    for name in [a for a in arguments if a in dh.systems.__all__] or dh.systems.__all__:
        try:
            print(measure(name, steps, gradient), flush=True)
        except Exception as error:  # a soak goes on with the other systems
            print(f"FAIL   {name}: {type(error).__name__}: {str(error)[:200]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
