"""What people install: the sdist and the wheel in an environment of their own, apart from the checkout.

Not among the tests that run by default, as it installs JAX: `.ci/run` asks for it, by `pytest -m installed`. It takes
what `.ci/release` has built into dist/.
"""

import json
import os
import subprocess
import venv
from pathlib import Path

import pytest

import discrete_hamel as dh

ROOT = Path(__file__).parents[1]
README = [ROOT / "tests/test_readme.py", ROOT / "README.md"]
SDIST = ROOT / f"dist/discrete_hamel-{dh.__version__}.tar.gz"
WHEEL = ROOT / f"dist/discrete_hamel-{dh.__version__}-py3-none-any.whl"
WITHOUT = {  # what asks for an extra, and the one that the answer has to name
    "dh.simulate(sleigh, **start).plot()": "plots",
    "dh.simulate(sleigh, **start).animate('run.gif')": "plots",
    "dh.simulate(sleigh, **start).to_xarray()": "archive",
    "dh.ensemble(sleigh, [start['q']] * 2, [start['xi']] * 2, h=0.1, steps=10)": "archive",
    "dh.equations(sleigh)": "sympy",
    "dh.mechanisms.from_mjcf('<mujoco/>')": "mechanisms",
    "dh.testing.check_system(sleigh)": "testing",
}
ASKED = """
import json, sys
import discrete_hamel as dh

sleigh, start = dh.systems.ChaplyginSleigh(), {"q": [0.1, 0, 0], "xi": [1.5, -0.3], "h": 0.1, "steps": 10}
said = {}
for call in json.load(sys.stdin):
    try:
        said[call] = repr(eval(call))
    except Exception as error:
        said[call] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""
STORED = """
import discrete_hamel as dh

start = {"q": [0.1, 0, 0], "xi": [1.5, -0.3], "h": 0.1, "steps": 10, "store": "run.zarr"}
dh.simulate(dh.systems.ChaplyginSleigh(), **start)
again = dh.simulate(dh.systems.ChaplyginSleigh(), **start, resume=True)
print((dh.load("run.zarr").q == again.q).all())
"""

pytestmark = pytest.mark.installed


class Environment:
    """A Python of its own, used from a folder of its own."""

    def __init__(self, place: Path) -> None:
        self.place, self.scripts = place, place / "venv" / "bin"
        venv.create(place / "venv", with_pip=True, symlinks=True)
        self.python = self.scripts / "python"

    def install(self, *words: object) -> None:
        """By pip, which finds what is needed where pip finds it."""
        self.run(self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words)

    def run(self, *words: object, **options: object) -> str:
        """What a command prints; its errors, if it fails, are the test's."""
        free = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        done = subprocess.run(
            [str(word) for word in words], capture_output=True, text=True, cwd=self.place, env=free, **options
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """With the sdist and what it needs, and no extra; the tests below go on with it, in their order."""
    made = Environment(tmp_path_factory.mktemp("empty"))
    made.install(SDIST)
    return made


def test_the_readme_from_the_sdist(empty):
    shown = empty.run(empty.python, *README)
    assert str(empty.place) in shown.splitlines()[0]  # and not from the checkout
    assert shown.count("as shown") == 3
    assert "ChaplyginSleigh" in empty.run(empty.scripts / "discrete-hamel", "systems")


def test_the_readme_from_the_wheel(empty):
    empty.install("--force-reinstall", "--no-deps", WHEEL)
    shown = empty.run(empty.python, *README)
    assert str(empty.place) in shown.splitlines()[0]
    assert shown.count("as shown") == 3


def test_the_doctor_says_what_is_there(empty):
    facts = json.loads(empty.run(empty.python, "-m", "discrete_hamel", "doctor", "--json"))
    assert facts["self-test"] == "passed"
    assert facts["native code"] == "yes"
    assert {facts[name] for name in ("matplotlib", "xarray", "zarr", "mujoco", "sympy")} == {"not installed"}


def test_what_needs_an_extra_names_it(empty):
    said = json.loads(empty.run(empty.python, "-c", ASKED, input=json.dumps(list(WITHOUT))))
    for call, extra in WITHOUT.items():
        assert said[call].startswith("ImportError: "), said[call]
        assert f'pip install "discrete_hamel[{extra}]"' in said[call], said[call]


def test_runs_are_kept_on_disk_without_an_extra(empty):
    assert empty.run(empty.python, "-c", STORED).strip() == "True"
    assert "theta" in empty.run(empty.scripts / "discrete-hamel", "show", "run.zarr")


def test_the_wheel_carries_the_benchmarks(empty):
    assert "discrete_hamel" in empty.run(empty.scripts / "discrete-hamel", "bench", "trajectory", "--quick")


def test_the_wheel_carries_the_figures_inside_the_package(empty):
    empty.install(f"{WHEEL}[plots]")
    claims = empty.run(empty.scripts / "discrete-hamel", "figures", "he_5a", "--out", "figures")
    assert "he_5a" in claims
    assert (empty.place / "figures" / "he_5a.pdf").stat().st_size > 1000
    alone = empty.run(empty.python, "-c", "import importlib.util; print(importlib.util.find_spec('paper_figures'))")
    assert alone.strip() == "None", "paper_figures is a module of its own"
