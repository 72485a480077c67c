"""[BE] figures 4 to 8: parallel velocities on an inclined plane

Two points start across the slope, 3 m apart along y, with velocities that stay parallel; downhill is along x. With
equal velocities (figure 4) each falls freely. The captions of figures 4 to 7 are lost in our copy, so that the ratios
shown there are ours; figure 8 is v2 = -v1, m2 = 3 m1. Drawn are the first 5 s of 20, after which all go on downhill.
"""

from typing import Any

import numpy as np

from . import be_pages

PAGE = be_pages.Page(((4, 5, 6), (7, 8)), until=dict.fromkeys((4, 5, 6, 7, 8), 5.0))
FIGURES = PAGE.figures
PARAMETERS, compute, draw = PAGE.parameters(), PAGE.compute, PAGE.draw


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    t, q = data["t_4"], data["q_4"]
    free = np.stack([t**2 / 2, t, t**2 / 2, 3 + t], axis=1)
    differences = [data[f"z_{f}"][:, 0] - data[f"z_{f}"][:, 1] for f in FIGURES]
    return [
        *PAGE.claims(data),
        ("equal velocities: both points fall on free parabolas", bool(np.max(np.abs(q - free)) < 1e-5)),
        (
            "v1 - v2 stays as it is (1e-11), by the first two of (53)",
            all(bool(np.max(np.abs(d - d[0])) < 1e-11) for d in differences),
        ),
        (
            "in the end both points go down the slope in every case",
            all(bool(np.all(np.diff(data[f"q_{f}"][-2:, ::2], axis=0) > 0)) for f in FIGURES),
        ),
    ]
