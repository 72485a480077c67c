"""A body that is small beside its path, once more in a corner of the picture: larger, and always in the middle."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discrete_hamel.drawing.films.projection import Eye, Piece

SMALL = 1 / 7  # of the picture's shorter side: a body below that is shown larger
SIDE, FILLED = 0.16, 0.8  # of the corner, in the picture's width and height, and of the body in the corner
RULED = "#8c8c8c"


class Corner(NamedTuple):
    """A square in the picture, and how much larger things are in it."""

    middle: np.ndarray
    side: float
    scale: float

    def pieces(self, bodies: list[Piece], centre: np.ndarray) -> list[Piece]:
        """The square, and in it the bodies about this centre."""
        square = self.middle + 0.5 * self.side * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])
        moved = [piece._replace(points=self.middle + self.scale * (piece.points - centre)) for piece in bodies]
        return [Piece(square, "#ffffff", RULED, 0.7), *moved]


def closeup(
    frames: list[list[np.ndarray]],
    traces: list[np.ndarray],
    eye: Eye,
    box: tuple[float, float, float, float],
    draw: Callable[[list[np.ndarray], Eye], list[Piece]],
) -> Callable[[int], list[Piece]] | None:
    """What shows the bodies of a frame larger, in the corner where they and their traces come least; None where they
    are not small. `draw` makes pieces of shapes, `traces` are in the picture."""
    seen = [np.concatenate([eye.camera.view(shape)[0] for shape in shapes]) for shapes in frames]
    low, high = (np.array([f(places, axis=0) for places in seen]) for f in (np.min, np.max))
    left, right, bottom, top = box
    extent, shorter = float(np.max(high - low)), min(right - left, top - bottom)
    if not 0 < extent < SMALL * shorter:
        return None
    side, taken = SIDE * (right - left + top - bottom), np.concatenate([*seen, *traces])
    margin = 0.5 * side + 0.02 * shorter
    middles = np.array([(x, y) for y in (top - margin, bottom + margin) for x in (left + margin, right - margin)])
    inside = np.abs(taken[None] - middles[:, None]).max(axis=2) < 0.5 * side
    corner = Corner(middles[np.argmin(inside.sum(axis=1))], side, FILLED * side / extent)
    near = Eye(eye.camera, max(float(np.linalg.norm(np.ptp(np.concatenate(shapes), axis=0))) for shapes in frames))

    def larger(frame: int) -> list[Piece]:
        return corner.pieces(draw(frames[frame], near), 0.5 * (low[frame] + high[frame]))

    return larger
