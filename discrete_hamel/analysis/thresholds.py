"""Where stability changes with a parameter: root finding on the spectrum."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from discrete_hamel.analysis.linearisations import DECIDED, Linearisation
from discrete_hamel.analysis.spectra import Spectrum


def threshold(
    spectrum_at: Callable[[float], Spectrum], low: float, high: float, *, discrete: bool = False, xtol: float = 1e-13
) -> float:
    """The value between `low` and `high` at which the relative equilibrium turns unstable.

    Two numbers change sign there smoothly, so that the root is found to round-off: where the stable side is damped, the
    largest real part; where it is neutral, (lambda_i - lambda_j)^2 of the two rates that meet, negative on the
    imaginary axis and positive off it. `discrete` asks it of the map.

    >>> import discrete_hamel as dh
    >>> from discrete_hamel.analysis import threshold
    >>> disk = dh.systems.RollingDisk(mass=1.0, radius=1.0, inertia_diameter=0.25, inertia_axis=0.5, gravity=9.8)
    >>> spin = threshold(lambda w: dh.spectrum(disk, [0, 0, 0, 0, 0], [0, 0, w]), 1.0, 3.0)
    >>> abs(spin**2 - 0.25 * 9.8 / (0.5 * 1.5)) < 1e-8
    True
    """
    ends = [_linear(spectrum_at(value), discrete) for value in (low, high)]
    zeros = min(end.zeros() for end in ends)
    steady = [float(np.max(end.rates(zeros).real, initial=-np.inf)) for end in ends]
    size = max(end.polynomial()[1] for end in ends)
    unstable = [growth > DECIDED * size for growth in steady]
    if unstable[0] == unstable[1]:
        raise ValueError(
            f"it is {'unstable' if unstable[0] else 'stable'} both at {low:g} (largest real part {steady[0]:.2e}) and "
            f"at {high:g} ({steady[1]:.2e}), so there is no one threshold between; scan for ends of different type."
        )
    damped = min(steady) < -DECIDED * size

    def sign(value: float) -> float:
        rates = _linear(spectrum_at(value), discrete).rates(zeros)
        if damped:
            return float(np.max(rates.real))
        first, second = np.triu_indices(len(rates), 1)
        return float(np.max(((rates[first] - rates[second]) ** 2).real))

    return float(brentq(sign, low, high, xtol=xtol, rtol=1e-14))


def _linear(found: Spectrum, discrete: bool) -> Linearisation:
    if not discrete:
        return found.continuous.linear
    if found.discrete is None:
        raise ValueError("for the threshold of the map the spectrum has to be asked for with a scheme and h.")
    return found.discrete.linear
