"""What figures 11.5 and 11.6 of [MD] share: reduced potentials of the basketball for one C2 and three C1."""

from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, VERMILLION, style

from . import basketball
from .basketball_numbers import POTENTIALS, agrees, curve
from .pictures import mosaic

COLORS = (BLUE, VERMILLION, GREEN)


def parameters(c2: float) -> dict[str, Any]:
    """The ball's, and the C1 that go with a C2."""
    return basketball.PARAMETERS | {"C1": tuple(c1 for c1, other in POTENTIALS if other == c2), "C2": c2}


def compute(c2: float, _: bool) -> dict[str, Any]:  # nothing here is long
    """For each C1: U, its slope and bend at 0, its maximum and minimum below, and where N = 0; U by formula."""
    turns = np.linspace(-1, 1, 401)
    pairs = [pair for pair in POTENTIALS if pair[1] == c2]
    found = [_numbers(*pair) for pair in pairs]
    return {
        "turns": turns,
        "constants": np.array(pairs),
        "U": np.array([basketball.potential(np.pi * turns, *pair) for pair in pairs]),
        "by_formula": np.array([_by_formula(np.pi * turns, *pair) for pair in pairs]),
        "slope": np.array([basketball.bend(np.pi * turns, *pair)[0] for pair in pairs]),
        "numbers": np.array(found),
        "table": np.array([basketball.potential(np.pi * curve(0)[0], *pair) for pair in pairs]),
    }


def _numbers(c1: float, c2: float) -> list[float]:
    """In the order of POTENTIALS."""
    (first,), (second,) = basketball.bend(np.zeros(1), c1, c2)
    top, bottom = (basketball.rest(a * np.pi, b * np.pi, c1, c2) for a, b in ((-0.25, -0.02), (-0.95, -0.5)))
    here, at_top, at_bottom = basketball.potential(np.array([0.0, top, bottom]), c1, c2)
    lost = leaves(top, c1, c2)
    return [here, first, second, top / np.pi, at_top, bottom / np.pi, at_bottom, lost / np.pi]


def leaves(top: float, c1: float, c2: float) -> float:
    """The psi between the maximum and the horizontal where N = 0."""
    return float(brentq(lambda psi: basketball.contact(np.array([psi]), c1, c2)[0], top, 0.0, xtol=1e-13))


def _by_formula(psi: np.ndarray, c1: float, c2: float) -> np.ndarray:
    """g z + {J Omega1^2 + (J + m r^2) a^2 Omega2^2} / 2 with (11.1) by DOP853."""
    f11, f12, f21, f22 = basketball.fundamental(psi)
    spin, pivot = c1 * f11 + c2 * f21, basketball.to_axis(psi) * (c1 * f12 + c2 * f22)
    turning = basketball.RADIUS**2 * (2 * spin**2 + 5 * pivot**2) / 6
    return basketball.GRAVITY * basketball.AROUND * np.sin(psi) + turning


def draw(data: dict[str, Any]) -> Any:
    """U over psi, with its maximum and minimum; beside it near the maxima, with where a slow ball leaves the hoop."""
    from matplotlib.lines import Line2D

    with style():
        layout = [["U", f"near {i}"] for i in range(len(COLORS))]
        drawing, axes = mosaic(layout, size=(7.0, 3.6), width_ratios=[1.5, 1])
        ax = axes["U"]
        window = data["numbers"][:, 3].min() - 0.04, data["numbers"][:, 7].max() + 0.03
        for i, (numbers, u, color) in enumerate(zip(data["numbers"], data["U"], COLORS, strict=True)):
            _, _, _, top, at_top, bottom, at_bottom, _ = numbers
            ax.plot(data["turns"], u / 1e4, color=color, label=f"$C_1 = {data['constants'][i, 0]:g}$ rad/s")
            ax.plot([top, bottom], [at_top / 1e4, at_bottom / 1e4], "o", color=color, markersize=3.5)
            _near(axes[f"near {i}"], data["turns"], u, numbers, color, window)
        for each in axes.values():
            each.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
        ax.annotate("below the horizontal", (0, 0), (-4, 4), **_corner("right"))
        ax.annotate("above", (0, 0), (4, 4), **_corner("left"))
        ax.set(xlabel=r"$\psi$ [$\pi$ rad]", ylabel="$U/m$ [m$^2$/s$^2$]", xticks=(-1, -0.5, 0, 0.5, 1), ylim=(0, None))
        axes["near 2"].tick_params(labelbottom=True)
        axes["near 2"].set_xlabel(r"$\psi$ [$\pi$ rad]")
        axes["near 1"].set_ylabel("$U/m$ [m$^2$/s$^2$]")
        looks: dict[str, Any] = {"marker": "o", "color": BLACK, "linestyle": "none", "markersize": 4.5}
        marks = [
            Line2D([], [], label="maximum, minimum", **looks),
            Line2D([], [], label="$N = 0$", markerfacecolor="white", **looks),
        ]
        drawing.legend(handles=ax.get_legend_handles_labels()[0] + marks, loc="outside upper center", ncols=5)
    return drawing


def _near(ax: Any, turns: np.ndarray, u: np.ndarray, numbers: Any, color: str, window: tuple[float, float]) -> None:
    """U about its maximum, a panel a curve: the dots are too near to each other for one."""
    top, at_top, lost = numbers[3], numbers[4], numbers[7]
    curve = CubicSpline(turns, u / 1e4)
    x = np.linspace(*window, 101)
    ax.plot(x, curve(x), color=color)
    ax.plot([top], [at_top / 1e4], "o", color=color, markersize=4, zorder=3)
    ax.plot([lost], [curve(lost)], "o", color=color, markerfacecolor="white", markersize=4, zorder=4)
    ax.set_xlim(window)
    ax.margins(y=0.2)
    ax.tick_params(labelbottom=False)


def _corner(side: str) -> dict[str, Any]:
    return {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "ha": side,
        "va": "bottom",
        "color": GREY,
        "fontsize": 8,
    }


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    pairs = [(int(c1), float(c2)) for c1, c2 in data["constants"]]
    off = float(np.max(np.abs(data["U"] / data["by_formula"] - 1)))
    columns = [1 + list(POTENTIALS).index(pair) for pair in pairs]
    met = [
        agrees(*it) for row, k in zip(data["table"], columns, strict=True) for it in zip(row, curve(k)[1], strict=True)
    ]
    right = [
        agrees(*it)
        for pair, row in zip(pairs, data["numbers"], strict=True)
        for it in zip(row, POTENTIALS[pair].split(), strict=True)
    ]
    ball, v, u = basketball, basketball.AROUND, basketball.HOOP
    j, mr2 = 2 * ball.RADIUS**2 / 3, ball.RADIUS**2
    c1, c2 = data["constants"].T
    first = v * (ball.GRAVITY + j * c1 * c2)
    second = v * (-(c1**2) * j**2 / ((u - v) * (j + mr2)) + c2**2 * (v * j - mr2 * (u - v)))
    tops, bottoms, lost = data["numbers"][:, [3, 5, 7]].T
    above = (data["turns"] > 0) & (data["turns"] < 1)
    sign = np.sign(data["slope"][:, (data["turns"] > -1) & (data["turns"] < 1)])
    places = ", ".join(f"{top:.4f} pi ({-180 * top:.1f} degrees)" for top in tops)
    return [
        (f"U is as printed, with the solutions of (11.1) by DOP853: within 1e-10 ({off:.0e})", off < 1e-10),
        ("24 values of each curve by (11.1) and DOP853, without the library, are met to their last digits", all(met)),
        (
            "U'(0) = v (m g + J C1 C2) and the printed U''(0) (1e-7): U'(0) < 0 and U''(0) < 0 in all three",
            bool(
                np.allclose(data["numbers"][:, 1], first, rtol=1e-7)
                and np.allclose(data["numbers"][:, 2], second, rtol=1e-7)
                and np.all(first < 0)
                and np.all(second < 0)
            ),
        ),
        (
            f"so a local maximum lies below the horizontal, at {places}, and a minimum lower still",
            bool(np.all((bottoms < tops) & (tops < 0))),
        ),
        (
            "U, U' and U'' at 0, both extremes and the zero of N are those of (11.1) by DOP853, to their last digits",
            all(right),
        ),
        (
            "U falls from the maximum to psi = pi: what comes back passes the horizontal once and for all",
            bool(np.all(data["slope"][:, above] < 0) and np.all(np.sum(np.diff(sign, axis=1) != 0, axis=1) <= 3)),
        ),
        (
            "N = 0 lies above each maximum (empty dots): an orbit that comes near the maximum leaves the hoop before",
            bool(np.all((tops < lost) & (lost < 0))),
        ),
    ]
