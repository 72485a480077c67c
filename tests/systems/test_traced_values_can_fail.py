"""That the comparison of traced runs with the host's sees values that are wrong."""

from contextlib import nullcontext

import pytest
import test_traced_as_on_the_host as comparison

from discrete_hamel.runs import simulation


@pytest.mark.parametrize("off", [1e-9, 0.0])
def test_a_step_that_is_longer_by_a_billionth_under_jit_is_seen(monkeypatch, off):
    """And the same comparison passes with the step as it is."""
    right = simulation.trace

    def trace(system, scheme, q, xi, h, *rest):
        return right(system, scheme, q, xi, h * (1 + off), *rest)

    monkeypatch.setattr(simulation, "trace", trace)
    with pytest.raises(AssertionError) if off else nullcontext():
        comparison.test_traced_as_on_the_host("ChaplyginSleigh")
