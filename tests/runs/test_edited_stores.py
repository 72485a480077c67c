"""Stores whose metadata somebody has edited, the checksum made to fit: `StoreDamaged`, or the same run."""

import json
import random
import shutil

import jax.numpy as jnp
import numpy as np
import pytest
from runs import go
from test_damage import everything
from test_stores import retold

import discrete_hamel as dh
from discrete_hamel.runs.storage import atomic_files, layout, reading

SEED, EDITS = 7, 400
DEEP = 900  # lists in each other: JSON reads them, a recursion over them ends
# What is no damage but another store: of another format, of an ensemble, or of a class that this library does not have.
OTHER_STORES = ("has format", "is the store of an ensemble", "cannot be rebuilt from data alone", "leave out scheme")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "LONGEST", 64)
        patch.setattr(layout, "SHORTEST", 64)
        patch.setattr(atomic_files, "flush", lambda path: None)
        store = tmp_path_factory.mktemp("good") / "run.zarr"
        go(200, store=store)
    return store


@pytest.fixture
def store(good, tmp_path):
    return shutil.copytree(good, tmp_path / "run.zarr")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


OTHERS = (
    None, True, -1, 0, 3, 1.5, 10**400, float("nan"), "", "x", "q", [], [1, "a"], [[1], [2, 3]], {}, {"class": "x"},
    nested(DEEP), "<i8", "<f4", "<U7", "|b1", ["time"],
)  # fmt: skip


def places(tree, path=()):
    """The paths to all entries of nested dicts and lists."""
    for key in list(tree if isinstance(tree, dict) else range(len(tree))):
        yield (*path, key)
        if isinstance(tree[key], dict | list):
            yield from places(tree[key], (*path, key))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def edit(draw, manifest, metadata):
    """One entry deleted, replaced, retyped, or its text cut off."""
    root = draw.choice((manifest, manifest, metadata))
    path = draw.choice(list(places(root)))
    within, key, how = at(root, path[:-1]), path[-1], draw.choice(("delete", "replace", "replace", "retype"))
    if how == "delete":
        del within[key]
    elif how == "replace":
        within[key] = draw.choice(OTHERS)
    else:
        old = within[key]
        retyped = {str: [old], bool: str(old), int: str(old), float: str(old), list: {"0": old}, dict: [old]}
        within[key] = retyped.get(type(old), 0)
    return path, how


def is_value(path):
    """Numbers that may be others: what a parameter, a step or a start was, no form can tell."""
    return bool({"leaves", "h", "start", "state", "save_every", "plain_until", "path", "versions"} & set(path))


def outcome(store):
    """How reading all of a store ends: "same", "damage" or "other", with what was read or said."""
    try:
        return "same", everything(store), ""
    except dh.StoreDamaged as error:
        return "damage", None, str(error)
    except ValueError as error:
        return "other", None, str(error)


def test_no_edit_of_a_store_ends_in_anything_but_damage_or_the_same_run(good, tmp_path):
    draw, same, tally = random.Random(SEED), everything(good), {"damage": 0, "same": 0, "other": 0}
    file = good / reading.METADATA
    for number in range(EDITS):
        store = shutil.copytree(good, tmp_path / str(number))
        done = []
        retold(store, lambda manifest, metadata, done=done: done.append(edit(draw, manifest, metadata)))
        kind, found, words = outcome(store)
        assert kind == "same" or str(store) in words, done
        assert kind != "other" or any(other in words for other in OTHER_STORES), (done, words)
        assert kind != "same" or found[0] == same[0], (done, "other numbers without a word")
        assert kind != "same" or found == same or is_value(done[0][0]), done
        tally[kind] += 1
        shutil.rmtree(store)
    assert tally["damage"] > EDITS / 2
    assert file.exists()


@pytest.mark.parametrize("text", ["cut", "deep", "long number", "list", "nothing", "bytes"])
def test_a_manifest_that_is_no_manifest(store, text):
    def spoil(manifest, metadata):
        manifest.clear()
        metadata.clear()

    file = store / reading.METADATA
    attributes = json.loads(file.read_text())["metadata"][".zattrs"]
    bad = {
        "cut": attributes["discrete_hamel"][:200],
        "deep": "[" * 100_000,
        "long number": '{"format": ' + "1" * 10_000 + "}",
        "list": "[1, 2]",
        "nothing": "",
        "bytes": "\x00",
    }[text]
    metadata = json.loads(file.read_text())["metadata"]
    metadata[".zattrs"] = {"discrete_hamel": bad}
    metadata[".zattrs"]["checksum"] = reading.checksum(metadata)
    file.write_text(json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}))
    with pytest.raises(dh.StoreDamaged, match="its manifest cannot be read"):
        dh.load(store)
    for whole in (b"[" * 100_000, b'{"metadata": ' + b"1" * 10_000, b"[1]", b"\xff\xfe", b'{"metadata": 3}'):
        file.write_bytes(whole)
        with pytest.raises(dh.StoreDamaged, match="cut off, or its checksum"):
            dh.load(store)


@pytest.mark.parametrize("name", ["time", "q", "p", "xi", "v", "xi_mid", "residual", "energy"])
@pytest.mark.parametrize("dtype", ["<i8", "<f4", "<U2", "|b1"])
def test_another_type_of_an_array_is_caught(store, name, dtype):
    """<i8 for <f8 has the same length: without a look at the manifest it loads other numbers."""
    retold(store, lambda _, metadata: metadata[f"{name}/.zarray"].update(dtype=dtype))
    for ask in (lambda: dh.load(store), lambda: go(300, store=store, resume=True)):
        with pytest.raises(dh.StoreDamaged, match=f"'{name}' is of type"):
            ask()


@pytest.mark.parametrize("rows", [10, 400])
def test_arrays_of_other_lengths_than_the_run_are_caught(store, rows):
    retold(store, lambda _, metadata: metadata["q/.zarray"]["shape"].__setitem__(0, rows))
    with pytest.raises(dh.StoreDamaged, match=rf"'q' has {rows} rows .* has 201"):
        dh.load(store)


def test_a_row_of_another_shape_with_chunks_to_match_is_caught(store):
    """32 rows of 4 are as many bytes as 64 of 2."""
    retold(store, lambda _, metadata: metadata["p/.zarray"].update(shape=[201, 4], chunks=[32, 4]))
    with pytest.raises(dh.StoreDamaged, match="'p'"):
        dh.load(store)


def test_no_function_of_the_library_is_called_in_place_of_a_class(store):
    for name in ("start", "step", "weights"):
        retold(store, lambda told, _, name=name: told["scheme"].update({"class": name}))
        with pytest.raises(ValueError, match="cannot be rebuilt from data alone"):
            dh.load(store)


def test_numbers_too_large_for_floats(store):
    retold(store, lambda told, _: told["system"]["leaves"].update(mass=float("inf")))
    with pytest.raises(dh.StoreDamaged, match="mass of ChaplyginSleigh is not finite"):
        dh.load(store)
    assert np.isinf(json.loads("1e999"))


def test_a_system_without_coordinates_has_a_store_too(tmp_path):
    """Its list of coordinates is empty, in a chunk of one."""
    body = dh.systems.ReducedSuslov()
    run = dh.simulate(body, [], [0.3, 0.8], h=0.01, steps=20, store=tmp_path / "run.zarr")
    longer = dh.simulate(body, [], [0.3, 0.8], h=0.01, steps=30, store=tmp_path / "run.zarr", resume=True)
    assert np.array_equal(dh.load(tmp_path / "run.zarr").p[:21], run.p)
    assert len(longer) == 31


# --- stores of from_constraints, before its frames depended on the size of coordinates ---


def skate(q):
    return jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]])


def older(tmp_path, move):
    """A store without the weights that older ones lack, its frame moved."""
    system = dh.from_constraints(lambda q, v: 0.5 * (0.1 * v[0] ** 2 + v[1] ** 2 + v[2] ** 2), skate)
    store = tmp_path / "old.zarr"
    dh.simulate(system, q=[0.3, 0, 0], v=[2.0, np.cos(0.3), np.sin(0.3)], h=0.01, steps=20).save(store)

    def age(manifest, _):
        del manifest["system"]["leaves"]["weights"]
        manifest["start"]["xi"][0] *= move

    retold(store, age)
    return store, system


def test_an_older_store_opens_where_its_frame_is_the_same(tmp_path):
    store, system = older(tmp_path, 1.0)
    run = dh.load(store, system=system)
    assert np.ptp(run.energy) < 1e-12
    assert np.allclose(run.v[0], [2.0, np.cos(0.3), np.sin(0.3)])


def test_an_older_store_in_another_frame_is_refused(tmp_path):
    store, system = older(tmp_path, 1.01)
    with pytest.raises(dh.InputError, match="frame of the system given is not the one"):
        dh.load(store, system=system)
