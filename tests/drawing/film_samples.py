"""Short runs of the catalogue and their scenes, shared by the tests of films."""

from functools import cache

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.films import film_scene


@cache
def sampled(name):
    """A short run of the sample motion, and its scene in a few frames."""
    system = getattr(dh.systems, name)()
    run = dh.simulate(system, **system.sample(), steps=100)
    return run, film_scene.scene(run, np.array([0, 50, 99, 100]))
