"""The catalogue: a page a system, with its picture and film, equations, coordinates, parameters, and what it keeps."""

import html
import inspect
from operator import attrgetter
from pathlib import Path

import films
import motions
import numpy as np
from docstrings import page_of, prose

import discrete_hamel as dh
from discrete_hamel.cli import value_parser as calls
from discrete_hamel.cli.systems import sample_of
from discrete_hamel.systems._blocks import units

KEPT = {
    "exact": "to round-off, by the default scheme",
    "bounded": "without drift, by the default scheme",
    "continuous": "by the motion; of schemes nothing is claimed",
}


def page(name: str, kind: type[dh.System], folder: Path) -> str:
    """The page of a system in HTML; its film is written into `folder`."""
    try:
        system: dh.System | None = kind()
    except TypeError:
        system = None
    parts = [_picture(name, system, folder), f'<div class="about">{page_of(inspect.getdoc(kind) or "", {})}</div>']
    if system is not None:
        parts += [_quantities(system), _invariants(system), _symmetries(system)]
    parts += [_parameters(kind, system), _sample(system)]
    return "\n".join(part for part in parts if part)


def program(name: str, kind: type[dh.System]) -> str:
    """How the sample motion is run from Python, as a block of a page; "" for systems that need arguments."""
    place = next((f"dh.{m}" for m in ("systems", "systems.garage") if getattr(attrgetter(m)(dh), name, None)), "")
    if not place or any(p.default is p.empty for p in inspect.signature(kind).parameters.values()):
        return ""
    lines = f"import discrete_hamel as dh\n\nsystem = {place}.{name}()\n"
    return f"```python\n{lines}traj = dh.simulate(system, **system.sample(), steps=1000)\n```\n\n"


def command(name: str) -> str:
    """The same from a shell, with a film where there is something to be seen."""
    film = " --animate run.gif" if motions.kept(name) else ""
    return f"```console\ndiscrete-hamel run {name} --plot run.png{film}\n```\n"


def words(name: str) -> str:
    """What its picture shows, for who does not see it."""
    if motions.kept(name):
        return f"{name}: the body at the end of its sample motion, with the traces that lead there"
    return f"{name}: the velocities of its sample motion, over time"


def _picture(name: str, system: dh.System | None, folder: Path) -> str:
    if motion := motions.kept(name):
        films.write(folder, name, [films.film(motion)], words(name))
        return films.figure(name, "../../", words(name))
    if system is None:
        return ""
    axes = dh.plots.velocities(dh.simulate(system, **system.sample(), steps=400))
    dh.plots.save(axes.figure, folder / f"{name}.svg")
    about = "It has no place in space to be drawn at, so no film: it is reduced, or moves in its velocities alone."
    return f'<figure><img src="../../films/{name}.svg" alt="{words(name)}"></figure><p>{about}</p>'


def _quantities(system: dh.System) -> str:
    rows = [
        f"<dt>{label}</dt><dd>{', '.join(html.escape(units.axis_title(system.units, n)) for n in names) or 'none'}</dd>"
        for label, names in (
            ("Coordinates q", system.coordinates),
            (f"Quasi-velocities xi, the first {system.rank} free", system.velocities),
        )
    ]
    return f"<dl>{''.join(rows)}</dl>"


def _invariants(system: dh.System) -> str:
    found = system.invariants()
    rows = [
        f"<tr><th scope='row'>{html.escape(units.axis_title(system.units, name))}</th>"
        f"<td>{kept.kept}: {KEPT.get(kept.kept, '')}</td></tr>"
        for name, kept in found.items()
    ]
    if not rows:
        return "<p>No invariant is declared; <code>traj.energy</code> shows the energy.</p>"
    head = "<thead><tr><th scope='col'>invariant</th><th scope='col'>kept</th></tr></thead>"
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def _symmetries(system: dh.System) -> str:
    found = system.symmetries()
    return f"<p>Symmetries: {html.escape(', '.join(map(str, found)))}.</p>" if found else ""


def _parameters(kind: type[dh.System], system: dh.System | None) -> str:
    rows = []
    for name, parameter in inspect.signature(kind).parameters.items():
        none = parameter.default is parameter.empty
        default = "" if none else calls.plain(getattr(system, name, parameter.default))
        pure = callable(parameter.default) or isinstance(parameter.default, bool)
        unit = "" if pure else units.in_print(units.unit(kind.units, name))
        rows.append(
            f"<tr><th scope='row'><code>{name}</code></th><td>{html.escape(str(default))}</td>"
            f"<td>{html.escape(unit)}</td></tr>"
        )
    if not rows:
        return ""
    heads = "".join(f"<th scope='col'>{head}</th>" for head in ("parameter", "default", "unit"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _sample(system: dh.System | None) -> str:
    sample = ", ".join(f"{name} = {calls.plain(value)}" for name, value in sample_of(system).items() if np.size(value))
    return f"<p>Sample motion: <code>{html.escape(sample)}</code></p>" if sample else ""


def card(name: str, kind: type[dh.System]) -> str:
    """The system on the catalogue's first page."""
    first = prose((inspect.getdoc(kind) or "").partition("\n")[0], {})
    picture = f'<img src="../../films/{name}.svg" alt="" loading="lazy">'
    return f'<a class="card" href="{name}.html">{picture}<strong>{name}</strong><span>{first}</span></a>'
