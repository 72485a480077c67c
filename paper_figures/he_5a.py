"""[HE] figure 5a: the length of gamma over 10 000 steps

The run of figure 4a. The length of gamma, which the scheme nowhere imposes, stays at one to round-off.
"""

from . import pendulum
from .pendulum_errors import Kept

LENGTH = Kept("length of gamma", r"$\|\gamma\| - 1$", "|gamma|")
PARAMETERS, compute, draw, claims = pendulum.PAPER, LENGTH.compute, LENGTH.draw, LENGTH.claims
COLUMN = True
