"""A ball on the outside of a horizontal hoop in cross-section, as [MD] figures 10.2 and 11.1 have it."""

from typing import Any

import numpy as np

from discrete_hamel.plots import BLACK, BLUE, GREY
from paper_figures.drawings import line

FILL = "#eef3f7"


def disk(ax: Any, centre: Any, radius: float, **looks: Any) -> None:
    """A filled circle."""
    from matplotlib.patches import Circle

    ax.add_patch(Circle(centre, radius, **{"facecolor": FILL, "edgecolor": BLACK, "linewidth": 1.0} | looks))


def circle(ax: Any, centre: Any, radius: float, **looks: Any) -> None:
    """A thin circle."""
    turn = np.linspace(0, 2 * np.pi, 181)
    line(ax, *(np.asarray(centre) + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)), **looks)


def hoop(ax: Any, u: float, wire: float, v: float) -> None:
    """The hoop's wire cut at u from the axis, and the dotted circle of the ball's centre."""
    disk(ax, (u, 0), wire, facecolor="#dddddd", zorder=3)
    circle(ax, (u, 0), v, linestyle=":", linewidth=1.0, zorder=2)


def ball(ax: Any, centre: Any, radius: float, contact: Any) -> None:
    """The ball, and the radius to its contact."""
    disk(ax, centre, radius, edgecolor=BLUE, zorder=1)
    line(ax, centre, contact, color=BLUE, linewidth=1.0, zorder=4)


def torus(ax: Any, u: float, wire: float, seen: np.ndarray) -> None:
    """The hoop in space: parallels and meridians, where they face the eye."""
    turn, around = np.linspace(0, 2 * np.pi, 181), np.linspace(0, 2 * np.pi, 61)
    rings = [(turn, np.full_like(turn, p)) for p in np.arange(0, 2 * np.pi, np.pi / 4)]
    rings += [(np.full_like(around, t), around) for t in np.arange(0, 2 * np.pi, np.pi / 12)]
    for theta, polar in rings:
        a = u + wire * np.sin(polar)
        points = seen @ np.stack([a * np.cos(theta), a * np.sin(theta), wire * np.cos(polar)])
        normal = np.stack([np.sin(polar) * np.cos(theta), np.sin(polar) * np.sin(theta), np.cos(polar)])
        front = seen[2] @ normal > 0
        ax.plot(*np.where(front, points[:2], np.nan), color=GREY, linewidth=0.5)
