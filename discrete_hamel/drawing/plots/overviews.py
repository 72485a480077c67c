"""A trajectory at a glance."""

from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel._support.errors import InputError
from discrete_hamel.drawing.plots.curves import coordinates, invariants, momenta, path, velocities
from discrete_hamel.drawing.plots.look import pyplot, style
from discrete_hamel.drawing.plots.quantities import plane_coordinates
from discrete_hamel.runs.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase


def overview(trajectory: Trajectory, ax: "Axes | None" = None) -> "FigureBase":
    """A figure of the path (or the coordinates), the velocities and how well the invariants are kept.

    With `ax` only the path, or the coordinates where there is no path in a plane, is drawn into it. Returns the figure.
    """
    of_one_run(trajectory)
    with style():
        main = path if plane_coordinates(trajectory) else coordinates
        if not np.size(trajectory.q):  # a reduced system without coordinates
            main = momenta
        if ax is not None:
            return main(trajectory, ax=ax).figure
        figure, axes = pyplot().subplot_mosaic(
            [["main", "velocities"], ["main", "invariants"]], figsize=(7.2, 4.6), width_ratios=[1.15, 1]
        )
        main(trajectory, ax=axes["main"])
        velocities(trajectory, ax=axes["velocities"])
        invariants(trajectory, ax=axes["invariants"])
        axes["velocities"].set_xlabel("")
        figure.suptitle(_title(trajectory), fontsize=10)
    return figure


def of_one_run(trajectory: Trajectory) -> None:
    """Refuse a bundle, and a run without a step."""
    if np.ndim(trajectory.t) != 1:
        raise InputError("this is a bundle of trajectories; draw its members one by one, into one ax= if you like.")
    if len(trajectory.t) < 2:
        raise InputError("this trajectory has one node only, so there is no curve to draw; run it for some steps.")


def _title(trajectory: Trajectory) -> str:
    name = type(trajectory.system).__name__
    if trajectory.scheme is None:
        return f"{name}: reference"
    return f"{name}: {type(trajectory.scheme).__name__}, h = {float(trajectory.h):g}, {len(trajectory) - 1} intervals"
