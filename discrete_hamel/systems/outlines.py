"""Outlines for pictures: polylines, k x 2 or k x 3 arrays, in plain NumPy."""

from typing import Any

import numpy as np


def segment(*points: Any) -> np.ndarray:
    """The polyline through the points."""
    return np.array([np.asarray(p, float) for p in points])


def circle(centre: Any, across: Any, up: Any, count: int = 33) -> np.ndarray:
    """The closed ellipse centre + across cos t + up sin t."""
    t = np.linspace(0, 2 * np.pi, count)[:, None]
    return np.asarray(centre) + np.cos(t) * np.asarray(across) + np.sin(t) * np.asarray(up)


def ellipsoid(turn: np.ndarray, semi_axes: Any) -> list[np.ndarray]:
    """The three principal sections of an ellipsoid about the origin, its axes the columns of `turn`."""
    a, b, c = np.asarray(turn).T * np.asarray(semi_axes)[:, None]
    zero = np.zeros(3)
    return [circle(zero, a, b), circle(zero, b, c), circle(zero, c, a)]


def gyration(attitude: Any, inertia: Any, size: float = 1.0) -> list[np.ndarray]:
    """The homogeneous ellipsoid with the body's inertia, its longest semi-axis `size`, turned by its attitude."""
    inertia = np.asarray(inertia, float)
    moments, axes = np.linalg.eigh(np.diag(inertia) if inertia.ndim == 1 else inertia)
    second = np.sqrt(np.maximum(0.5 * moments.sum() - moments, 1e-4 * moments.max()))
    return ellipsoid(np.asarray(attitude) @ axes, size * second / second.max())


def planar(theta: Any, x: Any, y: Any, points: Any) -> np.ndarray:
    """Points of a body in the plane (k x 2, its own axes) at heading theta and position (x, y)."""
    c, s = np.cos(theta), np.sin(theta)
    return np.asarray(points, float) @ np.array([[c, s], [-s, c]]) + np.array([x, y], float)


def patch(point: Any, u: Any, v: Any, size: float = 0.1) -> np.ndarray:
    """A small parallelogram about a point of space: the directions in which it may move."""
    p, u, v = np.asarray(point, float), size * np.asarray(u), size * np.asarray(v)
    return np.array([p - u - v, p + u - v, p + u + v, p - u + v, p - u - v])


def sphere(radius: float = 1.0) -> list[np.ndarray]:
    """Equator and two meridians."""
    return ellipsoid(np.eye(3), radius * np.ones(3))
