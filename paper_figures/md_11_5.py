"""[MD] figure 11.5: reduced potentials for C2 = 0.5

U over the place psi of the ball around the wire, for three spins C1 at the inner horizontal (psi = 0) and the pivoting
C2 = 0.5 rad/(s cm), nearly one turn a second around the hoop. Filled dots: maximum and minimum below the horizontal.
Right, near the maxima; empty dots: N = 0, where a slow ball leaves the hoop.
"""

from functools import partial

from . import basketball_potentials
from .basketball_potentials import claims, draw

PARAMETERS = basketball_potentials.parameters(0.5)
compute = partial(basketball_potentials.compute, PARAMETERS["C2"])
__all__ = ["PARAMETERS", "claims", "compute", "draw"]
