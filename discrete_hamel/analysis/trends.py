"""Secular trends: the slope of a quantity along a run, with an error bar."""

from typing import NamedTuple

import numpy as np

BLOCKS = 40
FEWEST = 4  # values that have a scatter to tell an error from


class Trend(NamedTuple):
    """A slope per unit time and its standard error."""

    slope: float
    error: float

    @property
    def significant(self) -> bool:
        """More than four standard errors from zero."""
        return abs(self.slope) > 4 * self.error

    def __str__(self) -> str:
        return f"{self.slope:+.1e} +- {self.error:.0e}"


UNKNOWN = Trend(float("nan"), float("nan"))  # of tables; printed as nothing


def trend(t: np.ndarray, values: np.ndarray) -> Trend:
    """The straight line through `values` at times t, which are evenly spaced.

    The line is fitted to the means of 40 blocks, so that what oscillates within a block averages out and does not
    count as evidence; the standard error comes from the scatter of the means, enlarged for their lag-one correlation.

    >>> t = np.linspace(0.0, 1000.0, 10_001)
    >>> found = trend(t, 1e-3 * np.sin(5 * t) + 2e-6 * t)
    >>> abs(found.slope - 2e-6) < 4 * found.error < 1e-6
    True
    """
    if len(values) < FEWEST or not np.all(np.isfinite(values)):
        raise ValueError(
            f"a trend with an error bar needs {FEWEST} values at least, all finite; these are {len(values)}, of which "
            f"{int(np.sum(np.isfinite(values)))} are finite."
        )
    blocks = min(BLOCKS, len(values))
    length = len(values) // blocks
    times = np.asarray(t)[: blocks * length].reshape(blocks, length).mean(axis=1)
    means = np.asarray(values, float)[: blocks * length].reshape(blocks, length).mean(axis=1)
    times = times - times.mean()
    spread = times @ times
    slope = float(times @ (means - means.mean()) / spread)
    scatter = means - means.mean() - slope * times
    total = float(scatter @ scatter)
    correlation = float(np.clip(scatter[1:] @ scatter[:-1] / total, 0.0, 0.95)) if total else 0.0
    error = np.sqrt(total / (blocks - 2) / spread * (1 + correlation) / (1 - correlation))
    return Trend(slope, float(error))


def drift(t: np.ndarray, values: np.ndarray) -> Trend:
    """The trend of an invariant along a run, or UNKNOWN where the run is too short or broken to have one."""
    return trend(t, values) if len(values) >= FEWEST and np.all(np.isfinite(values)) else UNKNOWN
