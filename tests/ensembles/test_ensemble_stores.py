"""Stores of ensembles: blocks whole or absent, taken up again, shared by processes of which one may die."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.ensembles import ensemble, runs

pytest.importorskip("xarray")
pytest.importorskip("zarr")

MEMBERS, STEPS = 600, 30
XI = np.stack([np.linspace(1, 2, MEMBERS), np.full(MEMBERS, -0.3)], axis=1)
SLEIGH = dh.systems.ChaplyginSleigh()
DATA = {"q": [0.1, 0, 0], "xi": XI, "h": 0.02, "steps": STEPS, "save_every": 10}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(runs, "BLOCK", 128)


@pytest.fixture(scope="module")
def in_memory():
    return ensemble(SLEIGH, **DATA)


def chunks(store, name="q"):
    return sorted(int(f.name.split(".")[0]) for f in (store / name).iterdir() if f.name[0].isdigit())


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
    whole = runs.Run.block
    monkeypatch.setattr(runs.Run, "block", lambda self, number: ran.append(number) or whole(self, number))
    again = ensemble(SLEIGH, **DATA, store=store, resume=True)
    assert sorted(ran) == [1, 3]
    assert np.array_equal(again.q, in_memory.q)
    assert np.array_equal(again.xi, in_memory.xi)


def test_a_run_that_stops_halfway_goes_on(tmp_path, in_memory, monkeypatch):
    store, whole = tmp_path / "runs.zarr", runs.Run.block

    def until_two(self, number):
        if number == 2:
            raise KeyboardInterrupt
        return whole(self, number)

    monkeypatch.setattr(runs.Run, "block", until_two)
    with pytest.raises(KeyboardInterrupt):
        ensemble(SLEIGH, **DATA, store=store, workers=1)
    assert {0, 1} <= set(chunks(store))
    assert 2 not in chunks(store)
    monkeypatch.setattr(runs.Run, "block", whole)
    assert np.array_equal(ensemble(SLEIGH, **DATA, store=store, resume=True).q, in_memory.q)


def test_another_ensemble_is_refused_and_the_difference_told(tmp_path):
    store = tmp_path / "runs.zarr"
    ensemble(SLEIGH, **DATA, store=store)
    with pytest.raises(FileExistsError, match="resume=True"):
        ensemble(SLEIGH, **DATA, store=store)
    for change, word in (
        ({"h": 0.01}, "h: 0.02 -> 0.01"),
        ({"xi": XI * 1.01}, "start"),
        ({"scheme": dh.DiscreteHamel(tau=0.25)}, "tau"),
        ({"steps": 60}, "nodes: 3 -> 6"),
    ):
        with pytest.raises(ValueError, match=word):
            ensemble(SLEIGH, **(DATA | change), store=store, resume=True)
    with pytest.raises(ValueError, match="offset|start"):
        ensemble(dh.systems.ChaplyginSleigh(offset=0.3), **DATA, store=store, resume=True)


def highest(sign):
    return dh.Reduction(
        start=lambda system, q, xi: {"highest": sign * q[1]},
        update=lambda kept, system, q, xi: {"highest": jnp.maximum(kept["highest"], sign * q[1])},
    )


def test_another_reduction_of_the_same_name_is_refused(tmp_path):
    store, data = tmp_path / "runs.zarr", DATA | {"xi": XI[:128]}
    made = ensemble(SLEIGH, **data, reduction=highest(1.0), store=store)
    again = ensemble(SLEIGH, **data, reduction=highest(1.0), store=store, resume=True)  # new functions, the same code
    assert np.array_equal(made.highest, again.highest)
    with pytest.raises(ValueError, match="the code of the reduction's update has changed"):
        ensemble(SLEIGH, **data, reduction=highest(-1.0), store=store, resume=True)
    with pytest.raises(ValueError, match="keeps"):
        ensemble(SLEIGH, **data, store=store, resume=True)


def test_an_ensembles_store_is_not_taken_for_a_runs_nor_the_other_way(tmp_path):
    ensemble(SLEIGH, **DATA, store=tmp_path / "runs.zarr")
    with pytest.raises(ValueError, match=r"store of an ensemble, not of one run: xarray.open_zarr.* resume=True"):
        dh.load(tmp_path / "runs.zarr")
    dh.simulate(SLEIGH, q=[0.1, 0, 0], xi=[1.0, -0.3], h=0.02, steps=30, store=tmp_path / "run.zarr")
    with pytest.raises(ValueError, match="store of one run, not of an ensemble"):
        ensemble(SLEIGH, **DATA, store=tmp_path / "run.zarr", resume=True)


def test_a_second_launch_is_refused_while_the_first_writes(tmp_path, in_memory, monkeypatch):
    store, whole, refusals = tmp_path / "runs.zarr", runs.Run.block, []

    def meanwhile(self, number):
        monkeypatch.setattr(runs.Run, "block", whole)
        with pytest.raises(dh.StoreBusy, match=f"is being written by process {os.getpid()}") as refusal:
            ensemble(SLEIGH, **DATA, store=store, resume=True)
        refusals.append(refusal)
        return whole(self, number)

    monkeypatch.setattr(runs.Run, "block", meanwhile)
    ensemble(SLEIGH, **DATA, store=store, workers=1)
    assert len(refusals) == 1
    again = ensemble(SLEIGH, **DATA, store=store, resume=True)  # it was freed
    assert np.array_equal(again.q, in_memory.q)


SCRIPT = """
import json, sys
import numpy as np
import discrete_hamel as dh
from discrete_hamel.ensembles import ensemble, runs

runs.BLOCK = 128
store, slow = sys.argv[1], float(sys.argv[2])
if slow:
    import time
    whole = runs.Run.block
    def slowly(self, number):
        time.sleep(slow)
        return whole(self, number)
    runs.Run.block = slowly
xi = np.stack([np.linspace(1, 2, 600), np.full(600, -0.3)], axis=1)
data = {"q": [0.1, 0, 0], "xi": xi, "h": 0.02, "steps": 30, "save_every": 10}
where = {"store": store, "resume": True} if store != "memory" else {}
result = ensemble(dh.systems.ChaplyginSleigh(), **data, **where, workers=1)
print(json.dumps([int(result.finished.values.sum()), float(result.q.values.sum())]), flush=True)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def launched(script, processes, *arguments, patience=60.0):
    """The processes of one run on this machine, as `launch` starts them on several."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "discrete_hamel.launch", "--coordinator", place, "--processes", str(processes)]
    environment = os.environ | {"DISCRETE_HAMEL_PATIENCE": str(patience)}
    return [
        subprocess.Popen(
            [*command, "--process", str(k), str(script), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for k in range(processes)
    ]  # fmt: skip


@pytest.mark.slow
def test_two_processes_give_what_one_gives(script, in_memory):
    ended = [(p.communicate(timeout=300), p.returncode) for p in launched(script, 2, "memory", "0")]
    for (out, errors), code in ended:
        assert code == 0, errors
        finished, total = json.loads(out.splitlines()[-1])
        assert finished == MEMBERS
        assert total == float(in_memory.q.values.sum())  # bit for bit


@pytest.mark.slow
def test_a_process_that_dies_is_told_of_and_a_relaunch_goes_on(script, tmp_path, in_memory):
    store = tmp_path / "runs.zarr"
    processes = launched(script, 2, str(store), "1.5", patience=6)
    deadline = time.monotonic() + 240
    while not (store.exists() and len(chunks(store, "plain_steps")) >= 2):
        assert time.monotonic() < deadline
        assert processes[0].poll() is None, processes[0].communicate()[1]
        time.sleep(0.05)
    processes[1].send_signal(signal.SIGKILL)
    processes[1].communicate(timeout=60)
    _, errors = processes[0].communicate(timeout=240)
    assert processes[0].returncode == 1
    assert "process 1 of 2 has given no sign of life" in errors
    assert "resume=True" in errors
    assert "Traceback" not in errors
    kept = {k: (store / "q" / f"{k}.0.0").read_bytes() for k in chunks(store)}
    assert 0 < len(kept) < 5
    for process in launched(script, 2, str(store), "0"):
        out, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert json.loads(out.splitlines()[-1])[0] == MEMBERS
    again = ensemble(SLEIGH, **DATA, store=store, resume=True)
    assert np.array_equal(again.q, in_memory.q)
    assert all((store / "q" / f"{k}.0.0").read_bytes() == data for k, data in kept.items())
