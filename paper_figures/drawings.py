"""Line drawings: a page without axes, and arrows, lengths, angles and the ground with their letters."""

from typing import Any

import numpy as np

from discrete_hamel.drawing.plots import BLACK, GREY


def blank(ax: Any, window: tuple[float, float, float, float] | None = None) -> None:
    """No axes, equal units; `window` is (left, right, bottom, top)."""
    ax.set_aspect("equal")
    ax.axis("off")
    if window is not None:
        ax.set(xlim=window[:2], ylim=window[2:])


def letter(ax: Any, at: Any, text: str, offset: tuple[float, float] = (0, 0), color: str = BLACK, **looks: Any) -> None:
    """`text` centred `offset` points from a place."""
    ax.annotate(
        text, at, offset, textcoords="offset points", ha="center", va="center", color=color, **{"fontsize": 10} | looks
    )


def dot(ax: Any, at: Any, text: str = "", offset: tuple[float, float] = (8, 8), color: str = BLACK) -> None:
    """A point with its letter."""
    ax.plot([at[0]], [at[1]], "o", color=color, markersize=3.5, zorder=6)
    letter(ax, at, text, offset, color)


def arrow(
    ax: Any, start: Any, end: Any, text: str = "", offset: tuple[float, float] = (7, 7), color: str = BLACK
) -> None:
    """A vector, its letter at the tip."""
    looks = {"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0, "lw": 1.2, "mutation_scale": 9}
    ax.update_datalim([start, end])  # an annotation does not widen the page, and outside it is not drawn
    ax.autoscale_view()
    ax.annotate("", end, start, arrowprops=looks, zorder=5)
    letter(ax, end, text, offset, color)


def length(ax: Any, start: Any, end: Any, text: str, offset: tuple[float, float] = (0, 8), color: str = BLACK) -> None:
    """A distance, its letter at the middle."""
    looks = {"arrowstyle": "<|-|>", "color": color, "shrinkA": 0, "shrinkB": 0, "lw": 0.7, "mutation_scale": 6}
    ax.annotate("", end, start, arrowprops=looks, zorder=4)
    letter(ax, (np.asarray(start) + np.asarray(end)) / 2, text, offset, color)


def line(ax: Any, *points: Any, **looks: Any) -> None:
    """A thin polyline."""
    ax.plot(*np.array(points, float).T, **{"color": GREY, "linewidth": 0.7} | looks)


def angle(
    ax: Any, corner: Any, radius: float, start: float, end: float, text: str, out: float = 1.25, color: str = BLACK
) -> None:
    """The arc from direction `start` to `end` (radians), an arrow head at its end, the letter at `out` radii."""
    turn = np.linspace(start, end, 61)
    arc = np.asarray(corner) + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ax.plot(*arc.T, color=color, linewidth=0.8, zorder=5)
    looks = {"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0, "lw": 0, "mutation_scale": 7}
    ax.annotate("", arc[-1], arc[-6], arrowprops=looks, zorder=5)
    middle = (start + end) / 2
    letter(ax, np.asarray(corner) + out * radius * np.array([np.cos(middle), np.sin(middle)]), text, color=color)


def ground(ax: Any, left: float, right: float, height: float = 0.0, spacing: float = 0.06) -> None:
    """The plane seen from the side, hatched below."""
    ax.plot([left, right], [height, height], color=BLACK, linewidth=1.0)
    marks = np.arange(left + spacing, right + 1e-9, spacing)
    ax.plot([marks, marks - spacing], [height + 0 * marks, height - spacing + 0 * marks], color=GREY, linewidth=0.4)
