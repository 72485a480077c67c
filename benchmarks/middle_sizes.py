"""Systems of middle size that are no chains, compiled against plain: python -m benchmarks.middle_sizes

Operations are counted in one iteration.
One interleaved run, dense output, best of many rounds.
"""

from collections.abc import Callable
from typing import Any

import discrete_hamel as dh
from paper_figures.speeds import compiled, interleaved, plain, start

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


def contestants(system: dh.System, scheme: Any) -> tuple[int, dict[str, Callable[[], Any]]]:
    """How many operations, and the runs."""
    sample = system.sample()
    begun = start(system, scheme, sample["q"], sample["xi"], sample["h"])
    ours, stepper = compiled(begun, STEPS)
    return stepper.root.operations, {"ours": ours, "plain": plain(begun, PLAIN_STEPS)}


def main() -> None:
    operations, runs = {}, {}
    for name, case in CASES.items():
        operations[name], of_it = contestants(*case)
        runs |= {(name, kind): run for kind, run in of_it.items()}
    for run in runs.values():
        run()
    best = interleaved(runs, ROUNDS)
    print("system             operations    ours, ns   plain, ns   plain / ours")
    for name, count in operations.items():
        ours, plain = 1e9 * best[name, "ours"] / STEPS, 1e9 * best[name, "plain"] / PLAIN_STEPS
        print(f"{name:18} {count:10} {ours:11.0f} {plain:11.0f} {plain / ours:14.1f}")


if __name__ == "__main__":
    main()
