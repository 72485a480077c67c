"""`discrete-hamel bench [NAME ...]`: how fast it is, beside C and other libraries, with versions and machine."""

import argparse
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from discrete_hamel._support.errors import InputError
from discrete_hamel.cli.name_lookup import choose, headline

HELP = "measure the speed, beside C and other libraries"
ABOUT = """Measure how fast discrete_hamel is on this machine, beside hand-written C and other libraries.

All contestants take turns in one process and the best of many rounds counts, so that the ratios mean something on a
busy machine too. A library or compiler to compare with that is not installed is left out, and named."""

EXAMPLES = """examples:
  discrete-hamel bench --list                  what there is
  discrete-hamel bench trajectory --quick      a first impression, in half a minute
  discrete-hamel bench                         everything, about eight minutes
  discrete-hamel bench --out docs/speed        the same, and docs/speed.md with tables, docs/speed/ with plots and JSON
"""
HERE = Path(__file__).parents[2]
INSTALLED = Path(__file__).parents[1]  # where a wheel has them, beside the figures that they draw with


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="which benchmarks (default: all)")
    parser.add_argument(
        "--rounds", type=int, metavar="N", help="turns of each contestant (default: each benchmark's own)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer turns, sizes and contestants")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="write DIR.md (tables), and in DIR the plots and the numbers as JSON"
    )
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")


def execute(options: argparse.Namespace) -> int:
    """Run them; 1 if one could not be run. A bar that is missed is said, and changes nothing here."""
    report = _report((HERE, Path.cwd(), INSTALLED))
    known = report.BENCHMARKS
    names = [choose(name, known, "benchmark") for name in options.names] or list(known)
    if options.list:
        for name in names:
            print(f"{name:<12} {headline(report.benchmark(name))}".rstrip())
        return 0
    if options.rounds is not None and options.rounds < 1:
        raise InputError(f"--rounds is {options.rounds}; it counts turns and must be at least 1.")
    if options.out is not None:
        from discrete_hamel.drawing import plots

        plots.style()  # a missing matplotlib is said before all the work, not after
    return 0 if report.run_all(names, options.rounds, options.quick, options.out) else 1


def benchmark_names() -> tuple[str, ...]:
    """Names of all benchmarks; none where they are not installed."""
    try:
        return tuple(_report((HERE, Path.cwd(), INSTALLED)).BENCHMARKS)
    except ImportError:
        return ()


def _report(places: Iterable[Path]) -> ModuleType:
    """The module benchmarks.report of the checkout that this package belongs to, or else of the one we are in."""
    for place in places:
        if (place / "benchmarks" / "report.py").exists():
            if str(place) not in sys.path:
                sys.path.append(str(place))
            return importlib.import_module("benchmarks.report")
    raise ImportError(
        "the benchmarks are not here: they are the folder benchmarks/ of the repository, and part of the wheel. "
        "Clone the one, change to it, and say discrete-hamel bench again; or install the other."
    )
