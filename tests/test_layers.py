"""Imports point downwards only, every public name says what it is, and no file is too long to read."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import discrete_hamel as dh

PACKAGE = Path(dh.__file__).parent
# From the ground up: a module may import from its own layer's folder and from layers below it.
LAYERS = (
    {"pytrees", "failures", "progress", "interrupts", "inputs", "units"},
    {"newton", "frames", "adapted", "programs"},
    {"system", "charts"},
    {"nonlinear_systems"},
    {"gibbs_appell"},
    {"hamel", "constructors", "around", "singular_states"},
    {"prescribed"},
    {"systems", "schemes", "forces", "nonlinear_data", "gauss_principle", "linear_velocities"},
    {"kernel", "shapes", "many_coordinates", "refusals"},
    {"checks", "diagnosis", "trajectory"},
    {"records"},
    {"loops", "stores", "references", "balances"},
    {"simulation", "archive"},
    {"analysis", "control", "ensembles", "fields"},
    {"plots", "animate", "calls", "names", "launch"},
    {"bench", "commands"},
    {"cli"},
)
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def place(path: Path) -> str:
    """The module of the top level, or the folder, that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """What a file imports of the package when it is loaded; imports inside functions are asked for later, by choice."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            whole = node.module == "discrete_hamel"
            names = [f"discrete_hamel.{alias.name}" for alias in node.names] if whole else [node.module]
        found |= {name.split(".")[1] if "." in name else "the package" for name in names if of_us(name)}
    return found


def of_us(name: str) -> bool:
    return name.split(".")[0] == "discrete_hamel"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path):
    here = place(path)
    assert here in HEIGHT, f"{here} has no layer: give it one"
    top = HEIGHT["plots"]
    for name in imported(path) - {here}:
        if name == "the package":
            assert HEIGHT[here] >= top, f"{here} imports the whole package"
        elif HEIGHT[here] >= top:
            assert HEIGHT.get(name, 0) <= HEIGHT[here]
        else:
            assert HEIGHT[name] < HEIGHT[here], f"{here} imports {name}, which is not below it"


def test_no_cycle_is_hidden_in_a_folder():
    """systems know no scheme, and schemes no system of the catalogue."""
    for path in MODULES:
        if place(path) == "systems":
            assert "schemes" not in imported(path)
        if place(path) == "schemes":
            assert "systems" not in imported(path)


@pytest.mark.parametrize("name", dh.__all__)
def test_public_names_are_documented(name):
    thing = getattr(dh, name)
    assert inspect.getdoc(thing), f"dh.{name} has no docstring"
    first = inspect.getdoc(thing).splitlines()[0]
    assert not first.startswith(f"{name}("), f"dh.{name} has the docstring that dataclasses make"
    assert first.strip()


@pytest.mark.parametrize("name", dh.systems.__all__)
def test_catalogue_is_documented(name):
    assert len(inspect.getdoc(getattr(dh.systems, name))) > 100


def test_no_public_name_is_that_of_its_module():
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    for name in set(dh.__all__) - {"systems"}:
        assert not (name in modules and inspect.getmodule(getattr(dh, name)).__name__.endswith(f".{name}"))


def test_importing_the_library_loads_no_optional_package():
    code = (
        "import sys, discrete_hamel; print([m for m in ('matplotlib', 'xarray', 'zarr', 'pytest') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_files_are_short():
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > 300} == {}
