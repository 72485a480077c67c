"""Systems of middle size that are no chains, compiled against plain: python benchmarks/middle_sizes.py

Operations are counted in one iteration; above `loop.FUSED` of them the kernel is compiled without XLA's fusion pass.
One interleaved run, dense output, best of many rounds.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from chain import measured

import discrete_hamel as dh
from discrete_hamel import checks, loops
from discrete_hamel.kernel.choice import chunk, stepper_for

STEPS, PLAIN_STEPS, ROUNDS = 2048, 64, 60
CASES = {
    "pendulum": (dh.systems.SphericalPendulum(), dh.DiscreteHamel()),
    "rolling disk": (dh.systems.RollingDisk(), dh.DiscreteHamel()),
    "Lagrange top": (dh.systems.LagrangeTop(), dh.DiscreteHamel()),
    "roller racer": (dh.systems.RollerRacer(), dh.DiscreteHamel()),
    "ball on a sphere": (dh.systems.BallOnSphere(), dh.DiscreteHamel()),
    "disk, Gauss(3)": (dh.systems.RollingDisk(), dh.Gauss(stages=3)),
    "rattleback": (dh.systems.Rattleback(), dh.DiscreteHamel()),
}


def contestants(system: dh.System, scheme: Any) -> tuple[int, dict[str, tuple[Callable[[], Any], int]]]:
    """How many operations, and the runs."""
    sample = system.sample()
    system, q, xi = checks.initial_data(system, sample["q"], sample["xi"], None)
    system, scheme, h = checks.canonical(system), checks.canonical(scheme), jnp.asarray(sample["h"], float)
    state = dh.start(system, scheme, q, xi, h)
    stepper = stepper_for(STEPS, system, scheme, state, h)
    if isinstance(stepper, str):
        raise SystemExit(f"{type(system).__name__} runs on the plain path: {stepper}")
    many, few = ((jnp.asarray(steps), jnp.asarray(1)) for steps in (STEPS, PLAIN_STEPS))
    return stepper.root.operations, {
        "ours": (lambda: chunk(stepper, STEPS, system, scheme, state, h, *many), STEPS),
        "plain": (lambda: loops._chunk(system, scheme, state, h, *few), PLAIN_STEPS),
    }


def main() -> None:
    operations, runs = {}, {}
    for name, case in CASES.items():
        operations[name], of_it = contestants(*case)
        runs |= {(name, kind): run for kind, run in of_it.items()}
    for run, _ in runs.values():
        run()
    best = measured(runs, ROUNDS)
    print("system             operations    ours, ns   plain, ns   plain / ours")
    for name, count in operations.items():
        ours, plain = (1e9 * best[name, kind] for kind in ("ours", "plain"))
        print(f"{name:18} {count:10} {ours:11.0f} {plain:11.0f} {plain / ours:14.1f}")


if __name__ == "__main__":
    main()
