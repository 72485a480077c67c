"""The period of one degree of freedom between two turning points, by equal angles."""

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev

from discrete_hamel._support.errors import InputError

FEWEST, DOUBLINGS = 16, 8  # nodes at first, and how often they are doubled
CONVERGED = 1e-11  # relative change at which doubling them ends
RESOLVED = 1e-2  # kinetic energy, relative to the potential, below which it is found from U''
RESTING = 1e-9  # g at a turning point, relative to its largest, at which a motion comes to rest and does not turn

Curved = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]  # r -> I, U, U'' at each


def period(curved: Curved, energy: float, low: float, high: float) -> float:
    """T = int_0^2pi sqrt(I / 2 g) dphi with r = mid + amp cos(phi) and E - U = (r - low)(high - r) g(r).

    g is smooth and positive, so that equal angles give T to round-off at once (a periodic integrand), unless a turning
    point is nearly a maximum of U: then g nearly vanishes there, and T grows like a logarithm.

    >>> round(period(lambda r: (1.0 + 0 * r, 0.5 * r**2, 1.0 + 0 * r), 0.5, -1.0, 1.0) / np.pi, 12)     # I r'' = -r
    2.0
    """
    last = float("nan")
    for doubling in range(DOUBLINGS):
        g, inertia, amplitude = _regularise(curved, energy, low, high, FEWEST << doubling)
        if np.all(g > 0):
            found = 2 * np.pi * float(np.mean(amplitude * np.sqrt(inertia / (2 * g))))
            if abs(found - last) <= CONVERGED * found:
                return found
            last = found
    if _rests_at_an_end(g, energy):
        return float("inf")
    raise InputError(
        f"the period at energy {energy:.9g} is not resolved by {len(g)} nodes between the turning points {low:.6g} and "
        f"{high:.6g}: the motion nearly rests on the way, close to a separatrix, or the potential has kinks."
    )


def _rests_at_an_end(g: np.ndarray, energy: float) -> bool:
    """Whether g, continued to one of the turning points, vanishes to round-off: U has a maximum there."""
    near, next_to = (1 - np.cos(np.pi * (k + 0.5) / len(g)) for k in (0, 1))
    ends = (one - (two - one) * near / (next_to - near) for one, two in ((g[0], g[1]), (g[-1], g[-2])))
    noise = 100 * np.finfo(float).eps * abs(energy) / near
    return bool(min(ends) <= RESTING * np.max(np.abs(g)) + noise)


def _regularise(
    curved: Curved, energy: float, low: float, high: float, nodes: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """g in units of amp^2, I, and amp, at so many equal angles."""
    angle = np.pi * (np.arange(nodes) + 0.5) / nodes
    amplitude = 0.5 * (high - low)
    at = 0.5 * (high + low) + amplitude * np.cos(angle)
    inertia, potential, curvature = (np.asarray(a) for a in curved(at))
    kinetic = energy - potential
    if np.max(kinetic) < RESOLVED * max(abs(energy), float(np.max(np.abs(potential)))):
        kinetic = _twice_integrated(amplitude**2 * curvature, np.cos(angle))  # the difference has too few digits left
    return kinetic / np.sin(angle) ** 2, inertia, amplitude


def _twice_integrated(curvature: np.ndarray, x: np.ndarray) -> np.ndarray:
    """-u at the Chebyshev points x, where u'' is given at them and u(-1) = u(1) = 0."""
    order = len(x) - 1
    coefficients = 2 / len(x) * chebyshev.chebvander(x, order).T @ curvature
    coefficients[0] /= 2
    u = chebyshev.chebint(coefficients, 2)
    left, right = chebyshev.chebval(np.array([-1.0, 1.0]), u)
    return 0.5 * (left + right) + 0.5 * (right - left) * x - chebyshev.chebval(x, u)
