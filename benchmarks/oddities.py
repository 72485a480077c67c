"""Values that are no right input, or may be one: what malformed inputs are drawn from."""

import random
from typing import Any

import numpy as np


class Odd:
    """An object that is no number."""


NUMBERS = (0, -1, 1, True, 0.5, 1e-300, 1e-8, 1e8, 1e300, float("nan"), float("inf"), -float("inf"), 10**400, 1j)
OTHERS = (None, "", "one", "1.0", b"1", [], {}, (), {1.0}, {"q": 1.0}, object, Odd(), np.nan, np.array("x"), print)


def numbers(draw: random.Random, length: int) -> list:
    return [draw.choice((draw.uniform(-2, 2), draw.choice(NUMBERS))) for _ in range(length)]


def anything(draw: random.Random) -> Any:
    """A value that may or may not be a vector, a number, or an option."""
    kind = draw.randrange(6)
    if kind == 0:
        return draw.choice(OTHERS)
    if kind == 1:
        return draw.choice(NUMBERS)
    row = numbers(draw, draw.randrange(6))
    if kind == 2:
        return [row, row]
    if kind == 3:
        return [*row, draw.choice(OTHERS)]
    if kind == 4:
        return np.array(row, dtype=object)
    return tuple(row)
