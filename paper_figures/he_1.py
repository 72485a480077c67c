"""[HE] figure 1: the Chaplygin sleigh

A platform (oval) on one blade (bold segment) that touches the plane in one point (bold dot), q = (theta, x, y). The
arrows are the second and third field of the frame as the library has them at this q: along the blade, where the sleigh
may go with v1, and across, where v2 = 0 forbids it. In [HE] the mass centre is at the contact point (offset 0).
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, VERMILLION, style

from .pictures import mosaic

COLUMN = True
PARAMETERS: dict[str, Any] = {"mass": 1.0, "inertia": 0.7, "offset": 0.0, "q": (0.6, 2.1, 1.5)}
SIDEWAYS = (0.0, 0.0, 0.1)  # a velocity the blade forbids


def compute(fast: bool) -> dict[str, Any]:
    sleigh = dh.systems.ChaplyginSleigh(*(PARAMETERS[name] for name in ("mass", "inertia", "offset")))
    q = np.array(PARAMETERS["q"])
    straight = dh.simulate(sleigh, q=q, xi=[0.0, 1.0], h=0.1, steps=10)
    try:
        dh.simulate(sleigh, q=q, xi=SIDEWAYS, h=0.1, steps=1)
        refused = False
    except ValueError:
        refused = True
    return {
        "q": q,
        "frame": np.asarray(sleigh.frame(jnp.asarray(q))),
        "straight": straight.q,
        "refused": np.array(refused),
    }


def draw(data: dict[str, Any]) -> Any:
    from matplotlib.patches import Arc, Ellipse

    theta, x, y = data["q"]
    along, across = data["frame"][1:, 1], data["frame"][1:, 2]
    with style():
        drawing, axes = mosaic([["plane"]], size=(4.2, 3.2))
        ax = axes["plane"]
        ax.add_patch(Ellipse((x, y), 2.6, 1.5, angle=np.degrees(theta), facecolor="#eef3f7", edgecolor=GREY))
        ax.plot([x, x + 1.9], [y, y], color=GREY, linewidth=0.8, linestyle=":")
        ax.add_patch(Arc((x, y), 1.5, 1.5, theta2=np.degrees(theta), color=BLACK, linewidth=0.8))
        ax.annotate(r"$\theta$", (x + 0.86 * np.cos(theta / 2), y + 0.86 * np.sin(theta / 2)), ha="center", va="center")
        ends = np.array([[x, y] - 0.75 * along, [x, y] + 0.75 * along]).T
        ax.plot(*ends, color=BLACK, linewidth=3.5, solid_capstyle="round")
        for direction, length, color, label in (
            (along, 1.7, BLUE, r"$u_2$: $v^1$"),
            (across, 1.15, VERMILLION, r"$u_3$: $v^2 = 0$"),
        ):
            tip = [x, y] + length * direction
            ax.annotate("", tip, (x, y), arrowprops={"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0})
            ax.annotate(label, tip, (4, 4), textcoords="offset points", color=color)
        ax.plot([x], [y], "o", color=BLACK, markersize=8)
        ax.annotate(r"$(x, y)$", (x, y), (5, -14), textcoords="offset points")
        ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", xlim=(0.4, 4.4), ylim=(0.2, 3.2), aspect="equal")
    return drawing


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    theta, plane = data["q"][0], data["frame"][1:, 1:]
    moved = data["straight"] - data["q"]
    along = np.array([np.cos(theta), np.sin(theta)])
    return [
        (
            "u_2 makes the angle theta with the x axis, u_3 is a quarter turn further ([HE] 2.5)",
            bool(np.allclose(plane, np.column_stack([along, [-along[1], along[0]]]), rtol=0, atol=1e-15)),
        ),
        (
            "pushed along the blade the balanced sleigh goes straight (1e-13)",
            bool(np.allclose(moved, np.outer(0.1 * np.arange(11), [0.0, *along]), rtol=0, atol=1e-13)),
        ),
        ("pushed across the blade it is refused: that velocity is off the constraint", bool(data["refused"])),
    ]
