"""Where stability changes with a parameter."""

from collections.abc import Callable

import numpy as np
import scipy  # whose parts are loaded when they are used

from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.equilibria.linearisations import Linearisation
from discrete_hamel.analysis.equilibria.spectra import Spectrum


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
