"""One thing along a trajectory, drawn into given axes: its path, or what it is over time; and all at a glance."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel.drawing.plots.look import CYCLE, MANY, axes, legend, pyplot, style
from discrete_hamel.drawing.plots.named_quantity import plane_coordinates, title_of, unit_of
from discrete_hamel.runs.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase


def path(trajectory: Trajectory, *, along: tuple[str, str] | None = None, ax: "Axes | None" = None) -> "Axes":
    """The path in the plane of two coordinates, x and y unless named in `along`; returns the axes."""
    names = along or plane_coordinates(trajectory)
    if not names:
        known = ", ".join(trajectory.system.coordinates) or "none are named"
        raise InputError(f"which plane? Name two coordinates, along=('x', 'y'); this system's are: {known}.")
    x, y = (trajectory.q[:, _index(trajectory, name)] for name in names)
    ax = axes(ax)
    (line,) = ax.plot(x, y)
    ax.plot(x[:1], y[:1], "o", color=line.get_color(), markerfacecolor="white", markersize=5, label="start")
    finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    ax.plot(x[finite[-1:]], y[finite[-1:]], "o", color=line.get_color(), markersize=5, label="end")
    ax.set(xlabel=title_of(trajectory, names[0]), ylabel=title_of(trajectory, names[1]))
    ax.set_aspect("equal", adjustable="datalim")
    legend(ax)
    return ax


def coordinates(trajectory: Trajectory, *, ax: "Axes | None" = None) -> "Axes":
    """The coordinates q at the nodes, over time; returns the axes."""
    names = _names(trajectory.system.coordinates, "q", np.shape(trajectory.q)[1])
    return _curves(ax, trajectory, trajectory.q, names, "coordinates")


def velocities(trajectory: Trajectory, *, ax: "Axes | None" = None) -> "Axes":
    """The quasi-velocities xi at the nodes, over time, but not those that are always zero; returns the axes."""
    xi = np.asarray(trajectory.xi)
    rank = np.shape(trajectory.p)[-1]
    shown = [i for i in range(xi.shape[1]) if i < rank or np.nanmax(np.abs(xi[:, i]), initial=0.0) > 0]
    names = _names(trajectory.system.velocities, "xi", xi.shape[1])
    return _curves(ax, trajectory, xi[:, shown], [names[i] for i in shown], "quasi-velocities")


def momenta(trajectory: Trajectory, *, ax: "Axes | None" = None) -> "Axes":
    """The momenta p on D at the nodes, over time; returns the axes."""
    rank = np.shape(trajectory.p)[-1]
    names = _names(tuple(f"p {name}" for name in trajectory.system.velocities[:rank]), "p", rank)
    return _curves(ax, trajectory, trajectory.p, names, "momenta")


def invariants(trajectory: Trajectory, *, ax: "Axes | None" = None) -> "Axes":
    """How far energy and the system's invariants are from their first values; returns the axes.

    Relative, absolute where that is zero.
    """
    ax = axes(ax)
    floor = np.finfo(np.asarray(trajectory.q).dtype).eps / 10
    for name, along in trajectory.invariants().items():
        values = np.asarray(along)
        first, largest = abs(values[0]), np.nanmax(np.abs(values))
        relative = first > 1e-8 * max(largest, floor)
        change = np.abs(values - values[0]) / (first if relative else 1.0)
        # On a log axis exact agreement has no place: it is drawn at the floor.
        label = name if relative else f"{title_of(trajectory, name)} (absolute)"
        ax.plot(trajectory.t, np.maximum(change, floor), linewidth=0.9, label=label)
    ax.set(xlabel=title_of(trajectory, "t"), ylabel="relative change", yscale="log")
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, floor), max(high, 1e-12))
    legend(ax)
    return ax


def _curves(ax: "Axes | None", trajectory: Trajectory, values: ArrayLike, names: list[str], label: str) -> "Axes":
    """Columns over time; their unit is on the axis where they share one, else beside each name."""
    ax = axes(ax)
    values = np.asarray(values)
    count = values.shape[1]
    found = {unit_of(trajectory, name) for name in names}
    shared = f" [{found.pop()}]" if len(found) == 1 and "" not in found else ""
    if count > MANY:
        ax.set_prop_cycle(color=pyplot().get_cmap("viridis")(np.linspace(0, 0.95, count)))
        label = f"{label} ({count}, first dark, last light)"
    for i, (name, column) in enumerate(zip(names, values.T, strict=True)):
        called = name if shared else title_of(trajectory, name)
        ax.plot(trajectory.t, column, label=called, linestyle="--" if len(CYCLE) <= i < MANY >= count else "-")
    ax.set(xlabel=title_of(trajectory, "t"), ylabel=label + shared)
    if count <= MANY:
        legend(ax)
    return ax


def _names(known: tuple[str, ...], letter: str, count: int) -> list[str]:
    return [known[i] if i < len(known) else f"{letter}[{i}]" for i in range(count)]


def _index(trajectory: Trajectory, name: str) -> int:
    known = trajectory.system.coordinates
    if name not in known:
        raise InputError(f"no coordinate {name!r}; there are {', '.join(known)}.")
    return known.index(name)


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


def drawing(draw: Callable | None) -> Callable:
    """The function that draws: the overview where none is given."""
    if draw is not None and not callable(draw):
        raise InputTypeError(
            f"plot takes a function of dh.plots, not {draw!r}, and returns a figure; a file is written by "
            'dh.plots.save(traj.plot(), "run.png").'
        )
    return draw or overview
