"""Runs that go on: in one piece bit for bit, joined, up to events and through what these change."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

SLEIGH = dh.systems.ChaplyginSleigh(offset=0.4)
DATA = {"q": [0.1, 0.0, 0.0], "xi": [1.5, -0.3], "h": 0.05}
G = 9.81
BALL = dh.from_velocities(lambda q, v: 0.5 * v @ v - G * q[0], lambda q: jnp.eye(1), 1)
LEAVES = ("t", "q", "p", "xi", "xi_mid")


def same(one, other):
    for name in LEAVES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("converged", "iterations", "residual"):
        np.testing.assert_array_equal(getattr(one.report, name), getattr(other.report, name))
    assert jax.tree.all(jax.tree.map(np.array_equal, one.final, other.final))


def density(q, xi):
    return 0.05 * (q @ q)


def skate(q):
    return jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]])


@pytest.mark.parametrize(
    ("scheme", "more"),
    [
        (dh.DiscreteHamel(), {}),
        (dh.DiscreteHamel(compensated=True), {}),
        (dh.DiscreteHamel(), {"compiled": False}),
        (dh.Gauss(2), {}),
        (dh.RungeKutta4(), {}),
    ],
    ids=["Hamel", "compensated", "plain", "Gauss", "explicit"],
)
def test_a_run_goes_on_bit_for_bit(scheme, more):
    data = DATA | more | {"scheme": scheme, "save_every": 2}
    whole = dh.simulate(SLEIGH, **data, steps=60, t0=0.7)
    part = dh.simulate(SLEIGH, **data, steps=20, t0=0.7)
    longer = dh.prolong(dh.prolong(part, 6), 34)
    same(longer, whole)
    assert longer.report.path == whole.report.path
    assert whole.t[0] == 0.7


def test_frames_of_constraints_and_varying_steps_and_stores_go_on_too(tmp_path):
    blade = dh.from_constraints(lambda q, v: 0.5 * v @ v, skate)
    start = {"q": [0.1, 0, 0], "v": [1.0, np.cos(0.1), np.sin(0.1)], "h": 0.1}
    same(dh.prolong(dh.simulate(blade, **start, steps=7), 13), dh.simulate(blade, **start, steps=20))
    kepler = dh.from_velocities(lambda q, v: 0.5 * v @ v + 1 / jnp.sqrt(q @ q), lambda q: jnp.eye(2), 2)
    varying = {"q": [1.0, 0.0], "xi": [0.0, 0.8], "h": density}
    same(dh.prolong(dh.simulate(kepler, **varying, steps=7), 5), dh.simulate(kepler, **varying, steps=12))
    pytest.importorskip("zarr")
    dh.simulate(SLEIGH, **DATA, steps=10, store=tmp_path / "run.zarr")
    same(dh.prolong(dh.load(tmp_path / "run.zarr"), 10), dh.simulate(SLEIGH, **DATA, steps=20))


def test_under_jit_and_grad():
    def end(speed, pieces):
        run = dh.simulate(SLEIGH, DATA["q"], jnp.stack([speed, -0.3]), h=0.05, steps=pieces[0])
        for steps in pieces[1:]:
            run = dh.prolong(run, steps)
        return run.q[-1, 1] + run.t[-1]

    both = [jax.jit(jax.value_and_grad(lambda s, p=p: end(s, p)))(1.5) for p in ((20,), (8, 12))]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-14)


def bounce(loss):
    return dh.Event(lambda q, xi: q[0], then=lambda q, xi: (q, -loss * xi), sense=-1)


@pytest.mark.parametrize("h", [0.01, 0.3, 5.0])
def test_a_ball_bounces_when_it_should(h):
    """Parabolas are exact at any h: falls a second, then flies 2 e, 2 e^2, ..."""
    flights = dh.arcs(BALL, [G / 2], [0.0], h=h, t_end=4.2, events=[bounce(0.8)])
    ends = 1 + np.cumsum([0, 1.6, 1.28])
    np.testing.assert_allclose([one.t[-1] for one in flights[:-1]], ends, rtol=0, atol=1e-12)
    assert len(flights) == 4
    assert flights[-1].t[-1] == pytest.approx(4.2, abs=1e-13)
    for one, other in zip(flights, flights[1:], strict=False):
        np.testing.assert_allclose(other.xi[0], -0.8 * one.xi[-1], rtol=1e-15)
        assert abs(one.q[-1, 0]) < 1e-13
    whole = dh.join(*flights)
    assert len(whole) == sum(map(len, flights))
    assert len(whole.xi_mid) == len(whole) - 1 == len(whole.report.residual)
    assert whole.energy[-1] == pytest.approx(G * G / 2 * 0.8**6, rel=1e-12)
    left = 4.2 - ends[-1]
    assert whole.q[-1, 0] == pytest.approx(G * 0.8**3 * left - 0.5 * G * left**2, abs=1e-12)


def test_a_crossing_of_the_sleigh_is_that_of_crossings_and_ends_a_run():
    run = dh.simulate(SLEIGH, **DATA, steps=200)
    there = dh.crossings(run, lambda q, xi: q[0] - 1.0)
    (arc,) = dh.arcs(SLEIGH, **DATA, t_end=10.0, events=[dh.Event(lambda q, xi: q[0] - 1.0)])
    assert arc.t[-1] == pytest.approx(there.t[0], abs=1e-13)
    np.testing.assert_allclose(arc.q[-1], there.q[0], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(arc.q[:-1], run.q[: there.step[0] + 1])
    still = dh.arcs(SLEIGH, **DATA, t_end=1.02)
    assert [round(float(one.t[-1]), 12) for one in still] == [1.02]


def test_a_spring_that_is_slack_on_one_side():
    """Another system beyond x = 0: half a period of each, and the zero where one begins is not found again."""

    soft = dh.from_velocities(lambda q, v, k: 0.5 * (v @ v - k * q @ q), lambda q, k: jnp.eye(1), 1, params=1.0)
    stiff = soft.replace(params=4.0)
    into = {-1: stiff, 1: soft}
    events = [dh.Event(lambda q, xi: q[0], lambda q, xi, s=s: (into[s], q, xi), sense=s) for s in (-1, 1)]
    found = dh.arcs(soft, [1.0], [0.0], h=0.01, t_end=12.0, events=events, scheme=dh.Gauss(3))
    turns = np.pi / 2 + np.cumsum([0, np.pi / 2, np.pi, np.pi / 2, np.pi])[:5]
    np.testing.assert_allclose([one.t[-1] for one in found[:-1]], turns[turns < 12], rtol=0, atol=1e-9)
    np.testing.assert_allclose([one.xi[-1, 0] for one in found[:-1]], [-1, 1, -1, 1, -1][: len(found) - 1], atol=1e-10)
    with pytest.raises(ValueError, match="arcs of different systems stay a list"):
        dh.join(*found)


def test_what_is_refused():
    with pytest.raises(ValueError, match="they pile up"):
        dh.arcs(BALL, [G / 2], [0.0], h=0.1, t_end=3.0, events=[bounce(0.2)], most=30)
    with pytest.raises(ValueError, match="does not lie ahead of t0 = 0"):
        dh.arcs(BALL, [1.0], [0.0], h=0.1, t_end=-1.0)
    with pytest.raises(ValueError, match="returns .q, xi. or .system, q, xi."):
        dh.arcs(BALL, [1.0], [0.0], h=0.1, t_end=1.0, events=[dh.Event(lambda q, xi: q[0], lambda q, xi: q)])
    with pytest.raises(TypeError, match="list of dh.Event"):
        dh.arcs(BALL, [1.0], [0.0], h=0.1, t_end=1.0, events=[lambda q, xi: q[0]])
    one, other = (dh.simulate(s, [1.0], [0.0], h=0.1, steps=2) for s in (BALL, BALL))
    with pytest.raises(ValueError, match=r"begins at t = 0, and those before end at t = 0\.2"):
        dh.join(one, other)
    with pytest.raises(ValueError, match="arcs of different systems stay a list"):
        dh.join(one, dh.simulate(SLEIGH, **DATA, steps=2, t0=0.2))
    with pytest.raises(ValueError, match="has no state"):
        dh.prolong(dh.reference(BALL, [1.0], [0.0], t=1.0), 3)
    with pytest.raises(ValueError, match="not a multiple of save_every = 2"):
        dh.prolong(dh.simulate(BALL, [1.0], [0.0], h=0.1, steps=2, save_every=2), 3)
    with pytest.raises(ValueError, match="t0 must be real numbers"):
        dh.simulate(BALL, [1.0], [0.0], h=0.1, steps=2, t0="noon")
    with pytest.raises(ValueError, match="t0 is 0 there"):
        dh.simulate(BALL, [1.0], [0.0], h=0.1, steps=2, t0=1.0, store="nowhere.zarr")
