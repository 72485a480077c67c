"""[QS] figure 6.1: the Chaplygin sleigh

Left: theta, the contact point (x, y) and the body frame e2, e3 (e1 points at the reader); the blade is the bold
segment, the mass centre (dot) lies at a e2. Right: the same drawing for the sleigh with an oscillator, where the dot is
a mass that slides along the blade on a spring, at r e2. Arrows are the fields of the library's frames at this place.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, VERMILLION, style

from . import sleigh_checks
from .pictures import mosaic

PARAMETERS: dict[str, Any] = {
    "mass": 1.0,
    "inertia": 0.7,
    "offset": 0.4,
    "q": (0.5, 1.6, 1.3),
    "drawn offset": 1.2,
}
SLEIGH, CARRYING = sleigh_checks.SLEIGH, sleigh_checks.CARRYING
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    q = np.array(PARAMETERS["q"])
    place = jnp.array([PARAMETERS["drawn offset"], *q])
    data = {
        "q": q,
        "frame": np.asarray(SLEIGH.frame(jnp.asarray(q))),
        "carrying": np.asarray(CARRYING.frame(place))[1:, 1:],
        "refused": np.array([_refused(SLEIGH, q, 3), _refused(CARRYING, place, 4)]),
        "brackets": np.asarray(dh.structure(SLEIGH, q)),
    }
    return data | {name: np.array(off) for name, off in sleigh_checks.differences().items()}


def _refused(system: dh.System, q: Any, n: int) -> bool:
    """Whether a velocity across the blade is."""
    try:
        dh.simulate(system, q=q, xi=np.eye(n)[-1], h=0.1, steps=1)
    except ValueError:
        return True
    return False


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["sleigh", "spring"]], size=(7.2, 3.0))
        for name, ax in axes.items():
            _sleigh(ax, data["q"], data["frame" if name == "sleigh" else "carrying"][1:, 1:])
            ax.set(xlabel="$x$ [m]", xlim=(0.1, 4.1), ylim=(0.2, 3.2), aspect="equal")
        axes["sleigh"].set_ylabel("$y$ [m]")
        _mass(axes["sleigh"], data, "$a$", None)
        _mass(axes["spring"], data, "$r$", 9)
    return drawing


def _sleigh(ax: Any, q: np.ndarray, fields: np.ndarray) -> None:
    """Platform, blade, heading and the frame."""
    from matplotlib.patches import Arc, Ellipse

    theta, x, y = q
    along, across = fields.T
    middle = np.array([x, y]) + 0.45 * along
    ax.add_patch(Ellipse(middle, 3.0, 1.5, angle=np.degrees(theta), facecolor="#eef3f7", edgecolor=GREY))
    ax.plot([x, x + 2.2], [y, y], color=GREY, linewidth=0.8, linestyle=":")
    ax.add_patch(Arc((x, y), 3.0, 3.0, theta2=np.degrees(theta), color=BLACK, linewidth=0.8))
    ax.annotate(r"$\theta$", (x + 1.66 * np.cos(theta / 2), y + 1.66 * np.sin(theta / 2)), ha="center", va="center")
    ends = np.array([[x, y] - 0.55 * along, [x, y] + 0.55 * along]).T
    ax.plot(*ends, color=BLACK, linewidth=4, solid_capstyle="round")
    for field, length, color, label in ((along, 2.35, BLUE, "$e_2$"), (across, 1.25, VERMILLION, "$e_3$")):
        tip = np.array([x, y]) + length * field
        looks = {"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tip, (x, y), arrowprops=looks)
        ax.annotate(label, tip, (4, 2), textcoords="offset points", color=color)
    ax.plot([x], [y], "o", color="white", markeredgecolor=BLACK, markersize=5, zorder=4)
    ax.annotate("$(x, y)$", (x, y), (4, -13), textcoords="offset points")


def _mass(ax: Any, data: dict[str, Any], name: str, coils: int | None) -> None:
    """The dot at the drawn offset, its distance from the contact point, and the spring."""
    place, (along, across) = data["q"][1:], data["frame"][1:, 1:].T
    away = PARAMETERS["drawn offset"]
    end = place + away * along
    ax.plot(*end, "o", color=BLACK, markersize=8, zorder=4)
    if coils:
        s = np.linspace(0, 1, 4 * coils + 1)
        swing = np.where((s > 0.12) & (s < 0.9), 0.12 * np.sin(2 * np.pi * coils * s), 0.0)
        ax.plot(*(place + np.outer(away * s, along) + np.outer(swing, across)).T, color=BLACK, linewidth=0.9)
    low, high = (p + 0.4 * across for p in (place, end))
    ax.annotate("", high, low, arrowprops={"arrowstyle": "<->", "color": GREY, "shrinkA": 0, "shrinkB": 0, "lw": 0.8})
    ax.annotate(name, (low + high) / 2 + 0.14 * across, ha="center", va="center")


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    theta = data["q"][0]
    along = np.array([np.cos(theta), np.sin(theta)])
    printed = np.column_stack([along, [-along[1], along[0]]])
    brackets = np.zeros((3, 3, 3))
    brackets[2, 0, 1], brackets[1, 0, 2] = 1, -1
    brackets -= np.swapaxes(brackets, 1, 2)

    def small(*names: str) -> bool:
        return all(bool(np.max(data[name]) < 1e-12) for name in names)

    return [
        (
            "e2 points along the blade, at theta, and e3 a quarter turn further, in both frames; e1 is d/dtheta",
            bool(
                np.allclose(data["frame"][1:, 1:], printed, rtol=0, atol=1e-15)
                and np.allclose(data["carrying"][1:, 1:], printed, rtol=0, atol=1e-15)
                and np.array_equal(data["frame"][:, 0], [1, 0, 0])
            ),
        ),
        (
            "[e1, e2] = e3, [e1, e3] = -e2, [e2, e3] = 0 (1e-15)",
            bool(np.allclose(data["brackets"], brackets, rtol=0, atol=1e-15)),
        ),
        (
            "a velocity across the blade is refused, by both: the constraint is Omega3 = 0",
            bool(np.all(data["refused"])),
        ),
        ("the mass centre moves with Omega2 e2 + (Omega3 + a Omega1) e3 (1e-12)", small("centre")),
        (
            "l is the kinetic energy of the bodies, the sleigh's, and that of sleigh and mass less k r^2 / 2 (1e-12)",
            small("energy", "carrying energy"),
        ),
        ("(6.1) as printed: the rates of p1 and p2 (1e-12)", small("(6.1)")),
        (
            "spatial momentum: mu' = lambda a(g) as printed (1e-12), mu3 being m {(eta3 + x eta1) + a eta1 cos theta}; "
            "the printed mu3, with eta2 - y eta1, is not the momentum",
            small("spatial momentum", "spatial rates") and bool(np.min(data["printed mu3"]) > 1e-3),
        ),
        (
            "the brackets of the frame (6.2)-(6.4) are as printed, and both its momenta are constant (1e-12)",
            small("momentum frame", "its fields", "kept momenta"),
        ),
        (
            "in that frame l has -2 m k sin(k theta) xi2 xi3; with a for k, as printed, it is not the kinetic energy",
            small("its energy", "corrected l") and bool(np.min(data["printed l"]) > 1e-3),
        ),
        (
            "the constrained energy of the sleigh with the mass is positive definite, and A2 = m / (M + m) leaves no "
            "term r' Omega2 in l (1e-12)",
            small("coupling") and bool(np.min(data["definite"]) > 0),
        ),
    ]
