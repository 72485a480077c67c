"""Ensembles by many processes and on many devices: shares, shards, and what happens when a process dies."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from sleighs import BLOCK, DATA, MEMBERS, OFFSETS, XI, digest

import discrete_hamel as dh
from discrete_hamel.cli import launch
from discrete_hamel.runs.ensemble import ensemble, processes, runs

pytest.importorskip("xarray")
pytest.importorskip("zarr")

SCRIPT = Path(__file__).with_name("sleighs.py")
SLEIGHS = dh.systems.ChaplyginSleigh(offset=OFFSETS)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(runs, "BLOCK", BLOCK)


@pytest.fixture(scope="module")
def alone():
    """What one process gives, in one block."""
    return ensemble(SLEIGHS, xi=XI, **DATA)


def launched(processes, how, store, seconds="0", patience=60.0):
    """The processes of one run on this machine, as `launch` starts them on several."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "discrete_hamel.cli.launch", "--coordinator", place, "--processes", str(processes)]
    environment = os.environ | {"DISCRETE_HAMEL_PATIENCE": str(patience)}
    return [
        subprocess.Popen(
            [*command, "--process", str(k), str(SCRIPT), how, str(store), seconds],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for k in range(processes)
    ]  # fmt: skip


def said(launched):
    """What the processes print, line by line of JSON; all have to end well."""
    ended = [(process.communicate(timeout=300), process.returncode) for process in launched]
    for (_, errors), code in ended:
        assert code == 0, errors
    return [[json.loads(line) for line in out.splitlines() if line.startswith("[[")] for (out, _), _ in ended]


def chunks(store):
    return sorted(int(f.name.split(".")[0]) for f in (store / "q").glob("[0-9]*[0-9]"))


def bits(runs, begin=0, end=MEMBERS):
    return {f"{begin} {end}": digest(runs.q.values[begin:end])}


@pytest.mark.slow
def test_two_processes_give_what_one_gives_each_its_shard_or_each_all(alone):
    first, second = said(launched(2, "whole sharded", "memory"))
    assert first[0] == [[0, 2, 4, 6], bits(alone)]
    assert second[0] == [[1, 3, 5, 7], bits(alone)]
    assert first[1] == [[0, 1, 2, 3], bits(alone, 0, MEMBERS // 2)]
    assert second[1] == [[4, 5, 6, 7], bits(alone, MEMBERS // 2)]


@pytest.mark.slow
def test_four_processes_write_each_its_shard_of_one_store(tmp_path, alone):
    store = tmp_path / "runs.zarr"
    each = said(launched(4, "sharded", store))
    assert each == [[[[2 * k, 2 * k + 1], bits(alone)]] for k in range(4)]
    assert chunks(store) == list(range(8))
    (store / "q" / "5.0.0").unlink()
    again = ensemble(SLEIGHS, xi=XI, **DATA, store=store, resume=True)  # with one process, and all data here
    assert np.array_equal(again.q, alone.q, equal_nan=True)


def ended_by_a_death(store, victims):
    """Two processes share a store and one is killed halfway: what the other says, its code, and who stood by."""
    running = launched(2, "whole", store, "0.7", patience=3)
    deadline = time.monotonic() + 240
    while not (store.exists() and len(chunks(store)) >= 2):
        assert time.monotonic() < deadline
        assert running[0].poll() is None, running[0].communicate()[1]
        time.sleep(0.05)
    who = 0 if "0" in victims else 1
    children = Path(f"/proc/{running[who].pid}/task/{running[who].pid}/children").read_text().split()
    if "keeper" in victims:
        for child in children:
            os.kill(int(child), signal.SIGKILL)
    running[who].send_signal(signal.SIGKILL)
    _, errors = running[1 - who].communicate(timeout=240)
    running[who].communicate(timeout=60)
    return errors, running[1 - who].returncode, children


def alive(process):
    """Whether a process runs, and does not only wait for somebody to look at its exit code."""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["0", "1"])
def test_a_process_that_dies_is_told_of_and_a_relaunch_goes_on(victim, tmp_path, alone):
    store = tmp_path / "runs.zarr"
    errors, code, keepers = ended_by_a_death(store, victim)
    assert code == 1
    assert f"process {victim} of 2 has given no sign of life" in errors
    assert f"Finished blocks are in {store}; launch the same command again with resume=True" in errors
    assert "Traceback" not in errors
    kept = {k: (store / "q" / f"{k}.0.0").read_bytes() for k in chunks(store)}
    assert 2 <= len(kept) < 8
    again = ensemble(SLEIGHS, xi=XI, **DATA, store=store, resume=True)
    assert np.array_equal(again.q, alone.q, equal_nan=True)
    assert all((store / "q" / f"{k}.0.0").read_bytes() == data for k, data in kept.items())
    deadline = time.monotonic() + 60
    while any(alive(keeper) for keeper in keepers):  # nothing stays behind
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.slow
def test_what_jax_ends_at_once_has_last_words_too(tmp_path):
    """When the machine of process 0 goes with all on it, JAX ends the others; who stands by them tells how to go on."""
    errors, code, _ = ended_by_a_death(tmp_path / "runs.zarr", "0 and its keeper")
    assert code != 0
    assert "process 1 of 2 has ended without a word" in errors.splitlines()[-1]
    assert "launch the same command again with resume=True" in errors.splitlines()[-1]
    assert len(chunks(tmp_path / "runs.zarr")) >= 2


class Service:
    """Stands for JAX's coordination service."""

    def __init__(self):
        self.said, self.gone = {}, False

    def _reached(self):
        if self.gone:
            raise RuntimeError("UNAVAILABLE: connection refused")

    def key_value_set(self, key, value, allow_overwrite=False):
        self._reached()
        assert allow_overwrite or key not in self.said
        self.said[key] = value

    def key_value_try_get(self, key):
        self._reached()
        return self.said[key]

    def blocking_key_value_get(self, key, milliseconds):
        self._reached()
        if key not in self.said:
            time.sleep(milliseconds / 1000)
            raise RuntimeError("DEADLINE_EXCEEDED")
        return self.said[key]


@pytest.fixture
def pair(monkeypatch):
    """The first of two processes that share a store, impatient, and the service."""
    monkeypatch.setenv(processes.PATIENCE, "1.2")
    monkeypatch.setattr(processes, "BEAT", 0.02)
    service = Service()
    return processes.Several(service, 0, 2, "Finished blocks are in runs.zarr"), service


def test_one_that_ends_early_says_why_to_the_others(pair):
    first, service = pair
    processes.ended(service, 1, "OSError: no space left on device")
    with pytest.raises(processes.ProcessLost, match=r"1 of 2 has ended with OSError: no space.*in runs\.zarr"):
        first.all_done()


def test_silence_is_death_and_a_slow_process_is_not(pair):
    first, service = pair
    processes.living(service, 1)
    done = threading.Timer(3.0, service.key_value_set, (f"{first.room}/done/1", ""))  # longer than the patience
    done.start()
    first.all_done()
    done.join()
    silent = processes.Several(service, 0, 3, "Finished blocks are in runs.zarr")
    service.said["discrete_hamel/alive/2"] = "its last"
    service.said[f"{silent.room}/data/1"] = ""
    begin = time.monotonic()
    with pytest.raises(processes.ProcessLost, match="process 2 of 3 has given no sign of life"):
        silent.exchange("data", "")
    assert 1.2 < time.monotonic() - begin < 30


def test_without_the_service_there_is_a_sentence_too(pair):
    first, service = pair
    service.gone = True
    with pytest.raises(processes.ProcessLost, match=r"machine of process 0 has died or is out of reach"):
        first.all_done()


def test_what_breaks_off_while_all_compute_is_told(pair):
    first, service = pair
    service.said[f"{first.room}/computing/1/1"] = ""
    with pytest.raises(processes.ProcessLost, match=r"broke off.*Connection closed by peer"), first.computing():
        raise jax.errors.JaxRuntimeError("INTERNAL: Gloo: Connection closed by peer")


@pytest.mark.parametrize("code", ["", "0", "None"])
def test_a_script_may_end_itself(code, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import sys; sys.exit({code})")
    launch._run(str(script))
    script.write_text("import sys; sys.exit(3)")
    with pytest.raises(SystemExit):
        launch._run(str(script))
