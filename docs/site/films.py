"""Films for the site: the numbers of each frame, drawn by static/film.js, and one frame as an SVG picture.

A page has the picture, with a text that says what is in it; the numbers are loaded when a reader asks for the film.
"""

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discrete_hamel.drawing.films import film_scene, player

GRID = 1000  # the picture's width in whole numbers: coarser than in `traj.animate`, as it is shown smaller
MILLISECONDS = 90  # a frame is shown


def film(motion: Any) -> dict[str, Any]:
    """All frames of a motion, a trajectory or `motions.Motion`, in the words of static/film.js."""
    scene = film_scene.scene(motion, np.arange(len(motion)))
    return player.numbers_of(player.Sheet(scene, GRID), scene, MILLISECONDS, len(motion))


def picture(found: Mapping[str, Any], frame: int, words: str) -> str:
    """One frame as SVG, with its words for who does not see it."""
    below, above = (
        [[style, xy[: 2 * until[frame]]] for style, xy, until, over in found["traces"] if over == side]
        for side in (False, True)
    )
    pieces = [*found["behind"], *below, *found["frames"][frame], *above, *found["before"]]
    drawn = "".join(_path(found["styles"][style], xy) for style, xy in pieces)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {found["grid"]} {found["height"]}" role="img" '
        f'aria-label="{html.escape(words, quote=True)}"><title>{html.escape(words)}</title>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<g stroke-linecap="round" stroke-linejoin="round">{drawn}</g></svg>'
    )


def _path(style: tuple, xy: list[int]) -> str:
    fill, edge, width = style
    stroke = f' stroke="{edge}" stroke-width="{width * GRID / 460:.3g}"' if edge else ""
    points = " ".join(map(str, xy))
    return f'<polyline points="{points}" fill="{fill or "none"}"{stroke}/>'


def write(
    folder: Path, name: str, runs: Sequence[Mapping[str, Any]], words: str, parameter: Mapping[str, Any] | None = None
) -> None:
    """NAME.js, which a page loads, with one film or one for each value of a parameter, and its picture NAME.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = json.dumps({"runs": runs, "parameter": parameter}, separators=(",", ":")).replace("</", "<\\/")
    (folder / f"{name}.js").write_text(f"showFilm({json.dumps(name)}, {numbers});\n")
    first = runs[parameter["first"] if parameter else 0]
    (folder / f"{name}.svg").write_text(picture(first, len(first["frames"]) - 1, words))


def figure(name: str, up: str, words: str) -> str:
    """The picture with a button that loads the film in its place; `up` leads to the site's root."""
    alt = html.escape(words, quote=True)
    return (
        f'<figure class="film" data-film="{name}" data-source="{up}films/{name}.js">'
        f'<img src="{up}films/{name}.svg" alt="{alt}">'
        '<figcaption><button type="button">Play the film</button></figcaption></figure>'
    )
