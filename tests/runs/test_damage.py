"""Stores that are altered, cut, linked or made by others: what is wrong is named, and nothing of it is executed."""

import json
import os
import shutil
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import NAMES, go, same
from test_stores import retold

import discrete_hamel as dh
from discrete_hamel.runs.storage import column, layout, reading


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A store of seven chunks, and what is in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "LONGEST", 64)
        patch.setattr(layout, "SHORTEST", 64)
        store = tmp_path_factory.mktemp("good") / "run.zarr"
        go(400, store=store)
    return store


@pytest.fixture
def store(good, tmp_path):
    return shutil.copytree(good, tmp_path / "run.zarr")


def flipped(file, place):
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)


BROKEN = {
    "altered": (lambda file: flipped(file, 100), r"is damaged: its checksum"),
    "cut off": (lambda file: os.truncate(file, 1000), r"is damaged: it has 1000 bytes, not 1540"),
    "longer": (lambda file: file.write_bytes(file.read_bytes() + b"0"), r"is damaged: it has 1541 bytes"),
    "empty": (lambda file: os.truncate(file, 0), r"is damaged: it has 0 bytes"),
    "missing": (lambda file: file.unlink(), r"is missing"),
    "a folder": (lambda file: (file.unlink(), file.mkdir()), r"cannot be read: Is a directory"),
    "a link": (
        lambda file: (file.rename(file.parent / "x"), file.symlink_to("x")),
        r"cannot be read: .*symbolic links",
    ),
    "a pipe": (lambda file: (file.unlink(), os.mkfifo(file)), r"is damaged: it has 0 bytes"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_damaged_chunk_is_named_and_the_rest_reads(store, kind):
    damage, sentence = BROKEN[kind]
    damage(store / "q" / "2.0")
    run, whole = dh.load(store), go(400)
    for rows in (slice(0, 128), slice(192, 401)):
        assert np.array_equal(run.q[rows], whole.q[rows])
    for name in set(NAMES) - {"q"}:
        assert np.array_equal(getattr(run, name), getattr(whole, name))
    for ask in (lambda: run.q[130], lambda: np.asarray(run.q), lambda: run.q[::50], lambda: run.energy):
        with pytest.raises(dh.StoreDamaged, match=rf"q/2.0 {sentence}.*rows 128 to 191 of 'q' are lost; the rest"):
            ask()
    # The run itself can go on: its state is in the manifest, and each row in its place.
    assert np.array_equal(go(500, store=store, resume=True).q[401:], go(500).q[401:])


def test_xarray_notices_an_altered_chunk_too(store):
    xarray = pytest.importorskip("xarray")
    flipped(store / "q" / "2.0", 100)
    with xarray.open_zarr(store) as data:
        assert np.array_equal(data.q[:128].values, go(400).q[:128])
        with pytest.raises(RuntimeError, match="checksum"):
            data.q.load()
    (store / "xi" / "1.0").unlink()
    with xarray.open_zarr(store) as data:
        assert np.all(np.isnan(data.xi[64:128].values))


def everything(store):
    """All that a store says, as bytes."""
    run = dh.load(store)
    arrays = [np.asarray(getattr(run, name)) for name in NAMES]
    solves = [np.asarray(getattr(run.report, name)) for name in ("converged", "iterations", "residual")]
    numbers = [float(run.h), float(run.scheme.tau), float(run.system.mass), *np.asarray(run.final.p)]
    return [a.tobytes() for a in [*arrays, *solves]], numbers


@given(data=st.data())
@settings(max_examples=60)
def test_whatever_happens_to_a_file_it_is_noticed_or_harmless(good, tmp_path_factory, data):
    store = shutil.copytree(good, tmp_path_factory.mktemp("fuzzed") / "run.zarr")
    parts = sorted(path for path in store.rglob("*") if path.is_file())
    weighted = [store / reading.METADATA] * 20 + parts
    file = data.draw(st.sampled_from(weighted))
    contents = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, max(len(contents) - 1, 0)))
    how = data.draw(st.sampled_from(["bit", "byte", "cut", "insert", "zeros", "remove"]))
    if how == "bit" and contents:
        contents[place] ^= 1 << data.draw(st.integers(0, 7))
    elif how == "byte" and contents:
        contents[place] = data.draw(st.integers(0, 255))
    elif how == "cut":
        del contents[place:]
    elif how == "insert":
        contents[place:place] = data.draw(st.binary(min_size=1, max_size=20))
    elif how == "zeros":
        contents[place : place + 50] = bytes(len(contents[place : place + 50]))
    file.write_bytes(contents)
    if how == "remove":
        file.unlink()
    found, told = None, ""
    try:
        found = everything(store)
    except (ValueError, FileNotFoundError) as error:
        told = str(error)
    assert str(store) in told if found is None else found == everything(good)
    shutil.rmtree(store)


def test_nothing_that_a_store_contains_is_executed(store, monkeypatch):
    import pickle

    monkeypatch.setattr(pickle, "loads", None)
    monkeypatch.setattr(pickle, "load", None)
    monkeypatch.setattr(pickle, "Unpickler", None)
    assert same(dh.load(store), go(400))
    for name in ("System", "__import__", "os", "from_constraints", "ChaplyginSleigh.__init__", "../ChaplyginSleigh"):
        retold(store, lambda told, _, name=name: told["system"].update({"class": name}))
        with pytest.raises(ValueError, match="cannot be rebuilt from data alone"):
            dh.load(store)


@pytest.mark.parametrize("name", ["../outside", "/outside", "..", ".hidden", "a/b", "a\\b", "", "a\0b", "q\n"])
def test_names_that_lead_out_of_a_store_are_refused(store, name):
    def moved(_, metadata):
        for part in (".zarray", ".zattrs"):
            metadata[f"{name}/{part}"] = metadata.pop(f"q/{part}")

    retold(store, moved)
    for ask in (lambda: dh.load(store), lambda: go(500, store=store, resume=True)):
        with pytest.raises(ValueError, match="cannot be the name of an array"):
            ask()


@pytest.mark.parametrize("name", ["../escape", "a/b", "q", "converged", ".hidden"])
def test_invariants_with_such_names_are_refused_before_the_run(tmp_path, name):
    class Named(dh.systems.ChaplyginSleigh):
        def invariants(self):
            return {name: lambda q, xi: q[0]}

    with pytest.raises(ValueError, match=r"cannot be the name of an array|has the name of another array"):
        go(10**9, system=Named(), store=tmp_path / "run.zarr")
    assert os.listdir(tmp_path) == []


def test_links_lead_nowhere(store, tmp_path):
    outside = tmp_path / "outside"
    shutil.move(store / "q", outside)
    (store / "q").symlink_to(outside)
    before = {file.name: file.read_bytes() for file in outside.iterdir()}
    with pytest.raises(dh.StoreDamaged, match="is a link; a store holds its own files"):
        _ = dh.load(store).q[0]
    with pytest.raises(dh.StoreDamaged, match="no folder of the store's own"):
        go(500, store=store, resume=True)
    assert before == {file.name: file.read_bytes() for file in outside.iterdir()}


def test_a_link_in_the_place_of_a_new_file_is_not_written_through(store, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (store / "q" / "6.0.part").symlink_to(victim)
    with pytest.raises(dh.StoreFailed, match="cannot be written"):
        go(500, store=store, resume=True)
    assert victim.read_text() == "precious"


def test_arrays_too_large_to_be_true_do_not_fill_memory(store):
    def grown(told, metadata):  # all arrays alike, so that nothing but the missing chunks tells
        told["finished"] = 10**15 - 1
        for name in metadata:
            if name.endswith("/.zarray") and metadata[name]["shape"][0] in (401, 400):
                metadata[name]["shape"][0] += 10**15 - 401

    retold(store, grown)
    run = dh.load(store)
    assert np.array_equal(run.q[:10], go(400).q[:10])
    with pytest.raises(dh.StoreDamaged, match="is missing"):
        _ = run.q[10**14]


@pytest.mark.parametrize("filters", [[{"id": "pickle"}], [], None])
def test_other_encodings_are_refused(store, filters):
    retold(store, lambda _, metadata: metadata["q/.zarray"].update(filters=filters))
    with pytest.raises(ValueError, match="encoded in a way that discrete_hamel does not write"):
        dh.load(store)
    retold(store, lambda _, metadata: metadata["q/.zarray"].update(filters=column.CHECK, dtype="|O"))
    with pytest.raises(ValueError, match="encoded in a way"):
        dh.load(store)


def test_a_reader_sees_whole_checkpoints_while_a_run_grows(tmp_path):
    xarray = pytest.importorskip("xarray")
    store, whole = tmp_path / "run.zarr", go(600)
    writer = threading.Thread(target=lambda: go(600, store=store, checkpoint_every=5))
    writer.start()
    seen = set()
    while writer.is_alive() or not seen:
        if not store.exists():
            continue
        with xarray.open_zarr(store) as data:
            nodes = data.sizes["time"]
            assert data.sizes["interval"] == nodes - 1
            assert np.array_equal(data.q.values, whole.q[:nodes])
        run = dh.load(store)
        assert np.array_equal(run.xi, whole.xi[: len(run)])
        assert np.array_equal(run.report.residual, whole.report.residual[: len(run) - 1])
        seen |= {nodes, len(run)}
    writer.join()
    assert len(dh.load(store)) == 601
    assert all(nodes % 5 == 1 for nodes in seen)


def test_what_is_no_store_of_ours_is_told(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text(json.dumps({"format": 2}))
    for name in ("folder", "file"):
        for ask in (lambda name=name: dh.load(tmp_path / name), lambda n=name: go(5, store=tmp_path / n, resume=True)):
            with pytest.raises(ValueError, match="is no Zarr store"):
                ask()
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert os.listdir(tmp_path / "folder") == []
