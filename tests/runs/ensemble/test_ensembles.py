"""Ensembles on one machine: over initial data and parameters, in blocks, with members that fail."""

import os
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.runs.ensemble import Reduction, block_runs, ensemble
from discrete_hamel.runs.ensemble.block_threads import parts
from discrete_hamel.runs.ensemble.ensemble_members import gather

MEMBERS, STEPS, H = 300, 40, 0.02
OFFSETS = np.linspace(0.1, 0.5, MEMBERS)
Q = np.stack([np.linspace(0, 1, MEMBERS), np.zeros(MEMBERS), np.zeros(MEMBERS)], axis=1)
XI = np.stack([np.linspace(1, 2, MEMBERS), np.full(MEMBERS, -0.3)], axis=1)
LOOK_AT = (0, 131, MEMBERS - 1)


def sleighs():
    return dh.systems.ChaplyginSleigh(offset=OFFSETS)


def alone(k, **options):
    """The same motion of one member, by the plain path."""
    system = dh.systems.ChaplyginSleigh(offset=float(OFFSETS[k]))
    return dh.simulate(system, Q[k], XI[k], h=H, steps=STEPS, compiled=False, **options)


@pytest.fixture(scope="module")
def final():
    return ensemble(sleighs(), Q, XI, h=H, steps=STEPS)


@pytest.fixture(scope="module")
def saved():
    return ensemble(sleighs(), Q, XI, h=H, steps=STEPS, save_every=10)


def test_the_last_node_is_that_of_each_member_alone(final):
    assert final.attrs["path"] == "lanes"
    assert final.q.dims == ("member", "step", "coordinate")
    assert final.step.values.tolist() == [STEPS]
    for k in LOOK_AT:
        run = alone(k)
        for name in ("q", "p", "xi"):
            mine, theirs = final[name].values[k, 0], getattr(run, name)
            assert np.abs(mine - theirs[-1]).max() < 1e-13 * np.abs(theirs).max()


def test_saved_nodes_begin_with_the_first_and_memory_is_theirs(saved, final):
    assert saved.step.values.tolist() == [0, 10, 20, 30, 40]
    assert np.array_equal(saved.q.values[:, 0], Q)
    assert np.array_equal(saved.q.values[:, -1], final.q.values[:, 0])
    assert saved.q.shape == (MEMBERS, 5, 3)
    for k in LOOK_AT:
        run = alone(k, save_every=10)
        assert np.abs(saved.q.values[k] - run.q).max() < 1e-13 * np.abs(run.q).max()


def test_names_of_coordinates_select(saved):
    assert np.array_equal(saved.q.sel(coordinate="theta", step=40), saved.q.values[:, 4, 0])
    assert saved.time.values == pytest.approx(saved.step.values * H)


@pytest.mark.parametrize(("block", "workers"), [(128, 2), (128, 5), (2048, 2)])
def test_blocks_and_cores_do_not_change_a_bit(saved, monkeypatch, block, workers):
    """Three blocks for two cores, of which the last is shared; and fewer blocks than cores."""
    monkeypatch.setattr(block_runs, "BLOCK", block)
    in_blocks = ensemble(sleighs(), Q, XI, h=H, steps=STEPS, save_every=10, workers=workers)
    assert np.array_equal(in_blocks.q, saved.q)
    assert np.array_equal(in_blocks.iterations, saved.iterations)


def test_no_core_waits_for_the_last_block():
    """Each core has as many members as the others, but for what does not make lanes."""
    for blocks, workers in ((49, 2), (1, 2), (5, 4), (3, 64)):
        lengths = dict.fromkeys(range(blocks), 2048)
        taken = parts(lengths, workers)
        assert sorted(k for number, part, _ in taken for k in np.array(part) + 2048 * number) == list(
            range(2048 * blocks)
        )
        longest = max(sum(len(part) for _, part, _ in taken[core::workers]) for core in range(workers))
        assert longest <= 2048 * (blocks // workers) + -(-2048 // max(1, workers // (blocks % workers)) // 128) * 128


def test_many_more_nodes_than_one_call_gives():
    """CAPACITY nodes a call; the second call goes on where the first ended."""
    system = dh.systems.ChaplyginSleigh(offset=OFFSETS[:128])
    every_step = ensemble(system, Q[:128], XI[:128], h=H, steps=200, save_every=2)
    assert len(every_step.step) == 101 > block_runs.CAPACITY
    run = dh.simulate(dh.systems.ChaplyginSleigh(offset=float(OFFSETS[7])), Q[7], XI[7], h=H, steps=200, save_every=2)
    assert np.abs(every_step.q.values[7] - run.q).max() < 1e-12 * np.abs(run.q).max()


def test_a_reduction_sees_every_saved_node_and_keeps_what_it_says(saved):
    farthest = Reduction(
        start=lambda system, q, xi: {"farthest": q[1] ** 2 + q[2] ** 2, "drift": jnp.zeros(2)},
        update=lambda kept, system, q, xi: {
            "farthest": jnp.maximum(kept["farthest"], q[1] ** 2 + q[2] ** 2),
            "drift": kept["drift"] + jnp.stack([system.offset, 1.0]),
        },
    )
    reduced = ensemble(sleighs(), Q, XI, h=H, steps=STEPS, save_every=10, reduction=farthest)
    assert "q" not in reduced
    distance = (saved.q.values[:, :, 1:] ** 2).sum(axis=2)
    assert reduced.farthest.values == pytest.approx(distance.max(axis=1), rel=1e-14)
    assert reduced.drift.values == pytest.approx(np.stack([4 * OFFSETS, np.full(MEMBERS, 4.0)], axis=1))


def test_a_sum_that_starts_at_an_integer_is_not_cut_off():
    quarters = Reduction(
        start=lambda system, q, xi: {"sum": 0, "nodes": 0},
        update=lambda kept, system, q, xi: {"sum": kept["sum"] + 0.25, "nodes": kept["nodes"] + 1},
    )
    summed = ensemble(sleighs(), Q, XI, h=H, steps=STEPS, save_every=10, reduction=quarters)
    assert (summed["sum"].values == 1.0).all()
    assert summed["sum"].dtype == float
    assert (summed["nodes"].values == 4).all()
    assert summed["nodes"].dtype == int


def of(start, update):
    return Reduction(lambda system, q, xi: start(q), lambda kept, system, q, xi: update(kept, q))


MALFORMED = {
    "other names": (of(lambda q: {"m": q[0]}, lambda k, q: {"n": q[0]}), "start .* returns m, update returns n"),
    "another shape": (
        of(lambda q: {"m": q[0]}, lambda k, q: {"m": k["m"] + q}),
        r"\(\) from start and \(3,\) from update",
    ),
    "if": (of(lambda q: {"m": q[0]}, lambda k, q: k if q[0] > 0 else k), "update of the reduction cannot .* jnp.where"),
    "raising": (of(lambda q: {"m": q[0]}, lambda k, q: {"m": k["l"]}), "update .* KeyError"),
    "no dictionary": (of(lambda q: q[0], lambda k, q: k), "start .* returns an array; wanted is a dictionary"),
    "forgotten return": (of(lambda q: {"m": q[0]}, lambda k, q: None), "update .* returns None"),
    "empty": (of(lambda q: {}, lambda k, q: k), "an empty dictionary"),
    "text": (of(lambda q: {"m": "high"}, lambda k, q: k), "start of the reduction cannot be evaluated"),
    "complex": (of(lambda q: {"m": 1j * q[0]}, lambda k, q: k), "complex128"),
    "no name": (of(lambda q: {"../m": q[0]}, lambda k, q: k), "the name '../m'"),
    "a function": (lambda run: run, r"a dh.Reduction\(start, update\) of two functions"),
    "no functions": (Reduction(1, None), r"a dh.Reduction\(start, update\) of two functions"),
} | {
    name: (of(lambda q, name=name: {name: q[0]}, lambda k, q: k), f"'{name}' is a name of the result's own")
    for name in ("failure", "member", "q", "reason")
}


@pytest.mark.parametrize(("reduction", "sentence"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_reduction_is_refused_before_anything_runs(reduction, sentence, monkeypatch):
    monkeypatch.setattr(block_runs, "lanes_for", lambda *_: pytest.fail("it ran"))
    with pytest.raises((ValueError, TypeError), match=sentence):
        ensemble(sleighs(), Q, XI, h=H, steps=STEPS, save_every=10, reduction=reduction)


def test_a_list_of_systems_is_the_same_as_a_leading_axis(final):
    listed = ensemble([dh.systems.ChaplyginSleigh(offset=float(a)) for a in OFFSETS], Q, XI, h=H, steps=STEPS)
    assert np.abs(listed.q.values - final.q.values).max() < 1e-13


def test_velocities_of_coordinates_may_be_given(final):
    v = np.stack([XI[:, 0], XI[:, 1] * np.cos(Q[:, 0]), XI[:, 1] * np.sin(Q[:, 0])], axis=1)
    by_v = ensemble(sleighs(), Q, v=v, h=H, steps=STEPS)
    assert np.abs(by_v.q.values - final.q.values).max() < 1e-13
    v[3] = [1.0, -np.sin(Q[3, 0]), np.cos(Q[3, 0])]  # sideways
    off = ensemble(sleighs(), Q, v=v, h=H, steps=STEPS)
    assert np.flatnonzero(off.failure.values).tolist() == [3]
    assert "off the constraint" in str(off.reason.values[3])


def exploding(q, xi, k):
    return 0.5 * xi @ xi + k * q[0] ** 3 / 3


@pytest.mark.parametrize("compiled", [True, False], ids=["lanes", "plain"])
def test_members_that_fail_are_marked_with_their_reason_and_spoil_nobody(compiled):
    """x'' = k x^2 leaves for infinity where k > 0, at a time that the step cannot follow."""
    k = np.array([0.0, 5.0, -0.1, np.nan, 5.0])
    system = dh.from_quasivelocities(exploding, lambda q, k: jnp.eye(1), rank=1, params=k)
    data = {"q": [1.0], "xi": [1.0], "h": 0.05, "save_every": 10, "compiled": compiled}
    marked = ensemble(system, **data, steps=100)
    assert np.flatnonzero(marked.failure.values).tolist() == [1, 3, 4]
    reasons = [str(r) for r in marked.reason.values]
    assert "not finite" in reasons[3]
    assert reasons[1] == reasons[4]
    done = int(marked.steps_done.values[1])
    assert f"step {done + 1}:" in reasons[1]
    assert 0 < done < 100
    with pytest.raises(dh.RunFailed) as failure:
        dh.simulate(system.replace(params=5.0), [1.0], [1.0], h=0.05, steps=100, compiled=False)
    assert len(failure.value.trajectory.t) - 1 == done  # a run alone fails at the same step
    whole = done // 10 + 1
    assert np.isfinite(marked.q.values[1, :whole]).all()
    assert np.isnan(marked.q.values[1, whole:]).all()
    assert np.isnan(marked.q.values[3]).all()
    free = 1 + marked.time.values  # k = 0
    assert marked.q.values[0, :, 0] == pytest.approx(free, rel=1e-13)
    assert np.isfinite(marked.q.values[2]).all()


def test_a_reduction_of_a_member_that_fails_stops_where_it_does():
    system = dh.from_quasivelocities(exploding, lambda q, k: jnp.eye(1), rank=1, params=np.array([0.0, 5.0]))
    nodes = of(lambda q: {"nodes": 0, "largest": q[0]}, lambda k, q: {"nodes": k["nodes"] + 1, "largest": q[0]})
    data = {"q": [1.0], "xi": [1.0], "h": 0.05, "steps": 100, "save_every": 1}
    kept, saved = ensemble(system, **data, reduction=nodes), ensemble(system, **data)
    done = saved.steps_done.values
    assert (done[0], done[1] < 100) == (100, True)
    assert np.array_equal(kept["nodes"], done)
    assert np.array_equal(kept.largest, [saved.q.values[k, done[k], 0] for k in (0, 1)])
    assert np.isnan(saved.q.values[1, done[1] + 1 :]).all()
    assert np.isfinite(saved.residual.values).tolist() == [False, True]  # of the step that failed, of no other


def test_a_member_whose_parameters_the_system_refuses_is_marked():
    sleighs = dh.systems.ChaplyginSleigh(inertia=np.array([0.7, -1.0, 0.7]))
    found = ensemble(sleighs, q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=100, progress=False)
    assert list(found.reason.values != "") == [False, True, False]
    assert "refuses a parameter" in str(found.reason.values[1])
    assert np.isnan(found.q.values[1]).all()
    assert np.array_equal(found.q.values[0], found.q.values[2])


def test_systems_whose_frame_is_chosen_at_a_point():
    skate = dh.from_constraints(
        lambda q, v, m: 0.5 * m * v @ v,
        lambda q, m: jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]]),
        params=np.array([1.0, 2.0, 3.0, 4.0]),
    )
    v = np.array([[w, np.cos(0.1), np.sin(0.1)] for w in (0.5, 1.0, 1.5, 2.0)])
    together = ensemble(skate, [0.1, 0.0, 0.0], v=v, h=0.05, steps=20)
    for k, mass in enumerate((1.0, 2.0, 3.0, 4.0)):
        run = dh.simulate(skate.replace(params=mass), [0.1, 0.0, 0.0], v=v[k], h=0.05, steps=20)
        assert np.abs(together.q.values[k, 0] - run.q[-1]).max() < 1e-12


def test_which_parameters_differ_is_found_out():
    body = dh.systems.RigidBody(inertia=(1.0, 2.0, 3.0))
    xi = np.outer(np.linspace(1, 2, 3), [0.1, 1.0, 0.1])
    members = gather(body, np.eye(3).ravel(), xi, None)
    assert set(members.axes) == {None}  # three members and three moments of inertia: one body
    bodies = dh.systems.RigidBody(inertia=np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 2.5], [1.5, 2.0, 3.0]]))
    assert 0 in gather(bodies, np.eye(3).ravel(), xi, None).axes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": Q[:5]}, "differ: q has 5, the velocity has 300"),
        ({"steps": 41, "save_every": 2}, "not a multiple"),
        ({"xi": None}, "give the initial velocity once"),
        ({"q": Q[None]}, "must have shape"),
        ({"system": dh.systems.ChaplyginSleigh(offset=OFFSETS[:7])}, "fit neither one member nor 300"),
        ({"system": [dh.systems.ChaplyginSleigh(), dh.systems.RollingDisk()]}, "of one kind"),
        ({"scheme": dh.DiscreteHamel}, "not the class"),
        ({"h": 0.0}, "not zero"),
        ({"q": np.full_like(Q, np.nan)}, "finite"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value[:20],
)
def test_what_is_wrong_with_all_is_said_before_anything_runs(change, words):
    data = {"system": sleighs(), "q": Q, "xi": XI, "h": H, "steps": STEPS} | change
    with pytest.raises((ValueError, TypeError), match=words):
        ensemble(**data)


def test_a_run_in_float32_gives_float32():
    code = (
        "import warnings, numpy as np, discrete_hamel as dh\n"
        "warnings.simplefilter('ignore')\n"
        "sleigh, xi = dh.systems.ChaplyginSleigh(), np.ones((3, 2))\n"
        "found = dh.ensemble(sleigh, [0.1, 0, 0], xi, h=0.01, steps=4, save_every=2)\n"
        "print(*(found[name].dtype for name in ('q', 'p', 'xi', 'residual', 'time')))\n"
    )
    environment = os.environ | {"JAX_ENABLE_X64": "0"}
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["float32"] * 5
