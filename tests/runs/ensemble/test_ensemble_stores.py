"""Stores of ensembles: blocks whole or absent, taken up again, refused to others."""

import errno
import os
import threading

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.runs.ensemble import block_claims, block_runs, ensemble
from discrete_hamel.runs.storage import atomic_files

pytest.importorskip("xarray")
pytest.importorskip("zarr")

MEMBERS, STEPS = 600, 30
XI = np.stack([np.linspace(1, 2, MEMBERS), np.full(MEMBERS, -0.3)], axis=1)
SLEIGH = dh.systems.ChaplyginSleigh()
DATA = {"q": [0.1, 0, 0], "xi": XI, "h": 0.02, "steps": STEPS, "save_every": 10}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(block_runs, "BLOCK", 128)


@pytest.fixture(scope="module")
def in_memory():
    return ensemble(SLEIGH, **DATA)


def chunks(store, name="q"):
    return sorted(int(f.name.split(".")[0]) for f in (store / name).glob("[0-9]*[0-9]"))


def test_the_store_holds_what_memory_would(tmp_path, in_memory):
    import xarray

    stored = ensemble(SLEIGH, **DATA, store=tmp_path / "runs.zarr")
    assert chunks(tmp_path / "runs.zarr") == [0, 1, 2, 3, 4]
    for name in in_memory.variables:
        assert np.array_equal(stored[name], in_memory[name], equal_nan=in_memory[name].dtype.kind == "f"), name
    with xarray.open_zarr(tmp_path / "runs.zarr", chunks=None) as opened:
        assert np.array_equal(opened.q, in_memory.q)
        assert opened.finished.values.all()


def test_a_block_that_is_missing_or_damaged_is_run_again_and_no_other(tmp_path, in_memory, monkeypatch):
    store = tmp_path / "runs.zarr"
    ensemble(SLEIGH, **DATA, store=store)
    (store / "q" / "1.0.0").unlink()
    damaged = store / "xi" / "3.0.0"
    data = bytearray(damaged.read_bytes())
    data[100] ^= 1
    damaged.write_bytes(data)
    ran = []
    whole = block_runs.EnsembleRun.block
    monkeypatch.setattr(block_runs.EnsembleRun, "block", lambda self, *part: ran.append(part[0]) or whole(self, *part))
    again = ensemble(SLEIGH, **DATA, store=store)
    assert sorted(ran) == [1, 3]
    assert np.array_equal(again.q, in_memory.q)
    assert np.array_equal(again.xi, in_memory.xi)


def test_a_run_that_stops_halfway_goes_on(tmp_path, in_memory, monkeypatch):
    store, whole = tmp_path / "runs.zarr", block_runs.EnsembleRun.block

    def until_two(self, number, part):
        if number == 2:
            raise KeyboardInterrupt
        return whole(self, number, part)

    monkeypatch.setattr(block_runs.EnsembleRun, "block", until_two)
    with pytest.raises(dh.RunInterrupted, match=r"when \d+ of 600 members .* finished blocks are in the store"):
        ensemble(SLEIGH, **DATA, store=store, workers=1)
    assert {0, 1} <= set(chunks(store))
    assert 2 not in chunks(store)
    monkeypatch.setattr(block_runs.EnsembleRun, "block", whole)
    assert np.array_equal(ensemble(SLEIGH, **DATA, store=store).q, in_memory.q)


def test_another_ensemble_is_refused_and_the_difference_told(tmp_path):
    store = tmp_path / "runs.zarr"
    ensemble(SLEIGH, **DATA, store=store)
    for change, word in (
        ({"h": 0.01}, "h: 0.02 -> 0.01"),
        ({"xi": XI * 1.01}, "start"),
        ({"scheme": dh.DiscreteHamel(tau=0.25)}, "tau"),
        ({"steps": 60}, "nodes: 3 -> 6"),
    ):
        with pytest.raises(ValueError, match=word):
            ensemble(SLEIGH, **(DATA | change), store=store)
    with pytest.raises(ValueError, match="offset|start"):
        ensemble(dh.systems.ChaplyginSleigh(offset=0.3), **DATA, store=store)


def highest(sign):
    return dh.Reduction(
        start=lambda system, q, xi: {"highest": sign * q[1]},
        update=lambda kept, system, q, xi: {"highest": jnp.maximum(kept["highest"], sign * q[1])},
    )


def test_another_reduction_of_the_same_name_is_refused(tmp_path):
    store, data = tmp_path / "runs.zarr", DATA | {"xi": XI[:128]}
    made = ensemble(SLEIGH, **data, reduction=highest(1.0), store=store)
    again = ensemble(SLEIGH, **data, reduction=highest(1.0), store=store)  # new functions, the same code
    assert np.array_equal(made.highest, again.highest)
    with pytest.raises(ValueError, match="the code of the reduction's update has changed"):
        ensemble(SLEIGH, **data, reduction=highest(-1.0), store=store)
    with pytest.raises(ValueError, match="keeps"):
        ensemble(SLEIGH, **data, store=store)


def test_an_ensembles_store_is_not_taken_for_a_runs_nor_the_other_way(tmp_path):
    ensemble(SLEIGH, **DATA, store=tmp_path / "runs.zarr")
    with pytest.raises(ValueError, match=r"store of an ensemble, not of one run: xarray.open_zarr.* goes on with it"):
        dh.load(tmp_path / "runs.zarr")
    dh.simulate(SLEIGH, q=[0.1, 0, 0], xi=[1.0, -0.3], h=0.02, steps=30, store=tmp_path / "run.zarr")
    with pytest.raises(ValueError, match="store of one run, not of an ensemble"):
        ensemble(SLEIGH, **DATA, store=tmp_path / "run.zarr")


def test_a_second_call_while_the_first_writes_runs_what_that_has_not_claimed(tmp_path, in_memory, monkeypatch):
    store, whole, ran = tmp_path / "runs.zarr", block_runs.EnsembleRun.block, {"first": [], "second": []}
    results, meanwhile = {}, threading.Event()

    def call(name):
        results[name] = ensemble(SLEIGH, **DATA, store=store, workers=1)

    second = threading.Thread(target=call, args=("second",))

    def block(self, number, part):
        mine = ran["second" if self is not first_run[0] else "first"]
        mine.append(number)
        if len(ran["first"]) == 1 and mine is ran["first"]:
            second.start()
            assert meanwhile.wait(60)  # the first has one block, while the second does the others
        if len(ran["second"]) == 4:
            meanwhile.set()
        return whole(self, number, part)

    first_run, init = [], block_runs.EnsembleRun.__init__

    def noted(self, *arguments):
        first_run.append(self)
        init(self, *arguments)

    monkeypatch.setattr(block_runs.EnsembleRun, "__init__", noted)
    monkeypatch.setattr(block_runs.EnsembleRun, "block", block)
    call("first")
    second.join()
    assert ran["first"] == [0]
    assert sorted(ran["second"]) == [1, 2, 3, 4]
    for result in results.values():
        assert np.array_equal(result.q, in_memory.q)
    assert not list((store / block_claims.PLACE).iterdir())


def refusing(number):
    def refuse(*arguments, **options):
        raise OSError(number, os.strerror(number))

    return refuse


def test_a_disk_that_fills_up_loses_no_block(tmp_path, in_memory, monkeypatch):
    store, finish, finished = tmp_path / "runs.zarr", atomic_files.WriteBatch.finish, []

    def until_full(self):
        if len(finished) == 3:
            refusing(errno.ENOSPC)()
        finished.append(finish(self))

    monkeypatch.setattr(atomic_files.WriteBatch, "finish", until_full)
    with pytest.raises(dh.StoreFailed, match=r"No space left on device. Blocks that are in it are whole"):
        ensemble(SLEIGH, **DATA, store=store, workers=1)
    assert not list(store.rglob("*.part"))
    assert not list((store / block_claims.PLACE).iterdir())  # given back
    monkeypatch.setattr(atomic_files.WriteBatch, "finish", finish)
    assert len(chunks(store)) == 2
    assert np.array_equal(ensemble(SLEIGH, **DATA, store=store).q, in_memory.q)


def test_places_where_nothing_can_be_written_are_refused_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(block_runs.EnsembleRun, "block", lambda *_: pytest.fail("it ran"))
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"no store can be made at .*file/runs.zarr: Not a directory"):
        ensemble(SLEIGH, **DATA, store=tmp_path / "file" / "runs.zarr")
    monkeypatch.setattr("pathlib.Path.mkdir", refusing(errno.EROFS))
    with pytest.raises(OSError, match="no store can be made at .*runs.zarr: Read-only file system"):
        ensemble(SLEIGH, **DATA, store=tmp_path / "runs.zarr")


def test_a_link_in_a_store_is_not_written_through(tmp_path, in_memory):
    store, outside = tmp_path / "runs.zarr", tmp_path / "outside"
    ensemble(SLEIGH, **DATA, store=store)
    outside.write_text("mine")
    (store / "q" / "1.0.0").unlink()
    (store / "q" / "1.0.0").symlink_to(outside)  # counts as no chunk
    (store / "q" / "1.0.0.part").symlink_to(outside)
    assert np.array_equal(ensemble(SLEIGH, **DATA, store=store).q, in_memory.q)
    assert outside.read_text() == "mine"
    (store / "q" / "1.0.0").unlink()
    (store / block_claims.PLACE).rmdir()
    (store / block_claims.PLACE).symlink_to(tmp_path)
    with pytest.raises(dh.StoreDamaged, match="is a link"):
        ensemble(SLEIGH, **DATA, store=store)
    assert {path.name for path in tmp_path.iterdir()} == {"runs.zarr", "outside"}


def test_a_reader_sees_whole_blocks_while_others_are_written(tmp_path, in_memory, monkeypatch):
    import xarray

    store, whole, seen = tmp_path / "runs.zarr", block_runs.EnsembleRun.block, []

    def meanwhile(self, number, part):
        with xarray.open_zarr(store, chunks=None) as so_far:
            there = so_far.finished.values
            assert np.array_equal(so_far.q.values[there], in_memory.q.values[there])
            seen.append(int(there.sum()))
        return whole(self, number, part)

    monkeypatch.setattr(block_runs.EnsembleRun, "block", meanwhile)
    ensemble(SLEIGH, **DATA, store=store, workers=1)
    assert seen == [0, 128, 256, 384, 512]
