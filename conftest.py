"""What holds for every test and docstring example, wherever it stands."""

import os
from collections.abc import Iterator
from pathlib import Path

# Before JAX is imported: workers, and later runs, share what XLA has compiled, where most of the time of tests goes.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

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
