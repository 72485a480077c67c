"""[MD] figure 11.1: the basketball on its hoop

Left the cross-section, to scale in cm, the hoop's plane grey: the ball's centre is v from the middle of the wire, psi
above the inner horizontal, a from the axis and z above the hoop. Right psi over time for balls that come down through
the inner horizontal with C1 = -40 rad/s and C2 = 1 rad/(s cm) at four speeds, by the discrete Hamel scheme, with the
turns around the hoop while below: each goes below the hoop and comes out again; below the dotted line it would leave
the hoop.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLUE, GREEN, GREY, PURPLE, VERMILLION, style

from .drawings import angle, arrow, blank, dot, length, letter, line
from .hoops import ball, disk, hoop
from .pictures import mosaic

BASKET = dh.systems.BasketballOnHoop()
LARGE = dh.systems.BasketballOnHoop(radius=0.8 * BASKET.hoop)
R, WIRE = BASKET.radius, BASKET.wire
U, V = BASKET.hoop + WIRE, R + WIRE
SPIN = (-40.0, 1.0)  # C1 in rad/s, C2 in rad/(s cm)
TURNS = {  # psi/pi where it turns, by Newton and Euler: psi' at the horizontal (rad/s), s below it, turns of the hoop
    -0.02: (-3.9756, 0.0649, 0.1169),
    -0.05: (-5.9087, 0.1156, 0.1834),
    -0.08: (-6.9403, 0.1733, 0.2333),
    -0.0994: (-7.3203, 0.2269, 0.2663),
}
PAIRS = (SPIN, (30.0, 0.5), (-20.0, 1.5))  # C1, C2 for which U is compared
LEAVES = -0.099467 * np.pi  # where the contact force vanishes at rest in psi
H, STEPS = 0.0005, 640
PSI = 0.3 * np.pi  # of the ball as drawn
PARAMETERS: dict[str, Any] = {
    "mass": BASKET.mass,
    "radius": R,
    "hoop": BASKET.hoop,
    "wire": WIRE,
    "gravity": BASKET.gravity,
    "C": SPIN,
    "speeds": [speed for speed, _, _ in TURNS.values()],
    "h": H,
}
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    runs = [_through(speed) for speed, _, _ in TURNS.values()]
    psi = np.linspace(-np.pi, np.pi, 41)
    bends = _all_bends(BASKET, jnp.array(PAIRS))
    spins = np.random.default_rng(3).uniform([-60.0, -2.0], [60.0, 2.0], (200, 2))
    return {
        "t": runs[0].t,
        "psi": np.array([run.q[:, 9] / V + np.pi / 2 for run in runs]),
        "around": np.array([run.q[:, 10] for run in runs]),
        "xi": np.array([run.xi[:, :3] for run in runs]),
        "angles": psi,
        "curve": np.asarray(jax.jit(jax.vmap(BASKET.curve))(V * (psi - np.pi / 2))),
        "bends": np.asarray(bends),
        "any spin": np.asarray(_second(BASKET, spins)),
        "large ball": np.asarray(_second(LARGE, spins)),
    }


def _through(speed: float) -> dh.Trajectory:
    """Down through the inner horizontal with psi' = speed."""
    start = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, -V * np.pi / 2, 0.0)
    return dh.simulate(BASKET, start, (speed * V / R, *SPIN), h=H, steps=STEPS)


def _second(ball: Any, spins: np.ndarray) -> Array:
    """U''(0) for each C1, C2."""
    return _all_bends(ball, jnp.asarray(spins))[:, 1]


@jax.jit
def _all_bends(ball: Any, spins: Array) -> Array:
    return jax.vmap(lambda pair: _bends(ball, pair))(spins)


def _bends(ball: Any, spins: Array) -> Array:
    """U'(0) and U''(0) from the library's acceleration at rest, as Omega1 and Omega2 change with psi."""
    r, v = ball.radius, ball.radius + ball.wire
    scale = -(ball.moment() + ball.mass * r**2) * v / r  # U' = scale v', v = (r + wire) psi' / r

    def rates(psi: Array, spins: Array, speed: Any) -> Array:
        q = jnp.concatenate([jnp.eye(3).reshape(9), jnp.stack([v * (psi - jnp.pi / 2), jnp.zeros(())])])
        return dh.vector_field(ball, q, jnp.concatenate([jnp.stack([speed]), spins, jnp.zeros(2)]))[1][:3]

    along = rates(jnp.zeros(()), spins, v / r)[1:]  # psi' = 1
    slope, bend = jax.jvp(lambda psi, c: scale * rates(psi, c, jnp.zeros(()))[0], (jnp.zeros(()), spins), (1.0, along))
    return jnp.stack([slope, bend])


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["section", "runs"]], size=(7.4, 3.5), width_ratios=[1.35, 1])
        _section(axes["section"])
        _runs(axes["runs"], data)
    return drawing


def _section(ax: Any) -> None:
    place = np.array([U, 0.0])
    centre = place + V * np.array([-np.cos(PSI), np.sin(PSI)])
    line(ax, (-U - 3, 0), (U + V + 1, 0))
    line(ax, (0, -V - 2), (0, 2 * V + 1), linestyle=(0, (8, 3, 1, 3)))
    hoop(ax, U, WIRE, V)
    disk(ax, (-U, 0), WIRE, facecolor="#dddddd", zorder=3)
    ball(ax, centre, R, centre + (place - centre) * R / V)
    length(ax, place, centre, "$v$", (7, 5), BLUE)
    angle(ax, place, 3.8, np.pi, np.pi - PSI, r"$\psi$", 1.45, VERMILLION)
    length(ax, (0, -V - 0.6), (U, -V - 0.6), f"$u = {U:.2f}$ cm", (0, -8))
    line(ax, place, place - [0, V + 1.4])
    length(ax, (0, centre[1]), centre, "$a$", (0, 7), GREEN)
    length(ax, (centre[0], 0), centre, "$z$", (-8, -8), PURPLE)
    dot(ax, centre)
    dot(ax, place)
    letter(ax, place, f"$v = {V:.2f}$\n$r = {R:.2f}$", (25, -26), BLUE, fontsize=9)
    arrow(ax, (0, 2 * V - 4), (0, 2 * V + 2), r"$\epsilon_3$", (10, -3))
    blank(ax, (-U - 3, U + V + 1, -V - 4, 2 * V + 3))


def _runs(ax: Any, data: dict[str, Any]) -> None:
    t = data["t"]
    for psi, (_, time, around), color in zip(
        data["psi"], TURNS.values(), (BLUE, GREEN, PURPLE, VERMILLION), strict=True
    ):
        shown = t < time + 0.02
        ax.plot(t[shown], np.degrees(psi[shown]), color=color)
        ax.annotate(
            f"{around:.2f} turns",
            (t[np.argmin(psi)], np.degrees(psi.min())),
            (6, -8),
            textcoords="offset points",
            ha="center",
            fontsize=7,
            color=color,
        )
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.axhline(np.degrees(LEAVES), color=GREY, linewidth=0.9, linestyle=":")
    ax.set(xlabel="$t$ [s]", ylabel=r"$\psi$ [deg]", ylim=(-20.5, 5), xlim=(0, 0.26))


def below(data: dict[str, Any], i: int) -> tuple[float, float, float, bool]:
    """Of run i: psi/pi at its turn, by a parabola; time below the horizontal, turns meanwhile, contact kept."""
    t, psi, around = data["t"], data["psi"][i], data["around"][i]
    k = int(np.argmin(psi))
    first, middle, last = psi[k - 1 : k + 2]
    least = middle - (first - last) ** 2 / (8 * (first - 2 * middle + last))
    back = float(np.interp(0.0, psi[k:], t[k:]))
    v, _, pivot = data["xi"][i].T
    force = (U - V * np.cos(psi)) * (R * pivot) ** 2 * np.cos(psi) + BASKET.gravity * np.sin(psi) - V * (v * R / V) ** 2
    return least / np.pi, back, abs(float(np.interp(back, t, around))) / (2 * np.pi), bool(np.all(force[t < back] > 0))


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    psi = data["angles"]
    place = np.stack([U - V * np.cos(psi), V * np.sin(psi)], axis=1)
    off = float(np.max(np.abs(data["curve"] - place)))
    inch, moment, turning = 2.54, BASKET.moment(), BASKET.moment() + BASKET.mass * R**2
    c1, c2 = np.array(PAIRS).T
    first = V * (BASKET.mass * BASKET.gravity + moment * c1 * c2)
    second = V * (c2**2 * (V * moment - BASKET.mass * R**2 * (U - V)) - (c1 * moment) ** 2 / ((U - V) * turning))
    found = [below(data, i) for i in range(len(TURNS))]
    wanted = [(turn, *numbers[1:]) for turn, numbers in TURNS.items()]
    misses = np.array([row[:3] for row in found]) - wanted
    return [
        (
            "the ball is 30 in around, the hoop 18 in inside, its wire 3/4 in: r, u, v = 12.1276, 23.8125, 13.0801 cm",
            bool(
                np.allclose([2 * np.pi * R, 2 * BASKET.hoop, 2 * WIRE], np.array([30, 18, 0.75]) * inch, rtol=1e-14)
                and np.allclose([R, U, V], [12.1276, 23.8125, 13.0801], rtol=0, atol=5e-5)
            ),
        ),
        (
            "v < 3u/5, so that U''(0) < 0 whatever the spin: for 200 pairs C1, C2; a ball nearly as large as the hoop "
            "has some with U''(0) > 0",
            bool(np.all(data["any spin"] < 0) and np.any(data["large ball"] > 0)),
        ),
        (f"a = u - v cos(psi), z = v sin(psi) ({off:.0e} cm)", off < 1e-12),
        (
            "the library's U'(0) is v (m g + J C1 C2), for three C1, C2 (1e-10 of it)",
            bool(np.allclose(data["bends"][:, 0], first, rtol=1e-10)),
        ),
        (
            "its U''(0) is v {-(C1 J)^2/((u - v)(J + m r^2)) + C2^2 [v J - m r^2 (u - v)]} (1e-10 of it)",
            bool(np.allclose(data["bends"][:, 1], second, rtol=1e-10) and np.all(second < 0)),
        ),
        (
            "four balls turn at psi/pi = "
            + ", ".join(f"{row[0]:.4f}" for row in found)
            + ", after which they come out: "
            "angle, time and turns around the hoop as by Newton and Euler (1e-4)",
            bool(np.max(np.abs(misses)) < 1e-4),
        ),
        ("they press on the hoop all the time they are below the horizontal", all(row[3] for row in found)),
    ]
