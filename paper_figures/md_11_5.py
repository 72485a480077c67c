"""[MD] figure 11.5: reduced potentials for C2 = 0.5

U over the place psi of the ball around the wire, for three spins C1 at the inner horizontal (psi = 0) and the pivoting
C2 = 0.5 rad/(s cm), nearly one turn a second around the hoop. Filled dots: maximum and minimum below the horizontal.
Empty dots: where a slow ball leaves the hoop.
"""

from typing import Any

from paper_figures import basketball, basketball_potentials

PARAMETERS: dict[str, Any] = basketball.PARAMETERS | {"C1": (-40, -50, -60), "C2": 0.5}


def compute(fast: bool) -> dict[str, Any]:  # nothing here is long
    return basketball_potentials.compute(PARAMETERS["C2"])


def draw(data: dict[str, Any]) -> Any:
    return basketball_potentials.draw(data)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    return basketball_potentials.claims(data)
