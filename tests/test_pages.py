"""The pages in docs/ for those who carry on: their programs run, their labels are the code's, their paths are there."""

import ast
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_layers import ROOMS
from test_readme import blocks, printed

import discrete_hamel as dh

ROOT = Path(__file__).parents[1]
PACKAGE = Path(dh.__file__).parent
DOCS = ROOT / "docs"
HOW_TO = sorted(page.stem for page in (DOCS / "how_to").glob("*.md"))
PAGES = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("how_to/*.md")), ROOT / "CONTRIBUTING.md", ROOT / "README.md"]
SOURCES = sorted(PACKAGE.rglob("*.py"))


def pages_with_programs():
    how_to = [f"how_to/{page}" for page in HOW_TO if "```python" in (DOCS / "how_to" / f"{page}.md").read_text()]
    return ["add_a_system", "add_a_scheme", "mechanisms", "theory", *how_to]


@pytest.mark.parametrize("page", pages_with_programs())
def test_the_programs_of_a_page_print_what_it_shows(page):
    codes, expected = zip(*blocks((DOCS / f"{page}.md").read_text()), strict=True)
    assert any(expected)
    assert printed(list(codes)) == list(expected)


def edits(text: str) -> list[tuple[str, str, str]]:
    """(path, what stands there, what is to stand there) of each hunk of the page's diffs."""
    found = []
    for diff in re.findall(r"^```diff\n--- (\S+)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        for hunk in diff[1].split("@@\n"):
            lines = hunk.splitlines(keepends=True)
            old, new = ("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
            found.append((diff[0], old, new))
    return found


def test_a_primitive_is_added_by_what_its_page_says(tmp_path):
    """To a copy of the package: before, the run is on the plain path; after, on the compiled one, as the page shows."""
    text = (DOCS / "add_a_primitive.md").read_text()
    ((program, before),) = blocks(text)
    after = re.findall(r"^```text\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)[-1]
    shutil.copytree(PACKAGE, tmp_path / "discrete_hamel", ignore=shutil.ignore_patterns("__pycache__"))

    def prints() -> str:
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
        ).stdout

    assert prints() == before
    for path, old, new in edits(text):
        source = (tmp_path / path).read_text()
        assert source.count(old) == 1, f"{path} has not what the page changes: {old}"
        (tmp_path / path).write_text(source.replace(old, new))
    assert prints() == after


# --- docs/equations.md ---

LABEL = re.compile(r"(?<![\w\]])\(([A-Z]\d?)\)")
PARAMETER = re.compile(r"^\s+\w+: float\b")  # whose comment may end with the letter that a paper has for it


def labels_of(text: str) -> set[str]:
    return {label for line in text.splitlines() if not PARAMETER.match(line) for label in LABEL.findall(line)}


def test_the_labels_of_the_code_are_those_of_the_page():
    headings = re.findall(r"^## \((\w+)\)", (DOCS / "equations.md").read_text(), flags=re.MULTILINE)
    assert len(headings) == len(set(headings)), "a label stands twice"
    cited = set().union(*(labels_of(path.read_text()) for path in SOURCES))
    assert cited == set(headings)


def test_each_label_stands_in_the_code_that_the_page_names():
    for section in re.split(r"^## ", (DOCS / "equations.md").read_text(), flags=re.MULTILINE)[1:]:
        if not section.startswith("("):
            continue
        label = section[1 : section.index(")")]
        assert "Source: " in section, label
        (path, name), *_ = re.findall(r"Code:\s`([\w/.]+)`,\s`(\w+)`", section)
        tree = ast.parse((PACKAGE / path).read_text())
        (definition,) = [node for node in ast.walk(tree) if getattr(node, "name", None) == name]
        assert f"({label})" in (ast.get_docstring(definition) or ""), f"{name} in {path} does not say ({label})"


def test_the_table_without_labels_names_what_is_there():
    for name, path in re.findall(r"`(\w+)` in `([\w/.]+)`", (DOCS / "equations.md").read_text()):
        tree = ast.parse((PACKAGE / path).read_text())
        assert name in {getattr(node, "name", None) for node in ast.walk(tree)}, f"{name} is not in {path}"


# --- docs/architecture.md ---

WALKS = """
import json, jax
from benchmarks.walks import WALKS, dh, entries, visited

seen = {}
for name, walk in WALKS.items():
    dh.clear_caches()
    jax.clear_caches()
    visits = visited(walk)
    seen[name] = [visit.file for visit in visits], entries(visits)
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def walks():
    pytest.importorskip("benchmarks.walks", reason="the benchmarks are not part of what is distributed")
    done = subprocess.run([sys.executable, "-c", WALKS], capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simulate", "from_constraints", "ensemble", "grad"])
def test_a_walk_is_the_one_that_a_call_takes(name, walks):
    """The first file of each line is entered, after those of the lines before; and no room more than twice, on the
    page and in the call."""
    page = (DOCS / "architecture.md").read_text()
    section = page.split(f"### {name}\n")[1].split("\n##")[0]
    lines = re.findall(r"^\d+\. `([\w/]+\.py)`", section, flags=re.MULTILINE)
    assert len(lines) >= 6
    files, entered = walks[name]
    assert set(lines) <= set(files), set(lines) - set(files)
    assert sorted(lines, key=files.index) == lines
    on_the_page = [room for room, _ in itertools.groupby(line.split("/")[0] for line in lines)]
    for rooms in (on_the_page, entered):
        assert max(map(rooms.count, rooms)) <= 2, f"{name} goes {' > '.join(rooms)}"


def test_the_rooms_are_those_of_the_layer_test():
    table = re.findall(r"^\| `(\w+)/` \|", (DOCS / "architecture.md").read_text(), flags=re.MULTILINE)
    assert tuple(table) == ROOMS


# --- what pages name ---


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page):
    text = page.read_text()
    names = re.findall(r"`([\w./-]+/[\w./-]*|[\w/-]+\.(?:py|md|toml|cff))`", text)
    names += [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    names = [name for name in names if "generated/" not in name]  # `make docs` makes these, and follows links
    for name in names:
        places = (ROOT, PACKAGE, page.parent, ROOT / "benchmarks", *PACKAGE.glob("*/"))
        assert any((place / name).exists() for place in places), f"{page.name} names {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_knows_what_a_page_asks_of_it(page):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    asked = set(re.findall(r"(?:^|`)make ([a-z][\w-]*)", page.read_text(), flags=re.MULTILINE))
    assert asked <= targets


def test_no_source_cites_what_is_not_in_the_repository():
    elsewhere = r"the digest\b(?! of)|design section|design\.md|house\.md|errata\.md"
    for path in [*SOURCES, *PAGES]:
        assert not re.search(elsewhere, path.read_text()), path
