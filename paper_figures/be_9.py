"""[BE] figure 9: the four kinds of initial velocities

Two points joined by a spring (grey) start with parallel velocities: opposite (A, C) or of one direction (B, D), across
the segment P1 P2 (A, B) or inclined to it (C, D). Across it the spring changes no speed at first; and the common
direction turns at first if the velocities differ. Figures 10 to 32 are cases of these kinds.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLUE, GREY, VERMILLION, style

from . import drawings
from .be_cases import ACROSS, BACKWARDS, CASES, INCLINED
from .pictures import mosaic

# Of each kind: the sense of v2 against v1, the direction of both, and the letters' places.
KINDS = {"A": (-1, ACROSS), "B": (1, ACROSS), "C": (-1, INCLINED), "D": (1, BACKWARDS)}
SPRING = [case for case in CASES if case.kind in KINDS]
PARAMETERS = {"figures": {kind: [case.figure for case in SPRING if case.kind == kind] for kind in KINDS}}


def compute(_: bool) -> dict[str, Any]:
    """The velocities of both points and the initial rates of (v1, v2, theta), of each figure's case."""
    fields = [dh.vector_field(case.system, jnp.asarray(case.q), jnp.asarray(case.z)) for case in SPRING]
    return {
        "figure": np.array([case.figure for case in SPRING]),
        "velocities": np.array([velocity for velocity, _ in fields]),
        "rates": np.array([rates for _, rates in fields]),
    }


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["A", "B"], ["C", "D"]], size=(3.4, 3.2))
        for kind, (sense, theta) in KINDS.items():
            ax, e = axes[kind], 0.75 * np.array([np.cos(theta), np.sin(theta)])
            drawings.blank(ax, (-0.75, 1.6, -0.95, 1.0))
            ax.set_title(f"Case {kind}")
            first, second = np.zeros(2), np.array([1.0, 0.0])
            drawings.line(ax, first, second, color=GREY, linewidth=1.2)
            drawings.arrow(ax, first, e, r"$\mathbf{v}_1$", (10, 4), BLUE)
            drawings.arrow(ax, second, second + sense * e, r"$\mathbf{v}_2$", (10, 4 * sense), VERMILLION)
            drawings.dot(ax, first, "$P_1$", (-10, -7))
            drawings.dot(ax, second, "$P_2$", (8, 9 if kind == "A" else -8))
    return drawing


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    across = np.array([case.kind in "AB" for case in SPRING])
    alike = np.array([case.v1 == case.v2 for case in SPRING])
    first, second = data["velocities"][:, :2], data["velocities"][:, 2:]
    filed = np.sign(np.sum(first * second, axis=1)) == [KINDS[case.kind][0] for case in SPRING]
    segments = np.array([case.q[2:] - case.q[:2] for case in SPRING])
    turned = (np.abs(np.sum(first * segments, axis=1)) < 1e-12) == across
    speeds, turning = np.abs(data["rates"][:, :2]).min(axis=1), np.abs(data["rates"][:, 2])
    return [
        (
            "in figures 10 to 32 the library's two velocities start with the sense, and across the segment or not, "
            "that the text says of their kinds",
            bool(np.all(filed) and np.all(turned)),
        ),
        ("across the spring it changes neither speed at first (A, B)", bool(np.all(speeds[across] < 1e-12))),
        ("inclined to it, it changes both (C, D)", bool(np.all(speeds[~across] > 0.1))),
        (
            "the direction stays at first exactly where v1 = v2 (figures 17, 26, 27)",
            bool(np.all(turning[alike] < 1e-12) and np.all(turning[~alike] > 0.1)),
        ),
    ]
