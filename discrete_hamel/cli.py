"""The command line: `discrete-hamel systems | run | figures`."""

import argparse
import inspect
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import discrete_hamel as dh
from discrete_hamel import calls
from discrete_hamel.names import catalogue, chosen, schemes

EXAMPLES = """examples:
  discrete-hamel systems                                   what there is
  discrete-hamel systems ChaplyginSleigh                   one system: parameters, coordinates, equations
  discrete-hamel run ChaplyginSleigh                       its sample motion
  discrete-hamel run ChaplyginSleigh --set mass=2 --q 0 0 0 --xi 1.5 -0.3 --h 0.01 --steps 5000 --plot run.png
  discrete-hamel run RollingDisk --scheme "DiscreteHamel(tau=0.4)"
  discrete-hamel figures                                   the papers' figures, with their claims checked
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status: 0 done, 1 a run or claim failed, 2 wrong arguments."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args([_spaced(word) for word in words])
    try:
        return options.command(options)
    except dh.RunFailed as failure:
        print(f"discrete-hamel: the run stopped. {failure}", file=sys.stderr)
        return 1
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(f"discrete-hamel: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="discrete-hamel",
        description="Simulate mechanical systems with velocity constraints by discrete Hamel schemes.",
        epilog=EXAMPLES,
        formatter_class=formatter,
    )
    parser.add_argument("--version", action="version", version=f"discrete_hamel {dh.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    systems = commands.add_parser("systems", help="list the catalogue, or describe one system of it")
    systems.add_argument("name", nargs="?", metavar="NAME", help="a system, to describe it")
    systems.set_defaults(command=_systems)

    run = commands.add_parser(
        "run", help="simulate a system of the catalogue", epilog=EXAMPLES, formatter_class=formatter
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
    run.set_defaults(command=_run)

    figures = commands.add_parser("figures", help="write the papers' figures and check their claims")
    figures.add_argument("names", nargs="*", metavar="NAME", help="which figures (default: all)")
    figures.add_argument("--full", action="store_true", help="longer runs behind the claims")
    figures.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="folder (default: figures)")
    figures.add_argument("--list", action="store_true", help="list the figures and stop")
    figures.set_defaults(command=_figures)
    return parser


def _spaced(word: str) -> str:
    """Negative numbers after a space, so that argparse does not take -1e-3 or -1,2 for an option."""
    return f" {word}" if re.fullmatch(r"-[\d.][\d.eE+,-]*", word) else word


# systems


def _systems(options: argparse.Namespace) -> int:
    known = catalogue()
    if options.name:
        print(_description(known[chosen(options.name, known, "system")]))
        return 0
    width = max(map(len, known))
    for name, system in known.items():
        print(f"{name:<{width}}  {inspect.getdoc(system).splitlines()[0]}")  # type: ignore[union-attr]  # all have one
    print(f"\n{len(known)} systems. More on one: discrete-hamel systems {next(iter(known))}")
    return 0


def _description(kind: type[dh.System]) -> str:
    lines = [kind.__name__, "", inspect.getdoc(kind) or "", ""]
    system: Any = None
    try:
        system = kind()
    except TypeError:
        lines.append("Some parameters have no default; give them with --set.")
    else:
        lines += [f"q  = ({', '.join(system.coordinates)})", f"xi = ({', '.join(system.velocities)})"]
    lines.append("parameters (--set NAME=VALUE):")
    for name, parameter in inspect.signature(kind).parameters.items():
        default = (
            ""
            if parameter.default is parameter.empty
            else f" = {calls.plain(getattr(system, name, parameter.default))}"
        )
        lines.append(f"  {name}{default}")
    sample = _sample(system)
    if sample:
        lines.append("sample: " + ", ".join(f"{name} = {calls.plain(value)}" for name, value in sample.items()))
    return "\n".join(lines)


# run


def _run(options: argparse.Namespace) -> int:
    known = catalogue()
    kind = known[chosen(options.name, known, "system")]
    system = kind(**_parameters(kind, options.set))
    data = _initial_data(system, options)
    scheme = calls.scheme(options.scheme, schemes(), chosen) if options.scheme else None  # what suits the system
    if options.plot:
        from discrete_hamel import plots

        plots.style()  # a missing matplotlib is said before the run, not after
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
        trajectory.plot().savefig(options.plot)
        print(f"drawn in {options.plot}")
    if failure is not None:
        raise failure
    return 0


def _parameters(kind: type, settings: Sequence[str]) -> dict[str, Any]:
    known = inspect.signature(kind).parameters
    values = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, such as mass=2; got {setting!r}.")
        values[chosen(name, known, f"parameter of {kind.__name__}")] = calls.value(value)
    return values


def _sample(system: Any) -> dict[str, Any]:
    return dict(system.sample()) if hasattr(system, "sample") else {}


def _initial_data(system: Any, options: argparse.Namespace) -> dict[str, Any]:
    """q, xi or v, and h: from the line, and from the system's sample what is not on it."""
    sample = _sample(system)
    given = {
        name: calls.numbers(f"--{name}", getattr(options, name)) for name in ("q", "xi", "v") if getattr(options, name)
    }
    data = {name: sample[name] for name in ("q", "xi", "v") if name in sample} | given
    if {"xi", "v"} <= set(data):  # given both by one: the line goes before the sample, and both on the line is an error
        data = {name: value for name, value in data.items() if name == "q" or name in given}
    data["h"] = options.h if options.h is not None else sample.get("h", 0.01)
    if "q" not in data or not {"xi", "v"} & set(data):
        raise ValueError(f"{type(system).__name__} has no sample motion; give --q and --xi (or --v).")
    return data


def _summary(trajectory: dh.Trajectory, seconds: float) -> str:
    names = trajectory.system.coordinates
    lines = [repr(trajectory), f"computed in {seconds:.2f} s (compilation included)", ""]
    lines.append(f"{'':>22} {'start':>12} {'end':>12}")
    for i, (first, last) in enumerate(zip(trajectory.q[0], trajectory.q[-1], strict=True)):
        lines.append(f"{names[i] if i < len(names) else f'q[{i}]':>22} {first:12.6g} {last:12.6g}")
    lines.append(f"{'':>22} {'start':>12} {'end':>12} {'largest change':>15}")
    for name, values in trajectory.invariants().items():
        lines.append(f"{name:>22} {values[0]:12.6g} {values[-1]:12.6g} {abs(values - values[0]).max():15.1e}")
    return "\n".join(lines)


# figures


def _figures(options: argparse.Namespace) -> int:
    from paper_figures import FIGURES

    if options.list:
        print("\n".join(FIGURES))
        return 0
    names = [chosen(name, FIGURES, "figure") for name in options.names] or list(FIGURES)
    from discrete_hamel import plots

    plots.style()
    from paper_figures.gallery import write_all

    return 0 if write_all(names, options.out, fast=not options.full) else 1


if __name__ == "__main__":
    sys.exit(main())
