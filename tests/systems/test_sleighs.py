"""Sleighs: reduced equations, momentum frame, arcs and equilibria, the degenerate sleigh."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from carts import body_ahead, no_sideways
from hypothesis import assume, given, settings
from multipliers import assert_lagrange_dalembert, assert_same, motion, rates

import discrete_hamel as dh
from discrete_hamel.testing.strategies import numbers, sizes, vectors


def sleigh_body(q, v, s):
    centre = body_ahead(q, v, s.offset)
    return 0.5 * s.mass * centre @ centre + 0.5 * s.inertia * v[0] ** 2


sleigh_parameters = (sizes(), sizes(), numbers(-1.0, 1.0))


@settings(max_examples=25)
@given(vectors(3), vectors(2), *sleigh_parameters)
def test_lagrange_dalembert_and_6_1(q, xi, mass, inertia, offset):
    """Both frames; balanced (offset 0) is drawn too. And [QS] (6.1), [ND] (19)."""
    sleigh = dh.systems.ChaplyginSleigh(mass, inertia, offset)
    assert_lagrange_dalembert(sleigh, q, xi, sleigh_body, no_sideways)
    assert_lagrange_dalembert(
        dh.systems.ChaplyginSleighMomentumFrame(mass, inertia, offset), q, xi, sleigh_body, no_sideways
    )
    whole = inertia + mass * offset**2
    p1, p2 = whole * xi[0], mass * xi[1]
    wanted = [-offset * p1 * p2 / whole, mass * offset * p1**2 / whole**2]
    rate = rates(sleigh, q, xi)[1]
    assert_same(np.array([whole, mass]) * rate[:2], wanted)


@settings(max_examples=25)
@given(vectors(3), vectors(3), *sleigh_parameters)
def test_momentum_frame(q, xi, mass, inertia, offset):
    """(6.2)-(6.4): the printed brackets, the Lagrangian (with k for the printed a before sin), constant momenta."""
    assume(abs(offset) > 0.05)
    system = dh.systems.ChaplyginSleighMomentumFrame(mass, inertia, offset)
    body = dh.systems.ChaplyginSleigh(mass, inertia, offset)
    a, k = offset, np.sqrt(mass * offset**2 / (inertia + mass * offset**2)) * np.sign(offset)
    c, s = np.cos(k * q[0]), np.sin(k * q[0])
    bracket = structure(system, q)
    assert_same(bracket[:, 0, 1], [-(k**2) / a * c, k * s, 1.0])
    assert_same(bracket[:, 0, 2], [-k / a * c * s, -(c**2), 0.0])
    assert_same(bracket[:, 1, 2], [k**2 / a**2 * s**2, k / a * c * s, 0.0])
    in_body = np.array([c * xi[0] - k / a * s * xi[1], a / k * s * xi[0] + c * xi[1], xi[2]])
    assert_same(system.lagrangian(jnp.asarray(q), jnp.asarray(xi)), body.lagrangian(jnp.asarray(q), in_body))
    assert_same(rates(system, q, xi[:2])[1], np.zeros(3))


structure = jax.jit(dh.structure)


def test_momentum_frame_is_exact_for_every_tau():
    system = dh.systems.ChaplyginSleighMomentumFrame()
    for tau in (0.0, 0.3, 0.5):
        run = dh.simulate(system, **(system.sample() | {"h": 0.1}), steps=1000, scheme=dh.DiscreteHamel(tau=tau))
        assert np.max(np.abs(run.p - run.p[0])) < 1e-12 * 1000**0.5
    body = dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.0, 0, 0], xi=[1.5, -0.3], h=0.1, steps=100)
    assert np.ptp(body.p[:, 0]) > 0.5  # in the body frame they are not constant


@settings(max_examples=25)
@given(vectors(3), vectors(2), *sleigh_parameters)
def test_spatial_momentum(q, xi, mass, inertia, offset):
    """[QS] 6.2 with errata: mu' = lambda (x cos + y sin, -sin, cos), with the printed lambda."""
    sleigh = dh.systems.ChaplyginSleigh(mass, inertia, offset)

    def spatial(q, v):
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        mu2, mu3 = mass * (v[1] - offset * v[0] * s), mass * (v[2] + offset * v[0] * c)
        mu1 = (inertia + mass * offset**2) * v[0] + mass * offset * (c * v[2] - s * v[1])
        mu1 = mu1 + mass * (q[1] * v[2] - q[2] * v[1]) + mass * offset * v[0] * (q[1] * c + q[2] * s)
        return jnp.stack([mu1, mu2, mu3])

    v, second = motion(sleigh, jnp.asarray(q), jnp.asarray(xi))
    mu, rate = jax.jvp(spatial, (jnp.asarray(q), v), (v, second))
    c, s = np.cos(q[0]), np.sin(q[0])
    along, turn = mu[1] * c + mu[2] * s, mu[0] + q[2] * mu[1] - q[1] * mu[2]
    push = inertia * turn * along / (inertia + mass * offset**2) ** 2
    assert_same(rate, push * np.array([q[1] * c + q[2] * s, -s, c]))


@settings(max_examples=25)
@given(sizes(), sizes(), sizes(0.2, 1.0), sizes())
def test_heteroclinic_arcs(mass, inertia, offset, speed):
    """v = V tanh(k t), omega = Omega sech(k t) on the ellipse m V^2 = (J + m a^2) Omega^2: from -V to V, turning by
    pi / sqrt(m a^2 / (J + m a^2)) in all."""
    sleigh = dh.systems.ChaplyginSleigh(mass, inertia, offset)
    whole = inertia + mass * offset**2
    turn, k = speed * np.sqrt(mass / whole), mass * offset * speed / whole
    t = np.linspace(-3, 3, 7) / k
    exact = dh.reference(sleigh, q=[0, 0, 0], xi=[turn / np.cosh(-3), speed * np.tanh(-3)], t=t - t[0])
    np.testing.assert_allclose(exact.xi[:, 0], turn / np.cosh(k * t), rtol=0, atol=1e-9)
    np.testing.assert_allclose(exact.xi[:, 1], speed * np.tanh(k * t), rtol=0, atol=1e-9)
    swept = turn / k * (np.arctan(np.sinh(k * t)) - np.arctan(np.sinh(-3)))
    np.testing.assert_allclose(exact.q[:, 0], swept, rtol=0, atol=1e-9)
    np.testing.assert_allclose(turn / k, 1 / np.sqrt(mass * offset**2 / whole), rtol=1e-12)


@settings(max_examples=25)
@given(*sleigh_parameters, numbers())
def test_equilibria(mass, inertia, offset, speed):
    """Straight motion is steady; its exponents are 0 and -m a v / (J + m a^2), so a v > 0 attracts."""
    sleigh = dh.systems.ChaplyginSleigh(mass, inertia, offset)
    origin = jnp.zeros(3)
    assert_same(rates(sleigh, origin, jnp.array([0.0, speed]))[1], np.zeros(3))
    jacobian = jax.jacfwd(lambda xi: rates(sleigh, origin, xi)[1][:2])(jnp.array([0.0, speed]))
    exponent = -mass * offset * speed / (inertia + mass * offset**2)
    assert_same(jacobian, [[exponent, 0.0], [0.0, 0.0]])


def test_the_scheme_keeps_to_the_arc():
    """Energy is exact and the run ends in straight motion with the mass centre ahead, at the speed it began with."""
    sleigh = dh.systems.ChaplyginSleigh()
    run = dh.simulate(sleigh, q=[0, 0, 0], xi=[1e-3, -1.0], h=0.1, steps=1000)
    whole = sleigh.inertia + sleigh.mass * sleigh.offset**2
    ellipse = whole * run.xi[:, 0] ** 2 + sleigh.mass * run.xi[:, 1] ** 2
    assert np.max(np.abs(ellipse - ellipse[0])) < 1e-12 * 1000**0.5
    np.testing.assert_allclose(run.xi[-1, :2], [0.0, np.sqrt(ellipse[0] / sleigh.mass)], atol=1e-9)


# The degenerate sleigh: q = (t, theta, x, y).


def blade(_, v, s):
    return 0.5 * s.mass * v[2:] @ v[2:]


def driven_blade(q, v, _):
    sideways = jnp.cos(q[1]) * v[3] - jnp.sin(q[1]) * v[2]
    return jnp.stack([v[0] - 1.0, v[1] - jnp.cos(q[0]), sideways])


@settings(max_examples=25)
@given(vectors(4), vectors(1), sizes())
def test_degenerate_sleigh(q, xi, mass):
    system = dh.systems.DegenerateSleigh(mass)
    assert_lagrange_dalembert(system, q, xi, blade, driven_blade)
    assert_same(rates(system, q, xi)[1], np.zeros(4))


def test_degenerate_sleigh_goes_where_it_is_pointed():
    """xi' = 0, z' = e^(i theta) xi with any theta(t): here theta' = cos t, and another choice goes another way."""
    start = {"q": [0.0, 0.2, 0.0, 0.0], "xi": [1.3]}
    run = dh.reference(dh.systems.DegenerateSleigh(), **start, t=np.linspace(0, 4, 401))
    heading = 0.2 + np.sin(run.t)
    np.testing.assert_allclose(run.q[:, 1], heading, atol=1e-10)
    x = np.concatenate([[0.0], np.cumsum(0.005 * 1.3 * (np.cos(heading[1:]) + np.cos(heading[:-1])))])
    np.testing.assert_allclose(run.q[:, 2], x, atol=1e-4)
    other = dh.reference(dh.systems.DegenerateSleigh(turning=jnp.sin), **start, t=4.0)
    assert np.linalg.norm(other.q[-1, 2:] - run.q[-1, 2:]) > 0.5


def test_without_a_heading_the_degenerate_sleigh_is_refused():
    """[HE]: the motions are not identified by the initial conditions; the library says which velocity is at fault."""

    class Undetermined(dh.System):
        rank = 2
        velocities = ("omega", "v1", "v2")

        def lagrangian(self, _, xi):
            return 0.5 * (xi[1] ** 2 + xi[2] ** 2)

        def frame(self, q):
            return dh.systems.ChaplyginSleigh().frame(q)

    with pytest.raises(ValueError, match="degenerate.*omega"):
        dh.simulate(Undetermined(), q=[0.0, 0, 0], xi=[1.0, 1.0], h=0.1, steps=1)


@settings(max_examples=25)
@given(vectors(3))
def test_the_blade_is_drawn_at_the_contact_and_along_the_heading(q):
    along = np.array([np.cos(q[0]), np.sin(q[0])])
    for system, place in (
        (dh.systems.ChaplyginSleigh(), q),
        (dh.systems.ChaplyginSleighMomentumFrame(), q),
        (dh.systems.SleighOscillator(), np.array([0.3, *q])),
        (dh.systems.DegenerateSleigh(), np.array([0.3, *q])),
        (dh.systems.KnifeEdgeOnIncline(), q),
    ):
        blade = system.shapes(place)[0]
        assert_same(blade.mean(axis=0), q[1:])
        assert_same((blade[1] - blade[0]) / np.linalg.norm(blade[1] - blade[0]), along)
