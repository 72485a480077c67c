"""What holds for every test and docstring example, wherever it stands."""

import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path

# Before JAX is imported: workers, later runs and other clones share what XLA has compiled, where most of the time of
# tests goes. JAX finds an entry by the program, the options and the versions, so that what has changed is compiled.
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR",
    str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discrete_hamel_tests"),
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

# XLA makes code two to three times as fast that runs as fast: that saves a third of the time of tests, most of which
# compile much and run little. Level 0 takes less, but its sums round as nobody's do. LLVM is not told, which makes the
# code of steps. `XLA_FLAGS= make test` is without; a jaxlib that does not know a flag says so and ends.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=1 --xla_cpu_use_fusion_emitters=false")

import pytest

from discrete_hamel._support.caches import make_room

COMPILED = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
KEPT = 14 * 24 * 3600  # seconds that an entry stays after its last use


def pytest_sessionstart() -> None:
    """Bounds the cache, if it is ours: what no run has asked for goes."""
    if "PYTEST_XDIST_WORKER" in os.environ or COMPILED.name != "discrete_hamel_tests" or not COMPILED.is_dir():
        return
    for entry in os.scandir(COMPILED):
        if entry.is_file() and time.time() - max(entry.stat().st_atime, entry.stat().st_mtime) > KEPT:
            Path(entry.path).unlink(missing_ok=True)


def pytest_collection_finish() -> None:
    """What stands for all of the session, modules and some thousand tests, is not looked through for garbage again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _forgotten_compilations() -> Iterator[None]:
    """A thousand tests compile more than any run does, much of it by themselves."""
    yield
    make_room()
