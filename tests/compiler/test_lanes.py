"""Runs side by side in lanes, against the same runs one by one on the plain path."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import DISK, PENDULUM, SLEIGH, spinning

import discrete_hamel as dh
from discrete_hamel.compiler.graph.pytree_leaves import scalars
from discrete_hamel.compiler.native import lanes
from discrete_hamel.compiler.paths import lanes_for
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.ensemble import ensemble

STEPS = 50


class Side:
    """A problem with members that differ in their first velocity, by up to half of it."""

    def __init__(self, problem, width=lanes.LANES):
        self.system = checks.canonical(problem.system)
        self.scheme, self.h = checks.canonical(dh.DiscreteHamel()), jnp.asarray(problem.h)
        self.q = np.asarray(problem.q, float)
        first = np.linspace(1.0, 1.5, width) * problem.xi[0]
        self.xi = np.stack([first, *(np.full(width, x) for x in problem.xi[1:])], axis=1)
        self.states = jax.vmap(lambda xi: dh.start(self.system, self.scheme, self.q, xi, self.h))(self.xi)
        self.sample = jax.tree.map(lambda leaf: leaf[0], self.states)
        self.numbers = scalars((self.system, self.scheme, self.h))
        none = (False,) * len(self.numbers)
        self.lanes = lanes_for(self.system, self.scheme, self.sample, self.h, none)
        self.begin = np.concatenate([np.asarray(leaf).reshape(width, -1).T for leaf in jax.tree.leaves(self.states)])

    def run(self, nodes=STEPS, every=1, begin=None, active=None):
        begin = self.begin if begin is None else begin
        active = np.ones(begin.shape[1]) if active is None else active
        own = np.zeros((0, begin.shape[1]))
        return self.lanes.advance(self.numbers, own, begin, active, nodes, every)


@pytest.fixture(scope="module", params=[SLEIGH, DISK, PENDULUM], ids=lambda p: p.name)
def side(request):
    return Side(request.param)


def plain(side, lane, **options):
    data = {"q": side.q, "xi": side.xi[lane], "h": float(side.h), "steps": STEPS} | options
    return dh.simulate(side.system, **data, compiled=False)


def test_each_lane_is_the_run_of_its_own_data(side):
    assert not isinstance(side.lanes, str), side.lanes
    _, done, steps, most, rows = side.run()
    assert (done == STEPS).all()
    assert (steps == STEPS).all()
    for lane in (0, 57, lanes.LANES - 1):
        run = plain(side, lane)
        expected = np.concatenate([run.q, run.p, run.xi], axis=1)[1:]
        assert np.abs(rows[:STEPS, :, lane] - expected).max() < 1e-13 * np.abs(expected).max()
        assert abs(int(most[lane]) - int(run.report.iterations.max())) <= 1


def test_nodes_at_every_so_many_steps_are_a_selection(side):
    every_step, every_fifth = side.run()[4][:STEPS], side.run(nodes=STEPS // 5, every=5)[4][: STEPS // 5]
    assert np.array_equal(every_fifth, every_step[4::5])


def test_a_lane_that_fails_stays_where_it_was_and_does_not_touch_the_others(side):
    begin, bad = side.begin.copy(), 17
    begin[:, bad] = np.nan
    state, done, steps, _, rows = side.run(begin=begin)
    good = np.arange(lanes.LANES) != bad
    whole = side.run()
    assert np.array_equal(rows[:STEPS, :, good], whole[4][:STEPS, :, good])
    assert (done[bad], steps[bad]) == (0, 0)
    assert np.isnan(state[:, bad]).all()


def test_lanes_that_are_not_active_are_left_alone(side):
    active = (np.arange(lanes.LANES) % 2).astype(float)
    state, done, steps, most, _ = side.run(active=active)
    idle = active == 0
    assert np.array_equal(state[:, idle], side.begin[:, idle])
    assert not done[idle].any()
    assert not steps[idle].any()
    assert np.floor(most[idle]).max() == 0
    assert np.array_equal(state[:, ~idle], side.run()[0][:, ~idle])


def test_no_lane_takes_the_iterations_of_another():
    """In a block of fast and very slow sleighs each converges in its own time."""
    side = Side(SLEIGH)
    mixed, places = side.begin.copy(), side.lanes.stepper.node_places()
    for place in (*places[1], *places[2]):
        mixed[place, 1::2] *= 1e-4
    most, alone = (np.floor(side.run(nodes=8, begin=begin)[3]) for begin in (mixed, side.begin))
    assert np.array_equal(most[::2], alone[::2])
    assert (most[1::2] < most[::2]).all()


def test_angles_beyond_the_reach_of_the_polynomials_fail_rather_than_go_wrong():
    side = Side(SLEIGH)
    begin = side.begin.copy()
    begin[0, 3] = 2e6  # theta
    _, done, _, _, rows = side.run(begin=begin)
    assert done[3] == 0
    assert np.delete(done, 3).min() == STEPS
    assert np.isfinite(np.delete(rows[:STEPS], 3, axis=2)).all()


def test_through_an_ensemble_such_members_are_right_all_the_same():
    """The plain path takes them."""
    q = np.array([[0.1, 0.0, 0.0], [2e6, 0.0, 0.0]])
    runs = ensemble(SLEIGH.system, q, SLEIGH.xi, h=SLEIGH.h, steps=STEPS)
    assert runs.attrs["path"] == "lanes"
    assert runs.plain_steps.values.tolist() == [0, STEPS]
    for k in (0, 1):
        run = dh.simulate(SLEIGH.system, q[k], SLEIGH.xi, h=SLEIGH.h, steps=STEPS, compiled=False)
        assert np.abs(runs.q.values[k, 0] - run.q[-1]).max() < 1e-13 * np.abs(run.q).max()


@pytest.mark.slow
def test_where_static_pivots_fail_a_lane_takes_the_plain_path_and_comes_back():
    system = spinning(4)
    q = np.array([[angle, 0.2, 0.0, 0.0, 0.0] for angle in (0.1, 0.4, 0.9)])
    runs = ensemble(system, q, (1.0, 0.4, 0.3), h=0.01, steps=300, save_every=100)
    assert runs.attrs["path"] == "lanes", runs.attrs["path_reason"]
    assert not runs.reason.values.any()
    turns = runs.plain_steps.values
    assert (turns > 0).any()  # else this would show nothing
    assert turns.min() < 300
    for k in range(len(q)):
        run = dh.simulate(system, q[k], (1.0, 0.4, 0.3), h=0.01, steps=300, save_every=100, compiled=False)
        assert np.abs(runs.q.values[k] - run.q).max() < 1e-12 * np.abs(run.q).max()


@pytest.mark.parametrize("order", [4, 8])
def test_composed_steps_go_by_lanes(order):
    """Members with masses of their own; every node is that of the run by itself."""
    scheme, masses, steps = dh.Composed(dh.DiscreteHamel(), order=order), np.array([0.5, 1.0, 2.0]), 24
    xi = np.outer([1.0, 1.1, -1.2], SLEIGH.xi)
    members = SLEIGH.system.replace(mass=masses)
    runs = ensemble(members, SLEIGH.q, xi, h=0.1, steps=steps, save_every=6, scheme=scheme)
    assert (runs.attrs["path"], runs.attrs["path_reason"]) == ("lanes", "")
    for k, mass in enumerate(masses):
        run = dh.simulate(
            SLEIGH.system.replace(mass=mass), SLEIGH.q, xi[k], h=0.1, steps=steps, save_every=6, scheme=scheme,
            compiled=False,
        )  # fmt: skip
        for name in ("q", "p", "xi"):
            expected = np.asarray(getattr(run, name))
            assert np.abs(runs[name].values[k] - expected).max() < 1e-13 * np.abs(expected).max()


class Own(dh.DiscreteHamel):
    """What it does in a step could be anything."""

    def step(self, system, state, h):
        return super().step(system, state, h)


def test_what_lanes_cannot_take_goes_by_the_plain_path_and_the_reason_is_told():
    scheme, word = Own(), "steps in a way of its own"
    runs = ensemble(SLEIGH.system, SLEIGH.q, np.outer([1.0, 1.1], SLEIGH.xi), h=0.05, steps=6, scheme=scheme)
    assert runs.attrs["path"] == "plain"
    assert word in runs.attrs["path_reason"]
    run = dh.simulate(SLEIGH.system, SLEIGH.q, np.multiply(1.1, SLEIGH.xi), h=0.05, steps=6, scheme=scheme)
    assert np.abs(runs.q.values[1, 0] - run.q[-1]).max() < 1e-13


def test_explicit_schemes_go_side_by_side():
    xi = np.outer([1.0, 1.1, 1.2], SLEIGH.xi)
    runs = ensemble(SLEIGH.system, SLEIGH.q, xi, h=0.05, steps=6, scheme=dh.RungeKutta4())
    assert runs.attrs["path"] == "lanes"
    for k in range(3):
        run = dh.simulate(SLEIGH.system, SLEIGH.q, xi[k], h=0.05, steps=6, scheme=dh.RungeKutta4(), compiled=False)
        assert np.abs(runs.q.values[k, 0] - run.q[-1]).max() < 1e-13
