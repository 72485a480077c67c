"""`discrete-hamel systems [NAME]`: the catalogue, or one system of it."""

import argparse
import inspect
from typing import Any

import discrete_hamel as dh
from discrete_hamel.cli import value_parser as calls
from discrete_hamel.cli.name_lookup import catalogue, choose, headline
from discrete_hamel.cli.printing import add_json, print_facts
from discrete_hamel.systems._blocks import units

HELP = "list the catalogue, or describe one system of it"
ABOUT = """List the systems of the catalogue; or describe one: its equations, coordinates, quasi-velocities, parameters
with their units, and the sample motion that `discrete-hamel run NAME` shows."""


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="a system, to describe it")
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print the list, or the description of one."""
    known = catalogue()
    if options.json:
        print_facts(about(known[choose(options.name, known, "system")]) if options.name else _headlines(known))
        return 0
    if options.name:
        print(description(known[choose(options.name, known, "system")]))
        return 0
    width = max(map(len, known))
    for name, system in known.items():
        print(f"{name:<{width}}  {headline(system)}".rstrip())
    print(f"\n{len(known)} systems. More on one: discrete-hamel systems {next(iter(known))}")
    return 0


def _headlines(known: dict[str, type[dh.System]]) -> dict[str, str]:
    return {name: headline(system) for name, system in known.items()}


def about(kind: type[dh.System]) -> dict[str, object]:
    """The same facts for programs: names, parameters with their defaults, and the sample motion."""
    fields = inspect.signature(kind).parameters
    defaults = {name: calls.plain(p.default) for name, p in fields.items() if p.default is not p.empty}
    facts = {"system": kind.__name__, "about": inspect.getdoc(kind) or "", "parameters": list(fields)}
    try:
        system = kind()
    except TypeError:
        return facts | {"defaults": defaults}
    names = {"coordinates": list(system.coordinates), "velocities": list(system.velocities), "rank": system.rank}
    return facts | {"defaults": defaults} | names | {"sample": sample_of(system)}


def description(kind: type[dh.System]) -> str:
    """Its docstring, coordinates, velocities, parameters with their defaults, and sample motion."""
    lines = [kind.__name__, "", inspect.getdoc(kind) or "", ""]
    system: dh.System | None = None
    try:
        system = kind()
    except TypeError:
        lines.append("Some parameters have no default; give them with --set.")
    else:
        for letter, names in (("q ", system.coordinates), ("xi", system.velocities)):
            lines.append(f"{letter} = ({', '.join(units.axis_title(system.units, name) for name in names)})")
    lines.append("parameters (--set NAME=VALUE):")
    for name, parameter in inspect.signature(kind).parameters.items():
        default = (
            ""
            if parameter.default is parameter.empty
            else f" = {calls.plain(getattr(system, name, parameter.default))}"
        )
        pure = callable(parameter.default) or isinstance(parameter.default, bool)
        unit = "" if pure else units.in_print(units.unit(kind.units, name))
        lines.append(f"  {name}{default} {unit}".rstrip())
    sample = sample_of(system)
    if sample:
        lines.append("sample: " + ", ".join(f"{name} = {calls.plain(value)}" for name, value in sample.items()))
    return "\n".join(lines)


def sample_of(system: dh.System | None) -> dict[str, Any]:
    """The system's sample motion: q, xi and h."""
    return dict(system.sample()) if system is not None and hasattr(system, "sample") else {}
