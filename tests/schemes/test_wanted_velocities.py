"""free=: velocities that a user wants as xi, coordinates' or any R(q) qdot: solved for, or refused with the rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import trailers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discrete_hamel as dh

NAMES = ("x", "y", "heading", "trailer")
Q = trailers.start(1)
V = np.array(trailers.drive_and_turn(jnp.array(Q))[:, :2] @ np.array([1.2, 0.9]))


def car(free=None, **how):
    return dh.from_constraints(trailers.lagrangian, trailers.wheels, free=free, coordinates=NAMES, **how)


def forward_and_turn(q):
    """R v: the car's speed and its turning."""
    return jnp.array([[jnp.cos(q[2]), jnp.sin(q[2]), 0, 0], [0, 0, 1, 0]])


@pytest.mark.parametrize(("free", "values"), [(("heading", "x"), V[[2, 0]]), ((2, -4), V[[2, 0]])])
def test_xi_are_the_velocities_of_the_coordinates_asked_for(free, values):
    run = dh.simulate(car(free), q=Q, v=V, h=0.05, steps=10, compiled=False)
    assert run.xi[0, :2] == pytest.approx(values, abs=1e-14)
    assert run.xi[:, :2] == pytest.approx(run.v[:, [2, 0]], abs=1e-12)
    assert run.system.velocities == ("heading'", "x'")
    assert car(free, velocities=("a", "b")).at(jnp.array(Q)).velocities == ("a", "b")


def test_xi_are_what_a_function_asks_for_and_p_belongs_to_them():
    run = dh.simulate(car(forward_and_turn), q=Q, xi=[1.2, 0.9], h=0.05, steps=10, compiled=False)
    assert run.v[0] == pytest.approx(V, abs=1e-12)
    for k in (0, 10):
        q, v = jnp.array(run.q[k]), jnp.array(run.v[k])
        assert run.xi[k, :2] == pytest.approx(np.array(forward_and_turn(q) @ v), abs=1e-12)
        fields = trailers.drive_and_turn(q)[:, :2]
        assert run.p[k] == pytest.approx(np.array(fields.T @ jax.grad(trailers.lagrangian, 1)(q, v)), abs=1e-11)


def test_the_motion_is_the_same_one():
    """Theorem: the step depends on D and G only."""
    ends = [
        dh.simulate(car(free), q=Q, v=V, h=0.1, steps=20, compiled=False).q[-1]
        for free in (None, ("heading", "x"), forward_and_turn)
    ]
    assert np.max(np.abs(ends[1] - ends[0])) < 1e-12
    assert np.max(np.abs(ends[2] - ends[0])) < 1e-12


@settings(max_examples=30)
@given(st.integers(0, 2**31))
def test_the_frame_is_the_inverse_of_the_rows(seed):
    draw = np.random.default_rng(seed)
    r, a = jnp.array(draw.normal(size=(2, 4))), jnp.array(draw.normal(size=(2, 4)))
    assume(np.linalg.cond(np.concatenate([r, a])) < 1e4)
    system = dh.from_constraints(lambda q, v: 0.5 * v @ v, lambda q: a, free=lambda q: r)
    psi = np.array(system.at(jnp.zeros(4)).frame(jnp.zeros(4)))
    assert np.concatenate([r, a]) @ psi == pytest.approx(np.eye(4), abs=1e-10)
    assert np.array(system.fields(jnp.zeros(4))) == pytest.approx(psi[:, :2], abs=1e-10)


ALONG_Y = np.array([0.0, 0.0, np.pi / 2, np.pi / 2])


@pytest.mark.parametrize(
    ("free", "q", "words"),
    [
        (("heading", "x"), ALONG_Y, r"1 \(the velocity of x\) \+ 1 \(row 0 of A\(q\)\) = 0"),
        (lambda q: jnp.array([[0, 1.0, 0, 0], [0, 2.0, 0, 0]]), Q, r"row 0 of free\(q\).*row 1 of free\(q\)"),
        (lambda q: jnp.eye(4), Q, r"free\(q\) must be 2 x 4"),
        (("heading",), Q, "must name 2 different coordinates"),
        (("heading", 2), Q, "must name 2 different coordinates"),
        (("heading", "z"), Q, "'z', and its coordinates are x, y, heading, trailer"),
        (("heading", 4), Q, "indices from 0 to 3"),
    ],
)
def test_what_cannot_be_solved_for_is_refused_with_the_rows(free, q, words):
    with pytest.raises(ValueError, match=words):
        dh.simulate(car(free), q=q, v=np.zeros(4), h=0.1, steps=1)


def test_one_name_is_no_tuple():
    with pytest.raises(TypeError, match="a tuple of names"):
        car("x")


def test_velocities_by_name_need_no_choice_by_hand_under_jit_and_grad():
    """The frame is the same as outside, so that xi is too; where nothing is named the sentence says both ways out."""

    def end(speed):
        run = dh.simulate(car(("heading", "x")), q=jnp.array(Q), v=speed * jnp.array(V), h=0.05, steps=10)
        return jnp.sum(run.q[-1] * jnp.arange(4.0)), run.xi[-1]

    (value, xi), slope = jax.jit(lambda speed: (end(speed), jax.grad(lambda s: end(s)[0])(speed)))(1.0)
    host = dh.simulate(car(("heading", "x")), q=Q, v=V, h=0.05, steps=10)
    assert float(value) == pytest.approx(float(host.q[-1] @ np.arange(4.0)), abs=1e-12)
    np.testing.assert_allclose(xi, host.xi[-1], atol=1e-12)
    e = 1e-4
    ends = [
        dh.simulate(car(("heading", "x")), q=Q, v=(1 + s) * V, h=0.05, steps=10).q[-1] @ np.arange(4.0) for s in (e, -e)
    ]
    assert float(slope) == pytest.approx((ends[0] - ends[1]) / (2 * e), abs=1e-6)
    with pytest.raises(ValueError, match=r"traced by jax.*free=.*system\.at\(q0\)"):
        jax.jit(lambda q: dh.simulate(car(), q=q, v=V, h=0.05, steps=1).q)(jnp.array(Q))
