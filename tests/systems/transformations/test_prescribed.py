"""Shapes given as functions of time: against multipliers in explicit time, three ways in, and what is refused."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import slopes
from hypothesis import given, settings
from hypothesis import strategies as st
from multipliers_in_time import accelerations, motion, no_force
from vehicles import PARAMETERS, VEHICLES, car_constraint, car_lagrangian, rotor, steering

import discrete_hamel as dh

TIME = 4.0
TIMES = np.linspace(0.0, TIME, 5)
every_vehicle = pytest.mark.parametrize("name", VEHICLES)


@functools.cache
def exact(name):
    """Motion by multipliers, in all coordinates."""
    it = VEHICLES[name]
    v = dh.velocities(it.system, it.q, it.xi)
    return motion(it.lagrangian, it.constraint, *it.whole(0.0, it.q, v), TIMES, PARAMETERS)


@functools.cache
def referenced(name):
    it = VEHICLES[name]
    return dh.reference(it.system, it.q, it.xi, t=TIMES)


@every_vehicle
def test_prescribed_shape_against_multipliers(name):
    q, v = exact(name)
    run = referenced(name)
    assert np.max(np.abs(run.q[:, :3] - q[:, :3])) < 1e-8
    assert np.max(np.abs(run.v[:, :3] - v[:, :3])) < 1e-8
    assert np.max(np.abs(run.q[:, 3] - TIMES)) < 1e-12
    assert np.max(np.abs(q[-1, :3] - q[0, :3])) > 0.5  # it went somewhere


@every_vehicle
def test_prescribed_shape_at_order_two(name):
    it, counts = VEHICLES[name], np.array([60, 80, 100, 125])
    runs = [dh.simulate(it.system, it.q, it.xi, h=TIME / n, steps=int(n)) for n in counts]
    assert all(run.report.path == "compiled" for run in runs)
    errors = [np.max(np.abs(run.q[-1, :3] - exact(name)[0][-1, :3])) for run in runs]
    assert slopes(1 / counts, errors) == pytest.approx(2.0, abs=0.1)


@every_vehicle
def test_the_last_reaction_is_the_power_of_what_drives(name):
    """lambda of t' = 1 is sum lambda_s f_s'(t) of the multipliers of the driven coordinates."""
    it, run = VEHICLES[name], referenced(name)
    for k in (1, 3):
        q, v = it.whole(TIMES[k], run.q[k], run.v[k])
        _, found = accelerations(it.lagrangian, it.constraint, no_force, TIMES[k], q, v, PARAMETERS)
        wanted = np.asarray(found)[2:] @ v[3:]
        assert abs(wanted) > 1e-4
        assert float(REACTIONS(it.system, run.q[k], run.xi[k])[-1]) == pytest.approx(wanted, abs=1e-10)


REACTIONS, RATES = jax.jit(dh.reactions), jax.jit(dh.vector_field)
NUMBERS = st.floats(-1.2, 1.2)


@settings(max_examples=25, deadline=None)
@given(st.tuples(*[NUMBERS] * 3), st.tuples(*[NUMBERS] * 3), st.floats(0.0, 6.0), st.floats(-2.0, 2.0))
def test_acceleration_under_any_steering_is_that_of_the_multipliers(path, place, t, speed):
    """For all amplitudes and rates, which are traced."""
    it, s = VEHICLES["car"], jnp.array(path)
    system, q = it.system.replace(params=s), jnp.array([*place, t])
    velocity, rate = RATES(system, q, jnp.array([speed]))
    whole_q, whole_v = it.whole(t, q, velocity, s)
    wanted, _ = accelerations(car_lagrangian, car_constraint, no_force, t, whole_q, whole_v, s)
    got = CURVED(system, q, velocity, rate)
    assert np.asarray(got) == pytest.approx(np.asarray(wanted)[:3], abs=1e-9)


@jax.jit
def CURVED(system, q, velocity, rate):
    xi = dh.quasivelocities(system, q, velocity)
    return (jax.jvp(lambda q: system.frame(q) @ xi, (q,), (velocity,))[1] + system.frame(q) @ rate)[:3]


def test_steered_car_three_ways_in():
    """With time among the coordinates: from velocities with a frame, and from constraints with rows for alpha', t'."""
    q = jnp.array([0.3, 0.1, -0.2, 0.2, 0.0])  # theta, x, y, alpha, t

    def lagrangian(q, v, s):
        return car_lagrangian(q[4], q[:4], v[:4], s)

    def one_forms(q, s):
        rows = jax.jacfwd(car_constraint, 2)(q[4], q[:4], jnp.zeros(4), s)
        return jnp.zeros((4, 5)).at[:3, :4].set(rows).at[3, 4].set(1.0)

    def b(q, s):
        return jnp.append(-car_constraint(q[4], q[:4], jnp.zeros(4), s), 1.0)

    def frame(q, s):
        car = dh.systems.Car().frame(q[:4])[:, jnp.array([0, 2, 3, 1])]  # v; sideways, turning, alpha'
        return jnp.zeros((5, 5)).at[:4, :4].set(car).at[4, 4].set(1.0)

    def slip(q, s):
        return jnp.concatenate([jnp.zeros(2), b(q, s)[2:]])

    ways = [
        dh.from_constraints(lagrangian, one_forms, b=b, params=PARAMETERS).at(q),
        dh.from_velocities(lagrangian, frame, 1, slip=slip, params=PARAMETERS),
        dh.from_quasivelocities(
            lambda q, xi, s: lagrangian(q, frame(q, s) @ xi, s), frame, 1, slip=slip, params=PARAMETERS
        ),
    ]
    it = VEHICLES["car"]
    for theta, t, speed in ((0.3, 0.0, 0.8), (-1.1, 2.7, -1.4)):
        place = np.array([theta, 0.1, -0.2, t])
        whole, v = it.whole(t, place, dh.velocities(it.system, place, [speed]))
        wanted, _ = accelerations(car_lagrangian, car_constraint, no_force, t, whole, v, PARAMETERS)
        for system in ways:
            got = SECOND(system, jnp.array([*whole, t]), jnp.array([*v, 1.0]))
            assert np.asarray(got) == pytest.approx(np.array([*wanted, 0.0]), abs=1e-9)


@jax.jit
def SECOND(system, q, v):
    """qddot along (H)."""
    xi = dh.quasivelocities(system, q, v)
    _, rate = dh.vector_field(system, q, xi)
    return jax.jvp(lambda q: system.frame(q) @ xi, (q,), (v,))[1] + system.frame(q) @ rate


def test_it_is_the_catalogues_driven_board():
    """D is all that (D) depends on: another choice of the transverse field, the same run."""
    shapes = {"rotor": lambda t: rotor(t, PARAMETERS), "steering": lambda t: steering(t, PARAMETERS)}
    board, same = dh.systems.DrivenSnakeboard(inertia=0.2, **shapes), VEHICLES["board"]
    runs = [dh.simulate(system, same.q, same.xi, h=0.02, steps=100) for system in (board, same.system)]
    assert np.max(np.abs(runs[0].q - runs[1].q)) < 1e-12
    assert np.max(np.abs(runs[0].energy - runs[1].energy)) < 1e-12


def test_ball_between_a_floor_and_a_moving_wall():
    """An algebra's bracket and a coordinate that is no quasi-velocity: the Chaplygin sphere, its x prescribed."""
    sphere = dh.systems.ChaplyginSphere()
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    q, xi = jnp.array([*turn.ravel(), -0.2, 0.7]), jnp.array([0.9, -0.5])
    system = dh.prescribe(sphere, {"x": wall}).at(q)
    assert system.rank == 2
    assert not system.brackets_by_autodiff
    velocity, rate = RATES(system, q, xi)
    got = jax.jvp(lambda q, xi: system.frame(q) @ xi, (q, dh.quasivelocities(system, q, velocity)), (velocity, rate))[1]
    whole = np.concatenate([q[:9], [wall(0.7), -0.2]])
    whole_v = np.concatenate([velocity[:9], [jax.grad(wall)(0.7), velocity[9]]])
    wanted, _ = accelerations(ball_lagrangian, ball_constraint, no_force, 0.7, whole, whole_v, None)
    assert np.max(np.abs(ball_constraint(0.7, jnp.asarray(whole), jnp.asarray(whole_v), None))) < 1e-12
    assert np.asarray(got)[:9] == pytest.approx(np.asarray(wanted)[:9], abs=1e-10)
    assert float(got[9]) == pytest.approx(float(wanted[10]), abs=1e-10)


def wall(t):
    return 0.3 * jnp.sin(2.0 * t)


def ball_lagrangian(t, q, v, s):
    """As point masses R x, with the second moments tr(J)/2 - J."""
    moments = jnp.array([0.3, 0.4, 0.6])
    rate = v[:9].reshape(3, 3)
    return 0.5 * jnp.trace(rate @ jnp.diag(jnp.sum(moments) / 2 - moments) @ rate.T) + 0.5 * v[9:] @ v[9:]


def ball_constraint(t, q, v, s):
    """R^T R = 1; the point of the ball at the floor is at rest; x = wall(t)."""
    rotation, rate = q[:9].reshape(3, 3), v[:9].reshape(3, 3)
    stiff = (rotation.T @ rate + rate.T @ rotation)[np.triu_indices(3)]
    contact = v[9:] + (rate @ -rotation[2])[:2]  # the lowest point is -R^T e_z in the body, at distance 1
    return jnp.concatenate([stiff, contact, v[9:10] - jax.grad(wall)(t)])


def test_time_alone_changes_nothing():
    """Also where the bracket is an algebra's."""
    for system in (dh.systems.ChaplyginSleigh(), dh.systems.HeavyTop()):
        sample = system.sample()
        plain = dh.simulate(system, **sample, steps=100)
        clocked = dh.simulate(dh.timed(system), np.append(sample["q"], 0.5), sample["xi"], h=sample["h"], steps=100)
        assert np.max(np.abs(clocked.q[:, :-1] - plain.q)) < 1e-13
        assert np.max(np.abs(clocked.q[:, -1] - 0.5 - plain.t)) < 1e-13
        assert np.max(np.abs(clocked.energy - plain.energy)) < 1e-12


def test_a_path_that_stands_still_is_a_coordinate_held():
    """The racer with its handle held goes round a circle; prescribing is holding there."""
    held = dh.prescribe(dh.systems.RollerRacer(), {3: lambda t: 0.3 + 0.0 * t})
    run = dh.simulate(held, np.zeros(4), [1.0], h=0.05, steps=100)
    radius = (0.6 * np.cos(0.3) + 0.2) / np.sin(0.3)
    assert np.max(np.abs(run.xi[:, 0] - 1.0)) < 1e-13
    assert run.v[:, 0] == pytest.approx(np.hypot(run.v[:, 1], run.v[:, 2]) / radius, abs=1e-12)


REFUSED = {
    "unknown name": ({"beta": jnp.sin}, "has no coordinate 'beta'; its coordinates: theta, x, y, alpha"),
    "unknown index": ({4: jnp.sin}, "has no coordinate 4; its coordinates: theta, x, y, alpha"),
    "nothing": ({}, r"use timed\(system\)"),
    "vector path": ({"alpha": lambda t: jnp.stack([t, t])}, r"path of alpha must return one number.*shape \(2,\)"),
    "twice": ({"alpha": jnp.sin, 3: jnp.sin}, "prescribed twice"),
    "not a name": ({1.5: jnp.sin}, "its name or index; got 1.5"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_prescriptions_that_make_no_sense(case):
    paths, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence):
        dh.prescribe(dh.systems.Car(), paths)


def test_prescriptions_that_the_constraint_forbids():
    with pytest.raises(ValueError, match="leave none free"):
        dh.simulate(dh.prescribe(dh.systems.Car(), {0: jnp.sin, 3: jnp.sin}), [0.0, 0, 0], [], h=0.1, steps=1)
    sleigh = dh.prescribe(dh.systems.ChaplyginSleigh(), {"y": jnp.sin})
    with pytest.raises(ValueError, match="y cannot be prescribed at this q: the constraint lets no motion change it"):
        dh.simulate(sleigh, [0.0, 0.0, 0.0], [1.0], h=0.1, steps=1)
    unnamed = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(3), 3)
    with pytest.raises(ValueError, match="coordinate 7 is prescribed, and q has 3 coordinates"):
        dh.simulate(dh.prescribe(unnamed, {7: jnp.sin}), [0.1, 0, 0], [1.0, 0.0], h=0.1, steps=1)
    with pytest.raises(ValueError, match=r"row 2 demands t' = 1 and it is 0.5, off by -0.5"):
        dh.simulate(VEHICLES["car"].system, np.zeros(4), [0.3, 0.0, 0.0, 0.5], h=0.1, steps=1)


def test_a_prescription_that_the_motion_makes_impossible_is_named():
    """y prescribed to a sleigh that turns: once it heads along x no motion can change y."""
    sleigh = dh.prescribe(dh.systems.ChaplyginSleigh(offset=0.0), {"y": lambda t: 0.1 * t})
    with pytest.raises(dh.RunFailed):
        dh.simulate(sleigh, [0.5, 0.0, 0.0], [-0.3], h=0.05, steps=100)
