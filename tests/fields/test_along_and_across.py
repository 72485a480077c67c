"""The string in the velocities along and across it, by steps at linear cost, with both brackets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dense_equations import is_the_discrete_hamel_map

import discrete_hamel as dh
from discrete_hamel.fields import AlongAndAcross, NeighbourTension, String

FAST = NeighbourTension()
STRING = String(points=7, gravity=2.0, stiffness=0.01)


def bent(string):
    return string.laid(lambda s: 1.2 * s + 0.4 * np.sin(2 * s), lambda s: np.cos(2.5 * s) + 0.3, velocity=(0.3, -0.2))


@pytest.mark.parametrize("turned", [False, True])
def test_the_linear_step_is_the_discrete_hamel_map(turned):
    system = AlongAndAcross(STRING, turned)
    run = dh.simulate(system, **system.state_of(**bent(STRING)), h=0.01, steps=20, scheme=FAST)
    is_the_discrete_hamel_map(run)
    np.testing.assert_allclose(jax.grad(system.lagrangian, 1)(run.q[-1], run.xi[-1]), run.p[-1], atol=1e-13)


def test_both_substitutions_move_as_the_string_does():
    """Remark 3.2 in motion: to O(h^2) the places of a `String`, by DOP853; the two maps themselves are not the same."""
    exact = dh.reference(STRING, **bent(STRING), t=np.array([0.0, 0.5])).q[-1]
    exact = np.asarray(STRING.places(jnp.asarray(exact)))
    ends = {}
    for turned in (False, True):
        system = AlongAndAcross(STRING, turned)
        start = system.state_of(**bent(STRING))
        ends[turned] = [
            dh.simulate(system, **start, h=0.5 / k, steps=k, scheme=FAST).q[-1].reshape(-1, 2) @ [1, 1j]
            for k in (50, 100, 200)
        ]
        errors = [np.max(np.abs(z - exact)) for z in ends[turned]]
        np.testing.assert_allclose(np.diff(-np.log2(errors)), 2, atol=0.1)
    assert np.max(np.abs(ends[False][0] - ends[True][0])) > 1e-6


def test_it_is_for_this_string_only():
    with pytest.raises(ValueError, match="NeighbourTension is for AlongAndAcross; String is for another"):
        dh.simulate(STRING, **bent(STRING), h=0.01, steps=1, scheme=FAST)
    with pytest.raises(ValueError, match="LinkByLink is for strings that follow their front"):
        dh.simulate(STRING, **bent(STRING), h=0.01, steps=1, scheme=dh.fields.LinkByLink())
