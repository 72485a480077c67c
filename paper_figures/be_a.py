"""[BE] figures 10 to 16: an ideal spring, case A, opposite velocities across the spring

For equal masses and opposite equal velocities the constraint does nothing: both points go round free ellipses. For
different masses and velocities the motion depends strongly on the first distance (figures 13, 14 and 16 differ in it
only) and on the ratio of the masses (figure 15 is 14 with m2 = 3 m1). Distances are ours: 1, 3 and 8.
"""

from typing import Any

import numpy as np

from paper_figures import be_pages
from paper_figures.be_cases import BY_FIGURE

PAGE = be_pages.Page(((10, 11, 12, 13), (14, 15, 16)), (2.3, 2.3), until={13: 9.0})
FIGURES = PAGE.figures
PARAMETERS, compute, draw = PAGE.parameters(), PAGE.compute, PAGE.draw


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    turns = {f: be_pages.windings(data, f) for f in FIGURES}
    centre = _centre(data, 11)
    return [
        *PAGE.claims(data),
        ("figure 10: r'' = -2 r about a centre of mass at rest, a free ellipse (1e-4)", _ellipse(data, 10)),
        (
            "figure 11: with m2 = 2 m1 it is not so, the centre of mass moves",
            bool(np.max(np.ptp(centre, axis=0)) > 0.1),
        ),
        ("figure 13: near, theta swings by less than half a turn, and both points travel", _travels(data, turns)),
        (
            "figures 14, 15 and 16: farther apart, theta turns round and round and both points stay about",
            all(turns[f] > 2 and bool(np.max(np.ptp(data[f"q_{f}"], axis=0)) < 12) for f in (14, 15, 16)),
        ),
    ]


def _ellipse(data: dict[str, Any], figure: int) -> bool:
    case, t, w = BY_FIGURE[figure], data[f"t_{figure}"][:, None], np.sqrt(2.0)
    half = np.array(case.second) / 2
    v = case.v1 * np.array([np.cos(case.theta), np.sin(case.theta)])
    expected = half - half * np.cos(w * t) + v * np.sin(w * t) / w
    return bool(np.max(np.abs(data[f"q_{figure}"][:, :2] - expected)) < 1e-4)


def _centre(data: dict[str, Any], figure: int) -> np.ndarray:
    q, m = data[f"q_{figure}"], BY_FIGURE[figure].mass2
    return (q[:, :2] + m * q[:, 2:]) / (1 + m)


def _travels(data: dict[str, Any], turns: dict[int, float]) -> bool:
    return turns[13] < 0.5 and float(np.ptp(data["q_13"][:, 1])) > 15
