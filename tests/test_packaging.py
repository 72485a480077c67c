"""What is said of the package in several places is the same there: versions, extras, and what a wheel carries."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import discrete_hamel as dh

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]


def test_the_version_is_the_same_everywhere():
    heading = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    cited = re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    recipe = re.search(r'^  version: "(.+)"', (ROOT / "conda/recipe.yaml").read_text(), re.MULTILINE)[1]
    assert dh.__version__ == heading == cited == recipe
    assert re.fullmatch(r"\d+\.\d+\.\d+", dh.__version__)


def test_the_extras_are_by_purpose_and_all_of_them_is_for_users():
    assert set(EXTRAS) >= {"plots", "archive", "control", "mechanisms", "docs", "dev", "all"}
    (whole,) = EXTRAS["all"]
    asked = set(re.search(r"\[(.*)\]", whole)[1].split(","))
    assert asked == set(EXTRAS) - {"all", "dev", "docs"}
    page = (ROOT / "docs/releases.md").read_text()
    assert all(f"`{extra}`" in page for extra in EXTRAS)


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for():
    recipe = (ROOT / "conda/recipe.yaml").read_text().partition("  run:")[2].partition("tests:")[0]
    asked = {line.strip(" -").replace(" ", "") for line in recipe.splitlines() if line.strip().startswith("- ")}
    assert asked == {*PROJECT["project"]["dependencies"], "python" + PROJECT["project"]["requires-python"]}


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.name)
def test_a_workflow_is_yaml_pinned_and_says_that_it_was_not_run(path):
    text = path.read_text()
    assert set(pytest.importorskip("yaml").safe_load(text)) >= {"name", "jobs"}  # `on` is read as True
    assert "not run" in text.lower().partition("jobs:")[0]
    for action in re.findall(r"uses: *(\S+)", text):
        assert re.search(r"@(v\d+|release/v\d+|[0-9a-f]{40})$", action), f"{action} moves"


def test_a_tag_that_is_not_the_version_is_refused(tmp_path):
    for tag, sentence in (("v9.9.9", "the tag is v9.9.9"), ("0.1.0", "the tag has to be v")):
        done = subprocess.run(
            [ROOT / ".ci/release", tag], capture_output=True, text=True, env=os.environ | {"PYTHON": "false"}
        )
        assert done.returncode == 1
        assert sentence in done.stdout


def test_what_a_wheel_carries():
    """The figures and the benchmarks, inside the package; .ci/run installs one, and uses both."""
    inside = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert inside == {"paper_figures": "discrete_hamel/paper_figures", "benchmarks": "discrete_hamel/benchmarks"}
