"""[QS] figure 6.4: trajectories of the contact point of the blade

Seven initial states of the sleigh with an oscillator, from the circle on, with r = 0 there. After each period 2 tau of
(r, p) the path goes on as its image under one element h of SE(2): a rotation about the cross, by the part of a turn
written above (first period in red). Below that is a whole turn and h a translation. The sixth, not a rational part of a
turn, never closes and fills an annulus, as Theorem 6.1 has it. Each path is also mirrored where r = 0.
"""

from typing import Any

import numpy as np

from discrete_hamel.drawing.plots import BLACK, BLUE, VERMILLION, style

from . import sleigh_oscillator as oscillator
from .pictures import mosaic

GOLDEN = (3 - 5**0.5) / 2
STATES = {  # r', p1, p2 with the part of a turn a period makes, and periods shown; p1 was found so that it makes that
    "1/5": (2.0, 0.39932385287896754, 0.3, 1 / 5, 5),
    "1/3": (3.0, 0.7561033569729692, 0.0, 1 / 3, 3),
    "4/5": (1.0, 1.1983738111524305, 0.3, 4 / 5, 5),
    "3/8": (3.0, 0.8995778835819748, 0.3, 3 / 8, 8),
    "7/10": (0.6, 0.9740044382449564, 0.2, 7 / 10, 10),
    "golden": (1.5, 0.705090531368717, 0.5, GOLDEN, 34),
    "1": (1.0, 1.4863018794824234, 0.3, 1.0, 7),
}
TITLES = {"golden": r"$(3 - \sqrt{5})\,/\,2 = 0.382$ of a turn", "1": "a whole turn: translation"}
PARAMETERS: dict[str, Any] = oscillator.PARAMETERS | {"steps": 200, "states (r', p1, p2, turn, periods)": STATES}


def compute(fast: bool) -> dict[str, Any]:
    steps = PARAMETERS["steps"]
    data: dict[str, Any] = {}
    for name, (rate, p1, p2, _, periods) in STATES.items():
        found = oscillator.periodic((rate, p1, p2), steps, periods)
        back = oscillator.simulate((rate, p1, p2), -found.h, steps)
        data |= {f"g_{name}": found.run.q[:, 1:], f"p_{name}": found.run.p, f"r_{name}": found.run.q[:, 0]}
        data[f"back_{name}"] = back.q[:, 1:]
    start, sizes = STATES["3/8"][:3], np.array([50, 100, 200] if fast else [50, 100, 200, 400, 800])
    _, half = oscillator.printed(start, [0.0, 4.0], half_period=True)
    exact = oscillator.printed(start, [0.0, 2 * half])[-1, 4:]
    ends = [np.asarray(oscillator.periodic(start, int(n)).run.q)[-1, 1:] for n in sizes]
    return data | {"sizes": sizes, "errors": np.array([np.max(np.abs(end - exact)) for end in ends])}


def motion(g: np.ndarray) -> np.ndarray:
    """(theta, x, y), last axis, as matrices of SE(2)."""
    theta, x, y = np.moveaxis(g, -1, 0)
    c, s, o, e = np.cos(theta), np.sin(theta), np.zeros_like(x), np.ones_like(x)
    return np.stack([np.stack([c, -s, x], -1), np.stack([s, c, y], -1), np.stack([o, o, e], -1)], -2)


def shifts(g: np.ndarray) -> np.ndarray:
    """g(t + 2 tau) g(t)^-1 at each node but those of the last period."""
    n = PARAMETERS["steps"]
    return motion(g[n:]) @ np.linalg.inv(motion(g[:-n]))


def draw(data: dict[str, Any]) -> Any:
    names = list(STATES)
    with style():
        drawing, axes = mosaic([names[:3], names[3:6], names[6:] * 3], size=(7.2, 6.0), height_ratios=[1, 1, 0.34])
        for name in names:
            ax, g, n = axes[name], np.asarray(data[f"g_{name}"]), PARAMETERS["steps"]
            ax.plot(g[:, 1], g[:, 2], color=BLUE, linewidth=0.5 if name == "golden" else 0.9)
            ax.plot(g[: n + 1, 1], g[: n + 1, 2], color=VERMILLION, linewidth=1.6)
            ax.plot([0], [0], "o", color=BLACK, markerfacecolor="white", markersize=4, zorder=4)
            if name != "1":
                ax.plot(*_centre(g), "+", color=BLACK, markersize=6)
            ax.set_title(TITLES.get(name, f"{name} of a turn"))
            ax.set_aspect("equal", adjustable="datalim")
            ax.tick_params(labelsize=7)
            ax.margins(0.09)
        for name in (names[0], names[3], names[6]):
            axes[name].set_ylabel("$y$ [m]")
        for name in names[3:]:
            axes[name].set_xlabel("$x$ [m]")
    return drawing


def _centre(g: np.ndarray) -> np.ndarray:
    """The point that h leaves in place."""
    h = shifts(g)[0]
    return np.linalg.solve(np.eye(2) - h[:2, :2], h[:2, 2])


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    n = PARAMETERS["steps"]
    paths = {name: np.asarray(data[f"g_{name}"]) for name in STATES}
    turns = np.array([(g[n, 0] - g[0, 0]) / (2 * np.pi) for g in paths.values()])
    wanted = np.array([state[3] for state in STATES.values()])
    spread = max(float(np.max(np.abs(h - h[0]))) for h in map(shifts, paths.values()))
    mirrored = max(float(np.max(np.abs(data[f"back_{k}"] - [-1, -1, 1] * g[: n + 1]))) for k, g in paths.items())
    closing = max(float(np.max(np.abs(g[-1, 1:]))) for name, g in paths.items() if name not in ("golden", "1"))
    periodic = max(_returns(data, name) for name in STATES)
    slope = -np.polyfit(np.log(data["sizes"]), np.log(data["errors"]), 1)[0]
    steps = max(len(g) for g in paths.values())
    round_off = 1e-12 * np.sqrt(steps)
    return [
        (
            f"(r, p) is periodic, 2 tau being {n} steps: to round-off, over up to 34 periods ({periodic:.0e})",
            periodic < round_off,
        ),
        (
            f"g(t + 2 tau) = h g(t): one h for all nodes of a path, to round-off ({spread:.0e})",
            spread < round_off,
        ),
        (
            "h turns by 1/5, 1/3, 4/5, 3/8, 7/10, 0.38197 and 1 of a turn (1e-11), and moves the blade",
            bool(np.max(np.abs(turns - wanted)) < 1e-11 and all(np.hypot(*g[n, 1:]) > 0.05 for g in paths.values())),
        ),
        (f"so the first five close, after 5, 3, 5, 8 and 10 periods ({closing:.0e} m)", closing < 1e-9),
        _golden(paths["golden"]),
        _drift(paths["1"]),
        (
            "backward in time each is its own mirror image, (x, y) -> (-x, y), theta -> -theta, to round-off "
            f"({mirrored:.0e})",
            mirrored < round_off,
        ),
        (
            "heading and place after a period are those of (6.6)-(6.8) by DOP853 with the printed connection, at order "
            f"2: slope {slope:.2f}",
            abs(slope - 2) < 0.1,
        ),
    ]


def _returns(data: dict[str, Any], name: str) -> float:
    n = PARAMETERS["steps"]
    z = np.column_stack([data[f"r_{name}"], data[f"p_{name}"]])
    return float(np.max(np.abs(z[n:] - z[:-n])))


def _golden(g: np.ndarray) -> tuple[str, bool]:
    """Distances from the start after each period, against 2 rho |sin(j pi turn)|."""
    n, centre = PARAMETERS["steps"], _centre(g)
    distance = np.linalg.norm(g[n::n, 1:], axis=1)
    j, rho = np.arange(1, len(distance) + 1), np.linalg.norm(centre)
    off = np.max(np.abs(distance - 2 * rho * np.abs(np.sin(np.pi * j * GOLDEN))))
    radii = np.linalg.norm(g[:, 1:] - centre, axis=1)
    first = radii[: n + 1]
    inside = radii.min() > first.min() - 1e-9 and radii.max() < first.max() + 1e-9
    sentence = (
        f"the sixth stays in the annulus of radii {first.min():.3f}, {first.max():.3f} m of its first period, comes "
        f"near its start, {distance.min():.3f} m off, without closing: 2 rho |sin(pi j turn)| after j periods (1e-9)"
    )
    return sentence, bool(off < 1e-9 and inside and distance.min() > 1e-3)


def _drift(g: np.ndarray) -> tuple[str, bool]:
    n = PARAMETERS["steps"]
    moves = np.diff(g[::n, 1:], axis=0)
    same = np.max(np.abs(moves - moves[0]))
    sentence = f"the last goes {np.linalg.norm(moves[0]):.3f} m along a straight line each period, without end"
    return sentence, bool(same < 1e-9 and np.linalg.norm(moves[0]) > 1)
