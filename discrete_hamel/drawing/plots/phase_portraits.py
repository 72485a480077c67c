"""Two quantities against each other: phase portraits, and Poincare sections."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.motion.events import crossings
from discrete_hamel.drawing.plots.look import axes, legend, style
from discrete_hamel.drawing.plots.named_quantity import Quantity, along, as_function, at_states, name_of, title_of
from discrete_hamel.runs.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Runs = Trajectory | Sequence[Trajectory]


def phase_portrait(
    trajectories: Runs, of: tuple[Quantity, Quantity], *, labels: Sequence[str] = (), ax: "Axes | None" = None
) -> "Axes":
    """Trajectories in the plane of two quantities, each a name or a function of (q, xi); returns the axes.

    `labels` name the trajectories in the legend.

    >>> import discrete_hamel as dh
    >>> pendulum = dh.systems.SphericalPendulumAngles()
    >>> runs = [dh.simulate(pendulum, [angle, 0.0], [0.0, 0.0], h=0.1, steps=60) for angle in (0.5, 1.0)]
    >>> ax = dh.plots.phase_portrait(runs, of=("theta", "p theta'"))        # doctest: +SKIP
    """
    with style():
        ax = axes(ax)
        for i, run in enumerate(_several(trajectories)):
            x, y = (along(run, quantity) for quantity in of)
            (line,) = ax.plot(x, y, linewidth=1.0, label=labels[i] if i < len(labels) else None)
            ax.plot(x[:1], y[:1], "o", color=line.get_color(), markerfacecolor="white", markersize=4)
        return _finish(ax, trajectories, of)


def section(
    trajectories: Runs,
    where: Quantity,
    of: tuple[Quantity, Quantity],
    *,
    sense: int = 1,
    labels: Sequence[str] = (),
    ax: "Axes | None" = None,
) -> "Axes":
    """The Poincare section of trajectories: two quantities wherever `where` goes through zero; returns the axes.

    Each crossing is found within a step of the scheme, to round-off (`dh.crossings`). `sense` +1 takes the upward
    ones, -1 the downward ones, 0 both. For an angle that goes round give a function: where=lambda q, xi: jnp.sin(q[1]).
    `labels` name the trajectories in the legend.
    """
    with style():
        ax = axes(ax)
        for i, run in enumerate(_several(trajectories)):
            found = crossings(run, partial(as_function(run.system, where), run.system), sense=sense)
            if not len(found):
                raise InputError(
                    f"{name_of(where) or 'the function'} does not go through zero along trajectory {i} "
                    f"(t = {run.t[0]:g} to {run.t[-1]:g}) in that sense; run it for longer, or choose another section."
                )
            x, y = (found.t if one == "t" else at_states(run.system, found.q, found.xi, one) for one in of)
            ax.plot(x, y, ".", markersize=3, label=labels[i] if i < len(labels) else None)
        way = {1: ", upward", -1: ", downward", 0: ""}[int(np.sign(sense))]
        return _finish(ax, trajectories, of, f"   (where {name_of(where)} = 0{way})" if name_of(where) else "")


def _several(trajectories: Runs) -> list[Trajectory]:
    runs = [trajectories] if isinstance(trajectories, Trajectory) else list(trajectories)
    for run in runs:
        if not isinstance(run, Trajectory) or np.ndim(run.t) != 1:
            raise InputError(f"give one trajectory, or a list of such; this is a {type(run).__name__}, or a bundle.")
    if not runs:
        raise InputError("there is no trajectory to draw.")
    return runs


def _finish(ax: "Axes", trajectories: Runs, of: tuple[Quantity, Quantity], note: str = "") -> "Axes":
    first = _several(trajectories)[0]
    ax.set(xlabel=title_of(first, of[0]) + note, ylabel=title_of(first, of[1]))
    legend(ax)
    return ax
