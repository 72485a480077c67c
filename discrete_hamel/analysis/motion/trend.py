"""Secular trends: the slope of a quantity along a run, with an error bar."""

import math
from typing import NamedTuple

import numpy as np
import scipy  # whose parts are loaded when they are used

from discrete_hamel._support.errors import InputError

BLOCKS = 64
SIGMAS = 4  # standard errors from zero that are significant
ONE_SIDED = math.erfc(SIGMAS / math.sqrt(2)) / 2  # what lies beyond so many
LEAST = 8.0  # degrees of freedom: a drift that bends is correlated too, and with fewer none would be told from zero
FEWEST = 4  # values that have a scatter to tell an error from


class Trend(NamedTuple):
    """A slope per unit time and its standard error."""

    slope: float
    error: float

    @property
    def significant(self) -> bool:
        """More than four standard errors from zero."""
        return abs(self.slope) > SIGMAS * self.error

    def __str__(self) -> str:
        return f"{self.slope:+.1e} +- {self.error:.0e}"


UNKNOWN = Trend(float("nan"), float("nan"))  # of tables; printed as nothing


def trend(t: np.ndarray, values: np.ndarray) -> Trend:
    """Returns the straight line through `values` at times t, which are evenly spaced.

    The line is fitted to the means of 64 blocks (of a short run, to all values), so that what oscillates within a
    block averages out and does not count as evidence. The standard error comes from the scatter of the means, of which
    only every tau-th is independent, tau their integrated autocorrelation time (Geyer 1992); so a slow oscillation, of
    which a run has seen a few periods or less, counts as few pieces. It is widened by Student's distribution for so
    many, until four of it mean what four standard deviations mean.

    >>> import numpy as np
    >>> from discrete_hamel.analysis import trend
    >>> t = np.linspace(0.0, 1000.0, 10_001)
    >>> found = trend(t, 1e-3 * np.sin(5 * t) + 2e-6 * t)
    >>> abs(found.slope - 2e-6) < 4 * found.error < 1e-6
    True
    >>> trend(t, 1e-3 * np.sin(0.01 * t) + 2e-6 * t).significant      # less than two periods: who can tell?
    False
    """
    if len(values) < FEWEST or not np.all(np.isfinite(values)):
        raise InputError(
            f"a trend with an error bar needs {FEWEST} values at least, all finite; these are {len(values)}, of which "
            f"{int(np.sum(np.isfinite(values)))} are finite."
        )
    blocks = BLOCKS if len(values) >= 2 * BLOCKS else len(values)
    edges = np.linspace(0, len(values), blocks + 1).astype(int)
    times, means = (np.add.reduceat(np.asarray(a, float), edges[:-1]) / np.diff(edges) for a in (t, values))
    times = times - times.mean()
    spread = times @ times
    slope = float(times @ (means - means.mean()) / spread)
    scatter = means - means.mean() - slope * times
    tau = autocorrelation_time(scatter)
    freedom = max(blocks / tau - 2, LEAST)
    error = np.sqrt(scatter @ scatter / (blocks - 2) / spread * tau)
    return Trend(slope, float(error * scipy.special.stdtrit(freedom, 1 - ONE_SIDED) / SIGMAS))


def autocorrelation_time(values: np.ndarray) -> float:
    """tau = 1 + 2 sum of rho_k, up to where rho_2k + rho_2k+1 is no more than the noise sqrt(2/n) in it.

    >>> autocorrelation_time(np.tile([1.0, -1.0], 50)), autocorrelation_time(np.repeat([1.0, -1.0], 50)) > 20
    (1.0, True)
    """
    count = len(values)
    covariance = np.correlate(values, values, "full")[count - 1 :]  # of lags 0, 1, ..
    if not covariance[0] > 0:
        return 1.0
    pairs = covariance[: count - count % 2].reshape(-1, 2).sum(axis=1) / covariance[0]
    ends = np.flatnonzero(pairs <= np.sqrt(2 / count))
    return max(1.0, 2 * float(np.sum(pairs[: ends[0] if len(ends) else None])) - 1)


def drift(t: np.ndarray, values: np.ndarray) -> Trend:
    """The trend of an invariant along a run, or UNKNOWN where the run is too short or broken to have one."""
    return trend(t, values) if len(values) >= FEWEST and np.all(np.isfinite(values)) else UNKNOWN
