"""Pictures of a trajectory: `overview`, and small functions that draw one thing into given axes.

Matplotlib is imported when something is drawn, never before. Quantities carry the units of the user's own data, so the
axes here name the quantity only; `paper_figures` add units, because there they are known.
"""

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from discrete_hamel.trajectory import Trajectory

# Okabe and Ito's colours, told apart by colour-blind readers and in grey print.
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, YELLOW, BLACK = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
    "#000000",
)
GREY = "#8c8c8c"
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MANY = 12  # more curves than this get no legend and one colour scale

STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.constrained_layout.use": True,
    "figure.dpi": 120,
    "font.family": "STIXGeneral",
    "font.size": 9,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "mathtext.fontset": "stix",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot
    except ImportError:
        raise ImportError('drawing needs matplotlib: pip install "discrete_hamel[plots]"') from None
    return matplotlib.pyplot


def style() -> AbstractContextManager:
    """The one style, as a context: `with style(): ...`."""
    pyplot = _pyplot()
    return pyplot.rc_context(STYLE | {"axes.prop_cycle": pyplot.cycler(color=CYCLE)})


def overview(trajectory: Trajectory, ax: Any = None) -> Any:
    """A figure of the path (or the coordinates), the velocities and how well the invariants are kept.

    With `ax` only the path, or the coordinates where there is no path in a plane, is drawn into it. Returns the figure.
    """
    _of_one_run(trajectory)
    with style():
        main: Any = path if plane_coordinates(trajectory) else coordinates
        if not np.size(trajectory.q):  # a reduced system without coordinates
            main = momenta
        if ax is not None:
            return main(trajectory, ax=ax).figure
        figure, axes = _pyplot().subplot_mosaic(
            [["main", "velocities"], ["main", "invariants"]], figsize=(7.2, 4.6), width_ratios=[1.15, 1]
        )
        main(trajectory, ax=axes["main"])
        velocities(trajectory, ax=axes["velocities"])
        invariants(trajectory, ax=axes["invariants"])
        axes["velocities"].set_xlabel("")
        figure.suptitle(_title(trajectory), fontsize=10)
    return figure


def path(trajectory: Trajectory, *, along: tuple[str, str] | None = None, ax: Any = None) -> Any:
    """The path in the plane of two coordinates, x and y unless named in `along`: equal aspect, start and end marked."""
    names = along or plane_coordinates(trajectory)
    if not names:
        known = ", ".join(trajectory.system.coordinates) or "none are named"
        raise ValueError(f"which plane? Name two coordinates, along=('x', 'y'); this system's are: {known}.")
    x, y = (trajectory.q[:, _index(trajectory, name)] for name in names)
    ax = _axes(ax)
    (line,) = ax.plot(x, y)
    ax.plot(x[:1], y[:1], "o", color=line.get_color(), markerfacecolor="white", markersize=5, label="start")
    finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    ax.plot(x[finite[-1:]], y[finite[-1:]], "o", color=line.get_color(), markersize=5, label="end")
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.set_aspect("equal", adjustable="datalim")
    _legend(ax)
    return ax


def coordinates(trajectory: Trajectory, *, ax: Any = None) -> Any:
    """The coordinates q at the nodes, over time."""
    return _curves(ax, trajectory.t, trajectory.q, trajectory.system.coordinates, "q", "coordinates")


def velocities(trajectory: Trajectory, *, ax: Any = None) -> Any:
    """The quasi-velocities xi at the nodes, over time; those that the constraint keeps at zero are left out."""
    xi = np.asarray(trajectory.xi)
    rank = np.shape(trajectory.p)[-1]
    shown = [i for i in range(xi.shape[1]) if i < rank or np.nanmax(np.abs(xi[:, i]), initial=0.0) > 0]
    names = _names(trajectory.system.velocities, "xi", xi.shape[1])
    return _curves(ax, trajectory.t, xi[:, shown], [names[i] for i in shown], "xi", "quasi-velocities")


def momenta(trajectory: Trajectory, *, ax: Any = None) -> Any:
    """The momenta p on D at the nodes, over time."""
    names = [f"p {name}" for name in trajectory.system.velocities[: np.shape(trajectory.p)[-1]]]
    return _curves(ax, trajectory.t, trajectory.p, names, "p", "momenta")


def invariants(trajectory: Trajectory, *, ax: Any = None) -> Any:
    """How far energy and the system's invariants are from their first values: relative, absolute where that is zero."""
    ax = _axes(ax)
    floor = np.finfo(np.asarray(trajectory.q).dtype).eps / 10
    for name, along in trajectory.invariants().items():
        values = np.asarray(along)
        first, largest = abs(values[0]), np.nanmax(np.abs(values))
        relative = first > 1e-8 * max(largest, floor)
        change = np.abs(values - values[0]) / (first if relative else 1.0)
        # On a log axis exact agreement has no place: it is drawn at the floor.
        ax.plot(
            trajectory.t, np.maximum(change, floor), linewidth=0.9, label=name if relative else f"{name} (absolute)"
        )
    ax.set(xlabel="t", ylabel="change of invariants", yscale="log")
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, floor), max(high, 1e-12))
    _legend(ax)
    return ax


def plane_coordinates(trajectory: Trajectory) -> tuple[str, str] | None:
    """("x", "y") where the system has coordinates of these names."""
    return ("x", "y") if {"x", "y"} <= set(trajectory.system.coordinates) else None


def _axes(ax: Any) -> Any:
    return _pyplot().subplots()[1] if ax is None else ax


def _names(known: tuple[str, ...], letter: str, count: int) -> list[str]:
    return [known[i] if i < len(known) else f"{letter}[{i}]" for i in range(count)]


def _index(trajectory: Trajectory, name: str) -> int:
    known = trajectory.system.coordinates
    if name not in known:
        raise ValueError(f"no coordinate {name!r}; there are {', '.join(known)}.")
    return known.index(name)


def _curves(ax: Any, t: Any, values: Any, known: Any, letter: str, label: str) -> Any:
    ax = _axes(ax)
    values = np.asarray(values)
    count = values.shape[1]
    if count > MANY:
        ax.set_prop_cycle(color=_pyplot().get_cmap("viridis")(np.linspace(0, 0.95, count)))
        label = f"{label} ({count}, first dark, last light)"
    for i, (name, column) in enumerate(zip(_names(known, letter, count), values.T, strict=True)):
        ax.plot(t, column, label=name, linestyle="--" if len(CYCLE) <= i < MANY >= count else "-")
    ax.set(xlabel="t", ylabel=label)
    if count <= MANY:
        _legend(ax)
    return ax


def _legend(ax: Any) -> None:
    """Above the axes, where it hides no curve, in as many columns as the names allow."""
    longest = max(len(label) for label in ax.get_legend_handles_labels()[1])
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.1,
        ncols=max(1, min(6, 52 // (longest + 7))),
        handlelength=1.2,
        columnspacing=1.2,
    )


def _of_one_run(trajectory: Trajectory) -> None:
    if np.ndim(trajectory.t) != 1:
        raise ValueError("this is a bundle of trajectories; draw its members one by one, into one ax= if you like.")
    if len(trajectory.t) < 2:
        raise ValueError("this trajectory has one node only, so there is no curve to draw; run it for some steps.")


def _title(trajectory: Trajectory) -> str:
    name = type(trajectory.system).__name__
    if trajectory.scheme is None:
        return f"{name}: reference"
    return f"{name}: {type(trajectory.scheme).__name__}, h = {float(trajectory.h):g}, {len(trajectory) - 1} intervals"
