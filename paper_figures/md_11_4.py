"""[MD] figure 11.4: the coefficients of the reduced potential

U = m g z + m {A C1^2 + 2 B C1 C2 + C C2^2} / 2: what the spin C1 and the pivoting C2 at the inner horizontal cost in
energy at the place psi around the wire. Dots: least A, greatest B and least C (and their mirror images).
"""

from typing import Any

import numpy as np

from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, VERMILLION, style

from . import basketball
from .basketball_numbers import COEFFICIENT_EXTREMES, COEFFICIENTS, agrees
from .pictures import mosaic

PARAMETERS = basketball.PARAMETERS
NAMES = ("A", "B", "C")
PARITY = np.array([[1.0], [-1.0], [1.0]])


def compute(fast: bool) -> dict[str, Any]:  # nothing here is long
    turns = np.linspace(-1, 1, 801)
    return {
        "turns": turns,
        "coefficients": _coefficients(np.pi * turns),
        "by_formula": _by_formula(np.pi * turns),
        "table": _coefficients(np.pi * np.array(list(COEFFICIENTS))),
    }


def _coefficients(psi: np.ndarray) -> np.ndarray:
    """A, B, C from the library's reduced potential for three pairs of constants."""
    weight = basketball.GRAVITY * basketball.AROUND * np.sin(psi)
    first, second, both = (basketball.potential(psi, *c) - weight for c in ((1, 0), (0, 1), (1, 1)))
    return np.stack([2 * first, both - first - second, 2 * second])


def _by_formula(psi: np.ndarray) -> np.ndarray:
    """A = r^2 {2 f11^2 + 5 a^2 f12^2} / 3 and so on, as printed, with the solutions of (11.1) by DOP853."""
    f11, f12, f21, f22 = basketball.fundamental(psi)
    a, third = basketball.to_axis(psi), basketball.RADIUS**2 / 3
    pairs = ((f11, f12, f11, f12), (f11, f12, f21, f22), (f21, f22, f21, f22))
    return third * np.stack([2 * x * y + 5 * a**2 * w * z for x, w, y, z in pairs])


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([list(NAMES)], size=(7.2, 2.6))
        for (name, ax), color, power, row in zip(
            axes.items(), (BLUE, VERMILLION, GREEN), (2, 3, 4), data["coefficients"], strict=True
        ):
            ax.plot(data["turns"], row, color=color)
            where, value = _extreme(data, name)
            mirrored = -value if name == "B" else value
            looks = {"color": BLACK, "markersize": 4, "markerfacecolor": "white", "clip_on": False}
            ax.plot([where, -where], [value, mirrored], "o", **looks)
            ax.set(title=f"${name}$ [cm$^{power}$]", xlabel=r"$\psi$ [$\pi$ rad]", xticks=(-1, -0.5, 0, 0.5, 1))
            ax.set_xticklabels(["$-1$", "$-1/2$", "0", "$1/2$", "1"])
        axes["A"].set_ylim(bottom=0)
    return drawing


def _extreme(data: dict[str, Any], name: str) -> tuple[float, float]:
    """psi/pi and value of the least A or C, or the greatest B, on [0, pi]."""
    right = data["turns"] >= 0
    x, y = data["turns"][right], data["coefficients"][NAMES.index(name)][right]
    return basketball.vertex(x, y, int(np.argmax(y) if name == "B" else np.argmin(y)))


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    found, size = data["coefficients"], np.max(np.abs(data["coefficients"]), axis=1, keepdims=True)
    off = float(np.max(np.abs(found - data["by_formula"]) / size))
    uneven = float(np.max(np.abs(found - PARITY * found[:, ::-1]) / size))
    met = [
        agrees(*pair)
        for row, printed in zip(data["table"].T, COEFFICIENTS.values(), strict=True)
        for pair in zip(row, printed, strict=True)
    ]
    ends = [_extreme(data, name) for name in NAMES]
    right = [agrees(x, at) and agrees(y, value) for (x, y), (at, value) in zip(ends, COEFFICIENT_EXTREMES, strict=True)]
    (at_a, a), (at_b, b), (at_c, c) = ends
    extremes = (
        f"least A {a:.3f} at {at_a:.4f} pi, greatest B {b:.3f} at {at_b:.4f} pi, least C {c:.2f} at {at_c:.4f} pi"
    )
    a, b, c = found
    return [
        (
            "the reduced potential of the library is quadratic in C1, C2 with the printed formulas for A, B, C, the "
            f"solutions of (11.1) in them by DOP853: within 1e-10 ({off:.0e})",
            off < 1e-10,
        ),
        (f"[MD] on figure 11.4: A and C are even, B is odd, within 1e-10 ({uneven:.0e})", uneven < 1e-10),
        (
            "A(0) = J = 98.0526 cm^2, and at psi/pi = 0, 0.25, 0.5, 1 all are as by DOP853 on (11.1), to the last "
            "digit",
            all(met),
        ),
        (f"{extremes}, to these digits", all(right)),
        (
            "A C1^2 + 2 B C1 C2 + C C2^2 is positive: A > 0 and A C > B^2 everywhere",
            bool(np.all(a > 0) and np.all(a * c > b**2)),
        ),
    ]
