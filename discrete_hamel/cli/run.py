"""`discrete-hamel run NAME`: simulate a system of the catalogue, with data and parameters from the line."""

import argparse
import inspect
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import discrete_hamel as dh
from discrete_hamel._support.errors import InputError
from discrete_hamel.cli import values as calls
from discrete_hamel.cli.names import catalogue, chosen, schemes
from discrete_hamel.cli.systems import sample_of
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.storage.requests import place
from discrete_hamel.systems._blocks import units

ABOUT = """Simulate a system of the catalogue; print where it starts and ends, and how well its invariants are kept.

What the line does not say is taken from the system's own sample motion: discrete-hamel systems NAME shows that, with
the parameters, the coordinates q and the quasi-velocities xi."""

EXAMPLES = """examples:
  discrete-hamel run ChaplyginSleigh                       its sample motion
  discrete-hamel run ChaplyginSleigh --set mass=2 --q 0 0 0 --xi 1.5 -0.3 --h 0.01 --steps 5000 --plot run.png
  discrete-hamel run RollingDisk --animate disk.gif        a film of it, in real time
  discrete-hamel run RollingDisk --scheme "DiscreteHamel(tau=0.4)"
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command's options."""
    run = commands.add_parser(
        "run",
        help="simulate a system of the catalogue",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument("name", metavar="NAME", help="a system of the catalogue (discrete-hamel systems lists them)")
    run.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="parameters: --set mass=2 inertia=1,2,3",
    )
    run.add_argument("--q", nargs="+", metavar="Q", help="initial coordinates: --q 0.1 0 0 (or 0.1,0,0)")
    run.add_argument("--xi", nargs="+", metavar="XI", help="initial quasi-velocities, the free ones or all")
    run.add_argument("--v", nargs="+", metavar="V", help="initial coordinate velocities, instead of --xi")
    run.add_argument("--h", type=float, metavar="H", help="the step")
    run.add_argument("--steps", type=int, default=1000, metavar="N", help="number of steps (default 1000)")
    run.add_argument("--save-every", type=int, default=1, metavar="N", help="keep every Nth node (default 1)")
    run.add_argument("--scheme", metavar="SCHEME", help='a scheme by name, such as "DiscreteHamel(tau=0.4)"')
    run.add_argument("--save", metavar="PATH", help="save the trajectory as a Zarr store (dh.load reads it)")
    run.add_argument("--plot", metavar="FILE", help="draw path, velocities and invariants (.png, .pdf, .svg)")
    run.add_argument("--animate", metavar="FILE", help="a film of the body (.gif, .html, or .mp4 where ffmpeg is)")
    run.add_argument("--seconds", type=float, metavar="S", help="length of the film (default: as long as the motion)")
    run.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Run it, and print, save and draw what came out."""
    known = catalogue()
    kind = known[chosen(options.name, known, "system")]
    system = _made(kind, _parameters(kind, options.set))
    data = _initial_data(system, options)
    scheme = calls.scheme(options.scheme, schemes(), chosen) if options.scheme else None  # what suits the system
    _refuse_outputs(options, system, data)
    _refuse_size(options, data)
    start = time.perf_counter()
    failure = None
    try:
        trajectory = dh.simulate(
            system, **data, steps=options.steps, scheme=scheme, save_every=options.save_every, progress=True
        )
    except dh.RunFailed as stopped:
        if stopped.trajectory is None or len(stopped.trajectory) < 2:
            raise
        failure, trajectory = stopped, stopped.trajectory
    print(_summary(trajectory, time.perf_counter() - start))
    if options.save:
        trajectory.save(options.save)
        print(f"saved to {options.save}")
    if options.plot:
        from discrete_hamel.drawing import plots

        plots.save(trajectory.plot(), options.plot)
        print(f"drawn in {options.plot}")
    if options.animate:
        trajectory.animate(options.animate, seconds=options.seconds)
        print(f"film in {options.animate}")
    if failure is not None:
        raise failure
    return 0


def _refuse_outputs(options: argparse.Namespace, system: dh.System, data: dict[str, Any]) -> None:
    """What cannot be written is said before the run, not after."""
    if options.save is not None and os.path.lexists(place(options.save)):
        raise FileExistsError(f"--save {options.save}: it exists already; give another name, or remove it first.")
    if options.steps == 0 and (options.plot or options.animate):
        raise InputError("there is nothing to draw after --steps 0.")
    if options.seconds is not None and not options.animate:
        raise InputError("--seconds is the length of a film; give --animate FILE with it.")
    if options.seconds is not None and not options.seconds > 0:
        raise InputError(f"--seconds must be more than 0; it is {options.seconds:g}.")
    for option in ("plot", "animate"):
        if getattr(options, option) == "":
            raise InputError(
                f"--{option} needs the name of a file, such as run.{'png' if option == 'plot' else 'gif'}."
            )
    if options.plot:
        from discrete_hamel.drawing import plots

        plots.writable(options.plot)
    if options.animate:
        from discrete_hamel.drawing import films as animate

        animate.writer(Path(options.animate))
        animate.shapes_of(system, data["q"])
        animate.refuse_length(abs(options.steps * data["h"]) if options.seconds is None else options.seconds)


def _refuse_size(options: argparse.Namespace, data: dict[str, Any]) -> None:
    """A run whose nodes cannot fit into memory is refused before its hours, not after."""
    nodes = options.steps // max(1, options.save_every) + 1
    row = np.dtype(float).itemsize * (len(data["q"]) + 2 * len(data["v" if "v" in data else "xi"]))  # q, xi, xi_mid
    most = memory()
    if nodes * row > most:
        raise InputError(
            f"{nodes} nodes need {nodes * row / 1e9:.1f} GB at least, and there are {most / 1e9:.1f}; keep fewer of "
            f"them (--save-every {options.save_every * -(-nodes * row * 4 // most)}), or run from Python with "
            "dh.simulate(..., store=...), which keeps them on disk."
        )


def memory() -> float:
    """Bytes that this process may have: those of the machine, or fewer where a limit is set (ulimit -v)."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ImportError, AttributeError, ValueError, OSError):  # on Windows
        return float("inf")
    return min(machine, machine if limit == resource.RLIM_INFINITY else limit)


def _parameters(kind: type, settings: Sequence[str]) -> dict[str, calls.Value]:
    known = inspect.signature(kind).parameters
    values = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--set takes NAME=VALUE, such as mass=2; got {setting!r}.")
        name = chosen(name, known, f"parameter of {kind.__name__}")
        values[name] = _value(setting, value)
        if np.ndim(known[name].default) == 0 and isinstance(known[name].default, float) and np.ndim(values[name]):
            raise InputError(f"the parameter {name} of {kind.__name__} is one number; got {value!r}.")
    return values


def _value(setting: str, value: str) -> calls.Value:
    try:
        return calls.value(value)
    except ValueError as error:
        raise InputError(f"--set {calls.shortened(setting)}: {error}") from None


def _made(kind: type[dh.System], values: dict[str, calls.Value]) -> dh.System:
    """The system with these parameters, checked before its sample motion is asked for."""
    try:
        system = checks.canonical(kind(**values))
        checks.finite_parameters(system)
        system.check()
    except (ArithmeticError, LookupError) as error:
        given = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise InputError(f"{kind.__name__} cannot be made with {calls.shortened(given)}: {error}.") from None
    return system


def _initial_data(system: dh.System, options: argparse.Namespace) -> dict[str, Any]:
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
    data["h"] = options.h if options.h is not None else sample.get("h", 0.01)
    if "q" not in data or not {"xi", "v"} & set(data):
        raise InputError(f"{type(system).__name__} has no sample motion; give --q and --xi (or --v).")
    return data


def _summary(trajectory: dh.Trajectory, seconds: float) -> str:
    lines = [repr(trajectory), f"computed in {seconds:.2f} s (compilation included)", ""]
    system = trajectory.system
    reduced = not trajectory.q.shape[1]  # without coordinates: it moves in its velocities
    names, values, letter = (
        (system.velocities, trajectory.xi, "xi") if reduced else (system.coordinates, trajectory.q, "q")
    )
    titles = [
        units.titled(system.units, names[i]) if i < len(names) else f"{letter}[{i}]" for i in range(len(values[0]))
    ]
    kept = {units.titled(system.units, name): along for name, along in trajectory.invariants().items()}
    width = max(map(len, (*titles, *kept, " " * 22)))
    lines.append(f"{'':>{width}} {'start':>12} {'end':>12}")
    for title, first, last in zip(titles, values[0], values[-1], strict=True):
        lines.append(f"{title:>{width}} {first:12.6g} {last:12.6g}")
    lines.append(f"{'':>{width}} {'start':>12} {'end':>12} {'largest change':>15}")
    for title, along in kept.items():
        lines.append(f"{title:>{width}} {along[0]:12.6g} {along[-1]:12.6g} {abs(along - along[0]).max():15.1e}")
    return "\n".join(lines)
