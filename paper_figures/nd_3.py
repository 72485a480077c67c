"""[ND] figure 3: the Chaplygin sleigh

A rigid body on two sliding posts (circles) and one knife edge at A (bold): the axes xi and eta of the body start at A,
xi goes through the mass centre C at the distance a; theta is the angle from x to xi. Directions, contact and a are the
catalogue's at this q. Right a motion by the discrete Hamel scheme, tau = 1/2: the edge at A (blue) never moves
sideways, which the mass centre C (vermillion) and the posts (grey) do.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, VERMILLION, style
from discrete_hamel.systems._blocks import outlines

from .drawings import angle, arrow, blank, dot, length, letter, line
from .pictures import mosaic

SIZES = {"mass": 1.0, "inertia": 0.7, "offset": 0.4}
SLEIGH = dh.systems.ChaplyginSleigh(**SIZES)
MASS, INERTIA, A = SIZES.values()
TURNING = INERTIA + MASS * A**2
DRAWN = (0.5, 1.15, 0.75)  # theta, x, y
HULL = np.array([(-0.28, 0.1), (0.15, 0.42), (0.95, 0.5), (1.12, 0.28), (1.12, -0.28), (0.95, -0.5), (0.15, -0.42)])
POSTS = np.array([(0.9, 0.34), (0.9, -0.34)])  # in the body: only for the eye
START, XI = (2.0, 1.6, 0.0), (0.25, -1.0)
H, TIME = 0.01, 8.0
COLUMN = True
PARAMETERS: dict[str, Any] = SIZES | {"drawn": DRAWN, "q": START, "xi": XI, "h": H, "time": TIME}


def compute(fast: bool) -> dict[str, Any]:
    run, finer = (dh.simulate(SLEIGH, START, XI, h=H / k, steps=round(TIME / H) * k) for k in (1, 2))
    rng = np.random.default_rng(2)
    q, xi = rng.uniform(-2, 2, (30, 3)), rng.uniform(-2, 2, (30, 2))
    return {
        "frame": np.asarray(SLEIGH.frame(jnp.array(DRAWN))),
        "t": run.t,
        "q": run.q,
        "q finest": finer.q,
        "places": q,
        "velocities": xi,
        "laws": np.asarray(jax.jit(jax.vmap(_laws))(q, xi)),
        "masses": np.asarray(jax.jit(jax.vmap(_masses))(q, xi)),
    }


def _laws(q: Array, free: Array) -> Array:
    """p1, p2 and their rates by the library."""
    xi = jnp.concatenate([free, jnp.zeros(1)])
    rate = jax.jvp(lambda q, xi: dh.momentum(SLEIGH, q, xi), (q, xi), dh.vector_field(SLEIGH, q, xi))[1]
    return jnp.stack([dh.momentum(SLEIGH, q, xi)[:2], rate[:2]])


def _masses(q: Array, free: Array) -> Array:
    """Angular momentum about A and momentum along xi of two points with the sleigh's mass, centre and inertia."""

    def places(q: Array) -> Array:
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        half = jnp.sqrt(INERTIA / MASS)
        return q[None, 1:] + jnp.stack([A * jnp.stack([c, s]) + k * half * jnp.stack([-s, c]) for k in (1, -1)])

    c, s = jnp.cos(q[0]), jnp.sin(q[0])
    rates = jax.jvp(places, (q,), (jnp.stack([free[0], c * free[1], s * free[1]]),))[1]
    arms = places(q) - q[None, 1:]
    about = jnp.sum(arms[:, 0] * rates[:, 1] - arms[:, 1] * rates[:, 0]) * MASS / 2
    return jnp.stack([about, jnp.sum(rates @ jnp.stack([c, s])) * MASS / 2])


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["sleigh", "path"]], size=(7.4, 3.2), width_ratios=[1.1, 1])
        _sleigh(axes["sleigh"], data)
        _path(axes["path"], data)
    return drawing


def _placed(q: Any, points: np.ndarray) -> np.ndarray:
    """Points of the body in the plane."""
    return outlines.planar(q[0], q[1], q[2], points)


def _body(ax: Any, q: Any, size: float, width: float, **looks: Any) -> None:
    """Hull, edge and posts."""
    ax.fill(
        *_placed(q, size * HULL).T,
        **{"facecolor": "#eef3f7", "edgecolor": GREY, "linewidth": 0.7} | looks,
    )
    edge = _placed(q, size * np.array([(-0.16, 0.0), (0.16, 0.0)]))
    ax.plot(*edge.T, color=BLACK, linewidth=width, solid_capstyle="round")
    posts = _placed(q, size * POSTS)
    ax.plot(*posts.T, "o", color=GREY, markersize=1.8 * width, markerfacecolor="white")


def _sleigh(ax: Any, data: dict[str, Any]) -> None:
    theta, place = DRAWN[0], np.array(DRAWN[1:])
    along, across = data["frame"][1:, 1], data["frame"][1:, 2]
    _body(ax, DRAWN, 1.0, 4.0)
    centre = place + A * along
    line(ax, place, place + [0.85, 0], linestyle=":")
    angle(ax, place, 0.66, 0.0, theta, r"$\theta$", 1.13, GREEN)
    arrow(ax, place, place + 1.5 * along, r"$\xi$", (6, 5), BLUE)
    arrow(ax, place, place + 0.95 * across, r"$\eta$", (-7, 4), BLUE)
    below = -0.2 * across
    length(ax, place + below, centre + below, "$a$", (5, -8))
    line(ax, centre, centre + 1.1 * below)
    line(ax, place, place + 1.1 * below)
    dot(ax, centre, "$C$", (-4, 10), VERMILLION)
    dot(ax, place, "$A$", (-13, 6))
    letter(ax, place, "$(x, y)$", (-6, -22))
    arrow(ax, (0, 0), (2.75, 0), "$x$", (7, 0))
    arrow(ax, (0, 0), (0, 2.1), "$y$", (0, 7))
    letter(ax, (0, 0), "$O$", (-8, -6))
    blank(ax, (-0.2, 2.95, -0.2, 2.35))


def _path(ax: Any, data: dict[str, Any]) -> None:
    q = data["q"]
    theta = q[:, 0]
    centre = q[:, 1:] + A * np.stack([np.cos(theta), np.sin(theta)], axis=1)
    posts = np.array([_placed(row, POSTS * 0.8) for row in q])
    for k in (0, 1):
        ax.plot(*posts[:, k].T, color=GREY, linewidth=0.6)
    ax.plot(*centre.T, color=VERMILLION, linewidth=1.1, label="$C$")
    ax.plot(*q[:, 1:].T, color=BLUE, linewidth=1.6, label="$A$")
    for k in np.linspace(0, len(q) - 1, 5).astype(int):
        _body(ax, q[k], 0.8, 2.0, alpha=0.6, zorder=1)
    ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1, ncols=2)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    theta, plane = DRAWN[0], data["frame"][1:, 1:]
    turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    p, rates = data["laws"][:, 0], data["laws"][:, 1]
    p1, p2 = p.T
    wanted = np.stack([-A * p1 * p2 / TURNING, MASS * A * p1**2 / TURNING**2], axis=1)
    law, same = float(np.max(np.abs(rates - wanted))), float(np.max(np.abs(p - data["masses"])))
    places = (("A", (0.0, 0.0)), ("C", (A, 0.0)), ("post", POSTS[0]))
    sideways = {name: _across(data["q"], np.asarray(place), H) for name, place in places}
    ratio = sideways["A"] / _across(data["q finest"], np.zeros(2), H / 2)
    chord, middle = np.diff(data["q"], axis=0), (data["q"][1:, 0] + data["q"][:-1, 0]) / 2
    step = float(np.max(np.abs(chord[:, 2] * np.cos(middle) - chord[:, 1] * np.sin(middle))))
    return [
        (
            "xi and eta, the second and third field of the frame, are x and y turned by theta (1e-15)",
            bool(np.allclose(plane, turn, rtol=0, atol=1e-15)),
        ),
        (
            "p1 is the angular momentum about A and p2 the momentum along xi: those of two mass points with its "
            f"mass, centre and inertia, in 30 motions ({same:.0e})",
            same < 1e-13,
        ),
        (f"the library's momentum equations are (19) ({law:.0e})", law < 1e-13),
        (f"no step moves the edge sideways ({step:.0e} m)", step < 1e-13),
        (
            f"by differences of its path A has no velocity across the blade but O(h^2) ({sideways['A']:.0e} m/s, a "
            f"quarter at h/2: {ratio:.2f}); C and the posts have {sideways['C']:.2f} and {sideways['post']:.2f} m/s",
            abs(ratio - 4) < 0.2 and min(sideways["C"], sideways["post"]) > 0.1,
        ),
    ]


def _across(q: np.ndarray, place: np.ndarray, h: float) -> float:
    """Greatest velocity along eta of the body's point (xi, eta), by centred differences of where it is."""
    at = np.array([_placed(row, place[None])[0] for row in q])
    v = (at[2:] - at[:-2]) / (2 * h)
    theta = q[1:-1, 0]
    return float(np.max(np.abs(-np.sin(theta) * v[:, 0] + np.cos(theta) * v[:, 1])))
