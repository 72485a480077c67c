"""[HE] figure 5a: the length of gamma over 10 000 steps

The run of figure 4a. The length of gamma, which the scheme nowhere imposes, stays at one to round-off.
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
    return pendulum_errors.compute("length of gamma", PARAMETERS["xi"], 10_000 if fast else 100_000)


def draw(data: dict[str, Any]) -> Any:
    return pendulum_errors.draw(data, r"$\|\gamma\| - 1$")


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    return pendulum_errors.claims(data, "|gamma|")
