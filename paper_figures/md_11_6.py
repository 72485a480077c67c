"""[MD] figure 11.6: reduced potentials for C2 = 1

As figure 11.5, for a ball that goes around the hoop twice as fast: the maxima lie lower, so that there is more room to
drop below the horizontal and come back.
"""

from typing import Any

from paper_figures import basketball, basketball_potentials

PARAMETERS: dict[str, Any] = basketball.PARAMETERS | {"C1": (-20, -30, -40), "C2": 1.0}


def compute(fast: bool) -> dict[str, Any]:  # nothing here is long
    return basketball_potentials.compute(PARAMETERS["C2"])


def draw(data: dict[str, Any]) -> Any:
    return basketball_potentials.draw(data)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    return basketball_potentials.claims(data)
