"""[BE] figures 19 to 25: an ideal spring, case C, opposite velocities inclined to the spring

Equal masses and equal opposite velocities give one free ellipse again (figure 19, P2 dashed), different masses do not
(20). With v2 = -2 v1 the orbits are of very different kinds, depending on the first distance: for equal masses 21 to 23
(1, 1.3 and 3 m), and likewise for m2 = 2 m1, 24 and 25 (1 and 4 m). The angle, 45 degrees, and the distances are ours.
"""

from typing import Any

import numpy as np

from . import be_pages
from .be_cases import POINTED, ROUND, TRAVELLING

PAGE = be_pages.Page(
    ((19, 20), (21, 22, 23), (24, 25)), until={19: float(np.round(np.sqrt(2) * np.pi, 2))}, together=(19,)
)
FIGURES = PAGE.figures
PARAMETERS, compute, draw = PAGE.parameters(), PAGE.compute, PAGE.draw


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    kinds = {f: be_pages.motion(data, f) for f in FIGURES}
    still, moved = data["q_19"], data["q_20"]
    return [
        *PAGE.claims(data),
        *be_pages.integrals(data, FIGURES),
        (
            "figure 19: the centre of mass rests (1e-10)",
            bool(np.max(np.abs(still[:, :2] + still[:, 2:] - still[0, 2:])) < 1e-10),
        ),
        (
            "figure 20: with m2 = 2 m1 it does not",
            bool(np.max(np.ptp(moved[:, :2] + 2 * moved[:, 2:], axis=0)) > 0.1),
        ),
        (
            "figures 21, 22 and 23 are of three kinds: near, both points travel; farther, both turn about a place and "
            "P1 stops and goes back on its way; farther still, neither ever stops",
            [kinds[f] for f in (21, 22, 23)] == [TRAVELLING, POINTED, ROUND]
            and be_pages.travels(data, 21)
            and be_pages.stays(data, 22)
            and be_pages.stays(data, 23),
        ),
        (
            "figures 24 and 25, a similar phenomenon for m2 = 2 m1: near, both travel; farther, both turn about",
            kinds[24] != kinds[25] and be_pages.travels(data, 24) and be_pages.stays(data, 25),
        ),
    ]
