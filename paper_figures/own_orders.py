"""The order of every scheme

Error in (q, xi) on the constraint distribution at the end, against the step, for the unbalanced sleigh, the rolling
disk and Suslov's problem with its attitude; the slopes of the lines through the points, in this order, stand behind
each name. The reference integrates the papers' own equations. On the sleigh and Suslov's body EnergyExact is Hamel's
scheme. Suslov's rotation matrix is nine redundant numbers, which the leapfrog refuses.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, style
from discrete_hamel.schemes.coefficients import weights

from . import by_hand
from .pictures import mosaic


class Problem(NamedTuple):
    """What is run, until when, and what it is compared with."""

    system: dh.System
    q: tuple
    xi: tuple
    time: float
    exact: Callable[..., np.ndarray]


PROBLEMS = {
    "sleigh": Problem(dh.systems.ChaplyginSleigh(), (0.1, 0.0, 0.0), (1.5, -0.3), 4.0, by_hand.sleigh),
    "disk": Problem(dh.systems.RollingDisk(), (0.3, 0.2, 0.0, 0.0, 0.0), (0.1, 0.6, 3.0), 2.0, by_hand.disk),
    "Suslov": Problem(dh.systems.Suslov(), tuple(np.eye(3).ravel()), (0.8, -0.9), 4.0, by_hand.suslov),
}
HAMEL = dh.DiscreteHamel()
SCHEMES: dict[str, tuple[Any, str, str]] = {
    "Hamel, 0": (dh.DiscreteHamel(tau=0.0), SKY, "v"),
    "Cortes-Martinez, 0, 0": (dh.CortesMartinez(0.0, 0.0), GREY, "v"),
    "Hamel, 1/2": (HAMEL, BLUE, "o"),
    "staggered": (dh.StaggeredHamel(), GREEN, "^"),
    "Cortes-Martinez": (dh.CortesMartinez(), GREY, "o"),
    "leapfrog": (dh.Leapfrog(), BLACK, "o"),
    "EnergyExact": (dh.EnergyExact(), ORANGE, "s"),
    "Runge-Kutta 4": (dh.RungeKutta4(), BLACK, "d"),
    "Gauss 2": (dh.Gauss(2), PURPLE, "d"),
    "Hamel, composed 4": (dh.Composed(HAMEL, order=4), VERMILLION, "d"),
    "Gauss 3": (dh.Gauss(3), PURPLE, "h"),
    "Hamel, composed 6": (dh.Composed(HAMEL, weights=weights.KAHAN_LI_6), VERMILLION, "h"),
    "Hamel, composed 8": (dh.Composed(HAMEL, weights=weights.KAHAN_LI_8), VERMILLION, "*"),
}
Counts = dict[int, tuple[int, ...]]
ON_SLEIGH: Counts = {1: (200, 400, 800, 1600), 2: (50, 100, 200, 400), 4: (50, 100, 200, 400), 6: (16, 20, 24, 32)}
ON_DISK: Counts = {1: (800, 1600, 3200, 6400), 2: (100, 200, 400, 800), 4: (200, 400, 800), 6: (40, 48, 64, 80)}
ON_SUSLOV: Counts = {1: (400, 800, 1600, 3200), 2: (50, 100, 200, 400), 4: (50, 100, 200), 6: (16, 20, 24, 32)}
STEPS: dict[str, Counts] = {  # by order; where the motion is resolved and round-off is not reached
    "sleigh": ON_SLEIGH | {8: (8, 10, 12, 14)},
    "disk": ON_DISK | {8: (24, 28, 32, 40)},
    "Suslov": ON_SUSLOV | {8: (8, 10, 12, 14)},
}
PARAMETERS: dict[str, Any] = {
    name: {"q": problem.q, "xi": problem.xi, "time": problem.time} for name, problem in PROBLEMS.items()
} | {"schemes": {name: repr(scheme) for name, (scheme, *_) in SCHEMES.items()}}


def compute(_: bool) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for place, problem in PROBLEMS.items():
        system, q, xi, time, exact = problem
        end = exact(system, q, xi, time)
        for name in SCHEMES:
            if (name, place) == ("leapfrog", "Suslov"):
                continue
            scheme = SCHEMES[name][0]
            counts = STEPS[place][scheme.order]
            runs = [dh.simulate(system, q, xi, h=time / n, steps=n, scheme=scheme) for n in counts]
            ends = np.array([np.concatenate([run.q[-1], run.xi[-1][: system.rank]]) for run in runs])
            data[f"{place}: {name}"] = np.stack([time / np.array(counts), np.linalg.norm(ends - end, axis=1)])
    return data


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([list(PROBLEMS)], size=(7.4, 5.0))
        for place, ax in axes.items():
            for name, (_, color, marker) in SCHEMES.items():
                if f"{place}: {name}" in data:
                    h, error = data[f"{place}: {name}"]
                    ax.plot(h, error, **_look(color, marker))
            ax.set(xscale="log", yscale="log", title=place, xlabel="step $h$ [s]", xlim=(2e-4, 0.8), ylim=(1e-11, 2))
        axes["sleigh"].set_ylabel("error at the end")
        for name, (_, color, marker) in SCHEMES.items():
            found = ",  ".join(f"{_fitted(data, place, name):.2f}" for place in PROBLEMS if f"{place}: {name}" in data)
            axes["sleigh"].plot([], [], label=f"{name}:  {found}", **_look(color, marker))
        drawing.legend(loc="outside lower center", ncols=3)
    return drawing


def _look(color: str, marker: str) -> dict[str, Any]:
    """Some lie on others: the squares are rings around what is within."""
    ring = marker == "s"
    face = "none" if marker in "ds^" else color
    return {"color": color, "marker": marker, "markerfacecolor": face, "linewidth": 0.9, "markersize": 7 if ring else 4}


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    """Every slope between neighbours within 0.1 of the order; 0.3 above order six, where round-off is near."""
    found = []
    for name, (scheme, *_) in SCHEMES.items():
        within = 0.1 if scheme.order <= 6 else 0.3
        slopes = {place: _slopes(data[f"{place}: {name}"]) for place in PROBLEMS if f"{place}: {name}" in data}
        off = max(float(np.max(np.abs(values - scheme.order))) for values in slopes.values())
        fitted = ", ".join(f"{_fitted(data, place, name):.2f} {place}" for place in slopes)
        found.append((f"{name} is of order {scheme.order}, to {within:g} between neighbours: {fitted}", off < within))
    return found


def _slopes(curve: np.ndarray) -> np.ndarray:
    h, error = np.log(curve)
    return np.diff(error) / np.diff(h)


def _fitted(data: dict[str, Any], place: str, name: str) -> float:
    h, error = np.log(data[f"{place}: {name}"])
    return float(np.polyfit(h, error, 1)[0])
