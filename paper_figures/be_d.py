"""[BE] figures 26 to 32: an ideal spring, case D, velocities of one direction inclined to the spring

P1 seems to start against its velocity in figures 29 and 31. The zoom (32) shows that it does not: the strong spring
stops it within a tenth of a second, and draws it back. Positions of figures 28 and 29 are the paper's, P2 = (10, 0)
and (15, 0); the angle is 135 degrees and P2 = (20, 0) for 30 and 31, our choice.
"""

from typing import Any

import numpy as np

from . import be_pages
from .be_cases import BACKWARDS

PAGE = be_pages.Page(
    ((26, 27), (28,), (29,), (30,), (31, 32)),
    expanded={31: "y"},  # as in the paper
    zoomed={32: (-0.08, 0.08, -0.08, 0.08)},
)
PARAMETERS, compute, draw = PAGE.parameters(), PAGE.compute, PAGE.draw


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    apart = float(np.max(np.abs(data["q_26"] - data["q_27"])))
    return [
        *PAGE.claims(data),
        *be_pages.integrals(data, PAGE.figures),
        ("figures 26 and 27: another mass makes another motion, by more than the distance at the start", apart > 1),
        *(
            (f"figure {f}: P1 starts along v1, turns back within 0.2 s, and leaves the other way", _turns_back(data, f))
            for f in (29, 31, 32)
        ),
    ]


def _turns_back(data: dict[str, Any], figure: int) -> bool:
    t, q, z = (data[f"{name}_{figure}"] for name in ("t", "q", "z"))
    turn = int(np.argmax(z[:, 0] < 0))
    along = q[:, :2] @ np.array([np.cos(BACKWARDS), np.sin(BACKWARDS)])
    return bool(0 < t[turn] < 0.2 and along[turn // 2] > 0 and along[4 * turn] < 0 and along[turn] < 0.1)
