"""[BE] figures 17 and 18: an ideal spring, case B, velocities of one direction across the spring

With v1 = v2 the points go along two parallel straight lines, whatever their masses: the spring pulls across both
velocities, and the constraint lets neither turn alone. (The lines are unstable where k d^2 > (m1 + m2) v^2, which the
paper does not say; here k = m1 = d = v1 = 1.) With v2 = 2 v1 both paths wave. Drawn are the first 5 s of 20, which go
on in the same way.
"""

from typing import Any

import numpy as np

import discrete_hamel as dh

from . import be_pages
from .be_cases import BY_FIGURE

PAGE = be_pages.Page(((17, 18),), until={17: 5.0, 18: 5.0}, width=3.4)
FIGURES = PAGE.figures
draw = PAGE.draw
PARAMETERS = PAGE.parameters() | {"masses": (0.3, 1.0, 5.0)}


def compute(fast: bool) -> dict[str, Any]:
    data = PAGE.compute(fast)
    for i, mass in enumerate(PARAMETERS["masses"]):
        for f in FIGURES:
            case = BY_FIGURE[f]._replace(mass2=mass)
            run = dh.simulate(case.system, case.q, case.z, h=0.01, steps=500 if fast else 2000, scheme=dh.EnergyExact())
            data[f"other_{f}_{i}"] = run.q
    return data


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    masses = range(len(PARAMETERS["masses"]))
    lines = [data["q_17"], *(data[f"other_17_{i}"] for i in masses)]
    bent = [data["q_18"], *(data[f"other_18_{i}"] for i in masses)]
    return [
        *PAGE.claims(data),
        *be_pages.integrals(data, [18]),
        (
            "figure 17: both paths are straight to 1e-9, for this and for three other masses",
            all(bool(np.max(np.abs(q[:, ::2] - q[0, ::2])) < 1e-9) for q in lines),
        ),
        (
            "figure 18: neither path is straight, for this and for three other masses",
            all(bool(np.all(np.ptp(q[:, ::2], axis=0) > 0.02)) for q in bent),
        ),
        (
            "figure 18: v1 - v2 swings with its one period all the time, so that the later 15 s are like the first",
            _periodic(data),
        ),
    ]


def _periodic(data: dict[str, Any]) -> bool:
    """Whether v1 - v2 passes zero at even intervals (1e-3), three times at least."""
    v1, v2, _ = data["z_18"].T
    passed = np.flatnonzero(np.diff(np.sign(v1 - v2)))
    between = np.diff(data["t_18"][passed])
    return len(passed) > 3 and bool(np.ptp(between) < 1e-3 * between.mean() + 2 * data["t_18"][1])
