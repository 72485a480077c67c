"""[BE] figure 1: the four examples

Two mass points in the plane. 8.1: free points with velocities across the line that joins them. 8.2: the same on a rigid
segment. 8.3: free points with parallel velocities. 8.4: parallel velocities on a rigid segment, of which there are two
kinds: turning (filled arrows) and carried along (empty arrows). The constraint of 8.3 is truly nonlinear, that of 8.1
only looks so, and that of 8.4 is one linear constraint or another.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLUE, GREY, VERMILLION, style

from . import drawings
from .pictures import mosaic

ANGLE, DISTANCE = 0.35, 1.0  # of P1 P2, as drawn: rad and m
PAIRS = 50
FREE = dh.systems.TwoPointsParallelVelocities()
POLAR = dh.systems.TwoPointsOrthogonalVelocities()
TURNED, CARRIED = (dh.systems.SegmentParallelVelocities(turning=turning) for turning in (True, False))
PARAMETERS: dict[str, Any] = {"angle": ANGLE, "distance": DISTANCE, "pairs": PAIRS}
# The velocities of the points as drawn, in the directions e along P1 P2 and n across it.
SHOWN = {
    "8.1": ((0.0, 0.5), (0.0, 0.75)),
    "8.2": ((0.0, 0.55), (0.0, -0.45)),
    "8.3": ((0.25, 0.4), (0.4, 0.64)),
    "8.4": ((0.0, 0.55), (0.0, -0.45)),
}
ALSO = ((0.45, 0.45), (0.45, 0.45))  # 8.4, carried along
TITLES = {
    "8.1": "8.1: free, $\\perp P_1P_2$",
    "8.2": "8.2: rigid, $\\perp P_1P_2$",
    "8.3": "8.3: free, $\\parallel$",
    "8.4": "8.4: rigid, $\\parallel$",
}


def compute(_: bool) -> dict[str, Any]:
    """Velocities (v1, v2) that the library's systems allow at the drawn place: many pairs of each example."""
    rng, e, n = np.random.default_rng(0), *_directions()
    q = np.array([0.0, 0.0, *(DISTANCE * e)])
    data: dict[str, Any] = {"8.3": _sampled(lambda z: FREE.velocity(jnp.asarray(q), jnp.asarray(z)), rng, 3)}
    polar = np.asarray(POLAR.frame(jnp.array([0.0, 0.0, ANGLE, DISTANCE])))[:, :2]
    data["8.1"] = _sampled(partial(_of_polar, polar), rng, 2)
    for name, system in (("8.4 I", TURNED), ("8.4 II", CARRIED)):
        frame = np.asarray(system.frame(jnp.array([0.0, 0.0, ANGLE])))[:, :2]
        data[name] = _sampled(partial(_of_segment, frame), rng, 2)
    data |= {f"drawn {name}": np.array([a * e + b * n for a, b in pair]).ravel() for name, pair in SHOWN.items()}
    data["drawn also"] = np.array([a * e + b * n for a, b in ALSO]).ravel()
    written = dh.from_nonlinear_constraints(
        lambda q, v, s: s.coordinate_lagrangian(q, v), lambda q, v, s: s.constraint(q, v), params=TURNED
    )
    place = jnp.array([0.0, 0.0, ANGLE])
    branches = [np.asarray(s.frame(place))[:, :2] @ [0.4, 0.7] for s in (TURNED, CARRIED)]
    found = [dh.linear_in_velocities(written, place, v=v) for v in branches]
    return data | {"linear": np.array([dh.linear_in_velocities(FREE, jnp.asarray(q)), *found])}


def _directions() -> tuple[np.ndarray, np.ndarray]:
    e = np.array([np.cos(ANGLE), np.sin(ANGLE)])
    return e, np.array([-e[1], e[0]])


def _sampled(velocity: Callable[[np.ndarray], Any], rng: np.random.Generator, parameters: int) -> np.ndarray:
    return np.array([[velocity(z) for z in pair] for pair in rng.uniform(-1, 1, (PAIRS, 2, parameters))])


def _of_polar(frame: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(v1, v2) of the rates frame z of (x, y, theta, rho)."""
    (e, n), (x, y, turn, opening) = _directions(), frame @ z
    return np.concatenate([[x, y], [x, y] + opening * e + DISTANCE * turn * n])


def _of_segment(frame: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(v1, v2) of the rates frame z of (x, y, phi)."""
    (_, n), rates = _directions(), frame @ z
    return np.concatenate([rates[:2], rates[:2] + float(TURNED.length) * rates[2] * n])


def draw(data: dict[str, Any]) -> Any:
    e, n = _directions()
    first, second = np.zeros(2), DISTANCE * e
    with style():
        drawing, axes = mosaic([["8.1", "8.2"], ["8.3", "8.4"]], size=(3.4, 2.8))
        for name, title in TITLES.items():
            ax, v = axes[name], data[f"drawn {name}"]
            drawings.blank(ax, (-0.4, 1.4, -0.25, 1.1))
            ax.set_title(title, fontsize=8)
            rigid = {"color": GREY, "linewidth": 2.5} if name in ("8.2", "8.4") else {"linestyle": "--"}
            drawings.line(ax, first, second, **rigid)
            if name == "8.4":
                for start, w in zip((first, second), data["drawn also"].reshape(2, 2), strict=True):
                    looks = {"arrowstyle": "->", "color": GREY, "shrinkA": 0, "shrinkB": 0, "lw": 1.2}
                    ax.annotate("", start + w, start, arrowprops=looks)
            drawings.arrow(ax, first, v[:2], r"$\mathbf{v}_1$", (-9, 2), BLUE)
            drawings.arrow(ax, second, second + v[2:], r"$\mathbf{v}_2$", (10, -3), VERMILLION)
            if name in ("8.1", "8.2"):
                for start, w, side in ((first, v[:2], 1), (second, v[2:], -1)):
                    up = 0.1 * w / np.linalg.norm(w)
                    drawings.line(ax, start + up, start + up + 0.1 * side * e, start + 0.1 * side * e)
            drawings.dot(ax, first, "$P_1$", (-3, -9))
            drawings.dot(ax, second, "$P_2$", (11, -4) if name in ("8.1", "8.3") else (11, 3))
    return drawing


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    e, _ = _directions()

    def across(v: np.ndarray) -> np.ndarray:
        """v1 . P1P2 and v2 . P1P2."""
        return np.abs(np.stack([v[..., :2] @ e, v[..., 2:] @ e]))

    def parallel(v: np.ndarray) -> np.ndarray:
        return np.abs(v[..., 0] * v[..., 3] - v[..., 1] * v[..., 2])

    def rigid(v: np.ndarray) -> np.ndarray:
        return np.abs((v[..., 2:] - v[..., :2]) @ e)

    one, two, mixed = data["8.4 I"], data["8.4 II"], data["8.4 I"][:, 0] + data["8.4 II"][:, 0]
    allowed = {name: np.concatenate([data[name][:, 0], data[name][:, 1]]) for name in ("8.1", "8.3", "8.4 I", "8.4 II")}
    sums = {name: data[name].sum(axis=1) for name in allowed}
    ranks = {name: int(np.linalg.matrix_rank(v)) for name, v in allowed.items()}
    return [
        (
            "the drawn velocities are what the examples allow: across P1 P2 (8.1, 8.2), parallel (8.3, 8.4), and with "
            "equal parts along the rigid segment (1e-15)",
            bool(
                max(np.max(across(data[f"drawn {name}"])) for name in ("8.1", "8.2")) < 1e-15
                and max(parallel(data[f"drawn {name}"]) for name in ("8.3", "8.4", "also")) < 1e-15
                and max(rigid(data[f"drawn {name}"]) for name in ("8.2", "8.4", "also")) < 1e-15
            ),
        ),
        (
            f"8.1: {2 * PAIRS} velocities that the library allows are across P1 P2, so are their sums: it is linear, "
            "of 2 parameters, and the distance cannot change, so that it is 8.2",
            bool(max(np.max(across(allowed["8.1"])), np.max(across(sums["8.1"]))) < 1e-14)
            and ranks["8.1"] == 2
            and bool(np.max(rigid(allowed["8.1"])) < 1e-14),
        ),
        (
            "8.3 is truly nonlinear: what is allowed is parallel, sums of it are not, and together it spans all four "
            "dimensions; the library does not take it for linear",
            bool(np.max(parallel(allowed["8.3"])) < 1e-14 and np.median(parallel(sums["8.3"])) > 0.05)
            and ranks["8.3"] == 4
            and not data["linear"][0],
        ),
        (
            "8.4 is one of two linear constraints: sums within a type are parallel again, sums of both types are not; "
            "the library finds each type linear",
            bool(max(np.max(parallel(sums["8.4 I"])), np.max(parallel(sums["8.4 II"]))) < 1e-14)
            and bool(np.median(parallel(mixed)) > 0.05)
            and ranks["8.4 I"] == ranks["8.4 II"] == 2
            and bool(np.all(data["linear"][1:])),
        ),
        (
            "both types are rigid, and type I is 8.2",
            bool(max(np.max(rigid(one)), np.max(rigid(two)), np.max(across(one))) < 1e-14 < np.min(across(two))),
        ),
    ]
