"""`discrete-hamel sweep NAME --over PARAMETER=VALUES --store PATH`: a grid of runs, into a store."""

import argparse
import inspect
import itertools
from collections.abc import Sequence

import numpy as np

import discrete_hamel as dh
from discrete_hamel._support.errors import InputError
from discrete_hamel.cli import motion_options
from discrete_hamel.cli import value_parser as calls
from discrete_hamel.cli.name_lookup import choose
from discrete_hamel.cli.printing import add_json, print_facts, said

HELP = "run a system over a grid of values, into a store"
ABOUT = """Run a system for each value of a parameter, a coordinate or a quasi-velocity, or for a grid of several, on
all cores, into a store. The same line again goes on where it was ended; several at once share the work."""

EXAMPLES = """examples:
  discrete-hamel sweep ChaplyginSleigh --over offset=0.1:0.5:9 --steps 10000 --store sleighs.zarr
  discrete-hamel sweep RollingDisk --over mass=1,2,5 --over "spin=2:6:5" --store disks.zarr
  discrete-hamel show sleighs.zarr
"""
MOST = 10**7  # runs of a grid


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    motion_options.add(parser)
    parser.add_argument(
        "--over",
        action="append",
        required=True,
        metavar="NAME=VALUES",
        help="a,b,c, or FIRST:LAST:NUMBER; again for a grid",
    )
    motion_options.add_run(parser)
    parser.add_argument("--save-every", type=int, metavar="N", help="keep every Nth node (default: the last one)")
    parser.add_argument("--store", required=True, metavar="PATH", help="the Zarr store")
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the grid; 1 if members failed."""
    motion = motion_options.motion_of(options)
    axes = dict(_axis(text) for text in options.over)
    size = int(np.prod([len(values) for values in axes.values()], dtype=float))
    if size > MOST:
        raise InputError(f"a grid of {size} runs; {MOST} at most. Ask for fewer values.")
    grid = np.array(list(itertools.product(*axes.values())))
    system, q, xi, v = _members(motion, list(axes), grid)
    runs = dh.ensemble(
        system,
        q,
        xi,
        v=v,
        h=motion.h,
        steps=options.steps,
        scheme=motion_options.scheme(options.scheme),
        save_every=options.save_every,
        store=options.store,
    )
    failed = int(np.sum(runs["reason"].values.astype(str) != ""))
    sizes = {name: len(values) for name, values in axes.items()}
    if options.json:
        print_facts({"members": size, "failed": failed, "axes": axes, "store": options.store})
    else:
        print(f"{' x '.join(f'{count} {name}' for name, count in sizes.items())} = {size} runs; {failed} failed")
    said(options, f"in {options.store}: discrete-hamel show {options.store}, or xarray.open_zarr")
    return 1 if failed else 0


def _axis(text: str) -> tuple[str, list[float]]:
    """The name and the values of NAME=a,b,c or NAME=FIRST:LAST:NUMBER.

    >>> _axis("mass=1:2:3")
    ('mass', [1.0, 1.5, 2.0])
    """
    name, equals, written = text.partition("=")
    if not equals or not written:
        raise InputError(f"--over takes NAME=VALUES, such as mass=1,2,5 or mass=1:2:11; got {text!r}.")
    if ":" not in written:
        return name, calls.numbers("--over", [written])
    parts = written.split(":")
    if len(parts) != 3 or not parts[2].isdigit() or int(parts[2]) < 1:
        raise InputError(f"--over {text}: a range is FIRST:LAST:NUMBER, such as 1:2:11.")
    first, last = calls.numbers("--over", parts[:2])
    return name, np.linspace(first, last, int(parts[2])).tolist()


def _members(
    motion: motion_options.Motion, names: Sequence[str], grid: np.ndarray
) -> tuple[dh.System, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """System, q, xi and v with a row a member, of which the named entries are the grid's."""
    system, by_v = motion.system, motion.v is not None
    q, moving = (np.tile(np.asarray(a, float), (len(grid), 1)) for a in (motion.q, motion.v if by_v else motion.xi))
    fields = {name: getattr(system, name) for name in inspect.signature(type(system)).parameters}
    places = {name: (q, i) for i, name in enumerate(system.coordinates)}
    known_velocities = tuple(f"{name}'" for name in system.coordinates) if by_v else system.velocities
    places |= {name: (moving, i) for i, name in enumerate(known_velocities[: moving.shape[1]])}
    for name, values in zip(names, grid.T, strict=True):
        name = choose(name, (*fields, *places), f"parameter, coordinate or velocity of {type(system).__name__}")
        if name in places:
            rows, column = places[name]
            rows[:, column] = values
        elif np.ndim(fields[name]):
            raise InputError(f"--over takes parameters of one number; {name} has shape {np.shape(fields[name])}.")
        else:
            system = system.replace(**{name: values})
    return system, q, *((None, moving) if by_v else (moving, None))
