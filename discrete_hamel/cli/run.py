"""`discrete-hamel run NAME`: simulate a system, with data and parameters from the line."""

import argparse
import os
import time

import numpy as np

import discrete_hamel as dh
from discrete_hamel._support.errors import InputError
from discrete_hamel.cli import motion_options, picture_options
from discrete_hamel.cli.printing import add_json, facts, print_facts, said, summary
from discrete_hamel.runs.storage.store_options import place

HELP = "simulate a system of the catalogue, or of a Python file"
ABOUT = """Simulate a system of the catalogue, or of a Python file of yours; print where it starts and ends, and how
well its invariants are kept.

What the line does not say is taken from the system's own sample motion: discrete-hamel systems NAME shows that, with
the parameters, the coordinates q and the quasi-velocities xi."""

EXAMPLES = """examples:
  discrete-hamel run ChaplyginSleigh                       its sample motion
  discrete-hamel run ChaplyginSleigh --set mass=2 --q 0 0 0 --xi 1.5 -0.3 --h 0.01 --steps 5000 --plot run.png
  discrete-hamel run RollingDisk --animate disk.gif        a film of it, in real time
  discrete-hamel run RollingDisk --scheme "DiscreteHamel(tau=0.4)"
  discrete-hamel run skate.py --q 0 0 0 --xi 2 0           the system that a file of yours makes
  discrete-hamel run skate.py:Skate --set slope=0.2 --q 0 0 0 --xi 2 0 --json
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    motion_options.add(parser)
    motion_options.add_run(parser)
    parser.add_argument("--save-every", type=int, default=1, metavar="N", help="keep every Nth node (default 1)")
    parser.add_argument("--save", metavar="PATH", help="save the trajectory as a Zarr store (dh.load reads it)")
    picture_options.add(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Run it, and print, save and draw what came out."""
    motion = motion_options.motion_of(options)
    system, q, xi, v, h = motion
    scheme = motion_options.scheme(options.scheme)
    _refuse_outputs(options, motion)
    _refuse_size(options, motion)
    start = time.perf_counter()
    failure = None
    try:
        trajectory = dh.simulate(
            system, q, xi, v=v, h=h, steps=options.steps, scheme=scheme, save_every=options.save_every, progress=True
        )
    except (dh.RunFailed, dh.RunInterrupted) as stopped:
        if stopped.trajectory is None or len(stopped.trajectory) < 2:
            raise
        failure, trajectory = stopped, stopped.trajectory
    seconds = time.perf_counter() - start
    if options.json:
        print_facts({**facts(trajectory), "seconds": seconds, "failure": str(failure or "")})
    else:
        print(summary(trajectory, f"computed in {seconds:.2f} s (compilation included)"))
    if options.save:
        trajectory.save(options.save)
        said(options, f"saved to {options.save}")
    picture_options.draw(options, trajectory)
    if failure is not None:
        raise failure
    return 0


def _refuse_outputs(options: argparse.Namespace, motion: motion_options.Motion) -> None:
    """What cannot be written is said before the run, not after."""
    if options.save is not None and os.path.lexists(place(options.save)):
        raise FileExistsError(f"--save {options.save}: it exists already; give another name, or remove it first.")
    if options.steps == 0 and (options.plot or options.animate):
        raise InputError("there is nothing to draw after --steps 0.")
    picture_options.refuse(options, motion.system, np.asarray(motion.q), abs(options.steps * motion.h))


def _refuse_size(options: argparse.Namespace, motion: motion_options.Motion) -> None:
    """A run whose nodes cannot fit into memory is refused before its hours, not after."""
    nodes = options.steps // max(1, options.save_every) + 1
    row = np.dtype(float).itemsize * (len(motion.q) + 2 * len(motion.v or motion.xi or ()))  # q, xi, xi_mid
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
