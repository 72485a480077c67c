"""From space to the picture: a camera far enough that parallels stay nearly parallel, or straight from above."""

from typing import NamedTuple

import numpy as np

ELEVATION = np.radians(24)  # of the eye above the horizontal
FAR = 6.0  # distance of the eye, in radii of the scene


class Camera(NamedTuple):
    """An eye that looks at `centre`; axes are the rows (right, up, towards the eye)."""

    centre: np.ndarray
    axes: np.ndarray
    distance: float

    def view(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places in the picture, k x 2, and distances from the eye, k."""
        right, up, towards = self.axes @ (np.asarray(points) - self.centre).T
        depth = self.distance - towards
        return np.stack([right, up], axis=1) * (self.distance / depth)[:, None], depth

    @property
    def eye(self) -> np.ndarray:
        """Its place."""
        return self.centre + self.distance * self.axes[2]


class FromAbove(NamedTuple):
    """The plane itself: for points of two coordinates."""

    def view(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The points, all as far away."""
        points = np.asarray(points)
        return points, np.zeros(len(points))


def looking_at(low: np.ndarray, high: np.ndarray, azimuth: float) -> Camera:
    """The camera that has a box in view, seen from an azimuth."""
    c, s, level, up = np.cos(azimuth), np.sin(azimuth), np.cos(ELEVATION), np.sin(ELEVATION)
    axes = np.array([[-s, c, 0.0], [-up * c, -up * s, level], [level * c, level * s, up]])
    return Camera(0.5 * (low + high), axes, FAR * max(0.5 * float(np.linalg.norm(high - low)), 1e-12))


def broadside(track: np.ndarray) -> float:
    """The azimuth from which a track on the floor is seen at its longest, turned a little for depth."""
    spread = track[:, :2] - track[:, :2].mean(axis=0)
    if not np.any(spread):
        return float(np.radians(-60))
    along = np.linalg.svd(spread, full_matrices=False)[2][0]
    azimuth = np.arctan2(along[1], along[0]) - np.pi / 2
    if np.cos(azimuth - np.radians(-60)) < 0:  # of the two sides, the one nearer to the usual view
        azimuth += np.pi
    return float(azimuth + np.radians(15))
