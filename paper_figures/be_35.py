"""[BE] figures 35 to 37: a device with parallel velocities

Figures 35 and 36, device A: a cylinder M of mercury, a mass that does not turn, on an axis A with two sharp wheels W
that roll only across their axles; above it ball bearings B and a pulley D. Figure 37, device B: four rods R hinged to a
rhombus, on each hinge a disc D, and a tight thread T around all four. Whatever the rhombus does, the thread keeps its
length and the discs turn by one angle, so that ticks on them stay parallel: wheels under two opposite discs have
parallel velocities. Below the device carried along a motion of [BE] figure 25, three times in 2.4 s.
"""

from typing import Any

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, style

from . import drawings
from .be_cases import BY_FIGURE
from .hoops import disk
from .pictures import mosaic

ROD, DISC = 2.4, 0.35  # m, of device B on the motion
CASE, TIME, STEPS = BY_FIGURE[25], 2.4, 480
SHOWN = (0, STEPS // 2, STEPS)
TICK = 0.3  # rad, that one disc is turned by
ALONE = np.radians(70)  # angle of the rhombus drawn alone
FILL = "#eef3f7"
PARAMETERS: dict[str, Any] = {"rod": ROD, "disc": DISC, "motion": CASE.figure, "time": TIME, "steps": STEPS}


def compute(_: bool) -> dict[str, Any]:
    """The motion, the device along it, its thread's length, and how its discs may turn."""
    run = dh.simulate(CASE.system, CASE.q, CASE.z, h=TIME / STEPS, steps=STEPS, scheme=dh.EnergyExact())
    corners = np.array([rhombus(q[:2], q[2:], ROD) for q in run.q])
    shapes = np.radians(np.linspace(10, 170, 17))
    return {
        "q": run.q,
        "z": run.xi,
        "v": run.v,
        "corners": corners,
        "thread": np.array([thread(c, DISC)[1] for c in corners]),
        "shapes": shapes,
        "lengths": np.array([thread(ROD * _of_angle(a), DISC)[1] for a in shapes]),
        "turns": np.array([turning(a, shapes[0], np.full(4, DISC)) for a in shapes]),
        "unequal": np.array([turning(a, shapes[0], DISC * np.array([1.0, 1.0, 1.0, 1.2])) for a in shapes[1:]]),
    }


def rhombus(first: np.ndarray, second: np.ndarray, rod: float) -> np.ndarray:
    """Its corners in order, `first` and `second` opposite, all sides `rod`."""
    half = (second - first) / 2
    reach = np.sqrt(rod**2 - half @ half)
    across = reach * np.array([-half[1], half[0]]) / np.linalg.norm(half)
    middle = first + half
    return np.array([first, middle - across, second, middle + across])


def _of_angle(angle: float) -> np.ndarray:
    """Corners of a rhombus of rods of 1 m, opened by `angle` at the first."""
    a, b = np.array([np.cos(angle / 2), -np.sin(angle / 2)]), np.array([np.cos(angle / 2), np.sin(angle / 2)])
    return np.array([np.zeros(2), a, a + b, b])


def thread(corners: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
    """A tight thread around equal discs on the corners: points along it, and its length measured on them."""
    outward, _ = _straight(corners, np.full(4, radius))
    points = []
    for corner, before, after in zip(corners, np.roll(outward, 1), outward, strict=True):
        arc = before + np.linspace(0, (after - before) % (2 * np.pi), 2001)
        points.append(corner + radius * np.stack([np.cos(arc), np.sin(arc)], axis=1))
    closed = np.concatenate([*points, points[0][:1]])
    return closed, float(np.sum(np.linalg.norm(np.diff(closed, axis=0), axis=1)))


def _straight(corners: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the straight parts of a thread around discs on the corners, anticlockwise: outward normals and lengths."""
    sides, smaller = np.roll(corners, -1, axis=0) - corners, radii - np.roll(radii, -1)
    long = np.linalg.norm(sides, axis=1)
    return np.arctan2(sides[:, 1], sides[:, 0]) - np.arccos(smaller / long), np.sqrt(long**2 - smaller**2)


def turning(angle: float, before: float, radii: np.ndarray) -> np.ndarray:
    """How far the discs turn when the rhombus opens from `before` to `angle` and the first one by TICK, if the thread
    does not slip; and by how much the thread would have to be longer.

    On disc i the thread at the direction a has gone r_i (a - turn_i) further than at first. A straight part leaves disc
    i and comes to the next one at one direction n, so r_{i+1} (dn - turn_{i+1}) = r_i (dn - turn_i) + d length.
    """
    (n0, first), (n1, last) = (_straight(ROD * _of_angle(a), radii) for a in (before, angle))
    dn, following = (n1 - n0 + np.pi) % (2 * np.pi) - np.pi, np.roll(radii, -1)
    rows = np.diag(radii) - np.roll(np.diag(radii), -1, axis=0)
    sides = (radii - following) * dn + last - first
    turns, *_ = np.linalg.lstsq(np.vstack([rows, [1, 0, 0, 0]]), np.append(sides, TICK), rcond=None)
    return np.append(turns, np.sum(sides))


def draw(data: dict[str, Any]) -> Any:
    layout = [["35", "36", "37"], [str(k) for k in SHOWN]]
    with style():
        drawing, axes = mosaic(layout, size=(7.0, 4.3), height_ratios=[1, 1.1])
        _section(axes["35"])
        _from_above(axes["36"])
        drawings.blank(axes["37"])
        axes["37"].set_title("Figure 37: device B", fontsize=8)
        _device(axes["37"], ROD * _of_angle(ALONE), 0.9, letters=True)
        points = data["q"]
        window = [f(points[:, i::2]) for i in (0, 1) for f in (np.min, np.max)]
        for k in SHOWN:
            ax = axes[str(k)]
            for i, color in ((0, BLUE), (2, VERMILLION)):
                ax.plot(*points[: k + 1, i : i + 2].T, color=color, linewidth=1.6)
                ax.plot(*points[:, i : i + 2].T, color=color, linewidth=0.6, alpha=0.5)
            _device(ax, data["corners"][k], data["z"][k, 2])
            ax.set(xlim=(window[0] - 1.2, window[1] + 1.2), ylim=(window[2] - 1.6, window[3] + 1.6))
            ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal")
            ax.set_title(f"$t = {k * TIME / STEPS:g}$ s", fontsize=8)
    return drawing


def _device(ax: Any, corners: np.ndarray, tick: float, letters: bool = False) -> None:
    """Device B from above; ticks on the discs at one angle."""
    e = DISC * np.array([np.cos(tick), np.sin(tick)])
    drawings.line(ax, *corners, corners[0], color=BLACK, linewidth=1.4, zorder=3)
    ax.plot(*thread(corners, DISC)[0].T, color=GREEN, linewidth=0.9, zorder=4)
    for corner in corners:
        disk(ax, corner, DISC, zorder=2)
        drawings.line(ax, corner - e, corner + e, color=ORANGE, linewidth=1.8, zorder=5)
    for corner, color, mark in ((corners[0], BLUE, "o"), (corners[2], VERMILLION, "s")):
        ax.plot(*corner, mark, color=color, markersize=4, markeredgecolor=BLACK, zorder=6)
    if letters:
        drawings.letter(ax, (corners[1] + corners[2]) / 2, "$R$", (-8, 4))
        drawings.letter(ax, (corners[0] + corners[1]) / 2, "$T$", (-8, -13), GREEN)
        drawings.letter(ax, corners[3], "$D$", (16, 10))
        drawings.letter(ax, corners[0], "$P_1$", (-17, 0), BLUE)
        drawings.letter(ax, corners[2], "$P_2$", (17, 0), VERMILLION)
        ax.margins(0.12)


def _section(ax: Any) -> None:
    """Figure 35, from the plane upward."""
    drawings.blank(ax, (-1.25, 1.25, -0.15, 2.05))
    ax.set_title("Figure 35: device A, section $SS$", fontsize=8)
    drawings.ground(ax, -1.2, 1.2)
    _box(ax, (-0.55, 0.12), (1.1, 0.65), facecolor="#c9ced3")
    _box(ax, (-0.045, 0.77), (0.09, 1.05), facecolor="#dddddd")
    for side in (-1, 1):
        _polygon(ax, [(0.86 * side, 0), (0.8 * side, 0.36), (0.86 * side, 0.72), (0.92 * side, 0.36)])
        drawings.line(ax, (0.55 * side, 0.36), (0.8 * side, 0.36), color=BLACK, linewidth=1.4)
    for height in (0.95, 1.55):
        _box(ax, (-0.2, height - 0.08), (0.4, 0.16), facecolor="white")
        for side in (-1, 1):
            disk(ax, (0.12 * side, height), 0.06, facecolor=PURPLE, linewidth=0.6, zorder=4)
    _box(ax, (0.2, 0.91), (0.95, 0.08), facecolor=GREY)
    _box(ax, (-1.15, 1.51), (0.95, 0.08), facecolor=GREY)
    _polygon(ax, [(-0.45, 1.12), (0.45, 1.12), (0.38, 1.25), (0.45, 1.38), (-0.45, 1.38), (-0.38, 1.25)])
    for side in (-1, 1):
        disk(ax, (0.42 * side, 1.25), 0.035, facecolor=GREEN, linewidth=0.5, zorder=4)
    for name, at, color in (
        ("$M$", (0, 0.44), BLACK),
        ("$W$", (1.05, 0.5), BLACK),
        ("$W$", (-1.05, 0.5), BLACK),
        ("$A$", (0, 1.95), BLACK),
        ("$B$", (-0.33, 0.95), PURPLE),
        ("$B$", (0.33, 1.55), PURPLE),
        ("$D$", (-0.25, 1.25), BLACK),
        ("$T$", (0.58, 1.25), GREEN),
        ("$R$", (0.8, 1.1), BLACK),
        ("$R$", (-0.8, 1.7), BLACK),
    ):
        drawings.letter(ax, at, name, color=color, fontsize=9, zorder=8)


def _from_above(ax: Any) -> None:
    """Figure 36: the cylinder and the wheels, and where they roll."""
    drawings.blank(ax, (-1.35, 1.35, -1.0, 1.2))
    ax.set_title("Figure 36: device A from above", fontsize=8)
    disk(ax, (0, 0), 0.55, facecolor="#c9ced3")
    disk(ax, (0, 0), 0.06, facecolor="#dddddd")
    for side in (-1, 1):
        _box(ax, (0.86 * side - 0.05, -0.36), (0.1, 0.72), facecolor=FILL)
        drawings.line(ax, (0.55 * side, 0), (0.81 * side, 0), color=BLACK, linewidth=1.4)
        drawings.letter(ax, (0.86 * side, -0.52), "$W$", fontsize=9)
        drawings.letter(ax, (1.26 * side, 0.1), "$S$", fontsize=9)
    drawings.line(ax, (-1.3, 0), (1.3, 0), linestyle=(0, (8, 3, 1, 3)), zorder=0)
    drawings.arrow(ax, (0, 0), (0, 1.0), r"$\mathbf{v}$", (9, -2), ORANGE)
    drawings.letter(ax, (-0.25, -0.25), "$M$", fontsize=9)
    drawings.letter(ax, (0.14, -0.14), "$A$", fontsize=9)


def _box(ax: Any, corner: tuple[float, float], size: tuple[float, float], **looks: Any) -> None:
    (x, y), (wide, high) = corner, size
    _polygon(ax, [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)], **looks)


def _polygon(ax: Any, points: list[tuple[float, float]], **looks: Any) -> None:
    ax.fill(*np.array(points).T, **{"facecolor": FILL, "edgecolor": BLACK, "linewidth": 0.8, "zorder": 3} | looks)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    whole = 4 * ROD + 2 * np.pi * DISC
    thread_off = max(float(np.max(np.abs(data[name] / whole - 1))) for name in ("lengths", "thread"))
    turned, unequal = data["turns"], data["unequal"]
    off = float(np.max(np.abs(turned[:, :4] - TICK)))
    q, corners = data["q"], data["corners"]
    apart = np.linalg.norm(q[:, 2:] - q[:, :2], axis=1)
    rods = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    chord = np.diff(q, axis=0)
    tick = 0.5 * (data["z"][1:, 2] + data["z"][:-1, 2])
    slip = max(
        float(np.max(np.abs(chord[:, i + 1] * np.cos(tick) - chord[:, i] * np.sin(tick)))) / np.max(np.abs(chord))
        for i in (0, 2)
    )
    return [
        (
            f"the thread is 4 R + 2 pi r = {whole:.4f} m long whatever the rhombus does, in 17 shapes and along the "
            f"motion, measured along its points ({thread_off:.0e} of it)",
            thread_off < 1e-6,
        ),
        (
            f"where it does not slip, all four discs turn by the {TICK:g} rad of the first, whatever the rhombus does "
            f"({off:.0e}), and the thread need not stretch",
            off < 1e-13 and bool(np.max(np.abs(turned[:, 4])) < 1e-13),
        ),
        (
            "with one disc larger by a fifth it would have to stretch, or they would turn by different angles",
            bool(np.min(np.abs(unequal[:, 4]) + np.ptp(unequal[:, :4], axis=1)) > 0.01),
        ),
        (
            f"along the motion the points are between {apart.min():.2f} and {apart.max():.2f} m apart, within "
            f"the reach of the device, 0 to {2 * ROD:g} m, and all rods keep their length (1e-14)",
            bool(0 < apart.min() < apart.max() < 2 * ROD and np.max(np.abs(rods - ROD)) < 1e-14),
        ),
        (
            f"at every step both points go along the ticks ({slip:.0e} of the longest step): the wheels do not slip",
            slip < 1e-12,
        ),
    ]
