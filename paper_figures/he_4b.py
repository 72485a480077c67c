"""[HE] figure 4b: a trajectory that crosses the equator

The same pendulum thrown harder, xi = (2, 0) rad/s; [HE] gives no data for this picture. Vermillion: above the equator.
Panels as in figure 4a. No coordinates on the sphere have to be changed on the way: gamma has no poles.
"""

from typing import Any

import numpy as np

from . import pendulum, pendulum_views

PARAMETERS: dict[str, Any] = pendulum.PAPER | {"xi": (2.0, 0.0), "steps": 300}


def compute(fast: bool) -> dict[str, Any]:
    steps = (200, 400, 800) if fast else (200, 400, 800, 1600, 3200)
    long = pendulum.run(PARAMETERS["xi"], 10_000).invariants()
    return pendulum_views.compute(PARAMETERS["xi"], PARAMETERS["steps"], steps) | {
        "long_energy": long["energy"],
        "long_length": long["length of gamma"],
        "long_momentum": long["vertical momentum"],
    }


def draw(data: dict[str, Any]) -> Any:
    return pendulum_views.draw(data, azimuth=35, elevation=15)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    z = data["gamma"][:, 2]
    kept = [
        np.max(np.abs(data[f"long_{name}"] / data[f"long_{name}"][0] - 1)) for name in ("energy", "length", "momentum")
    ]
    return [
        *pendulum_views.claims(data),
        ("the bob crosses the equator, again and again", int(np.sum(np.diff(np.sign(z)) != 0)) > 10),
        (
            "energy, |gamma| and vertical momentum hold within 1e-13 over 10 000 steps on this run too",
            max(kept) < 1e-13,
        ),
    ]
