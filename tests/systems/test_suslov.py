"""Suslov's problem against Lagrange-d'Alembert, its printed equations, its closed solution and its measure."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import assume, given, settings
from multipliers import (
    accelerations,
    assert_lagrange_dalembert,
    assert_same,
    orthogonal,
    rates,
    spin,
    spin_rate,
    together,
)
from multipliers import turning_energy as energy_of

import discrete_hamel as dh
from discrete_hamel.testing.strategies import directions, inertias, numbers, rotations, sizes, vectors

NOTHING = jnp.zeros(0)  # the coordinates of a reduced system


def free_body(_, v, s):
    return energy_of(v, s.inertia)


def heavy_body(q, v, s):
    return energy_of(v, s.inertia) - s.weight @ q[6:]


def no_turn(q, v, s):
    return (s.axis @ spin(q, v))[None]


held = together(orthogonal, no_turn)


@settings(max_examples=25)
@given(rotations(), vectors(2), inertias(), directions(), sizes(), vectors(3, -5.0, 5.0))
def test_lagrange_dalembert(attitude, xi, inertia, direction, length, weight):
    """With attitude, heavy, and reduced: full inertia, any axis of any length."""
    axis = length * direction
    suslov = dh.systems.Suslov(inertia=inertia, axis=axis)
    heavy = dh.systems.HeavySuslov(inertia=inertia, axis=axis, weight=weight)
    assert_lagrange_dalembert(suslov, attitude.ravel(), xi, free_body, held)
    assert_lagrange_dalembert(heavy, attitude.ravel(), xi, heavy_body, held)

    reduced = dh.systems.ReducedSuslov(inertia=inertia, axis=axis)
    omega = np.asarray(reduced.omega(xi))
    q = attitude.ravel()
    v = (attitude @ np.cross(np.eye(3), omega)).ravel()  # R hat(omega)
    assert_same(spin(q, v), omega)
    second, _ = accelerations(free_body, held, q, v, suslov)
    rate = reduced.omega(rates(reduced, NOTHING, xi)[1])
    assert_same(rate, spin_rate(q, v, second))

    # [QS] 6.1 as printed: I omega' = I omega x omega + lambda a
    push, lagrange = printed(inertia, axis, omega)
    assert_same(rate, np.linalg.solve(inertia, push + lagrange * axis))


def printed(inertia, axis, omega):
    """I omega x omega and lambda of [QS] 6.1."""
    push, lifted = np.cross(inertia @ omega, omega), np.linalg.solve(inertia, axis)
    return push, -(lifted @ push) / (lifted @ axis)


reactions = jax.jit(dh.reactions)


@settings(max_examples=25)
@given(rotations(), inertias(), directions(), vectors(2))
def test_reactions(attitude, inertia, axis, xi):
    """The library's reaction is the printed multiplier, for a one-form a . omega."""
    suslov = dh.systems.Suslov(inertia=inertia, axis=axis)
    _, lagrange = printed(inertia, axis, np.asarray(suslov.omega(xi)))
    assert_same(reactions(suslov, attitude.ravel(), xi), [lagrange])


def arc(system, t, energy):
    """omega on the arc through s = |s| max: omega = (A cos phi, B sin phi), phi - phi0 = gudermannian of k t.

    For the third axis and I12 = 0: I11 omega1' = -s omega2, I22 omega2' = s omega1 with s = I13 omega1 + I23 omega2.
    """
    i = np.asarray(system.inertia)
    a, b = np.sqrt(2 * energy / i[0, 0]), np.sqrt(2 * energy / i[1, 1])
    c, phi0 = np.hypot(i[0, 2] * a, i[1, 2] * b), np.arctan2(i[1, 2] * b, i[0, 2] * a)
    k = c * b / (i[0, 0] * a)
    phi = phi0 + np.arcsin(np.tanh(k * t))
    return np.stack([a * np.cos(phi), b * np.sin(phi)], axis=-1)


@settings(max_examples=25)
@given(sizes(0.5, 2.0), numbers(-0.3, 0.3), numbers(-0.3, 0.3), sizes())
def test_heteroclinic_arcs(size, i13, i23, energy):
    """Every motion runs along half an ellipse, from one point of the line (I a) . omega = 0 to the opposite one."""
    assume(np.hypot(i13, i23) > 0.05)
    inertia = size * np.array([[1.2, 0.0, i13], [0.0, 1.0, i23], [i13, i23, 1.4]])
    system = dh.systems.ReducedSuslov(inertia=inertia)
    t = np.linspace(-2.0, 6.0, 9)
    wanted = arc(system, t, energy)
    exact = dh.reference(system, q=[], xi=wanted[0], t=t - t[0])
    np.testing.assert_allclose(exact.xi[:, :2], wanted, rtol=0, atol=1e-9)
    ends = arc(system, np.array([-1e9, 1e9]), energy)
    np.testing.assert_allclose(ends @ inertia[2, :2], 0.0, atol=1e-9)
    np.testing.assert_allclose(ends[0], -ends[1], atol=1e-9)
    for end in ends:
        assert_same(rates(system, NOTHING, end)[1], np.zeros(3), 1e-9)


def test_the_scheme_runs_along_the_same_arc():
    """The energy ellipse is exact, and the ends are the ends of the continuous motion."""
    system = dh.systems.ReducedSuslov(inertia=((1.2, 0.0, 0.2), (0.0, 1.0, 0.3), (0.2, 0.3, 1.4)))
    begin, end = arc(system, np.array([-1e9, 1e9]), 0.8)
    run = dh.simulate(system, q=[], xi=begin + np.array([1e-6, 0.0]), h=0.1, steps=3000)
    assert np.max(np.abs(run.energy - run.energy[0])) < 1e-12
    np.testing.assert_allclose(run.xi[-1, :2] / np.linalg.norm(run.xi[-1]), end / np.linalg.norm(end), atol=1e-9)


@jax.jit
def divergence(system, xi):
    """Of the momentum equation on D; p = M xi with constant M, so that of xi' is the same."""
    return jnp.trace(jax.jacfwd(lambda xi: rates(system, NOTHING, xi)[1][:2])(jnp.asarray(xi, float)))


@jax.jit
def divergence_of_full_momentum(inertia, axis, p):
    """Of (14) on all momenta, its multiplier eliminated."""

    def rate(p):
        push = jnp.cross(p, jnp.linalg.solve(inertia, p))
        by_axis = jnp.linalg.solve(inertia, axis)
        return push - (by_axis @ push) / (by_axis @ axis) * axis

    return jnp.trace(jax.jacfwd(rate)(p))


@settings(max_examples=25)
@given(inertias(), directions(), vectors(2))
def test_measure_is_kept_only_where_the_axis_is_principal(inertia, axis, xi):
    """The flow of a homogeneous field has a smooth measure iff its divergence vanishes, [ND] after Theorem 7."""
    assume(np.linalg.norm(xi) > 0.1)
    generic = dh.systems.ReducedSuslov(inertia=inertia, axis=axis)
    p = jnp.asarray(inertia @ np.asarray(generic.omega(xi)))
    assert_same(divergence(generic, xi), divergence_of_full_momentum(inertia, axis, p))
    # (15) for so(3): K a x (I^-1 a) = 0 decides, and paired with omega it is the divergence
    obstruction = np.cross(axis, np.linalg.solve(inertia, axis)) / (axis @ np.linalg.solve(inertia, axis))
    assert_same(divergence(generic, xi), obstruction @ np.asarray(generic.omega(xi)))
    _, axes = np.linalg.eigh(inertia)
    for principal in axes.T:
        system = dh.systems.ReducedSuslov(inertia=inertia, axis=principal)
        assert_same(divergence(system, xi), 0.0)
        assert_same(rates(system, NOTHING, xi)[1], np.zeros(3))  # every turn is steady


def test_measure_is_lost_for_the_sample():
    system = dh.systems.ReducedSuslov()
    assert abs(divergence(system, np.array([0.8, -0.9]))) > 0.05


@settings(max_examples=25)
@given(inertias(), directions(), vectors(2))
def test_reduced_is_the_general_class(inertia, axis, xi):
    """EulerPoincareSuslov on so(3) is ReducedSuslov."""
    one = dh.systems.ReducedSuslov(inertia=inertia, axis=axis)
    other = dh.systems.EulerPoincareSuslov(inertia=inertia, constraint=axis)
    assert_same(rates(other, NOTHING, xi)[1], rates(one, NOTHING, xi)[1])
