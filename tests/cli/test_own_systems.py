"""Systems from a Python file, and the commands for real work: sweep, show, compare, audit, doctor, completion."""

import json
import subprocess

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.cli import completion, doctor, main, motion_options

SKATE = """
import jax.numpy as jnp
import discrete_hamel as dh

class Skate(dh.System):
    slope: float = 0.1
    rank = 2
    coordinates = ("theta", "x", "y")
    velocities = ("omega", "v1", "v2")

    def lagrangian(self, q, xi):
        return 0.5 * (0.1 * xi[0] ** 2 + xi[1] ** 2 + xi[2] ** 2) + 9.8 * jnp.sin(self.slope) * q[1]

    def frame(self, q):
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return jnp.array([[1, 0, 0], [0, c, -s], [0, s, c]])

def L(q, v, p):
    return 0.5 * (0.1 * v[0] ** 2 + v[1] ** 2 + v[2] ** 2) + p["pull"] * q[1]

def A(q, p):
    return jnp.array([[0, -jnp.sin(q[0]), jnp.cos(q[0])]])

held = dh.from_constraints(L, A, params={"pull": 0.5}, coordinates=("theta", "x", "y"))
"""


@pytest.fixture
def skate(tmp_path):
    path = tmp_path / "skate.py"
    path.write_text(SKATE)
    return str(path)


def asked(line, capsys):
    """The facts that a line prints as JSON, and its exit status."""
    status = main([*line, "--json"])
    return json.loads(capsys.readouterr().out), status


def test_a_class_of_a_file_is_run_with_its_parameters(skate, capsys):
    line = ["run", f"{skate}:Skate", "--set", "slope=0.2", "--q", "0", "0", "0", "--xi", "2", "0", "--steps", "50"]
    facts, status = asked(line, capsys)
    known = motion_options.by_name(f"{skate}:Skate")
    trajectory = dh.simulate(known(slope=0.2), [0, 0, 0], [2, 0], h=0.01, steps=50)
    assert status == 0
    assert facts["names"] == ["theta", "x", "y"]
    np.testing.assert_allclose(facts["end"], trajectory.q[-1], rtol=0, atol=1e-14)
    assert facts["invariants"]["energy"]["largest change"] < 1e-13
    other, _ = asked([word if word != "slope=0.2" else "slope=0.1" for word in line], capsys)
    assert abs(other["end"][1] - facts["end"][1]) > 1e-3


def test_a_system_that_a_file_makes_takes_params_by_name(skate, capsys):
    line = ["run", f"{skate}:held", "--set", "pull=2", "--q", "0", "0", "0", "--v", "2", "0", "0", "--steps", "50"]
    facts, _ = asked(line, capsys)
    L = lambda q, v: 0.5 * (0.1 * v[0] ** 2 + v[1] ** 2 + v[2] ** 2) + 2 * q[1]  # noqa: E731
    blade = dh.from_constraints(L, lambda q: jnp.array([[0, -jnp.sin(q[0]), jnp.cos(q[0])]]))
    by_hand = dh.simulate(blade, [0, 0, 0], v=[2, 0, 0], h=0.01, steps=50)
    np.testing.assert_allclose(facts["end"], by_hand.q[-1], rtol=0, atol=1e-13)


def test_a_run_of_ones_own_system_is_saved_and_shown(skate, tmp_path, capsys):
    store = str(tmp_path / "run.zarr")
    line = ["run", f"{skate}:held", "--q", "0", "0", "0", "--v", "2", "0", "0", "--steps", "20", "--save", store]
    ran, _ = asked(line, capsys)
    shown, status = asked(["show", store, "--system", f"{skate}:held"], capsys)
    assert status == 0
    assert shown["end"] == ran["end"]
    assert main(["show", store]) == 2
    assert "--system FILE.py:NAME" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "other", "start"),
    [("Skate", "slope=0.3", ["--xi", "2", "0"]), ("held", "pull=2", ["--v", "2", "0", "0"])],
)
def test_a_stored_run_is_shown_with_the_values_of_the_store(name, other, start, skate, tmp_path, capsys):
    """The file makes the system with its own: those with which it was run are known to the store alone."""
    store, system = str(tmp_path / "run.zarr"), f"{skate}:{name}"
    ran, _ = asked(
        ["run", system, "--set", other, "--q", "0", "0", "0", *start, "--steps", "9", "--save", store], capsys
    )
    shown, status = asked(["show", store, "--system", system], capsys)
    assert status == 0
    assert shown["end"] == ran["end"]
    assert shown["invariants"] == ran["invariants"]
    assert main(["audit", store, "--system", system]) == 0


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("{}", "defines 2 systems (held, Skate); say which"),
        ("{}:Skat", "Did you mean Skate?"),
        ("missing.py", "there is no file missing.py"),
    ],
)
def test_what_a_file_does_not_have_is_said(name, sentence, skate, capsys):
    assert main(["run", name.format(skate)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_file_that_does_not_run_is_said_with_its_error(tmp_path, capsys):
    path = tmp_path / "broken.py"
    path.write_text("1 / 0\n")
    assert main(["run", str(path)]) == 2
    assert "broken.py does not run: ZeroDivisionError: division by zero" in capsys.readouterr().err


def test_a_sweep_is_the_ensemble_of_its_grid(tmp_path, capsys):
    store = str(tmp_path / "sleighs.zarr")
    line = ["sweep", "ChaplyginSleigh", "--over", "offset=0.1:0.3:3", "--over", "v1=-1,2", "--steps", "20"]
    facts, status = asked([*line, "--store", store], capsys)
    assert (facts["members"], facts["failed"], status) == (6, 0, 0)
    shown, _ = asked(["show", store], capsys)
    assert (shown["members"], shown["finished"]) == (6, 6)
    offsets, speeds = np.repeat([0.1, 0.2, 0.3], 2), np.tile([-1.0, 2.0], 3)
    xi = np.stack([np.full(6, 1.5), speeds], axis=1)
    by_hand = dh.ensemble(
        dh.systems.ChaplyginSleigh(offset=offsets), q=np.tile([0.1, 0, 0], (6, 1)), xi=xi, h=0.01, steps=20
    )
    import xarray

    found = xarray.open_zarr(store, consolidated=False)
    np.testing.assert_array_equal(found.q.values, by_hand.q.values)


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        ("ofset=1,2", "Did you mean offset?"),
        ("offset=1:2", "a range is FIRST:LAST:NUMBER"),
        ("offset", "--over takes NAME=VALUES"),
    ],
)
def test_a_sweep_refuses_in_sentences(over, sentence, tmp_path, capsys):
    assert main(["sweep", "ChaplyginSleigh", "--over", over, "--store", str(tmp_path / "s.zarr")]) == 2
    assert sentence in capsys.readouterr().err


def test_compare_prints_the_table_of_dh_compare(capsys):
    line = ["compare", "ChaplyginSleigh", "--h", "0.05", "--t-end", "0.5", "--schemes", "DiscreteHamel", "Rattle"]
    facts, status = asked(line, capsys)
    kept, refused = facts["rows"]
    assert kept["scheme"] == "DiscreteHamel"
    assert 0 < kept["error"] < 1e-3
    assert refused["reason"]
    assert status == 1  # one of them refused


def test_audit_of_a_run_and_of_its_store_agree(tmp_path, capsys):
    store = str(tmp_path / "run.zarr")
    asked(["run", "ChaplyginSleigh", "--steps", "50", "--save", store], capsys)
    of_run, status = asked(["audit", "ChaplyginSleigh", "--steps", "50"], capsys)
    of_store, _ = asked(["audit", store], capsys)
    assert status == 0
    assert of_run["sound"]
    assert [line["what"] for line in of_run["lines"]] == [line["what"] for line in of_store["lines"]]


def test_the_doctor_finds_what_is_wrong(capsys, monkeypatch):
    facts, status = asked(["doctor"], capsys)
    assert (facts["self-test"], status) == ("passed", 0)
    assert facts["native code"] == "yes"
    monkeypatch.setattr(doctor, "NEAR", 1e-9)  # the scheme is of order two: its error is 2e-5
    facts, status = asked(["doctor"], capsys)
    assert facts["self-test"].startswith("FAILED")
    assert status == 1


def test_bash_completes_commands_options_and_names(capsys, tmp_path, monkeypatch):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    ask = script + '\nCOMP_WORDS=(discrete-hamel {}); COMP_CWORD={}; _discrete_hamel; echo "${{COMPREPLY[@]}}"'

    def completed(words, at):
        command = script + ask[len(script) :].format(words, at)
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout.split()

    assert completed("swe", 1) == ["sweep"]
    assert completed("run ChaplyginSleighM", 2) == ["ChaplyginSleighMomentumFrame"]
    assert "--store" in completed("sweep --st", 2)
    assert completed("compare RollingDisk --schemes CortesM", 4) == ["CortesMartinez"]
    assert completed("figures he_5", 2) == ["he_5a", "he_5b"]
    assert completed("bench traj", 2) == ["trajectory"]
    assert completed("completion z", 2) == ["zsh"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my skate.py").touch()
    ask = script + '\nCOMP_WORDS=(discrete-hamel {}); COMP_CWORD={}; _discrete_hamel; echo "${{#COMPREPLY[@]}}"'
    assert completed("run my", 2) == ["1"]  # a name with a space is one name
    assert completion.script({}).count("complete ") == 1
