"""What the pages of [BE] figures 4 to 32 share: 10^4 steps of EnergyExact a case, the orbits, and the common claims."""

import math
from typing import Any, NamedTuple

import numpy as np

import discrete_hamel as dh
from discrete_hamel.plots import BLACK, BLUE, VERMILLION, style
from paper_figures.be_cases import BY_FIGURE
from paper_figures.pictures import mosaic

STEPS = 10_000
ENERGY = 1e-12  # of the largest deviation, relative where the energy is above 1


class Page(NamedTuple):
    """Some of the cases on one page, in rows of panels with their heights in inches; all planes with equal scales but
    those of `expanded`. Long paths are drawn for the first `until` seconds only, `zoomed` is a window (x0, x1, y0, y1).
    """

    rows: tuple[tuple[int, ...], ...]
    heights: tuple[float, ...]
    until: dict[int, float] = {}
    expanded: tuple[int, ...] = ()
    zoomed: dict[int, tuple] = {}

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
        columns = math.lcm(*map(len, self.rows))
        layout = [[str(f) for f in row for _ in range(columns // len(row))] for row in self.rows]
        with style():
            size = (7.4, sum(self.heights) + 0.4)
            drawing, axes = mosaic(layout, size=size, height_ratios=self.heights)
            for f in self.figures:
                self._panel(axes[str(f)], data, f)
            lines = axes[str(self.figures[0])].get_lines()[:2]
            drawing.legend(lines, ["$P_1$", "$P_2$"], loc="outside lower center", ncols=2)
        return drawing

    def _panel(self, ax: Any, data: dict[str, Any], figure: int) -> None:
        case, window = BY_FIGURE[figure], self.zoomed.get(figure)
        shown = data[f"t_{figure}"] <= self.until.get(figure, case.time)
        q, z = data[f"q_{figure}"][shown], data[f"z_{figure}"]
        spans = [np.ptp(q[:, ::2]), np.ptp(q[:, 1::2])] if window is None else [window[1] - window[0]]
        unit = min(0.08 * max(spans), 0.25 * min(spans))  # of the arrows, a length for a speed
        e = np.array([np.cos(z[0, 2]), np.sin(z[0, 2])])
        for i, color in ((0, BLUE), (2, VERMILLION)):
            ax.plot(q[:, i], q[:, i + 1], color=color, linewidth=0.6)
        for i, v in ((0, z[0, 0]), (2, z[0, 1])):
            ax.plot(*q[0, i : i + 2], ".", color=BLACK, markersize=3)
            tip = q[0, i : i + 2] + unit * v * e
            ax.annotate("", xy=tip, xytext=q[0, i : i + 2], arrowprops={"arrowstyle": "->", "color": BLACK, "lw": 0.7})
        ratio = f"$m_2 = {case.mass2:g}\\,m_1$, $v_2 = {case.v2:g}\\,v_1$".replace(" 1\\,", " ").replace("-1\\,", "-")
        note = ", $y$ expanded" if figure in self.expanded else ""
        ax.set_title(f"Fig. {figure}{note}\n{ratio}", fontsize="small")
        ax.tick_params(labelsize="x-small")
        first, last = figure in (row[0] for row in self.rows), figure in self.rows[-1]
        ax.set(xlabel="$x$ [m]" if last else None, ylabel="$y$ [m]" if first else None)
        if window is not None:
            ax.set(xlim=window[:2], ylim=window[2:])
        if figure not in self.expanded:
            ax.set_aspect("equal", adjustable="box" if window else "datalim")

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


def windings(data: dict[str, Any], figure: int) -> float:
    """How far the common direction theta swings or turns, in turns."""
    return float(np.ptp(data[f"z_{figure}"][:, 2]) / (2 * np.pi))
