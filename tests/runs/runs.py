"""A run that the tests of stores interrupt, break and resume."""

import numpy as np

import discrete_hamel as dh

SLEIGH = dh.systems.ChaplyginSleigh(mass=1.3, inertia=0.7, offset=0.4)
DATA = {"q": [0.1, 0.0, 0.0], "xi": [1.5, -0.3], "h": 0.01}
NAMES = ("t", "q", "p", "xi", "xi_mid")


def go(steps, system=SLEIGH, **options):
    return dh.simulate(system, **{**DATA, "steps": steps, **options})


def same(a, b):
    """Bit for bit, the reports included."""
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in NAMES) and all(
        np.array_equal(getattr(a.report, name), getattr(b.report, name))
        for name in ("converged", "iterations", "residual")
    )
