"""[MD] figure 11.3: the solution with Omega1(0) = 0, Omega2(0) = 1

As figure 11.2, for a ball that starts around the hoop without spin about the normal: Omega1 = f21, Omega2 = f22. With
figure 11.2 these give every motion: Omega1 = C1 f11 + C2 f21, Omega2 = C1 f12 + C2 f22.
"""

from . import basketball_solutions

SOLUTION = basketball_solutions.Solution(1, ("f_{21} cm", "f_{22}"), ("f21", "f22"))
PARAMETERS, compute = basketball_solutions.PARAMETERS, SOLUTION.compute
draw, claims = SOLUTION.draw, SOLUTION.claims
COLUMN = True
