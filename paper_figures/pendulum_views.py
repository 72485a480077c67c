"""What figures 4a and 4b share: the three views of a pendulum's trajectory, and the claims made of both."""

from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from discrete_hamel.drawing.plots import BLUE, VERMILLION, style

from . import pendulum, spheres
from .pendulum import PENDULUM
from .pictures import mosaic


def compute(xi: Any, steps: int, check_steps: tuple[int, ...]) -> dict[str, Any]:
    """The run and the bob in space; and how far the bob is from Newton's after 20 s, for several numbers of steps."""
    run = pendulum.run(xi, steps)
    return {
        "t": np.asarray(run.t),
        "gamma": np.asarray(run.q),
        "bob": pendulum.bob(run),
        "check_steps": np.array(check_steps),
        "check_errors": pendulum.errors(xi, 20.0, check_steps),
    }


def draw(data: dict[str, Any], azimuth: float, elevation: float) -> Any:
    """The bob on the sphere, the bob from above, gamma on the unit sphere."""
    with style():
        drawing, axes = mosaic([["space", "above", "body"]], size=(7.2, 2.75), width_ratios=[1, 1.15, 1])
        seen = spheres.view(azimuth, elevation)
        bob, gamma, radius = _smooth(data, "bob"), _smooth(data, "gamma"), PENDULUM["length"]
        spheres.sphere(axes["space"], radius, seen)
        spheres.curve(axes["space"], bob, seen)
        axes["space"].set_title(f"bob in space, $r = {radius}$ m")
        ax, below = axes["above"], bob[:, 2] <= 0
        for part, color, label in ((below, BLUE, "below the equator"), (~below, VERMILLION, "above")):
            if part.any():
                x, y = (np.where(part | np.roll(part, 1), bob[:, i], np.nan) for i in (0, 1))
                ax.plot(x, y, color=color, linewidth=0.8, label=label)
        ax.plot(*bob[0, :2], "o", color="black", markersize=3.5, label="start")
        reach = 1.08 * np.max(np.abs(bob[:, :2]))
        ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach))
        ax.set_title("bob from above")
        spheres.sphere(axes["body"], 1.0, seen)
        spheres.curve(axes["body"], gamma, seen)
        axes["body"].set_title(r"$\gamma$, the vertical in the body")
        handles, labels = ax.get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return drawing


def _smooth(data: dict[str, Any], name: str) -> np.ndarray:
    """The cubic spline through the nodes, for the eye: at h = 0.2 s a polygon would show."""
    t = data["t"]
    return CubicSpline(t, data[name])(np.linspace(t[0], t[-1], 8 * len(t) - 7))


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    bob, gamma = data["bob"], data["gamma"]
    off = np.abs(np.linalg.norm(gamma, axis=1) - 1)
    heights = np.abs(bob[:, 2] - PENDULUM["length"] * gamma[:, 2])
    slope = -np.diff(np.log(data["check_errors"]))[-1] / np.diff(np.log(data["check_steps"]))[-1]
    return [
        ("gamma stays on the unit sphere within 1e-13", bool(off.max() < 1e-13)),
        ("the reconstructed bob is at height r gamma3 within 1e-12 m", bool(heights.max() < 1e-12)),
        (
            f"over 20 s the bob converges to Newton's equation with a rod (DOP853) at order 2: slope {slope:.2f}",
            abs(slope - 2) < 0.1,
        ),
    ]
