"""What holds for every test: 64-bit JAX, no silent broadcasting, the same Hypothesis draws each time."""

from collections.abc import Iterator
from uuid import uuid4

import hypothesis
import jax
import pytest

import discrete_hamel  # noqa: F401  # turns on 64-bit JAX
from discrete_hamel.compiler.native import program_cache
from discrete_hamel.compiler.step import stepper

jax.config.update("jax_numpy_rank_promotion", "raise")

hypothesis.settings.register_profile(
    "here", deadline=None, derandomize=True, database=None, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.load_profile("here")


@pytest.fixture(autouse=True)
def _graphs_of_ones_own(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a part of the compiler is another for the time of a test, no step is that of the same graph before."""
    if "monkeypatch" not in request.fixturenames:
        yield
        return
    stepper._by_graph.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program_cache, "FILES", str(uuid4()))
        yield
    stepper._by_graph.clear()
