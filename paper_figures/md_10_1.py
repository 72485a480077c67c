"""[MD] figure 10.1: the sphere on a surface of revolution

A cross-section: the surface, the dotted curve (a(s), z(s)) that the ball's centre is confined to, by its arc length s,
and at the centre the unit vectors eta along the curve, beta off the surface, tau into the page; phi is the angle from
the vertical to beta. [MD] draws a surface of no particular shape; here phi = 0.75 sin(1.3 s + 0.7), the curve by
quadrature, and axes, contact and brackets are the library's for that profile.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, PURPLE, VERMILLION, style

from .drawings import angle, arrow, blank, dot, length, letter, line
from .hoops import ball
from .pictures import mosaic

WAVE = (1.25, 1.15, 0.75, 1.3, 0.7)  # a and z at s = 0, and phi(s) = 0.75 sin(1.3 s + 0.7)
GAUSS = np.polynomial.legendre.leggauss(24)  # on (-1, 1)


def slope_angle(s: Array, wave: Any) -> Array:
    """phi(s)."""
    _, _, size, number, phase = wave
    return size * jnp.sin(number * s + phase)


def wavy(s: Array, wave: Any) -> Array:
    """(a, z), the integral of (cos phi, sin phi) by Gauss's formula, exact to round-off at these lengths."""
    phi = jax.vmap(lambda x: slope_angle(s * (1 + x) / 2, wave))(jnp.asarray(GAUSS[0]))
    weights = jnp.asarray(GAUSS[1] / 2)
    return jnp.stack([wave[0] + s * weights @ jnp.cos(phi), wave[1] + s * weights @ jnp.sin(phi)])


def trough(s: Array, place: Any) -> Array:
    """A round trough, the profile of the run that is compared."""
    return jnp.stack([place + jnp.sin(s), 1 - jnp.cos(s)])


BALL: dict[str, Any] = {"mass": 1.1, "inertia": 0.31, "radius": 0.4, "gravity": 9.81}
SYSTEM = dh.systems.BallOnSurface(profile=wavy, params=WAVE, **BALL)
AT = 0.95  # s of the ball as drawn
PARAMETERS: dict[str, Any] = BALL | {"wave": WAVE, "s": AT, "run": {"profile": "trough", "a(0)": 1.2, "time": 0.8}}
START = ((1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0.3, 0.2), (0.5, 3.0, -1.3))
END = (0.255628068306, 0.605531944921, 2.927207668996, -1.436076494843)  # s, theta, Omega1, Omega2 after 0.8 s
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    s = np.linspace(-1.6, 2.4, 401)
    curve, (tau, beta, eta), bends = jax.jit(jax.vmap(_along))(jnp.asarray(s))
    return {
        "s": s,
        "curve": np.asarray(curve),
        "tau": np.asarray(tau),
        "beta": np.asarray(beta),
        "eta": np.asarray(eta),
        "bends": np.asarray(bends),
        "brackets": np.asarray(jax.jit(jax.vmap(_brackets))(jnp.asarray(s[::25]))),
        "ends": np.array([_end(steps) for steps in (100, 200, 400)]),
    }


def _along(s: Array) -> tuple[Array, tuple[Array, Array, Array], Array]:
    """(a, z), the axes at theta = 0, and the two forms of phi'."""
    return SYSTEM.curve(s), SYSTEM.axes(s, jnp.zeros(())), _bends(s)


def _bends(s: Array) -> Array:
    """phi' and a' z'' - z' a''."""
    (da, dz), (dda, ddz) = jax.jvp(SYSTEM.slope, (s,), (jnp.ones_like(s),))
    return jnp.stack([jax.grad(lambda s: slope_angle(s, WAVE))(s), da * ddz - dz * dda])


def _brackets(s: Array) -> Array:
    """[gamma1, gamma2], [kappa, gamma1], [kappa, gamma2] by autodiff of the library's frame, and as in (10.10)-(10.12).

    Of each the angular velocity nu in W' = A(nu) W, at a turned ball and at theta = 0.7.
    """
    turn = jnp.asarray([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.8, -0.6]])
    q = jnp.concatenate([turn.reshape(9), jnp.stack([s, jnp.asarray(0.7)])])

    def bracket(i: int, j: int) -> Array:
        fields = [lambda q, k=k: SYSTEM.frame(q)[:, k] for k in (i, j)]
        rate = jax.jvp(fields[1], (q,), (fields[0](q),))[1] - jax.jvp(fields[0], (q,), (fields[1](q),))[1]
        hat = rate[:9].reshape(3, 3) @ turn.T
        return jnp.stack([hat[2, 1], hat[0, 2], hat[1, 0]])

    tau, beta, eta = SYSTEM.axes(s, q[10])
    (a, _), (_, dz), r = SYSTEM.curve(s), SYSTEM.slope(s), SYSTEM.radius
    bend = _bends(s)[0]
    printed = [-(a + r * dz) * tau, -(1 + r * bend) * eta, (a * (1 + r * bend) + r * dz) * beta]
    return jnp.stack([jnp.stack([bracket(1, 2), bracket(0, 1), bracket(0, 2)]), jnp.stack(printed)])


def _end(steps: int) -> np.ndarray:
    system = dh.systems.BallOnSurface(profile=trough, params=1.2, **BALL)
    run = dh.simulate(system, *START, h=0.8 / steps, steps=steps)
    return np.array([*run.q[-1, 9:], *run.xi[-1, 1:3]])


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["section"]], size=(5.6, 3.9))
        ax = axes["section"]
        k = int(np.argmin(np.abs(data["s"] - AT)))
        start = int(np.argmin(np.abs(data["s"])))
        curve, beta, eta = data["curve"], data["beta"][:, [0, 2]], data["eta"][:, [0, 2]]
        surface, centre, r = curve - SYSTEM.radius * beta, curve[k], SYSTEM.radius
        surface, curve = surface[surface[:, 0] >= 0], curve[curve[:, 0] >= 0]
        ax.fill_between(surface[:, 0], surface[:, 1], -0.14, color="#f1efe9", zorder=0)
        ax.plot(*surface.T, color=BLACK, linewidth=1.3)
        ax.plot(*curve.T, color=BLUE, linewidth=1.1, linestyle=":")
        contact = centre - r * beta[k]
        ball(ax, centre, r, contact)
        letter(ax, (centre + contact) / 2, "$r$", (8, 2), BLUE)
        ax.plot(*data["curve"][start : k + 1].T, color=BLUE, linewidth=1.6)
        dot(ax, data["curve"][start], "$s = 0$", (-4, 10), BLUE)
        letter(ax, data["curve"][start + (k - start) // 3], "$s$", (-3, 9), BLUE)
        arrow(ax, centre, centre + 0.62 * eta[k], r"$\eta$", (8, 0), VERMILLION)
        arrow(ax, centre, centre + 0.62 * beta[k], r"$\beta$", (-6, 7), VERMILLION)
        line(ax, centre, centre + [0, 0.75], linestyle=":")
        angle(ax, centre, 0.42, np.pi / 2, np.pi / 2 + float(slope_angle(jnp.asarray(AT), WAVE)), r"$\phi$", 1.2)
        _into_the_page(ax, centre)
        length(ax, (0, centre[1]), centre, "$a$", (-30, 7), GREEN)
        length(ax, (centre[0], 0), centre, "$z$", (-7, -34), PURPLE)
        arrow(ax, (-0.2, 0), (3.45, 0), r"$\epsilon_1$", (-2, 9))
        arrow(ax, (0, -0.14), (0, 2.65), r"$\epsilon_3$", (10, -4))
        letter(ax, (surface[-20][0], surface[-20][1]), "surface", (-4, -14), fontsize=8)
        letter(ax, (curve[-25][0], curve[-25][1]), "$(a(s), z(s))$", (6, 13), BLUE, fontsize=8)
        blank(ax, (-0.25, 3.5, -0.2, 2.75))
    return drawing


def _into_the_page(ax: Any, at: np.ndarray) -> None:
    ax.plot(*at, "o", color=VERMILLION, markersize=7, markerfacecolor="white", zorder=6)
    ax.plot(*at, "x", color=VERMILLION, markersize=4, zorder=7)
    letter(ax, at, r"$\tau$", (12, -1), VERMILLION)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    curve, beta, eta, s = data["curve"], data["beta"], data["eta"], data["s"]
    chord = np.gradient(curve, s, axis=0)
    tangent = float(np.max(np.abs(chord - eta[:, [0, 2]])[2:-2]))
    unit = [np.sum(eta**2, axis=1) - 1, np.sum(eta * beta, axis=1), np.cross(eta, data["tau"]) - beta]
    off = max(float(np.max(np.abs(u))) for u in unit)
    surface = curve - SYSTEM.radius * beta[:, [0, 2]]
    inside = (s > -1.4) & (s < 2.2)
    nearest = np.linalg.norm(curve[inside][:, None] - surface[None], axis=2).min(axis=1)
    bends = float(np.max(np.abs(data["bends"][:, 0] - data["bends"][:, 1])))
    brackets = float(np.max(np.abs(data["brackets"][:, 0] - data["brackets"][:, 1])))
    misses = data["ends"] - END
    slope = float(np.log2(np.linalg.norm(misses[1]) / np.linalg.norm(misses[2])))
    better = float(np.max(np.abs((4 * misses[2] - misses[1]) / 3)))
    return [
        (f"eta is a unit vector, beta = eta x tau and across it ({off:.0e})", off < 1e-14),
        ("eta is the direction of the dotted curve: it is by arc length (differences, 1e-4)", tangent < 1e-4),
        (
            "the ball touches the surface at centre - r beta and nowhere cuts it (1e-12 m)",
            bool(np.max(np.abs(nearest - SYSTEM.radius)) < 1e-12),
        ),
        (f"phi, the angle of beta, has phi' = a' z'' - z' a'' ({bends:.0e})", bends < 1e-12),
        (
            f"autodiff of the frame gives the brackets (10.10)-(10.12) ({brackets:.0e}),"
            " the last as (a (1 + r phi') + r z') beta",
            brackets < 1e-12,
        ),
        (
            "in a round trough the ball is after 0.8 s where a separate DOP853 run, tabulated, has it: order 2, "
            f"slope {slope:.2f}, and {better:.0e} off by extrapolation (1e-6)",
            abs(slope - 2) < 0.1 and better < 1e-6,
        ),
    ]
