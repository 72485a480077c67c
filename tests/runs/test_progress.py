"""The line of progress: there after a second where somebody watches, right in its numbers, and silent elsewhere."""

import io
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from runs import go

from discrete_hamel._support import console


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves."""
    now = SimpleNamespace(t=100.0)
    monkeypatch.setattr(console.time, "monotonic", lambda: now.t)
    return now


@pytest.fixture
def terminal(monkeypatch):
    return standard_error(monkeypatch, Screen())


def standard_error(monkeypatch, stream):
    """`stream` as what the module takes for standard error; pytest gives the real one out anew for each test."""
    monkeypatch.setattr(console, "sys", SimpleNamespace(stderr=stream, modules=sys.modules))
    return stream


def counted(clock, total, rate, first=0, show=True):
    """A run at `rate` steps a second, after two seconds of compiling, that reports twenty times a second."""
    with console.Progress(total, show, first) as bar:
        clock.t += 2
        done = first
        while done < total:
            done = min(total, done + max(1, int(rate / 20)))
            clock.t += 1 / 20
            bar.at(done)


def test_rate_and_time_left_are_those_of_the_run_without_compiling(clock, terminal):
    counted(clock, 10_000, 1000)
    lines = terminal.getvalue().split("\r")[1:]
    assert 50 < len(lines) <= 102  # at most ten times a second, in ten seconds
    shown = [re.search(r"(\d+)% .* ([\d,]+) of 10,000 steps, ([\d,]+)/s(?:, (\d+) s left)?", line) for line in lines]
    assert "/s" not in lines[0]  # nothing is known yet
    assert all(shown[1:])
    for match in shown[1:-1]:
        share, done, rate, left = (int(part.replace(",", "") or 0) for part in match.groups("0"))
        assert abs(share - done / 100) <= 1
        assert abs(rate - 1000) <= 10
        assert abs(left - (10_000 - done) / 1000) <= 1.1
    assert re.search(r"1[12] s in all", lines[-1])
    assert terminal.getvalue().endswith("\n")
    assert len({len(line.rstrip("\n")) for line in lines[:-1]}) >= 1
    assert all(len(line) < 120 for line in lines)


def test_a_resumed_run_counts_from_where_it_was(clock, terminal):
    counted(clock, 10_000, 1000, first=8000)
    lines = terminal.getvalue().split("\r")[3:]
    assert "80% " in terminal.getvalue().split("\r")[1] or "81% " in terminal.getvalue().split("\r")[1]
    assert all(re.search(r", 1,0\d\d/s|, 9\d\d/s", line) for line in lines)


def test_short_runs_and_silenced_ones_show_nothing(clock, terminal):
    with console.Progress(100, True) as bar:
        for done in range(100):
            clock.t += 0.005
            bar.at(done + 1)
    counted(clock, 10_000, 1000, show=False)
    assert terminal.getvalue() == ""


def test_pipes_stay_quiet(clock, monkeypatch):
    pipe = standard_error(monkeypatch, io.StringIO())
    counted(clock, 10_000, 1000)
    assert pipe.getvalue() == ""
    standard_error(monkeypatch, None)  # as under pythonw
    counted(clock, 10_000, 1000)


def test_a_failing_run_ends_its_line(clock, terminal):
    def failing():
        with console.Progress(100, True) as bar:
            clock.t += 5
            bar.at(10)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert terminal.getvalue().endswith("in all\n")


class Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, content, raw):
        assert raw
        self.shown.append(("updated", content))


def test_notebooks_have_one_output_that_is_updated(clock, monkeypatch, terminal):
    shown = []

    def display(content, raw, display_id):
        assert (raw, display_id) == (True, True)
        shown.append(("displayed", content))
        return Handle(shown)

    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    counted(clock, 10_000, 1000)
    assert [kind for kind, _ in shown].count("displayed") == 1
    assert shown[0][0] == "displayed"
    assert "100%" in shown[-1][1]["text/plain"]
    assert "\r" not in shown[-1][1]["text/plain"]
    assert terminal.getvalue() == ""
    shell.kernel = None  # IPython in a terminal
    counted(clock, 10_000, 1000)
    assert "100%" in terminal.getvalue()


def test_simulate_reports_its_steps(clock, terminal, monkeypatch):
    plain = console.Progress.at
    monkeypatch.setattr(
        console.Progress, "at", lambda self, done: (setattr(clock, "t", clock.t + 3), plain(self, done))[1]
    )
    go(9000, progress=True)
    assert "9,000 of 9,000 steps" in terminal.getvalue()
    before = terminal.getvalue()
    go(9000, progress=False)
    assert terminal.getvalue() == before


def test_a_run_in_a_pipe_writes_nothing():
    code = (
        "import discrete_hamel as dh\n"
        "from discrete_hamel._support import console\n"
        "console.SILENT = 0.0\n"
        "dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=20_000)\n"
    )
    env = os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "false"}  # with the tests' own jaxlib 0.9.0 writes about it
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert (out.stdout, out.stderr) == ("", "")
