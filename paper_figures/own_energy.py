"""Energy over a million steps

Largest relative error of the energy so far, at the nodes. Where theory says that the discrete Hamel scheme (tau = 1/2)
keeps energy exactly, what is left is round-off; shaded: a random walk of a rounding a step, to four standard
deviations. For the free rigid body what is rounded off is also carried along (compensated). The disk's energy is not
exact but bounded, as h^2, and `EnergyExact` makes it so. Runge and Kutta's fourth order loses the pendulum's energy in
proportion to time. The last two runs are shorter.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, style

from . import pendulum
from .pictures import mosaic

EVERY, STEPS = 100, 1_000_000
EPS = float(np.finfo(float).eps)
STANDARD_DEVIATIONS = 4


class Run(NamedTuple):
    """A curve: what moves, from where, by what, and how it is drawn."""

    name: str
    system: dh.System
    q: Any
    xi: Any
    h: float
    scheme: Any
    steps: int
    color: str
    line: str = "-"


HAMEL, CARRIED = dh.DiscreteHamel(), dh.DiscreteHamel(compensated=True)
SLEIGH, BOB = dh.systems.ChaplyginSleigh(), dh.systems.SphericalPendulum(**pendulum.PENDULUM)
BODY, DISK = dh.systems.RigidBody(), dh.systems.RollingDisk()
UPRIGHT = tuple(np.eye(3).ravel())
ROLLING = (0.3, 0.0, 0.0, 0.0, 0.0), (0.1, 0.6, 3.0)
RUNS = (
    Run("RungeKutta4: pendulum", BOB, pendulum.GAMMA, (0.6, 0.0), 0.2, dh.RungeKutta4(), 20_000, BLACK, "-."),
    Run("Hamel: disk", DISK, *ROLLING, 0.01, HAMEL, STEPS, VERMILLION),
    Run("EnergyExact: disk", DISK, *ROLLING, 0.01, dh.EnergyExact(), 100_000, ORANGE, "--"),
    Run("Hamel: rigid body", BODY, UPRIGHT, (0.1, 1.0, 0.1), 0.05, HAMEL, STEPS, PURPLE),
    Run("Hamel, compensated: rigid body", BODY, UPRIGHT, (0.1, 1.0, 0.1), 0.05, CARRIED, STEPS, PURPLE, "--"),
    Run("Hamel: pendulum", BOB, pendulum.GAMMA, (0.6, 0.0), 0.2, HAMEL, STEPS, BLUE),
    Run("Hamel: sleigh", SLEIGH, (0.1, 0.0, 0.0), (1.5, -0.3), 0.01, HAMEL, STEPS, SKY),
    Run("Hamel: Suslov", dh.systems.Suslov(), UPRIGHT, (0.8, -0.9), 0.05, HAMEL, STEPS, GREEN),
)
WALKS = ("Hamel, compensated: rigid body", "Hamel: pendulum", "Hamel: sleigh", "Hamel: Suslov")
PARAMETERS: dict[str, Any] = {
    run.name: {"h": run.h, "steps": run.steps, "q": run.q, "xi": run.xi, "scheme": repr(run.scheme)} for run in RUNS
}


def compute(fast: bool) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for run in RUNS:
        made = _simulated(run, run.h, run.steps)
        data[f"error_{run.name}"] = made.energy / made.energy[0] - 1
        if run.name in BY_HAND:
            data[f"by_hand_{run.name}"] = BY_HAND[run.name](made) / made.energy
    disk = next(run for run in RUNS if run.name == "Hamel: disk")
    halved = _simulated(disk, disk.h / 2, STEPS // 10 if fast else 2 * STEPS)
    data["error_disk_halved"] = halved.energy / halved.energy[0] - 1
    return data


def _simulated(run: Run, h: float, steps: int) -> dh.Trajectory:
    return dh.simulate(run.system, run.q, run.xi, h=h, steps=steps, scheme=run.scheme, save_every=EVERY)


def _of_the_bob(made: dh.Trajectory) -> np.ndarray:
    """m r^2 |xi|^2 / 2 + m g r gamma3."""
    m, r, g = pendulum.PENDULUM.values()
    return 0.5 * m * r**2 * np.sum(made.xi[:, :2] ** 2, axis=1) + m * g * r * made.q[:, 2]


def _of_the_sleigh(made: dh.Trajectory) -> np.ndarray:
    """p1^2 / 2 (J + m a^2) + p2^2 / 2 m, [QS] 6.2."""
    turning = SLEIGH.inertia + SLEIGH.mass * SLEIGH.offset**2
    return made.p[:, 0] ** 2 / (2 * turning) + made.p[:, 1] ** 2 / (2 * SLEIGH.mass)


BY_HAND: dict[str, Callable[[dh.Trajectory], np.ndarray]] = {
    "Hamel: pendulum": _of_the_bob,
    "Hamel: sleigh": _of_the_sleigh,
}


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["energy"]], size=(6.4, 3.9))
        ax = axes["energy"]
        k = np.array([EVERY, STEPS])
        band = STANDARD_DEVIATIONS * EPS * np.sqrt(k)
        ax.fill_between(k, 1e-17, band, color=GREY, alpha=0.2, linewidth=0)
        ax.plot(
            k,
            STANDARD_DEVIATIONS * EPS * np.sqrt(k),
            ":",
            color=BLACK,
            linewidth=0.8,
            label=r"$4\,\varepsilon\sqrt{k}$",
        )
        for run in RUNS:
            error = np.maximum.accumulate(np.abs(data[f"error_{run.name}"][1:]))
            steps = EVERY * np.arange(1, len(error) + 1)
            ax.plot(steps, np.where(error > 0, error, np.nan), run.line, color=run.color, label=run.name)
        ax.set(xscale="log", yscale="log", xlim=k, ylim=(1e-16, 1e-2), xlabel="step $k$")
        ax.set_ylabel("largest $|E/E_0 - 1|$ so far")
        drawing.legend(loc="outside right upper")
    return drawing


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    error = {run.name: data[f"error_{run.name}"] for run in RUNS}
    most = {name: float(np.max(np.abs(values))) for name, values in error.items()}
    band = STANDARD_DEVIATIONS * EPS * STEPS**0.5
    disk, exact, kutta = "Hamel: disk", "EnergyExact: disk", "RungeKutta4: pendulum"
    tenth = len(error[disk]) // 10
    early, halved = (float(np.max(np.abs(e))) for e in (error[disk][: tenth + 1], data["error_disk_halved"]))
    plain, carried = most["Hamel: rigid body"], most["Hamel, compensated: rigid body"]
    lost = np.abs(error[kutta])
    growth = float(lost[-1] / lost[len(lost) // 10])
    by_hand = max(float(np.max(np.abs(data[f"by_hand_{name}"] - 1))) for name in BY_HAND)
    short = STANDARD_DEVIATIONS * EPS * (EVERY * (len(error[exact]) - 1)) ** 0.5
    return [
        (
            f"exact energies stay within four deviations of a walk of a rounding a step, {band:.0e}: "
            + ", ".join(f"{most[name]:.0e} {name.rpartition(': ')[2]}" for name in WALKS),
            max(most[name] for name in WALKS) < band,
        ),
        (
            "and grow no faster: over stretches 100 times longer their changes are at most 17 times as large, which a "
            "walk is with probability 0.9995 and a bias never",
            all(_walks(error[name]) for name in WALKS),
        ),
        (
            f"the rigid body's, {plain:.0e}, is below 1e-12 sqrt(steps), but carrying along what is rounded off "
            f"takes it down more than tenfold, to {carried:.0e}; both are walks",
            plain < 1e-12 * STEPS**0.5 and carried < plain / 10 and _walks(error["Hamel: rigid body"]),
        ),
        (
            f"the disk's is not exact ({most[disk]:.0e}) but bounded: what a tenth of the run reaches, the whole "
            f"exceeds by no more than a tenth ({most[disk] / early - 1:.0%})",
            most[disk] > 1e-8 and most[disk] < 1.1 * early,
        ),
        (
            f"it is O(h^2): a quarter at half the step, within a quarter of that ({early / halved:.2f})",
            3 < early / halved < 5,
        ),
        (f"EnergyExact keeps it: {most[exact]:.0e}, in the band {short:.0e}", most[exact] < short),
        (
            f"Runge and Kutta lose it in proportion to time: ten times the time, {growth:.1f} times the loss (8 to 12)",
            8 < growth < 12,
        ),
        (
            "the pendulum's and the sleigh's are m r^2 |xi|^2/2 + m g r gamma3 and p1^2/2(J + m a^2) + p2^2/2m, by "
            f"hand (1e-14, {by_hand:.0e})",
            by_hand < 1e-14,
        ),
    ]


def _walks(values: np.ndarray) -> bool:
    """Root mean square changes over 10 and over 1000 saved nodes; what is below a rounding counts as one."""
    short, long = (max(float(np.sqrt(np.mean(np.diff(values[::n]) ** 2))), EPS) for n in (10, 1000))
    return long <= 1.7 * 10 * short
