"""The Whipple bicycle by hand, from constraints and as a mechanism: the benchmark's table, and one motion."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import whipple
from multipliers import accelerations, assert_same, motion

import discrete_hamel as dh
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.schemes.following import FollowingHamel

BICYCLE = dh.systems.garage.WhippleBicycle()
LEAN, STEER = 3, 5


@jax.jit
def by_hand(speed):
    """The rates of (lean, steer, lean', steer') by the same, upright at a speed."""

    def rates(x):
        q = jnp.zeros(8).at[jnp.array([LEAN, STEER])].set(x[:2])
        xi = jnp.append(x[2:], speed / BICYCLE.rear_radius)
        return jnp.concatenate([x[2:], dh.vector_field(BICYCLE, q, xi)[1][:2]])

    return jax.jacfwd(rates)(jnp.zeros(4))


def test_the_benchmarks_eigenvalues_at_all_speeds():
    """From constraints alone: python -m benchmarks.bicycle_three_ways; as a mechanism: test_rolling_mechanisms.py."""
    for speed in (0, *whipple.TABLE):
        found = np.linalg.eigvals(np.asarray(by_hand(float(speed))))
        for wanted in whipple.eigenvalues_at(speed):
            assert np.min(np.abs(found - wanted)) < 1e-10 * max(1.0, abs(wanted))
    weave = np.linalg.eigvals(np.asarray(by_hand(whipple.WEAVE)))
    assert np.abs(weave[np.abs(weave.imag) > 1].real).max() < 1e-10
    assert np.abs(np.linalg.eigvals(np.asarray(by_hand(whipple.CAPSIZE)))).min() < 1e-10


def test_any_motion_is_that_of_the_lagrangian_and_the_slips():
    rng = np.random.default_rng(3)
    for _ in range(5):
        lean, steer = 0.4 * rng.normal(size=2)
        q = jnp.asarray(BICYCLE.standing(lean, steer) + np.array([1, 2, 0.5, 0, 0, 0, 3, 4]) * rng.normal(size=8))
        v, wanted = motion(BICYCLE, q, jnp.asarray(rng.normal(size=3)))
        assert np.abs(whipple.slipping(q, v, BICYCLE)).max() < 1e-12
        assert_same(accelerations(whipple.lagrangian, whipple.slipping, q, v, BICYCLE)[0], wanted)


@partial(interpret, static=1)
def residual(scheme, system, q, xi, z):
    state = scheme.start(system, q, xi, 0.02)
    return state.p, scheme.residual(system, state, 0.02, z)


@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), FollowingHamel()], ids=["in the frame", "following"])
def test_a_step_is_the_same_in_three_ways_where_frames_agree(scheme):
    """p and the residual at any z, so all steps; whole motions: python -m benchmarks.bicycle_three_ways."""
    rng = np.random.default_rng(8)
    q = np.asarray(BICYCLE.standing(0.2, -0.1) + np.array([1, 2, 0.5, 0, 0, 0, 3, 4]) * rng.normal(size=8))
    xi = np.array([0.3, -0.2, 5.0 / 0.3])
    q1 = q + 0.02 * np.asarray(BICYCLE.frame(q))[:, :3] @ xi + 1e-3 * rng.normal(size=8)
    found = {}
    for name, system, order in (
        ("by hand", BICYCLE, np.arange(8)),
        ("from constraints", whipple.from_constraints(BICYCLE), np.arange(8)),
        ("as a mechanism", whipple.as_a_mechanism(BICYCLE), np.array(whipple.ORDER)),
    ):
        if name == "by hand" and isinstance(scheme, FollowingHamel):
            continue
        p, rest = residual(scheme, system.at(q[order]), q[order], np.append(xi, np.zeros(5)), np.append(xi, q1[order]))
        found[name] = np.concatenate([p, rest[:3], rest[3:][np.argsort(order)]])
    wanted = found["from constraints"]
    for values in found.values():
        np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
