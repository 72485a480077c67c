"""What a GPU or a TPU would run, lowered for it here: the same functions, and none calls back to the host."""

import jax
import jax.numpy as jnp
import pytest

import discrete_hamel as dh
from discrete_hamel.runs import loop as loops
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.ensemble import plain, reduction

SLEIGH, SCHEME = (checks.canonical(a) for a in (dh.systems.ChaplyginSleigh(), dh.DiscreteHamel()))
AXES, H = (None, None, None), jnp.asarray(0.01)
Q, XI = jnp.zeros((4, 3)), jnp.ones((4, 3))
FARTHEST = dh.Reduction(
    lambda system, q, xi: {"farthest": q[1]},
    lambda kept, system, q, xi: {"farthest": jnp.maximum(kept["farthest"], q[1])},
)


def hot_paths():
    """The jitted functions in which runs and ensembles spend their time, with arguments."""
    states = plain.first_states(AXES, SLEIGH, SCHEME, H, Q, XI)
    state = jax.tree.map(lambda leaf: leaf[0], states)
    kept = reduction.first(FARTHEST, AXES, SLEIGH, Q, XI)
    counts = jnp.full(4, 3)
    return {
        "start": (plain.first_states, (AXES, SLEIGH, SCHEME, H, Q, XI)),
        "steps of members": (plain.advance, (AXES, SLEIGH, SCHEME, H, states, counts)),
        "velocities": (plain.velocities, (AXES, SLEIGH, SCHEME, states)),
        "reduction": (reduction.fold, (FARTHEST, AXES, kept, SLEIGH, Q[None], XI[None], counts)),
        "steps of a run": (loops._chunk, (SLEIGH, SCHEME, state, H, counts[0], counts[0])),
    }


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_other_devices_need_no_other_code(platform):
    for name, (function, arguments) in hot_paths().items():
        lowered = function.trace(*arguments).lower(lowering_platforms=(platform,)).as_text()
        assert "stablehlo" in lowered, name
        assert "callback" not in lowered, name


def test_a_call_back_to_the_host_would_be_seen():
    """Or else the test above could not fail."""

    def calling(x):
        return jax.pure_callback(lambda x: x, x, x)

    lowered = jax.jit(calling).trace(Q).lower(lowering_platforms=("cpu",)).as_text()
    assert "callback" in lowered
