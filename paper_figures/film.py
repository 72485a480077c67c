"""Films of a figure: frame after frame into an animated GIF."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from discrete_hamel._support.console import Progress
from discrete_hamel.drawing.films.film_files import write_gif


def write(where: Path, figure: Any, show: Callable[[int], Any], frames: int, a_second: int = 25) -> Path:
    """`figure` as show(0), show(1), .. change it, written to `where` (.gif); its path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)

    def pixels(k: int) -> np.ndarray:
        show(k)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()

    with Progress(frames, True, unit="frames") as progress:
        write_gif(where, pixels, [round(1000 / a_second)] * frames, progress)
    return where
