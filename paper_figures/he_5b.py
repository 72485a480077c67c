"""[HE] figure 5b: the energy over 10 000 steps

The run of figure 4a: relative error of the energy at the nodes. It is round-off, and it follows the length of gamma
(figure 5a), as [HE] remarks.
"""

from paper_figures import pendulum
from paper_figures.pendulum_errors import Kept

ENERGY = Kept("energy", r"$(E - E_0)/|E_0|$", "the relative energy error")
PARAMETERS, compute, draw, claims = pendulum.PAPER, ENERGY.compute, ENERGY.draw, ENERGY.claims
COLUMN = True
