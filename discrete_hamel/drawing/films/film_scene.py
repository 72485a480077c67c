"""The scene of a film: what stays (floor, grid, surroundings), what moves, the traces, and a box that holds it all."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel.drawing.films import projection
from discrete_hamel.drawing.films.closeup import closeup
from discrete_hamel.drawing.films.film_camera import FromAbove, broadside, looking_at
from discrete_hamel.drawing.films.projection import Eye, Piece, Segment
from discrete_hamel.drawing.plots import GREEN, ORANGE, PURPLE, VERMILLION
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.systems._blocks import outlines, units
from discrete_hamel.systems._blocks.outlines import Blade, Contact, Fixed, Point, Rod, Surface

RULE, RULED = "#e6e6e6", "#8c8c8c"
TYRE = "#b0b0b0"  # of the tracks of three wheels and more
TRACES = (VERMILLION, GREEN, PURPLE, ORANGE)
FINE = 4  # nodes of a trace for each frame, at most
WIDEST, TALLEST = 2.4, 1.0  # the picture's width over its height, and its height over its width

Shapes = list[list[np.ndarray]]  # of each frame


class Trace(NamedTuple):
    """The path of one mark in the picture, how many of its points are drawn at each frame, and whether over the bodies:
    where it stays within one, which would hide it.
    """

    points: np.ndarray
    colour: str
    until: np.ndarray
    over: bool

    def piece(self, frame: int) -> Piece:
        """As much of it as is drawn at a frame."""
        return Piece(self.points[: self.until[frame]], "", self.colour, 1.0)


class Label(NamedTuple):
    """A word in the picture, its lower left corner at `place`."""

    place: tuple[float, float]
    text: str


class Scene(NamedTuple):
    """All that a film shows, in the picture's own coordinates."""

    title: str
    captions: list[str]
    box: tuple[float, float, float, float]  # left, right, bottom, top
    behind: list[Piece]
    labels: list[Label]
    traces: list[Trace]
    before: list[Piece]
    hidden: list[list[int]]  # which of these pieces a body covers, at each frame
    bodies: Callable[[int], list[Piece]]

    def moving(self, frame: int) -> list[Piece]:
        """Traces, bodies and what is before them, in the order of drawing."""
        drawn = [trace for trace in self.traces if trace.until[frame] > 1]
        below, above = ([trace.piece(frame) for trace in drawn if trace.over == over] for over in (False, True))
        covered = self.hidden[frame]
        over = [piece for i, piece in enumerate(self.before) if i not in covered]
        under = [self.before[i] for i in covered]  # their ends may be seen
        return below + under + self.bodies(frame) + above + over


def shapes_of(system: System, q: Coordinates) -> Callable[[Array], list[np.ndarray]]:
    """How a system is drawn: by its method `shapes`, else as a point at its x, y (and z); q is any place of it.

    Returns a function of q, which gives a list of curves, each an array of points.
    """
    q = np.asarray(q, float)
    system = system.at(jnp.asarray(q))
    name, names = type(system).__name__, tuple(system.coordinates)
    try:
        if not system.shapes(q):  # type: ignore[attr-defined]
            raise InputError(
                f"{name} has no place to be drawn at (it is reduced); plot its velocities or momenta instead."
            )
        return system.shapes  # type: ignore[attr-defined]
    except AttributeError as error:
        if error.name != "shapes":  # it has none, or what it is made from has none
            raise
    place = [names.index(letter) for letter in ("x", "y", "z") if letter in names]
    if place[:2] and {"x", "y"} <= set(names):
        return lambda q: [outlines.dot(np.asarray(q)[place])]
    raise InputError(
        f"nothing says how {name} looks: give its class a method shapes(self, q) that returns lines (arrays k x 2 or "
        'k x 3; see discrete_hamel.systems._blocks.outlines), or name two of its coordinates "x" and "y".'
    )


def scene(trajectory: Trajectory, nodes: np.ndarray) -> Scene:
    """The scene of a trajectory, with one frame for each of the nodes."""
    q = np.asarray(trajectory.q)
    shapes = shapes_of(trajectory.system, q[0])
    frames = [[np.asanyarray(shape) for shape in shapes(q[k])] for k in nodes]
    fine = _between(nodes)
    marks = [mark for mark in map(_mark, frames[0]) if mark is not None]
    at = np.searchsorted(nodes, fine)
    known = [frames[i] if i < len(nodes) and nodes[i] == k else shapes(q[k]) for i, k in zip(at, fine, strict=True)]
    places = [_marks(found) for found in known] if marks else []
    tracks = [np.array([place[i] for place in places]) for i in range(len(marks))]
    scenery = getattr(trajectory.system, "scenery", None)
    still = scenery(q[nodes]) if scenery else [shape for shape in frames[0] if isinstance(shape, Fixed)]
    eye, floor = _eye(frames, tracks, still)
    given, frames = frames, [_enlarge_small(frame, eye) for frame in frames]
    behind, before = projection.split_scenery(still, eye)
    metre = _after(trajectory.system, "x")  # lengths are in the unit of places
    ruled, labels = ([], []) if floor is None else _floor(frames, [*tracks, *still], eye, floor, metre)
    box = _box(frames, [*tracks, *still], eye, ruled)
    if _flat(frames):
        ruled, labels = _rule(box, metre)
    colours = TRACES if sum(isinstance(shape, Blade) for shape in frames[0]) <= 2 else (TYRE,)
    until = np.searchsorted(fine, nodes) + 1
    seen = [eye.camera.view(track)[0] for track in tracks]
    widths = [np.max(np.ptp(eye.camera.view(shape)[0], axis=0)) for shape in frames[0] if len(shape) > 2]
    larger = (
        None
        if still
        else closeup(given, seen, eye, box, lambda shapes, near: _bodies(_enlarge_small(shapes, near), near, floor))
    )

    def bodies(frame: int) -> list[Piece]:
        return _bodies(frames[frame], eye, floor) + (larger(frame) if larger else [])

    return Scene(
        type(trajectory.system).__name__,
        _captions(trajectory, nodes),
        box,
        [*ruled, *behind],
        labels,
        [
            Trace(points, colours[i % len(colours)], until, np.max(np.ptp(points, axis=0)) < max(widths, default=0.0))
            for i, points in enumerate(seen)
        ],
        [piece for _, piece in before],
        [_hidden_pieces(frame, before, eye) for frame in frames],
        bodies,
    )


def _enlarge_small(shapes: list[np.ndarray], eye: Eye) -> list[np.ndarray]:
    return [projection.enlarge(shape, eye.size) for shape in shapes]


def _flat(frames: Shapes) -> bool:
    return all(shape.shape[1] == 2 for shape in frames[0])


def _between(nodes: np.ndarray) -> np.ndarray:
    """The nodes with some in between, for traces without corners."""
    parts = np.rint(np.linspace(nodes[:-1], nodes[1:], FINE, endpoint=False)).astype(int)
    return np.unique(np.append(parts.ravel(), nodes[-1]))


def _mark(shape: np.ndarray) -> np.ndarray | None:
    """What of a shape leaves a trace."""
    if isinstance(shape, Blade):
        return np.asarray(shape).mean(axis=0)
    return np.asarray(shape)[-1] if isinstance(shape, Point | Contact | Rod) else None


def _marks(shapes: list[np.ndarray]) -> list[np.ndarray]:
    return [mark for mark in map(_mark, shapes) if mark is not None]


def _eye(frames: Shapes, tracks: list[np.ndarray], still: list[np.ndarray]) -> tuple[Eye, float | None]:
    """Where from to look, and the height of the floor: the plane that is rolled on, else below all that moves,
    none where there are other surroundings."""
    everything = np.concatenate([*(shape for frame in frames for shape in frame), *tracks, *still])
    low, high = everything.min(axis=0), everything.max(axis=0)
    size = float(np.linalg.norm(high - low))
    if _flat(frames):
        return Eye(FromAbove(), size), None
    contacts = [shape for shape in frames[0] if isinstance(shape, Contact)]
    azimuth = broadside(np.concatenate([t for t in tracks if np.ptp(t[:, 2]) == 0])) if contacts else np.radians(-60)
    floor = 0.0 if contacts else None if still else float(low[2])
    return Eye(looking_at(low, high, float(azimuth)), size), floor


def _bodies(shapes: list[np.ndarray], eye: Eye, floor: float | None) -> list[Piece]:
    placed = [piece for shape in shapes for piece in projection.place(shape, eye)]
    solid = [] if floor is None else [shape for shape in shapes if isinstance(shape, Surface)]
    shadows = [projection.shadow(shape, eye, floor) for shape in solid if floor is not None]
    return shadows + [piece for _, piece in sorted(placed, key=lambda piece: -piece[0])]


def _hidden_pieces(shapes: list[np.ndarray], before: list[Segment], eye: Eye) -> list[int]:
    """Which of these pieces a body covers. Balls are the only solids that move among such surroundings."""
    places = np.array([place for place, _ in before]).reshape(-1, 3)
    solid = [shape for shape in shapes if isinstance(shape, Surface)] if before else []
    return sorted({i for shape in solid for i in projection.hidden_places(places, shape, eye)})


def _box(frames: Shapes, lines: list[np.ndarray], eye: Eye, ruled: list[Piece]) -> tuple[float, float, float, float]:
    """What the picture must hold at any frame, with a margin, and not too wide or tall."""
    points = np.concatenate(
        [eye.camera.view(shape)[0] for shape in _all(frames, lines)] + [piece.points for piece in ruled]
    )
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * np.max(high - low) * np.array([0.04, 0.04]) + 0.5 * (high - low)
    half = np.maximum(half, [half[1] / TALLEST, half[0] / WIDEST])
    return (middle[0] - half[0], middle[0] + half[0], middle[1] - half[1], middle[1] + half[1])


def _all(frames: Shapes, lines: list[np.ndarray]) -> Iterator[np.ndarray]:
    for shapes in frames:
        yield from shapes
    yield from lines


def _captions(trajectory: Trajectory, nodes: np.ndarray) -> list[str]:
    t, energy = np.asarray(trajectory.t)[nodes], np.asarray(trajectory.invariants()["energy"])[nodes]
    change = [f"{value - energy[0]:+.0e}" if value != energy[0] else "0" for value in energy]
    second, joule = (_after(trajectory.system, name) for name in ("t", "energy"))
    return [
        f"t = {at:.2f}{second}    energy {value:.6g}{joule}, changed by {by}"
        for at, value, by in zip(t, energy, change, strict=True)
    ]


def _after(system: System, name: str) -> str:
    """A quantity's unit, to be written after its value."""
    unit = units.in_print(units.unit(system.units, name))
    return f" {unit}" if unit else ""


def nice(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a length.

    >>> nice(0.7), nice(30.0)
    (0.5, 20.0)
    """
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(step for step in (1, 2, 5) if step * power <= length * (1 + 1e-9)) * power)


def _rule(box: tuple[float, float, float, float], metre: str) -> tuple[list[Piece], list[Label]]:
    """The plane's grid, with numbers."""
    left, right, bottom, top = box
    step = nice(max(right - left, top - bottom) / 5)
    lines, labels = [], [Label((np.nan, np.nan), f"[{metre.strip()}]")] if metre else []
    for x in step * np.arange(np.ceil(left / step), np.floor(right / step) + 1):
        lines.append(Piece(np.array([[x, bottom], [x, top]]), "", RULE, 0.7))
        if left + 0.06 * (right - left) < x < right - 0.06 * (right - left):
            labels.append(Label((x, bottom), f" {x + 0.0:g}"))
    for y in step * np.arange(np.ceil(bottom / step), np.floor(top / step) + 1):
        lines.append(Piece(np.array([[left, y], [right, y]]), "", RULE, 0.7))
        if bottom + 0.06 * (top - bottom) < y < top - 0.06 * (top - bottom):
            labels.append(Label((left, y), f" {y + 0.0:g}"))
    return lines, labels


def _floor(
    frames: Shapes, lines: list[np.ndarray], eye: Eye, height: float, metre: str
) -> tuple[list[Piece], list[Label]]:
    """The floor, in squares, wherever a body comes to."""
    points = np.concatenate([shape[:, :2] for shape in _all(frames, lines)])
    low, high = points.min(axis=0), points.max(axis=0)
    step = nice(float(np.max(high - low)) / 6)
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    squares = []
    for i in (0, 1):
        for value in np.arange(low[i], high[i] + 0.5 * step, step):
            ends = np.full((2, 3), height)
            ends[:, i], ends[:, 1 - i] = value, (low[1 - i], high[1 - i])
            squares.append(Piece(eye.camera.view(ends)[0], "", RULE, 0.7))
    return squares, [Label((np.nan, np.nan), f"squares of {step:g}{metre}")]
