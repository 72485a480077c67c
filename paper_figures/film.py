"""Films of a figure: frame after frame into an animated GIF."""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def write(where: Path, figure: Any, show: Callable[[int], Any], frames: int, a_second: int = 25) -> Path:
    """`figure` as show(0), show(1), .. change it, written to `where` (.gif); its path."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    def one(k: int) -> tuple:
        show(k)
        return ()

    film = FuncAnimation(figure, one, frames=frames, blit=False)
    film.save(str(where), writer=PillowWriter(fps=a_second), dpi=80)
    return where
