"""The command line: what it prints, what it writes, how it refuses, and its exit status."""

import errno
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from jax.errors import JaxRuntimeError

import discrete_hamel as dh
from discrete_hamel import cli
from discrete_hamel.cli import name_lookup, run
from discrete_hamel.cli import value_parser as calls
from discrete_hamel.runs.storage import atomic_files
from paper_figures import FIGURES


def test_systems_lists_the_whole_catalogue(capsys):
    assert cli.main(["systems"]) == 0
    shown = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line}
    assert set(name_lookup.catalogue()) <= shown


@pytest.mark.parametrize("name", sorted(name_lookup.catalogue()))
def test_systems_describes_each(name, capsys):
    assert cli.main(["systems", name]) == 0
    text = capsys.readouterr().out
    assert "parameters" in text
    assert " at 0x" not in text
    assert "<factory>" not in text


def test_run_is_simulate(capsys):
    line = "run ChaplyginSleigh --set mass=2 offset=.25 --q 0.1 -1e-3 0 --xi 1.5,-0.3 --h 0.02 --steps 50"
    assert cli.main(line.split()) == 0
    text = capsys.readouterr().out
    sleigh = dh.systems.ChaplyginSleigh(mass=2.0, offset=0.25)
    traj = dh.simulate(sleigh, q=[0.1, -1e-3, 0], xi=[1.5, -0.3], h=0.02, steps=50)
    ends = {
        word: float(end)
        for word, _, end in re.findall(r"^ +(theta|x|y) \[.*\] +(\S+) +(\S+)$", text, flags=re.MULTILINE)
    }
    np.testing.assert_allclose([ends["theta"], ends["x"], ends["y"]], traj.q[-1], rtol=1e-5)
    assert f"{traj.energy[0]:.6g}" in text


def test_run_takes_the_sample_where_nothing_is_said(capsys):
    assert cli.main(["run", "chaplyginsleigh", "--steps", "5"]) == 0
    assert "6 nodes" not in capsys.readouterr().err


def test_run_plots_and_saves(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("zarr")
    picture, store = tmp_path / "run.png", tmp_path / "run.zarr"
    assert cli.main(["run", "ChaplyginSleigh", "--steps", "5", "--plot", str(picture), "--save", str(store)]) == 0
    assert picture.stat().st_size > 1000
    assert store.exists()
    assert str(picture) in capsys.readouterr().out


def test_run_animates(tmp_path, capsys):
    Image = pytest.importorskip("PIL.Image")
    film = tmp_path / "sleigh.gif"
    assert cli.main(["run", "ChaplyginSleigh", "--steps", "100", "--animate", str(film), "--seconds", "0.4"]) == 0
    with Image.open(film) as picture:
        assert picture.n_frames == 11
    assert str(film) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("run ChaplyginSleigh --animate run.avi", "'run.avi' ends in .avi"),
        ("run ChaplyginSleigh --animate nowhere/run.gif", "there is no folder"),
        ("run ChaplyginSleigh --plot run.avi", "'run.avi' is none of these"),
        ("run ChaplyginSleigh --animate run.gif --seconds 0", "must be more than 0"),
        ("run ChaplyginSleigh --seconds 2", "give --animate FILE"),
        ("run ChaplyginSleigh --steps 0 --plot run.png", "nothing to draw"),
        ("run ReducedSuslov --animate run.gif", "it is reduced"),
        ("run RollingDisk --animate run.gif --seconds 1e9", "has 25000000000 frames, more than 20000"),
        ("run RollingDisk --animate run.gif --seconds 801", "has 20025 frames"),
        ("run RollingDisk --animate run.gif --steps 100000000", "let it last 800 seconds or less"),
        ("run RollingDisk --animate=", "--animate needs the name of a file"),
        ("run RollingDisk --plot=", "--plot needs the name of a file"),
    ],
)
def test_what_cannot_be_drawn_is_said_before_the_run(line, sentence, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(dh, "simulate", lambda *_, **__: pytest.fail("it ran"))
    assert cli.main(line.split()) == 2
    assert sentence in capsys.readouterr().err


def test_a_store_that_cannot_be_made_is_said_before_the_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dh, "simulate", lambda *_, **__: pytest.fail("it ran"))
    assert cli.main(["run", "ChaplyginSleigh", "--save", str(tmp_path)]) == 2
    shown = capsys.readouterr().err
    assert f"--save {tmp_path}: it exists already" in shown
    assert "resume" not in shown
    assert cli.main(["run", "ChaplyginSleigh", "--save", ""]) == 2
    assert "'' is no path for a store" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--plot run.png", "--animate run.gif"])
def test_a_missing_matplotlib_is_said_before_the_run(option, capsys, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(dh, "simulate", lambda *_, **__: pytest.fail("it ran"))
    assert cli.main(["run", "ChaplyginSleigh", *option.split()]) == 2
    assert 'pip install "discrete_hamel[plots]"' in capsys.readouterr().err


def test_a_reduced_system_shows_its_velocities(capsys):
    assert cli.main(["run", "ReducedSuslov", "--steps", "5"]) == 0
    assert re.search(r"^ +xi1 \[rad/s\] +0.8 +\S+$", capsys.readouterr().out, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("line", "nearest"),
    [("runn ChaplyginSleigh", "Did you mean run?"), ("run ChaplyginSleigh --stpes 10", "Did you mean --steps?")],
)
def test_a_mistyped_command_or_option_names_the_nearest(line, nearest, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(line.split())
    assert stop.value.code == 2
    assert nearest in capsys.readouterr().err


def test_a_shortened_option_is_refused_before_anything_runs(capsys):
    with pytest.raises(SystemExit):
        cli.main(["figures", "--ful"])
    assert "Did you mean --full?" in capsys.readouterr().err


def test_figures_are_listed_with_their_titles(capsys):
    assert cli.main(["figures", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(FIGURES)
    assert lines[0].split(maxsplit=1) == ["he_1", "[HE] figure 1: the Chaplygin sleigh"]


def test_a_run_prints_its_units(capsys):
    assert cli.main(["run", "ChaplyginSleigh", "--steps", "3"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ +theta \[rad\] +0\.1 ", out, re.MULTILINE)
    assert re.search(r"^ +energy \[J\] +1\.0125 ", out, re.MULTILINE)


def test_a_long_list_is_shown_only_where_no_name_is_near(capsys):
    cli.main(["systems", "RolingDisk"])
    assert "There are" not in capsys.readouterr().err
    cli.main(["systems", "qwerty"])
    assert "ChaplyginSleigh" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "nearest"),
    [
        ("systems ChaplyginSley", "Did you mean ChaplyginSleigh?"),
        ("run RolingDisk", "Did you mean RollingDisk?"),
        ("run RollingDisk --set mas=2", "Did you mean mass?"),
        ("run RollingDisk --scheme DiscreteHamil", "Did you mean DiscreteHamel?"),
        ("run RollingDisk --scheme DiscreteHamel(tao=.4)", "Did you mean tau?"),
        ("figures he_4", "Did you mean he_4"),
    ],
)
def test_a_typo_names_the_nearest(line, nearest, capsys):
    assert cli.main(line.split()) == 2
    assert nearest in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("run ChaplyginSleigh --set mass", "NAME=VALUE"),
        ("run ChaplyginSleigh --set mass=heavy", "--set mass=heavy: 'heavy' is not a number"),
        ("run ChaplyginSleigh --set mass=2,3", "is one number"),
        ("run ChaplyginSleigh --q 0 0", "--q takes 3 numbers, (theta, x, y)"),
        ("run ChaplyginSleigh --q 0 0 zero", "--q takes numbers"),
        ("run ChaplyginSleigh --q 0 0 0 --xi 1 0 --v 1 0 0", "give the initial velocity once"),
        ("run ChaplyginSleigh --h 0", "not zero"),
        pytest.param(f"run ChaplyginSleigh --set mass={'-' * 100_000}1", "...' is not a number", id="many signs"),
        pytest.param(f"run ChaplyginSleigh --set mass={'(' * 3000}", "(((...' is not a number", id="many brackets"),
        pytest.param(f"run ChaplyginSleigh --scheme {'Gauss(' * 3000}", "...' is not a scheme", id="many calls"),
        pytest.param(f"run ChaplyginSleigh --scheme 1+{'-' * 100_000}1", "is not a scheme", id="a scheme of signs"),
        ("run NSpherePendulum --set dimension=1", "must be at least 2; it is 1"),
        ("run NSpherePendulum --set mass=1e999", "is not finite"),
        ("run ChaplyginSleigh --scheme open('x')", "no scheme 'open'"),
        ("run ChaplyginSleigh --scheme DiscreteHamel(1,2,3)", "cannot be made"),
        ("run ChaplyginSleigh --scheme Scheme", "there is no scheme 'Scheme'"),
        ("compare ChaplyginSleigh --t-end -1", "t_end = -1 is not after the start"),
        ("compare ChaplyginSleigh --h 0.1 --t-end 0.25", "not a whole number of steps"),
        ("audit nowhere.zarr", "there is no store at nowhere.zarr"),
        ("show nowhere.zarr", "nowhere.zarr does not exist; run --save and sweep --store make one"),
    ],
)
def test_refusals_are_sentences(line, sentence, capsys):
    assert cli.main(line.split()) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "audit"])
def test_a_folder_that_is_no_store_is_said_to_be_none(command, tmp_path, capsys):
    assert cli.main([command, str(tmp_path)]) == 2
    shown = capsys.readouterr().err
    assert f"{tmp_path} is no Zarr store" in shown
    assert "--system" not in shown  # which would not help


def test_a_word_too_many_is_not_taken_for_a_mistyped_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["doctor", "now"])
    shown = capsys.readouterr().err
    assert "unrecognized arguments: now" in shown
    assert "Did you mean" not in shown


def test_a_run_that_fails_shows_what_it_had_and_exits_with_1(capsys, monkeypatch):
    def stopped(system, q, xi, **options):
        options.pop("steps")
        partial = real(system, q, xi, steps=3, **options)
        raise dh.NewtonFailed("step 4: no.", partial)

    real = dh.simulate
    monkeypatch.setattr(dh, "simulate", stopped)
    assert cli.main(["run", "ChaplyginSleigh"]) == 1
    shown = capsys.readouterr()
    assert "4 nodes" in shown.out
    assert "step 4: no." in shown.err


def test_schemes_are_read_with_their_parameters():
    known = name_lookup.schemes()
    scheme = calls.scheme("discretehamel(tau=0.25)", known, name_lookup.choose)
    assert type(scheme) is dh.DiscreteHamel
    assert scheme.tau == 0.25
    assert type(calls.scheme("StaggeredHamel", known, name_lookup.choose)) is dh.StaggeredHamel


@pytest.mark.parametrize("line", [["--help"], ["run", "--help"], ["figures", "--help"], ["--version"]])
def test_help(line, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(line)
    assert stop.value.code == 0
    assert capsys.readouterr().out


def test_no_command_is_refused(capsys):
    assert cli.main([]) == 2
    assert "discrete-hamel run ChaplyginSleigh" in capsys.readouterr().err  # with what there is


@pytest.mark.parametrize(
    "failure", [MemoryError(), JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes.")]
)
def test_no_memory_is_said_in_a_sentence(failure, capsys, monkeypatch):
    def out_of_memory(*_, **__):
        raise failure

    monkeypatch.setattr(dh, "simulate", out_of_memory)
    assert cli.main(["run", "ChaplyginSleigh"]) == 1
    assert re.search("out of memory.*", capsys.readouterr().err, flags=re.IGNORECASE)


def test_a_run_beyond_the_memory_is_refused_before_it(capsys, monkeypatch):
    monkeypatch.setattr(dh, "simulate", lambda *_, **__: pytest.fail("it ran"))
    monkeypatch.setattr(run, "memory", lambda: 1e9)
    assert cli.main(["run", "ChaplyginSleigh", "--steps", "100000000"]) == 2
    shown = capsys.readouterr().err
    assert "100000001 nodes need 5.6 GB at least, and there are 1.0" in shown
    thinned = re.search(r"--save-every (\d+)", shown)[1]
    with pytest.raises(pytest.fail.Exception, match="it ran"):
        cli.main(["run", "ChaplyginSleigh", "--steps", "100000000", "--save-every", thinned])


def test_a_full_disk_is_spoken_of_and_nothing_is_left(tmp_path, capsys, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), f"{path}.part")

    monkeypatch.setattr(atomic_files, "flush", full)
    assert cli.main(["run", "ChaplyginSleigh", "--steps", "5", "--save", str(tmp_path / "run.zarr")]) == 2
    shown = capsys.readouterr().err
    assert f"no store can be made at {tmp_path / 'run.zarr'}: No space left on device" in shown
    assert ".part" not in shown
    assert os.listdir(tmp_path) == []


def test_figures_are_listed_under_oo():
    line = [sys.executable, "-OO", "-m", "discrete_hamel", "figures", "--list"]
    shown = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert set(FIGURES) <= set(shown.stdout.split())


def test_an_option_of_another_command_is_said_to_be_one(capsys):
    with pytest.raises(SystemExit):
        cli.main(["run", "ChaplyginSleigh", "--store", "run.zarr"])
    said = capsys.readouterr().err
    assert "another command has it" in said
    assert "Did you mean" not in said


def test_the_catalogue_as_json(capsys):
    assert cli.main(["systems", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ChaplyginSleigh"].startswith("A platform")
    for name in ("ChaplyginSleigh", "WhippleBicycle", "ConvexBody"):
        assert cli.main(["systems", name, "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["system"] == name
        assert set(facts["defaults"]) <= set(facts["parameters"])
    assert cli.main(["systems", "ChaplyginSleigh", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["coordinates"], facts["rank"], facts["sample"]["h"] > 0) == (["theta", "x", "y"], 2, True)
