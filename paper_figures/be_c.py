"""[BE] figures 19 to 25: an ideal spring, case C, opposite velocities inclined to the spring

Equal masses and equal opposite velocities give free ellipses again (figure 19), different masses do not (20). With
v2 = -2 v1 the orbits depend on the first distance, for equal masses (21 to 23) and for m2 = 2 m1 (24, 25). The angle
is 45 degrees and the distances are 1, 3 and 8, which is our choice.
"""

from typing import Any

import numpy as np

from paper_figures import be_pages

PAGE = be_pages.Page(((19, 20, 21, 22), (23, 24, 25)), (2.3, 2.3))
FIGURES = PAGE.figures
PARAMETERS, compute, draw = PAGE.parameters(), PAGE.compute, PAGE.draw


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    turns = {f: be_pages.windings(data, f) for f in FIGURES}
    still, moved = data["q_19"], data["q_20"]
    return [
        *PAGE.claims(data),
        (
            "figure 19: the centre of mass rests (1e-10)",
            bool(np.max(np.abs(still[:, :2] + still[:, 2:] - still[0, 2:])) < 1e-10),
        ),
        (
            "figure 20: with m2 = 2 m1 it does not",
            bool(np.max(np.ptp(moved[:, :2] + 2 * moved[:, 2:], axis=0)) > 0.1),
        ),
        ("figure 21: near, theta swings by less than half a turn", turns[21] < 0.5),
        ("figures 22 and 23: farther apart, it turns round and round", min(turns[22], turns[23]) > 2),
        ("figures 24 and 25: with m2 = 2 m1 it swings at both distances", max(turns[24], turns[25]) < 0.5),
    ]
