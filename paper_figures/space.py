"""Things in space, drawn as seen from far away: the floor, lines, arrows and angles."""

from typing import Any

import numpy as np

from discrete_hamel.drawing.plots import BLACK, GREY

from . import drawings


def curve(ax: Any, points: Any, seen: np.ndarray, **looks: Any) -> None:
    """A polyline; `seen` as from `spheres.view`."""
    ax.plot(*(seen[:2] @ np.asarray(points, float).T), **{"color": GREY, "linewidth": 0.8} | looks)


def face(ax: Any, points: Any, seen: np.ndarray, **looks: Any) -> None:
    """A filled polygon."""
    flat = seen[:2] @ np.asarray(points, float).T
    ax.fill(*flat, **{"facecolor": "#eef3f7", "edgecolor": BLACK, "linewidth": 1.0} | looks)


def floor(ax: Any, window: tuple[float, float, float, float], spacing: float, seen: np.ndarray) -> None:
    """The plane z = 0 over (x0, x1, y0, y1) with lines `spacing` apart."""
    x0, x1, y0, y1 = window
    corners = [(x0, y0, 0), (x1, y0, 0), (x1, y1, 0), (x0, y1, 0)]
    face(ax, corners, seen, facecolor="#f6f4ee", edgecolor="none", zorder=0)
    for x in np.arange(x0, x1 + 1e-9, spacing):
        curve(ax, [(x, y0, 0), (x, y1, 0)], seen, linewidth=0.3, zorder=0.5)
    for y in np.arange(y0, y1 + 1e-9, spacing):
        curve(ax, [(x0, y, 0), (x1, y, 0)], seen, linewidth=0.3, zorder=0.5)


def arrow(ax: Any, start: Any, end: Any, seen: np.ndarray, *letter: Any, **looks: Any) -> None:
    """A vector, its letter at the tip."""
    drawings.arrow(ax, seen[:2] @ np.asarray(start, float), seen[:2] @ np.asarray(end, float), *letter, **looks)


def letter(ax: Any, at: Any, text: str, seen: np.ndarray, *offset: Any, **looks: Any) -> None:
    """`text` near a place."""
    drawings.letter(ax, seen[:2] @ np.asarray(at, float), text, *offset, **looks)


def angle(
    ax: Any,
    corner: Any,
    start: Any,
    end: Any,
    radius: float,
    text: str,
    seen: np.ndarray,
    out: float = 1.25,
    color: str = BLACK,
) -> None:
    """The arc about `corner` from direction `start` to direction `end`, unit vectors less than half a turn apart."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    across = end - (end @ start) * start
    across = across / np.linalg.norm(across)
    turn = np.linspace(0, np.arccos(np.clip(start @ end, -1, 1)), 41)[:, None]
    arc = np.cos(turn) * start + np.sin(turn) * across
    curve(ax, corner + radius * arc, seen, color=color, zorder=5)
    flat = (corner + radius * arc) @ seen[:2].T
    looks = {"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0, "lw": 0, "mutation_scale": 7}
    ax.annotate("", flat[-1], flat[-5], arrowprops=looks, zorder=5)
    letter(ax, corner + out * radius * arc[20], text, seen, color=color)
