"""[HE] figure 5b: the energy over 10 000 steps

The run of figure 4a: relative error of the energy at the nodes. It is round-off. [HE] remarks that it goes with the
length of gamma (figure 5a): it does so upside down, since a gamma that is longer by its rounding hangs lower.
"""

from typing import Any

import numpy as np

from . import pendulum
from .pendulum_errors import SHOWN, Kept, error_of

ENERGY = Kept("energy", r"$(E - E_0)/|E_0|$", "the relative energy error")
PARAMETERS, draw = pendulum.PAPER, ENERGY.draw
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    run = pendulum.run(pendulum.PAPER["xi"], SHOWN)
    return ENERGY.compute(fast) | {"length_error": error_of(run, "length of gamma")}


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    follows = float(np.corrcoef(data["error"][: SHOWN + 1], data["length_error"])[0, 1])
    return [
        *ENERGY.claims(data),
        (f"it goes against the length of gamma: their correlation is {follows:.2f} (below -0.5)", follows < -0.5),
    ]
