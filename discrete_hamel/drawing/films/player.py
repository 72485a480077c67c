"""A film as one HTML file that needs nothing else: the frames as numbers, and a small player that draws them."""

import html as escape
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from discrete_hamel._support.console import Progress
from discrete_hamel.drawing.films.film_scene import Label, Scene
from discrete_hamel.drawing.films.projection import Piece
from discrete_hamel.drawing.films.timing import Frames

GRID = 4000  # the picture's width, in the whole numbers that the file holds

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>%TITLE%</title>
<style>
body { font: 15px/1.4 Georgia, serif; margin: 1.5em auto; max-width: 860px; padding: 0 1em; color: #222 }
header { display: flex; justify-content: space-between; flex-wrap: wrap } canvas { width: 100%; display: block }
footer { display: flex; gap: .8em; align-items: center; margin-top: .4em } input { flex: 1 }
button { font: inherit; padding: .1em 1em; cursor: pointer }
</style>
<header><strong>%TITLE%</strong><span id="caption"></span></header>
<canvas></canvas>
<footer><button id="play">pause</button><input id="at" type="range" min="0" value="0" aria-label="frame">
<select id="speed" aria-label="speed"><option value=".25">1/4</option><option value=".5">1/2</option>
<option value="1" selected>1&times;</option><option value="2">2&times;</option>
<option value="4">4&times;</option></select>
</footer>
<script>
const film = %FILM%;
const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d"), at = document.getElementById("at");
const play = document.getElementById("play"), caption = document.getElementById("caption");
const dense = 2; canvas.width = 860 * dense; canvas.height = Math.round(canvas.width * film.height / film.grid);
const scale = canvas.width / film.grid, point = canvas.width / 460;
at.max = film.frames.length - 1;
let time = 0, playing = true, last = null;
const starts = []; let length = 0; for (const ms of film.milliseconds) { starts.push(length); length += ms; }
function draw(style, xy, count) {
  const [fill, edge, width] = film.styles[style];
  pen.beginPath();
  const end = count === undefined ? xy.length : 2 * count;
  for (let i = 0; i < end; i += 2) pen.lineTo(xy[i] * scale, xy[i + 1] * scale);
  if (fill) { pen.fillStyle = fill; pen.fill(); }
  if (edge) { pen.strokeStyle = edge; pen.lineWidth = width * point; pen.stroke(); }
}
function show(k) {
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.lineCap = pen.lineJoin = "round";
  for (const [style, xy] of film.behind) draw(style, xy);
  pen.fillStyle = "#8c8c8c"; pen.font = 9 * point + "px Georgia, serif";
  for (const [x, y, text] of film.labels) {
    const corner = x < 0;
    pen.textAlign = corner ? "right" : "left";
    pen.fillText(text, corner ? 0.985 * canvas.width : x * scale, (corner ? canvas.height : y * scale) - 3 * point);
  }
  for (const [style, xy, until, over] of film.traces) if (!over) draw(style, xy, until[k]);
  for (const i of film.hidden[k]) draw(...film.before[i]);
  for (const [style, xy] of film.frames[k]) draw(style, xy);
  for (const [style, xy, until, over] of film.traces) if (over) draw(style, xy, until[k]);
  film.before.forEach(([style, xy], i) => { if (!film.hidden[k].includes(i)) draw(style, xy); });
  caption.textContent = film.captions[k]; at.value = k;
}
function frame(now) {
  if (playing && last !== null) time = (time + (now - last) * document.getElementById("speed").value) % length;
  last = now;
  if (playing) { let k = starts.findIndex(s => s > time); show(k < 0 ? starts.length - 1 : k - 1); }
  requestAnimationFrame(frame);
}
function run(yes) { playing = yes; play.textContent = yes ? "pause" : "play"; }
play.onclick = () => run(!playing);
at.oninput = () => { run(false); time = starts[+at.value]; show(+at.value); };
show(0); requestAnimationFrame(frame);
</script>
</html>
"""


def html(scene: Scene, frames: Frames, path: Path, progress: Progress, _: float) -> None:
    """The page: a picture that scales with the window (so it has no dots an inch), play, speed, and a slider."""
    film = numbers_of(Sheet(scene), scene, frames.milliseconds, len(frames.nodes), progress.at)
    numbers = json.dumps(film, separators=(",", ":")).replace("</", "<\\/")
    path.write_text(PAGE.replace("%TITLE%", escape.escape(scene.title)).replace("%FILM%", numbers), encoding="utf-8")


class Sheet:
    """The picture's coordinates as whole numbers, from the upper left, and its styles, each kept once."""

    def __init__(self, scene: Scene, grid: int = GRID) -> None:
        left, right, bottom, self.top = scene.box
        self.left, self.grid, self.unit = left, grid, grid / (right - left)
        self.height = round((self.top - bottom) * self.unit)
        self.styles: dict[tuple, int] = {}

    def entry(self, piece: Piece) -> list:
        """[style, [x, y, x, y, ...]]."""
        style = self.styles.setdefault((piece.fill, piece.edge, piece.width), len(self.styles))
        return [style, self.numbers(piece.points)]

    def numbers(self, points: np.ndarray) -> list[int]:
        """Points as whole numbers."""
        places = np.stack([points[:, 0] - self.left, self.top - points[:, 1]], axis=1) * self.unit
        return np.rint(places).astype(int).ravel().tolist()

    def label(self, label: Label) -> list:
        """[x, y, text]; x = -1 is the lower right corner."""
        if np.any(np.isnan(label.place)):
            return [-1, -1, label.text]
        return [*self.numbers(np.array([label.place])), label.text]


def numbers_of(
    sheet: Sheet, scene: Scene, milliseconds: float | list, count: int, tell: Callable[[int], object] = int
) -> dict:
    """All that a player draws, as whole numbers on that sheet; `tell` is told how many of the frames are done."""
    film: dict[str, float | list] = {
        "grid": sheet.grid,
        "height": sheet.height,
        "milliseconds": milliseconds,
        "captions": scene.captions,
        "behind": [sheet.entry(piece) for piece in scene.behind],
        "before": [sheet.entry(piece) for piece in scene.before],
        "hidden": scene.hidden,
        "labels": [sheet.label(label) for label in scene.labels],
        "traces": [
            [*sheet.entry(Piece(trace.points, "", trace.colour, 1.0)), trace.until.tolist(), bool(trace.over)]
            for trace in scene.traces
        ],
    }
    drawn: list[list] = []
    for k in range(count):
        drawn.append([sheet.entry(piece) for piece in scene.bodies(k)])
        tell(k + 1)
    return film | {"frames": drawn, "styles": list(sheet.styles)}
