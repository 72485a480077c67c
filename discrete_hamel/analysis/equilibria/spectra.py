"""The spectrum of a relative equilibrium: of (H), of a scheme's step beside it, and where its type changes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Scalar, Velocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.equilibria.equilibrium_search import Point, Sought
from discrete_hamel.analysis.equilibria.kept_motions import kept_motion
from discrete_hamel.analysis.equilibria.linearisation import Linearisation, Stability, logarithms
from discrete_hamel.analysis.equilibria.reachable import reachable
from discrete_hamel.analysis.equilibria.relative_equilibria import question_at
from discrete_hamel.analysis.equilibria.steady_equations import STEADY, left_over, modulo_symmetry, nearest_group
from discrete_hamel.analysis.symmetry.phase_space import Symmetries
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.schemes.scheme import Scheme


class Half(NamedTuple):
    """One side of a spectrum, the continuous or the discrete: the linearisation at a relative equilibrium."""

    linear: Linearisation
    family: int  # dimension of the family of relative equilibria through the point, modulo symmetry
    residual: float

    @property
    def eigenvalues(self) -> np.ndarray:
        """Rates of (H), or multipliers of the map."""
        return self.linear.eigenvalues()

    @property
    def zeros(self) -> int:
        """How many rates are zero."""
        return self.linear.zeros()

    @property
    def stability(self) -> Stability:
        """What this side says."""
        return self.linear.stability(self.family)


class Spectrum(NamedTuple):
    """Eigenvalues modulo the symmetry, of (H) and, where a scheme was given, of its map; prints side by side."""

    continuous: Half  # of (H)
    discrete: Half | None = None  # of the scheme's map

    @property
    def rates(self) -> np.ndarray:
        """Eigenvalues of (H), the fastest growing first; by imaginary part where they grow alike."""
        found = self.continuous.eigenvalues
        return found[np.lexsort((-found.imag, -np.round(found.real, 9)))]

    @property
    def multipliers(self) -> np.ndarray:
        """Eigenvalues of the map, each in the place of the rate whose exponential it is nearest to."""
        if self.discrete is None:
            raise InputError("this spectrum is of the continuous motion only; give a scheme and h for multipliers.")
        h, found = self.discrete.linear.h or 1.0, self.discrete.eigenvalues
        rates = self.rates
        wanted = np.exp(np.clip(rates.real * h, -50, 50) + 1j * rates.imag * h)
        rows, columns = scipy.optimize.linear_sum_assignment(np.abs(wanted[:, None] - found[None]))
        rest = np.setdiff1d(np.arange(len(found)), columns)  # of what the scheme remembers besides (q, xi)
        return np.concatenate([found[columns[np.argsort(rows)]], found[rest]])

    @property
    def logarithms(self) -> np.ndarray:
        """Logarithms of the multipliers over h: the rates at which the scheme moves."""
        multipliers = self.multipliers
        return logarithms(multipliers, (self.discrete and self.discrete.linear.h) or 1.0)

    @property
    def growth(self) -> float:
        """The largest real part of the rates that are not zero (minus infinity if all are); 0 if it is round-off."""
        return self.continuous.linear.growth()

    @property
    def stability(self) -> Stability:
        """Of the continuous motion."""
        return self.continuous.stability

    def __repr__(self) -> str:
        lines = [f"rates of (H) modulo symmetry; {self.continuous.zeros} zero; {self.stability.value}"]
        if self.discrete is None:
            return "\n".join([*lines, *(f"  {rate:.10g}" for rate in self.rates)])
        lines.append(f"map: {self.discrete.zeros} multipliers are one; {self.discrete.stability.value}")
        lines.append(f"  {'rate':<34}{'multiplier':<34}{'|multiplier|':<16}log / h")
        padded = [*(f"{rate:.8g}" for rate in self.rates), *["(memory)"] * 99]
        for rate, m, log in zip(padded, self.multipliers, self.logarithms, strict=False):
            lines.append(f"  {rate:<34}{m:<34.8g}{abs(m):<16.8g}{log:.8g}")
        return "\n".join(lines)


def spectrum(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    scheme: Scheme | None = None,
    h: Scalar | None = None,
    *,
    v: Velocities | None = None,
    symmetries: Symmetries = None,
) -> Spectrum:
    """Returns the eigenvalues, modulo the symmetry, of the linearised motion at a relative equilibrium, and of a step
    of a scheme.

    Linearised on the constraint phase space (q, xi^D), along what motions can reach only (a clamped end stays clamped),
    in axes that move with the group; the directions of the group's orbit are divided out. `symmetries` are by default
    what the system declares; else by name what `generator` takes, or cyclic coordinates.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    >>> found = dh.spectrum(sleigh, [0, 0, 0], [0.0, 2.0], dh.DiscreteHamel(), 0.1)      # -m a v / (J + m a^2) and 0
    >>> [round(float(rate.real), 6) + 0.0 for rate in found.rates], found.stability.name
    ([0.0, -0.930233], 'PARTIAL')
    """
    system, q, xi = checks.initial_data(system, q, xi, v)
    continuous, discrete = halves(system, q, xi, scheme, h, symmetries)
    refuse_moving(system, continuous.residual, symmetries, "it has no spectrum")
    if discrete is not None and h is not None and discrete.residual > STEADY:
        raise InputError(
            f"{scheme!r} with h = {float(h):g} does not keep this relative equilibrium of {type(system).__name__}: a "
            f"step leaves the orbit of the symmetry at a rate of {discrete.residual:.1e}. "
            "relative_equilibrium(..., scheme=scheme, h=h) finds one of the map, if it has one nearby."
        )
    return Spectrum(continuous, discrete)


def refuse_moving(system: System, residual: float, symmetries: Symmetries, so: str) -> None:
    """Refuses what is no relative equilibrium of (H): the motion leaves the orbit of the symmetry at this rate."""
    if residual > STEADY:
        known = symmetries is not None or system.symmetries()
        hint = "" if known else "It declares no symmetries: if this motion follows one, give it as symmetries=... "
        raise InputError(
            f"(q, xi) is not a relative equilibrium of {type(system).__name__}: the motion leaves the orbit of the "
            f"symmetry at a rate of {residual:.1e}, relative to its size, so {so}. {hint}"
            "relative_equilibrium(system, q, xi, hold=...) finds one nearby."
        )


def halves(
    system: System, q: Array, xi: Array, scheme: Scheme | None, h: Scalar | None, symmetries: Symmetries
) -> tuple[Half, Half | None]:
    """The linearisations at a point modulo symmetry, of (H) and of a scheme's map; no map where (H) is not steady."""
    words = reachable(system, q)
    ask, y = question_at(system, q, xi, None, None, symmetries)
    sought = Sought(ask, [], words)
    point = sought.at(y, nearest_group(ask.symmetries, system, y))
    continuous = half(sought, point, left_over(point.at, point.noise, y, point.group, len(q)))
    if (scheme is None and h is None) or continuous.residual > STEADY:
        return continuous, None
    ask, y = question_at(system, q, xi, scheme, h, symmetries)
    sought = Sought(ask, [], words)
    kept = kept_motion(sought, y, point.group)
    return continuous, half(sought, kept.point, kept.residual)


def half(sought: Sought, point: Point, residual: float) -> Half:
    """The linearisation at a point; the way to where all is steady counts as noise."""
    ask, noise = sought.question, point.noise
    if 0 < residual <= STEADY:
        change, turn = sought.correction(point, -point.at.value)
        there = ask.at(point.y + change, point.group + turn)  # so near that the leaf is no matter
        noise = noise._replace(by_point=noise.by_point + np.abs(there.by_point - point.at.by_point))
    h = None if ask.h is None else float(ask.h)
    linear = modulo_symmetry(point.at, noise, point.basis, sought.orbits(point.y), ask.coordinates, h)
    return Half(linear, linear.nullity(), residual)


def threshold(
    spectrum_at: Callable[[float], Spectrum], low: float, high: float, *, discrete: bool = False, xtol: float = 1e-13
) -> float:
    """The value between `low` and `high` at which the relative equilibrium turns unstable.

    A root of a number whose sign is that of the type, a rate growing once it does by more than round-off, and that goes
    through zero smoothly: where the stable side is damped, the largest real part; where it is neutral, the square of
    the distance of the two rates that meet, positive off the imaginary axis. `discrete` asks it of the map.
    `spectrum_at(value)` returns the spectrum there; the value found is off by at most `xtol`.

    >>> import discrete_hamel as dh
    >>> from discrete_hamel.analysis import threshold
    >>> disk = dh.systems.RollingDisk(mass=1.0, radius=1.0, inertia_diameter=0.25, inertia_axis=0.5, gravity=9.8)
    >>> spin = threshold(lambda w: dh.spectrum(disk, [0, 0, 0, 0, 0], [0, 0, w]), 1.0, 3.0)
    >>> abs(spin**2 - 0.25 * 9.8 / (0.5 * 1.5)) < 1e-8
    True
    """
    ends = [_linear(spectrum_at(value), discrete) for value in (low, high)]
    growths = [end.growth() for end in ends]
    if (growths[0] > 0) == (growths[1] > 0):
        raise InputError(
            f"it is {'unstable' if growths[0] > 0 else 'stable'} both at {low:g} (largest real part {growths[0]:.2e}) "
            f"and at {high:g} ({growths[1]:.2e}), so there is no one threshold between; scan for ends of different "
            "type."
        )
    damped, known = min(growths) < 0, dict(zip((low, high), ends, strict=True))

    def sign(value: float) -> float:
        linear = known[value] if value in known else _linear(spectrum_at(value), discrete)
        growth = linear.growth()
        if damped:
            return growth if growth else -np.finfo(float).tiny
        return (2 * growth) ** 2 if growth > 0 else -_nearest(linear.rates())

    return float(scipy.optimize.brentq(sign, low, high, xtol=xtol, rtol=1e-14))


def _nearest(rates: np.ndarray) -> float:
    """The square of the distance of the two rates nearest to each other, pairs that are always one left out."""
    apart = np.abs(rates[:, None] - rates)[np.triu_indices(len(rates), 1)] ** 2
    return float(np.min(apart[apart > 1e-15 * np.max(apart, initial=0.0)], initial=1.0)) if apart.size else 1.0


def _linear(found: Spectrum, discrete: bool) -> Linearisation:
    if not discrete:
        return found.continuous.linear
    if found.discrete is None:
        raise InputError("for the threshold of the map the spectrum has to be asked for with a scheme and h.")
    return found.discrete.linear
