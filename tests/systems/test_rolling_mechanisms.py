"""Mechanisms that roll, against the Whipple benchmark, systems written by hand, and closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from multipliers import accelerations, motion
from whipple import TABLE, eigenvalues_at

import discrete_hamel as dh

m = dh.mechanisms
DOWN = np.diag([1.0, -1.0, -1.0])  # the benchmark's z points down
HUB, FOOT = np.array([0, 0, 0.3]), np.array([1.1, 0, 0])  # of the rear wheel; where the steering axis meets the ground
LEAN, STEER, SPIN = 3, 6, 5


def bicycle(gravity=9.81):
    """Meijaard, Papadopoulos, Ruina & Schwab (2007), table 1."""
    of_frame, of_fork = np.array([[9.2, 0, 2.4], [0, 11, 0], [2.4, 0, 2.8]]), np.diag([0.05892, 0.06, 0.00708])
    of_fork[0, 2] = of_fork[2, 0] = -0.00756
    tilt = np.pi / 10
    return m.mechanism(
        m.Body("track", m.Planar()),
        m.Body("lean", m.Hinge("x"), on="track"),
        m.Body("frame", m.Hinge("y"), on="lean", at=HUB, mass=85, centre=(0.3, 0, 0.6), inertia=DOWN @ of_frame @ DOWN),
        m.Body("rear", m.Hinge("y"), on="frame", mass=2, inertia=(0.0603, 0.12, 0.0603)),
        m.Body("fork", m.Hinge((np.sin(tilt), 0, -np.cos(tilt))), on="frame", at=FOOT - HUB, mass=4,
               centre=(-0.2, 0, 0.7), inertia=DOWN @ of_fork @ DOWN),
        m.Body("front", m.Hinge("y"), on="fork", at=(1.02 - 1.1, 0, 0.35), mass=3, inertia=(0.1405, 0.28, 0.1405)),
        m.Wheel("rear", 0.3),
        m.Wheel("front", 0.35),
        gravity=gravity,
    )  # fmt: skip


@jax.jit
def linearised(held, speed):
    """M, and the rates of (lean', steer') by (lean, steer) and by (lean', steer'), of upright motion at a speed."""
    pick = jnp.eye(8)[jnp.array([LEAN, STEER, SPIN])]

    def fields(q):
        rows = jnp.concatenate([held.rows(q), pick])
        return jnp.linalg.solve(rows, jnp.zeros((8, 3)).at[5:].set(jnp.eye(3)))

    def rates(lean_and_steer, turning):
        q = jnp.zeros(8).at[jnp.array([LEAN, STEER])].set(lean_and_steer)
        v = fields(q) @ jnp.append(turning, speed / 0.3)
        return held_accelerations(held, q, v)[jnp.array([LEAN, STEER])]

    u = fields(jnp.zeros(8))
    mass = u.T @ jax.hessian(held.lagrangian, 1)(jnp.zeros(8), jnp.zeros(8)) @ u
    return mass[:2, :2], *jax.jacfwd(rates, (0, 1))(jnp.zeros(2), jnp.zeros(2))


@jax.jit
def held_accelerations(held, q, v):
    """By Lagrange's multipliers, without any frame."""
    return accelerations(lambda q, v, held: held.lagrangian(q, v), lambda q, v, held: held.rows(q) @ v, q, v, held)[0]


@pytest.fixture(scope="module")
def whipple():
    return bicycle()


def test_the_bicycles_matrices_are_the_benchmarks(whipple):
    """M, C1, K0 and K2 of M q'' + v C1 q' + (g K0 + v^2 K2) q = 0, [Meijaard et al. 2007] (5.5)."""
    speed = 5.0
    mass, by_place, by_rate = (np.asarray(a) for a in linearised(whipple.params, speed))
    still = np.asarray(linearised(whipple.params, 0.0)[1])
    off = 2.31941332208709
    np.testing.assert_allclose(mass, [[80.81722, off], [off, 0.29784188199686]], atol=1e-10)
    c1 = [[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]]
    np.testing.assert_allclose(-mass @ by_rate / speed, c1, atol=1e-10)
    k0 = [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]
    np.testing.assert_allclose(-mass @ still / 9.81, k0, atol=1e-10)
    k2 = [[0, 76.59734589573222], [0, 2.65431523794604]]
    np.testing.assert_allclose(-mass @ (by_place - still) / speed**2, k2, atol=1e-10)


def eigenvalues(system, speed):
    _, by_place, by_rate = linearised(system.params, speed)
    return np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [by_place, by_rate]]))


def test_the_bicycles_eigenvalues_are_the_benchmarks(whipple):
    """[Meijaard et al. 2007] table 2; by hand and from constraints in test_bicycle.py."""
    for speed in (0, *TABLE):
        values = eigenvalues(whipple, float(speed))
        for value in eigenvalues_at(speed):
            assert np.min(np.abs(values - value)) < 1e-10 * max(1.0, abs(value))


def test_the_bicycles_weave_and_capsize_speeds_are_the_benchmarks(whipple):
    weave = eigenvalues(whipple, 4.29238253634111)
    assert np.abs(weave[np.abs(weave.imag) > 1].real).max() < 1e-10
    assert np.abs(eigenvalues(whipple, 6.02426201538837)).min() < 1e-10


def test_a_bicycle_knows_what_holds_it(whipple):
    """The rear wheel's height is built in; five slips are independent, so that three velocities are free."""
    labels = whipple.params.labels()
    assert [labels[i] for i in whipple.params.kept] == [
        "rear along", "rear across", "front along", "front across", "front up",
    ]  # fmt: skip
    q, v = m.initial(whipple, {"lean": 0.1, "fork": 0.2}, {"rear'": 15.0, "lean'": 0.0, "fork'": 0.0})
    assert q[LEAN] == 0.1
    assert q[STEER] == 0.2
    assert abs(q[4]) > 1e-4  # the frame pitches
    assert np.abs(whipple.gaps(q)).max() < 1e-12
    assert np.abs(whipple.params.slips(q, v)).max() < 1e-12
    assert whipple.at(q).rank == 3


def test_a_body_on_a_blade_is_a_sleigh():
    sleigh = m.mechanism(
        m.Body("sleigh", m.Planar(), mass=2.0, inertia=(0, 0, 0.7), centre=(0.4, 0, 0)), m.Blade("sleigh")
    )
    hand = dh.systems.ChaplyginSleigh(mass=2.0, inertia=0.7, offset=0.4)
    q, xi = jnp.array([0.3, 1.0, -2.0]), jnp.array([1.5, -0.3])
    v, wanted = motion(hand, q, xi)
    ready = sleigh.at(q)
    got = motion(ready, q, dh.quasivelocities(ready, q, v)[:2])
    np.testing.assert_allclose(got[0], v, atol=1e-14)
    np.testing.assert_allclose(got[1], wanted, atol=1e-12)
    runs = [dh.simulate(one, q, v=v, h=0.01, steps=100) for one in (sleigh, hand)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-4  # two schemes of order 2
    assert np.abs(runs[0].energy - runs[0].energy[0]).max() < 1e-5


def test_a_mass_of_what_rolls_has_a_gradient():
    box = m.Box((1.0, 0.5, 0.1), mass=2.0)
    sleigh = m.mechanism(m.Body("sleigh", m.Planar(), shape=box, centre=(0.4, 0, 0)), m.Blade("sleigh"))
    q, v = m.initial(sleigh, rates={"sleigh turning": 1.0, "sleigh forward": 0.5})
    ready = sleigh.at(q)

    def end(mass):
        tree = ready.tree.replace(mass=jnp.stack([mass]))
        changed = ready.replace(params=ready.params.replace(tree=tree))
        return dh.simulate(changed, q, v=v, h=0.02, steps=10, compiled=False).q[-1, 1]

    np.testing.assert_allclose(jax.grad(end)(2.0), (end(2.00001) - end(1.99999)) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize("tyre", [0.0, 0.1])
def test_a_wheel_on_a_free_body_is_a_rolling_body(tyre):
    """A disk and a torus in any attitude; the support function of a torus is R sin(theta) + r."""

    def support(c, sizes):
        return sizes[0] * jnp.sqrt(1 - c**2) + sizes[1]

    wheel = m.mechanism(
        m.Body("wheel", m.FreeByMatrix(), mass=1.5, inertia=(0.1, 0.1, 0.18)), m.Wheel("wheel", 0.5, tyre, axle="z")
    )
    hand = dh.systems.RollingBody(support, (0.5, tyre), mass=1.5, inertia_across=0.1, inertia_axis=0.18, gravity=9.81)
    turn = np.asarray(m.Ball.pose(None, np.array([0.6, 0.5, -0.4, 0.3]))[0]).reshape(9)
    xi = np.array([0.7, -0.5, 3.0])
    v, wanted = motion(hand, np.append(turn, [1.0, 2.0]), xi)
    order = np.array([9, 10, *range(9)])
    q = np.append([1.0, 2.0], turn)
    np.testing.assert_allclose(wheel.params.whole(q)[2], hand.height(turn[6:9]), atol=1e-14)
    found = held_accelerations(wheel.params, q, v[order])
    assert np.abs(wheel.params.rows(q) @ v[order]).max() < 1e-13
    np.testing.assert_allclose(found, wanted[order], atol=1e-10)


def robot():
    deck = m.Body("deck", m.Planar(), at=(0, 0, 0.1), shape=m.Box((0.5, 0.3, 0.1), mass=8.0))
    sides = [
        m.Body(name, m.Hinge("y"), on="deck", at=(0, y, 0), shape=m.Cylinder(0.1, 0.03, "y", mass=0.5))
        for name, y in (("left", 0.2), ("right", -0.2))
    ]
    fork = m.Body("fork", m.Hinge("z"), on="deck", at=(-0.2, 0, 0), mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    caster = m.Body(
        "caster", m.Hinge("y"), on="fork", at=(-0.04, 0, -0.06), shape=m.Cylinder(0.04, 0.02, "y", mass=0.1)
    )
    return m.mechanism(deck, *sides, fork, caster, m.Wheel("left", 0.1), m.Wheel("right", 0.1), m.Wheel("caster", 0.04))


def test_a_differential_drive_with_a_caster():
    """Two wheels on one axle slip sideways together: one row. What the wheels' rates are, the robot does."""
    drive = robot()
    labels = drive.params.labels()
    assert [labels[i] for i in drive.params.kept] == [
        "left along", "left across", "right along", "caster along", "caster across",
    ]  # fmt: skip
    q, v = m.initial(drive, {"fork": 2.0}, {"left'": 5.0, "right'": 7.0})
    assert drive.at(q).rank == 2
    np.testing.assert_allclose(v[:3], [0.1 * 2.0 / 0.4, 0.6, 0.0], atol=1e-12)  # R (right - left) / track, R mean
    assert drive.redundant is False
    with pytest.raises(ValueError, match="no velocity at which nothing slips has these rates"):
        m.initial(drive, {}, {"left'": 5.0, "right'": 7.0, "deck sideways": 1.0})


def test_a_ball_rolls_straight_and_pivots():
    """On a plane a homogeneous ball keeps its angular velocity, and x' = radius omega_y."""
    ball = m.mechanism(m.Body("ball", m.FreeByMatrix(), shape=m.Sphere(0.3, mass=2.0)), m.RollingBall("ball", 0.3))
    q, v = m.initial(ball, rates={"ball omega x": 0.5, "ball omega y": 2.0, "ball omega z": 1.0})
    np.testing.assert_allclose(v[:2], [0.6, -0.15], atol=1e-13)
    np.testing.assert_allclose(ball.params.whole(q)[2], 0.3, atol=1e-15)
    np.testing.assert_allclose(held_accelerations(ball.params, q, v)[:2], 0.0, atol=1e-12)


def test_a_loop_closed_by_a_pin():
    """A load that hangs on two parallel cranks moves like a pendulum of their length."""
    swing = m.mechanism(
        m.Body("left", m.Hinge("y"), at=(0, 0, 0)),
        m.Body("load", m.Hinge("y"), on="left", at=(0, 0, -2.0), mass=3.0, centre=(0.5, 0, 0), inertia=(0, 0.4, 0)),
        m.Body("right", m.Hinge("y"), at=(1, 0, 0)),
        m.Pin("load", "right", at=(1, 0, 0), there=(0, 0, -2.0)),
    )
    q, v = m.initial(swing, {"left": 0.7}, {"left'": 0.3})
    np.testing.assert_allclose(q, [0.7, -0.7, 0.7], atol=1e-12)
    ready = swing.at(q)
    _, rate = motion(ready, q, dh.quasivelocities(ready, q, v)[:1])
    np.testing.assert_allclose(rate, -9.81 / 2.0 * np.sin(0.7) * np.array([1, -1, 1]), atol=1e-11)
    run = dh.simulate(swing, q, v=v, h=0.05, steps=20, compiled=False)
    assert np.abs(jax.vmap(swing.gaps)(run.q)).max() < 1e-14  # held as positions, not as velocities only
    assert ready.redundant
    with pytest.raises(ValueError, match="off the holonomic constraints"):
        dh.simulate(swing, q + np.array([0, 0, 0.1]), v=np.zeros(3), h=0.01, steps=1)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ((m.Wheel("c", 0.1),), "a Wheel is on 'c', but there is no such body"),
        ((m.Wheel("a", 0.1),), "the gap of a up stays -0.1 wide"),
        ((m.RollingBall("b", 1.0), m.Pin("b", "a", there=(0, 0, 9.0))), "the mechanism cannot be put together"),
        (
            (m.Pin("b", "a", there=(0, 0, 1.0)), m.Blade("a"), m.Blade("a", at=(1.0, 0, 0)), m.Blade("a", along="y")),
            "the mechanism cannot move: 4 constraints that are independent hold its 4 coordinates: b and a in x",
        ),
    ],
)
def test_refusals_of_what_rolls(parts, sentence):
    bodies = m.Body("a", m.Planar(), mass=1.0), m.Body("b", m.Slide("x"), on="a", at=(0, 0, 1.0), mass=1.0)
    with pytest.raises(ValueError, match=sentence):
        m.mechanism(*bodies, *parts)


def _sled(mass, ahead):
    shape = m.Box((0.5, 0.3, 0.1), mass=mass)
    return m.Body("sled", m.Planar(), shape=shape, centre=(ahead, 0, 0)), m.Blade("sled")


def test_masses_and_sizes_may_be_traced_where_the_choice_of_constraints_is_given():
    sled = m.mechanism(*_sled(8.0, 0.1))
    q, v = m.initial(sled, rates={"sled turning": 1.0, "sled forward": 2.0})
    sled = sled.at(q)
    xi = dh.simulate(sled, q, v=v, h=0.05, steps=1).xi[0]

    def end(mass, ahead):
        return dh.simulate(m.mechanism(*_sled(mass, ahead), like=sled), q, xi=xi, h=0.05, steps=20).q[-1, 1]

    found = jax.grad(end, argnums=1)(8.0, 0.1)
    np.testing.assert_allclose(found, (end(8.0, 0.1 + 1e-5) - end(8.0, 0.1 - 1e-5)) / 2e-5, rtol=1e-6)
    together = jax.jit(jax.vmap(lambda ahead: end(8.0, ahead)))(jnp.array([0.1, 0.2]))
    np.testing.assert_allclose(together, [end(8.0, 0.1), end(8.0, 0.2)], rtol=1e-12)
    assert abs(together[0] - together[1]) > 1e-3
    with pytest.raises(ValueError, match="found at numbers, and JAX traces some"):
        jax.jit(lambda mass: m.mechanism(*_sled(mass, 0.1)).params.tree.mass)(8.0)
    with pytest.raises(ValueError, match="its contacts are others"):
        m.mechanism(*_sled(8.0, 0.1), m.Blade("sled"), like=sled)
    with pytest.raises(ValueError, match="must be a mechanism of the same parts"):
        m.mechanism(*_sled(8.0, 0.1), like=3)


def test_what_rolls_shows_itself_in_a_line():
    sled = m.mechanism(*_sled(8.0, 0.1))
    coordinates = "sled heading, sled x, sled y"
    assert repr(sled) == f"<RollingMechanism of 1 body: sled; coordinates: {coordinates}; held: sled across>"


def test_a_shaft_with_a_universal_joint_turns_unevenly():
    """tan(out) = tan(in) / cos(bend), from the straight position, where other rows of the loop are dependent."""
    bend = 0.5
    along, across = (np.cos(bend), np.sin(bend), 0.0), (-np.sin(bend), np.cos(bend), 0.0)
    thin = (0.1, 0.1, 0.1)
    shaft = m.mechanism(
        m.Body("in", m.Hinge("x"), mass=1.0, inertia=thin),
        m.Body("joint", m.Universal("y", "z"), on="in", mass=0.1, inertia=(1e-3, 1e-3, 1e-3)),
        m.Body("out", m.Hinge(along), mass=1.0, inertia=thin),
        m.Pin("joint", "out", at=along, there=along),
        m.Pin("joint", "out", at=across, there=across),
        gravity=0.0,
    )
    q, v = m.initial(shaft, rates={"in'": 2.0})
    traj = dh.simulate(shaft, q, v=v, h=0.005, steps=100)
    turned, out = traj.q[:, 0], traj.q[:, 3]
    ratios = np.tan(out[1:]) / np.tan(turned[1:])
    assert np.ptp(ratios) < 1e-9
    assert min(abs(ratios[0] - np.cos(bend)), abs(ratios[0] - 1 / np.cos(bend))) < 1e-9


def test_a_dead_point_is_refused_by_what_holds_there():
    """Crank and rod of one length in one line under the slide: the piston may go or stay."""
    crank = m.mechanism(
        m.Body("crank", m.Hinge("y"), mass=1.0, inertia=(0.1, 0.1, 0.1)),
        m.Body("rod", m.Hinge("y"), on="crank", at=(0.5, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1)),
        m.Body("piston", m.Slide("x"), mass=2.0),
        m.Pin("rod", "piston", at=(0.5, 0, 0)),
    )
    with pytest.raises(ValueError, match="say the same, or nothing: rod and piston in z. It is a dead"):
        dh.simulate(crank, [np.pi / 2, np.pi, 0.0], xi=[0.0], h=0.01, steps=1)
