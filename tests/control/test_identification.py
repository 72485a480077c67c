"""A sleigh's inertia and offset from a noisy track, by least squares through the runs."""

import jax
import numpy as np
import pytest
from scipy.optimize import least_squares

import discrete_hamel as dh

START, MOTION = np.array([0.1, 0.0, 0.0]), np.array([1.5, 0.6])
H, STEPS = 0.05, 160
NOISE = 0.01  # rad and m, on a track a few metres long
TRUE = np.array([0.7, 0.4])


@jax.jit
def track(s):
    """(theta, x, y) at the nodes of a sleigh of inertia s[0], offset s[1] and unknown first velocity s[2:]."""
    sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=s[0], offset=s[1])
    return dh.simulate(sleigh, START, s[2:], h=H, steps=STEPS).q.ravel()


SLOPES = jax.jit(jax.jacfwd(track))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_inertia_and_offset_to_one_per_cent(seed):
    """Measured: DOP853's track, not the scheme's, with noise. Started 50 % off, with the motion guessed at."""
    times = H * np.arange(STEPS + 1)
    sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=TRUE[0], offset=TRUE[1])
    noise = NOISE * np.random.default_rng(seed).normal(size=3 * len(times))
    measured = dh.reference(sleigh, START, MOTION, t=times).q.ravel() + noise
    guess = np.array([0.35, 0.6, 1.2, 0.8])
    fit = least_squares(lambda s: np.asarray(track(s)) - measured, guess, jac=lambda s: np.asarray(SLOPES(s)))
    assert fit.success
    assert fit.x[:2] == pytest.approx(TRUE, rel=0.01)
    spread = NOISE * np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)))[:2]
    assert np.all(spread < 0.004 * TRUE)  # so that one per cent is no luck
    assert np.sqrt(np.mean(fit.fun**2)) == pytest.approx(NOISE, rel=0.15)  # what is left is the noise
    assert np.max(np.abs(guess[:2] - TRUE) / TRUE) > 0.4
