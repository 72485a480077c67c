"""A ball on the outside of a horizontal hoop in cross-section, as [MD] figures 10.2 and 11.1 have it."""

from typing import Any

import numpy as np

from discrete_hamel.drawing.plots import BLACK, BLUE, GREY

from .drawings import line

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
    """The hoop in space: outline, parallels and meridians, as far as nothing of it stands before them."""
    turn, around = np.linspace(0, 2 * np.pi, 721), np.linspace(0, 2 * np.pi, 241)
    rings = [(turn, np.full_like(turn, p)) for p in np.arange(0, 2 * np.pi, np.pi / 4)]
    rings += [(np.full_like(around, t), around) for t in np.arange(0, 2 * np.pi, np.pi / 12)]
    # The outline is where the normal (sin p cos t, sin p sin t, cos p) is across the line of sight.
    x, y, z = seen[2]
    rim = np.arctan2(-z, x * np.cos(turn) + y * np.sin(turn))
    for theta, polar, looks in [
        *((theta, polar, {"color": GREY, "linewidth": 0.5}) for theta, polar in rings),
        *((turn, rim + side, {"color": BLACK, "linewidth": 0.8}) for side in (0, np.pi)),
    ]:
        a = u + wire * np.sin(polar)
        points = np.stack([a * np.cos(theta), a * np.sin(theta), wire * np.cos(polar)])
        shown = ~behind_torus(points, u, wire, seen)
        ax.plot(*np.where(shown, (seen @ points)[:2], np.nan), solid_capstyle="butt", **looks)


def behind_torus(points: np.ndarray, u: float, wire: float, seen: np.ndarray) -> np.ndarray:
    """Which of the points, columns, a hoop hides: whether its solid meets their line to the eye."""
    along = np.linspace(0.0, 2 * (u + 2 * wire), 600)
    x, y, z = points[:, :, None] + seen[2][:, None, None] * along
    depth = wire**2 - (np.hypot(x, y) - u) ** 2 - z**2
    return np.max(depth, axis=1) > 0.01 * wire**2
