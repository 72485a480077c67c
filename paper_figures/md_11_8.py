"""[MD] figure 11.8: how fast the ball may roll around the wire, for C1 = -40, C2 = 1

The ball stays on the hoop while psi'^2 < N(psi); where N < 0 (shaded) the hoop would have to pull, whatever psi' is.
Right: N near the horizontal with psi'^2 of three orbits of figure 11.7, in their colours there, dashed once they have
left the hoop; dots: N measured on a run of the whole ball, from the second differences of its centre's path. The label
in the thesis' plot seems to read C1 = 40; its caption and its text say -40.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from discrete_hamel.drawing.plots import BLACK, GREY, VERMILLION, style

from . import basketball, basketball_orbits
from .basketball_numbers import POTENTIALS, agrees, curve
from .basketball_orbits import CONSTANTS
from .basketball_potentials import leaves
from .pictures import mosaic

TURNS = (-0.05, -0.0994)  # psi/pi where two of the three orbits turn; the third comes to the maximum
PARAMETERS: dict[str, Any] = basketball.PARAMETERS | {"C1": CONSTANTS[0], "C2": CONSTANTS[1], "turns": TURNS, "h": 1e-3}
COLORS = tuple(basketball_orbits.COLORS[orbit] for orbit in (*TURNS, "never turns"))  # those of figure 11.7
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:  # nothing here is long
    turns, near = np.linspace(-1, 1, 801), np.linspace(-0.16, 0.26, 421)
    top = basketball.rest(-0.25 * np.pi, -0.02 * np.pi, *CONSTANTS)
    starts = np.array([*(np.pi * x for x in TURNS), top])
    levels = basketball.potential(starts, *CONSTANTS)
    u = basketball.potential(np.pi * near, *CONSTANTS)
    rate = basketball.crossing_rate(starts, *CONSTANTS)[1]
    measured = [basketball_orbits.measured_contact(PARAMETERS["h"] / n, -rate, 0.26) for n in (1, 2)]
    expected = [basketball.contact(psi, *CONSTANTS) for psi, _, _ in measured]
    other = basketball.rest(0.1 * np.pi, 0.4 * np.pi, -CONSTANTS[0], CONSTANTS[1])
    return {
        "turns": turns,
        "N": basketball.contact(np.pi * turns, *CONSTANTS),
        "table": basketball.contact(np.pi * curve(0)[0], *CONSTANTS),
        "by_formula": _by_formula(np.pi * turns),
        "near": near,
        "N_near": basketball.contact(np.pi * near, *CONSTANTS),
        "squares": 2 * (levels[:, None] - u) / basketball.KINETIC,
        "places": starts / np.pi,
        "zeros": np.array([leaves(top, *CONSTANTS), _zero(0.9, 1.0)]) / np.pi,
        "measured": np.stack([measured[0][0] / np.pi, measured[0][1] + measured[0][2]]),
        "errors": np.array([np.max(np.abs(s + f - n)) for (_, s, f), n in zip(measured, expected, strict=True)]),
        "other_top": np.array(other / np.pi),
    }


def _zero(low: float, high: float) -> float:
    def of_contact(psi: float) -> float:
        return float(basketball.contact(np.array([psi]), *CONSTANTS)[0])

    return float(brentq(of_contact, low * np.pi, high * np.pi, xtol=1e-13))


def _by_formula(psi: np.ndarray) -> np.ndarray:
    """N = {a r^2 [C1 f12 + C2 f22]^2 cos(psi) + g sin(psi)} / v with (11.1) by DOP853."""
    _, f12, _, f22 = basketball.fundamental(psi)
    pivot = basketball.RADIUS * (CONSTANTS[0] * f12 + CONSTANTS[1] * f22)
    pull = basketball.to_axis(psi) * pivot**2 * np.cos(psi) + basketball.GRAVITY * np.sin(psi)
    return pull / basketball.AROUND


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["N", "near"]], size=(7.0, 3.1))
        for ax, x, n in ((axes["N"], data["turns"], data["N"]), (axes["near"], data["near"], data["N_near"])):
            ax.fill_between(x, np.minimum(n, 0), color=VERMILLION, alpha=0.15, linewidth=0)
            ax.axhline(0, color=BLACK, linewidth=0.6)
            ax.plot(x, n, color=GREY, label="$N$" if ax is axes["near"] else None, linewidth=2.4)
            ax.set(xlabel=r"$\psi$ [$\pi$ rad]")
        axes["N"].plot(data["zeros"], [0, 0], "o", color=BLACK, markerfacecolor="white", markersize=4, zorder=3)
        axes["N"].set(ylabel=r"$N$, $\dot\psi^2$ [rad$^2$/s$^2$]", xticks=(-1, -0.5, 0, 0.5, 1))
        ax = axes["near"]
        looks = {"color": BLACK, "markersize": 3.4, "markerfacecolor": "white", "markeredgewidth": 0.7, "zorder": 4}
        ax.plot(*_spread(data["measured"]), "o", label="$N$, measured", **looks)
        names = [f"$\\dot\\psi^2$, turns at ${x}\\pi$" for x in TURNS] + [r"$\dot\psi^2$, never turns"]
        for squares, start, color, name in zip(data["squares"], data["places"], COLORS, names, strict=True):
            inside = data["near"] >= start
            on = inside & (squares < data["N_near"])
            ax.plot(data["near"][inside], squares[inside], color=color, linewidth=0.8, linestyle="--", zorder=3)
            ax.plot(data["near"], np.where(on, squares, np.nan), color=color, label=name, linewidth=1.2, zorder=3)
        ax.set(xlim=(-0.16, 0.26), ylim=(-45, 260))
        drawing.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return drawing


def _spread(measured: np.ndarray) -> np.ndarray:
    """Those of the way back, about evenly along psi."""
    up = measured[:, int(np.argmin(measured[0])) :]
    return up[:, np.unique(np.searchsorted(up[0], np.linspace(up[0, 0], up[0, -1], 16)))[:-1]]


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    n, turns = data["N"], data["turns"]
    off = float(np.max(np.abs(n - data["by_formula"])) / np.max(np.abs(n)))
    printed = curve(7)[1]
    at, greatest = basketball.vertex(turns, n, int(np.argmax(n)))
    left, right = data["zeros"]
    ratio = data["errors"][0] / data["errors"][1]
    asymptotic = data["squares"][2]
    return [
        (f"N is as printed, with the solutions of (11.1) by DOP853: within 1e-10 of its size ({off:.0e})", off < 1e-10),
        (
            "24 values by (11.1) and DOP853, without the library, are met to their last digits",
            all(agrees(*pair) for pair in zip(data["table"], printed, strict=True)),
        ),
        (
            f"[MD] on figure 11.8: the ball leaves the hoop at about -0.10 pi, 18 degrees: N = 0 at {left:.6f} pi, "
            f"{-180 * left:.2f} degrees",
            agrees(left, POTENTIALS[CONSTANTS].split()[-1]) and round(left, 2) == -0.10 and round(-180 * left) == 18,
        ),
        (
            f"N is greatest, {greatest:.3f}, at {at:.5f} pi, and vanishes again at {right:.6f} pi",
            agrees(greatest, "227.175") and agrees(at, "0.13602") and agrees(right, "0.944209"),
        ),
        (
            "the normal force m v (N - psi'^2) is what the path of the centre in a run shows, beta . (x'' + g e_z), "
            f"at order 2: the difference {data['errors'][0]:.3f} falls to 1 / {ratio:.1f} with h / 2",
            bool(abs(ratio - 4) < 0.3),
        ),
        (
            "[MD] on figure 11.8: the asymptotic orbit leaves the hoop below the horizontal: at psi = 0 its psi'^2 < "
            "N, and N = 0 comes before its maximum",
            bool(np.interp(0.0, data["near"], asymptotic) < np.interp(0.0, turns, n) and data["places"][2] < left),
        ),
        (
            f"with C1 = +40 U would have its maximum above the horizontal, at {float(data['other_top']):.4f} pi: the "
            "sign in the plot's label is a slip",
            agrees(data["other_top"], "0.2278"),
        ),
    ]
