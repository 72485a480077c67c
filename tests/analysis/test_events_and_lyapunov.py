"""Crossings within the scheme's own step, sections, and Lyapunov exponents of the map."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipk

import discrete_hamel as dh

S = dh.systems


def swing(q, v):
    return 0.5 * v[0] ** 2 + jnp.cos(q[0])


def line(q):
    return jnp.eye(1)


PENDULUM = dh.from_velocities(swing, line, 1)


def angle(q, xi):
    return q[0] + 0 * xi[0]


def run(h, steps, scheme=None):
    return dh.simulate(PENDULUM, [1.2], [0.0], h=h, steps=steps, scheme=scheme)


def test_crossings_are_zeros_at_ends_of_steps_of_the_scheme():
    trajectory = run(0.1, 300)
    before = np.array(trajectory.q)
    found = dh.crossings(trajectory, angle)
    assert len(found) == 9 or len(found) == 8
    assert np.max(np.abs(found.value)) < 1e-14
    assert np.array_equal(found.sense, np.resize([-1, 1], len(found)))
    for k in range(len(found)):
        node, length = found.step[k], found.t[k] - trajectory.t[found.step[k]]
        assert 0 < length <= 0.1
        one = dh.simulate(PENDULUM, trajectory.q[node], trajectory.xi[node], h=length, steps=1)
        assert one.q[-1] == pytest.approx(found.q[k], abs=1e-14)
        assert one.xi[-1] == pytest.approx(found.xi[k], abs=1e-13)
    assert np.array_equal(before, trajectory.q)  # the run goes on as it was
    down, up = dh.crossings(trajectory, angle, sense=-1), dh.crossings(trajectory, angle, sense=1)
    assert len(up) + len(down) == len(found)
    assert set(up.sense) == {1}


@pytest.mark.parametrize(
    ("scheme", "order"), [(dh.DiscreteHamel(), 2), (dh.EnergyExact(), 2), (dh.Gauss(stages=2), 4)], ids=repr
)
def test_the_period_is_the_elliptic_integral_to_the_order_of_the_scheme(scheme, order):
    """4 K(sin^2(0.6)) between crossings of one sense; unequal sub-steps would show as order 1."""
    period, errors = 4 * ellipk(np.sin(0.6) ** 2), []
    for steps in (100, 200, 400):
        found = dh.crossings(run(15.0 / steps, steps, scheme), angle, sense=-1)
        errors.append(abs(found.t[1] - found.t[0] - period))
    assert np.diff(np.log2(errors)) == pytest.approx([-order, -order], abs=0.15)


def test_a_section_of_a_long_run():
    top = S.SphericalPendulumAngles()
    found = dh.section(top, [0.3, 0.0], [0.1, 0.4], lambda q, xi: xi[0], h=0.2, count=60)
    assert len(found) == 60
    assert np.max(np.abs(found.value)) < 1e-13
    assert np.all(found.sense == 1)
    assert np.all(np.diff(found.t) > 0)
    assert np.ptp(found.q[:, 0]) < 0.02 * np.mean(found.q[:, 0])  # an integrable motion turns at one lean
    gaps = np.diff(found.t)
    assert np.ptp(gaps) < 0.02 * np.mean(gaps)


def test_what_cannot_be_located(monkeypatch):
    monkeypatch.setattr("discrete_hamel.analysis.motion.events.LONGEST", 1)
    with pytest.raises(ValueError, match="save_every=1"):
        dh.crossings(dh.simulate(PENDULUM, [1.2], [0.0], h=0.1, steps=10, save_every=2), angle)
    with pytest.raises(ValueError, match="a reference motion has none"):
        dh.crossings(dh.reference(PENDULUM, [1.2], [0.0], t=1.0), angle)
    leaping = dh.simulate(S.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.1, steps=10, scheme=dh.Leapfrog())
    with pytest.raises(ValueError, match="done again from its first node"):
        dh.crossings(leaping.replace(q=leaping.q + 0.1 * leaping.t[:, None]), forward)
    with pytest.raises(ValueError, match="does not come back"):
        dh.section(PENDULUM, [0.0], [0.0], never, h=0.1, count=1)
    with pytest.raises(ValueError, match="one number"):
        dh.crossings(run(0.1, 10), lambda q, xi: q)
    assert len(dh.crossings(run(0.1, 5), lambda q, xi: q[0] + 100)) == 0


def high(q, xi):
    return q[0] - 1.19 + 0 * xi[0]


def squared(q, xi):
    return 2.0 * q[0] ** 2 + 0 * xi[0]


def forward(q, xi):
    return xi[1]


def never(q, xi):
    return q[0] + 1.0


def test_two_crossings_within_one_step_are_both_found():
    """Above 1.19 of an amplitude 1.2 a swing stays 0.29 (2 sqrt(2 x 0.01 / sin 1.2)): steps of 0.5 often jump over."""
    coarse, fine = dh.crossings(run(0.5, 240), high), dh.crossings(run(0.02, 6000), high)
    turns = len(dh.crossings(run(0.5, 240), angle, sense=1))
    assert len(fine) in (2 * turns - 1, 2 * turns, 2 * turns + 1)
    assert abs(len(coarse) - len(fine)) <= 2 * 2  # periods differ by h^2
    within = np.flatnonzero(np.diff(coarse.step) == 0)
    assert len(within) > 3  # pairs that a look at the nodes alone would miss
    assert np.array_equal(coarse.sense[within], np.ones(len(within)))
    assert np.array_equal(coarse.sense[within + 1], -np.ones(len(within)))
    assert np.max(np.abs(coarse.value)) < 1e-14
    assert np.all(np.diff(coarse.t) > 0)
    assert np.array_equal(coarse.sense[1:], -coarse.sense[:-1])
    first = within[0]
    length = coarse.t[first] - 0.5 * coarse.step[first]
    trajectory = run(0.5, 240)
    node = coarse.step[first]
    one = dh.simulate(PENDULUM, trajectory.q[node], trajectory.xi[node], h=length, steps=1)
    assert one.q[-1] == pytest.approx([1.19], abs=1e-14)


def test_a_touch_is_told_from_a_crossing():
    """2 q^2 >= 0 touches zero where q crosses it; shifted by 1e-9 up it does not, and down it crosses twice."""
    trajectory = run(0.3, 100)
    passages, touches = dh.crossings(trajectory, angle), dh.crossings(trajectory, squared)
    assert len(touches) == len(passages)
    assert set(touches.sense) == {0}
    assert touches.t == pytest.approx(passages.t, abs=1e-12)
    assert len(dh.crossings(trajectory, squared, sense=1)) == 0
    assert len(dh.crossings(trajectory, lambda q, xi: 2.0 * q[0] ** 2 + 1e-9 + 0 * xi[0])) == 0
    pairs = dh.crossings(trajectory, lambda q, xi: 2.0 * q[0] ** 2 - 1e-9 + 0 * xi[0])
    assert np.array_equal(pairs.sense, np.tile([-1, 1], len(passages)))


def test_zeros_on_a_node():
    """A free particle that starts on the section is not crossing it; one that lands on it crosses or touches once."""
    free = dh.from_velocities(lambda q, v: 0.5 * v @ v, line, 1)
    trajectory = dh.simulate(free, [-1.0], [0.5], h=1.0, steps=4)  # nodes -1, -1/2, 0, 1/2, 1
    found = dh.crossings(trajectory, lambda q, xi: q[0] + 0 * xi[0])
    assert (found.t.tolist(), found.sense.tolist()) == ([2.0], [1])
    assert dh.crossings(trajectory, lambda q, xi: q[0] ** 2 + 0 * xi[0]).sense.tolist() == [0]
    assert len(dh.crossings(trajectory, lambda q, xi: q[0] + 1.0 + 0 * xi[0])) == 0


@pytest.mark.parametrize("way", ["leapfrog", "varying steps"])
def test_crossings_of_schemes_that_remember_more_than_the_nodes(way):
    """The sleigh turns about: its forward speed changes sign once. Against the reference, to the schemes' order."""
    sleigh, start = S.ChaplyginSleigh(), ([0.1, 0, 0], [1.5, -0.6])
    times, errors = [], []
    exact = dh.reference(sleigh, *start, t=np.linspace(0, 3, 3001))
    k = np.flatnonzero(np.diff(np.sign(exact.xi[:, 1])))[0]
    expected = np.interp(0.0, exact.xi[k : k + 2, 1], exact.t[k : k + 2])
    for h in (0.1, 0.05, 0.025):
        if way == "leapfrog":
            trajectory = dh.simulate(sleigh, *start, h=h, steps=100, scheme=dh.Leapfrog())
        else:
            trajectory = dh.simulate(
                sleigh, *start, h=h, scheme=dh.TimeTransformed(dh.DiscreteHamel(), pace), steps=100
            )
        found = dh.crossings(trajectory, forward)
        assert len(found) == 1
        assert abs(found.value[0]) < 1e-14
        assert found.sense[0] == 1
        assert trajectory.t[found.step[0]] < found.t[0] <= trajectory.t[found.step[0] + 1]
        times.append(found.t[0])
        errors.append(abs(found.t[0] - expected))
    assert np.diff(np.log2(errors)) == pytest.approx([-2, -2], abs=0.2)


def pace(q, xi):
    return 1.0 / (1 + 0.3 * xi[0] ** 2)


def shorter_when_fast(q, xi):
    return 0.05 / (1 + xi[1] ** 2)


def test_a_section_of_steps_that_vary():
    """The same section by a step given as a function of where the motion is: the same points, to the orders of both."""
    pendulum = S.SphericalPendulumAngles()
    start = [0.3, 0.0], [0.1, 0.4]
    even = dh.section(pendulum, *start, forward_turn, h=0.01, count=5)
    varying = dh.section(pendulum, *start, forward_turn, h=shorter_when_fast, count=5)
    assert varying.t == pytest.approx(even.t, rel=2e-3)
    assert np.max(np.abs(varying.value)) < 1e-13
    assert np.all(np.diff(varying.t) > 0)


def forward_turn(q, xi):
    return xi[0]


@pytest.mark.parametrize("h", [0.05, 0.3])
def test_exponents_at_the_top_are_logarithms_of_the_multipliers(h):
    """Upside down: rates +-1, multipliers (1 +- h/2)/(1 -+ h/2); hanging, none. Rest upside down is not quite at rest
    in floating point: sin(pi) is 1e-16, which grows by exp(h steps) and must stay small."""
    found = dh.lyapunov_exponents(PENDULUM, [np.pi], [0.0], h=h, steps=40, discard=20, every=5)
    rate = np.log((1 + h / 2) / (1 - h / 2)) / h
    turned = np.exp(-2 * 20 * h * rate) / (40 * h)  # of the vectors, still to turn after what was discarded
    assert found.values == pytest.approx([rate, -rate], rel=1e-6, abs=2 * turned)
    hanging = dh.lyapunov_exponents(PENDULUM, [0.0], [0.0], h=h, steps=400)
    assert np.max(np.abs(hanging.values)) < 2 / (400 * h)


def test_redundant_coordinates_bring_no_exponents():
    """Steady spin about the middle axis: six exponents, +-log of Cayley of spin sqrt((I2-I1)(I3-I2)/(I1 I3)), 0 x 4."""
    h, spin = 0.1, 1.7
    found = dh.lyapunov_exponents(S.RigidBody(), np.eye(3).ravel(), [0, spin, 0], h=h, steps=200, discard=50)
    rate = spin * np.sqrt(1 / 3)
    expected = np.log((1 + h * rate / 2) / (1 - h * rate / 2)) / h
    assert found.values.shape == (6,)
    assert found.values[0] == pytest.approx(expected, rel=1e-2)
    assert found.values[-1] == pytest.approx(-expected, rel=1e-2)
    assert np.max(np.abs(found.values[1:-1])) < 5 / (200 * h)  # such means settle like log(t)/t
    assert abs(np.sum(found.values)) < 1e-9


def test_chaos_of_a_heavy_top_and_none_of_a_symmetric_one():
    """An asymmetric heavy top has a positive exponent, and as many negative; Lagrange's top has none to speak of."""
    c, s = np.cos(1.2), np.sin(1.2)
    q, xi = np.array([1.0, 0, 0, 0, c, -s, 0, s, c]), [1.0, 0.5, 2.0]
    wild = S.HeavyTop((1.0, 1.5, 0.6), (2.0, 0.0, 3.0))
    tame = S.HeavyTop((1.0, 1.0, 0.6), (0.0, 0.0, 3.0))
    chaotic, regular = (
        dh.lyapunov_exponents(top, q, xi, h=0.05, steps=20_000, discard=1000, count=6) for top in (wild, tame)
    )
    assert chaotic.values[0] > 0.05
    assert regular.values[0] < 0.02
    assert chaotic.values[0] == pytest.approx(-chaotic.values[-1], rel=0.05)
    assert "moved them" in repr(chaotic)


def test_refusals_of_exponents():
    with pytest.raises(ValueError, match="multiples of every"):
        dh.lyapunov_exponents(PENDULUM, [0.0], [0.0], h=0.1, steps=15)
    with pytest.raises(ValueError, match="has 2 dimensions"):
        dh.lyapunov_exponents(PENDULUM, [0.0], [0.0], h=0.1, steps=10, count=3)
