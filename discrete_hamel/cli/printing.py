"""What the commands print: a trajectory's table, and with --json the same facts for programs."""

import argparse
import json
import sys
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

import discrete_hamel as dh
from discrete_hamel.systems._blocks import units


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option --json."""
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else on standard output")


def print_facts(facts: Mapping[str, object]) -> None:
    """Facts as JSON; what is not finite as null, which JSON has no numbers for."""
    print(json.dumps(plain(facts), indent=2))


def plain(fact: object) -> object:
    """A fact in what JSON knows.

    >>> plain({"a": np.array([1.0, np.nan]), "b": (True, None)})
    {'a': [1.0, None], 'b': [True, None]}
    """
    if fact is None or isinstance(fact, str | bool | int):
        return fact
    if isinstance(fact, Mapping):
        return {str(name): plain(value) for name, value in fact.items()}
    if isinstance(fact, list | tuple):
        return [plain(value) for value in fact]
    if hasattr(fact, "shape") or isinstance(fact, float | np.generic):
        array = np.asarray(fact)
        entries = array.astype(object)
        entries[~np.isfinite(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)] = None
        return entries.tolist()
    return str(fact)


def said(options: argparse.Namespace, sentence: str) -> None:
    """A sentence beside what is asked for: not into JSON."""
    print(sentence, file=sys.stderr if options.json else sys.stdout)


class Columns(NamedTuple):
    """What a trajectory is shown by: names and values of its coordinates, or of xi where it has none."""

    names: list[str]
    values: np.ndarray


def columns(trajectory: dh.Trajectory) -> Columns:
    """The columns of a trajectory, named by its system as far as that goes."""
    system = trajectory.system
    reduced = not trajectory.q.shape[1]  # without coordinates: it moves in its velocities
    names, values, letter = (
        (system.velocities, trajectory.xi, "xi") if reduced else (system.coordinates, trajectory.q, "q")
    )
    width = np.shape(values)[1]
    return Columns([names[i] if i < len(names) else f"{letter}[{i}]" for i in range(width)], np.asarray(values))


def facts(trajectory: dh.Trajectory) -> dict[str, object]:
    """A trajectory in numbers: where it starts and ends, what is kept, how it was computed."""
    names, values = columns(trajectory)
    report = trajectory.report
    kept = {name: np.asarray(along) for name, along in trajectory.invariants().items()}
    return {
        "system": type(trajectory.system).__name__,
        "scheme": None if trajectory.scheme is None else repr(trajectory.scheme),
        "h": trajectory.h,
        "nodes": len(trajectory),
        "t": [trajectory.t[0], trajectory.t[-1]],
        "names": names,
        "start": values[0],
        "end": values[-1],
        "xi": {"start": trajectory.xi[0], "end": trajectory.xi[-1]},
        "invariants": {
            name: {"start": along[0], "end": along[-1], "largest change": np.max(np.abs(along - along[0]))}
            for name, along in kept.items()
        },
        "path": None if report is None else report.path,
        "reason": None if report is None else report.reason,
        "converged": None if report is None else bool(np.all(report.converged)),
    }


def summary(trajectory: dh.Trajectory, *sentences: str) -> str:
    """The table of a trajectory: each coordinate and invariant at its start and end."""
    named, values = columns(trajectory)
    of = trajectory.system.units
    titles = [units.axis_title(of, name) for name in named]
    kept = {units.axis_title(of, name): along for name, along in trajectory.invariants().items()}
    width = max(map(len, (*titles, *kept, " " * 22)))
    lines = [repr(trajectory), *sentences, "", f"{'':>{width}} {'start':>12} {'end':>12}"]
    for title, first, last in zip(titles, values[0], values[-1], strict=True):
        lines.append(f"{title:>{width}} {first:12.6g} {last:12.6g}")
    lines.append(f"{'':>{width}} {'start':>12} {'end':>12} {'largest change':>15}")
    for title, along in kept.items():
        lines.append(f"{title:>{width}} {along[0]:12.6g} {along[-1]:12.6g} {abs(along - along[0]).max():15.1e}")
    return "\n".join(lines)
