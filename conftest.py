"""What holds for every test and docstring example, wherever it stands."""

from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

MAPS = Path("/proc/self/maps")
ENOUGH = 25_000  # of the 65 530 memory mappings that Linux grants a process by default


@pytest.fixture(autouse=True)
def _forgotten_compilations() -> Iterator[None]:
    """Each function that XLA compiles keeps some memory mapped, and past the limit the process dies in the next one.

    A thousand tests compile more than any run does; so what was compiled is forgotten now and then.
    """
    yield
    if MAPS.exists() and _many():
        jax.clear_caches()


def _many() -> bool:
    with MAPS.open("rb") as lines:
        return sum(1 for _ in lines) > ENOUGH
