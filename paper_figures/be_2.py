"""[BE] 8.1 and figure 2: two points with velocities across the line that joins them

Left figure 2, the coordinates: P2 in polar coordinates (rho, theta) about P1 = (x, y). Right a motion on an inclined
plane, downhill along x, over 12 s, with the line between the points every second. Nothing holds the distance, and it
stays. Gravity does not change the turning either, so that both paths are known in closed form, and drift sideways. The
paper's (49) is corrected: it has G_12 = -2 rho m2 for -rho m2, and with it a denominator that vanishes for m1 = 3 m2.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, PURPLE, VERMILLION, style

from . import drawings
from .pictures import mosaic

SYSTEM = dh.systems.TwoPointsOrthogonalVelocities(mass1=1.0, mass2=2.0, gravity=1.0)
START, RATES = (0.0, 0.0, 0.6, 1.0), (0.4, 1.1)  # x, y, theta, rho; v, omega
TIME, STEPS = 12.0, 1200
PLACE, ANGLE, DISTANCE = (0.45, 0.4), 0.65, 1.1  # as drawn on the left
PARAMETERS: dict[str, Any] = {
    **{name: getattr(SYSTEM, name) for name in ("mass1", "mass2", "gravity")},
    "start": START,
    "v, omega": RATES,
    "time": TIME,
    "h": TIME / STEPS,
}
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    """The drawn run and finer ones; rates of (v, omega) at random states under random forces, and the matrix G."""
    runs = [_run(STEPS * k) for k in ((1, 2) if fast else (1, 2, 4))]
    ends = [np.max(np.abs(run.q[:, :3] - closed_form(run.t))) for run in runs]
    rng = np.random.default_rng(0)
    masses, forces = rng.uniform(0.3, 3, (20, 2)), rng.normal(size=(20, 3))
    states = np.column_stack([rng.uniform(-3, 3, 20), rng.uniform(0.3, 2, 20), rng.normal(size=(20, 2))])
    rates, metrics = _pushed(masses, forces, states)
    return {
        "t": runs[0].t,
        "q": runs[0].q,
        "xi": runs[0].xi,
        "energy": runs[0].energy,
        "errors": np.array(ends),
        "masses": masses,
        "forces": forces,
        "states": states,
        "rates": np.asarray(rates),
        "G": np.asarray(metrics),
    }


def _run(steps: int) -> dh.Trajectory:
    return dh.simulate(SYSTEM, START, RATES, h=TIME / steps, steps=steps)


def closed_form(t: np.ndarray) -> np.ndarray:
    """x, y, theta: omega' = 0 and v' = g sin(theta), integrated by hand."""
    (x, y, theta, _), (v, omega), g = START, RATES, SYSTEM.gravity
    now, speed = theta + omega * t, v + g / omega * np.cos(theta)

    def along_x(a: Any) -> Any:
        return (-speed * np.cos(a) + g / (2 * omega) * np.cos(a) ** 2) / omega

    def along_y(a: Any) -> Any:
        return (-speed * np.sin(a) + g / (4 * omega) * (2 * a + np.sin(2 * a))) / omega

    return np.stack([x + along_x(now) - along_x(theta), y + along_y(now) - along_y(theta), now], axis=1)


@jax.jit
@jax.vmap
def _pushed(masses: jax.Array, force: jax.Array, state: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(v', omega') by the library under (A_x, A_y, A_theta), and d^2 l / d(v, omega)^2."""
    theta, rho, v, omega = state
    system = SYSTEM.replace(mass1=masses[0], mass2=masses[1], gravity=0.0)
    q, xi = jnp.stack([0.0 * rho, 0.0 * rho, theta, rho]), jnp.stack([v, omega, 0.0 * v, 0.0 * v])
    pushed = dh.forced(system, lambda q, _, f: system.frame(q).T @ jnp.append(f, 0.0), params=force)
    return dh.vector_field(pushed, q, xi)[1][:2], jax.hessian(system.lagrangian, 1)(q, xi)[:2, :2]


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["polar", "run"]], size=(7.0, 2.5), width_ratios=[1, 1.7])
        _coordinates(axes["polar"])
        ax, q = axes["run"], data["q"]
        second = q[:, :2] + q[:, 3:] * np.stack([np.cos(q[:, 2]), np.sin(q[:, 2])], axis=1)
        every = round(STEPS / TIME)
        for a, b in zip(q[::every, :2], second[::every], strict=True):
            ax.plot(*np.array([a, b])[:, ::-1].T, color=GREY, linewidth=0.8, zorder=1)
        for points, color, mark, name in ((q, BLUE, "o", "$P_1$"), (second, VERMILLION, "s", "$P_2$")):
            ax.plot(points[:, 1], points[:, 0], color=color, label=name)
            ax.plot(points[::every, 1], points[::every, 0], mark, color=color, markersize=2.5)
            ax.plot(points[:1, 1], points[:1, 0], mark, color=color, markersize=5, markeredgecolor=BLACK)
        ax.set(xlabel="$y$ [m]", ylabel="$x$ [m], downhill", aspect="equal")
        ax.invert_yaxis()  # downhill is down
        ax.set_title(f"{TIME:g} s on the inclined plane", fontsize=8)
        drawing.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawing


def _coordinates(ax: Any) -> None:
    first = np.array(PLACE)
    second = first + DISTANCE * np.array([np.cos(ANGLE), np.sin(ANGLE)])
    drawings.blank(ax, (-0.2, 1.75, -0.25, 1.45))
    drawings.arrow(ax, (-0.1, 0), (1.65, 0), "$x$", (0, -9))
    drawings.arrow(ax, (0, -0.1), (0, 1.35), "$y$", (-8, 0))
    drawings.line(ax, (first[0], 0), first, (0, first[1]), linestyle=":")
    drawings.line(ax, first, first + [0.8, 0])
    drawings.length(ax, first, second, r"$\rho$", (-7, 7), GREEN)
    drawings.angle(ax, first, 0.42, 0, ANGLE, r"$\theta$", 1.28, PURPLE)
    drawings.dot(ax, first, "$P_1$", (-9, 7), BLUE)
    drawings.dot(ax, second, "$P_2$", (8, 7), VERMILLION)
    drawings.letter(ax, (first[0], 0), "$x_1$", (0, -9))
    drawings.letter(ax, (0, first[1]), "$y_1$", (-10, 0))
    ax.set_title("Figure 2", fontsize=8)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    q, xi, (m1, m2) = data["q"], data["xi"], data["masses"].T
    theta, rho = data["states"][:, :2].T
    round_off, slope = 1e-12 * np.sqrt(STEPS), np.diff(np.log2(data["errors"]))
    matrix = rho * m2 * np.stack([np.stack([(m1 + m2) / (m2 * rho), -np.ones(20)]), np.stack([-np.ones(20), rho])])
    matrix = np.moveaxis(matrix, 2, 0)
    off = np.max(np.abs(data["G"] - matrix))
    printed = matrix * np.array([[1.0, 2.0], [2.0, 1.0]])
    right, wrong = (_rates(g, data) for g in (matrix, printed))
    across = np.sin(theta) * data["forces"][:, 0] - np.cos(theta) * data["forces"][:, 1]
    corrected = np.stack(
        [
            (rho * across + data["forces"][:, 2]) / (rho * m1),
            (rho * m2 * across + (m1 + m2) * data["forces"][:, 2]) / (rho**2 * m1 * m2),
        ],
        axis=1,
    )
    missed = np.min(np.max(np.abs(wrong - data["rates"]), axis=1))
    return [
        (
            f"nothing holds the distance of the points, and it stays to round-off in {STEPS} steps",
            bool(np.max(np.abs(q[:, 3] - q[0, 3])) < round_off),
        ),
        (
            f"G is by autodiff rho m2 [[m/(m2 rho), -1], [-1, rho]], so that det G = rho^2 m1 m2 ({off:.0e}); the "
            "paper has -2, with which it would vanish for m1 = 3 m2",
            bool(off < 1e-13 and np.allclose(np.linalg.det(data["G"]), rho**2 * m1 * m2, rtol=1e-12)),
        ),
        (
            "(49) corrected: v' = (rho A_v + A_theta)/(rho m1), omega' = (rho m2 A_v + m A_theta)/(rho^2 m1 m2) are "
            "the library's rates at 20 random states under random forces (1e-11)",
            bool(max(np.max(np.abs(corrected / data["rates"] - 1)), np.max(np.abs(right / data["rates"] - 1))) < 1e-11),
        ),
        (f"(49) as printed misses every one of them, by {missed:.2g} or more", bool(missed > 1e-3)),
        (
            "on the slope omega is constant, to round-off, although the points rise and fall",
            bool(np.max(np.abs(xi[:, 1] - xi[0, 1])) < round_off and np.ptp(xi[:, 0]) > 1),
        ),
        (
            f"the paths are those of the closed form, at order 2: {data['errors'][0]:.0e} m, slope {-slope[0]:.2f}",
            bool(np.all(np.abs(slope + 2) < 0.1)),
        ),
        (
            f"they drift sideways by g/(2 omega) a second, {_drift(q):.4f} m/s over two whole turns (1 %)",
            abs(_drift(q) / (SYSTEM.gravity / (2 * RATES[1])) - 1) < 0.01,
        ),
    ]


def _rates(g: np.ndarray, data: dict[str, Any]) -> np.ndarray:
    """G^-1 (Z_1, Z_2), Z_1 = sin A_x - cos A_y, Z_2 = A_theta."""
    theta, (ax, ay, turning) = data["states"][:, 0], data["forces"].T
    z = np.stack([np.sin(theta) * ax - np.cos(theta) * ay, turning], axis=1)
    return np.linalg.solve(g, z[:, :, None])[:, :, 0]


def _drift(q: np.ndarray) -> float:
    turn = 4 * np.pi / RATES[1]
    return float(np.interp(turn, np.linspace(0, TIME, len(q)), q[:, 1]) - q[0, 1]) / turn
