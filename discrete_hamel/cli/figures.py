"""`discrete-hamel figures [NAME ...]`: the papers' figures, with their claims checked."""

import argparse
import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

from discrete_hamel.cli.name_lookup import choose, headline

HELP = "write the papers' figures and check their claims"
ABOUT = """Write the papers' figures as PDF and PNG, with their data, and check what each of them claims.

Every figure computes its own data and says in words what it shows; DIR/index.html has all of them, by papers, their
claims ticked or crossed, and the papers' slips. Those that fit are also written for one column. The exit status is 1 if
a claim does not hold. All together take some minutes."""

EXAMPLES = """examples:
  discrete-hamel figures --list                what there is
  discrete-hamel figures he_5a he_5b           two of them, in half a minute
  discrete-hamel figures --full --out full     all, with longer runs behind the claims
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="which figures (default: all)")
    parser.add_argument("--full", action="store_true", help="longer runs behind the claims")
    parser.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="folder (default: figures)")
    parser.add_argument("--films", action="store_true", help="also NAME.gif of the figures that move: he_2, he_3")
    parser.add_argument("--list", action="store_true", help="list the figures and stop")


def execute(options: argparse.Namespace) -> int:
    """Write them; 1 if a claim fails."""
    figures = _package()
    known, gallery = figures.FIGURES, importlib.import_module(f"{figures.__name__}.gallery")
    if options.list:
        for name in known:
            print(f"{name:<20} {headline(gallery.figure_module(name))}".rstrip())
        return 0
    names = [choose(name, known, "figure") for name in options.names] or list(known)
    from discrete_hamel.drawing import plots

    plots.style()
    from discrete_hamel.runs.ensemble.block_runs import cores

    whole = gallery.write_all(names, options.out, fast=not options.full, jobs=cores(), films=options.films)
    return 0 if whole else 1


def figure_names() -> tuple[str, ...]:
    """Names of all figures; none where they are not installed."""
    try:
        return _package().FIGURES
    except ImportError:
        return ()


def _package() -> ModuleType:
    """The figures: part of this package where it was installed from a wheel, beside it in a checkout."""
    inside = importlib.util.find_spec("discrete_hamel.paper_figures")
    return importlib.import_module("discrete_hamel.paper_figures" if inside else "paper_figures")
