"""[MD] figure 12.1: the three-wheel cart

Seen from above. Left the cart with [MD]'s letters: wheels phi, psi and chi, middle x of the rear axle, mass centre u,
front wheel z, all drawn from the catalogue's cart. Right a motion by the discrete Hamel scheme, tau = 1/2: the steering
has inertia and is let go while it turns, so the heading xi of the front wheel turns uniformly for ever, whatever the
cart does. Paths of u (blue) and z (vermillion), the cart at first (grey) and last, and the steering angle alpha.
"""

from typing import Any

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, PURPLE, VERMILLION, style

from .drawings import angle, arrow, blank, dot, length, letter, line
from .pictures import mosaic

SIZES = {
    "mass": 1.0,
    "inertia": 0.3,
    "wheel_inertia": 0.02,
    "steering_inertia": 0.05,
    "wheel_radius": 0.2,
    "wheelbase": 1.0,
    "centre": 0.4,
    "half_track": 0.3,
}
CART = dh.systems.ThreeWheelCart(**SIZES)
R, D, A, B = (SIZES[name] for name in ("wheel_radius", "wheelbase", "centre", "half_track"))
J_D = SIZES["steering_inertia"]
START, SPEEDS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4), (3.0, 0.8)
H, TIME = 0.01, 25.0
PARAMETERS: dict[str, Any] = SIZES | {"q": START, "xi": SPEEDS, "h": H, "time": TIME}
HEADING, STEERING = 0.42, 0.55  # rad, theta and alpha of the drawing
SECOND = "Omega^2 (f - J_D r^2 sin^2 alpha)"


def compute(fast: bool) -> dict[str, Any]:
    run = dh.simulate(CART, START, SPEEDS, h=H, steps=round(TIME / H))
    finer = dh.simulate(CART, START, SPEEDS, h=H / 2, steps=round(2 * TIME / H))
    return {
        "t": run.t,
        "q": run.q,
        "xi": run.xi,
        "q finer": finer.q,
        "second": run.invariants()[SECOND],
        "second finer": finer.invariants()[SECOND],
        "energy": run.energy,
        "energy finer": finer.energy,
        "alpha finer": finer.q[::2, 6] - finer.q[::2, 0],
        "quadrature": _quadrature(run.t),
    }


def _quadrature(t: np.ndarray) -> np.ndarray:
    """alpha by DOP853 of alpha' = xi' - r Omega sin(alpha), with xi' and Omega^2 (f - J_D r^2 sin^2) constant."""
    from scipy.integrate import solve_ivp

    def inside(alpha: float) -> float:
        c2, s2 = np.cos(alpha) ** 2, np.sin(alpha) ** 2
        moving = SIZES["mass"] * R**2 * (D**2 * c2 + A**2 * s2)
        wheels = SIZES["wheel_inertia"] * (2 * D**2 * c2 + 2 * B**2 * s2 + D**2)
        return SIZES["inertia"] * R**2 * s2 + moving + wheels

    first = START[6] - START[0]
    level = SPEEDS[0] ** 2 * inside(first)
    steering = SPEEDS[1] + R * SPEEDS[0] * np.sin(first)

    def rate(_: float, y: np.ndarray) -> list[float]:
        return [steering - R * np.sqrt(level / inside(y[0])) * np.sin(y[0])]

    return solve_ivp(rate, (0.0, t[-1]), [first], "DOP853", t, rtol=1e-11, atol=1e-12).y[0]


def draw(data: dict[str, Any]) -> Any:
    with style():
        layout = [["cart", "path"], ["cart", "alpha"]]
        drawing, axes = mosaic(layout, size=(7.4, 3.9), width_ratios=[1.25, 1], height_ratios=[2.3, 1])
        _cart(axes["cart"])
        _path(axes["path"], data)
        ax = axes["alpha"]
        ax.plot(data["t"], (data["q"][:, 6] - data["q"][:, 0]) / (2 * np.pi), color=GREEN)
        ax.set(xlabel="$t$ [s]", ylabel=r"$\alpha$ [turns]", xlim=(0, TIME))
    return drawing


def _wheels(ax: Any, q: np.ndarray, width: float, color: str) -> None:
    """The library's outline: the frame, and the wheels as thick lines."""
    *deck, left, right, front = CART.shapes(q)
    for shape in deck:
        ax.plot(*shape.T, color=color, linewidth=0.3 * width)
    for shape in (left, right, front):
        ax.plot(*shape.T, color=color, linewidth=width, solid_capstyle="round")


def _cart(ax: Any) -> None:
    tau, n = (np.array([np.cos(t), np.sin(t)]) for t in (HEADING, HEADING + np.pi / 2))
    x = np.array([0.55, 0.45])
    u, z, front = x + A * tau, x + D * tau, HEADING + STEERING
    q = np.array([HEADING, *u, 0.0, 0.0, 0.0, front])
    _wheels(ax, q, 4.0, BLACK)
    for place, text, offset in ((x + B * n, r"$\phi$", (-10, 12)), (x - B * n, r"$\psi$", (-17, 0))):
        letter(ax, place, text, offset)
    letter(ax, z, r"$\chi$", (-9, 16))
    dot(ax, x, "$x$", (-11, 2), BLUE)
    dot(ax, u, "$u$", (-6, 9), BLUE)
    dot(ax, z, "$z$", (3, -11), BLUE)
    beyond = np.array([np.cos(front), np.sin(front)])
    line(ax, z, z + 0.42 * tau, linestyle=":")
    line(ax, z, z + 0.55 * beyond, linestyle=":")
    angle(ax, z, 0.29, HEADING, front, r"$\alpha$", 1.28, VERMILLION)
    line(ax, z, z + [0.55, 0], linestyle=":")
    angle(ax, z, 0.46, 0.0, front, r"$\xi$", 1.13, PURPLE)
    line(ax, x, x + [0.55, 0], linestyle=":")
    angle(ax, x, 0.45, 0.0, HEADING, r"$\theta$", 1.15, GREEN)
    for k, (end, text) in enumerate(((A, "$a$"), (D, "$d$"))):
        down = -(B + 0.1 + 0.11 * k) * n
        length(ax, x + down, x + end * tau + down, text, (5, -7))
        line(ax, x + end * tau, x + end * tau + down * 1.04)
    line(ax, x - B * n, x - (B + 0.23) * n)
    back = -(R + 0.08) * tau
    length(ax, x + back, x + B * n + back, "$b$", (-8, -3))
    line(ax, x, x + back * 1.1)
    line(ax, x + B * n, x + B * n + back * 1.1)
    arrow(ax, (0, 0), (0.35, 0), r"$\epsilon_1$", (8, 0))
    arrow(ax, (0, 0), (0, 0.35), r"$\epsilon_2$", (0, 8))
    blank(ax, (-0.08, 2.12, -0.14, 1.3))


def _path(ax: Any, data: dict[str, Any]) -> None:
    q = data["q"]
    ahead = q[:, 1:3] + (D - A) * np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
    ax.plot(*ahead.T, color=VERMILLION, linewidth=0.8)
    ax.plot(*q[:, 1:3].T, color=BLUE, linewidth=1.2)
    for k in (0, len(q) - 1):
        _wheels(ax, q[k], 1.8, BLACK if k else GREY)
    ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]")
    ax.set_aspect("equal", adjustable="datalim")


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    turn = data["q"][:, 6] - data["q"][:, 0]
    xi_rate = data["xi"][:, 1] + R * data["xi"][:, 0] * np.sin(turn)
    steady = float(np.max(np.abs(xi_rate - xi_rate[0])))
    second = [float(np.max(np.abs(data[name] - data[name][0]))) for name in ("second", "second finer")]
    energy = [float(np.max(np.abs(data[name] - data[name][0]))) for name in ("energy", "energy finer")]
    alpha = data["q"][:, 6] - data["q"][:, 0]
    steered = [float(np.max(np.abs(a - data["quadrature"]))) for a in (alpha, data["alpha finer"])]
    slopes = [float(np.log2(a / b)) for a, b in (second, energy, steered)]
    skids, slips = zip(*(_wheels_roll(data[name], h) for name, h in (("q", H), ("q finer", H / 2))), strict=True)
    ratios = skids[0] / skids[1], slips[0] / slips[1]
    straight = np.ptp(data["xi"][:, 0])
    return [
        (
            f"J_D xi' is exact: the front wheel's heading turns at {xi_rate[0]:.4f} rad/s within {steady:.0e}"
            " (1e-12 sqrt(steps))",
            steady < 1e-12 * np.sqrt(TIME / H),
        ),
        (
            f"the second integral Omega^2 (f - J_D r^2 sin^2 alpha) holds to O(h^2), no better: slope {slopes[0]:.2f}",
            abs(slopes[0] - 2) < 0.1 and second[0] > 1e-9,
        ),
        (f"so does the energy: slope {slopes[1]:.2f}", abs(slopes[1] - 2) < 0.1),
        (
            "alpha' = xi' - r Omega sin(alpha) by DOP853, with both integrals, gives the same steering: order 2, slope "
            f"{slopes[2]:.2f}",
            abs(slopes[2] - 2) < 0.1,
        ),
        (f"though Omega itself changes, by {straight:.2f} rad/s", bool(straight > 0.1)),
        (
            "by differences of the path no wheel skids and all three turn as they roll, but for O(h^2): "
            f"{skids[0]:.0e} and {slips[0]:.0e} m/s, a quarter at h/2 ({ratios[0]:.2f}, {ratios[1]:.2f})",
            max(abs(ratio - 4) for ratio in ratios) < 0.2 and max(skids[0], slips[0]) < 1e-3,
        ),
    ]


def _wheels_roll(path: np.ndarray, h: float) -> tuple[np.floating, np.floating]:
    """Greatest speed across a wheel, and of a hub along its wheel beyond r times the wheel's rate, by differences."""
    q, v = path[1:-1], (path[2:] - path[:-2]) / (2 * h)
    skids, slips = [], []
    for ahead, left, own, rate in ((-A, B, 0, 3), (-A, -B, 0, 4), (D - A, 0.0, 6, 5)):
        tau = np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
        n = np.stack([-tau[:, 1], tau[:, 0]], axis=1)
        hub = v[:, 1:3] + v[:, :1] * (ahead * n - left * tau)
        along = np.stack([np.cos(q[:, own]), np.sin(q[:, own])], axis=1)
        slips.append(np.abs(np.sum(hub * along, axis=1) - R * v[:, rate]))
        skids.append(np.abs(hub[:, 1] * along[:, 0] - hub[:, 0] * along[:, 1]))
    return np.max(skids), np.max(slips)
