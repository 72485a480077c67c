"""What holds for every test: 64-bit JAX, no silent broadcasting, the same Hypothesis draws each time."""

from collections.abc import Iterator

import hypothesis
import jax
import pytest

import discrete_hamel  # noqa: F401  # turns on 64-bit JAX
from discrete_hamel.compiler.step import stepper

jax.config.update("jax_numpy_rank_promotion", "raise")

hypothesis.settings.register_profile(
    "here", deadline=None, derandomize=True, database=None, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.load_profile("here")


@pytest.fixture(autouse=True)
def _graphs_of_ones_own(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a part of the compiler is another for the time of a test, no step is that of the same graph before."""
    changed = "monkeypatch" in request.fixturenames
    if changed:
        stepper._by_graph.clear()
    yield
    if changed:
        stepper._by_graph.clear()
