"""`discrete-hamel audit NAME`: what a motion keeps, and on what ground."""

import argparse
from pathlib import Path

import discrete_hamel as dh
from discrete_hamel.cli import motion_options
from discrete_hamel.cli.printing import add_json, print_facts

HELP = "say what a motion keeps, and on what ground"
ABOUT = """Say what a motion keeps: constraint, invariants with their drift, momentum, and Newton's health, each as a
theorem that holds or is broken, as observed, or as not claimed.

What the line does not say is taken from the system's sample motion, as in discrete-hamel run."""

EXAMPLES = """examples:
  discrete-hamel audit SphericalPendulum                        its sample motion
  discrete-hamel audit RollingDisk --scheme "Gauss(stages=2)"   the same by another scheme
  discrete-hamel audit run.zarr                                 a run on disk
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    motion_options.add(parser, stored=True)
    motion_options.add_run(parser)
    parser.add_argument("--system", metavar="NAME", help="of a store: what moved, where the store cannot say it itself")
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print the audit; 1 if a theorem is broken."""
    if Path(options.name).is_dir() or Path(options.name).suffix == ".zarr":
        trajectory = motion_options.stored_run(options.name, options.system)
    else:
        system, q, xi, v, h = motion_options.motion_of(options)
        trajectory = dh.simulate(
            system, q, xi, v=v, h=h, steps=options.steps, scheme=motion_options.scheme(options.scheme), progress=True
        )
    found = dh.audit(trajectory)
    if options.json:
        lines = [
            line._asdict() | {"standing": line.standing.value, "drift": line.drift._asdict()} for line in found.lines
        ]
        print_facts({"title": found.title, "sound": found.sound, "lines": lines})
    else:
        print(found)
    return 0 if found.sound else 1
