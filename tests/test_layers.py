"""The house: imports point downwards, every public name says what it is, and what a geometer reads stays short."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import discrete_hamel as dh

PACKAGE = Path(dh.__file__).parent
# In reading order, as in docs/architecture.md. A module may import from its own room and from rooms before it.
ROOMS = (
    "_support",
    "mechanics",
    "schemes",
    "systems",
    "fields",
    "compiler",
    "runs",
    "analysis",
    "control",
    "testing",
    "drawing",
    "cli",
)
NEIGHBOURS = {"schemes": "systems", "systems": "schemes", "analysis": "control", "control": "analysis"}  # strangers
SHELVES = {  # inside a room, in order; "" are the files that lie in the room itself
    "compiler": ("graph", "simplifying", "reading", "step", "native", "gradients", ""),
    "analysis": ("symmetry", "equilibria", "motion", "geometry", "reduction", "equations", ""),
}
GEOMETERS = ("_support", "mechanics", "schemes", "runs")  # what a reader who knows the mathematics has to read
LONGEST = 6000
UNKNOWN = 150
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


def place(path: Path) -> tuple[str, str]:
    """The room that a file lies in, and its shelf there."""
    room, *rest = path.relative_to(PACKAGE).parts
    return room, rest[0] if len(rest) > 1 else ""


def home(name: str) -> tuple[str, str]:
    """The same of a module's dotted name."""
    _, *parts = name.split(".")
    whole = PACKAGE.joinpath(*parts)
    return place(whole / "__init__.py" if whole.is_dir() else whole.with_suffix(".py"))


# What a file imports from above when one of its functions is called, and why it may. A result that is asked for its
# picture draws itself, so that `trajectory.plot()` is found where the trajectory is; matplotlib is loaded only then.
# And the version, which stores record, stands in the package's own file.
LATER = {
    "runs/trajectory.py": {"discrete_hamel.drawing.plots.trajectory_curves", "discrete_hamel.drawing.films"},
    "analysis/motion/audit.py": {"discrete_hamel.drawing.plots.look"},
    "analysis/motion/comparison.py": {"discrete_hamel.drawing.plots.look"},
    "analysis/geometry/one_shape.py": {"discrete_hamel.drawing.plots.look"},
    "runs/storage/manifest.py": {"discrete_hamel"},
}


def imported(tree: ast.Module, anywhere: bool = False) -> set[str]:
    """The modules that a file imports when it is loaded; `anywhere` in it also those inside functions, loaded later."""
    found = set()
    for node in ast.walk(tree) if anywhere else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if of_us(alias.name)}
        elif isinstance(node, ast.ImportFrom) and node.module and of_us(node.module):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if is_module(inner) else node.module)
    return found


def of_us(name: str) -> bool:
    return name.split(".")[0] == "discrete_hamel"


def is_module(name: str) -> bool:
    whole = PACKAGE.joinpath(*name.split(".")[1:])
    return whole.is_dir() or whole.with_suffix(".py").exists()


def dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_the_rooms_are_the_folders():
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(ROOMS)
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}
    for room, shelves in SHELVES.items():
        folders = {path.name for path in (PACKAGE / room).iterdir() if path.is_dir() and path.name != "__pycache__"}
        assert folders == set(shelves) - {""}


def wrong_ways(tree: ast.Module, room: str, shelf: str) -> dict[str, str]:
    """What a file of this place imports and must not, wherever in it, each with the reason."""
    found = {}
    for name in imported(tree, anywhere=True):
        if name == "discrete_hamel":
            if room != "cli":
                found[name] = "that is the whole package"
            continue
        other, there = home(name)
        if ROOMS.index(other) > ROOMS.index(room):
            found[name] = f"{other} is above {room}"
        elif NEIGHBOURS.get(room) == other:
            found[name] = f"{room} and {other} do not know each other"
        elif other == room and room in SHELVES and SHELVES[room].index(there) > SHELVES[room].index(shelf):
            found[name] = f"{there} is above {shelf} in {room}"
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path):
    file = str(path.relative_to(PACKAGE))
    tree = ast.parse(path.read_text())
    allowed = LATER.get(file, set())
    found = wrong_ways(tree, *place(path))
    assert found.keys() == allowed, f"{file} imports what it must not, or no longer what it may: {found}"
    assert not allowed & imported(tree), f"{file} may load {allowed} in a function only"


def test_an_import_upwards_is_found_inside_functions():
    hidden = "def f():\n    from discrete_hamel.compiler.reading.interpreter import interpret\n    return interpret"
    whole = "def version():\n    from discrete_hamel import __version__\n    return __version__"
    assert list(wrong_ways(ast.parse(hidden), "mechanics", "")) == ["discrete_hamel.compiler.reading.interpreter"]
    assert wrong_ways(ast.parse(hidden), "runs", "") == {}
    assert list(wrong_ways(ast.parse(whole), "runs", "storage")) == ["discrete_hamel"]


def test_no_module_imports_itself_by_others():
    """No cycle: a depth-first walk over what is imported on loading never meets the way it came."""
    graph = {dotted(path): imported(ast.parse(path.read_text())) for path in MODULES}
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, f"a cycle: {' -> '.join([*way[way.index(name) :], name])}"
        if name not in done:
            for other in graph.get(name, ()):
                walk(other, (*way, name))
            done.add(name)

    for name in graph:
        walk(name, ())


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_says_what_lives_there(room):
    text = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text()))
    assert text
    assert len(text) > 40


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


SAID_ONCE = {  # arguments that mean the same everywhere: docs/notation.md, or their type, says what they are
    "system", "scheme", "q", "xi", "v", "p", "h", "trajectory", "trajectories", "symmetries", "params", "ax", "path",
    "description",
}  # fmt: skip
PUBLIC = {
    f"{module.__name__.removeprefix('discrete_hamel.')}.{name}": getattr(module, name)
    for module in (dh, dh.mechanisms, dh.groups, dh.fields, dh.analysis, dh.plots, dh.animate)
    for name in module.__all__
    if callable(getattr(module, name)) and not inspect.isclass(getattr(module, name))
}

CLASSES = {
    cls.__qualname__: cls
    for module in (dh, dh.mechanisms, dh.groups, dh.schemes, dh.fields, dh.analysis, dh.testing)
    for cls in (getattr(module, name) for name in module.__all__)
    if inspect.isclass(cls) and not issubclass(cls, BaseException)
}
DOING = """
Add Build Call Check Compute Do Draw Find Get Give Go Keep Make Move Put Read Run Set Solve Take Write
"""


@pytest.mark.parametrize("name", PUBLIC)
def test_help_shows_what_a_function_takes_and_what_it_returns(name):
    """By the types in its signature, none of which is unknown, and the words in its docstring."""
    signature, said = inspect.signature(PUBLIC[name]), inspect.getdoc(PUBLIC[name])
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, f"{name} does not say what {parameter.name} may be"
        assert parameter.annotation is not Any, f"{name} does not say what {parameter.name} may be"
        named = re.search(rf"(?<!\w){re.escape(parameter.name)}(?!\w)", said)
        assert named or parameter.name in SAID_ONCE, f"{name} does not say what {parameter.name} is for"
    assert signature.return_annotation not in (signature.empty, Any), f"{name} does not say what it returns"
    returns = re.search(r"\breturns?\b", said, flags=re.IGNORECASE) or signature.return_annotation in (None, "None")
    assert returns, f"the docstring of {name} does not say what it returns"


@pytest.mark.parametrize("name", CLASSES)
def test_help_shows_what_methods_take_and_what_they_return(name):
    """By the types in their signatures, and a docstring of their own or of what they override, which names what comes
    back: a thing, not a deed."""
    for method, function in inspect.getmembers(CLASSES[name], inspect.isfunction):
        if method.startswith("_") or not of_us(function.__module__):
            continue
        signature, said = inspect.signature(function), inspect.getdoc(getattr(CLASSES[name], method))
        assert said, f"{name}.{method} has no docstring"
        returned = signature.return_annotation
        assert returned not in (signature.empty, Any), f"{name}.{method} does not say what it returns"
        names_it = said.split()[0].strip(",.:") not in DOING.split() or re.search(
            r"\breturns?\b", said, flags=re.IGNORECASE
        )
        assert names_it or returned in (None, "None"), f"the docstring of {name}.{method} does not say what it returns"
        for parameter in list(signature.parameters.values())[1:]:
            typed = parameter.annotation not in (parameter.empty, Any)
            assert typed, f"{name}.{method} does not say what {parameter.name} may be"


def test_shapes_read_in_help_as_they_are_written():
    """And are real annotations: a union with None, within a tuple, beside a callable."""
    said = str(inspect.signature(dh.momentum))
    assert "q: Float[ArrayLike, N], xi: Float[ArrayLike, m or n]) -> Float[Array, n]" in said
    assert "v: Float[ArrayLike, N] | None = None" in str(inspect.signature(dh.simulate))
    assert "tuple[Float[Array, N], Float[Array, n]]" in str(inspect.signature(dh.vector_field))


def test_few_types_are_unknown():
    """The count is that of `grep -rnow Any discrete_hamel --include=*.py --include=*.pyi`, imports too."""
    sources = (*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi"))
    unknown = {path: len(re.findall(r"\bAny\b", path.read_text())) for path in sources}
    most = sorted(unknown, key=lambda path: -unknown[path])[:5]
    assert sum(unknown.values()) < UNKNOWN, f"say a type; `_support/arrays.py` names some. Most are in {most}"


def test_what_is_public_is_what_dir_lists():
    assert set(dir(dh)) == {*dh.__all__, "__version__"}
    assert len(set(dh.__all__)) == len(dh.__all__)


def test_the_stub_for_type_checkers_says_the_same():
    """`__init__` loads names when they are first used, which no type checker can follow: it reads `__init__.pyi`."""
    said = set()
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom) and of_us(node.module):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                said.add((alias.asname or alias.name, inner if is_module(inner) else node.module))
    homes = {name: f"discrete_hamel.{module}" for name, module in {**dh._HOME, **dh.MODULES}.items()}
    assert said == set(homes.items())


def test_importing_the_library_loads_nothing_that_only_some_need():
    code = "import sys, discrete_hamel as dh; dh.simulate; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"matplotlib", "xarray", "zarr", "pytest", "scipy.optimize", "scipy.integrate"} & set(loaded)
    assert not [name for name in loaded if name.startswith(("discrete_hamel.analysis", "discrete_hamel.drawing"))]


def test_importing_the_library_leaves_jax_to_be_set_up():
    """Devices and processes (`jax.distributed.initialize`) are chosen before the first computation, so none is made."""
    code = (
        "import jax, discrete_hamel as dh; dh.simulate, dh.ensemble, dh.mechanisms, dh.groups, dh.fields;"
        "jax.config.update('jax_num_cpu_devices', 3); print(jax.device_count())"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "3", said.stderr


def test_importing_the_package_alone_loads_none_of_its_rooms():
    code = "import sys, discrete_hamel; print(*[m for m in sys.modules if m.startswith('discrete_hamel.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_files_are_short():
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_what_a_geometer_reads_is_short():
    """mechanics, schemes and runs without storage and ensembles, and what they stand on."""
    paths = [path for path in MODULES if place(path)[0] in GEOMETERS and place(path)[1] not in ("storage", "ensemble")]
    assert sum(len(path.read_text().splitlines()) for path in paths) < LONGEST


def raised(tree: ast.AST) -> set[str]:
    """The names of what a file raises: `raise Name(...)`."""
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    return {call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}


def asked_by_words(tree: ast.AST) -> list[int]:
    """The lines that compare or search the words of a caught exception."""
    lines = []
    for handler in (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name):
        for test in (node.test for node in ast.walk(handler) if isinstance(node, ast.If | ast.IfExp | ast.While)):
            words = {ast.unparse(node) for node in ast.walk(test) if isinstance(node, ast.Call | ast.Attribute)}
            if words & {f"str({handler.name})", f"{handler.name}.args", f"repr({handler.name})"}:
                lines.append(test.lineno)
    return lines


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_is_refused_is_an_input_error_and_nobody_reads_messages(path):
    """`InputError` passes as the sentence that it is, where any other exception counts as a fault of a user's function;
    and what is done about an exception depends on its class and fields, never on its words."""
    tree = ast.parse(path.read_text())
    assert not raised(tree) & {"ValueError", "TypeError"}, "raise InputError (or InputTypeError) of _support.errors"
    assert asked_by_words(tree) == []


# Bare participles as names of functions, each with the reason why it stays. No other may.
ADJECTIVES = {
    "names of the API: a system so changed, `dh.forced(system)`": "forced damped controlled timed advected",
    "names of the API: what is left, initial data so laid": "reduced laid",
    "the contract of Scheme: the scheme fitted to a system, the solve left unsolved": "fitted unsolved",
    "truth values, as arrays or nodes of the graph": "finished unfinished converged allowed",
}
IRREGULAR = """
told begun held built kept drawn taken given found made left laid met seen shown chosen written known strung thrown
driven spoken broken bent bound brought caught done flown gone grown hidden lost overflown risen sought spread swept
wound undone worn woven
"""
VERBS = {"need", "feed", "embed", "seed", "speed"}


def bare_participles(tree: ast.AST) -> set[str]:
    """Functions named by one participle; properties, context managers and bools are read as adjectives."""
    found, irregular = set(), IRREGULAR.split()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            name, marks = node.name.strip("_"), {ast.unparse(one).split("(")[0] for one in node.decorator_list}
            one_word = "_" not in name and (name in irregular or name.endswith("ed")) and name not in VERBS
            truth = node.returns is not None and ast.unparse(node.returns) == "bool"
            if one_word and not truth and not marks & {"property", "cached_property", "contextmanager"}:
                found.add(name)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_functions_are_verbs_or_the_thing_they_return(path):
    assert bare_participles(ast.parse(path.read_text())) <= set(" ".join(ADJECTIVES.values()).split())


def test_a_bare_participle_is_found():
    code = "def _moved(x): ...\ndef told() -> str: ...\ndef move(x): ...\ndef kept(x) -> bool: ...\n"
    assert bare_participles(ast.parse(code)) == {"moved", "told"}


# Classes of one name in several files, each with the reason. No other name may have two meanings.
HOMONYMS = {
    "what bodies, contacts and joints are, and how they are drawn": "Blade Contact Fixed Point Rod Solid Surface",
    "what closes a mechanism, and a system of the catalogue that does the same": "BallOnSphere BallOnSurface",
    "ends of a string are held as joints are": "Free",
    "the papers' words for two things: a set given by a map, a map onto coordinates, a group": "Graph Chart Group",
    "plain words of their rooms: what a line asks for; a table's line": "Motion Columns Line",
    "states of a run, and states that are drawn to test a system": "State",
}


def test_a_class_has_a_name_of_its_own():
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(dotted(path))
    several = {name: places for name, places in homes.items() if len(places) > 1}
    known = set(" ".join(HOMONYMS.values()).split())
    assert several.keys() == known, several


# Plural names of files that hold several of the kind beside the one that the kind is named by, or whose singular is
# what those who import the module call a value of theirs.
SEVERAL = {
    "_support/caches.py", "_support/pytrees.py", "systems/_blocks/units.py", "systems/mechanisms/contacts.py",
    "systems/mechanisms/joints.py", "systems/mechanisms/solids.py", "systems/rattlebacks.py", "systems/snakeboards.py",
    "testing/axioms.py",
}  # fmt: skip


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_with_one_thing_has_its_name(path):
    """A plural names a file with several things of a kind; one that holds a Branch is `branch.py`."""
    one = re.sub(r"ies$", "y", path.stem) if path.stem.endswith("ies") else path.stem.removesuffix("s")
    tree = ast.parse(path.read_text())
    held = {node.name.lower() for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    alone = "_" not in path.stem and path.stem != one and one in held and path.stem not in held
    assert not alone or str(path.relative_to(PACKAGE)) in SEVERAL, f"call it {one}.py"
