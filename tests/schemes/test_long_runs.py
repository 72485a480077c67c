"""10^6 steps: the errors of exact invariants grow no faster than a random walk. benchmarks/long_runs.py makes 10^7."""

import numpy as np
import pytest
from problems import PENDULUM, SLEIGH

import discrete_hamel as dh

STEPS, SAVED = 1_000_000, 10_000


def stretches(values, length):
    """Changes over disjoint stretches of `length` saved nodes."""
    return np.diff(values[::length])


def is_at_most_a_random_walk(values, unit):
    """Changes over stretches 100 times longer are at most 10 times as large (a bias makes them 100 times).

    The ratio of two root mean squares, of 1000 and of 10 values, of a Gaussian walk is below 1.7 times its mean with
    probability 0.9995 (chi-squared with 10 degrees of freedom). Changes below the unit of round-off count as one.
    """
    short, long = (max(np.sqrt(np.mean(stretches(values, n) ** 2)), unit) for n in (10, 1000))
    assert long <= 1.7 * 10 * short, f"spread {short:.1e} over 10, {long:.1e} over 1000"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "h"), [(SLEIGH, 0.01), (PENDULUM, 0.2)], ids=lambda value: getattr(value, "name", "")
)
def test_exact_invariants_wander_at_most(problem, h):
    run = problem.run(STEPS, h=h, save_every=STEPS // SAVED)
    values = run.invariants()
    for name in problem.exact:
        series = values[name] / max(1.0, abs(values[name][0]))
        assert np.max(np.abs(series - series[0])) < 1e-12 * STEPS**0.5
        is_at_most_a_random_walk(series, np.finfo(float).eps)


def test_the_check_notices_a_bias():
    walk = np.cumsum(np.random.default_rng(0).normal(size=SAVED + 1)) * 1e-16
    is_at_most_a_random_walk(walk, 1e-17)
    with pytest.raises(AssertionError):
        is_at_most_a_random_walk(walk + 1e-16 * np.arange(SAVED + 1), 1e-17)


def test_a_scheme_that_drifts_is_noticed():
    run = dh.simulate(
        PENDULUM.system, PENDULUM.q, PENDULUM.xi, h=0.2, steps=SAVED, scheme=dh.RungeKutta4(), save_every=1
    )
    with pytest.raises(AssertionError):
        is_at_most_a_random_walk(run.energy / run.energy[0], np.finfo(float).eps)
