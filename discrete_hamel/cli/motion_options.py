"""The motion that a line asks for: a system of the catalogue or of a Python file, parameters, initial data, scheme."""

import argparse
import importlib.util
import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import jax
import numpy as np

import discrete_hamel as dh
from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.cli import value_parser as calls
from discrete_hamel.cli.name_lookup import catalogue, choose, schemes
from discrete_hamel.cli.systems import sample_of
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.storage.reading import Contents
from discrete_hamel.schemes.scheme import Scheme

FILE = "a system of the catalogue (discrete-hamel systems lists them), or FILE.py, or FILE.py:NAME"


class Motion(NamedTuple):
    """What is asked for: the system with its parameters, q, one of xi and v, and h."""

    system: dh.System
    q: Sequence[float]
    xi: Sequence[float] | None
    v: Sequence[float] | None
    h: float


def add(parser: argparse.ArgumentParser, *, stored: bool = False) -> None:
    """The options that say which motion; `stored` if it may also be that of a store."""
    parser.add_argument("name", metavar="NAME", help=f"{FILE}; or a store that --save made" if stored else FILE)
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="parameters: --set mass=2 inertia=1,2,3",
    )
    parser.add_argument("--q", nargs="+", metavar="Q", help="initial coordinates: --q 0.1 0 0 (or 0.1,0,0)")
    parser.add_argument(
        "--xi", nargs="+", metavar="XI", help="initial quasi-velocities: --xi 1.5 -0.3, the free ones or all"
    )
    parser.add_argument("--v", nargs="+", metavar="V", help="initial coordinate velocities, instead of --xi")
    parser.add_argument("--h", type=float, metavar="H", help="the step, in units of time")


def add_run(parser: argparse.ArgumentParser) -> None:
    """The options that say how it is run."""
    parser.add_argument("--steps", type=int, default=1000, metavar="N", help="number of steps (default 1000)")
    parser.add_argument("--scheme", metavar="SCHEME", help='a scheme by name, such as "DiscreteHamel(tau=0.4)"')


def motion_of(options: argparse.Namespace) -> Motion:
    """The system and the data that a line with these options asks for."""
    kind = by_name(options.name)
    system = _make(kind, _parameters(kind, options.set)) if isinstance(kind, type) else _replace(kind, options.set)
    return Motion(system, *_initial_data(system, options))


def stored_run(path: str, name: str | None) -> dh.Trajectory:
    """The run in a store; of a system of that name where it is given, which the store's own values must fit."""
    stored = Contents(Path(path)).manifest["system"]["leaves"]  # what is no store of a run, no --system mends
    try:
        kind = by_name(name) if name else None
        system = _make(kind, {}) if isinstance(kind, type) else kind
        return dh.load(path, system=system and _with_values(system, stored))
    except dh.StoreDamaged:
        raise
    except ValueError as error:
        raise InputError(str(error) if name else f"{error} On this line: --system FILE.py:NAME.") from None


def _with_values(system: dh.System, stored: Mapping[str, ArrayLike]) -> dh.System:
    """The system with the parameters that a store has of it, where they are of its own shapes."""
    paths, structure = jax.tree_util.tree_flatten_with_path(system)
    named = [(jax.tree_util.keystr(path).lstrip("."), leaf) for path, leaf in paths]
    fits = {name for name, leaf in named if name in stored and np.shape(stored[name]) == np.shape(leaf)}
    return checks.canonical(
        jax.tree.unflatten(structure, [np.asarray(stored[name]) if name in fits else leaf for name, leaf in named])
    )


def scheme(text: str | None) -> Scheme | None:
    """The scheme written on the line; none where nothing is: then the library takes what suits the system."""
    return named_scheme(text) if text else None


def named_scheme(text: str) -> Scheme:
    """The scheme of a name or a call, such as "DiscreteHamel(tau=0.4)"."""
    return calls.scheme(text, schemes(), choose)


def by_name(name: str) -> type[dh.System] | dh.System:
    """The class of a system's name in the catalogue; or what a Python file defines, a class or a system."""
    path, colon, of_file = name.rpartition(":")
    if name.endswith(".py"):
        path, colon, of_file = name, "", ""
    if not path.endswith(".py"):
        known = catalogue()
        return known[choose(name, known, "system")]
    known_there = systems_of_file(Path(path))
    if colon:
        return known_there[choose(of_file, known_there, f"system in {path}")]
    if len(known_there) != 1:
        listed = ", ".join(known_there) or "none"
        raise InputError(f"{path} defines {len(known_there)} systems ({listed}); say which: {path}:NAME.")
    return next(iter(known_there.values()))


def systems_of_file(path: Path) -> dict[str, type[dh.System] | dh.System]:
    """The systems that a Python file makes, and the classes of systems that it defines, by name."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    module = _execute(path)
    here = {name: item for name, item in vars(module).items() if not name.startswith("_")}
    systems = {name: item for name, item in here.items() if isinstance(item, dh.System)}
    classes = {
        name: item
        for name, item in here.items()
        if isinstance(item, type) and issubclass(item, dh.System) and item.__module__ == module.__name__
    }
    made = {type(item) for item in systems.values()}
    return systems | {name: item for name, item in classes.items() if item not in made}


def _execute(path: Path) -> ModuleType:
    name = f"discrete_hamel_file_{path.stem}"
    described = importlib.util.spec_from_file_location(name, path)
    if described is None or described.loader is None:
        raise InputError(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(described)
    sys.modules[name] = module  # so that its classes can say where they come from
    sys.path.insert(0, str(path.resolve().parent))
    try:
        described.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{path} does not run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    return module


def _replace(system: dh.System, settings: Sequence[str]) -> dh.System:
    """A system that a file made, with other values of its fields, or of the entries of its `params`."""
    pairs = [calls.setting(text) for text in settings]
    params = getattr(system, "params", None)
    if isinstance(params, Mapping):
        values = {choose(name, params, "parameter"): value for name, value in pairs}
        return checks.canonical(system.replace(params={**params, **values})) if values else system
    fields = inspect.signature(type(system)).parameters
    values = {choose(name, fields, f"parameter of {type(system).__name__}"): value for name, value in pairs}
    return checks.canonical(system.replace(**values)) if values else system


def _parameters(kind: type[dh.System], settings: Sequence[str]) -> dict[str, calls.Value]:
    known = inspect.signature(kind).parameters
    values = {}
    for text in settings:
        name, value = calls.setting(text)
        name = choose(name, known, f"parameter of {kind.__name__}")
        values[name] = value
        if np.ndim(known[name].default) == 0 and isinstance(known[name].default, float) and np.ndim(value):
            raise InputError(f"the parameter {name} of {kind.__name__} is one number; got {calls.plain(value)!r}.")
    return values


def _make(kind: type[dh.System], values: dict[str, calls.Value]) -> dh.System:
    """The system with these parameters, checked before its sample motion is asked for."""
    try:
        system = checks.canonical(kind(**values))
        checks.finite_parameters(system)
        system.check()
    except (ArithmeticError, LookupError) as error:
        given = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise InputError(f"{kind.__name__} cannot be made with {calls.shorten(given)}: {error}.") from None
    except TypeError as error:  # a parameter without a default
        raise InputError(f"{kind.__name__} cannot be made: {error}. Give it with --set.") from None
    return system


def _initial_data(
    system: dh.System, options: argparse.Namespace
) -> tuple[Sequence[float], Sequence[float] | None, Sequence[float] | None, float]:
    """q, xi or v, and h: from the line, and from the system's sample what is not on it."""
    sample = sample_of(system)
    given = {
        name: calls.numbers(f"--{name}", getattr(options, name)) for name in ("q", "xi", "v") if getattr(options, name)
    }
    if "q" in given and "q" in sample and len(given["q"]) != len(sample["q"]):
        names = ", ".join(system.coordinates)
        raise InputError(f"--q takes {len(sample['q'])} numbers, ({names}); got {len(given['q'])}.")
    data = {name: sample[name] for name in ("q", "xi", "v") if name in sample} | given
    if {"xi", "v"} <= set(data):  # given both by one: the line goes before the sample, and both on the line is an error
        data = {name: value for name, value in data.items() if name == "q" or name in given}
    if "q" not in data or not {"xi", "v"} & set(data):
        raise InputError(f"{type(system).__name__} has no sample motion; give --q and --xi (or --v).")
    return data["q"], data.get("xi"), data.get("v"), options.h if options.h is not None else sample.get("h", 0.01)
