"""Honest drift: what each scheme does to the driven energy of two systems, of which one motion is its own reverse.

    python benchmarks/honest_drift.py [--steps 40000] [--h 0.1]

A motion is its own reverse if an involution that reverses time maps its torus to itself. The contact oscillator's is;
that of the gearbox (a CVT driven by an asymmetric pendulum) is not: v -> -v reverses it, as it does every natural
system ([QS] Prop. 4.3), but to a pendulum that turns the other way. Both motions keep (x^2 + z^2 + x'^2 + z'^2)/2, the
energy of the driven oscillators. For each scheme: the slope of that energy per unit time with its standard error, a
star if that is more than four of them from zero, and the largest deviation. Modin and Verdier, Numer. Math. 145 (2020).
"""

import argparse
import sys
from typing import Any

import discrete_hamel as dh
from discrete_hamel.analysis import Trend, trend

OWN_REVERSE = dh.systems.ContactOscillator()
ENERGY = "energy of the driven"


def gearbox(orthonormal: bool = False) -> dh.System:
    """The problem whose motion is not its own reverse; `orthonormal` scales its frame, and no more."""
    return dh.systems.Gearbox(epsilon=0.3, orthonormal=orthonormal)


def schemes() -> dict[str, Any]:
    """Every scheme that takes a nonholonomic system, under a short name."""
    hamel, leapfrog = dh.DiscreteHamel(), dh.Leapfrog()
    return {
        "DiscreteHamel": hamel,
        "DiscreteHamel(tau=0.25)": dh.DiscreteHamel(tau=0.25),
        "StaggeredHamel": dh.StaggeredHamel(),
        "CortesMartinez": dh.CortesMartinez(),
        "CortesMartinez(0, 0)": dh.CortesMartinez(0.0, 0.0),
        "Leapfrog": leapfrog,
        "Composed(DiscreteHamel, 4)": dh.Composed(hamel, order=4),
        "Composed(DiscreteHamel, 6)": dh.Composed(hamel, order=6),
        "Composed(Leapfrog, 4)": dh.Composed(leapfrog, order=4),
        "EnergyExact": dh.EnergyExact(),
        "Gauss(2)": dh.Gauss(2),
        "Gauss(3)": dh.Gauss(3),
        "RungeKutta4": dh.RungeKutta4(),
    }


def drift(system: dh.System, scheme: Any, h: float, steps: int) -> tuple[Trend, float]:
    """The slope of the driven energy with its error bar, and the largest deviation."""
    start = system.sample()
    run = dh.simulate(system, start["q"], start["xi"], h=h, steps=steps, scheme=scheme)
    energy = run.invariants()[ENERGY]
    return trend(run.t, energy), float(abs(energy - energy[0]).max())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--steps", type=int, default=40_000)
    options.add_argument("--h", type=float, default=0.1)
    chosen = options.parse_args()
    problems = {"contact oscillator": OWN_REVERSE, "gearbox": gearbox(), "gearbox, orthonormal": gearbox(True)}
    print(f"h = {chosen.h:g}, {chosen.steps} steps: slope of the driven energy per unit time, and largest deviation")
    print(f"{'':28}" + "".join(f"{name:34}" for name in problems))
    for name, scheme in schemes().items():
        sys.stdout.write(f"{name:28}")
        for system in problems.values():
            try:
                slope, most = drift(system, scheme, chosen.h, chosen.steps)
                cell = f"{slope}{' *' if slope.significant else '  '} {most:.1e}"
            except (ValueError, dh.RunFailed) as refusal:
                cell = f"{type(refusal).__name__}: {str(refusal)[:18]}"
            sys.stdout.write(f"{cell:34}")
            sys.stdout.flush()
        print()


if __name__ == "__main__":
    main()
