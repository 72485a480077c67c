"""[ND] figure 2: the geometry of the rolling disk

(x, y) is the contact, theta the angle between the disk and the vertical, phi the heading, psi the self-rotation; drawn
from the catalogue's attitude for these angles. Right a motion of the disk by the discrete Hamel scheme, tau = 1/2: phi
and psi are cyclic and yet their momenta p1 and p2 are not kept. What is kept are two other momenta, along fields
eta1(theta), eta2(theta) that the library finds from the disk alone (straight lines, in units of their first values).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, VERMILLION, style

from . import space
from .drawings import blank
from .pictures import mosaic
from .spheres import view

SIZES = {"mass": 1.0, "radius": 1.0, "inertia_diameter": 0.25, "inertia_axis": 0.5, "gravity": 9.8}
DISK, ON_ROTATIONS = dh.systems.RollingDisk(**SIZES), dh.systems.RollingDiskOnRotations(**SIZES)
R, A, TURNING = 1.0, 0.25, 1.5  # m R^2 + B
DRAWN = (0.42, 0.55, 0.95, 1.5, 1.15)  # theta, phi, psi, x, y
START, XI = (0.3, 0.0, 0.0, 0.0, 0.0), (0.1, 0.6, 3.0)
H, TIME = 0.005, 6.0
PARAMETERS: dict[str, Any] = SIZES | {"drawn": DRAWN, "q": START, "xi": XI, "h": H, "time": TIME}


def compute(fast: bool) -> dict[str, Any]:
    fields = dh.hidden_momenta(DISK, [0.0] * 5, between=(-1.0, 1.0))
    runs = [dh.simulate(DISK, START, XI, h=H / k, steps=round(TIME / H) * k, save_every=k) for k in (1, 2)]
    rng = np.random.default_rng(1)
    places = rng.uniform(-0.9, 0.9, (40, 5))
    return {
        "attitude": np.asarray(ON_ROTATIONS.attitude(*DRAWN[:3])),
        "t": runs[0].t,
        "theta": runs[0].q[:, 0],
        "p": runs[0].p[:, 1:],
        "moved": np.asarray(jax.jit(jax.vmap(_slipping))(places, rng.normal(size=(40, 3)))),
        **{f"kept {k}": np.asarray(fields.along(run)) for k, run in zip((1, 2), runs, strict=True)},
        **{
            f"miss {k}": run.p[:, 1:] - _momenta(run.q[:, 0], run.p[0, 1:]) for k, run in zip((1, 2), runs, strict=True)
        },
    }


def _slipping(q: Array, free: Array) -> Array:
    """Velocity of the disk's point at the contact, and the height of the contact, from the attitude as drawn."""

    def centre(q: Array) -> Array:
        up = jnp.array([-jnp.sin(q[1]) * jnp.sin(q[0]), jnp.cos(q[1]) * jnp.sin(q[0]), jnp.cos(q[0])])
        return jnp.stack([q[3], q[4], 0.0]) + R * up

    contact = ON_ROTATIONS.attitude(*q[:3]).T @ (jnp.stack([q[3], q[4], 0.0]) - centre(q))  # in the body

    def point(moved: Array) -> Array:
        return centre(moved) + ON_ROTATIONS.attitude(*moved[:3]) @ contact

    velocity = DISK.frame(q)[:, :3] @ free
    return jnp.concatenate([jax.jvp(point, (q,), (velocity,))[1], contact[2:]])


def _momenta(theta: np.ndarray, p: np.ndarray) -> np.ndarray:
    """p1, p2 at these leans by DOP853 of [QS] 6.5 (corrected): p1' = tan p1 - B p2/(m R^2 + B), p2' = -m R^2 p1/A."""
    from scipy.integrate import solve_ivp

    def rate(lean: float, p: np.ndarray) -> list[float]:
        return [np.tan(lean) * p[0] - (1 - SIZES["mass"] * R**2 / TURNING) * p[1], -SIZES["mass"] * R**2 / A * p[0]]

    # phi and psi have the momenta A phi' cos^2 + sin(theta) p2 and p2 themselves.
    s, c = np.sin(theta), np.cos(theta)
    first = [(p[0] - s[0] * p[1]) / c[0], p[1]]
    ends = (theta.min() - 1e-9, theta.max() + 1e-9)
    sides = [
        solve_ivp(rate, (theta[0], end), first, "DOP853", rtol=1e-11, atol=1e-12, dense_output=True).sol for end in ends
    ]
    p1, p2 = np.where(theta < theta[0], sides[0](theta), sides[1](theta))
    return np.stack([c * p1 + s * p2, p2], axis=1)


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic(
            [["disk", "momenta"], ["disk", "kept"]], size=(7.4, 3.7), width_ratios=[1.25, 1], height_ratios=[1.6, 1]
        )
        _disk(axes["disk"], data)
        ax = axes["momenta"]
        ax.plot(data["t"], data["p"][:, 0], color=BLUE, label=r"$p_1$, of $\varphi$")
        ax.plot(data["t"], data["p"][:, 1], color=VERMILLION, label=r"$p_2$, of $\psi$")
        ax.set(ylabel="$p$ [kg m$^2$/s]", xlim=(0, TIME))
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1, ncols=2)
        kept = data["kept 1"] / data["kept 1"][0]
        for i, (color, mark) in enumerate(((BLACK, "-"), (GREEN, "--"))):
            axes["kept"].plot(data["t"], kept[:, i], mark, color=color, label=rf"along $\eta_{i + 1}(\theta)$")
        axes["kept"].set(xlabel="$t$ [s]", ylabel="$p$, of its first value", xlim=(0, TIME), ylim=(0, 2))
        axes["kept"].legend(loc="upper left", ncols=2)
    return drawing


def _disk(ax: Any, data: dict[str, Any]) -> None:
    theta, phi, psi, x, y = DRAWN
    seen = view(-72, 24)
    turn = data["attitude"]
    heading = np.array([np.cos(phi), np.sin(phi), 0.0])
    up = np.array([-np.sin(phi) * np.sin(theta), np.cos(phi) * np.sin(theta), np.cos(theta)])
    contact = np.array([x, y, 0.0])
    centre = contact + R * up
    t = np.linspace(0, 2 * np.pi, 97)[:, None]
    space.floor(ax, (-0.3, 3.3, -0.3, 2.4), 0.3, seen)
    space.face(ax, centre + R * (np.cos(t) * turn[:, 0] + np.sin(t) * turn[:, 1]), seen, alpha=0.9, zorder=2)
    space.arrow(ax, (0, 0, 0), (3.2, 0, 0), seen, "$x$", (5, -7))
    space.arrow(ax, (0, 0, 0), (0, 2.3, 0), seen, "$y$", (-8, 3))
    space.arrow(ax, (0, 0, 0), (0, 0, 1.2), seen, "$z$", (-8, 0))
    for side in ((x, 0, 0), (0, y, 0)):
        space.curve(ax, [contact, side], seen, linestyle="--")
    space.curve(ax, [contact - 1.0 * heading, contact + 1.7 * heading], seen, color=GREEN, zorder=1)
    space.curve(ax, [contact, contact + [1.1, 0, 0]], seen, linestyle=":", color=BLACK, zorder=1)
    space.angle(ax, contact, [1, 0, 0], heading, 0.85, r"$\varphi$", seen, 1.13, GREEN)
    space.curve(ax, [contact, contact + [0, 0, 2.0]], seen, linestyle=":", color=BLACK, zorder=4)
    space.curve(ax, [contact, contact + 2.0 * up], seen, color=BLUE, zorder=4)
    space.angle(ax, contact, [0, 0, 1], up, 1.75, r"$\theta$", seen, 1.09, BLUE)
    mark = np.cos(psi) * up - np.sin(psi) * heading
    space.curve(ax, [centre, centre + R * mark], seen, color=VERMILLION, linewidth=1.4, zorder=4)
    space.angle(ax, centre, up, mark, 0.4, r"$\psi$", seen, 1.4, VERMILLION)
    ax.plot(*(seen[:2] @ contact), "o", color=BLACK, markersize=4, zorder=6)
    space.letter(ax, contact, "$(x, y)$", seen, (14, -10))
    ax.plot(*(seen[:2] @ (centre + R * mark)), "o", color=VERMILLION, markersize=4, zorder=6)
    space.letter(ax, centre + R * mark, "$P$", seen, (-9, 5), color=VERMILLION)
    blank(ax)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    theta, phi, psi, _, _ = DRAWN
    turn = data["attitude"]
    up = np.array([-np.sin(phi) * np.sin(theta), np.cos(phi) * np.sin(theta), np.cos(theta)])
    heading = np.array([np.cos(phi), np.sin(phi), 0.0])
    level = np.cross([0, 0, 1.0], turn[:, 2])
    angles = [
        np.arcsin(turn[2, 2]) - theta,
        np.arctan2(level[1], level[0]) - phi,
        np.arctan2(-turn[:, 1] @ heading, turn[:, 1] @ up) - psi,
    ]
    off = float(np.max(np.abs(angles)))
    slip, height = (float(np.max(np.abs(part))) for part in (data["moved"][:, :3], data["moved"][:, 3]))
    change = np.ptp(data["p"], axis=0) / np.abs(data["p"][0])
    kept = [np.ptp(data[f"kept {k}"], axis=0) for k in (1, 2)]
    slopes = np.log2(kept[0] / kept[1])
    along = [np.max(np.abs(data[f"miss {k}"])) for k in (1, 2)]
    lean = float(np.log2(along[0] / along[1]))
    return [
        (f"the attitude has the angles of the drawing: lean, heading, self-rotation ({off:.0e} rad)", off < 1e-14),
        (
            f"the point of the disk at (x, y) has no velocity, in 40 motions ({slip:.0e} m/s), and lies in its"
            f" plane ({height:.0e} m)",
            max(slip, height) < 1e-13,
        ),
        (
            f"p1 and p2 are not kept: they change by {100 * change[0]:.0f} and {100 * change[1]:.0f} per cent",
            bool(np.all(change > 0.05)),
        ),
        (
            f"the momenta along eta1(theta), eta2(theta) are, by the scheme to O(h^2): {kept[0].max():.0e} kg m^2/s, "
            f"slopes {slopes[0]:.2f}, {slopes[1]:.2f}",
            bool(np.all(np.abs(slopes - 2) < 0.1)),
        ),
        (
            "so p1 and p2 are functions of the lean alone, those of the linear equations [QS] 6.5 by DOP853: order 2, "
            f"slope {lean:.2f}",
            abs(lean - 2) < 0.1,
        ),
    ]
