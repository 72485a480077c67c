"""The sleigh's path: one cusp, then straight on ([QS] 6.2)

Contact point of three unbalanced sleighs pushed backward (p2 < 0), nearly straight. Each turns about, stops at one
cusp, where v1 changes sign, and leaves forward, with its mass centre ahead of the blade; blades are drawn at equal
times. The smaller the offset a, the more it turns: pi sqrt(1 + J/(m a^2)) in all, whatever its speed.
"""

from typing import Any

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, VERMILLION, style

from .pictures import mosaic

PARAMETERS: dict[str, Any] = {
    "mass": 1.0,
    "inertia": 0.7,
    "offsets": (0.8, 0.4, 0.25),
    "speed": 1.0,
    "off": 0.02,
    "h": 0.01,
}
COLORS = (BLUE, VERMILLION, GREEN)
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for i, offset in enumerate(PARAMETERS["offsets"]):
        run = _run(offset, PARAMETERS["h"])
        data |= {
            f"t_{i}": run.t,
            f"q_{i}": run.q,
            f"xi_{i}": run.xi,
            f"xi_mid_{i}": run.xi_mid,
            f"energy_{i}": run.energy,
        }
        data[f"turn_{i}"] = _turn(offset, PARAMETERS["h"] / (1 if fast else 2))
        data[f"turn_half_{i}"] = _turn(offset, PARAMETERS["h"] / (2 if fast else 4))
    return data


def _sleigh(offset: float) -> tuple[dh.System, float, float]:
    """The sleigh, J + m a^2 and the rate kappa = a P/(J + m a^2) at which it turns about."""
    turning = PARAMETERS["inertia"] + PARAMETERS["mass"] * offset**2
    sleigh = dh.systems.ChaplyginSleigh(PARAMETERS["mass"], PARAMETERS["inertia"], offset)
    return sleigh, turning, offset * PARAMETERS["mass"] * PARAMETERS["speed"] / turning


def _run(offset: float, h: float, off: float = PARAMETERS["off"]) -> dh.Trajectory:
    """From beside backward motion, p1 = off times its greatest value, for twice the time to the cusp."""
    sleigh, turning, kappa = _sleigh(offset)
    speed, time = PARAMETERS["speed"], 2 * np.arccosh(1 / off) / kappa
    omega = off * speed * np.sqrt(PARAMETERS["mass"] / turning)
    v1 = -speed * np.sqrt(1 - off**2)
    return dh.simulate(sleigh, q=[0.0, 0.0, 0.0], xi=[omega, v1], h=h, steps=int(np.ceil(time / h)))


def _turn(offset: float, h: float) -> np.ndarray:
    """The angle turned from p1 = 1e-10 of its greatest value until it is as small again."""
    q = _run(offset, h, off=1e-10).q
    return q[-1, 0] - q[0, 0]


def draw(data: dict[str, Any]) -> Any:
    with style():
        layout = [["path 0", "path 1", "path 2"], ["velocity 0", "velocity 1", "velocity 2"]]
        drawing, axes = mosaic(layout, size=(7.2, 4.3), height_ratios=[1.75, 1])
        for i, offset in enumerate(PARAMETERS["offsets"]):
            _path(axes[f"path {i}"], data, i)
            axes[f"path {i}"].set_title(f"$a = {offset}$ m")
            ax = axes[f"velocity {i}"]
            ax.plot(data[f"t_{i}"], data[f"xi_{i}"][:, 0], color=BLACK, linestyle="--", label=r"$\omega$ [rad/s]")
            ax.plot(data[f"t_{i}"], data[f"xi_{i}"][:, 1], color=COLORS[i], label="$v^1$ [m/s] (in the path's colour)")
            ax.set(xlabel="$t$ [s]", ylim=(-1.3, 1.3))
        axes["path 0"].set_ylabel("$y$ [m]")
        axes["velocity 0"].set_ylabel("turning, speed")
        drawing.legend(*axes["velocity 0"].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawing


def _path(ax: Any, data: dict[str, Any], i: int) -> None:
    theta, x, y = data[f"q_{i}"].T
    ax.plot(x, y, color=COLORS[i], linewidth=1.4)
    ax.set(xlabel="$x$ [m]", aspect="equal")
    ax.margins(0.12)
    size = 0.035 * max(np.ptp(x), np.ptp(y))
    for k in np.linspace(0, len(x) - 1, 11).astype(int):
        dx, dy = size * np.cos(theta[k]), size * np.sin(theta[k])
        ax.plot([x[k] - dx, x[k] + dx], [y[k] - dy, y[k] + dy], color=BLACK, linewidth=1.3, solid_capstyle="round")
    ax.plot(x[:1], y[:1], "o", color=COLORS[i], markerfacecolor="white", markersize=4.5, zorder=3)
    ax.plot(x[-1:], y[-1:], "o", color=COLORS[i], markersize=4.5, zorder=3)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    count = range(len(PARAMETERS["offsets"]))
    runs = [[data[f"{name}_{i}"] for name in ("q", "xi", "xi_mid")] for i in count]
    crossings = [int(np.sum(np.diff(np.sign(xi[:, 1])) != 0)) for _, xi, _ in runs]
    sideways = max(_sideways(q) for q, _, _ in runs)
    speeds = [abs(xi[-1, 1] / PARAMETERS["speed"] - 1) for _, xi, _ in runs]
    energies = [np.max(np.abs(data[f"energy_{i}"] / data[f"energy_{i}"][0] - 1)) for i in count]
    exact = [np.pi * np.sqrt(_sleigh(a)[1] / PARAMETERS["mass"]) / a for a in PARAMETERS["offsets"]]
    ratios = [(data[f"turn_{i}"] - exact[i]) / (data[f"turn_half_{i}"] - exact[i]) for i in count]
    off = PARAMETERS["off"]
    return [
        ("each path has one cusp: v1 changes sign once", crossings == [1] * len(crossings)),
        (
            "no step moves the contact point across the blade: the constraint holds within 1e-13 m",
            bool(sideways < 1e-13),
        ),
        (
            f"all leave forward, at the speed they came with but for the start's distance squared ({off**2:.0e})",
            max(speeds) < off**2,
        ),
        ("energy holds at the nodes within 1e-13", bool(max(energies) < 1e-13)),
        (
            "each turns by pi sqrt(1 + J/(m a^2)) in all: the error is below 1e-3 and falls to a quarter with h/2",
            all(abs(data[f"turn_{i}"] - exact[i]) < 1e-3 for i in count) and all(abs(r - 4) < 0.2 for r in ratios),
        ),
    ]


def _sideways(q: np.ndarray) -> float:
    """Largest displacement across the blade at the tau-point: what (D1) says vanishes."""
    theta = (q[1:, 0] + q[:-1, 0]) / 2
    dx, dy = np.diff(q[:, 1:], axis=0).T
    return float(np.max(np.abs(-np.sin(theta) * dx + np.cos(theta) * dy)))
