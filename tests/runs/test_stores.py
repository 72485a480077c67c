"""A store grows while the run goes on, and a run taken up again has the bits of one that was never interrupted."""

import datetime
import json
import os
import shutil
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import OwnSteps
from runs import SLEIGH, go, same

import discrete_hamel as dh
from discrete_hamel.runs.storage import atomic_files, layout, reading, recording, table, writing
from discrete_hamel.runs.storage.lock import Lock

SCHEMES = {
    "tau": dh.DiscreteHamel(0.3),
    "compensated": dh.DiscreteHamel(compensated=True),
    "stages, compensated": dh.Gauss(4, compensated=True),
    "a step of its own": OwnSteps(),
}


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of 64 rows, so that short runs fill many."""
    monkeypatch.setattr(layout, "LONGEST", 64)
    monkeypatch.setattr(layout, "SHORTEST", 64)


@cache
def undisturbed(name):
    return go(150, scheme=SCHEMES[name])


@given(
    name=st.sampled_from(sorted(SCHEMES)),
    cuts=st.lists(st.integers(0, 149), min_size=1, max_size=3),
    between=st.one_of(st.integers(5, 100), st.just(0.0), st.none()),
)
@settings(max_examples=8)
def test_taken_up_again_bit_for_bit(small_chunks, tmp_path_factory, name, cuts, between):
    whole = undisturbed(name)
    store = tmp_path_factory.mktemp("runs") / "run.zarr"
    for steps in [*sorted(cuts), 150]:
        run = go(steps, scheme=SCHEMES[name], store=store, resume=True, checkpoint_every=between)
        assert len(run) == steps + 1
    assert same(run, whole)
    assert np.array_equal(run.final.p, whole.final.p)
    own = {"scheme": SCHEMES[name]} if name == "a step of its own" else {}  # a class of the user's is no data
    assert same(dh.load(store, **own), whole)


@pytest.mark.parametrize(
    "options", [{"save_every": 7}, {"compiled": False}, {"h": lambda q, xi: 0.01 / (1 + q[0] ** 2)}]
)
def test_other_ways_to_run_are_taken_up_again_bit_for_bit(tmp_path, options):
    go(70, store=tmp_path / "run.zarr", checkpoint_every=21, **options)
    if not callable(options.get("h")):  # a function for h makes a new scheme each time, which load could not rebuild
        assert len(dh.load(tmp_path / "run.zarr")) == 70 // options.get("save_every", 1) + 1
    again = go(210, store=tmp_path / "run.zarr", resume=True, **options)
    assert same(again, go(210, **options))


def test_where_checkpoints_are_changes_nothing(tmp_path):
    runs = [go(100, store=tmp_path / f"{k}.zarr", checkpoint_every=k) for k in (1, 13, 100)]
    assert same(runs[0], runs[1])
    assert same(runs[0], runs[2])
    contents = [reading.Contents(tmp_path / f"{k}.zarr") for k in (1, 13, 100)]
    for name in contents[0].arrays:
        assert len({np.asarray(c.arrays[name]).tobytes() for c in contents}) == 1, name


def test_checkpoints_come_by_steps_or_by_seconds(tmp_path, monkeypatch):
    told = []
    plain = writing.Growing.checkpoint
    monkeypatch.setattr(writing.Growing, "checkpoint", lambda self, t: (told.append(t["finished"]), plain(self, t))[1])
    go(100, store=tmp_path / "steps.zarr", checkpoint_every=30)
    assert told == [0, 30, 60, 90, 100]
    told.clear()
    go(90, store=tmp_path / "thin.zarr", checkpoint_every=20, save_every=9)  # rounded up to whole intervals
    assert told == [0, 3, 6, 9, 10]
    told.clear()
    clock = iter(np.arange(0.0, 1e6, 6.0))
    monkeypatch.setattr(recording.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(recording.Recording, "room", lambda self, finished: 10)
    go(100, store=tmp_path / "seconds.zarr", checkpoint_every=datetime.timedelta(seconds=20))
    assert 3 < len(told) < 12
    assert told == sorted(told)


@pytest.mark.parametrize("wrong", [0, -5, -1.0, float("nan"), float("inf"), "1 min", True, [10]])
def test_checkpoints_by_something_else_are_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match=r"checkpoint_every is .*number of steps .* or of seconds"):
        go(10, store=tmp_path / "run.zarr", checkpoint_every=wrong)
    assert os.listdir(tmp_path) == []


def test_memory_does_not_grow_with_the_run(small_chunks, tmp_path, monkeypatch):
    most = []
    plain = table.Table.extend

    def watched(self, given):
        plain(self, given)
        most.append(max((len(rows) for rows in self.kept.values()), default=0))

    monkeypatch.setattr(table.Table, "extend", watched)
    monkeypatch.setattr(recording.Recording, "room", lambda self, finished: 100)
    go(5000, store=tmp_path / "run.zarr")
    assert max(most) <= 64 + 100


def test_xarray_opens_it_as_it_is(tmp_path):
    xarray = pytest.importorskip("xarray")
    run = go(2000, store=tmp_path / "run.zarr", checkpoint_every=300)
    for how in ({}, {"consolidated": True}, {"consolidated": False}):
        with xarray.open_zarr(tmp_path / "run.zarr", **how) as data:
            assert dict(data.sizes) == {"time": 2001, "coordinate": 3, "momentum": 2, "velocity": 3, "interval": 2000}
            assert list(data.velocity.values) == ["omega", "v1", "v2"]
            assert (data.converged.dtype, data.iterations.dtype) == (bool, int)
            assert np.array_equal(data.q.values, run.q)
            assert np.array_equal(data.residual.values, run.report.residual)
            units = np.finfo(float).eps * np.max(np.abs(run.energy))
            assert np.max(np.abs(data.energy.values - run.energy)) < 100 * units
            assert data.q.sel(coordinate=data.coordinate[0]).shape == (2001,)


def test_a_long_run_keeps_its_invariants_its_times_and_its_size(tmp_path):
    """A short version of benchmarks/soak.py, which makes 10^8 steps and more."""
    pendulum, steps, every = dh.systems.SphericalPendulum(), 200_000, 200
    run = dh.simulate(pendulum, **pendulum.sample(), steps=steps, save_every=every, store=tmp_path / "run.zarr")
    assert np.array_equal(run.t, np.arange(0, steps + 1, every) * pendulum.sample()["h"])  # k h: nothing is summed
    for name, values in run.invariants().items():
        size = max(1.0, abs(values[0]))
        assert np.max(np.abs(values - values[0])) / size < 1e-12 * steps**0.5, name
    numbers = 1 + 3 + 2 + 3 + 3 + 3 + 3 + 3  # t, q, p, xi, v, three invariants, xi_mid, report
    parts = [path for path in (tmp_path / "run.zarr").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in parts) < 1024 * numbers * 8 + 50_000  # a chunk, and its description


def test_a_stored_array_reads_what_is_asked_for(small_chunks, tmp_path):
    run, plain = go(300, store=tmp_path / "run.zarr"), go(300)
    q, expected = run.q, plain.q
    for key in (0, -1, 64, slice(None), slice(60, 70), slice(None, None, -7), slice(5, 5), (3, 1), (slice(None), 0)):
        assert np.array_equal(q[key], expected[key]), key
    for key in ([3, 200, -1], expected[:, 0] > 0.2, (slice(10, 200, 9), slice(1, 3)), ..., None, (..., 1)):
        assert np.array_equal(q[key], expected[key]), key
    assert (q.shape, q.ndim, q.size, len(q), q.dtype) == ((301, 3), 2, 903, 301, np.float64)
    assert np.array_equal(q.T, expected.T)
    assert np.array_equal(q - 1, expected - 1)
    assert np.array_equal(np.abs(q), np.abs(expected))
    assert np.array_equal(jnp.sin(jnp.asarray(q)), jnp.sin(expected))
    assert q.max() == expected.max()
    assert np.array_equal(run.energy, plain.energy)
    with pytest.raises(IndexError):
        q[301]
    assert "301 nodes" in repr(run)


def test_what_differs_is_said_and_refused(tmp_path):
    store = tmp_path / "run.zarr"
    go(20, store=store)
    lighter = SLEIGH.replace(mass=1.0)
    for change, sentence in (
        ({"system": lighter}, r"system.mass: 1.3 -> 1.0"),
        ({"system": dh.systems.ChaplyginSleigh(offset=0.1)}, r"(?s)system.mass.*system.offset: 0.4 -> 0.1"),
        ({"h": 0.02}, r"h: 0.01 -> 0.02"),
        ({"scheme": dh.DiscreteHamel(0.4)}, r"scheme.tau: 0.5 -> 0.4"),
        ({"scheme": dh.RungeKutta4()}, r"scheme.class: DiscreteHamel -> RungeKutta4"),
        ({"save_every": 2}, r"save_every: 1 -> 2"),
        ({"xi": [1.5, -0.4]}, r"start.xi: \[1.5, -0.3, 0.0\] -> \[1.5, -0.4, 0.0\]"),
        ({"compiled": False}, r"made on the compiled path, this run takes the plain"),
    ):
        with pytest.raises(ValueError, match=sentence):
            go(40, **{"store": store, "resume": True, **change})
    with pytest.raises(ValueError, match="holds 20 steps already, more than steps = 10"):
        go(10, store=store, resume=True)
    with pytest.raises(FileExistsError, match="exists already.*resume=True"):
        go(40, store=store)
    with pytest.raises(ValueError, match="give its path"):
        go(40, resume=True)
    assert same(go(40, store=store, resume=True), go(40))  # and nothing of this did any harm


def retold(store, change):
    """Rewrite a store's manifest, with a checksum that fits."""
    file = store / reading.METADATA
    metadata = json.loads(file.read_text())["metadata"]
    manifest = json.loads(metadata[".zattrs"]["discrete_hamel"])
    change(manifest, metadata)
    metadata[".zattrs"] = {"discrete_hamel": json.dumps(manifest)}
    metadata[".zattrs"]["checksum"] = reading.checksum(metadata)
    atomic_files.write(file, json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}).encode())


def test_other_versions_are_refused(tmp_path):
    store = tmp_path / "run.zarr"
    go(20, store=store)
    retold(store, lambda told, _: told["versions"].update(jax="0.0.1"))
    with pytest.raises(ValueError, match=r"versions.jax: 0.0.1 -> \d"):
        go(40, store=store, resume=True)
    assert same(dh.load(store), go(20))  # reading needs no bits to be repeated
    retold(store, lambda told, _: told.update(dtype="float32"))
    with pytest.raises(ValueError, match=r"(?s)dtype: float32 -> float64"):
        go(40, store=store, resume=True)
    retold(store, lambda told, _: told.update(format=99))
    with pytest.raises(ValueError, match="has format 99, this version of discrete_hamel reads 2"):
        dh.load(store)


def one(q, xi, k):
    return 0.5 * xi @ xi - 0.5 * k * q @ q


def other(q, xi, k):
    return 0.5 * xi @ xi - 0.25 * k * q @ q


def plane(q, k):
    return jnp.eye(2)


def test_changed_code_of_the_users_own_is_noticed(tmp_path):
    store, data = tmp_path / "run.zarr", {"q": [1.0, 0.0], "xi": [0.0, 1.0]}
    own = dh.from_quasivelocities(one, plane, 2, params=4.0)
    go(20, system=own, store=store, **data)
    other.__name__, other.__qualname__ = "one", "one"
    edited = dh.from_quasivelocities(other, plane, 2, params=4.0)
    with pytest.raises(ValueError, match="the code of lagrangian has changed"):
        go(40, system=edited, store=store, resume=True, **data)
    again = go(40, system=dh.from_quasivelocities(one, plane, 2, params=4.0), store=store, resume=True, **data)
    assert same(again, go(40, system=own, **data))


def test_all_is_on_the_disk_before_a_checkpoint_counts(flushing, tmp_path, monkeypatch):
    """Power may go at any moment: whatever was renamed had been flushed, and the file that counts came after all."""
    events = []
    flush, rename = atomic_files.flush, os.replace
    monkeypatch.setattr(atomic_files, "flush", lambda path: (flush(path), events.append(("flushed", path)))[0])
    monkeypatch.setattr(atomic_files.os, "replace", lambda a, b: (rename(a, b), events.append(("renamed", a, b)))[0])
    go(100, store=tmp_path / "run.zarr", checkpoint_every=50)
    renamed = [event for event in events if event[0] == "renamed"]
    assert len(renamed) > 40
    for event in renamed:
        before = events[: events.index(event)]
        assert ("flushed", event[1]) in before  # its contents
        if event[2].name == reading.METADATA:
            last = max(k for k, e in enumerate(before) if e[0] == "renamed")
            assert ("flushed", before[last][2].parent) in before[last:]  # and the names of all others
    counted = [event[2].name for event in renamed].count(reading.METADATA)
    assert counted == 4  # the start, 50, 100, and the end


def test_a_second_writer_is_refused_and_a_dead_one_is_no_matter(tmp_path):
    store = tmp_path / "run.zarr"
    go(20, store=store)
    first = Lock(store, store)
    with pytest.raises(dh.StoreBusy, match=rf"being written by process {os.getpid()} on"):
        go(40, store=store, resume=True)
    assert same(dh.load(store), go(20))  # reading is free
    first.release()
    (store / "time" / ".lock").write_text('{"process": 999999999, "host": "elsewhere"}')  # died with it
    assert same(go(40, store=store, resume=True), go(40))


def test_a_start_that_died_leaves_nothing_in_the_way(tmp_path):
    left = tmp_path / ".run.zarr.new-1-1"
    (left / "time").mkdir(parents=True)
    go(20, store=tmp_path / "run.zarr", resume=True)
    assert os.listdir(tmp_path) == ["run.zarr"]


def test_a_failed_run_fails_again_with_the_same_words(tmp_path):
    runaway = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi + jnp.exp(q[0]), lambda q: jnp.eye(2), 2)
    data = {"q": (-1.0, 0.0), "xi": (0.0, 1.0), "h": 0.5}
    with pytest.raises(dh.NewtonFailed) as first:
        go(50, system=runaway, store=tmp_path / "run.zarr", **data)
    with pytest.raises(dh.NewtonFailed) as again:
        go(50, system=runaway, store=tmp_path / "run.zarr", resume=True, **data)
    assert str(first.value) == str(again.value)
    assert same(first.value.trajectory, again.value.trajectory)
    assert 1 < len(again.value.trajectory) < 20
    marked = go(50, system=runaway, store=tmp_path / "run.zarr", resume=True, on_failure="mark", **data)
    assert len(marked) == 51
    assert np.all(np.isnan(marked.q[len(again.value.trajectory) :]))


def test_saved_and_grown_stores_are_alike(tmp_path):
    run = go(100, store=tmp_path / "grown.zarr")
    go(100).save(tmp_path / "saved.zarr")
    grown, saved = (reading.Contents(tmp_path / f"{name}.zarr") for name in ("grown", "saved"))
    assert grown.manifest == saved.manifest
    for name in grown.arrays:
        assert np.array_equal(grown.arrays[name], saved.arrays[name]), name
    shutil.rmtree(tmp_path / "grown.zarr")
    with pytest.raises(dh.StoreDamaged, match="missing"):
        _ = run.q[0]
