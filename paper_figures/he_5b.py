"""[HE] figure 5b: the energy over 10 000 steps

The run of figure 4a: relative error of the energy at the nodes. It is round-off, and it follows the length of gamma
(figure 5a), as [HE] remarks.
"""

from typing import Any

from paper_figures import pendulum, pendulum_errors

PARAMETERS: dict[str, Any] = pendulum.PENDULUM | {
    "gamma": pendulum.GAMMA,
    "xi": (0.6, 0.0),
    "h": pendulum.STEP,
    "steps": 10_000,
}


def compute(fast: bool) -> dict[str, Any]:
    return pendulum_errors.compute("energy", PARAMETERS["xi"], 10_000 if fast else 100_000)


def draw(data: dict[str, Any]) -> Any:
    return pendulum_errors.draw(data, r"$(E - E_0)/|E_0|$")


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    return pendulum_errors.claims(data, "the relative energy error")
