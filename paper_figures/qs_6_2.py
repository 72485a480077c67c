"""[QS] figure 6.2: the momentum dynamics of the unbalanced Chaplygin sleigh

Nodal momenta (p1, p2) of the discrete Hamel scheme, tau = 1/2, h = 0.05 s, a > 0. All of p1 = 0 is relative equilibria:
above, with the mass centre ahead, they attract (filled), below they repel (empty). Every other trajectory is an arc of
an ellipse of constant energy, from an empty dot to the filled one above it. Grey: those ellipses.
"""

from typing import Any

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, style

from .pictures import mosaic

PARAMETERS: dict[str, Any] = {"mass": 1.0, "inertia": 0.7, "offset": 0.4, "h": 0.05, "p2": (0.5, 1.0, 1.5, 2.0)}
SLEIGH = dh.systems.ChaplyginSleigh(*(PARAMETERS[name] for name in ("mass", "inertia", "offset")))
TURNING = SLEIGH.inertia + SLEIGH.mass * SLEIGH.offset**2  # J + m a^2
OFF = 1e-3  # initial p1 beside an unstable equilibrium, relative to p2
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    levels = np.array(PARAMETERS["p2"])
    signs = (1.0, -1.0)
    arcs = [[_arc(p2, sign) for p2 in levels] for sign in signs]
    equilibria = np.concatenate([-levels, levels])
    steps = np.array([200, 400, 800] if fast else [200, 400, 800, 1600, 3200])
    return {
        "levels": levels,
        "arcs": np.array(arcs),
        "equilibria": equilibria,
        "resting": np.array([_run((0.0, p2), 2000).p for p2 in equilibria]),
        "growth": np.array([_growth(p2) for p2 in equilibria]),
        "check_steps": steps,
        "check_errors": np.array([_error(n) for n in steps]),
    }


def _run(p: Any, steps: int, h: float = PARAMETERS["h"]) -> dh.Trajectory:
    return dh.simulate(SLEIGH, q=[0.0, 0.0, 0.0], xi=[p[0] / TURNING, p[1] / SLEIGH.mass], h=h, steps=steps)


def _arc(p2: float, sign: float) -> np.ndarray:
    """From beside the unstable equilibrium (0, -p2) until p1 is small again; 600 nodes at least 2.5 rates long."""
    rate = SLEIGH.offset * p2 / TURNING / SLEIGH.mass
    duration = 2.2 * np.log(2 / OFF) / rate
    steps = int(np.ceil(duration / PARAMETERS["h"]))
    p = _run((sign * OFF * p2, -p2), steps).p
    return p[np.linspace(0, steps, 301).round().astype(int)]


def _growth(p2: float) -> float:
    """Factor by which one step multiplies a small p1 beside (0, p2)."""
    p1 = _run((1e-7, p2), 1).p[:, 0]
    return p1[1] / p1[0]


def _exact(t: np.ndarray, p2: float) -> np.ndarray:
    """(6.1) solved: p2 = P tanh(kappa t), p1 = P sqrt((J + m a^2)/m) / cosh(kappa t), kappa = a P/(J + m a^2)."""
    kappa = SLEIGH.offset * p2 / TURNING
    return np.stack([p2 * np.sqrt(TURNING / SLEIGH.mass) / np.cosh(kappa * t), p2 * np.tanh(kappa * t)], axis=-1)


def _error(steps: int) -> float:
    """Largest distance from the closed form for P = 1, from t = -10 s to 10 s."""
    t = np.linspace(-10, 10, steps + 1)
    exact = _exact(t, 1.0)
    return float(np.max(np.abs(_run(exact[0], steps, 20 / steps).p - exact)))


def draw(data: dict[str, Any]) -> Any:
    angle = np.linspace(0, 2 * np.pi, 361)
    width = np.sqrt(TURNING / SLEIGH.mass)
    with style():
        drawing, axes = mosaic([["momenta"]], size=(4.2, 4.0))
        ax = axes["momenta"]
        ax.axvline(0, color=BLACK, linewidth=0.6)
        for p2 in data["levels"]:
            ax.plot(p2 * width * np.cos(angle), p2 * np.sin(angle), color=GREY, linewidth=2.5, alpha=0.25)
        for side in data["arcs"]:
            for p in side:
                ax.plot(*p.T, color=BLUE, linewidth=1.0)
                _arrow(ax, p)
        stable = np.abs(data["growth"]) < 1
        ax.plot(
            0 * data["equilibria"][stable], data["equilibria"][stable], "o", color=BLACK, markersize=5, label="stable"
        )
        ax.plot(
            *(0 * data["equilibria"][~stable], data["equilibria"][~stable]),
            "o",
            color=BLACK,
            markerfacecolor="white",
            markersize=5,
            label="unstable",
        )
        ax.set(xlabel="$p_1$ [kg m$^2$/s]", ylabel="$p_2$ [kg m/s]", aspect="equal")
        drawing.legend(loc="outside upper right", ncols=2, title="relative equilibria", title_fontsize=8)
    return drawing


def _arrow(ax: Any, p: np.ndarray) -> None:
    """Half way, where p2 changes its sign."""
    i = int(np.argmax(p[:, 1] > 0))
    looks = {"arrowstyle": "-|>", "color": BLUE, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
    ax.annotate("", p[i + 1], p[i - 1], arrowprops=looks)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    arcs, equilibria = data["arcs"], data["equilibria"]
    energy = arcs[..., 0] ** 2 / (2 * TURNING) + arcs[..., 1] ** 2 / (2 * SLEIGH.mass)
    spread = np.max(np.abs(energy / energy[..., :1] - 1))
    ends = np.abs(arcs[:, :, -1, 1] / arcs[:, :, 0, 1] + 1)
    resting = np.max(np.abs(data["resting"] - np.stack([0 * equilibria, equilibria], axis=-1)[:, None]))
    # One step multiplies p1 by (1 - z/2)/(1 + z/2), z = h a p2/(J + m a^2): [HE] Theorem 5.3 for this sleigh.
    z = PARAMETERS["h"] * SLEIGH.offset * equilibria / TURNING
    slope = -np.polyfit(np.log(data["check_steps"]), np.log(data["check_errors"]), 1)[0]
    return [
        (f"the arcs are elliptic: energy holds at the nodes within 1e-13 ({spread:.0e})", bool(spread < 1e-13)),
        (
            "each arc joins (0, -p2) to (0, p2), within the square of its distance at the start",
            bool(np.all(ends < OFF**2)),
        ),
        (
            "every point of p1 = 0 is a relative equilibrium of the scheme: at rest over 2000 steps (1e-13)",
            bool(resting < 1e-13),
        ),
        (
            "the upper ones are asymptotically stable and the lower ones unstable, as for the continuous sleigh",
            bool(np.all((np.abs(data["growth"]) < 1) == (equilibria > 0))),
        ),
        (
            "a step multiplies a small p1 by (1 - z/2)/(1 + z/2), z = h a p2/(J + m a^2) (1e-9)",
            bool(np.allclose(data["growth"], (1 - z / 2) / (1 + z / 2), rtol=0, atol=1e-9)),
        ),
        (f"the closed solution of (6.1), tanh and 1/cosh, is met at order 2: slope {slope:.2f}", abs(slope - 2) < 0.1),
    ]
