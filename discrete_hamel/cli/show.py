"""`discrete-hamel show STORE`: what is in a store, of a run or of an ensemble."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel._support.errors import InputError
from discrete_hamel.cli import picture_options
from discrete_hamel.cli.motion_options import FILE, stored_run
from discrete_hamel.cli.printing import add_json, facts, print_facts, summary
from discrete_hamel.runs.ensemble.ensemble_result import with_reasons
from discrete_hamel.runs.storage.optional import xarray_module
from discrete_hamel.runs.storage.reading import verify

if TYPE_CHECKING:
    from xarray import Dataset

HELP = "show what a store holds"
ABOUT = """Show a store: of a run, which --save or dh.simulate(..., store=...) made, its start, end and invariants; of a
sweep or of dh.ensemble(..., store=...) its members, and what failed.

A run of a system of your own needs that system, as a store holds no code: --system FILE.py:NAME."""

EXAMPLES = """examples:
  discrete-hamel show run.zarr --animate run.gif                a run, and a film of it
  discrete-hamel show sleighs.zarr                              a sweep: how many members, what failed
  discrete-hamel show skate.zarr --system skate.py:Skate        a run of a system of your own
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("store", metavar="STORE", help="a Zarr store")
    parser.add_argument("--system", metavar="NAME", help=f"what moved, with the values of the store: {FILE}")
    picture_options.add(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print it, and draw what was asked for."""
    if not Path(options.store).exists():
        raise FileNotFoundError(f"{options.store} does not exist; run --save and sweep --store make one.")
    _, manifest = verify(Path(options.store))
    if "kind" in manifest:
        return _ensemble(
            options, xarray_module(stores=True).open_zarr(options.store, consolidated=False, decode_times=False)
        )
    trajectory = stored_run(options.store, options.system)
    picture_options.refuse(options, trajectory.system, trajectory.q[0], abs(float(trajectory.t[-1] - trajectory.t[0])))
    if options.json:
        print_facts(facts(trajectory))
    else:
        print(summary(trajectory))
    picture_options.draw(options, trajectory)
    return 0


def _ensemble(options: argparse.Namespace, contents: "Dataset") -> int:
    if options.plot or options.animate:
        raise InputError("--plot and --animate draw a run; this store is an ensemble: open it with xarray.open_zarr.")
    done = contents["finished"].values
    reasons, counts = np.unique(with_reasons(contents)["reason"].values[done].astype(str), return_counts=True)
    failures = {str(reason): int(count) for reason, count in zip(reasons, counts, strict=True) if reason}
    if options.json:
        print_facts({"members": len(done), "finished": int(done.sum()), "failures": failures})
        return 0
    print(f"an ensemble of {len(done)} members; {done.sum()} finished, {sum(failures.values())} of them failed")
    for reason, count in failures.items():
        print(f"  {count}: {reason}")
    print(contents.drop_attrs())
    return 0
