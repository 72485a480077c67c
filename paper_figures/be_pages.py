"""What the pages of [BE] figures 4 to 32 share: 10^4 steps of EnergyExact a case, the orbits, and the common claims."""

from typing import Any, NamedTuple

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, VERMILLION, style

from .be_cases import BY_FIGURE, POINTED, ROUND, TRAVELLING, Case

STEPS = 10_000
ENERGY = 1e-12  # of the largest deviation, relative where the energy is above 1
TALL = 2.2  # inches, the highest panel; and the room for what stands beside, above and below one
LEFT, RIGHT, ABOVE, BELOW = 0.55, 0.15, 0.42, 0.5
Window = tuple[float, float, float, float]  # left, right, bottom, top


class Page(NamedTuple):
    """Some of the cases on one page, in rows of panels as wide as what they show; all planes with equal scales but
    those where an axis is `expanded`. What is long, or runs over itself, is drawn for the first `until` seconds, which
    the title says; a `zoomed` one in a window (left, right, bottom, top). Where both points run on one curve P2 is
    dashed (`together`), so that neither hides the other.
    """

    rows: tuple[tuple[int, ...], ...]
    until: dict[int, float] = {}
    expanded: dict[int, str] = {}
    zoomed: dict[int, Window] = {}
    together: tuple[int, ...] = ()
    width: float = 7.0

    @property
    def figures(self) -> list[int]:
        """Their numbers, in order."""
        return sorted(f for row in self.rows for f in row)

    def parameters(self) -> dict[str, Any]:
        """The cases' numbers, and the scheme's."""
        cases = (BY_FIGURE[f] for f in self.figures)
        return {"steps": STEPS, "scheme": "EnergyExact()"} | {
            f"figure {c.figure}": {"m2": c.mass2, "v1": c.v1, "v2": c.v2, "theta": c.theta, "P2": c.second}
            | {"time": c.time}
            for c in cases
        }

    def compute(self, _: bool) -> dict[str, Any]:
        """Nodes and energies of each case, and where it is after a quarter of the time, by DOP853: nothing is long."""
        data: dict[str, Any] = {}
        for f in self.figures:
            case = BY_FIGURE[f]
            run = dh.simulate(case.system, case.q, case.z, h=case.time / STEPS, steps=STEPS, scheme=dh.EnergyExact())
            exact = dh.reference(case.system, case.q, case.z, t=case.time / 4)
            data |= {
                f"t_{f}": run.t,
                f"q_{f}": run.q,
                f"z_{f}": run.xi,
                f"energy_{f}": run.energy,
                f"exact_{f}": exact.q[-1],
            }
        return data

    def draw(self, data: dict[str, Any]) -> Any:
        """A panel a case: both orbits from their starting points, with the first velocities as arrows."""
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        with style():
            windows = {f: self._window(data, f) for f in self.figures}
            shapes = {f: self._shape(f, windows[f]) for f in self.figures}
            wide = {f: shape if (f,) in self.rows else min(shape, 2.0) for f, shape in shapes.items()}
            room = {row: self.width - RIGHT - len(row) * LEFT for row in self.rows}
            heights = [min(room[row] / sum(wide[f] for f in row), TALL) for row in self.rows]
            size = self.width, sum(heights) + len(heights) * (ABOVE + BELOW) + 0.3
            drawing = Figure(figsize=size)
            drawing.set_layout_engine("none")
            top = size[1]
            for row, height in zip(self.rows, heights, strict=True):
                spare = (room[row] - height * sum(wide[f] for f in row)) / len(row)
                across = 0.0
                for f in row:
                    panel = height * wide[f], height * wide[f] / shapes[f]
                    corner = across + LEFT + spare / 2, top - ABOVE - (height + panel[1]) / 2
                    self._panel(drawing.add_axes(_part(size, corner, panel)), data, f, windows[f])
                    across += panel[0] + LEFT + spare
                top -= ABOVE + height + BELOW
            names = [Line2D([], [], color=BLUE, label="$P_1$"), Line2D([], [], color=VERMILLION, label="$P_2$")]
            drawing.legend(handles=names, loc="lower center", ncols=2)
        return drawing

    def _shown(self, data: dict[str, Any], figure: int) -> np.ndarray:
        return data[f"q_{figure}"][data[f"t_{figure}"] <= self.until.get(figure, BY_FIGURE[figure].time)]

    def _window(self, data: dict[str, Any], figure: int) -> Window:
        """All that is drawn, with a margin."""
        if figure in self.zoomed:
            return self.zoomed[figure]
        q = self._shown(data, figure)
        x, y = q[:, ::2], q[:, 1::2]
        across, up = 0.07 * np.ptp(x), 0.07 * np.ptp(y)
        if figure not in self.expanded:  # never so narrow that the title does not fit
            across, up = max(across, 0.3 * np.ptp(y) - np.ptp(x) / 2), max(up, 0.04 * np.ptp(x))
        window = x.min() - across, x.max() + across, y.min() - up, y.max() + up
        (_, first), (_, second) = self._arrows(BY_FIGURE[figure], window)
        low, high = np.minimum(first, second) - [0, up / 2], np.maximum(first, second) + [0, up / 2]
        return min(window[0], low[0]), max(window[1], high[0]), min(window[2], low[1]), max(window[3], high[1])

    def _shape(self, figure: int, window: Window) -> float:
        """Width over height of a panel."""
        if figure in self.expanded:
            return {"x": 0.9, "y": 1.8}[self.expanded[figure]]
        left, right, bottom, top = window
        return (right - left) / (top - bottom)

    def _panel(self, ax: Any, data: dict[str, Any], figure: int, window: Window) -> None:
        case, q = BY_FIGURE[figure], self._shown(data, figure)
        ax.plot(q[:, 0], q[:, 1], color=BLUE, linewidth=0.8)
        dashes = {"linestyle": (0, (4, 4)), "linewidth": 1.6} if figure in self.together else {"linewidth": 0.8}
        ax.plot(q[:, 2], q[:, 3], color=VERMILLION, **dashes)
        ax.set(xlim=window[:2], ylim=window[2:], xlabel="$x$ [m]", ylabel="$y$ [m]")
        ax.set_title(self._title(case), fontsize=8)
        ax.tick_params(labelsize=7)
        ax.locator_params(axis="x", nbins=4 if self._shape(figure, window) < 1.5 else 8)
        if figure not in self.expanded:
            ax.set_aspect("equal")
        self._start(ax, case, window)

    def _start(self, ax: Any, case: Case, window: Window) -> None:
        """Both starting points, with arrows along the velocities."""
        for (start, tip), color, mark in zip(self._arrows(case, window), (BLUE, VERMILLION), "os", strict=True):
            looks = {"arrowstyle": "-|>", "color": color, "lw": 1.0, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
            ax.annotate("", xy=tip, xytext=start, arrowprops=looks, zorder=5, annotation_clip=False)
            ax.plot(*start, mark, color=color, markersize=3.5, markeredgecolor=BLACK, markeredgewidth=0.5, zorder=6)

    def _arrows(self, case: Case, window: Window) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Start and tip of each point's, the longer one a seventh of the panel."""
        size = np.array([window[1] - window[0], window[3] - window[2]])
        if case.figure not in self.expanded:
            size = np.full(2, min(max(size), 2 * min(size)))
        e = np.array([np.cos(case.theta), np.sin(case.theta)])
        e = e / np.linalg.norm(e / size) / max(abs(case.v1), abs(case.v2)) / 7
        return (case.q[:2], case.q[:2] + case.v1 * e), (case.q[2:], case.q[2:] + case.v2 * e)

    def _title(self, case: Case) -> str:
        """Number, axis and time; then the ratios of masses and velocities."""
        until = self.until.get(case.figure, case.time)
        time = f"{until:g} s" if until == case.time else f"first {until:.3g} of {case.time:g} s"
        parts = [f"Fig. {case.figure}", time]
        if case.figure in self.expanded:
            parts.append(f"${self.expanded[case.figure]}$ expanded")
        if case.figure in self.zoomed:
            parts.append("zoom at $P_1$")
        ratios = f"$m_2 = {_times(case.mass2)}m_1$, $v_2 = {_times(case.v2)}v_1$"
        return ", ".join(parts) + "\n" + ratios

    def claims(self, data: dict[str, Any]) -> list[tuple[str, bool]]:
        """What holds on every page."""
        kept, right, parallel = True, True, True
        for f in self.figures:
            energy, q, case = data[f"energy_{f}"], data[f"q_{f}"], BY_FIGURE[f]
            kept &= bool(np.max(np.abs(energy - energy[0])) < ENERGY * max(1.0, abs(energy[0])))
            exact = data[f"exact_{f}"]
            right &= bool(np.max(np.abs(q[STEPS // 4] - exact)) < 1e-4 * (1 + np.max(np.abs(exact))))
            chord = np.diff(q, axis=0) * (STEPS / case.time)
            cross = chord[:, 0] * chord[:, 3] - chord[:, 1] * chord[:, 2]
            parallel &= bool(np.max(np.abs(cross)) < 1e-9 * (1 + np.max(np.abs(chord)) ** 2))
        return [
            (f"every case keeps its energy to {ENERGY:g} over 10^4 steps", kept),
            ("after a quarter of the time all points are where DOP853 has them, to 1e-4 of the distance", right),
            ("over every step the two displacements are parallel, to round-off", parallel),
        ]


def _part(
    size: tuple[float, float], corner: tuple[float, float], panel: tuple[float, float]
) -> tuple[float, float, float, float]:
    """Left, bottom, width and height, from inches to parts of a page."""
    return corner[0] / size[0], corner[1] / size[1], panel[0] / size[0], panel[1] / size[1]


def _times(factor: float) -> str:
    return {1.0: "", -1.0: "-"}.get(factor, f"{factor:g}\\,")


def windings(data: dict[str, Any], figure: int) -> float:
    """How far the common direction theta swings or turns, in turns."""
    return float(np.ptp(data[f"z_{figure}"][:, 2]) / (2 * np.pi))


def motion(data: dict[str, Any], figure: int) -> str:
    """The kind of a motion as it is seen: whether v1 - v2, and whether v1 or v2, ever changes its sign."""
    v1, v2, _ = data[f"z_{figure}"].T
    if _changes_sign(v1 - v2):
        return TRAVELLING
    return POINTED if _changes_sign(v1) or _changes_sign(v2) else ROUND


def stays(data: dict[str, Any], figure: int) -> bool:
    """Whether theta turns round and round, and both points come back about where they started."""
    distance = np.linalg.norm(data[f"q_{figure}"] - BY_FIGURE[figure].q, axis=1)
    return windings(data, figure) > 2 and float(distance[STEPS // 2 :].min()) < 0.1 * float(distance.max())


def travels(data: dict[str, Any], figure: int) -> bool:
    """Whether theta swings by less than half a turn, and both points go far: four times as far as they are apart."""
    q, apart = data[f"q_{figure}"], float(np.hypot(*BY_FIGURE[figure].second))
    far = min(float(np.linalg.norm(np.ptp(q[:, i : i + 2], axis=0))) for i in (0, 2))
    return windings(data, figure) < 0.5 and far > 4 * apart


def integrals(data: dict[str, Any], figures: list[int]) -> list[tuple[str, bool]]:
    """The two integrals of the spring's motion beside the energy, and what they decide."""
    kept, decided = True, True
    for f in figures:
        q, (v1, v2, theta), m2 = data[f"q_{f}"], data[f"z_{f}"].T, BY_FIGURE[f].mass2
        momentum, across = v1 + m2 * v2, (q[:, 3] - q[:, 1]) * np.cos(theta) - (q[:, 2] - q[:, 0]) * np.sin(theta)
        product = across**2 * (v1**2 + m2 * v2**2)
        for series in (momentum, product):
            kept &= bool(np.max(np.abs(series - series[0])) < 1e-4 * (1 + abs(series[0])))
        decided &= motion(data, f) == BY_FIGURE[f].motion
    return [
        (
            "two more integrals, not in the paper: m1 v1 + m2 v2 and (m1 v1^2 + m2 v2^2) times the square of the "
            "distance across the velocities (1e-4)",
            kept,
        ),
        ("they tell for every case whether v1 - v2, and whether v1 or v2, ever changes its sign", decided),
    ]


def _changes_sign(series: np.ndarray) -> bool:
    return bool(series.min() < 0 < series.max())
