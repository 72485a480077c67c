"""Curves on a sphere, drawn as seen from a point far away: what is behind is pale."""

from typing import Any

import numpy as np

from discrete_hamel.drawing.plots import BLUE, GREY, VERMILLION


def view(azimuth: float, elevation: float) -> np.ndarray:
    """Rows: right, up and towards the eye."""
    a, e = np.radians([azimuth, elevation])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def sphere(ax: Any, radius: float, seen: np.ndarray) -> None:
    """Outline, equator (heavier), parallels and meridians every 30 degrees."""
    angle = np.linspace(0, 2 * np.pi, 241)
    ax.plot(radius * np.cos(angle), radius * np.sin(angle), color=GREY, linewidth=0.8)
    for latitude in np.radians(np.arange(-60, 61, 30)):
        ring = np.stack(
            [np.cos(latitude) * np.cos(angle), np.cos(latitude) * np.sin(angle), np.full_like(angle, np.sin(latitude))]
        )
        _pale_behind(ax, radius * ring.T, seen, color=GREY, linewidth=0.8 if abs(latitude) < 1e-9 else 0.3)
    for longitude in np.radians(np.arange(0, 180, 30)):
        ring = np.stack([np.cos(longitude) * np.cos(angle), np.sin(longitude) * np.cos(angle), np.sin(angle)])
        _pale_behind(ax, radius * ring.T, seen, color=GREY, linewidth=0.3)
    ax.set_aspect("equal")
    ax.axis("off")


def curve(ax: Any, points: np.ndarray, seen: np.ndarray) -> None:
    """A curve: blue below the equator, vermillion above."""
    below = points[:, 2] <= 0
    for part, color in ((below, BLUE), (~below, VERMILLION)):
        # Each piece keeps the point after it, so that the colours meet.
        keep = part | np.roll(part, 1) if part.any() else part
        _pale_behind(ax, np.where(keep[:, None], points, np.nan), seen, color=color, linewidth=0.8)


def _pale_behind(ax: Any, points: np.ndarray, seen: np.ndarray, **looks: Any) -> None:
    right, up, depth = seen @ points.T
    front = depth >= 0
    for part, alpha in ((front, 1.0), (~front, 0.25)):
        ax.plot(np.where(part, right, np.nan), np.where(part, up, np.nan), alpha=alpha, solid_capstyle="butt", **looks)
