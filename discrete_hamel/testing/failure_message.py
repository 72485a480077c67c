"""What a failed axiom says, and the search for the smallest state at which it fails."""

from collections.abc import Callable

import jax
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import Explained

EXAMPLES = 25


class AxiomFailed(Explained, AssertionError):
    """Which axiom fails, by how much, at which state, and what to look at."""


def everywhere(strategy: SearchStrategy, judge: Callable[[tuple], None], examples: int = EXAMPLES) -> None:
    """judge(drawn) for as many draws; where one fails, Hypothesis leads to the smallest that does, and that is raised.

    The same draws each time, none kept on disk.
    """

    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def each(drawn: tuple) -> None:
        judge(drawn)

    each()


def numerals(values: ArrayLike | tuple) -> str:
    """Numbers, short: enough of them to type in again."""
    return "[" + ", ".join(f"{value:.6g}" for value in np.ravel(np.asarray(values, float))) + "]"


def signature(system: object) -> str:
    """A system with its parameters, short."""
    leaves = jax.tree_util.tree_flatten_with_path(system)[0]
    numbers = (f"{jax.tree_util.keystr(path).lstrip('.')}={_number(leaf)}" for path, leaf in leaves)
    return f"{type(system).__name__}({', '.join(numbers)})"


def _number(leaf: ArrayLike) -> str:
    array = np.asarray(leaf)
    if array.dtype == object or array.size > 9:
        return "..."
    return f"{float(array):.6g}" if array.ndim == 0 else str(array.tolist())
