"""Plots and films of a trajectory: the options, what is refused before the work, and the files."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, cast

import discrete_hamel as dh
from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.cli.printing import said

if TYPE_CHECKING:
    from matplotlib.figure import Figure  # in a cast


def add(parser: argparse.ArgumentParser) -> None:
    """The options that ask for pictures."""
    parser.add_argument("--plot", metavar="FILE", help="draw path, velocities and invariants (.png, .pdf, .svg)")
    parser.add_argument("--animate", metavar="FILE", help="a film of the body (.gif, .html, or .mp4 where ffmpeg is)")
    parser.add_argument("--seconds", type=float, metavar="S", help="length of the film (default: that of the motion)")


def refuse(options: argparse.Namespace, system: dh.System, q: ArrayLike, duration: float) -> None:
    """What cannot be written is said before the run, not after; `duration` is how long the motion lasts."""
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
        animate.shapes_of(system, q)
        animate.refuse_length(duration if options.seconds is None else options.seconds)


def draw(options: argparse.Namespace, trajectory: dh.Trajectory) -> None:
    """Write the pictures that were asked for."""
    if options.plot:
        from discrete_hamel.drawing import plots

        plots.save(cast("Figure", trajectory.plot()), options.plot)
        said(options, f"drawn in {options.plot}")
    if options.animate:
        trajectory.animate(options.animate, seconds=options.seconds)
        said(options, f"film in {options.animate}")
