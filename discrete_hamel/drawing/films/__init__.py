"""Films of a trajectory: each system of the catalogue as the body that it is, in real time, as GIF, HTML or MP4.

    traj.animate("run.gif")                    # the file's ending decides
    traj.animate("run.html", seconds=10)       # the whole motion in ten seconds

A system is drawn by its method `shapes(q)`, which returns arrays of points of the kinds in
`systems/_blocks/outlines.py`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel._support.arrays import PathLike
from discrete_hamel._support.console import Progress
from discrete_hamel._support.errors import InputError
from discrete_hamel.drawing.films.film_scene import scene, shapes_of
from discrete_hamel.drawing.films.timing import frames, refuse_length
from discrete_hamel.runs.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["film", "picture", "refuse_length", "shapes_of", "writer"]

ENDINGS = (".gif", ".html", ".mp4")


def film(
    trajectory: Trajectory,
    path: PathLike,
    *,
    seconds: float | None = None,
    frames_a_second: float = 25.0,
    dots_per_inch: float = 100.0,
    progress: bool = True,
) -> Path:
    """Write the motion to a file .gif, .html or .mp4, in real time or within `seconds`; returns its path.

    `frames_a_second` and `dots_per_inch` say how smooth and how large. The axes stay the same through the film. Each
    frame is the node nearest to its time: a step shorter than a frame is passed over, a longer one stands still. A film
    that takes longer than a second to write shows its progress.
    """
    path = Path(path)
    write = writer(path)
    shown = frames(trajectory, seconds, frames_a_second)
    with Progress(len(shown.nodes), progress, unit="frames") as watched:
        write(scene(trajectory, shown.nodes), shown, path, watched, dots_per_inch)
    return path


def picture(trajectory: Trajectory, *, node: int = -1, dots_per_inch: float = 100.0) -> "Figure":
    """Returns a figure of the body at one node, the last by default, with the traces that lead there, in
    `dots_per_inch`.
    """
    from discrete_hamel.drawing.films.painter import Painter

    last = range(len(trajectory))[node]
    nodes = frames(trajectory).nodes
    nodes = np.unique(np.append(nodes[nodes < last], last))
    return Painter(scene(trajectory, nodes), dots_per_inch).show(len(nodes) - 1)


def writer(path: Path) -> Callable[..., None]:
    """Returns the function that writes a file of this name; refuses before anything is computed if it could not."""
    from discrete_hamel.drawing import plots
    from discrete_hamel.drawing.films import film_files, player

    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"a film is a file {', '.join(ENDINGS)}; {path.name!r} ends in {ending or 'nothing'}.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.absolute().parent} to write {path.name} in.")
    if ending == ".html":
        return player.html
    plots.style()  # says so where matplotlib is missing
    if ending == ".mp4":
        film_files.ffmpeg()
        return film_files.mp4
    return film_files.gif
