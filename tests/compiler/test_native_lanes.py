"""Native runs side by side: each has the bits that it would have alone, whatever its neighbours do."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import DISK, PENDULUM, SLEIGH
from test_native_runs import started

import discrete_hamel as dh
from discrete_hamel.compiler.graph.lowering import work
from discrete_hamel.compiler.native import lanes, object_code
from discrete_hamel.compiler.native.host import HostRun
from discrete_hamel.compiler.native.lanes import LaneRun
from discrete_hamel.compiler.step.stepper import Stepper, in_steps
from discrete_hamel.runs import validation as checks

pytestmark = pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())
CASES = [(p, dh.DiscreteHamel()) for p in (DISK, PENDULUM, SLEIGH)]
CASES += [(SLEIGH, dh.Composed(dh.DiscreteHamel())), (DISK, dh.StaggeredHamel()), (PENDULUM, dh.EnergyExact())]


def leaves(*trees):
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(trees)])


def side_by_side(native, given, states, nodes, every, active=None):
    """The lanes' results from these states, (lanes, numbers)."""
    system, scheme, _, h = given
    numbers = np.repeat(leaves(system, *in_steps(scheme, h))[:, None], len(states), axis=1)
    active = np.ones(len(states)) if active is None else active
    return native(numbers, np.transpose(states), active, nodes, every)


@pytest.mark.parametrize(("problem", "scheme"), CASES, ids=lambda x: getattr(x, "name", None) or type(x).__name__)
def test_a_lane_has_the_bits_of_a_run_alone(problem, scheme):
    given = started(problem, scheme)
    stepper = Stepper(*given)
    native, alone = LaneRun(stepper, ()), HostRun(stepper)
    system, scheme, state, h = given
    rng = np.random.default_rng(1)
    count, nodes, every = 2 * native.width, 4, 3
    states = []
    for _ in range(count):
        xi = jnp.asarray(np.asarray(problem.xi) * rng.uniform(0.2, 3.0))
        full = checks.initial_data(system, problem.q, xi, None)[2]
        states.append(dh.start(system, scheme, problem.q, full, h))
    final, done, steps, most, rows = side_by_side(native, given, [leaves(s) for s in states], nodes, every)
    assert (done == nodes).all()
    assert (steps == nodes * every).all()
    for k, state in enumerate(states):
        last, whole, good, (q, p, xi, _, report) = alone(system, scheme, state, h, nodes, every)
        assert (whole, good) == (nodes, True)
        assert rows[:, :, k].tobytes() == np.concatenate([q, p, xi], axis=1).tobytes()
        assert final[:, k].tobytes() == leaves(last).tobytes()
        assert most[k] == report.iterations.max()


def test_a_lane_that_fails_stays_at_its_last_good_state_and_spoils_no_other():
    system = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi + q[0] ** 3, lambda q: jnp.eye(2), rank=2)
    scheme, h = checks.canonical(dh.DiscreteHamel()), jnp.asarray(0.1)
    full = jnp.array([1.0, 0.0])
    state = dh.start(system, scheme, jnp.array([1.0, 0.0]), full, h)  # x'' = 3 x^2 leaves for infinity
    stepper = Stepper(system, scheme, state, h)
    native, alone = LaneRun(stepper, ()), HostRun(stepper)
    states = np.tile(leaves(state), (native.width, 1))
    states[::2] = leaves(dh.start(system, scheme, jnp.array([-0.01, 0.5]), 0.0 * full, h))
    active = np.ones(native.width)
    active[2] = 0
    given = system, scheme, state, h
    final, done, steps, _, rows = side_by_side(native, given, states, 100, 1, active)
    last, whole, good, (q, *_) = alone(*given, 100, 1)
    assert not good
    assert (steps[1::2] == whole).all()
    assert (done[1::2] == whole).all()
    assert np.array_equal(final[:2, 1], last.q)
    assert rows[:whole, :2, 3].tobytes() == q.tobytes()
    assert (done[4::2] == 100).all()
    assert (done[2], steps[2]) == (0, 0)
    assert np.array_equal(final[:, 2], states[2])


def test_other_shapes_never_reach_native_lanes():
    given = started(SLEIGH)
    native = LaneRun(Stepper(*given), ())
    state, width = leaves(given[2]), native.width
    with pytest.raises(ValueError, match="lanes"):
        side_by_side(native, given, np.tile(state, (width + 1, 1)), 2, 1)
    with pytest.raises(ValueError, match="begin has shape"):
        side_by_side(native, given, np.tile(state[:-1], (width, 1)), 2, 1)
    with pytest.raises(ValueError, match="active has shape"):
        side_by_side(native, given, np.tile(state, (width, 1)), 2, 1, np.ones(3))
    with pytest.raises(ValueError, match="0 steps"):
        side_by_side(native, given, np.tile(state, (width, 1)), 2, 0)
    with pytest.raises(ValueError, match="numbers has shape"):
        side_by_side(native, started(DISK), np.tile(state, (width, 1)), 2, 1)


@pytest.mark.parametrize(("problem", "q"), [(PENDULUM, [0.0, 0.0, -1.0]), (DISK, DISK.q)], ids=["pendulum", "disk"])
def test_lanes_that_stop_at_other_corrections_have_the_bits_of_runs_alone(problem, q):
    """At rest, hardly moving, and fast beside slow, so that no step is alike in all lanes; some are not active."""
    given = started(problem)
    stepper = Stepper(*given, cost=work)
    assert stepper.root.again is not None  # else no lane would go straight on
    native, alone = LaneRun(stepper, ()), HostRun(stepper)
    system, scheme, _, h = given
    scales = np.resize([0.0, 1e-12, 1e-7, 1e-3, 0.3, 1.0, 4.0], native.width)
    full = [checks.initial_data(system, q, s * np.asarray(problem.xi), None)[1:] for s in scales]
    states = [dh.start(system, scheme, *both, h) for both in full]
    active = (np.arange(native.width) % 5 > 0).astype(float)
    final, done, _, most, _ = side_by_side(native, given, [leaves(s) for s in states], 2, 10, active)
    assert len(set(most[active > 0])) > 1
    for k in np.flatnonzero(active):
        last, whole, good, (*_, report) = alone(system, scheme, states[k], h, 2, 10)
        assert (whole, good, done[k]) == (2, True, 2)
        assert final[:, k].tobytes() == leaves(last).tobytes()
        assert most[k] == report.iterations.max()
    assert np.array_equal(final[:, active == 0], np.transpose([leaves(s) for s in states])[:, active == 0])
    assert not most[active == 0].any()


@pytest.mark.parametrize(("problem", "scheme"), CASES, ids=lambda x: getattr(x, "name", None) or type(x).__name__)
def test_nothing_is_read_that_nobody_wrote(problem, scheme, monkeypatch):
    """Of the places in memory: what is read from one has been stored there."""
    texts = []
    made = lanes.machine_code
    monkeypatch.setattr(lanes, "machine_code", lambda *given: texts.append(given[0]) or made(*given))
    LaneRun(Stepper(*started(problem, scheme)), ())
    stored, read = set(), set()
    for function in texts[0].split("\ndefine "):
        places = dict(re.findall(r"(%v\d+) = getelementptr inbounds <\d+ x double>, ptr %memory, i64 (\d+)", function))
        stored |= {places.get(p) for p in re.findall(r"store <\d+ x double> .*, ptr (%v\d+), align", function)}
        read |= {places.get(p) for p in re.findall(r"= load <\d+ x double>, ptr (%v\d+), align", function)}
    assert len(read) > 20
    assert read <= stored
