"""[HE] Theorem 5.3 asked of any scheme and step: are relative equilibria and their stability types kept?"""

from typing import Any, NamedTuple

import jax.numpy as jnp

from discrete_hamel import checks
from discrete_hamel.analysis.linearisations import Stability
from discrete_hamel.analysis.phase_space import Symmetries
from discrete_hamel.analysis.spectra import STEADY, half
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System


class Preservation(NamedTuple):
    """What a scheme makes of a relative equilibrium of (H): three answers, and the numbers behind them."""

    scheme: str
    h: float
    residual: float  # how fast, relative to the motion, a step leaves the orbit of the symmetry
    dimensions: tuple[int, int]  # of the family, continuous and discrete
    stability: tuple[Stability, Stability | None]  # None where the map has no relative equilibrium here

    @property
    def kept(self) -> bool:
        """Whether the relative equilibrium is one of the map too."""
        return self.residual <= STEADY

    @property
    def holds(self) -> bool:
        """Whether everything that [HE] Theorem 5.3 says is so here."""
        alike = self.dimensions[0] == self.dimensions[1] and self.stability[0] is self.stability[1]
        return self.kept and alike

    def __repr__(self) -> str:
        if not self.kept:
            return (
                f"{self.scheme}, h = {self.h:g}: this relative equilibrium is lost; a step leaves the orbit of the "
                f"symmetry at a rate of {self.residual:.1e}."
            )
        was, now = self.stability
        family = f"family of dimension {self.dimensions[0]}, of the map {self.dimensions[1]}"
        types = f"type {was.name}, of the map {now.name if now else 'none'}"
        kept = f"relative equilibrium kept (residual {self.residual:.1e})"
        return f"{self.scheme}, h = {self.h:g}: {kept}; {family}; {types}."


def structural_stability(
    system: System, q: Any, xi: Any, scheme: Scheme, h: Any, *, symmetries: Symmetries = None
) -> Preservation:
    """Whether a scheme with step h keeps a relative equilibrium of (H), the dimension of its family, and its type.

    [HE] Theorem 5.3 says that DiscreteHamel at tau = 1/2 does, for Chaplygin systems with commutative symmetry.

    >>> import discrete_hamel as dh
    >>> from discrete_hamel.analysis import structural_stability
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> structural_stability(sleigh, [0, 0, 0], [0.0, 2.0], dh.DiscreteHamel(), 0.5).holds
    True
    >>> structural_stability(sleigh, [0, 0, 0], [0.0, 2.0], dh.Leapfrog(), 0.5).holds
    False
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    continuous = half(system, q, xi, None, None, symmetries)
    if continuous.residual > STEADY:
        raise ValueError(
            f"(q, xi) is not a relative equilibrium of {type(system).__name__} (it leaves the orbit of the symmetry at "
            f"a rate of {continuous.residual:.1e}), so there is nothing to keep; relative_equilibrium finds one nearby."
        )
    discrete = half(system, jnp.asarray(q), xi, scheme, h, symmetries)
    kept = discrete.residual <= STEADY
    types = continuous.stability, discrete.stability if kept else None
    return Preservation(repr(scheme), float(h), discrete.residual, (continuous.family, discrete.family), types)
