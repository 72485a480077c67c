"""The rattleback in space."""

from typing import Any

import numpy as np

from discrete_hamel.drawing.plots import BLACK, BLUE, VERMILLION

from . import space
from .drawings import blank
from .spheres import view


def stone(ax: Any, system: Any) -> None:
    """A rattleback at rest, its principal axes turned ten times as far as they are, and the two senses of spin."""
    from scipy.spatial import ConvexHull

    a, b, c = axes = 100 * np.array(system.semiaxes)  # cm
    seen, top = view(-66, 17), np.array([0, 0, c])
    turn = np.linspace(0, 2 * np.pi, 97)
    dips = np.linspace(0, np.pi / 2, 25)
    round_, down = np.meshgrid(turn, dips)
    ball = np.stack([np.cos(round_) * np.cos(down), np.sin(round_) * np.cos(down), -np.sin(down)], axis=-1)
    below = (ball * axes + top).reshape(-1, 3)
    space.floor(ax, (-21, 21, -6, 6), 3, seen)
    space.face(ax, below[ConvexHull(below @ seen[:2].T).vertices], seen, zorder=2, facecolor="#ccd8e3", linewidth=0.8)
    space.face(ax, ball[0] * axes + top, seen, zorder=3)
    for k in range(0, 96, 8):  # meridians, where they face the eye
        facing = (ball[:, k] / axes) @ seen[2] > 0
        space.curve(ax, (ball[:, k] * axes + top)[facing], seen, linewidth=0.4, zorder=2.5)
    far = 10 * system.tilt
    for angle, reach, looks in ((0.0, (a, b), {"linewidth": 0.6}), (far, (a, 4.5), {"linestyle": "--"})):
        first = np.array([np.cos(angle), np.sin(angle), 0.0])
        for way, size in zip((first, np.array([-first[1], first[0], 0.0])), reach, strict=True):
            space.curve(ax, [top - size * way, top + size * way], seen, color=BLACK, zorder=4, **looks)
    space.arrow(ax, top, top + [0, 0, 10], seen)
    for color, bow, height in ((BLUE, np.linspace(-2.4, 1.8, 41), 8.5), (VERMILLION, np.linspace(1.8, -2.4, 41), 6.0)):
        ring = np.stack([4.5 * np.cos(bow), 4.5 * np.sin(bow), height + 0 * bow], axis=1)
        space.curve(ax, ring[:-2], seen, color=color, linewidth=1.4, zorder=6)
        space.arrow(ax, ring[-4], ring[-1], seen, color=color)
    blank(ax)
    ax.margins(0.02)
