"""Frames of a scene as pictures, by Matplotlib: the still parts are painted once, the moving ones at each frame."""

from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel.drawing.films.film_scene import RULED, Scene
from discrete_hamel.drawing.films.projection import Piece
from discrete_hamel.drawing.plots import style

if TYPE_CHECKING:
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

WIDTH, BAND = 6.4, 0.42  # inches: the picture, and the band above it for words


class Painter:
    """A figure of a scene: `show(frame)` changes it, `pixels(frame)` returns it as an array, height x width x 3."""

    def __init__(self, scene: Scene, dots_per_inch: float = 100) -> None:
        with style():
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            left, right, bottom, top = scene.box
            height = WIDTH * (top - bottom) / (right - left)
            whole = 2 * round((height + BAND) * dots_per_inch / 2) / dots_per_inch  # in even numbers of dots, for video
            self.scene = scene
            self.figure = Figure(figsize=(WIDTH, whole), dpi=dots_per_inch)
            self.figure.set_layout_engine("none")
            self.canvas = FigureCanvasAgg(self.figure)
            self.axes = self.figure.add_axes((0, 0, 1, height / whole), xlim=(left, right), ylim=(bottom, top))
            self.axes.set_axis_off()
            line = (1 - 0.62 * BAND / whole, "center")
            self.figure.text(0.015, line[0], scene.title, va=line[1], fontsize=10.5)
            caption = self.figure.text(0.985, line[0], "", va=line[1], ha="right", fontsize=9.5)
            for label in scene.labels:
                self._label(label.place, label.text)
            self.axes.add_collection(_collection(scene.behind), autolim=False)
            self.canvas.draw()
            self.still = self.canvas.copy_from_bbox(self.figure.bbox)
            self.caption = caption
            self.moving: PolyCollection | None = None

    def _label(self, place: tuple[float, float], text: str) -> None:
        if np.any(np.isnan(place)):  # in the corner
            self.axes.text(0.985, 0.02, text, transform=self.axes.transAxes, ha="right", color=RULED, fontsize=8)
        else:
            self.axes.text(place[0], place[1], text, color=RULED, fontsize=8, va="bottom")

    def show(self, frame: int) -> "Figure":
        """The figure, as it is at a frame."""
        if self.moving is not None:
            self.moving.remove()
        self.moving = _collection(self.scene.moving(frame))
        self.axes.add_collection(self.moving, autolim=False)
        self.caption.set_text(self.scene.captions[frame])
        return self.figure

    def pixels(self, frame: int) -> np.ndarray:
        """The picture at a frame."""
        self.show(frame)
        self.canvas.restore_region(self.still)
        self.axes.draw_artist(self.moving)  # type: ignore[arg-type]  # set by `show`
        self.figure.draw_artist(self.caption)
        return np.asarray(self.canvas.buffer_rgba())[:, :, :3].copy()


def _collection(pieces: list[Piece]) -> "PolyCollection":
    from matplotlib.collections import PolyCollection

    return PolyCollection(
        [piece.points for piece in pieces],
        closed=False,
        facecolors=[piece.fill or "none" for piece in pieces],
        edgecolors=[piece.edge or "none" for piece in pieces],
        linewidths=[piece.width for piece in pieces],
        capstyle="round",
        joinstyle="round",
    )
