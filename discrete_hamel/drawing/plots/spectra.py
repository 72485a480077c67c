"""Spectra: the power of a motion over frequency, and the eigenvalues of a relative equilibrium."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.equilibria.spectra import Spectrum
from discrete_hamel.drawing.plots.look import BLACK, BLUE, VERMILLION, axes, legend, style
from discrete_hamel.drawing.plots.named_quantity import Quantity, along, name_of
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.systems._blocks import units

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Window = Callable[[int], np.ndarray]


def power_density(t: ArrayLike, values: ArrayLike, window: Window = np.hanning) -> tuple[np.ndarray, np.ndarray]:
    """Returns the frequencies (turns per unit of time) and the one-sided density of power of values less their mean.

    P(f) = 2 |sum_k w_k (x_k - x_mean) exp(-2 pi i f t_k)|^2 dt / sum_k w_k^2; its integral is the
    variance. w = window(number of values).

    >>> import numpy as np
    >>> import discrete_hamel as dh
    >>> power_density = dh.plots.power_density
    >>> t = 0.1 * np.arange(500)
    >>> frequencies, power = power_density(t, 3 * np.cos(2 * np.pi * 0.4 * t))
    >>> round(float(frequencies[np.argmax(power)]), 3), round(float(power.sum() * frequencies[1]), 3)  # 3^2 / 2
    (0.4, 4.5)
    """
    t, values = np.asarray(t, float), np.asarray(values, float)
    if len(t) < 4:
        raise InputError(f"a spectrum needs at least 4 nodes; this has {len(t)}.")
    steps = np.diff(t)
    uneven = np.max(np.abs(steps - steps.mean())) / abs(steps.mean())
    if uneven > 1e-6:
        raise InputError(f"a spectrum needs nodes at equal times; here the spans differ by {uneven:.1e} of their mean.")
    if not np.all(np.isfinite(values)):
        raise InputError(f"there are {np.sum(~np.isfinite(values))} values that are not finite.")
    weights = np.asarray(window(len(t)), float)
    power = np.abs(np.fft.rfft(weights * (values - values.mean()))) ** 2 * abs(steps.mean()) / np.sum(weights**2)
    power[1 : (len(t) + 1) // 2] *= 2  # the negative frequencies' share
    return np.fft.rfftfreq(len(t), abs(steps.mean())), power


def power_spectrum(
    trajectory: Trajectory, of: Quantity, *, window: Window = np.hanning, ax: "Axes | None" = None
) -> "Axes":
    """The density of power of one quantity over frequency; `window` is a function of the number of nodes.

    A Hann window by default, which keeps lines apart whose period does not fit into the run; `np.ones` is none.
    Returns the axes.
    """
    frequencies, power = power_density(trajectory.t, along(trajectory, of), window)
    with style():
        ax = axes(ax)
        shown = power >= 1e-20 * power.max()
        ax.plot(frequencies[shown], power[shown], linewidth=0.9)
        turns, density = _units(trajectory, of)
        ax.set_xlabel(f"frequency [{turns}]" if turns else "frequency (turns per unit of t)")
        ax.set_ylabel(f"power density of {name_of(of) or 'the quantity'}" + (f" [{density}]" if density else ""))
        if power.max() > 0:
            ax.set_yscale("log")
    return ax


def _units(trajectory: Trajectory, of: Quantity) -> tuple[str, str]:
    """Of frequency and of power density, each "" where the system does not say."""
    declared = trajectory.system.units
    time, values = units.unit(declared, "t"), units.unit(declared, of) if isinstance(of, str) else ""
    turns = units.as_unit(units.powers((time, -1))) if time else ""
    density = units.as_unit(units.powers((values, 2), (time, 1))) if time and values else ""
    return turns, units.in_print(density)


def eigenvalues(spectrum: Spectrum, *, ax: "Axes | None" = None) -> "Axes":
    """The rates of a relative equilibrium in the complex plane, and beside them those at which the scheme moves.

    `spectrum` is what `dh.spectrum` returns; with a scheme and h, the logarithms of its multipliers over h are crosses.
    """
    with style():
        ax = axes(ax)
        ax.axvline(0, color=BLACK, linewidth=0.6)
        ax.axhline(0, color=BLACK, linewidth=0.6)
        rates = spectrum.rates
        ax.plot(rates.real, rates.imag, "o", color=BLUE, markerfacecolor="white", markersize=7, label="continuous")
        if spectrum.discrete is not None:
            logs = spectrum.logarithms
            logs = logs[np.isfinite(logs)]
            ax.plot(logs.real, logs.imag, "x", color=VERMILLION, markersize=5, label="scheme: log(multiplier) / h")
        ax.set(xlabel="growth (real part), per unit of t", ylabel="frequency (imaginary part), rad per unit of t")
        ax.margins(0.15)
        ax.set_aspect("equal", adjustable="datalim")
        legend(ax)
    return ax
