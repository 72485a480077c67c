"""Ensembles by many processes: claims, who takes over from whom, and results in memory over shards."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sleighs import BLOCK, DATA, MEMBERS, OFFSETS, XI, digest

import discrete_hamel as dh
from discrete_hamel.cli import launch
from discrete_hamel.runs.ensemble import block_claims, block_runs, ensemble
from discrete_hamel.runs.ensemble.block_claims import Claims
from discrete_hamel.runs.storage import atomic_files

pytest.importorskip("xarray")
pytest.importorskip("zarr")

SCRIPT = Path(__file__).with_name("sleighs.py")
SLEIGHS = dh.systems.ChaplyginSleigh(offset=OFFSETS)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(block_runs, "BLOCK", BLOCK)


@pytest.fixture(scope="module")
def alone():
    """What one process gives, in one block."""
    return ensemble(SLEIGHS, xi=XI, **DATA)


@pytest.fixture
def workers():
    """Starts processes that run the script, and ends them whatever happens."""
    started = []

    def start(how, store, seconds="0", *team):
        command = [sys.executable, str(SCRIPT), how, str(store), seconds, *team]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def team(start, processes, how, store):
    """Processes that know of each other."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    return [start(how, store, "0", place, str(processes), str(k)) for k in range(processes)]


def said(started):
    """What the processes print, line by line of JSON; all have to end well."""
    ended = [(process.communicate(timeout=300), process.returncode) for process in started]
    for (_, errors), code in ended:
        assert code == 0, errors
    return [[json.loads(line) for line in out.splitlines() if line.startswith("[[")] for (out, _), _ in ended]


def chunks(store):
    return sorted(int(f.name.split(".")[0]) for f in (store / "q").glob("[0-9]*[0-9]"))


def until(condition, *processes):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        assert all(process.poll() is None for process in processes)
        time.sleep(0.02)


def left(store):
    """What the dead may leave and the living remove."""
    return [path.name for path in (*(store / block_claims.PLACE).iterdir(), *store.rglob("*.part"))]


def bits(runs, begin=0, end=MEMBERS):
    return {f"{begin} {end}": digest(runs.q.values[begin:end])}


@pytest.fixture
def beat(monkeypatch):
    monkeypatch.setattr(block_claims, "BEAT", 0.05)


def wait_for(claim, number, seconds):
    """Ask for a block until it is given, or not for so long."""
    end = time.monotonic() + seconds
    while not (given := claim.take(number)) and time.monotonic() < end:
        time.sleep(0.01)
    return given


def test_of_many_who_claim_a_block_at_once_one_has_it(tmp_path):
    given, gate = [[] for _ in range(8)], threading.Barrier(8)

    def ask(k):
        with Claims(tmp_path / "claims") as ours:
            gate.wait()
            for number in range(100):
                if ours.take(number):
                    given[k].append(number)
            gate.wait()

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for numbers in given for number in numbers) == list(range(100))
    assert not list((tmp_path / "claims").iterdir())


def test_a_claim_is_void_after_four_beats_of_silence_and_no_sooner(tmp_path, beat):
    with Claims(tmp_path) as living, Claims(tmp_path) as other:
        assert living.take(3)
        assert not wait_for(other, 3, 20 * block_claims.BEAT)
        living.over.set()  # as if it were dead
        living.heart.join()
        assert not other.take(3)
        began = time.monotonic()
        assert wait_for(other, 3, 20)
        assert time.monotonic() - began > 3 * block_claims.BEAT
        assert sorted(path.name for path in tmp_path.iterdir()) == ["3.0", "3.1"]
        with Claims(tmp_path) as third:  # the void claim is not enough: the one after it lives
            assert not wait_for(third, 3, 20 * block_claims.BEAT)
        other.release(3)
        assert not list(tmp_path.iterdir())


def test_of_many_who_find_a_claim_void_one_has_it(tmp_path, beat):
    (tmp_path / "0.0").touch()
    given, gate = [], threading.Barrier(8)

    def ask():
        with Claims(tmp_path) as ours:
            ours.take(0)
            gate.wait()
            time.sleep(2 * block_claims.STALE * block_claims.BEAT)
            gate.wait()
            given.append(ours.take(0))
            gate.wait()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given) == [False] * 7 + [True]


@pytest.mark.parametrize("years", [-30, 30])
def test_clocks_may_differ(years, tmp_path, beat, monkeypatch):
    """The disk's clock, or that of the host that beats, is years off: only whether the time changes counts."""
    utime, off = os.utime, years * 365 * 86_400

    def of_another_clock(path, times=None, **options):
        now = time.time() + off
        utime(path, (now, now), **options)

    monkeypatch.setattr(os, "utime", of_another_clock)
    with Claims(tmp_path) as living, Claims(tmp_path) as other:
        assert living.take(0)
        of_another_clock(tmp_path / "0.0")
        assert not wait_for(other, 0, 20 * block_claims.BEAT)
    dead = tmp_path / "1.0"
    dead.touch()
    of_another_clock(dead)
    with Claims(tmp_path) as other:
        assert not other.take(1)
        assert wait_for(other, 1, 20)


def test_without_room_for_a_claim_there_is_a_sentence(tmp_path):
    (tmp_path / "claims").write_text("")
    with (
        Claims(tmp_path / "claims") as ours,
        pytest.raises(dh.StoreFailed, match="no block can be claimed in .*claims"),
    ):
        ours.take(0)


def test_a_slow_process_whose_block_another_has_written_does_no_harm(tmp_path, alone, monkeypatch):
    """Its claim was void; another has written the block, and taken what this one was writing for what the dead left."""
    store, finish, slow = tmp_path / "runs.zarr", atomic_files.WriteBatch.finish, []
    shards = block_runs.Shards.write

    def after_another(self):
        if any(path.name.startswith("3") for path in self.waiting) and not slow:
            slow.append(self)
            (store / block_claims.PLACE / "9.0").touch()  # of a dead one
            stores[0].write(3, {name: rows.copy() for name, rows in blocks[0].items()})
            stores[0].clear()
            assert not left(store)
        finish(self)

    stores, blocks = [], []

    def noted(self, number, block):
        if number == 3 and not stores:
            stores.append(self)
            blocks.append(block)
        shards(self, number, block)

    monkeypatch.setattr(block_runs.Shards, "write", noted)
    monkeypatch.setattr(atomic_files.WriteBatch, "finish", after_another)
    result = ensemble(SLEIGHS, xi=XI, **DATA, store=store, workers=1)
    assert slow
    assert np.array_equal(result.q, alone.q, equal_nan=True)
    assert not left(store)


@pytest.mark.slow
def test_processes_share_a_store_and_one_that_comes_late_takes_its_part(tmp_path, alone, workers):
    store = tmp_path / "runs.zarr"
    started = [workers("whole", store, "0.5") for _ in range(2)]
    until(lambda: store.exists() and chunks(store), *started)
    started.append(workers("whole", store, "0.5"))
    each = [lines[0] for lines in said(started)]
    ran = sorted(number for blocks, _ in each for number in blocks)
    assert ran == list(range(8))  # none twice
    assert all(found == bits(alone) for _, found in each)
    assert not left(store)
    assert said([workers("whole", store)])[0] == [[[], bits(alone)]]  # one that comes too late only reads


@pytest.mark.slow
def test_whoever_dies_the_others_finish(tmp_path, alone, workers):
    """All but one are killed, the first of them who made the store; then the last is suspended, and taken for dead."""
    store = tmp_path / "runs.zarr"
    first = workers("whole", store, "0.4")
    until(lambda: store.exists() and chunks(store), first)
    first.send_signal(signal.SIGKILL)
    first.wait()
    kept = {k: (store / "q" / f"{k}.0.0").read_bytes() for k in chunks(store)}
    assert len(kept) < 8
    assert left(store)
    slow = workers("whole", store, "0.4")
    until(lambda: len(chunks(store)) > len(kept), slow)
    slow.send_signal(signal.SIGSTOP)
    assert len(chunks(store)) < 8
    others = [workers("whole", store, "0.1") for _ in range(2)]
    assert all(lines[0][1] == bits(alone) for lines in said(others))
    assert not left(store)
    slow.send_signal(signal.SIGCONT)  # it runs again what the others have done
    assert said([slow])[0][0][1] == bits(alone)
    assert not left(store)
    assert all((store / "q" / f"{k}.0.0").read_bytes() == data for k, data in kept.items())


@pytest.mark.slow
def test_two_processes_give_what_one_gives_each_its_shard_or_each_all(alone, workers):
    first, second = said(team(workers, 2, "whole sharded", "memory"))
    assert first[0] == [[0, 2, 4, 6], bits(alone)]
    assert second[0] == [[1, 3, 5, 7], bits(alone)]
    assert first[1] == [[0, 1, 2, 3], bits(alone, 0, MEMBERS // 2)]
    assert second[1] == [[4, 5, 6, 7], bits(alone, MEMBERS // 2)]


@pytest.mark.slow
def test_four_processes_write_each_its_shard_of_one_store(tmp_path, alone, workers):
    store = tmp_path / "runs.zarr"
    each = said(team(workers, 4, "sharded", store))
    assert each == [[[[2 * k, 2 * k + 1], bits(alone)]] for k in range(4)]
    assert chunks(store) == list(range(8))
    (store / "q" / "5.0.0").unlink()
    again = ensemble(SLEIGHS, xi=XI, **DATA, store=store)  # with one process, and all data here
    assert np.array_equal(again.q, alone.q, equal_nan=True)


SCRIPT_THAT_ENDS = "import os, sys\nprint('run')\nmode = sys.argv[1]\n"


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("", 0, ""),
        ("sys.exit(0)", 0, ""),
        ("sys.exit(3)", 3, "process 0 of 2 has ended with code 3"),
        (
            "os.kill(os.getpid(), 9)",
            9,
            "has been killed by signal 9; the same command goes on with what is in the store",
        ),
        ("os.mkdir(mode) if not os.path.exists(mode) else sys.exit(4)", 0, "ended with code 4"),
    ],
)
def test_a_launch_succeeds_if_one_does_and_tells_who_did_not(code, exit_code, words, tmp_path, capfd):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT_THAT_ENDS + code)
    assert launch.main(["--local", "2", str(script), str(tmp_path / "once")]) == exit_code
    out, errors = capfd.readouterr()
    assert out == "run\n" * 2
    assert words in errors
    with pytest.raises(SystemExit):
        launch.main(["--local", "0", str(script)])
    assert "at least 1; got 0" in capfd.readouterr().err
