"""[HE] figure 4a: the spherical pendulum's trajectory is quasi-periodic

The run of [HE] 6.3 with the discrete Hamel scheme, tau = 1/2. Left and middle: the bob in space, on the sphere of
radius r and from above, reconstructed from the scheme's own rotations. Right: gamma, the upward vertical seen from the
body, which is what the scheme computes. [HE] says "trajectory of the bob"; its picture could be either, so both are
here. Nodes are joined by splines.
"""

from typing import Any

import numpy as np

from . import pendulum, pendulum_views

PARAMETERS: dict[str, Any] = pendulum.PAPER | {"steps": 700}


def compute(fast: bool) -> dict[str, Any]:
    steps = (100, 200, 400) if fast else (100, 200, 400, 800, 1600)
    return pendulum_views.compute(PARAMETERS["xi"], PARAMETERS["steps"], steps)


def draw(data: dict[str, Any]) -> Any:
    return pendulum_views.draw(data, azimuth=35, elevation=-32)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    z = data["gamma"][:, 2]
    turning = _turning_heights()
    return [
        *pendulum_views.claims(data),
        ("the bob stays below the equator", bool(np.all(z < 0))),
        (
            "its height swings between the two roots of the cubic that energy and vertical momentum fix, and never "
            "leaves that band (1e-12)",
            bool(np.all(z > turning[0] - 1e-12) and np.all(z < turning[1] + 1e-12))
            and bool(z.min() - turning[0] < 1e-2 and turning[1] - z.max() < 1e-2),
        ),
        (
            "it is quasi-periodic: the highest points go round and come into each of 24 equal sectors",
            _sectors(data) == 24,
        ),
    ]


def _turning_heights() -> np.ndarray:
    """gamma3 where gamma3' = 0: 2 (E - m g r z) (1 - z^2) m r^2 = p^2, the two roots within [-1, 1]."""
    m, r, g = (PARAMETERS[name] for name in ("mass", "length", "gravity"))
    (gamma1, gamma2, gamma3), (xi1, xi2) = PARAMETERS["gamma"], PARAMETERS["xi"]
    energy = m * r**2 * (xi1**2 + xi2**2) / 2 + m * g * r * gamma3
    momentum = m * r**2 * (gamma1 * xi1 + gamma2 * xi2)
    inertia = 2 * m * r**2
    cubic = np.polymul([-m * g * r * inertia, energy * inertia], [-1.0, 0.0, 1.0])
    cubic[-1] -= momentum**2
    return np.sort(np.roots(cubic).real)[:2]


def _sectors(data: dict[str, Any]) -> int:
    """How many of 24 sectors of azimuth hold a highest point of the bob."""
    x, y, z = data["bob"].T
    highest = 1 + np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:]))
    return len(set(np.floor(np.arctan2(y, x)[highest] * 12 / np.pi)))
