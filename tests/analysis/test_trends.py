"""Secular trends: error bars that know of correlation, and what they may and may not call a drift."""

import numpy as np
import pytest
from scipy.signal import lfilter

from discrete_hamel.analysis import trend
from discrete_hamel.analysis.motion.trend import autocorrelation_time

T = np.linspace(0.0, 100.0, 4001)
PHASES = np.linspace(0.0, 2 * np.pi, 24)


@pytest.mark.parametrize(("phi", "most"), [(0.0, 0.005), (0.9, 0.005), (0.99, 0.005), (0.997, 0.015)])
def test_correlated_noise_is_no_drift(phi, most):
    """AR(1) noise of up to 330 values' memory, a dozenth of the run: four of 10^5 at four sigma, were tau known."""
    noise = lfilter([1.0], [1.0, -phi], np.random.default_rng(1).normal(size=(600, len(T))), axis=1)
    found = [trend(T, values) for values in noise]
    assert np.mean([one.significant for one in found]) <= most
    ratio = np.std([one.slope / one.error for one in found])
    assert 0.6 < ratio < 1.25  # the error bar is one, neither many times too wide nor too short


@pytest.mark.parametrize("periods", [1, 1.5, 2, 3, 5, 7.3, 19.7, 20.3, 33, 61])
def test_an_oscillation_is_no_drift_however_slow(periods):
    """From one period in the run on, at any phase."""
    waves = [np.sin(2 * np.pi * periods * T / T[-1] + phase) for phase in PHASES]
    assert not any(trend(T, wave).significant for wave in waves)


@pytest.mark.parametrize("periods", [16, 25, 50])
def test_a_drift_as_large_as_the_oscillation_is_one(periods):
    for phase in PHASES:
        found = trend(T, np.sin(2 * np.pi * periods * T / T[-1] + phase) + 0.02 * T)
        assert found.significant
        assert abs(found.slope - 0.02) < 4 * found.error


def test_a_drift_in_noise_is_found():
    noise = lfilter([1.0], [1.0, -0.99], np.random.default_rng(2).normal(size=(100, len(T))), axis=1)
    size = np.std(noise)
    found = [trend(T, values + 8 * size * T / T[-1]) for values in noise]
    assert np.mean([one.significant for one in found]) > 0.9
    assert np.mean([abs(one.slope - 8 * size / T[-1]) < 4 * one.error for one in found]) > 0.99


def test_a_line_that_is_none_has_no_error():
    exact = trend(T, 3.0 * T)
    assert exact.slope == pytest.approx(3.0, rel=1e-12)
    assert exact.error < 1e-12
    assert not trend(T, np.ones_like(T)).significant


def test_the_autocorrelation_time_of_known_noise():
    """(1 + phi) / (1 - phi) of AR(1)."""
    noise = lfilter([1.0], [1.0, -0.8], np.random.default_rng(3).normal(size=(40, 4000)), axis=1)
    assert np.mean([autocorrelation_time(values) for values in noise]) == pytest.approx(9.0, rel=0.1)
    assert autocorrelation_time(np.zeros(10)) == 1.0
