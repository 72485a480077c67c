"""Linear constraints that are written nonlinearly: recognised, made ordinary systems, with the same numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from curved import CONE, CYLINDER

import discrete_hamel as dh

FIELD = jax.jit(dh.vector_field)
SEGMENT = dh.systems.SegmentParallelVelocities(1.0, 2.0, 0.8, 1.0)
SLIDING = dh.systems.SegmentParallelVelocities(1.0, 2.0, 0.8, 1.0, turning=False)
Q = jnp.array([0.2, -0.1, 0.4])


def skate(q, z):
    return jnp.stack([z[0], z[1] * jnp.cos(q[0]), z[1] * jnp.sin(q[0])])


def skate_frame(q):
    c, s = jnp.cos(q[0]), jnp.sin(q[0])
    return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def heavy(q, v):
    return 0.5 * v @ v + 0.4 * v[0] * (v[2] * jnp.cos(q[0]) - v[1] * jnp.sin(q[0])) - 0.3 * q[1] ** 2 - q[2]


WRITTEN = dh.nonlinear(heavy, skate, 2, force=lambda q, v: -0.1 * v + 0 * q)


def test_a_linear_psi_is_recognised_and_gives_the_same_numbers():
    assert dh.linear_in_velocities(WRITTEN, Q)
    ordinary = dh.as_linear(WRITTEN, Q)
    assert not isinstance(ordinary, dh.NonlinearSystem)
    rng = np.random.default_rng(0)
    for _ in range(4):
        q, z = jnp.asarray(rng.normal(size=3)), jnp.asarray(rng.normal(size=2))
        (v, rates), (w, others) = FIELD(ordinary, q, z), FIELD(WRITTEN, q, z)
        assert np.max(np.abs(v - w)) < 1e-13
        assert np.max(np.abs(rates[:2] - others)) < 1e-12
        assert np.max(np.abs(rates[2:])) == 0
    a, b = (dh.reference(system, [0.1, 0.2, 0.0], [1.0, 0.5], t=2.0) for system in (ordinary, WRITTEN))
    assert np.max(np.abs(a.q[-1] - b.q[-1])) < 1e-10
    assert np.max(np.abs(a.energy - b.energy)) < 1e-10


def test_one_step_of_the_two_midpoint_rules_differs_in_third_order():
    """NonlinearMidpoint on a linear psi is not DiscreteHamel's map, as its docstring says."""
    ordinary, gaps = dh.from_velocities(heavy, skate_frame, 2, force=lambda q, v: -0.1 * v + 0 * q), []
    for h in (0.2, 0.1, 0.05, 0.025):
        a = dh.simulate(ordinary, [0.1, 0.2, 0.0], [1.0, 0.5], h=h, steps=1)
        b = dh.simulate(WRITTEN, [0.1, 0.2, 0.0], [1.0, 0.5], h=h, steps=1)
        gaps.append(np.linalg.norm(np.concatenate([a.q[-1] - b.q[-1], (a.xi[-1][:2] - b.xi[-1])])))
    assert np.all(np.abs(np.log2(np.array(gaps[:-1]) / gaps[1:]) - 3) < 0.25), gaps


@pytest.mark.parametrize(
    ("system", "q"),
    [
        (dh.systems.TwoPointsParallelVelocities(), [0.0, 0, 1, 0]),
        (CONE, [0.1, 0.2, 0.3]),
        (CYLINDER, [0.1, 0.2, 0.3]),
        (dh.nonlinear(heavy, lambda q, z: skate(q, z) + 1e-3 * z[0] ** 3, 2), [0.1, 0.2, 0.3]),
        (dh.nonlinear(heavy, lambda q, z: skate(q, z) + 1e-3, 2), [0.1, 0.2, 0.3]),
        (dh.nonlinear(heavy, lambda q, z: skate(q, z) * (1 + 1e-3 * jnp.abs(z[0])), 2), [0.1, 0.2, 0.3]),
    ],
    ids=["points", "cone", "cylinder", "nearly", "affine", "homogeneous"],
)
def test_what_is_not_linear_is_not_taken_for_it(system, q):
    assert not dh.linear_in_velocities(system, q)
    with pytest.raises(ValueError, match="truly nonlinear"):
        dh.as_linear(system, q)


# --- [BE] 8.1: parallel, and the first across the line, is two linear constraints; or P1 rests ---


def both_parallel_and_across(q, v):
    return [v[0] * v[3] - v[1] * v[2], v[0] * (q[2] - q[0]) + v[1] * (q[3] - q[1])]


def test_8_1_is_linear():
    m1, m2, g = 1.0, 2.0, 1.0
    masses = jnp.array([m1, m1, m2, m2])
    written = dh.from_nonlinear_constraints(
        lambda q, v: 0.5 * v @ (masses * v) + g * (m1 * q[0] + m2 * q[2]), both_parallel_and_across
    )
    theta, rho, v, omega = 0.3, 1.2, 0.5, 1.5
    q = np.array([0.0, 0.0, rho * np.cos(theta), rho * np.sin(theta)])
    e = np.array([np.sin(theta), -np.cos(theta)])
    velocity = np.concatenate([v * e, (v - rho * omega) * e])
    assert dh.linear_in_velocities(written, q, v=velocity)
    ordinary = dh.as_linear(written, q, v=velocity)
    polar = dh.systems.TwoPointsOrthogonalVelocities(m1, m2, g)
    exact = dh.reference(polar, [0.0, 0.0, theta, rho], [v, omega], t=1.0).q[-1]
    run = dh.reference(ordinary, q, v=velocity, t=1.0)
    x, y, angle, distance = exact
    expected = np.array([x, y, x + distance * np.cos(angle), y + distance * np.sin(angle)])
    assert np.max(np.abs(run.q[-1] - expected)) < 1e-9
    # the other branch of the same two equations: P1 at rest and P2 free to move, which is linear too
    assert dh.linear_in_velocities(written, q, v=[0.0, 0.0, 1.0, 0.5])


# --- [BE] 8.4: tau phi' = 0 ---

QUADRATIC = dh.from_nonlinear_constraints(
    lambda q, v, s: s.coordinate_lagrangian(q, v), lambda q, v, s: s.constraint(q, v), params=SEGMENT
)
TURNING = np.array([-0.5 * np.sin(0.4), 0.5 * np.cos(0.4), 1.5])  # tau = 0
CARRIED = np.array([0.7, 0.3, 0.0])  # phi' = 0


@pytest.mark.parametrize(("v", "own"), [(TURNING, SEGMENT), (CARRIED, SLIDING)], ids=["type I", "type II"])
def test_8_4_has_two_linear_dynamics(v, own):
    assert dh.linear_in_velocities(QUADRATIC, Q, v=v)
    ordinary = dh.as_linear(QUADRATIC, Q, v=v)
    exact = dh.reference(own, Q, v=v, t=0.6)
    for run in (dh.reference(ordinary, Q, v=v, t=0.6), dh.reference(QUADRATIC, Q, v=v, t=0.6)):
        assert np.max(np.abs(run.q[-1] - exact.q[-1])) < 1e-9
        assert np.max(np.abs(run.v[-1] - exact.v[-1])) < 1e-9
    nodes = dh.reference(ordinary, Q, v=v, t=np.linspace(0, 0.6, 7))
    factors = np.array(
        [SEGMENT.constraint_factors(jnp.asarray(q), jnp.asarray(w)) for q, w in zip(nodes.q, nodes.v, strict=True)]
    )
    assert np.max(np.abs(factors[:, 0 if own is SEGMENT else 1])) < 1e-12
    assert np.max(np.abs(factors[:, 1 if own is SEGMENT else 0])) > 0.1


def test_type_two_keeps_the_angle_and_falls_freely():
    """phi is constant, and the acceleration is that of a free fall."""
    run = dh.reference(SLIDING, Q, v=CARRIED, t=np.linspace(0, 2, 5))
    assert np.max(np.abs(run.q[:, 2] - Q[2])) < 1e-13
    assert np.max(np.abs(run.q[:, 0] - Q[0] - 0.7 * run.t - run.t**2 / 2)) < 1e-10
    assert np.max(np.abs(run.q[:, 1] - Q[1] - 0.3 * run.t)) < 1e-10


def test_type_one_is_8_2_and_8_1_with_its_distance():
    polar = dh.systems.TwoPointsOrthogonalVelocities(1.0, 2.0, 1.0)
    a = dh.reference(SEGMENT, Q, [0.5, 1.5], t=1.5)
    b = dh.reference(polar, [*Q, 0.8], [-0.5, 1.5], t=1.5)
    assert np.max(np.abs(a.q[-1] - b.q[-1][:3])) < 1e-10
    assert abs(b.q[-1][3] - 0.8) < 1e-13


def test_transitional_states_are_named():
    """tau = phi' = 0: the whole segment moves across itself. Both dynamics could go on, and they differ."""
    across = 0.6 * np.array([-np.sin(0.4), np.cos(0.4), 0.0])
    assert SEGMENT.transitional(Q, across)
    assert not SEGMENT.transitional(Q, TURNING)
    assert not SEGMENT.transitional(Q, CARRIED)
    with pytest.raises(ValueError, match=r"derivative of row 0.*transitional state.*Start on one branch"):
        dh.simulate(QUADRATIC, Q, v=across, h=0.1, steps=1)
    first, second = (dh.reference(own, Q, v=across, t=1.0) for own in (SEGMENT, SLIDING))
    assert np.max(np.abs(first.q[-1] - second.q[-1])) > 0.1
    assert SEGMENT.transitional(np.array(Q), np.asarray(first.v[0]))


def test_a_branch_has_to_be_named():
    with pytest.raises(ValueError, match="several branches: give a velocity v"):
        dh.linear_in_velocities(QUADRATIC, Q)
