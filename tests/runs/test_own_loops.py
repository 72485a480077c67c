"""Loops of a user's own: the velocity at a node, and what a feedback of the interval's costs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

S = dh.systems
SLEIGH = S.ChaplyginSleigh(offset=0.4)
DATA = [0.1, 0.0, 0.0], [1.5, 2.0]


@pytest.mark.parametrize(
    "scheme", [dh.DiscreteHamel(), dh.DiscreteHamel(0.2), dh.Gauss(2), dh.Composed(dh.DiscreteHamel(), order=4)]
)
def test_the_nodal_velocity_is_that_of_the_trajectory(scheme):
    run = dh.simulate(SLEIGH, *DATA, h=0.1, steps=10, scheme=scheme)
    state = dh.start(SLEIGH, scheme, *DATA, h=0.1)
    for k in range(1, 4):
        state, _ = dh.step(SLEIGH, scheme, state, h=0.1)
        found = dh.nodal_velocity(SLEIGH, state.q, state.p)
        np.testing.assert_allclose(found, run.xi[k], rtol=0, atol=1e-13)
        assert np.max(np.abs(found[:2] - state.xi)) > 1e-4  # the interval's is another


def relativistic(q, xi):
    return -jnp.sqrt(1.0 - xi @ xi)


def test_a_momentum_that_is_not_linear_and_one_that_no_velocity_has():
    fast = dh.from_quasivelocities(relativistic, lambda q: jnp.eye(2), 2)
    p = dh.momentum(fast, [0.0, 0], [0.6, 0.3])
    np.testing.assert_allclose(dh.nodal_velocity(fast, [0.0, 0], p, [0.5, 0.2]), [0.6, 0.3], rtol=1e-12)
    np.testing.assert_allclose(dh.nodal_velocity(fast, [0.0, 0], p), [0.6, 0.3], rtol=1e-12)
    bounded = dh.from_quasivelocities(lambda q, xi: jnp.log(jnp.cosh(xi[0])), lambda q: jnp.eye(1), 1)  # |p| < 1
    with pytest.raises(ValueError, match=r"no xi with mu\(q, xi\) = p = \[2.0\] was found"):
        dh.nodal_velocity(bounded, [0.0], [2.0])
    assert np.isnan(jax.jit(lambda p: dh.nodal_velocity(bounded, [0.0], p))(jnp.array([2.0])))[0]


def test_affine_and_nonlinear_constraints():
    """The slip is filled in; where the state holds z in the place of p, z is the velocity."""
    table = S.BallOnTurntable()
    q, xi = table.sample()["q"], table.sample()["xi"]
    start = dh.start(table, dh.DiscreteHamel(), q, xi, h=0.1)
    np.testing.assert_allclose(
        dh.nodal_velocity(table, start.q, start.p), dh.simulate(table, q, xi, h=0.1, steps=1).xi[0], atol=1e-13
    )
    for points in (S.TwoPointsOrthogonalVelocities(), S.TwoPointsParallelVelocities()):
        data = points.sample()
        run = dh.simulate(points, data["q"], data["xi"], h=0.01, steps=2)
        np.testing.assert_allclose(dh.nodal_velocity(points, run.q[1], run.p[1]), run.xi[1], atol=1e-13)


def drag(q, xi, force):
    return force


def test_gradients_pass_through_it():
    def speed(p):
        return dh.nodal_velocity(SLEIGH, [0.1, 0.0, 0.0], p)[1]

    p = dh.momentum(SLEIGH, *DATA)[:2]
    assert jax.grad(speed)(p)[1] == pytest.approx(1.0 / float(SLEIGH.mass), rel=1e-12)


def looped(measured, h, t=2.0):
    """x after a braking loop, f = -gain xi with xi as `measured`, held over each step."""
    car = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(1), 1)
    scheme = dh.DiscreteHamel()

    def body(state, _):
        xi = measured(car, state)
        pushed = dh.forced(car, drag, params=-1.5 * xi)
        return dh.step(pushed, scheme, state, h)[0], None

    start = dh.start(car, scheme, [0.0], [1.0], h)
    state, _ = jax.jit(lambda state: jax.lax.scan(body, state, length=round(t / h)))(start)
    return float(state.p[0])


def test_a_feedback_of_the_interval_is_late_by_half_a_step():
    """Held forces: v' = -g v(t_k) gives (1 - g h)^k. With the interval's velocity another root, off by h/2 of delay."""
    h, gain = 0.1, 1.5
    nodal = looped(lambda car, state: dh.nodal_velocity(car, state.q, state.p), h)
    late = looped(lambda car, state: state.xi, h)
    assert nodal == pytest.approx((1 - gain * h) ** 20, rel=1e-12)
    assert abs(late / nodal - 1) > 0.1


def test_a_scan_over_simulate_is_the_same_loop():
    """What help(dh.step) leads to: each run starts from the last node of the one before."""

    def body(carry, _):
        q, xi = carry
        pushed = dh.forced(SLEIGH, drag, params=-0.3 * xi)
        run = dh.simulate(pushed, q, xi, h=0.01, steps=5)
        return (run.q[-1], run.xi[-1]), None

    def by_simulate(q, xi):
        return jax.lax.scan(body, (q, xi), length=4)[0]

    def by_step(q, xi):
        state = dh.start(SLEIGH, dh.DiscreteHamel(), q, xi, 0.01)
        for _ in range(4):
            pushed = dh.forced(SLEIGH, drag, params=-0.3 * dh.nodal_velocity(SLEIGH, state.q, state.p))
            for _ in range(5):
                state, _ = dh.step(pushed, dh.DiscreteHamel(), state, 0.01)
        return state.q, dh.nodal_velocity(SLEIGH, state.q, state.p)

    q, xi = jnp.array(DATA[0]), jnp.array([1.5, 2.0, 0.0])
    for found, wanted in zip(jax.jit(by_simulate)(q, xi), by_step(q, xi), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
