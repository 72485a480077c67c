"""`discrete-hamel bench`: what it runs, leaves out, writes and refuses. What a clock says is never asserted."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from discrete_hamel import cli
from discrete_hamel.cli import bench

ROOT = Path(__file__).parents[2]
WHY = "the benchmarks are not part of what is distributed"
report, contests, problems = (
    pytest.importorskip(f"benchmarks.{name}", reason=WHY) for name in ("report", "contests", "problems")
)


def fake(rows=(("C", 2.0), ("ours", 3.0)), peers=("gcc",), error=None):
    """A benchmark of two numbers."""

    def measure(rounds, quick):
        for name, ns in rows:
            yield {"who": name, "ns": ns * (1 + quick), "rounds": rounds}
        if error:
            raise error

    def draw(rows):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(1, 1))
        figure.subplots().plot([row["ns"] for row in rows])
        return figure

    ratio = contests.Bar("time over C's", 1.5, 1.3, 1.1)
    return SimpleNamespace(
        __doc__="A contest\n\nOf nothing.", ROUNDS=7, PEERS=peers, measure=measure, bars=lambda _: [ratio], draw=draw
    )


def run(line, monkeypatch, module):
    monkeypatch.setattr(report, "benchmark", lambda name: module)
    return cli.main(["bench", *line.split()])


def test_list_tells_every_benchmark_in_one_line(capsys):
    assert cli.main(["bench", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(report.BENCHMARKS)
    assert all(len(line.split()) > 3 for line in lines)


@pytest.mark.parametrize("name", report.BENCHMARKS)
def test_every_benchmark_has_the_shape(name):
    module = report.benchmark(name)
    title, _, caption = module.__doc__.partition("\n")
    assert title
    assert len(caption) > 100, "say what was set"
    assert module.ROUNDS >= 1
    assert all(callable(getattr(module, part)) for part in ("measure", "bars", "draw"))


def test_rows_and_bars_are_printed_and_a_missed_bar_is_no_failure(capsys, monkeypatch):
    assert run("lanes", monkeypatch, fake()) == 0
    text = capsys.readouterr().out
    assert "who ours, ns 3, rounds 7" in text
    assert "1.5 (bar <= 1.3, aim 1.1): MISSED by a factor of 1.15" in text
    assert "jax " in text
    assert "cores" in text


def test_rounds_and_quick_reach_the_benchmark(capsys, monkeypatch):
    assert run("lanes --rounds 3 --quick", monkeypatch, fake()) == 0
    assert "who ours, ns 6, rounds 3" in capsys.readouterr().out


def test_a_missing_peer_is_skipped_by_name(capsys, monkeypatch):
    assert run("lanes", monkeypatch, fake(peers=("scipy", "no_such_solver"))) == 0
    text = capsys.readouterr().out
    assert "no_such_solver is not installed: skipped" in text
    assert "scipy is not installed" not in text


def test_precision_leaves_out_who_is_missing(monkeypatch):
    precision = report.benchmark("precision")
    monkeypatch.setattr(precision, "installed", lambda name: False)
    methods = {method for method, _ in precision.peers(problems.PROBLEMS["sleigh"], quick=False)}
    assert methods == {"SciPy DOP853", "SciPy Radau"}


def test_out_writes_numbers_plot_and_page_and_keeps_earlier_ones(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "speed"
    assert run(f"lanes --out {out}", monkeypatch, fake(rows=[("ours", float("nan"))])) == 0
    assert run(f"chain --out {out}", monkeypatch, fake()) == 0
    assert str(out.with_suffix(".md")) in capsys.readouterr().out
    stored = json.loads((out / "lanes.json").read_text())
    assert stored["rows"] == [{"who": "ours", "ns": None, "rounds": 7}]
    assert stored["versions"]["jax"]
    page = out.with_suffix(".md").read_text()
    assert page.count("## A contest") == 2
    assert "(speed/chain.png)" in page
    assert (out / "chain.png").stat().st_size > 100
    assert "| ours | 3 | 7 |" in page
    assert "| ours | - | 7 |" in page
    assert "MISSED" in page


def test_what_cannot_be_run_is_told_and_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    broken = fake(error=ZeroDivisionError("no time"))
    assert run(f"lanes chain --out {tmp_path / 'speed'}", monkeypatch, broken) == 1
    assert capsys.readouterr().out.count("who ours") == 2
    assert "It could not be run: ZeroDivisionError: no time" in (tmp_path / "speed.md").read_text()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [("lane", "Did you mean lanes?"), ("lanes --rounds 0", "must be at least 1")],
)
def test_refusals(line, sentence, capsys):
    assert cli.main(["bench", *line.split()]) == 2
    assert sentence in capsys.readouterr().err


def test_outside_of_a_checkout_it_says_where_the_benchmarks_are(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "HERE", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["bench", "--list"]) == 2
    assert "Clone" in capsys.readouterr().err
    monkeypatch.chdir(ROOT)  # in a checkout, but installed elsewhere
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert cli.main(["bench", "--list"]) == 0


def test_bars():
    assert contests.Bar("", 1.0, 1.3, 1.1).verdict() == "reached, the aim too"
    assert contests.Bar("", 1.2, 1.3, 1.1).verdict() == "reached, the aim missed"
    assert contests.Bar("", 5.0, 10, 20, at_least=True).verdict() == "MISSED by a factor of 2"
    assert contests.Bar("", 25.0, 10, at_least=True).verdict() == "reached"
    assert contests.Bar("", float("nan"), 10).verdict() == "not measured"


@pytest.mark.parametrize("name", problems.PROBLEMS)
def test_peers_are_given_the_same_equations_and_the_right_end(name):
    """The equations by hand against Hamel's, by another route: DOP853 of the hand-written ones meets the 80-bit end."""
    from math import cos, sin

    from scipy.integrate import solve_ivp

    import discrete_hamel as dh

    problem = problems.PROBLEMS[name]
    rng = np.random.default_rng(1)
    for _ in range(3):
        y = np.array(problem.start) + 0.1 * rng.standard_normal(len(problem.start))
        q, xi = y[: len(problem.q)], y[len(problem.q) :]
        dq, dxi = dh.vector_field(problem.system, q, xi)
        np.testing.assert_allclose(problem.right(y.tolist(), sin, cos), [*dq, *dxi[: len(xi)]], rtol=1e-12, atol=1e-12)
    run = solve_ivp(
        lambda _, y: problem.right(y.tolist(), sin, cos),
        (0, problem.time),
        problem.start,
        "DOP853",
        rtol=1e-9,
        atol=1e-9,
    )
    np.testing.assert_allclose(run.y[:, -1], problem.end, rtol=0, atol=1e-3)


def test_time_at_an_error():
    time_at = report.benchmark("precision").time_at
    rows = [{"error": 1e-4, "ms": 1.0}, {"error": 1e-6, "ms": 10.0}, {"error": 1e-10, "ms": 1000.0}]
    assert time_at(rows, 1e-5) == pytest.approx(10**0.5)
    assert time_at(rows, 1e-8) == pytest.approx(100)
    assert time_at(rows, 1e-2) == 1.0, "more exact than asked costs what it costs"
    assert np.isnan(time_at(rows, 1e-11)), "no number for what was not reached"
