"""[BE] 8.2, Remark 7 and figure 3: two coaxial rolling discs

Thin discs on one axis, along which they are free to slide, with their masses in their centres: a physical realisation
of 8.1 and 8.2. Left the discs on the plane. Right the lines that they leave on it as it is tilted, downhill along x,
over 8 s, with their axis every half second, by the discs in Cartesian coordinates; dots: the same motion as the free
points of 8.1 in polar coordinates, crosses: as the rigid segment of 8.2.
"""

from typing import Any

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, VERMILLION, style

from . import drawings, space
from .be_2 import closed_form as of_first
from .pictures import mosaic
from .spheres import view

MASSES, G = (1.0, 2.0), 1.0  # kg; m/s^2 along the plane
DISCS = dh.systems.CoaxialDiscs(*MASSES, incline=0.1, gravity=G / np.sin(0.1))
FREE = dh.systems.TwoPointsOrthogonalVelocities(*MASSES, gravity=G)
RIGID = dh.systems.SegmentParallelVelocities(*MASSES, length=1.0, gravity=G)
START, RATES = (0.0, 0.0, 0.6, 1.0), (0.4, 1.1)  # x, y, theta, rho; v, omega: those of figure 2
TIME, STEPS = 8.0, 1600
RADIUS, GAP, TURNED = 0.45, 1.3, 0.5  # of the drawing: m, m, rad
PARAMETERS: dict[str, Any] = {"masses": MASSES, "g": G, "start": START, "v, omega": RATES, "time": TIME, "steps": STEPS}
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    """(x1, y1, x2, y2) by the three systems, at h and at h/2, and the reaction along the axis."""
    data: dict[str, Any] = {}
    for k in (1, 2):
        runs = _runs(STEPS * k)
        data |= {f"{name} {k}": value[::k] for name, value in runs.items()}
    data["t"] = np.linspace(0, TIME, STEPS + 1)
    discs = dh.simulate(DISCS, *_start(), h=TIME / STEPS, steps=STEPS)
    return data | {"distance": discs.invariants()["distance"], "energy": discs.energy, "speeds": discs.xi}


def _start() -> tuple[list[float], list[float]]:
    """Both contacts, and their velocities across the axis, of START and RATES."""
    (x, y, theta, rho), (v, omega) = START, RATES
    return [x, y, x + rho * np.cos(theta), y + rho * np.sin(theta)], [-v, rho * omega - v]


def _runs(steps: int) -> dict[str, np.ndarray]:
    h, (x, y, theta, rho), (v, omega) = TIME / steps, START, RATES
    discs = dh.simulate(DISCS, *_start(), h=h, steps=steps).q
    free = dh.simulate(FREE, START, RATES, h=h, steps=steps).q
    rigid = dh.simulate(RIGID, (x, y, theta), (-v, omega), h=h, steps=steps).q
    return {"discs": discs, "free": _points(free, free[:, 3]), "rigid": _points(rigid, np.full(len(rigid), rho))}


def _points(q: np.ndarray, rho: np.ndarray) -> np.ndarray:
    along = rho[:, None] * np.stack([np.cos(q[:, 2]), np.sin(q[:, 2])], axis=1)
    return np.concatenate([q[:, :2], q[:, :2] + along], axis=1)


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["space", "run"]], size=(7.0, 2.9), width_ratios=[1, 1.5])
        _discs(axes["space"])
        ax, q = axes["run"], data["discs 1"]
        every = round(STEPS / TIME / 2)
        for place in q[::every]:
            ax.plot(place[1::2], place[::2], color=GREY, linewidth=0.8, zorder=1)
        for i, color, name in ((0, BLUE, "$P_1$"), (2, VERMILLION, "$P_2$")):
            ax.plot(q[:, i + 1], q[:, i], color=color, label=name)
            for other, mark, shift in (("free 1", "o", 0), ("rigid 1", "x", every // 2)):
                there = data[other][shift::every]
                label = {"free 1": "8.1", "rigid 1": "8.2"}[other] if i else None
                looks = {"color": BLACK, "markersize": 3, "markerfacecolor": "white", "markeredgewidth": 0.7}
                ax.plot(there[:, i + 1], there[:, i], mark, label=label, zorder=3, **looks)
        ax.set(xlabel="$y$ [m]", ylabel="$x$ [m], downhill", aspect="equal")
        ax.invert_yaxis()  # downhill is down
        ax.set_title(f"{TIME:g} s on the inclined plane", fontsize=8)
        drawing.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawing


def _discs(ax: Any) -> None:
    """Two wheels on the plane, their axis, and the velocities of their centres."""
    seen, up = view(-18, 22), np.array([0.0, 0.0, 1.0])
    axis = np.array([np.cos(TURNED), np.sin(TURNED), 0.0])
    forward = np.array([-axis[1], axis[0], 0.0])
    turn = np.linspace(0, 2 * np.pi, 97)
    space.floor(ax, (-1.0, 2.1, -0.9, 1.7), 0.5, seen)
    centres = [RADIUS * up, RADIUS * up + GAP * axis]
    rims = [c + RADIUS * (np.cos(turn)[:, None] * forward + np.sin(turn)[:, None] * up) for c in centres]
    for rim, centre in zip(rims, centres, strict=True):
        space.face(ax, rim, seen, zorder=2)
        for spoke in (0, 16, 32):
            space.curve(ax, [rim[spoke], 2 * centre - rim[spoke]], seen, linewidth=0.4, zorder=2.5)
    space.curve(ax, [centres[0] - 0.35 * axis, centres[1] + 0.35 * axis], seen, color=BLACK, linewidth=1.6, zorder=3)
    speeds = ((centres[0], 0.6, BLUE, r"$\mathbf{v}_1$"), (centres[1], 0.9, VERMILLION, r"$\mathbf{v}_2$"))
    for centre, speed, color, name in speeds:
        space.arrow(ax, centre, centre + speed * forward, seen, name, (2, 8), color=color)
    for centre, name, color in zip(centres, ("$P_1$", "$P_2$"), (BLUE, VERMILLION), strict=True):
        drawings.dot(ax, seen[:2] @ centre, name, (-9, -10), color)
    drawings.blank(ax)
    ax.margins(0.02)
    ax.set_title("Figure 3", fontsize=8)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    discs, round_off = data["discs 1"], 1e-12 * np.sqrt(STEPS)
    exact = of_first(data["t"])
    exact = _points(exact, np.full(len(exact), START[3]))
    errors = {
        name: [np.max(np.abs(data[f"{name} {k}"] - exact)) for k in (1, 2)] for name in ("discs", "free", "rigid")
    }
    slopes = {name: float(np.log2(a / b)) for name, (a, b) in errors.items()}
    axis = (discs[1:] + discs[:-1])[:, 2:] - (discs[1:] + discs[:-1])[:, :2]
    chord = np.diff(discs, axis=0)
    slid = max(float(np.max(np.abs(np.sum(chord[:, i : i + 2] * axis, axis=1)))) for i in (0, 2))
    between = float(np.max(np.abs(data["free 1"] - data["rigid 1"])))
    return [
        (
            f"the discs, the free points of 8.1 and the rigid segment of 8.2 go the same way, that of the closed form, "
            f"at order 2: {', '.join(f'{a:.0e} m, slope {slopes[name]:.2f}' for name, (a, _) in errors.items())}",
            all(abs(slope - 2) < 0.1 for slope in slopes.values()),
        ),
        (
            f"8.1 and 8.2 do so step by step, to round-off ({between:.0e} m): the rigid segment does no work",
            between < round_off,
        ),
        (
            "free to slide along the axis, the discs keep their distance to round-off",
            bool(np.max(np.abs(data["distance"] - START[3])) < round_off),
        ),
        (f"no step goes along the axis ({slid:.0e} m)", slid < 1e-13),
        (
            "and the discs keep their energy to round-off, while each rises and falls",
            bool(np.max(np.abs(data["energy"] - data["energy"][0])) < round_off and np.ptp(discs[:, 0]) > 1),
        ),
    ]
