"""What holds for every test and docstring example, wherever it stands."""

import os
from collections.abc import Iterator
from pathlib import Path

# Before JAX is imported: workers, and later runs, share what XLA has compiled, where most of the time of tests goes.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

import pytest

from discrete_hamel._support.caches import make_room


@pytest.fixture(autouse=True)
def _forgotten_compilations() -> Iterator[None]:
    """A thousand tests compile more than any run does, much of it by themselves."""
    yield
    make_room()
