"""`discrete-hamel figures [NAME ...]`: the papers' figures, with their claims checked."""

import argparse
from pathlib import Path
from typing import Any

from discrete_hamel.names import chosen


def add(commands: Any) -> None:
    """The command's options."""
    figures = commands.add_parser("figures", help="write the papers' figures and check their claims")
    figures.add_argument("names", nargs="*", metavar="NAME", help="which figures (default: all)")
    figures.add_argument("--full", action="store_true", help="longer runs behind the claims")
    figures.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="folder (default: figures)")
    figures.add_argument("--films", action="store_true", help="also NAME.gif of the figures that move: he_2, he_3")
    figures.add_argument("--list", action="store_true", help="list the figures and stop")
    figures.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Write them; 1 if a claim fails."""
    from paper_figures import FIGURES

    if options.list:
        print("\n".join(FIGURES))
        return 0
    names = [chosen(name, FIGURES, "figure") for name in options.names] or list(FIGURES)
    from discrete_hamel import plots

    plots.style()
    from discrete_hamel.ensembles.runs import cores
    from paper_figures.gallery import write_all

    return 0 if write_all(names, options.out, fast=not options.full, jobs=cores(), films=options.films) else 1
