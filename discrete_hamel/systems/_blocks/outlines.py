"""Shapes to draw systems with: arrays of points, k x 2 or k x 3, in plain NumPy, each of the kind that it looks like.

A plain array is a polyline. The kinds below are arrays too, so that moving one (sum, product) leaves it what it is, and
whoever knows nothing of kinds may draw them all as polylines.
"""

from typing import Self

import numpy as np

from discrete_hamel._support.arrays import ArrayLike


class Solid(np.ndarray):
    """The outline of something flat and closed: a hull, a plate, a plane's patch."""


class Patch(Solid):
    """A piece of a plane that shows directions: what matters is how it lies, not how large it is."""


class Load(Solid):
    """A flat thing that is carried on another, or moves on it."""


class Blade(np.ndarray):
    """A blade or a wheel on the ground, seen as a short thick line; its middle leaves a trace."""


class Skate(Blade):
    """A blade alone: what matters is where it is and points to, not how long it is."""


class Rod(np.ndarray):
    """A light rod, or several, with a bob at each point but the first; the last bob leaves a trace."""


class Point(np.ndarray):
    """A dot (1 x d); it leaves a trace."""


class Contact(np.ndarray):
    """Where a body touches the horizontal plane z = 0 (1 x 3): the plane is drawn, with the trace on it."""


class Fixed(np.ndarray):
    """A line of what does not move: a sphere that is rolled on, a hoop, an axis."""


class Surface(np.ndarray):
    """A surface in space by a grid of points, row after row (rows columns x 3), each row closed in itself.

    `closed` says that it is the whole of a convex surface, so that its far side is hidden by its near side.
    """

    columns: int = 0
    closed: bool = False

    def __array_finalize__(self, other: object) -> None:
        self.columns = getattr(other, "columns", 0)
        self.closed = getattr(other, "closed", False)

    @classmethod
    def of(cls, grid: ArrayLike, closed: bool = True) -> Self:
        """The surface through a grid of points, rows x columns x 3."""
        grid = np.asarray(grid, float)
        surface = grid.reshape(-1, 3).view(cls)
        surface.columns, surface.closed = grid.shape[1], closed
        return surface


def segment(*points: ArrayLike) -> np.ndarray:
    """The polyline through the points."""
    return np.array([np.asarray(p, float) for p in points])


def dot(point: ArrayLike) -> Point:
    """A dot."""
    return segment(point).view(Point)


def contact(x: ArrayLike, y: ArrayLike) -> Contact:
    """The contact point (x, y, 0)."""
    return segment((x, y, 0.0)).view(Contact)  # type: ignore[arg-type]


def rod(*points: ArrayLike) -> Rod:
    """The rods from point to point."""
    return segment(*points).view(Rod)


def circle(centre: ArrayLike, across: ArrayLike, up: ArrayLike, count: int = 33) -> np.ndarray:
    """The closed ellipse centre + across cos t + up sin t."""
    t = np.linspace(0, 2 * np.pi, count)[:, None]
    return np.asarray(centre) + np.cos(t) * np.asarray(across) + np.sin(t) * np.asarray(up)


def normals(rows: int = 13, columns: int = 25) -> np.ndarray:
    """A grid of unit vectors from the south pole to the north, rows x columns x 3."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, rows)[:, None]
    longitude = np.linspace(0, 2 * np.pi, columns)[None]
    level, up = np.cos(latitude), np.broadcast_to(np.sin(latitude), (rows, columns))
    return np.stack([level * np.cos(longitude), level * np.sin(longitude), up], axis=-1)


def ellipsoid(turn: ArrayLike, semi_axes: ArrayLike, centre: ArrayLike = (0.0, 0.0, 0.0)) -> Surface:
    """An ellipsoid, its axes the columns of `turn`."""
    return Surface.of(normals() * np.asarray(semi_axes, float) @ np.asarray(turn, float).T + np.asarray(centre, float))


def gyration(attitude: ArrayLike, inertia: ArrayLike, size: float = 1.0) -> list[np.ndarray]:
    """The homogeneous ellipsoid with the body's inertia, its longest semi-axis `size`, turned by its attitude."""
    inertia = np.asarray(inertia, float)
    moments, axes = np.linalg.eigh(np.diag(inertia) if inertia.ndim == 1 else inertia)
    second = np.sqrt(np.maximum(0.5 * moments.sum() - moments, 1e-3 * moments.max()))
    return [ellipsoid(np.asarray(attitude) @ axes, size * second / second.max())]


def disk(centre: ArrayLike, across: ArrayLike, up: ArrayLike, count: int = 25) -> list[np.ndarray]:
    """A thin disk, its face in four quarters that show its turning, and its rim."""
    rim = circle(centre, across, up, count)
    hub = np.broadcast_to(np.asarray(centre, float), rim.shape)
    return [Surface.of([hub, 0.5 * (hub + rim), rim], closed=False), rim]


def spindle(tip: ArrayLike, axis: ArrayLike, across: ArrayLike, up: ArrayLike) -> list[np.ndarray]:
    """A spinning top on its tip: a cone that opens along `axis`, a shallow lid, and the stem."""
    tip, axis = np.asarray(tip, float), np.asarray(axis, float)
    profile = [(0.0, 0.0), (0.1, 0.2), (0.3, 0.5), (0.37, 0.62), (0.37, 0.7), (0.3, 0.78), (0.1, 0.84), (0.0, 0.85)]
    rows = [circle(tip + height * axis, radius * np.asarray(across), radius * np.asarray(up), 25)
            for radius, height in profile]  # fmt: skip
    return [Surface.of(rows), segment(tip + 0.85 * axis, tip + 1.15 * axis)]


def planar(theta: ArrayLike, x: ArrayLike, y: ArrayLike, points: ArrayLike) -> np.ndarray:
    """Points of a body in the plane (k x 2, its own axes) at heading theta and position (x, y)."""
    c, s = np.cos(theta), np.sin(theta)
    return np.asarray(points, float) @ np.array([[c, s], [-s, c]]) + np.array([x, y], float)


def blade(theta: ArrayLike, x: ArrayLike, y: ArrayLike, half_length: float) -> Blade:
    """A blade or wheel along theta in the plane, about (x, y)."""
    return planar(theta, x, y, [(-half_length, 0.0), (half_length, 0.0)]).view(Blade)


def patch(point: ArrayLike, u: ArrayLike, v: ArrayLike, size: float = 0.1) -> np.ndarray:
    """A small parallelogram about a point of space: the directions in which it may move."""
    p, u, v = np.asarray(point, float), size * np.asarray(u), size * np.asarray(v)
    return np.array([p - u - v, p + u - v, p + u + v, p - u + v, p - u - v]).view(Patch)


def sphere(radius: float = 1.0) -> list[np.ndarray]:
    """A sphere that stays where it is, by parallels and meridians."""
    grid = radius * normals(9, 13)
    fine = radius * normals(49, 49)
    return [
        line.view(Fixed) for line in (*fine[6:-1:6], *(fine[:, i] for i in range(0, 48, 48 // (grid.shape[1] - 1))))
    ]
