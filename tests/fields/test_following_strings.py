"""The string that cannot move sideways, alone and drawn by a sleigh: [HE] Examples 4.1 and 4.2."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dense_equations import is_the_discrete_hamel_map
from scipy.integrate import quad

import discrete_hamel as dh
from discrete_hamel.fields import ConstrainedString, LinkByLink, SleighWithString
from discrete_hamel.mechanics import hamel

FAST = LinkByLink()
SPEED = 1.3


def heading(distance):
    """Of the front, and of the string behind it, where no derivative of it vanishes."""
    return 0.8 * jnp.sin(3 * distance + 0.4)


def track(distance):
    """phi: the front's place after that distance, and the string's at the start, behind it."""
    parts = [quad(lambda a, f=f: f(0.8 * np.sin(3 * a + 0.4)), 0, distance, epsabs=1e-12)[0] for f in (np.cos, np.sin)]
    return complex(*parts)


def behind(string):
    return string.behind(lambda s: 0.8 * np.sin(3 * (s - 1) + 0.4), SPEED)


def tension_at_most(ds, curvature, density, speed, rate):
    """How far off linear the tension may be, to leading order: with links that turn by 2a = ds curvature each, the tail
    beyond a link has cos(a) of its acceleration along it, and sin(a) of m v times its turning rate from point to point.
    """
    return ds**2 * curvature**2 * density * (speed**2 / 4 + rate / 8)


def slope(errors):
    return np.diff(-np.log2(errors))


@pytest.fixture(scope="module")
def run():
    string = ConstrainedString(points=5, heading=heading)
    return dh.simulate(string, **behind(string), h=0.05, steps=100, scheme=FAST)


def test_all_points_have_one_constant_speed(run):
    """At nodes and on intervals, whatever the shape; one string of three points shows that unequal links would not."""
    string = run.system
    speeds = np.abs(np.asarray(jax.vmap(string.point_velocities)(jnp.asarray(run.q), jnp.asarray(run.xi))))
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
        run = dh.simulate(string, **behind(string), h=h, steps=3 * (count - 1), scheme=FAST)
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
        assert errors[-1] < tension_at_most(1 / (count - 1), 2.4, 0.9, SPEED, 0.7 / 0.9)
    assert errors[0] > 1e-3
    assert slope(errors)[-1] == pytest.approx(2, abs=0.1)
    straight = ConstrainedString(points=5, heading=lambda d: 0.3, pull=0.7)
    start = straight.behind(lambda s: 0.3, SPEED)
    s = 1 - (np.arange(4) + 0.5) / 4
    np.testing.assert_allclose(straight.tension(start["q"], start["xi"]), 0.7 * s, atol=1e-13)


def test_tension_along_a_run():
    """(4.5), in the middle of intervals, once the string lies where its front has gone; at nodes it is of first order.

    The speed grows as pull t / mass, to round-off; sharp curves, links drawn half their length a step.
    """
    inside, at_nodes = [], []
    for count in (9, 17):
        string = ConstrainedString(points=count, heading=heading, pull=0.7, mass=0.9)
        h = 0.5 / ((count - 1) * SPEED)
        run = dh.simulate(string, **behind(string), h=h, steps=3 * (count - 1), scheme=FAST)
        np.testing.assert_allclose(run.xi[:, 0], SPEED + 0.7 / 0.9 * run.t, atol=1e-12)
        s = 1 - (np.arange(count - 1) + 0.5) / (count - 1)
        middle = 0.5 * (run.q[1:] + run.q[:-1])
        late = range(2 * (count - 1), len(middle), 2)
        misses = [np.max(np.abs(string.tension(middle[k], run.xi_mid[k]) - 0.7 * s)) for k in late]
        inside.append(max(misses))
        at_nodes.append(max(np.max(np.abs(string.tension(run.q[k], run.xi[k]) - 0.7 * s)) for k in late))
        assert inside[-1] < tension_at_most(1 / (count - 1), 2.4, 0.9, run.xi[-1, 0], 0.7 / 0.9)
    assert slope(inside)[-1] == pytest.approx(2, abs=0.1)
    assert slope(at_nodes)[-1] == pytest.approx(1, abs=0.2)


def test_the_tension_against_lagranges_multipliers():
    """Newton's equations of the points, with the constraints' rows and their rates, solved by NumPy as they stand."""
    string = ConstrainedString(points=5, heading=heading, pull=0.7, mass=0.9)
    q, ds = behind(string)["q"], 0.25
    z, v = (np.asarray(f) for f in (string.places(q), string.point_velocities(q, SPEED * np.eye(11)[0])))
    e, turning = -np.diff(z) / ds, -np.diff(v) / ds
    ahead, n = np.exp(1j * heading(q[0])), 5
    bend = float(jax.grad(heading)(q[0])) * SPEED
    rows, rates = np.zeros(
        (2, 9, n), complex
    )  # of sum Re(conj(row) v) = 0: the front, then each link, across and along
    rows[0, 0], rates[0, 0] = 1j * ahead, -bend * ahead
    for k in range(n - 1):
        rows[1 + k, [k, k + 1]], rates[1 + k, [k, k + 1]] = 0.5j * e[k], 0.5j * turning[k]
        rows[n + k, [k, k + 1]], rates[n + k, [k, k + 1]] = [e[k], -e[k]], [turning[k], -turning[k]]
    a, b = (np.hstack([r.real, r.imag]) for r in (rows, rates))
    m = np.diag(np.tile(np.asarray(string.masses()), 2))
    whole = np.block([[m, -a.T], [a, np.zeros((9, 9))]])
    force = np.zeros(10)
    force[[0, n]] = 0.7 * ahead.real, 0.7 * ahead.imag
    multipliers = np.linalg.solve(whole, np.concatenate([force, -b @ np.concatenate([v.real, v.imag])]))[10:]
    np.testing.assert_allclose(string.tension(q, [SPEED]), -multipliers[n:], atol=1e-12)
    assert np.max(np.abs(multipliers)) > 0.1


FOLLOWING = [
    pytest.param(ConstrainedString(points=5, heading=heading, pull=0.7, mass=0.9), id="string"),
    pytest.param(SleighWithString(points=5, pull=0.4, mass=0.8), id="sleigh"),
]


@pytest.mark.parametrize("system", FOLLOWING)
def test_the_linear_step_is_the_discrete_hamel_map(system):
    start = behind(system) if system.rank == 1 else system.sample()
    is_the_discrete_hamel_map(dh.simulate(system, start["q"], start["xi"], h=0.05, steps=30, scheme=FAST))


class ByMatrix(SleighWithString):
    """Who says the frame anew loses the maps of the frame before, here to the same matrix."""

    def frame(self, q):
        return jax.jacfwd(lambda xi: SleighWithString.velocity(self, q, xi))(jnp.zeros(2 * self.points + 1))


def test_hamels_equations_by_maps():
    """Brackets and forces off the constraint too, reactions on it: against frame and structure."""
    system = SleighWithString(points=3, pull=0.4, mass=0.8)
    q = jnp.asarray(system.drawing(lambda s: 0.9 * (s - 1), omega=1.5, v=1.0)["q"])
    xi = jnp.asarray(np.random.default_rng(1).normal(size=7))
    dense = ByMatrix(points=3, pull=0.4, mass=0.8)
    assert system.frame_is_a_map
    assert not dense.frame_is_a_map
    for a, b in zip(jax.jit(hamel._balance)(dense, q, xi), jax.jit(hamel._balance)(system, q, xi), strict=True):
        np.testing.assert_allclose(b, a, atol=1e-12 * np.max(np.abs(a)))
    free = xi[: system.rank]
    np.testing.assert_allclose(
        jax.jit(dh.reactions)(system, q, free), jax.jit(dh.reactions)(dense, q, free), atol=1e-12
    )


def test_what_initial_data_do_not_determine_is_refused():
    with pytest.raises(ValueError, match="not determined by its initial state"):
        ConstrainedString().sample()
    string = ConstrainedString(points=5, heading=heading)
    with pytest.raises(ValueError, match="not determined by its initial state"):
        dh.simulate(ConstrainedString(points=5), **behind(string), h=0.1, steps=1)
    with pytest.raises(ValueError, match="must be positive"):
        string.behind(lambda s: 0.0, -1.0)
    string = ConstrainedString(points=5, heading=lambda d: d)
    with pytest.raises(ValueError, match=r"angle\(length\) = 0.2 rad .* heading\(0\) = 0 rad, -0.2 rad to the side"):
        string.behind(lambda s: 0.2 * s, 1.0)
    string.behind(lambda s: 2 * np.pi * s, 1.0)  # once round is no kink
    with pytest.raises(ValueError, match="must be positive"):
        SleighWithString().drawing(lambda s: 0.0, omega=1.0, v=-1.0)
    with pytest.raises(ValueError, match=r"angle\(length\) = 0 rad .* goes at theta = 0.5 rad, 0.5 rad to the side"):
        SleighWithString().drawing(lambda s: 0.0, omega=1.0, v=1.0, theta=0.5)


def test_two_fronts_from_one_state(run):
    """The same initial state goes two ways, with the front's: purely kinematic, [HE] after (4.6)."""
    string = run.system.replace(heading=lambda d: heading(d) + d)
    other = dh.simulate(string, **behind(string), h=0.05, steps=20, scheme=FAST)
    np.testing.assert_array_equal(other.q[0], run.q[0])
    assert np.max(np.abs(other.q[20] - run.q[20])) > 0.1


@pytest.fixture(scope="module")
def circling():
    sleigh = SleighWithString(points=5, mass=0.8, string_mass=0.6)
    start = sleigh.drawing(lambda s: 0.6 * np.sin(np.pi * (s - 1)), omega=1.5, v=1.0)
    return dh.simulate(sleigh, **start, h=0.05, steps=80, scheme=FAST)


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
    run = dh.simulate(sleigh, **start, h=0.05, steps=40, scheme=FAST)
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
        run = dh.simulate(sleigh, **start, h=h, steps=3 * (count - 1), save_every=count - 1, scheme=FAST)
        radius = h / (2 * np.sin(1.5 * h / 2))
        z = np.asarray(jax.vmap(sleigh.places)(jnp.asarray(run.q)))
        off = np.max(np.abs(np.abs(z - 1j * radius) - radius), axis=1)
        assert off[0] > 0.1
        late.append(off[-1])
        assert off[-1] < (1 / (count - 1)) ** 2
    assert np.all(slope(late) > 1.7)


def test_the_coupling_and_the_tension():
    """(4.10)-(4.12): the string's velocity at the sleigh; lambda = (s - 1) eta' under a pull, 0 without.

    To first order only where the string's curvature at the sleigh is not omega / v.
    """
    without, under, bent, rate = [], [], [], 1.8 / (0.8 + 1.0)  # (m + 1) v' = pull
    for count in (5, 9, 17):
        s = (np.arange(count - 1) + 0.5) / (count - 1)  # from the sleigh, as in the paper
        sleigh = SleighWithString(points=count, mass=0.8, string_mass=1.0)
        start = sleigh.drawing(lambda s: 1.5 * (s - 1) + 0.7 * (s - 1) ** 2, omega=1.5, v=1.0)
        without.append(np.max(np.abs(sleigh.tension(start["q"], start["xi"]))))
        pulled = sleigh.replace(pull=1.8)
        # [HE] has the string ahead of the sleigh, so its eta' is -v' here.
        under.append(np.max(np.abs(np.asarray(pulled.tension(start["q"], start["xi"])) - (s - 1) * -rate)))
        assert under[-1] < tension_at_most(1 / (count - 1), 1.5, 1.0, 1.0, rate)
        bend = sleigh.drawing(lambda s: 0.3 * (s - 1), omega=1.5, v=1.0)
        bent.append(np.max(np.abs(sleigh.tension(bend["q"], bend["xi"]))))
        first = np.asarray(sleigh.point_velocities(jnp.asarray(start["q"]), jnp.zeros(2 * count + 1).at[:2].set(1.5)))[
            0
        ]
        assert first == pytest.approx(1.5 * np.exp(1j * start["q"][0]))
    assert float(dh.vector_field(pulled, start["q"], start["xi"])[1][1]) == pytest.approx(rate, rel=1e-12)
    assert slope(without)[-1] == pytest.approx(2, abs=0.1)
    assert slope(under)[-1] == pytest.approx(2, abs=0.1)
    assert slope(bent)[-1] == pytest.approx(1, abs=0.2)


def test_the_plane_may_be_moved():
    """SE(2): a turned and shifted start gives the turned and shifted motion, and the generators keep l."""
    sleigh = SleighWithString(points=5)
    start = sleigh.drawing(lambda s: 0.5 * s - 0.5, omega=1.5, v=1.0)
    turned = sleigh.drawing(lambda s: 0.5 * s + 0.3, omega=1.5, v=1.0, theta=0.8, place=(1.0, -2.0))
    a, b = (dh.simulate(sleigh, **d, h=0.05, steps=20, scheme=FAST) for d in (start, turned))
    za, zb = (np.asarray(sleigh.places(jnp.asarray(run.q[-1]))) for run in (a, b))
    np.testing.assert_allclose(zb, za * np.exp(0.8j) + (1 - 2j), atol=1e-12)
    q, xi = jnp.asarray(a.q[3]), jnp.asarray(a.xi[3]) + 0.1
    for generator in sleigh.symmetries().values():
        _, change = jax.jvp(lambda q: sleigh.lagrangian(q, xi), (q,), (generator(q),))
        assert abs(float(change)) < 1e-12
