"""Mechanisms against systems written by hand, and against the definitions that they are to satisfy."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.mechanics import frames
from discrete_hamel.runs.validation import canonical
from discrete_hamel.systems.mechanisms import tree

m = dh.mechanisms
numbers = st.floats(-2.0, 2.0)
JOINTS = (m.Hinge((0.6, 0.0, 0.8)), m.Slide("x"), m.Planar(), m.Ball(), m.BallByMatrix(), m.Free(), m.FreeByMatrix())


@jax.jit
def facts(system, q, xi):
    """Energy and rates of the quasi-velocities: one compilation for all values."""
    return dh.energy(system, q, xi), dh.vector_field(system, q, xi)[1]


def pendulums(n, mass=1.0):
    return m.mechanism(
        *(
            m.Body(f"link{i}", m.Hinge("y"), on=f"link{i - 1}" if i else "", at=(0, 0, -0.7 * (i > 0)),
                   mass=mass * (1 + i), centre=(0, 0, -0.7))
            for i in range(n)
        ),
        gravity=9.8,
    )  # fmt: skip


def test_the_work_of_a_step_grows_less_than_by_the_square_of_the_links():
    """Eliminated from the tip to the root; the dense solve has the cube."""
    counts = []
    for n in (16, 32):
        system = canonical(pendulums(n))
        state = dh.start(system, dh.DiscreteHamel(), np.linspace(0.1, 0.2, n), np.zeros(n), 0.005)
        stepper = Stepper(system, dh.DiscreteHamel(), state, jnp.asarray(0.005))
        counts.append(stepper.root.operations)
    assert 1.7 * counts[0] < counts[1] < 3.2 * counts[0] < 3.2 * 12_000


def one_of_each():
    """A tree of all joints, with side branches."""
    ons = ("", "b0", "b1", "b1", "b0", "b4", "b3")
    return m.mechanism(
        *(
            m.Body(f"b{i}", joint, on=on, at=(0.1 * i, 0.2, -0.1), turn=("x", 0.3 * i) if i % 2 else None,
                   mass=1.0 + 0.1 * i, centre=(0.1, 0.0, 0.05 * i), shape=m.Box((0.2, 0.3, 0.4)))
            for i, (joint, on) in enumerate(zip(JOINTS, ons, strict=True))
        )
    )  # fmt: skip


def random_point(system, seed):
    rng = np.random.default_rng(seed)
    q = np.asarray(system.rest()) + 0.3 * rng.normal(size=len(system.coordinates))
    return dh.project(system, q, np.zeros(system.rank))[0], rng.normal(size=system.rank)


@pytest.mark.parametrize("n", [1, 12])
@settings(max_examples=10, deadline=None)
@given(st.data())
def test_a_chain_of_hinges_is_the_catalogues(n, data):
    """PlanarChain has the angles with the vertical, a mechanism those with the link before."""
    q, xi = (np.array(data.draw(st.lists(numbers, min_size=n, max_size=n))) for _ in range(2))
    chain, other = pendulums(n), dh.systems.PlanarChain(links=n, masses=1.0 + np.arange(n), lengths=0.7)
    theta, omega = -np.cumsum(q), -np.cumsum(xi)
    (energy, rates), (same, wanted) = facts(chain, q, xi), facts(other, theta, omega)
    np.testing.assert_allclose(energy, same, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(-np.cumsum(rates), wanted, rtol=0, atol=1e-10 * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("joint", [m.Ball(), m.BallByMatrix()])
@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).filter(lambda a: np.linalg.norm(a) > 0.1), st.data())
def test_a_body_on_a_ball_joint_is_a_heavy_top(joint, q, data):
    q, xi = np.array(q) / np.linalg.norm(q), np.array([data.draw(numbers) for _ in range(3)])
    centre, about_centre = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.6, 0.4])
    top = m.mechanism(m.Body("top", joint, mass=2.0, centre=centre, inertia=about_centre), gravity=10.0)
    about_point = np.diag(about_centre) + 2.0 * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    hand = dh.systems.HeavyTop(inertia=about_point, weight=20.0 * centre)
    attitude = np.asarray(m.Ball.pose(None, q)[0]).reshape(9)
    own = q if isinstance(joint, m.Ball) else attitude
    for got, wanted in zip(facts(top, own, xi), facts(hand, attitude, xi), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-11)


@pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: type(joint).__name__)
def test_joints_are_what_they_say(joint):
    """Rates invert the frame, also off the rotations, the twist is the pose's, and brackets are those of the fields."""
    kind, axis = type(joint), jnp.array([0.6, 0.0, 0.8])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q = jnp.asarray(np.array(kind.rest) + 0.4 * rng.normal(size=len(kind.rest)))
        xi = jnp.asarray(rng.normal(size=len(kind.velocities)))
        psi = kind.frame(q)
        np.testing.assert_allclose(kind.rates(q, psi @ xi), xi, atol=1e-13)
        np.testing.assert_allclose(frames.structure_functions(kind.frame, q), kind.brackets, atol=1e-12)
        single = m.mechanism(m.Body("body", joint))
        q = dh.project(single, q, xi)[0]
        (turn, place), (turned, moved) = jax.jvp(lambda q: kind.pose(axis, q), (q,), (kind.frame(q) @ xi,))
        omega, speed = kind.twist(axis, q, xi)
        np.testing.assert_allclose(turn.T @ turned, np.cross(np.eye(3), omega), atol=1e-13)
        np.testing.assert_allclose(turn.T @ moved, speed, atol=1e-13)


def test_twists_are_the_rates_of_poses():
    """By differentiating places and rotations along the motion, which knows no twist."""
    system = one_of_each()
    for seed in range(3):
        q, xi = random_point(system, seed)

        def poses(q, xi=xi):
            return system.motion(q, xi)[:2]

        (turn, _), (turned, moved) = jax.jvp(poses, (q,), (system.frame(q) @ xi,))
        motion = system.motion(q, xi)
        back = np.swapaxes(turn, 1, 2)
        np.testing.assert_allclose(back @ turned, np.cross(np.eye(3), np.asarray(motion.omega)[:, None]), atol=1e-11)
        np.testing.assert_allclose(np.einsum("iab,ib->ia", back, moved), motion.speed, atol=1e-11)


def test_brackets_and_velocities_give_the_same_equations():
    system = one_of_each()

    class ByBrackets(m.Mechanism):
        in_velocities = None

    same = ByBrackets(**{field.name: getattr(system, field.name) for field in dataclasses.fields(system)})
    for seed in range(3):
        q, xi = random_point(system, seed)
        wanted = dh.hamel_force(same, q, xi)
        np.testing.assert_allclose(dh.hamel_force(system, q, xi), wanted, atol=1e-11 * np.abs(wanted).max())


def test_deep_trees_in_rounds_that_halve_the_levels(monkeypatch):
    """The order in which links are gone through does not matter; two branches, one of 20 bodies."""
    parents = (-1, *range(19), 4, 20, 21)
    bodies = [
        m.Body(f"b{i}", JOINTS[(0, 1, 3)[i % 3]], on=f"b{p}" if p >= 0 else "", at=(0.1, 0, 0.2), mass=1.0)
        for i, p in enumerate(parents)
    ]
    system = m.mechanism(*bodies)
    q, xi = random_point(system, 0)
    assert len(tree.rounds(parents)) == 8
    assert sum(len(bodies) for bodies, _ in tree.rounds(parents)) < 2 * len(parents)
    halved = system.motion(q, xi)
    monkeypatch.setattr(tree, "SHALLOW", 100)
    assert len(tree.rounds(parents)) == 19
    for a, b in zip(halved, system.motion(q, xi), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11 * max(1, np.abs(b).max()))


@pytest.mark.parametrize("bodies", [10, 100, 1000])
def test_a_chain_takes_operations_in_proportion_to_its_links(bodies):
    """Motions put one after another: less than two a body, in rounds whose number grows by the logarithm."""
    found = tree.rounds((-1, *range(bodies - 1)))
    assert sum(len(some) for some, _ in found) < 2 * bodies
    assert len(found) < 2 * np.log2(bodies) + 4


def test_a_mass_has_a_gradient_and_recompiles_nothing():
    q, xi = jnp.array([0.3, 0.2]), jnp.zeros(2)

    @jax.jit
    def end(mass):
        chain = pendulums(2).replace(mass=jnp.stack([1.0, mass]))
        return dh.simulate(chain, q, xi, h=0.01, steps=10).q[-1, 0]

    slope = (end(2.0 + 1e-5) - end(2.0 - 1e-5)) / 2e-5
    np.testing.assert_allclose(jax.grad(end)(2.0), slope, rtol=1e-6)
    assert end._cache_size() == 1


def test_what_flies_freely_goes_straight():
    """Linear momentum in space is exact, whatever swings on the body."""
    base = m.Body("base", m.Free(), shape=m.Box((1.0, 0.5, 0.2), mass=2.0))
    arm = m.Body(
        "arm", m.Hinge("y"), on="base", at=(0.5, 0, 0), mass=1.0, centre=(0.3, 0, 0), inertia=(0.01, 0.02, 0.02)
    )
    system = m.mechanism(base, arm, gravity=0.0)
    xi = [1.0, 2.0, 3.0, 0.5, -1.0, 0.3, 4.0]
    traj = dh.simulate(system, q=system.rest(), xi=xi, h=0.02, steps=200)
    assert np.abs(traj.p[:, :3] - traj.p[0, :3]).max() < 1e-12
    assert np.abs(jax.vmap(system.holonomic)(traj.q)).max() < 1e-13
    assert np.abs(traj.energy - traj.energy[0]).max() < 1e-3


def test_springs_dampers_and_rotors_at_joints():
    """m x'' = -k (x - a) - d x' + m g for a slide along the vertical, with the rotor's inertia added."""
    slide = m.Slide("z", stiffness=5.0, unloaded=0.2, damping=0.7, rotor=0.5)
    system = m.mechanism(m.Body("load", slide, mass=2.0), gravity=(0, 0, -3.0))
    rate = dh.vector_field(system, [0.9], [1.5])[1]
    np.testing.assert_allclose(rate, (-5.0 * 0.7 - 0.7 * 1.5 - 6.0) / 2.5, atol=1e-13)
    np.testing.assert_allclose(dh.energy(system, [0.9], [1.5]), 0.5 * 2.5 * 1.5**2 + 0.5 * 5 * 0.49 + 6 * 0.9)
    assert not system.invariants()


@pytest.mark.parametrize("torque", [0.6, lambda angle, rate: 0.5 + angle - 0.2 * rate])
def test_motors_at_hinges(torque):
    """A number or a function of angle and rate: I theta'' = torque, 0.6 at (0.4, 1.5) either way."""
    wheel = m.mechanism(m.Body("wheel", m.Hinge("z", torque=torque), shape=m.Cylinder(1.0, mass=4.0)))
    np.testing.assert_allclose(facts(wheel, np.array([0.4]), np.array([1.5]))[1], 0.6 / 2.0, atol=1e-14)
    assert not wheel.invariants()


def test_universal_joints_are_two_hinges():
    system = m.mechanism(m.Body("arm", m.Universal("x", "y"), mass=1.0, centre=(0, 0, -1.0)))
    assert system.coordinates == ("arm cross", "arm")
    motion = system.motion(jnp.array([0.3, 0.5]), jnp.zeros(2))
    wanted = np.asarray(m.Hinge.pose(np.eye(3)[0], [0.3])[0]) @ np.asarray(m.Hinge.pose(np.eye(3)[1], [0.5])[0])
    np.testing.assert_allclose(motion.turn[1], wanted, atol=1e-14)


def test_a_film_has_a_shape_of_each_body():
    system = one_of_each()
    assert len(system.shapes(system.rest())) == 6 * len(JOINTS)
    assert all(np.isfinite(part).all() for part in pendulums(3).shapes(np.zeros(3)))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ((m.Body("a", m.Hinge),), "the joint of 'a' is a class: write Hinge"),
        ((m.Body("a"), m.Body("a")), "'a' is there twice"),
        ((m.Body("a", on="b"), m.Body("b")), "'a' is on 'b', but it is given later"),
        ((m.Body("a", on="c"),), "'a' is on 'c', but there is none"),
        ((m.Body("a", at=(0, 0)),), "at of 'a' must be three numbers, x, y, z in m"),
        ((m.Body("a", centre=0.3),), "centre of 'a' must be three numbers"),
        ((m.Body("a", mass=1.0, inertia=(1.0, 1.0)),), "inertia of 'a' must be three moments or a 3 x 3 matrix"),
        ((m.Body("a", mass=-1.0),), "mass of 'a' must not be negative"),
        ((m.Body("a", inertia=np.diag([1.0, -1.0, 1.0])),), "inertia of 'a' must not be negative"),
        ((m.Body("a", mass="1 kg"),), "mass of 'a' must be real numbers, as one list or array; got '1 kg'"),
        ((m.Body("a", m.Hinge((0.0, 0.0, 0.0)), mass=1.0),), "a vector that is not zero; got (0.0, 0.0, 0.0)"),
        ((m.Body("a", m.Hinge("y", torque=lambda angle, rate, t: t)),), "the torque of 'a', which is asked for (coord"),
        ((m.Body("a", m.Hinge("y", torque=lambda angle, rate: np.ones(2))),), "the torque of 'a' must return one numb"),
        ((m.Body("a", mass=1.0), m.Pin("a", (1, 0, 0))), "A Pin is made of on, to, at, there, bodies by their names"),
        ((m.Body("a", m.Hinge("w")),), "an axis is 'x', 'y', 'z' or a vector; got 'w'"),
        ((m.Body("a", shape=m.Box((1, 1, 1))),), "a Box needs its mass or its density"),
        ((m.Body("a", shape=m.Hoop(1.0, density=2.0)),), "a Hoop has no volume; give its mass"),
        (("a",), "mechanism takes its parts one by one"),
        ((), "needs at least one Body"),
    ],
)
def test_refusals_say_what_is_wrong(parts, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        m.mechanism(*parts)


@pytest.mark.parametrize("gravity", [(0.0, 0.0), "down", [[9.81]]])
def test_gravity_is_a_number_or_a_vector(gravity):
    with pytest.raises(ValueError, match="gravity must be"):
        m.mechanism(m.Body("a", m.Hinge("y"), mass=1.0), gravity=gravity)


def test_a_mechanism_shows_itself_in_a_line():
    chain = m.mechanism(*(m.Body(f"b{i}", m.Hinge("y"), on=f"b{i - 1}" if i else "", mass=1.0) for i in range(10)))
    names = ", ".join(f"b{i}" for i in range(8)) + " and 2 more"
    assert repr(chain) == f"<Mechanism of 10 bodies: {names}; coordinates: {names}>"
