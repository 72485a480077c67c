"""[QS] figure 6.3: a reduced trajectory of the sleigh with an oscillator

Place r of the sliding mass and momenta p1, p2 in the frame of (6.6)-(6.8), from r = 0: a closed curve, which p runs
along to and fro while r swings. Dots: the 200 nodes of a period, closed to round-off; dark while r > 0, light while r <
0. Grey: its projection, and the motions of four other initial p1. The frame is scaled by a power of J + m r^2, which
gives p1 its unit. Dotted in time: whole multiples of tau, half a period.
"""

from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, SKY, VERMILLION, style

from . import sleigh_oscillator as oscillator
from .pictures import mosaic

RATE, P1, P2 = 1.0, 1.5, 0.3
PARAMETERS: dict[str, Any] = oscillator.PARAMETERS | {
    "r'": RATE,
    "p1": P1,
    "p2": P2,
    "others": (0.6, 0.9, 1.2, 1.8),
    "steps": 200,
}
# p1 = (J + m r^2)^(1 - m / (2 (M + m))) theta'.
POWER = 1 - Fraction(oscillator.MASS) / (2 * Fraction(oscillator.TOTAL))
UNITS = {"r": "m", "p1": f"(kg m$^2$)$^{{{POWER}}}$/s", "p2": "kg m/s"}
RESTING = np.array([(0.7, -0.4), (1.5, 0.3), (-2.0, 1.0)])  # (p1, p2) with r = r' = 0
REFLECTIONS = {"(i)": (1, -1, 1), "(ii)": (-1, 1, -1)}  # of (r, p1, p2)


def compute(fast: bool) -> dict[str, Any]:
    start, steps = (RATE, P1, P2), PARAMETERS["steps"]
    found = oscillator.periodic(start, steps, 2)
    data: dict[str, Any] = {
        "t": found.run.t,
        **dict(zip(("r", "p1", "p2"), _reduced(found.run), strict=True)),
        "rate": np.asarray(found.run.xi)[:, 0],
        "energy": found.run.energy,
        "backward": _reduced(oscillator.simulate(start, -found.h, 2 * steps)),
        "straight": np.array(_straight()),
        "resting": np.array([_resting(p) for p in RESTING]),
        "equations": np.array(_equations()),
    }
    for i, p1 in enumerate(PARAMETERS["others"]):
        data[f"other_{i}"] = _reduced(oscillator.periodic((RATE, p1, P2), 100).run)
    signs = [np.array(signs) for signs in REFLECTIONS.values()]
    images = [oscillator.simulate(s[[0, 1, 2]] * np.array(start), found.h, steps) for s in signs]
    data["images"] = np.array([s[:, None] * _reduced(run) for s, run in zip(signs, images, strict=True)])
    sizes = np.array([50, 100, 200] if fast else [50, 100, 200, 400, 800])
    exact, half = oscillator.printed(start, found.run.t, half_period=True)
    data |= {"sizes": sizes, "period": np.array(2 * half), "printed": exact[:, [0, 2, 3]].T}
    errors = []
    for n in sizes:
        other = oscillator.periodic(start, int(n))
        at = oscillator.printed(start, other.run.t)[:, [0, 2, 3]].T
        errors.append((abs(other.period - 2 * half), np.max(np.abs(_reduced(other.run) - at))))
    return data | {"errors": np.array(errors)}


def _reduced(run: dh.Trajectory) -> np.ndarray:
    """r, p1, p2."""
    return np.stack([np.asarray(run.q)[:, 0], *np.asarray(run.p)[:, 1:3].T])


def _straight() -> tuple[float, float]:
    """p1 = 0: distance of r from r' / omega sin(w t), w = 2 / h atan(omega h / 2), and how far p2 changes."""
    h = 0.05
    run = oscillator.simulate((RATE, 0.0, P2), h, 400)
    w = 2 / h * np.arctan(oscillator.OMEGA * h / 2)
    r, _, p2 = _reduced(run)
    return np.max(np.abs(r - RATE / oscillator.OMEGA * np.sin(w * np.asarray(run.t)))), np.ptp(p2)


def _resting(p: np.ndarray) -> float:
    """How far (r, p) goes from (0, p) in 400 steps."""
    found = _reduced(oscillator.simulate((0.0, *p), 0.05, 400))
    return float(np.max(np.abs(found - found[:, :1])))


def _equations() -> tuple[float, float]:
    """Largest difference of d/dt of the library's momenta from (6.6)-(6.8), and from (6.5) in the plain frame."""
    rng = np.random.default_rng(0)
    q, xi = rng.uniform(-1, 1, (16, 4)), rng.uniform(-1, 1, (16, 3))
    scaled, plain = oscillator.SYSTEM, dh.systems.SleighOscillator()
    p, rates = (np.asarray(a) for a in _momenta(scaled, q, xi))
    reduced = scaled.sleigh * scaled.mass / oscillator.TOTAL
    shape, first, second = oscillator.reduced_rates(q[:, 0], xi[:, 0], p[:, 1], p[:, 2])
    off = np.max(np.abs(rates - np.stack([reduced * shape, first, second], axis=1)))
    p, rates = (np.asarray(a) for a in _momenta(plain, q, xi))
    r, m, total, turning = q[:, 0], plain.mass, oscillator.TOTAL, plain.inertia + plain.mass * q[:, 0] ** 2
    shape = reduced * r * p[:, 1] ** 2 / turning**2 - plain.stiffness * r
    first = (-m * r * p[:, 1] * p[:, 2] + m**2 * r * p[:, 1] * xi[:, 0]) / (total * turning)
    second = m * r * p[:, 1] ** 2 / turning**2
    return float(off), float(np.max(np.abs(rates - np.stack([shape, first, second], axis=1))))


@jax.jit
def _momenta(system: Any, q: jax.Array, xi: jax.Array) -> tuple[jax.Array, jax.Array]:
    """p on D and its rate along the motion, at each of many (q, xi)."""

    def at(q: jax.Array, xi: jax.Array) -> tuple[jax.Array, jax.Array]:
        flow = dh.vector_field(system, q, xi)
        slope = jax.grad(system.lagrangian, 1)
        p, rates = jax.jvp(slope, (q, jnp.append(xi, 0.0)), flow)
        return p[:3], rates[:3]

    return jax.vmap(at)(jnp.asarray(q), jnp.asarray(xi))


def draw(data: dict[str, Any]) -> Any:
    with style():
        space: dict[Any, Any] = {"space": {"projection": "3d"}}
        layout = [["space", "r"], ["space", "p1"], ["space", "p2"]]
        drawing, axes = mosaic(layout, size=(7.0, 4.2), width_ratios=[1.5, 1], per_subplot_kw=space)
        drawing.get_layout_engine().set(wspace=0.14)  # the layout does not see the labels in space
        _closed(axes["space"], data)
        period = float(data["period"])
        for i, (name, unit) in enumerate(UNITS.items()):
            ax = axes[name]
            for multiple in (-1, -0.5, 0, 0.5, 1):
                ax.axvline(multiple * period, color=GREY, linewidth=0.8, linestyle=":")
            for t, values in ((data["t"], data[name]), (-data["t"], data["backward"][i])):
                ax.plot(t, values, color=BLUE)
            ax.set(ylabel=f"${_letter(name)}$ [{unit}]", xlim=(-1.02 * period, 1.02 * period))
            ax.tick_params(labelbottom=name == "p2")
        axes["p2"].set_xlabel(rf"$t$ [s], $\tau = {period / 2:.3f}$ s")
    return drawing


def _letter(name: str) -> str:
    return name if name == "r" else f"p_{name[1]}"


def _closed(ax: Any, data: dict[str, Any]) -> None:
    n = PARAMETERS["steps"]
    for i in range(len(PARAMETERS["others"])):
        ax.plot(*data[f"other_{i}"], color=GREY, linewidth=0.6)
    r, p1, p2 = (data[name][: n + 1] for name in ("r", "p1", "p2"))
    ax.plot(r, p1, 0 * r, color=GREY, linewidth=2, alpha=0.35)
    for side, color in ((r >= -1e-9, BLUE), (r < 0, SKY)):
        ax.plot(*(np.where(side, x, np.nan) for x in (r, p1, p2)), ".", color=color, markersize=3)
    ax.plot(r[:1], p1[:1], p2[:1], "o", color=VERMILLION, markersize=4)
    ax.set(xlabel="$r$ [m]", ylabel=f"$p_1$ [{UNITS['p1']}]", zlabel="$p_2$ [kg m/s]", zlim=(0, 2))
    ax.set(xticks=(-0.5, 0, 0.5), yticks=(0.6, 1, 1.4, 1.8), zticks=(0, 0.5, 1, 1.5, 2))
    ax.tick_params(labelsize=7, pad=0)
    ax.zaxis.labelpad = -2
    ax.view_init(24, -58)
    ax.set_box_aspect((1.25, 1, 0.95), zoom=0.98)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1, 1, 1, 0))
        axis.line.set_color(BLACK)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    n = PARAMETERS["steps"]
    here = np.stack([data[name] for name in ("r", "rate", "p1", "p2")])
    closing = float(np.max(np.abs(here[:, n:] - here[:, : n + 1])))
    parity = np.array([[-1], [1], [1]])
    reduced = here[[0, 2, 3]]
    odd = float(np.max(np.abs(data["backward"] - parity * reduced)))
    forth = float(np.max(np.abs(here[2:, : n + 1] - here[2:, n::-1])))
    slopes = -np.polyfit(np.log(data["sizes"]), np.log(data["errors"]), 1)[0]
    swing = np.ptp(data["energy"]) / data["energy"][0]
    images = np.max(np.abs(data["images"] - reduced[:, : n + 1]))
    scaled, plain = data["equations"]
    off, change = data["straight"]
    round_off = 1e-12 * np.sqrt(2 * n)
    return [
        (
            "the reduced equations are (6.5) in the plain frame and (6.6)-(6.8) in this one, as printed (1e-13)",
            bool(max(scaled, plain) < 1e-13),
        ),
        (
            f"(r, r', p) is periodic: with h such that r = 0 after {n // 2} steps, all nodes of the second period are "
            f"those of the first, to round-off ({closing:.0e})",
            closing < round_off,
        ),
        (f"r is odd and p is even in t, for the scheme too, to round-off ({odd:.0e})", odd < round_off),
        (f"so p goes to and fro along an arc: p(t) = p(2 tau - t), to round-off ({forth:.0e})", forth < round_off),
        (
            f"the period is that of (6.6)-(6.8) by DOP853, 2 tau = {float(data['period']):.6f} s, so is the motion, "
            f"both at order 2: slopes {slopes[0]:.2f}, {slopes[1]:.2f}",
            bool(np.all(np.abs(slopes - 2) < 0.1)),
        ),
        (
            f"the transformations (i) and (ii) map runs of the scheme to runs, to round-off ({images:.0e})",
            bool(images < round_off),
        ),
        (
            "p1 = 0: p2 is constant and r = r'/omega sin(w t), w = 2/h atan(omega h/2), omega^2 = k (M+m)/(M m), to "
            f"round-off ({off:.0e})",
            bool(off < 1e-12 * np.sqrt(400) and change < 1e-12 * np.sqrt(400)),
        ),
        (
            "r = 0 with any p is a relative equilibrium, of the scheme too: at rest over 400 steps",
            bool(np.max(data["resting"]) < 1e-12 * np.sqrt(400)),
        ),
        (
            f"energy is not exact here: it comes back after each period, and swings by {swing:.0e} within",
            bool(abs(data["energy"][n] - data["energy"][0]) < round_off and swing > 1e-9),
        ),
    ]
