"""What holds for every test: 64-bit JAX, no silent broadcasting, the same Hypothesis draws each time."""

import hypothesis
import jax

import discrete_hamel  # noqa: F401  # turns on 64-bit JAX

jax.config.update("jax_numpy_rank_promotion", "raise")

hypothesis.settings.register_profile(
    "here", deadline=None, derandomize=True, database=None, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.load_profile("here")
