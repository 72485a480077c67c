"""[BE] figures 10 to 16: an ideal spring, case A, opposite velocities across the spring

For equal masses and opposite equal velocities the constraint does nothing, and both points go round one free ellipse
(figure 10, P2 dashed). For different masses and velocities the motion depends strongly on the first distance d and on
the ratio of the masses: figures 13, 14 and 16 differ in d only (1, 2 and 8 m, our choice), and 15 is 14 with m2 = 3 m1.
The points travel where k d^2 < (m1 v1 + m2 v2)^2 / (m1 + m2), by integrals that the paper does not give, and turn about
a place otherwise; where k d^2 = m1 v1^2 + m2 v2^2 (3 m in figure 14) both paths are circles, a relative equilibrium.
"""

from typing import Any

import numpy as np

import discrete_hamel as dh

from . import be_pages
from .be_cases import ACROSS, BY_FIGURE, POINTED, ROUND, TRAVELLING

PAGE = be_pages.Page(
    ((10, 11, 12, 13), (14, 15, 16)),
    until={10: float(np.round(np.sqrt(2) * np.pi, 2)), 13: 9.0},
    expanded={15: "x"},
    together=(10,),
)
FIGURES = PAGE.figures
DISTANCES = (1.6, 1.8, 2.4, 2.6, 3.0)
PARAMETERS, draw = PAGE.parameters() | {"distances": DISTANCES}, PAGE.draw


def compute(fast: bool) -> dict[str, Any]:
    """The cases, the directions of 14 and 15 at other distances, and the circles of 14 at 3 m."""
    data = PAGE.compute(fast)
    for f in (14, 15):
        data[f"directions_{f}"] = np.array([_run(f, d, 2000).xi[:, 2] for d in DISTANCES])
    circles = _run(14, 3.0, 2000)
    centre = (2 * circles.q[:, :2] + circles.q[:, 2:]) / 3  # at rest: r1 = 1 m and r2 = 2 m on either side of it
    return data | {"radii": np.linalg.norm(circles.q.reshape(-1, 2, 2) - centre[0], axis=2)}


def _run(figure: int, distance: float, steps: int) -> dh.Trajectory:
    case = BY_FIGURE[figure]._replace(second=(distance, 0.0))
    return dh.simulate(case.system, case.q, case.z, h=case.time / steps, steps=steps, scheme=dh.EnergyExact())


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    kinds = {f: be_pages.motion(data, f) for f in FIGURES}
    ranges = {f: np.ptp(data[f"directions_{f}"], axis=1) / (2 * np.pi) for f in (14, 15)}
    radii = data["radii"]
    spread = float(np.max(np.ptp(radii, axis=0)))
    return [
        *PAGE.claims(data),
        *be_pages.integrals(data, FIGURES),
        ("figure 10: r'' = -2 r about a centre of mass at rest, a free ellipse (1e-4)", _ellipse(data, 10)),
        (
            "figure 11: with m2 = 2 m1 it is not so, the centre of mass moves",
            bool(np.max(np.ptp(_centre(data, 11), axis=0)) > 0.1),
        ),
        (
            "figures 13, 14 and 16 are of three kinds: near, both points travel; farther, both turn about a place and "
            "P1 stops and goes back on its way; much farther, neither ever stops",
            [kinds[f] for f in (13, 14, 16)] == [TRAVELLING, POINTED, ROUND]
            and be_pages.travels(data, 13)
            and be_pages.stays(data, 14)
            and be_pages.stays(data, 16),
        ),
        (
            "figure 15 is of a different kind than 14: with m2 = 3 m1 both points travel",
            kinds[15] == TRAVELLING and be_pages.travels(data, 15),
        ),
        (
            "for equal masses nothing special: figure 12 turns about a place, like 10",
            kinds[12] == kinds[10] == ROUND and be_pages.stays(data, 12),
        ),
        (
            f"between d^2 = 3 and 25/4 they differ so: at {', '.join(f'{d:g}' for d in DISTANCES)} m theta of 14 goes "
            f"{', '.join(f'{x:.1f}' for x in ranges[14])} turns, of 15 {', '.join(f'{x:.1f}' for x in ranges[15])}",
            all(
                bool(turned > 1) == (d**2 > bound)
                for f, bound in ((14, 3.0), (15, 6.25))
                for d, turned in zip(DISTANCES, ranges[f], strict=True)
            ),
        ),
        (
            f"at 3 m figure 14 would be two circles of 1 and 2 m, kept to {spread:.0e} m in 2000 steps (1e-4)",
            bool(np.allclose(radii[0], [1, 2], atol=1e-14) and spread < 1e-4),
        ),
    ]


def _ellipse(data: dict[str, Any], figure: int) -> bool:
    case, t, w = BY_FIGURE[figure], data[f"t_{figure}"][:, None], np.sqrt(2.0)
    half = np.array(case.second) / 2
    v = case.v1 * np.array([np.cos(ACROSS), np.sin(ACROSS)])
    expected = half - half * np.cos(w * t) + v * np.sin(w * t) / w
    return bool(np.max(np.abs(data[f"q_{figure}"][:, :2] - expected)) < 1e-4)


def _centre(data: dict[str, Any], figure: int) -> np.ndarray:
    q, m = data[f"q_{figure}"], BY_FIGURE[figure].mass2
    return (q[:, :2] + m * q[:, 2:]) / (1 + m)
