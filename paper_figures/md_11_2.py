"""[MD] figure 11.2: the solution with Omega1(0) = 1, Omega2(0) = 0

How the spin about the normal, Omega1 = f11, and the pivoting, Omega2 = f12 (theta' = -r Omega2), of a basketball depend
on its place psi around the wire of the hoop, whatever its speed. Lines: from the momenta that the symmetry keeps
(`dh.hidden_momenta`). Dots: the whole ball in space by the discrete Hamel scheme, h = 1 ms, sent around the wire at 30
rad/s from psi = 0 both ways. The solution is not periodic.
"""

from . import basketball_solutions

SOLUTION = basketball_solutions.Solution(0, ("f_{11}", "f_{12} 1/cm"), ("f11", "f12"))
PARAMETERS, compute = basketball_solutions.PARAMETERS, SOLUTION.compute
draw, claims = SOLUTION.draw, SOLUTION.claims
COLUMN = True
