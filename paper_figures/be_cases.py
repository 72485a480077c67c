"""The cases of [BE] figures 4 to 32, two points with parallel velocities: their data, and what the paper says of each.

The paper gives ratios of velocities and masses, the kind of initial position and, for figures 28 and 29, the positions;
the captions of figures 4 to 7, 9, 10, 12, 17, 19, 20, 24, 26 and 30 are not in our copy. What it does not give (sizes
of velocities, distances, g, k, and the angles of cases C and D) is chosen here, with g = k = m1 = 1, so that the kind
of motion described is seen. The captions' "m_2 = 2 m_2" means m_2 = 2 m_1.

Which kind it is, the paper leaves to experiments. With the spring r = P1 P2 the equations (55) have three integrals,
of which the paper has the first:

    energy,   P = m1 v1 + m2 v2,   J = (r . n)^2 T,   T = m1 v1^2 + m2 v2^2,   n = (-sin, cos) of theta

for (r . n)' / (r . n) = -T' / 2T by the last of (55). So k (r . e)^2 = 2 E - T - k J / T: T lies between the roots of
T^2 - 2 E T + k J, and not below P^2 / (m1 + m2), its value where v1 = v2. If that is above the smaller root, v2 - v1
and with it theta' change their sign again and again: the points travel. If not, theta turns for ever, and v1 passes
zero where P^2 / m2 is between the roots: the path of P1 has points. In case A the roots are T and k d^2 at the start.
"""

from typing import Any, NamedTuple

import numpy as np

import discrete_hamel as dh

ACROSS = np.pi / 2  # the angle of the velocities with P1 P2, which lies along x
INCLINED = np.pi / 4  # case C
BACKWARDS = 3 * np.pi / 4  # case D: P1 is sent away from P2, and drawn back by the spring
TRAVELLING, POINTED, ROUND = "travelling", "pointed", "round"  # the last two turn round and round and stay about


class Case(NamedTuple):
    """One figure: P1 at the origin, P2 at `second`, velocities v1 and v2 along theta."""

    figure: int
    kind: str  # "plane", or the spring's A, B, C, D
    mass2: float
    v1: float
    v2: float
    theta: float
    second: tuple[float, float]
    time: float
    says: str  # what the paper says, or what its caption gives

    @property
    def system(self) -> Any:
        made = dh.systems.TwoPointsParallelVelocities
        return (made.inclined_plane if self.kind == "plane" else made.ideal_spring)(1.0, self.mass2, 1.0)

    @property
    def q(self) -> np.ndarray:
        return np.array([0.0, 0.0, *self.second])

    @property
    def z(self) -> np.ndarray:
        return np.array([self.v1, self.v2, self.theta])

    @property
    def integrals(self) -> tuple[float, float, float]:
        """P, and the smaller and the greater root of T^2 - 2 E T + k J, of the spring's motion."""
        t, distance = self.v1**2 + self.mass2 * self.v2**2, float(np.hypot(*self.second))
        half, product = (t + distance**2) / 2, (distance * np.sin(self.theta)) ** 2 * t
        gap = np.sqrt(max(half**2 - product, 0.0))
        return self.v1 + self.mass2 * self.v2, half - gap, half + gap

    @property
    def motion(self) -> str:
        """What the integrals say of the spring's motion: TRAVELLING, POINTED or ROUND."""
        p, least, greatest = self.integrals
        if least < p**2 / (1 + self.mass2):
            return TRAVELLING
        return POINTED if any(least < p**2 / m < greatest for m in (1.0, self.mass2)) else ROUND


def _plane(figure: int, mass2: float, v2: float, says: str) -> Case:
    """P2 starts ahead of P1 or behind it, so that they go apart: where it starts changes nothing else."""
    return Case(figure, "plane", mass2, 1.0, v2, ACROSS, (0.0, 3.0 if v2 > 0 else -3.0), 20.0, says)


def _spring(
    figure: int, kind: str, mass2: float, v2: float, says: str, distance: float = 1.0, theta: float = ACROSS
) -> Case:
    return Case(figure, kind, mass2, 1.0, v2, theta, (distance, 0.0), 20.0, says)


CASES = (
    _plane(4, 1.0, 1.0, "caption lost; here v2 = v1, m2 = m1"),
    _plane(5, 1.0, 2.0, "caption lost; here v2 = 2 v1, m2 = m1"),
    _plane(6, 1.0, -2.0, "caption lost; here v2 = -2 v1, m2 = m1"),
    _plane(7, 2.0, -1.0, "caption lost; here v2 = -v1, m2 = 2 m1"),
    _plane(8, 3.0, -1.0, "v2 = -v1, m2 = 3 m1"),
    _spring(10, "A", 1.0, -1.0, "opposite velocities of equal size, equal masses"),
    _spring(11, "A", 2.0, -1.0, "v1 = -v2, m2 = 2 m1: different from figure 10"),
    _spring(12, "A", 1.0, -2.0, "opposite, of different sizes, equal masses: nothing special", 1.5),
    _spring(13, "A", 2.0, -2.0, "v2 = -2 v1, m2 = 2 m1"),
    _spring(14, "A", 2.0, -2.0, "as 13 with a larger distance: a very different motion", 2.0),
    _spring(15, "A", 3.0, -2.0, "as 14 with m2 = 3 m1: orbits of a different kind; x expanded", 2.0),
    _spring(16, "A", 2.0, -2.0, "as 13 with a much larger distance", 8.0),
    _spring(17, "B", 1.0, 1.0, "v1 = v2: two parallel straight lines, whatever the masses"),
    _spring(18, "B", 2.0, 2.0, "v2 = 2 v1, m2 = m1 or another mass: no straight lines"),
    _spring(19, "C", 1.0, -1.0, "v2 = -v1, m2 = m1", theta=INCLINED),
    _spring(20, "C", 2.0, -1.0, "v2 = -v1, different masses: different from figure 19", theta=INCLINED),
    _spring(21, "C", 1.0, -2.0, "v2 = -2 v1, m2 = m1", theta=INCLINED),
    _spring(22, "C", 1.0, -2.0, "as 21 with a larger distance: a very different kind of orbits", 1.3, INCLINED),
    _spring(23, "C", 1.0, -2.0, "as 22 with a larger distance: a very different kind of orbits", 3.0, INCLINED),
    _spring(24, "C", 2.0, -2.0, "v2 = -2 v1, m2 = 2 m1", theta=INCLINED),
    _spring(25, "C", 2.0, -2.0, "as 24 with a larger distance: a very different kind of orbits", 4.0, INCLINED),
    _spring(26, "D", 1.0, 1.0, "v2 = v1, m2 = m1", theta=BACKWARDS),
    _spring(27, "D", 4.0, 1.0, "as 26 with m2 = 4 m1", theta=BACKWARDS),
    _spring(28, "D", 1.0, 2.0, "v2 = 2 v1, m2 = m1, P2 = (10, 0)", 10.0, BACKWARDS),
    _spring(29, "D", 3.0, 2.0, "as 28 with m2 = 3 m1, P2 = (15, 0): P1 seems to start backwards", 15.0, BACKWARDS),
    _spring(30, "D", 3.0, 2.0, "caption lost; here as 29 with P2 = (20, 0)", 20.0, BACKWARDS),
    _spring(31, "D", 3.0, 2.0, "as 30 with the y-axis expanded: P1 seems to start backwards", 20.0, BACKWARDS),
    _spring(32, "D", 3.0, 2.0, "zoom over P1 in figures 29 and 31: it starts along v1 and turns back", 15.0, BACKWARDS),
)
BY_FIGURE = {case.figure: case for case in CASES}
