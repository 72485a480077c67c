"""[MD] figure 11.6: reduced potentials for C2 = 1

As figure 11.5, for a ball that goes around the hoop twice as fast: the maxima lie lower, so that there is more room to
drop below the horizontal and come back.
"""

from functools import partial

from . import basketball_potentials
from .basketball_potentials import claims, draw

PARAMETERS = basketball_potentials.parameters(1.0)
compute = partial(basketball_potentials.compute, PARAMETERS["C2"])
__all__ = ["PARAMETERS", "claims", "compute", "draw"]
