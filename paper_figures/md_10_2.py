"""[MD] figure 10.2: the sphere on a horizontal hoop

Above the cross-section: the hoop's wire, whose centre is u from the axis, and the dotted circle of radius v (of wire
and ball together) on which the ball's centre stays, s from its top outward. Below the hoop in space and the path of a
ball's centre by the discrete Hamel scheme over 8 s, from the empty dot to the filled one: fast enough it circles
inside, swinging about a steady motion, and presses on the hoop all the time.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLUE, GREEN, PURPLE, VERMILLION, style

from .drawings import angle, arrow, blank, dot, length, letter, line
from .hoops import ball, behind_torus, hoop, torus
from .pictures import mosaic
from .spheres import view

U, V, RADIUS = 2.0, 0.9, 0.4
BALL: dict[str, Any] = {"mass": 1.1, "inertia": 0.31, "radius": RADIUS, "gravity": 9.81}
SYSTEM = dh.systems.BallOnSurface(profile=dh.systems.balls_on_surfaces.hoop, params=(U, V), **BALL)
WIRE = U, V - RADIUS  # of the hoop itself
SEEN = view(-60, 38)
AT = 0.8  # rad, s/v of the ball as drawn
UNTURNED = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)
INSIDE, PIVOT = -0.8 * V, 8.0  # s and Omega2 of the steady motion
GIVEN = ((*UNTURNED, 0.6, 0.2), (0.5, 3.0, -1.3))
END = (1.681719371565, 0.622416233903, -0.201642622632, -1.403965036483)  # s, theta, Omega1, Omega2 after 0.8 s
PARAMETERS: dict[str, Any] = BALL | {"hoop": (U, V), "s": INSIDE, "Omega2": PIVOT, "v": 2.0, "h": 0.005}


def compute(fast: bool) -> dict[str, Any]:
    swinging, steady = (_circling(speed) for speed in (PARAMETERS["v"], 0.0))
    s = np.linspace(-1.4, 2.8, 43)
    curve, slopes, rates = (np.asarray(t) for t in jax.jit(jax.vmap(_along))(s, np.cos(9 * s), np.sin(7 * s)))
    return {
        "t": swinging.t,
        "q": swinging.q[:, 9:],
        "press": np.asarray(jax.jit(jax.vmap(_press))(swinging.q[:, 9], swinging.xi)),
        "steady": steady.q[:, 9],
        "s": s,
        "curve": curve,
        "slopes": slopes,
        "rates": rates,
        "ends": np.array([_end(steps) for steps in (100, 200, 400)]),
    }


def _circling(speed: float) -> dh.Trajectory:
    """8 s of circling inside, with s' = r speed at first: steady for 0.

    (m + J/r^2) s'' = -z' (m g + J Omega1 Omega2) + (J + m r^2) a a' Omega2^2 = 0 gives the spin Omega1.
    """
    angle = INSIDE / V
    a, turning = U + V * np.sin(angle), BALL["inertia"] + BALL["mass"] * RADIUS**2
    outward = turning * a * np.cos(angle) * PIVOT**2 / -np.sin(angle)
    spin = (outward - BALL["mass"] * BALL["gravity"]) / (BALL["inertia"] * PIVOT)
    start = (*UNTURNED, INSIDE, 0.0)
    return dh.simulate(SYSTEM, start, (speed, spin, PIVOT), h=PARAMETERS["h"], steps=1600)


def _end(steps: int) -> np.ndarray:
    run = dh.simulate(SYSTEM, *GIVEN, h=0.8 / steps, steps=steps)
    return np.array([*run.q[-1, 9:], *run.xi[-1, 1:3]])


def _turning(s: Array) -> Array:
    """phi' = a' z'' - z' a''."""
    (da, dz), (dda, ddz) = jax.jvp(SYSTEM.slope, (s,), (jnp.ones_like(s),))
    return da * ddz - dz * dda


def _press(s: Array, xi: Array) -> Array:
    """The contact force over m g, off the surface."""
    (a, _), (da, dz), along = SYSTEM.curve(s), SYSTEM.slope(s), RADIUS * xi[0]
    around = -RADIUS * xi[2]
    return (_turning(s) * along**2 + a * dz * around**2 + SYSTEM.gravity * da) / SYSTEM.gravity


def _along(s: Array, spin: Array, pivot: Array) -> tuple[Array, Array, Array]:
    """(a, z); phi' and z' - a phi'; and both sides of the adjoint equation, for a unit of s'."""
    (a, z), (da, dz), bend = SYSTEM.curve(s), SYSTEM.slope(s), _turning(s)
    q = jnp.concatenate([jnp.asarray(UNTURNED), jnp.stack([s, jnp.asarray(0.3)])])
    _, rate = dh.vector_field(SYSTEM, q, jnp.stack([1 / RADIUS, spin, pivot, 0.0, 0.0]))
    share = SYSTEM.inertia / (SYSTEM.inertia + SYSTEM.mass * RADIUS**2)
    sides = [rate[1], a**2 * rate[2] + 2 * a * da * pivot, U / V * pivot, -share * a / V * spin]
    return jnp.stack([a, z]), jnp.stack([bend, dz - a * bend]), jnp.stack(sides)


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["section"], ["space"]], size=(6.4, 6.2), height_ratios=[1, 1.15])
        _section(axes["section"])
        _space(axes["space"], data)
    return drawing


def _section(ax: Any) -> None:
    wire = V - RADIUS
    hoop(ax, U, wire, V)
    hoop(ax, -U, wire, V)
    line(ax, (0, -1.0), (0, 1.75), linestyle=(0, (8, 3, 1, 3)))
    place = np.array([U, 0])
    centre = place + V * np.array([np.sin(AT), np.cos(AT)])
    contact = place + wire * np.array([np.sin(AT), np.cos(AT)])
    ball(ax, centre, RADIUS, contact)
    top = place + [0, V]
    turn = np.linspace(0, AT, 31)
    ax.plot(*(place[:, None] + V * np.stack([np.sin(turn), np.cos(turn)])), color=VERMILLION, linewidth=2)
    dot(ax, top, "$s = 0$", (-12, 9), VERMILLION)
    letter(ax, place + V * np.array([np.sin(AT / 2.3), np.cos(AT / 2.3)]), "$s$", (0, 9), VERMILLION)
    length(ax, (0, 0), place, "$u$", (-6, 7))
    line(ax, place, top, linestyle=":")
    length(ax, place, centre, "$v$", (4, -11), BLUE)
    angle(ax, place, 0.3, np.pi / 2, np.pi / 2 - AT, "$s/v$", 1.35, VERMILLION)
    dot(ax, place)
    dot(ax, centre)
    length(ax, (0, centre[1]), centre, "$a$", (-40, 7), GREEN)
    length(ax, (centre[0], 0), centre, "$z$", (7, -10), PURPLE)
    line(ax, place, (3.2, 0))
    arrow(ax, (0, 1.3), (0, 1.85), r"$\epsilon_3$", (10, -2))
    blank(ax, (-3.1, 3.3, -1.1, 1.95))


def _space(ax: Any, data: dict[str, Any]) -> None:
    seen = SEEN
    torus(ax, *WIRE, seen)
    path = seen[:2] @ _path(data)
    ax.plot(*path, color=BLUE, linewidth=1.4, zorder=4)
    dot = {"color": BLUE, "markersize": 4.5, "zorder": 5}
    ax.plot(*path[:, :1], "o", markerfacecolor="white", **dot)
    ax.plot(*path[:, -1:], "o", **dot)
    letter(ax, path[:, 0], "$t = 0$", (16, -8), BLUE)
    letter(ax, path[:, -1], f"{data['t'][-1]:g} s", (13, 7), BLUE)
    blank(ax)
    ax.margins(0.03)


def _path(data: dict[str, Any]) -> np.ndarray:
    """The ball's centre in space."""
    s, theta = data["q"].T
    a, z = U + V * np.sin(s / V), V * np.cos(s / V)
    return np.stack([a * np.cos(theta), a * np.sin(theta), z])


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    angle = data["s"] / V
    place = np.stack([U + V * np.sin(angle), V * np.cos(angle)], axis=1)
    off = float(np.max(np.abs(data["curve"] - place)))
    bend, other = data["slopes"].T
    adjoint = float(np.max(np.abs(data["rates"][:, :2] - data["rates"][:, 2:])))
    swing, turns = data["q"][:, 0] / V, abs(data["q"][-1, 1]) / (2 * np.pi)
    still = float(np.max(np.abs(data["steady"] - INSIDE)))
    misses = data["ends"] - END
    slope = float(np.log2(np.linalg.norm(misses[1]) / np.linalg.norm(misses[2])))
    better = float(np.max(np.abs((4 * misses[2] - misses[1]) / 3)))
    return [
        (f"a = u + v sin(s/v), z = v cos(s/v) ({off:.0e} m)", off < 1e-14),
        (
            "phi' = -1/v, and z' - a phi' = +u/v everywhere (10.5 prints -u/v) (1e-14)",
            bool(np.max(np.abs(bend + 1 / V)) < 1e-14 and np.max(np.abs(other - U / V)) < 1e-14),
        ),
        (
            "the library's equations give dOmega1/ds = (u/v) Omega2 and d(a^2 Omega2)/ds = -J a Omega1/(v (J + m r^2))"
            f" ({adjoint:.0e})",
            adjoint < 1e-12,
        ),
        (
            f"the drawn ball goes round {turns:.1f} times inside, always pressing on the hoop: between "
            f"{data['press'].min():.1f} and {data['press'].max():.1f} times its weight",
            bool(np.all(data["press"] > 0) and swing.max() < 0 and swing.min() > -np.pi / 2 and turns > 2),
        ),
        ("nothing of its path is behind the hoop, as seen here", not np.any(behind_torus(_path(data), *WIRE, SEEN))),
        (
            f"without the swing it circles steadily, a relative equilibrium of the scheme: {still:.0e} m in 1600 steps"
            " (1e-12 sqrt(steps))",
            still < 1e-12 * np.sqrt(1600),
        ),
        (
            "another ball is after 0.8 s where a separate DOP853 run, tabulated, has it: order 2, "
            f"slope {slope:.2f}, and {better:.0e} off by extrapolation (1e-6)",
            abs(slope - 2) < 0.1 and better < 1e-6,
        ),
    ]
