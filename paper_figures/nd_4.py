"""[ND] figure 4: phase portrait of the Chaplygin sleigh

Arrows: the momentum equations (19) as the library has them, a > 0 (dots: at rest). Grey lines: nodal momenta of the
discrete Hamel scheme, tau = 1/2, from beside the negative p2 axis. The solution curves are ellipses, and the positive
p2 axis attracts them all. Two circles of initial momenta are carried along for 2 s (filled): where p2 < 0 the flow
expands areas, where p2 > 0 it contracts them; it keeps them if and only if a = 0.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, VERMILLION, style

from .pictures import mosaic

SIZES = {"mass": 1.0, "inertia": 0.7, "offset": 0.4}
SLEIGH = dh.systems.ChaplyginSleigh(**SIZES)
MASS, INERTIA, A = SIZES.values()
TURNING = INERTIA + MASS * A**2
WIDTH = float(np.sqrt(TURNING / MASS))  # p1 over p2 of the ellipses' semi-axes
LEVELS = (0.5, 1.0, 1.5, 2.0, 2.5)
H, OFF = 0.02, 1e-2
RADIUS = 0.35  # of the disk of initial momenta that is carried along
CARRY = 2.0  # s
CIRCLES = {"down": (0.0, -1.35), "up": (0.55, 1.0)}
COLUMN = True
PARAMETERS: dict[str, Any] = SIZES | {"h": H, "levels": LEVELS, "disk": RADIUS, "carried": CARRY}


def compute(fast: bool) -> dict[str, Any]:
    grid = np.linspace(-2, 2, 17)
    p = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    arcs = [_arc(level, side) for level in LEVELS for side in (1, -1)]
    patches = {f"patch {name} {k}": _carried(at, k) for name, at in CIRCLES.items() for k in (1, 2)}
    balanced = dh.systems.ChaplyginSleigh(MASS, INERTIA, 0.0)
    return {
        "p": p,
        "rate": np.asarray(jax.jit(jax.vmap(_rate))(p)),
        "arcs": np.array(arcs),
        **patches,
        "divergence": np.array([dh.divergence(SLEIGH, [0.0] * 3, [0.3, v]) for v in (-1.5, -0.5, 0.5, 1.5)]),
        "condition": np.array(
            [np.max(np.abs(dh.measure_condition(sleigh, [0.0] * 3))) for sleigh in (SLEIGH, balanced)]
        ),
        "spectra": np.array([_spectrum(v) for v in (-1.0, 1.0)]),
    }


def _rate(p: Array) -> Array:
    """p' by the library."""
    xi = jnp.stack([p[0] / TURNING, p[1] / MASS, 0.0])
    return dh.hamel_force(SLEIGH, jnp.zeros(3), xi)[:2]


_slopes = jax.jit(jax.jacfwd(_rate))


def _spectrum(p2: float) -> np.ndarray:
    """Eigenvalues of the momentum flow at the equilibrium (0, p2)."""
    return np.sort(np.linalg.eigvals(np.asarray(_slopes(jnp.array([0.0, p2])))))


def _arc(level: float, side: int) -> np.ndarray:
    """Nodal momenta from beside (0, -level), off by OFF, until as near to (0, level)."""
    time = 2 * np.arccosh(1 / OFF) * TURNING / (A * level)
    start = (side * OFF * level * WIDTH / TURNING, -level * np.sqrt(1 - OFF**2) / MASS)
    steps = round(time / H)
    p = dh.simulate(SLEIGH, [0.0] * 3, start, h=H, steps=steps).p
    return p[np.linspace(0, steps, 201).round().astype(int)]


def _circle(centre: Any) -> np.ndarray:
    turn = np.linspace(0, 2 * np.pi, 181)[:-1]
    return np.asarray(centre) + RADIUS * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _carried(centre: Any, halves: int) -> np.ndarray:
    """The circle of momenta about `centre` after the time CARRY, in steps of H or H/2."""
    xi = _circle(centre) / [TURNING, MASS]
    steps = round(CARRY / H) * halves
    runs = dh.ensemble(SLEIGH, np.zeros((len(xi), 3)), xi, h=H / halves, steps=steps, save_every=steps)
    return np.asarray(runs.p)[:, -1]


def _flow(p: np.ndarray, t: float) -> np.ndarray:
    """(19) solved: p2 = P tanh(u), p1 = P sqrt((I + m a^2)/m) / cosh(u), u' = a P/(I + m a^2); p a time t later."""
    level = np.hypot(p[:, 0] / WIDTH, p[:, 1])
    cosh, sinh = np.cosh(A * level / TURNING * t), np.sinh(A * level / TURNING * t)
    slower = cosh + p[:, 1] / level * sinh
    return np.stack([p[:, 0] / slower, (p[:, 1] * cosh + level * sinh) / slower], axis=1)


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["momenta"]], size=(4.6, 4.6))
        ax = axes["momenta"]
        for arc in data["arcs"]:
            ax.plot(*arc.T, color=GREY, linewidth=0.7, zorder=1)
        size = np.linalg.norm(data["rate"], axis=1)
        moving = size > 1e-12
        p = data["p"]
        # The length tells the speed, but less than in proportion, so that slow arrows are still seen.
        arrows = data["rate"][moving] * (0.25 * np.sqrt(size[moving] / size.max()) / size[moving])[:, None]
        looks = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.0035, "headwidth": 4.5, "pivot": "mid"}
        ax.quiver(*p[moving].T, *arrows.T, color=BLACK, **looks, zorder=3)
        ax.plot(*p[~moving].T, ".", color=BLACK, markersize=2.5, zorder=3)
        for name, color in (("down", VERMILLION), ("up", BLUE)):
            ax.plot(*np.vstack([_circle(CIRCLES[name]), _circle(CIRCLES[name])[:1]]).T, color=color, linewidth=1.2)
            ax.fill(*data[f"patch {name} 1"].T, color=color, alpha=0.35, linewidth=0, zorder=2)
        ax.set(xlabel="$p_1$ [kg m$^2$/s]", ylabel="$p_2$ [kg m/s]", aspect="equal", xlim=(-2.25, 2.25))
        ax.set(ylim=(-2.25, 2.25), xticks=range(-2, 3), yticks=range(-2, 3))
        ax.grid(visible=False)
    return drawing


def _area(points: np.ndarray) -> float:
    x, y = points.T
    return 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    p1, p2 = data["p"].T
    wanted = np.stack([-A * p1 * p2 / TURNING, MASS * A * p1**2 / TURNING**2], axis=1)
    law = float(np.max(np.abs(data["rate"] - wanted)))
    arcs = data["arcs"]
    level = np.hypot(arcs[..., 0] / WIDTH, arcs[..., 1])
    ellipse = float(np.max(np.abs(level / level[:, :1] - 1)))
    ends = np.abs(arcs[:, -1, 1] / -arcs[:, 0, 1] - 1)
    first = _area(_circle((0.0, 0.0)))
    areas = {name: _area(data[f"patch {name} 1"]) / first for name in CIRCLES}
    exact = {name: _flow(_circle(at), CARRY) for name, at in CIRCLES.items()}
    miss = [max(float(np.max(np.abs(data[f"patch {n} {k}"] - exact[n]))) for n in CIRCLES) for k in (1, 2)]
    slope = float(np.log2(miss[0] / miss[1]))
    spread = data["divergence"] + A * MASS * np.array([-1.5, -0.5, 0.5, 1.5]) / TURNING
    down, up = data["spectra"]
    rate = A / TURNING
    return [
        (f"the arrows are (19) ({law:.0e}), at rest on the p2 axis and nowhere else", _at_rest(data) and law < 1e-13),
        (f"the curves are ellipses of constant energy (1e-13: {ellipse:.0e})", ellipse < 1e-13),
        (
            "every one comes from the negative p2 axis and is drawn to the positive one, at the same distance from 0",
            bool(np.all(ends < OFF**2) and np.all(arcs[:, -1, 1] > 0)),
        ),
        (
            "at (0, 1) the linearized flow has the eigenvalues 0 and -a/(I + m a^2), at (0, -1) 0 and +a/(I + m a^2)",
            bool(np.allclose(up, [-rate, 0], atol=1e-14) and np.allclose(down, [0, rate], atol=1e-14)),
        ),
        (
            "its divergence is -a p2/(I + m a^2) (1e-12)",
            bool(np.max(np.abs(spread)) < 1e-12),
        ),
        (
            f"in 2 s the lower circle's area grows to {areas['down']:.2f} and the upper's shrinks to {areas['up']:.2f}",
            areas["down"] > 1 > areas["up"],
        ),
        (
            f"both are carried as by the closed solution (tanh, 1/cosh), at order 2: slope {slope:.2f}",
            abs(slope - 2) < 0.1,
        ),
        (
            "no smooth measure is kept for a > 0 (condition (15)), but for a = 0",
            bool(data["condition"][0] > 0.1 and data["condition"][1] < 1e-14),
        ),
    ]


def _at_rest(data: dict[str, Any]) -> bool:
    """Whether exactly the points with p1 = 0 are at rest."""
    return bool(np.all((np.linalg.norm(data["rate"], axis=1) < 1e-13) == (np.abs(data["p"][:, 0]) < 1e-13)))
