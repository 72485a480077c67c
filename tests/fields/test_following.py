"""The string that cannot move sideways, alone and drawn by a sleigh: [HE] Examples 4.1 and 4.2."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import discrete_hamel as dh
from discrete_hamel.fields import ConstrainedString, SleighWithString

SPEED = 1.3
vector_field = jax.jit(dh.vector_field)


def heading(distance):
    return 0.8 * jnp.sin(3 * distance)


def track(distance):
    """phi: the front's place after that distance, and the string's at the start, behind it."""
    parts = [quad(lambda a, f=f: f(0.8 * np.sin(3 * a)), 0, distance, epsabs=1e-12)[0] for f in (np.cos, np.sin)]
    return complex(*parts)


def behind(string):
    return string.behind(lambda s: 0.8 * np.sin(3 * (s - 1)), SPEED)


def slope(errors):
    return np.diff(-np.log2(errors))


@pytest.fixture(scope="module")
def run():
    string = ConstrainedString(points=5, heading=heading)
    return dh.simulate(string, **behind(string), h=0.05, steps=100, compiled=False)


def test_all_points_have_one_constant_speed(run):
    """At nodes and on intervals, whatever the shape; one string of three points shows that unequal links would not."""
    string = run.system
    speeds = np.abs(np.asarray(jax.vmap(string.moved)(jnp.asarray(run.q), jnp.asarray(run.xi))))
    assert np.max(np.abs(speeds - SPEED)) < 1e-12 * 100**0.5
    places = np.asarray(jax.vmap(string.places)(jnp.asarray(run.q)))
    went = np.abs(np.diff(places, axis=0)) / 0.05
    assert np.max(np.ptp(went, axis=1)) < 1e-12
    assert np.max(run.invariants()["stretch"]) < 1e-13
    shape = np.angle(places[:, 0] - places[:, -1])
    assert np.ptp(shape) > 0.5


def test_sideways_velocity_vanishes_on_every_link(run):
    string = run.system
    middle = 0.5 * (run.q[1:] + run.q[:-1])
    links = np.asarray(jax.vmap(string.links)(jnp.asarray(middle)))
    places = np.asarray(jax.vmap(string.places)(jnp.asarray(run.q)))
    v = np.diff(places, axis=0) / 0.05
    mean = 0.5 * (v[:, 1:] + v[:, :-1])
    assert np.max(np.abs((np.conj(links) * mean).imag)) < 1e-12
    assert np.max(np.abs((np.conj(links) * v[:, 1:]).imag)) > 1e-3  # of a point itself it does not


def test_the_string_follows_its_front_to_second_order():
    errors = []
    for count in (9, 17):
        string = ConstrainedString(points=count, heading=heading)
        h = 0.5 / ((count - 1) * SPEED)
        run = dh.simulate(string, **behind(string), h=h, steps=3 * (count - 1), compiled=False)
        z = np.asarray(string.places(jnp.asarray(run.q[-1])))
        gone = SPEED * run.t[-1]
        assert gone == pytest.approx(1.5)
        errors.append(np.max(np.abs(z - [track(gone - s) for s in np.linspace(0, 1, count)])))
    assert slope(errors)[-1] == pytest.approx(2, abs=0.1)


def test_tension_is_linear_along_a_pulled_string():
    """(4.5): lambda_s = xi', which is the pull over the mass; zero at the tail, the pull at the front."""
    errors = []
    for count in (17, 33):
        string = ConstrainedString(points=count, heading=heading, pull=0.7, mass=0.9)
        start = behind(string)
        s = 1 - (np.arange(count - 1) + 0.5) / (count - 1)
        errors.append(np.max(np.abs(np.asarray(string.tension(start["q"], start["xi"])) - 0.7 * s)))
        rate = vector_field(string, start["q"], start["xi"])[1]
        assert float(rate[0]) == pytest.approx(0.7 / 0.9, rel=1e-12)
    assert errors[0] > 1e-3
    assert slope(errors)[-1] == pytest.approx(2, abs=0.1)
    straight = ConstrainedString(points=5, heading=lambda d: 0.3, pull=0.7)
    start = straight.behind(lambda s: 0.3, SPEED)
    s = 1 - (np.arange(4) + 0.5) / 4
    np.testing.assert_allclose(straight.tension(start["q"], start["xi"]), 0.7 * s, atol=1e-13)


def test_what_initial_data_do_not_determine_is_refused():
    with pytest.raises(ValueError, match="not determined by its initial state"):
        ConstrainedString().sample()
    string = ConstrainedString(points=5, heading=heading)
    with pytest.raises(ValueError, match="not determined by its initial state"):
        dh.simulate(ConstrainedString(points=5), **behind(string), h=0.1, steps=1)
    with pytest.raises(ValueError, match="must be positive"):
        string.behind(lambda s: 0.0, -1.0)
    with pytest.raises(ValueError, match=r"angle\(length\) = 0.2 rad .* heading\(0\) = 0 rad, -0.2 rad to the side"):
        string.behind(lambda s: 0.2 * s, 1.0)
    string.behind(lambda s: 2 * np.pi * s, 1.0)  # once round is no kink
    with pytest.raises(ValueError, match="must be positive"):
        SleighWithString().drawing(lambda s: 0.0, omega=1.0, v=-1.0)


def test_two_fronts_from_one_state():
    """The same initial state goes two ways, with the front's: purely kinematic, [HE] after (4.6)."""
    ends = []
    for bend in (0.0, 1.0):
        string = ConstrainedString(points=5, heading=lambda d, bend=bend: bend * d)
        start = string.behind(lambda s: 0.0, 1.0)
        ends.append((start, dh.simulate(string, **start, h=0.1, steps=10, compiled=False).q[-1]))
    np.testing.assert_array_equal(ends[0][0]["q"], ends[1][0]["q"])
    assert np.max(np.abs(ends[0][1] - ends[1][1])) > 0.1


@pytest.fixture(scope="module")
def circling():
    sleigh = SleighWithString(points=5, mass=0.8, string_mass=0.6)
    start = sleigh.drawing(lambda s: 0.6 * np.sin(np.pi * (s - 1)), omega=1.5, v=1.0)
    return dh.simulate(sleigh, **start, h=0.05, steps=80, compiled=False)


def test_the_sleigh_with_a_string_goes_round_a_circle(circling):
    exact = 1e-12 * 80**0.5
    assert np.max(np.abs(circling.xi[:, :2] - [1.5, 1.0])) < exact
    z = circling.q[:, 1] + 1j * circling.q[:, 2]
    radius = 0.05 / (2 * np.sin(1.5 * 0.05 / 2))  # of the circle through points whose chords v h turn by omega h
    centre = z[0] + 1j * radius
    assert np.max(np.abs(np.abs(z - centre) - radius)) < exact
    assert abs(radius - 1 / 1.5) < 1.5 * 0.05**2 / 24 * 1.1


def test_it_goes_straight_without_a_turn():
    sleigh = SleighWithString(points=5)
    start = sleigh.drawing(lambda s: 0.0, omega=0.0, v=1.0, theta=0.0)
    run = dh.simulate(sleigh, **start, h=0.05, steps=40, compiled=False)
    np.testing.assert_allclose(run.q[:, 1], run.t, atol=1e-12)
    assert np.max(np.abs(run.q[:, 2])) < 1e-13
    assert np.max(np.abs(sleigh.tension(run.q[-1], run.xi[-1]))) < 1e-12


def test_the_string_ends_on_the_sleighs_track():
    """Off it at first; once the sleigh has gone the string's length, on it to O(ds^2) or better.

    Better, because the circle that the string settles on is a relative equilibrium, which the scheme has exactly.
    """
    late = []
    for count in (5, 9, 17):
        sleigh = SleighWithString(points=count)
        start = sleigh.drawing(lambda s: 0.6 * np.sin(np.pi * (s - 1)), omega=1.5, v=1.0)
        h = 0.5 / (count - 1)
        run = dh.simulate(sleigh, **start, h=h, steps=3 * (count - 1), save_every=count - 1, compiled=False)
        radius = h / (2 * np.sin(1.5 * h / 2))
        z = np.asarray(jax.vmap(sleigh.places)(jnp.asarray(run.q)))
        off = np.max(np.abs(np.abs(z - 1j * radius) - radius), axis=1)
        assert off[0] > 0.1
        late.append(off[-1])
        assert off[-1] < (1 / (count - 1)) ** 2
    assert np.all(slope(late) > 1.7)


def test_the_coupling_and_the_tension():
    """(4.10)-(4.12): the string's velocity at the sleigh; lambda = (s - 1) eta' under a pull, 0 without."""
    without, under = [], []
    for count in (5, 9, 17):
        s = (np.arange(count - 1) + 0.5) / (count - 1)  # from the sleigh, as in the paper
        sleigh = SleighWithString(points=count, mass=0.8, string_mass=1.0)
        start = sleigh.drawing(lambda s: 1.5 * (s - 1), omega=1.5, v=1.0)
        without.append(np.max(np.abs(sleigh.tension(start["q"], start["xi"]))))
        pulled = sleigh.replace(pull=1.8)
        rate = float(vector_field(pulled, start["q"], start["xi"])[1][1])
        assert rate == pytest.approx(1.0, rel=1e-12)  # (m + 1) v' = pull
        # [HE] has the string ahead of the sleigh, so its eta' is -v' here.
        under.append(np.max(np.abs(np.asarray(pulled.tension(start["q"], start["xi"])) - (s - 1) * -rate)))
        first = np.asarray(sleigh.moved(jnp.asarray(start["q"]), jnp.zeros(2 * count + 1).at[:2].set(1.5)))[0]
        assert first == pytest.approx(1.5 * np.exp(1j * start["q"][0]))
    assert slope(without)[-1] == pytest.approx(2, abs=0.1)
    assert slope(under)[-1] == pytest.approx(2, abs=0.1)


def test_the_plane_may_be_moved():
    """SE(2): a turned and shifted start gives the turned and shifted motion, and the generators keep l."""
    sleigh = SleighWithString(points=5)
    start = sleigh.drawing(lambda s: 0.5 * s - 0.5, omega=1.5, v=1.0)
    turned = sleigh.drawing(lambda s: 0.5 * s + 0.3, omega=1.5, v=1.0, theta=0.8, place=(1.0, -2.0))
    a, b = (dh.simulate(sleigh, **d, h=0.05, steps=20, compiled=False) for d in (start, turned))
    za, zb = (np.asarray(sleigh.places(jnp.asarray(run.q[-1]))) for run in (a, b))
    np.testing.assert_allclose(zb, za * np.exp(0.8j) + (1 - 2j), atol=1e-12)
    q, xi = jnp.asarray(a.q[3]), jnp.asarray(a.xi[3]) + 0.1
    for generator in sleigh.symmetries().values():
        _, change = jax.jvp(lambda q: sleigh.lagrangian(q, xi), (q,), (generator(q),))
        assert abs(float(change)) < 1e-12
