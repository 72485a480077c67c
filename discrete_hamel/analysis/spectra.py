"""The spectrum of a relative equilibrium: of (H), and of a scheme's step beside it."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy.optimize import linear_sum_assignment

from discrete_hamel import checks
from discrete_hamel.analysis import phase_space
from discrete_hamel.analysis.linearisations import Linearisation, Stability, logarithms
from discrete_hamel.analysis.phase_space import Chosen, Symmetries
from discrete_hamel.analysis.relative_equilibria import Equations, dimension, equations_at, nearest_group, started
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

STEADY = 1e-8  # residual, per unit of the field's size, of what passes for a relative equilibrium
REFINEMENTS = 30


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

    continuous: Half
    discrete: Half | None = None

    @property
    def rates(self) -> np.ndarray:
        """Eigenvalues of (H), the fastest growing first; by imaginary part where they grow alike."""
        found = self.continuous.eigenvalues
        return found[np.lexsort((-found.imag, -np.round(found.real, 9)))]

    @property
    def multipliers(self) -> np.ndarray:
        """Eigenvalues of the map, each in the place of the rate whose exponential it is nearest to."""
        if self.discrete is None:
            raise ValueError("this spectrum is of the continuous motion only; give a scheme and h for multipliers.")
        h, found = self.discrete.linear.h or 1.0, self.discrete.eigenvalues
        rates = self.rates
        wanted = np.exp(np.clip(rates.real * h, -50, 50) + 1j * rates.imag * h)
        rows, columns = linear_sum_assignment(np.abs(wanted[:, None] - found[None]))
        rest = np.setdiff1d(np.arange(len(found)), columns)  # of what the scheme remembers besides (q, xi)
        return np.concatenate([found[columns[np.argsort(rows)]], found[rest]])

    @property
    def logarithms(self) -> np.ndarray:
        """Logarithms of the multipliers over h: the rates at which the scheme moves."""
        multipliers = self.multipliers
        return logarithms(multipliers, (self.discrete and self.discrete.linear.h) or 1.0)

    @property
    def growth(self) -> float:
        """The largest real part of the rates that are not zero (minus infinity if all are)."""
        return float(np.max(self.continuous.linear.rates().real, initial=-np.inf))

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
    q: Any,
    xi: Any,
    scheme: Scheme | None = None,
    h: Any = None,
    *,
    symmetries: Symmetries = None,
) -> Spectrum:
    """Eigenvalues, modulo the symmetry, of the linearised motion at a relative equilibrium, and of a scheme's step.

    Linearised on the constraint phase space (q, xi^D), along q' = Psi xi only, in axes that move with the group; the
    directions of the group's orbit are divided out. `symmetries` are by default what the system declares; else by name
    what `generator` takes, or cyclic coordinates.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    >>> found = dh.spectrum(sleigh, [0, 0, 0], [0.0, 2.0], dh.DiscreteHamel(), 0.1)      # -m a v / (J + m a^2) and 0
    >>> [round(float(rate.real), 6) + 0.0 for rate in found.rates], found.stability.name
    ([0.0, -0.930233], 'PARTIAL')
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    continuous = half(system, q, xi, None, None, symmetries)
    if continuous.residual > STEADY:
        raise ValueError(
            f"(q, xi) is not a relative equilibrium of {type(system).__name__}: the motion leaves the orbit of the "
            f"symmetry at a rate of {continuous.residual:.1e}, relative to its size, so it has no spectrum. "
            "relative_equilibrium(system, q, xi, hold=...) finds one nearby."
        )
    if scheme is None and h is None:
        return Spectrum(continuous)
    discrete = half(system, q, xi, scheme, h, symmetries)
    if discrete.residual > STEADY:
        raise ValueError(
            f"{scheme!r} with h = {float(h):g} does not keep this relative equilibrium of {type(system).__name__}: a "
            f"step leaves the orbit of the symmetry at a rate of {discrete.residual:.1e}. "
            "relative_equilibrium(..., scheme=scheme, h=h) finds one of the map, if it has one nearby."
        )
    return Spectrum(continuous, discrete)


def half(system: System, q: Any, xi: Any, scheme: Any, h: Any, symmetries: Symmetries) -> Half:
    """The linearisation at a point modulo symmetry, of (H) or of a scheme's map, and how far it is from steady."""
    select = phase_space.chosen(system, symmetries, q)
    y, h = started(system, scheme, h, jnp.asarray(q), jnp.asarray(xi))
    if scheme is not None:
        phase_space.require_affine(system, symmetries, jnp.asarray(q))
    coordinates, nodes = len(q), len(q) + system.rank
    group, scale = nearest_group(select, system, y[:nodes])
    at = equations_at(select, system, scheme, h, coordinates, y, group)
    basis = phase_space.tangent(system, q, len(y) - coordinates)
    residual = float(np.max(np.abs(at.value))) / scale
    if scheme is not None:
        step = Step(select, system, scheme, h, coordinates)
        y, group, at, residual = _refined(step, y, group, nodes, scale)
        if residual > STEADY:  # the nodes may have another velocity than the steps
            y, group, at, residual = _refined(step, y, group, coordinates, scale)
    orbits = np.zeros((len(y), len(group)))
    orbits[:nodes] = phase_space.orbits(select, system, y[:nodes])
    across = basis @ phase_space.complement(basis.T @ orbits)
    linear = Linearisation(across.T @ at.by_point @ across, None if scheme is None else float(h), 0.1 * scale)
    return Half(linear, dimension(at, basis), residual)


class Step(NamedTuple):
    """What a discrete relative equilibrium is one of."""

    symmetries: Chosen
    system: System
    scheme: Scheme
    h: Any
    coordinates: int


def _refined(
    step: Step, y: np.ndarray, group: np.ndarray, known: int, scale: float
) -> tuple[np.ndarray, np.ndarray, Equations, float]:
    """y with its first `known` entries given, and the group's element, such that a step is the motion of the group.

    With the positions alone known the step's own velocity has to be the given one:  r_k = r_e, Delta g_k = h eta_e.
    """
    select, system, scheme, h, coordinates = step
    wanted = y[coordinates : coordinates + system.rank] if known == coordinates else np.zeros(0)
    at = equations_at(select, system, scheme, h, coordinates, y, group)
    for _ in range(REFINEMENTS):
        rows = np.concatenate([at.by_group, at.by_point[:, known:]], axis=1)
        missed = at.value
        if len(wanted):
            own = np.zeros((len(wanted), len(group)))
            rows = np.concatenate([rows, np.concatenate([own, at.velocity_by_point[:, known:]], axis=1)])
            missed = np.concatenate([missed, at.velocity - wanted])
        change = np.linalg.lstsq(rows, -missed, rcond=phase_space.DEPENDENT)[0]
        if not np.all(np.isfinite(change)) or np.max(np.abs(change), initial=0.0) < 1e-13 * scale:
            break
        group, y = group + change[: len(group)], np.concatenate([y[:known], y[known:] + change[len(group) :]])
        at = equations_at(select, system, scheme, h, coordinates, y, group)
    missed = np.concatenate([at.value, at.velocity - wanted]) if len(wanted) else at.value
    return y, group, at, float(np.max(np.abs(missed))) / scale
