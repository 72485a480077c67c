"""[HE] Theorem 5.3 asked of any scheme and step: are relative equilibria and their stability types kept?"""

from typing import NamedTuple

import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Scalar, Velocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.equilibria.equilibrium_search import Point, Sought
from discrete_hamel.analysis.equilibria.kept_motions import KeptMotion, kept_motion
from discrete_hamel.analysis.equilibria.linearisation import Stability
from discrete_hamel.analysis.equilibria.reachable import reachable
from discrete_hamel.analysis.equilibria.relative_equilibria import question_at
from discrete_hamel.analysis.equilibria.spectra import Half, half, refuse_moving
from discrete_hamel.analysis.equilibria.steady_equations import left_over, nearest_group
from discrete_hamel.analysis.symmetry.phase_space import Symmetries
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.schemes.scheme import Scheme

DOUBLINGS = 12  # of the step, at most, until it is as long as the fastest rate's time: no accuracy hides there


class Preservation(NamedTuple):
    """What a scheme makes of a relative equilibrium of (H): three answers, and the numbers behind them.

    It is kept where a step of the map is a motion of the group to round-off, with this step and with longer ones: what
    only an accurate scheme leaves of it falls with a power of the step, the `slope`, and is not kept.
    """

    scheme: str
    h: float
    residual: float  # how fast, relative to the motion, a step leaves the orbit of the symmetry
    slope: float | None  # the power of h with which that falls; None where it is round-off
    seen_at: float | None  # the step with which it is seen to be lost; None where it is kept
    dimensions: tuple[int, int | None]  # of the family, continuous and discrete; None where it is lost
    stability: tuple[Stability, Stability | None]  # of the motion, and of the map; None where it is lost

    @property
    def kept(self) -> bool:
        """Whether the relative equilibrium is one of the map too."""
        return self.seen_at is None

    @property
    def holds(self) -> bool:
        """Whether everything that [HE] Theorem 5.3 says is so here."""
        alike = self.dimensions[0] == self.dimensions[1] and self.stability[0] is self.stability[1]
        return self.kept and alike

    def __repr__(self) -> str:
        if not self.kept:
            fall = "" if self.slope is None else f", which falls as h^{self.slope:.1f}"
            where = "" if self.seen_at == self.h else f" (to round-off; it is seen with h = {self.seen_at:g})"
            return (
                f"{self.scheme}, h = {self.h:g}: this relative equilibrium is lost; a step leaves the orbit of the "
                f"symmetry at a rate of {self.residual:.1e}{where}{fall}."
            )
        was, now = self.stability
        family = f"family of dimension {self.dimensions[0]}, of the map {self.dimensions[1]}"
        types = f"type {was.name}, of the map {now.name if now else 'none'}"
        kept = f"relative equilibrium kept (residual {self.residual:.1e})"
        return f"{self.scheme}, h = {self.h:g}: {kept}; {family}; {types}."


def structural_stability(
    system: System,
    q: Coordinates,
    xi: Quasivelocities,
    scheme: Scheme,
    h: Scalar,
    *,
    v: Velocities | None = None,
    symmetries: Symmetries = None,
) -> Preservation:
    """Returns whether a scheme with step h keeps a relative equilibrium of (H), the dimension of its family, and its
    type.

    [HE] Theorem 5.3 says that DiscreteHamel at tau = 1/2 does, for Chaplygin systems with commutative symmetry.

    >>> import discrete_hamel as dh
    >>> from discrete_hamel.analysis import structural_stability
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> structural_stability(sleigh, [0, 0, 0], [0.0, 2.0], dh.DiscreteHamel(), 0.5).holds
    True
    >>> structural_stability(sleigh, [0, 0, 0], [0.0, 2.0], dh.Leapfrog(), 0.5).holds
    False
    """
    system, q, xi = checks.initial_data(system, q, xi, v)
    h, point, continuous = checks.step_size(h), *_steady(system, q, xi, symmetries)
    words = reachable(system, q)

    def with_step(step: Array) -> tuple[Sought, KeptMotion]:
        ask, y = question_at(system, point.y[: len(q)], point.y[len(q) :], scheme, step, symmetries)
        sought = Sought(ask, [], words)
        return sought, kept_motion(sought, y, point.group)

    sought, found = with_step(h)
    if not np.isfinite(found.residual):
        raise InputError(
            f"a step of {scheme!r} with h = {float(h):g} from this relative equilibrium of {type(system).__name__} is "
            "no number: its equations have no root there. Take a shorter step."
        )
    last, lost = found, None if found.kept else float(h)
    step = h
    while lost is None and abs(float(step)) * point.rate < 1 and abs(float(step / h)) < 2**DOUBLINGS:
        step = 2 * step
        last = with_step(step)[1]
        lost = None if last.kept or not np.isfinite(last.residual) else float(step)
    slope = None
    if lost is not None:
        half_as_far = with_step(step / 2)[1]
        slope = None if half_as_far.kept else float(np.log2(last.residual / half_as_far.residual))
    discrete = half(sought, found.point, found.residual) if lost is None else None
    dimensions = continuous.family, None if discrete is None else discrete.family
    types = continuous.stability, None if discrete is None else discrete.stability
    return Preservation(repr(scheme), float(h), found.residual, slope, lost, dimensions, types)


def _steady(system: System, q: Array, xi: Array, symmetries: Symmetries) -> tuple[Point, Half]:
    """The relative equilibrium of (H) that is given, to round-off, and its linearisation."""
    ask, y = question_at(system, q, xi, None, None, symmetries)
    sought = Sought(ask, [], reachable(system, q))
    point = sought.at(y, nearest_group(ask.symmetries, system, y))
    residual = left_over(point.at, point.noise, y, point.group, len(q))
    refuse_moving(system, residual, symmetries, "there is nothing to keep")
    point = sought.solve(point) or point
    return point, half(sought, point, residual)
