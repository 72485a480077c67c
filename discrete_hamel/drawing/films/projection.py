"""From a system's shapes to pieces of a picture: polygons and lines, each with its distance from the eye."""

from functools import cache, singledispatch
from typing import NamedTuple

import numpy as np

from discrete_hamel.drawing.films.film_camera import Camera, FromAbove
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, ORANGE, VERMILLION
from discrete_hamel.systems._blocks.outlines import (
    Blade,
    Contact,
    Fixed,
    Load,
    Patch,
    Point,
    Rod,
    Skate,
    Solid,
    Surface,
)

PLATE, STRIPE, SHADE, SHADOW = "#cfe3f1", "#f6f1e4", "#1f5c86", "#e4e4e4"
LIGHT = np.array([0.35, -0.45, 0.82])  # where it comes from
LEVELS = 12  # of brightness


class Piece(NamedTuple):
    """One polygon or line: k x 2 points, and the colours of its inside and edge ("" for none)."""

    points: np.ndarray
    fill: str = ""
    edge: str = ""
    width: float = 0.0  # of the edge, in points


class Eye(NamedTuple):
    """What drawing needs to know of the scene: its camera, and its size in the picture."""

    camera: Camera | FromAbove
    size: float


Placed = tuple[float, Piece]  # with the distance from the eye: what is farther is drawn first

# In the plane, where nothing is nearer, the kinds lie in layers.
BELOW, MIDDLE, ABOVE, TOP = 3.0, 2.0, 1.0, 0.0


@singledispatch
def place(shape: np.ndarray, eye: Eye) -> list[Placed]:
    """The pieces of one shape; a plain array is a polyline."""
    return line(shape, eye, BLACK, 1.3, MIDDLE)


@place.register
def _solid(shape: Solid, eye: Eye) -> list[Placed]:
    points, depth = eye.camera.view(shape)
    return [(float(depth.mean()) + BELOW * (shape.shape[1] == 2), Piece(points, PLATE, BLUE, 1.2))]


@place.register
def _load(shape: Load, eye: Eye) -> list[Placed]:
    points, depth = eye.camera.view(shape)
    return [(float(depth.mean()) + TOP * (shape.shape[1] == 2), Piece(points, ORANGE, BLACK, 0.8))]


@place.register
def _blade(shape: Blade, eye: Eye) -> list[Placed]:
    return line(shape, eye, BLACK, 3.2, ABOVE)


@place.register
def _rod(shape: Rod, eye: Eye) -> list[Placed]:
    bobs = [bob for point in shape[1:] for bob in ball(point, eye, BLUE, 0.014)]
    return line(shape, eye, BLACK, 1.5, MIDDLE) + ball(shape[0], eye, GREY, 0.006) + bobs


@place.register
def _point(shape: Point, eye: Eye) -> list[Placed]:
    return ball(shape[0], eye, VERMILLION, 0.009)


@place.register
def _contact(shape: Contact, eye: Eye) -> list[Placed]:
    return ball(shape[0], eye, VERMILLION, 0.007)


@place.register
def _place_fixed(shape: Fixed, eye: Eye) -> list[Placed]:  # noqa: ARG001  # drawn once for all frames: see film_scene.py
    return []


@place.register
def _surface(shape: Surface, eye: Eye) -> list[Placed]:
    """Its faces, those of a closed surface that are turned away left out, in eight fields of two tones."""
    grid = np.asarray(shape).reshape(-1, shape.columns, 3)
    rows, columns = grid.shape[0] - 1, shape.columns - 1
    corners = np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]], axis=2).reshape(-1, 4, 3)
    halves = 2 * np.arange(rows)[:, None] // rows * shape.closed  # north and south; a disk has quarters only
    field = (halves + 4 * np.arange(columns) // columns) % 2
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    middles = corners.mean(axis=1)
    towards = eye.camera.eye - middles  # type: ignore[union-attr]  # what is solid lies in space
    outward = np.einsum("ij,ij->i", normals, middles - grid.mean(axis=(0, 1)) if shape.closed else towards)
    normals *= np.where(outward < 0, -1.0, 1.0)[:, None]
    seen = np.einsum("ij,ij->i", normals, towards) > 0
    bright = normals @ LIGHT / np.maximum(np.linalg.norm(normals, axis=1) * np.linalg.norm(LIGHT), 1e-300)
    points, depth = eye.camera.view(corners.reshape(-1, 3))
    points, depth = points.reshape(-1, 4, 2), depth.reshape(-1, 4).mean(axis=1)
    levels = np.ceil(LEVELS * np.maximum(bright, -0.2)).astype(int)
    tones = [shade(SHADE if dark else STRIPE, int(level)) for dark, level in zip(field.ravel(), levels, strict=True)]
    return [
        (float(depth[i]), Piece(points[i][[0, 1, 2, 3, 0]], tones[i], tones[i], 0.5))
        for i in np.flatnonzero(seen & (np.linalg.norm(normals, axis=1) > 0))
    ]


def line(shape: np.ndarray, eye: Eye, colour: str, width: float, layer: float) -> list[Placed]:
    """A polyline; in space in short pieces, so that bodies hide what is behind them and no more."""
    points, depth = eye.camera.view(shape)
    if shape.shape[1] == 2:
        return [(layer, Piece(np.asarray(points), "", colour, width))]
    found = []
    for a, b, near, far in zip(points[:-1], points[1:], depth[:-1], depth[1:], strict=True):
        count = max(1, int(np.ceil(30 * np.linalg.norm(b - a) / eye.size)))
        parts = np.linspace(0, 1, count + 1)[:, None]
        ends, depths = a + parts * (b - a), near + parts[:, 0] * (far - near)
        lift = 0.004 * eye.size  # a line on a surface is seen
        found += [
            (float(depths[i : i + 2].mean()) - lift, Piece(ends[i : i + 2], "", colour, width)) for i in range(count)
        ]
    return found


def enlarge(shape: np.ndarray, size: float) -> np.ndarray:
    """The shape, enlarged about its middle where it shows directions only and would be too small in a scene."""
    if not isinstance(shape, Patch | Skate):
        return shape
    plain = np.asarray(shape)
    middle = 0.5 * (plain.max(axis=0) + plain.min(axis=0))
    least = (0.12 if isinstance(shape, Patch) else 0.04) * size
    return middle + (shape - middle) * max(1.0, least / float(np.linalg.norm(np.ptp(plain, axis=0))))


def ball(point: np.ndarray, eye: Eye, colour: str, radius: float) -> list[Placed]:
    """A dot, its radius as part of the picture's size."""
    centre, depth = eye.camera.view(np.asarray(point)[None])
    turn = np.linspace(0, 2 * np.pi, 17)
    disk = centre + radius * eye.size * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return [(float(depth[0]) - 2 * radius * eye.size, Piece(disk, colour, "#ffffff", 0.5))]


def shadow(shape: Surface, eye: Eye, floor: float) -> Piece:
    """What a body darkens on the floor at that height, in light from straight above."""
    ground = np.unique(np.round(np.asarray(shape)[:, :2], 12), axis=0)
    turn = np.linspace(0, 2 * np.pi, 37)
    ways = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    hull = ground[np.argmax(ground @ ways.T, axis=0)]  # the farthest point each way
    points, _ = eye.camera.view(np.column_stack([hull, np.full(len(hull), floor)]))
    return Piece(points, SHADOW, SHADOW, 0.5)


@cache
def shade(colour: str, level: int) -> str:
    """A colour in the light that falls on it, in whole numbers up to LEVELS."""
    part = 0.62 + 0.38 * level / LEVELS
    return "#" + "".join(f"{int(part * int(colour[i : i + 2], 16)):02x}" for i in (1, 3, 5))


Segment = tuple[np.ndarray, Piece]  # with its middle in space


def split_scenery(shapes: list[np.ndarray], eye: Eye) -> tuple[list[Piece], list[Segment]]:
    """The lines of what does not move: those beyond the vertical through its middle, and those before, in short pieces
    of which a body may hide some."""
    lines = [shape for shape in shapes if isinstance(shape, Fixed)]
    if not lines:
        return [], []
    middle = np.concatenate(lines).mean(axis=0)
    if len(middle) == 2:
        return [Piece(np.asarray(shape), "", GREY, 0.6) for shape in lines], []
    behind: list[Piece] = []
    before: list[Segment] = []
    for shape in map(np.asarray, lines):
        points, _ = eye.camera.view(shape)
        near = (shape - middle)[:, :2] @ (eye.camera.eye - middle)[:2] > 0  # type: ignore[union-attr]  # what is solid lies in space
        cuts = np.flatnonzero(near[1:] != near[:-1]) + 1
        for part in np.split(np.arange(len(points)), cuts):
            if near[part[0]]:
                ends = [slice(k, k + 2) for k in part if k + 1 < len(points)]
                before += [(shape[two].mean(axis=0), Piece(points[two], "", "#cdcdcd", 0.6)) for two in ends]
            elif len(points[part[0] : part[-1] + 2]) > 1:
                behind.append(Piece(points[part[0] : part[-1] + 2], "", GREY, 0.6))
    return behind, before


def hidden_places(places: np.ndarray, ball: np.ndarray, eye: Eye) -> list[int]:
    """Which of these places in space a ball covers: the sight to them passes its middle nearer than its radius."""
    middle = np.asarray(ball).mean(axis=0)
    radius = np.max(np.linalg.norm(np.asarray(ball) - middle, axis=1))
    sight, there = places - eye.camera.eye, middle - eye.camera.eye  # type: ignore[union-attr]  # what is solid lies in space
    nearest = np.clip(sight @ there / np.einsum("ij,ij->i", sight, sight), 0.0, 1.0)
    return np.flatnonzero(np.linalg.norm(nearest[:, None] * sight - there, axis=1) < radius).tolist()
