"""Discrete optimal control: Brockett's circles, a parked car, gaits of the snakeboard; gradients through runs."""

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh

# Brockett's integrator: z' = x y' - y x', least int |u|^2 from 0 to (0, 0, a) in time 1.


def squared(q, u):
    return u @ u


def at_height(q):
    return q - jnp.array([0.0, 0.0, 0.5])


@functools.cache
def brockett(steps):
    t = (np.arange(steps) + 0.5) / steps
    guess = 3 * np.stack([np.cos(2 * np.pi * t + 0.3), np.sin(2 * np.pi * t)], axis=1) + 0.3 * t[:, None]
    return dh.optimal_path(
        dh.systems.HeisenbergParticle(), np.zeros(3), u=guess, h=1 / steps, goal=at_height, cost=squared
    )


@pytest.mark.parametrize("steps", [16, 32, 64])
def test_brocketts_integrator_takes_the_regular_polygon(steps):
    """z is twice the area, so the discrete optimum is the regular polygon of area a / 2, run at constant speed."""
    plan = brockett(steps)
    assert plan.cost == pytest.approx(2 * 0.5 * steps * np.tan(np.pi / steps), abs=1e-10)
    assert np.linalg.norm(plan.u, axis=1) == pytest.approx(np.sqrt(plan.cost), abs=1e-8)
    turns = np.diff(np.unwrap(np.arctan2(plan.u[:, 1], plan.u[:, 0])))
    assert np.abs(turns) == pytest.approx(2 * np.pi / steps, abs=1e-8)
    assert plan.feasibility < 1e-10
    assert plan.q[-1] == pytest.approx([0.0, 0.0, 0.5], abs=1e-10)


def test_brocketts_circle_is_approached_at_order_two():
    """The circle of area a / 2: cost 2 pi a, radius sqrt(a / 2 pi)."""
    misses = [brockett(n).cost - 2 * np.pi * 0.5 for n in (16, 32, 64)]
    assert np.log2(np.array(misses[:-1]) / misses[1:]) == pytest.approx(2.0, abs=0.05)
    q = brockett(64).q[:-1, :2]
    radius = np.linalg.norm(q - q.mean(axis=0), axis=1)
    assert radius == pytest.approx(np.sqrt(0.5 / (2 * np.pi)), rel=2e-3)


# A car parks sideways, from rest to rest.

CAR = dh.systems.Car()


def drive(q, xi, u):
    return jnp.concatenate([u, jnp.zeros(2)])


def driven(u):
    return dh.forced(CAR, drive, params=u)


def parked(q, p):
    return jnp.concatenate([q - jnp.array([0.0, 0.0, 0.5, 0.0]), p])


def effort(q, xi, u):
    return u[0] ** 2 + 10 * u[1] ** 2


def follow(actuated, plan, q, xi, h):
    """The ends of the plan's inputs run step by step: the scheme itself, not the constraints of the plan."""
    scheme = dh.DiscreteHamel()
    state = dh.start(actuated(plan.u[0]), scheme, q, xi, h)
    step = jax.jit(lambda u, state: dh.step(actuated(u), scheme, state, h)[0])
    misses = []
    for k, u in enumerate(plan.u):
        state = step(u, state)
        misses.append(max(np.max(np.abs(state.q - plan.q[k + 1])), np.max(np.abs(state.p - plan.p[k + 1]))))
    return np.array(misses)


def test_a_car_parks_beside_itself():
    begin = time.process_time()
    h, k = 0.1, np.arange(40) + 0.5
    guess = np.stack([2 * np.sin(2 * np.pi * k / 40), 0.02 * np.cos(4 * np.pi * k / 40)], axis=1)
    plan = dh.optimal_control(driven, np.zeros(4), np.zeros(2), u=guess, h=h, goal=parked, cost=effort)
    assert time.process_time() - begin < 60
    assert plan.feasibility < 1e-10
    assert plan.stationarity < 1e-8
    assert plan.q[-1] == pytest.approx([0.0, 0.0, 0.5, 0.0], abs=1e-10)
    assert plan.p[-1] == pytest.approx([0.0, 0.0], abs=1e-10)
    assert np.max(follow(driven, plan, np.zeros(4), np.zeros(2), h)) < 1e-10
    assert np.ptp(plan.q[:, 1]) > 0.2  # forth and back
    _is_a_minimum(plan, h)


def _is_a_minimum(plan, h):
    """Independently: inputs changed in directions that leave the end where it is, to first order, cost more."""

    def end(u):
        run = _rolled(u, h)
        return jnp.concatenate([run.q, run.p])

    rows = np.asarray(jax.jit(jax.jacfwd(end))(jnp.asarray(plan.u))).reshape(6, -1)
    gradient = (2 * h * plan.u * np.array([1.0, 10.0])).ravel()
    weights = np.linalg.lstsq(rows.T, gradient)[0]
    assert rows.T @ weights == pytest.approx(gradient, abs=1e-8)  # the multiplier rule, through the run itself


def _rolled(u, h):
    scheme = dh.DiscreteHamel()
    state = dh.start(driven(u[0]), scheme, jnp.zeros(4), jnp.zeros(2), h)
    return jax.lax.scan(lambda state, u: (dh.step(driven(u), scheme, state, h)[0], None), state, u)[0]


def test_a_guess_from_which_the_goal_is_out_of_reach_is_named():
    with pytest.raises(dh.RunFailed, match="cannot be reached from the guess to first order"):
        dh.optimal_control(driven, np.zeros(4), np.zeros(2), u=np.zeros((40, 2)), h=0.1, goal=parked, cost=effort)


# Gaits of the snakeboard: rotor and wheels driven by torques, from rest to rest.

BOARD = dh.systems.Snakeboard(inertia=0.05)


def torques(q, xi, u):
    return jnp.concatenate([jnp.zeros(1), u, jnp.zeros(2)])


def turned(u):
    return dh.forced(BOARD, torques, params=u)


def ahead(q, p):
    return jnp.concatenate([q - jnp.array([0.0, 0.3, 0.0, 0.0, 0.0]), p])


def around(q, p):
    return jnp.concatenate([q - jnp.array([0.4, 0.0, 0.0, 0.0, 0.0]), p])


def gentle(q, xi, u):
    return u @ u + 0.3 * q[4] ** 2


@pytest.mark.parametrize(("goal", "ratio"), [(ahead, (1, 1)), (around, (1, 2))], ids=["ahead", "around"])
def test_gaits_of_the_snakeboard(goal, ratio):
    """From guesses with the rotor and the wheels at the classical ratios of frequencies."""
    h, w = 0.15, 2 * np.pi / 6.0
    t = (np.arange(40) + 0.5) * h
    (a, b), begin = ratio, time.process_time()
    guess = np.stack([-0.3 * (a * w) ** 2 * np.sin(a * w * t + 0.1), -0.08 * (b * w) ** 2 * np.sin(b * w * t)], axis=1)
    plan = dh.optimal_control(turned, np.zeros(5), np.zeros(3), u=guess, h=h, goal=goal, cost=gentle)
    assert time.process_time() - begin < 60
    assert plan.feasibility < 1e-10
    assert plan.stationarity < 1e-8
    assert np.max(follow(turned, plan, np.zeros(5), np.zeros(3), h)) < 1e-10
    assert np.max(np.abs(plan.q[:, 4])) < np.pi / 2  # where the two axles' constraints would be one
    assert np.max(np.abs(plan.q[:, 4])) > 0.1


# Gradients through runs.


def pilot(t, q, xi, s):
    """A torque and a thrust of five numbers, along (omega, v, slip)."""
    return jnp.stack([s[0] * jnp.sin(s[1] * t + s[2]), s[3] + s[4] * t - 0.2 * xi[1], 0.0 * t])


@jax.jit
def objective(s):
    """Where a piloted sleigh ends, and what that takes: a single shooting objective."""
    piloted = dh.controlled(dh.systems.ChaplyginSleigh(), pilot, params=s)
    run = dh.simulate(piloted, [0.1, 0.0, 0.0, 0.0], [0.3, 0.5], h=0.1, steps=30)
    missed = run.q[-1, :3] - jnp.array([0.5, 1.0, 0.3])
    return missed @ missed + 0.1 * run.energy[-1] + 0.05 * s @ s


GRADIENT = jax.jit(jax.grad(objective))


@settings(max_examples=5, deadline=None)
@given(st.tuples(*[st.floats(0.3, 1.5)] * 5))
def test_gradient_of_an_objective_against_differences(s):
    s, eps = np.array(s), 1e-3
    found = np.asarray(GRADIENT(s))
    wanted = []
    for e in eps * np.eye(5):
        a, b, c, d = (float(objective(s + k * e)) for k in (-2, -1, 1, 2))
        wanted.append((a - 8 * b + 8 * c - d) / (12 * eps))
    assert found == pytest.approx(np.array(wanted), abs=1e-6 * max(1.0, float(np.max(np.abs(wanted)))))
    assert np.max(np.abs(found)) > 1e-3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"scheme": dh.Composed(dh.DiscreteHamel(), order=4)}, "is not one solve"),
        ({"scheme": dh.EnergyExact()}, "carries more than q and p"),
        ({"u": np.zeros(3)}, "one row a step and one column an input"),
    ],
)
def test_what_a_plan_cannot_be_made_of(change, sentence):
    data = {"u": np.zeros((4, 2)), "h": 0.1, "goal": parked, "cost": effort} | change
    with pytest.raises(ValueError, match=sentence):
        dh.optimal_control(driven, np.zeros(4), np.zeros(2), **data)
    with pytest.raises(ValueError, match="3 columns and the system 2 free velocities"):
        dh.optimal_path(CAR, np.zeros(4), u=np.zeros((4, 3)), h=0.1, goal=lambda q: q, cost=squared)
