"""How constant a constant is: along the reference to what is asked, along discrete motions of second order."""

import numpy as np
import pytest

import discrete_hamel as dh

EXACT = 1e-9  # what the issue asks of constants along dh.reference


def along(momenta, run):
    kept = momenta.along(run)
    return np.ptp(kept, axis=0).max() / (1 + np.abs(kept).max())


def of_second_order_and_not_exact(momenta, system, q, xi, time):
    """Along discrete motions, where nothing is claimed: errors fall as h^2, and are there."""
    errors = [along(momenta, dh.simulate(system, q, xi, h=time / n, steps=n)) for n in (75, 150, 300)]
    assert np.diff(np.log(errors)) / np.log(0.5) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] > 1e-8
