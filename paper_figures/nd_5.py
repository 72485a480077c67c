"""[ND] figure 5: the rattleback, and its reversal

The stone of Kane and Levinson, half an ellipsoid of semi-axes 20, 3, 2 cm; its principal axes (dashed, tenfold) are
turned by 0.82 degrees against the ellipsoid's. The same push in both senses, by the discrete Hamel scheme, tau = 1/2:
one way it starts to rattle, stops and turns to the opposite spin, while the other way it keeps spinning. Energy is not
lost: it goes into rattling and comes back. Rattling grows as the linearized equations say (dotted), for this stone in
both senses, but ten times more slowly in the second: after half a minute, not shown, it reverses from there too.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, VERMILLION, style

from . import stones
from .pictures import mosaic

STONE = dh.systems.Rattleback()
ROUND = dh.systems.Rattleback(
    semiaxes=(0.035, 0.056, 0.026), depth=-0.0015, inertia=(0.00074, 0.00094, 0.00136), tilt=0.533
)
LEVEL = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0, 0)
PUSH, SPIN = 0.02, 5.0  # rad/s, of rocking about both axes, and of spinning
SENSES = {"against": -1.0, "along": 1.0}
H, TIME, EVERY = 0.0005, 8.0, 4
LONG = 40.0  # s, for the second sense
WINDOWS = {"against": (0.2, 1.0), "along": (0.2, 8.0)}  # s, while the spin is the first within 0.3 per cent
PARAMETERS: dict[str, Any] = {
    "mass": STONE.mass,
    "semiaxes": STONE.semiaxes,
    "depth": STONE.depth,
    "inertia": STONE.inertia,
    "tilt": STONE.tilt,
    "gravity": STONE.gravity,
    "xi": (PUSH, PUSH, SPIN),
    "h": H,
    "time": TIME,
    "later": LONG,
}


def compute(fast: bool) -> dict[str, Any]:
    data: dict[str, Any] = {}
    t = np.arange(0, TIME + H, H * EVERY)
    for name, sense in SENSES.items():
        xi = (PUSH, PUSH, sense * SPIN)
        for k in (1, 2):
            run = dh.simulate(STONE, LEVEL, xi, h=H / k, steps=round(TIME / H) * k, save_every=EVERY * k)
            spin, turning = _shares(STONE, run.q, run.xi)
            data |= {f"spin {name} {k}": np.asarray(spin), f"energy {name} {k}": run.energy}
        lean = np.column_stack([run.q[:, 6:8], run.xi[:, :2]])
        data |= {f"turning {name}": np.asarray(turning), f"level {name}": np.hypot(*lean[:, :2].T)}
        data[f"mode {name}"] = np.abs(lean @ _fastest(sense * SPIN))
        data[f"exact {name}"] = _momentum_equation(xi, t)
        data[f"growth {name}"] = _growths(STONE, sense * SPIN)
    later = [
        dh.simulate(STONE, LEVEL, (PUSH, PUSH, SPIN), h=H / k, steps=round(LONG / H) * k, save_every=100 * k)
        for k in (1, 2)
    ]
    mirror = dh.systems.Rattleback(tilt=0.0)
    flat = dh.simulate(mirror, LEVEL, (PUSH, PUSH, -SPIN), h=2 * H, steps=round(TIME / H / 2), save_every=EVERY)
    return data | {
        "t": t,
        "t later": later[0].t,
        **{f"spin later {k}": np.asarray(_shares(STONE, r.q, r.xi)[0]) for k, r in zip((1, 2), later, strict=True)},
        "untilted": np.asarray(_shares(mirror, flat.q, flat.xi)[0]),
        "round": np.array([_growths(ROUND, n) for n in (-40.0, 40.0)]),
    }


@jax.jit
def _shares(stone: Any, q: Array, xi: Array) -> tuple[Array, Array]:
    """The spin about the vertical, and the part of the energy that the momentum about it through the contact needs."""

    def at(q: Array, xi: Array) -> tuple[Array, Array]:
        gamma, rho = q[6:9], stone.to_centre(q[6:9])
        about = stone.moments() + stone.mass * (rho @ rho * jnp.eye(3) - jnp.outer(rho, rho))
        return gamma @ xi[:3], 0.5 * (gamma @ about @ xi[:3]) ** 2 / (gamma @ about @ gamma)

    return jax.vmap(at)(q, xi)


def _growths(stone: Any, spin: float) -> np.ndarray:
    """Real parts of the spectrum of (gamma1, gamma2, omega1, omega2) about level spinning."""
    return np.sort(np.real(np.linalg.eigvals(_linearized(stone, spin))))


def _fastest(spin: float) -> np.ndarray:
    """The left eigenvector that picks the mode which grows fastest out of (gamma1, gamma2, omega1, omega2)."""
    rates, modes = np.linalg.eig(np.asarray(_linearized(STONE, spin)).T)
    return modes[:, np.argmax(rates.real)]


@jax.jit
def _linearized(stone: Any, spin: Any) -> Array:
    def rate(z: Array) -> Array:
        gamma = jnp.stack([z[0], z[1], jnp.sqrt(1 - z[0] ** 2 - z[1] ** 2)])
        q = jnp.concatenate([jnp.zeros(6), gamma, jnp.zeros(2)])  # the reduced equations see gamma only
        velocity, rates = dh.vector_field(stone, q, jnp.stack([z[2], z[3], spin]))
        return jnp.concatenate([velocity[6:8], rates[:2]])

    return jax.jacfwd(rate)(jnp.zeros(4))


@jax.jit
def _rates(y: Array) -> Array:
    """gamma' = gamma x omega, M' = M x omega + m rho' x (omega x rho) + m g gamma x rho, M about the contact."""
    gamma, omega = y[:3], y[3:]
    axes, m = jnp.array(STONE.semiaxes), STONE.mass
    c, s = jnp.cos(STONE.tilt), jnp.sin(STONE.tilt)
    turn = jnp.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    inertia = turn @ jnp.diag(jnp.array(STONE.inertia)) @ turn.T

    def arm(gamma: Array) -> Array:
        return axes**2 * gamma / jnp.linalg.norm(axes * gamma) - STONE.depth * jnp.eye(3)[2]

    rolling = jnp.cross(gamma, omega)
    rho, rate = jax.jvp(arm, (gamma,), (rolling,))
    about = inertia + m * (rho @ rho * jnp.eye(3) - jnp.outer(rho, rho))
    moment = m * STONE.gravity * jnp.cross(gamma, rho) - m * jnp.cross(rho, jnp.cross(omega, rate))
    return jnp.concatenate([rolling, jnp.linalg.solve(about, jnp.cross(about @ omega, omega) + moment)])


def _momentum_equation(xi: Any, t: np.ndarray) -> np.ndarray:
    """The spin by DOP853 of the momentum equation, written without the library."""
    from scipy.integrate import solve_ivp

    start = np.array([0.0, 0.0, 1.0, *xi])
    y = solve_ivp(lambda _, y: np.asarray(_rates(y)), (0, t[-1]), start, "DOP853", t, rtol=1e-10, atol=1e-12).y
    return np.sum(y[:3] * y[3:], axis=0)


def draw(data: dict[str, Any]) -> Any:
    colors = {"against": VERMILLION, "along": BLUE}
    t = data["t"]
    with style():
        drawing, axes = mosaic([["stone", "spin"], ["energy", "rattling"]], size=(7.4, 4.6), width_ratios=[1, 1.1])
        stones.stone(axes["stone"], STONE)
        for name, color in colors.items():
            axes["spin"].plot(t, data[f"spin {name} 1"], color=color, linewidth=0.6 if name == "against" else 1.2)
            middles, level = _envelope(t, np.degrees(data[f"level {name}"]))
            axes["rattling"].plot(middles, level, color=color)
            grown = np.array([1.0, 1.8]) if name == "against" else np.array([4.0, 8.0])
            lines = 1.4 * np.interp(grown[0], middles, level) * np.exp(data[f"growth {name}"][-1] * (grown - grown[0]))
            axes["rattling"].plot(grown, lines, color=BLACK, linestyle=":", linewidth=1.6)
        axes["spin"].axhline(0, color=GREY, linewidth=0.7)
        axes["spin"].set(ylabel="spin [rad/s]", xlim=(0, TIME), xlabel="$t$ [s]")
        axes["spin"].annotate("keeps spinning, for these 8 s", (1.2, 4.75), va="top", color=BLUE)
        axes["spin"].annotate("reverses", (3.3, -4.2), color=VERMILLION)
        axes["rattling"].set(ylabel="rattling [deg]", xlabel="$t$ [s]", yscale="log", xlim=(0, TIME), ylim=(6e-3, 20))
        energy, turning = 1e3 * (data["energy against 1"] - rest()), 1e3 * data["turning against"]
        ax = axes["energy"]
        ax.plot(t, turning, color=VERMILLION, label="turning")
        ax.plot(t, energy - turning, color=GREY, linewidth=0.8, label="rattling")
        ax.plot(t, energy, color=BLACK, label="both")
        ax.set(xlabel="$t$ [s]", ylabel="energy, reversing [mJ]", xlim=(0, TIME), ylim=(-1, 28))
        ax.legend(loc="upper left", ncols=3)
    return drawing


def rest() -> float:
    """m g h of the level stone."""
    return float(STONE.mass * STONE.gravity * (STONE.semiaxes[2] - STONE.depth))


def _envelope(t: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middles of stretches of 0.2 s, longer than a period of either rocking, and the greatest lean in each."""
    size = round(0.2 / (t[1] - t[0]))
    count = len(t) // size
    return t[: count * size].reshape(count, size).mean(axis=1), level[: count * size].reshape(count, size).max(axis=1)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    against, along = data["spin against 2"], data["spin along 2"]
    crossings = int(np.sum(np.diff(np.sign(against)) != 0))
    misses = {n: [np.max(np.abs(data[f"spin {n} {k}"] - data[f"exact {n}"])) for k in (1, 2)] for n in SENSES}
    slopes = {name: float(np.log2(a / b)) for name, (a, b) in misses.items()}
    energy = [np.max(np.abs(data[f"energy against {k}"] - data[f"energy against {k}"][0])) for k in (1, 2)]
    kinetic = data["energy against 1"][0] - rest()
    lost = float(np.log2(energy[0] / energy[1]))
    rates = {name: _rate_of_growth(data, name) for name in SENSES}
    wanted = {name: float(data[f"growth {name}"][-1]) for name in SENSES}
    turned = np.array([_turns(data["t later"], data[f"spin later {k}"]) for k in (1, 2)])
    share = float(np.min(data["turning against"]) / kinetic)
    return [
        (
            f"in 8 s it reverses one way, from -5 to {against.max():.2f} rad/s, and keeps 99.9 per cent the other way",
            bool(against[0] == -SPIN and against.max() > 4.5 and along.min() > 0.999 * SPIN and crossings % 2 == 1),
        ),
        (
            "the same by DOP853 of the momentum equation written without the library: the scheme follows at order 2, "
            f"slopes {slopes['against']:.2f} and {slopes['along']:.2f}",
            max(abs(x - 2) for x in slopes.values()) < 0.1,
        ),
        (
            f"the energy is bounded: within {energy[0] / kinetic:.0e} of its motion's, to O(h^2), slope {lost:.2f}",
            abs(lost - 2) < 0.1,
        ),
        (
            f"at the reversal all of it rattles: turning has {100 * share:.1e} per cent",
            0 <= share < 0.01,
        ),
        (
            f"rattling grows by {rates['against']:.2f} and {rates['along']:.2f} per second (linearized: "
            f"{wanted['against']:.2f} and {wanted['along']:.2f}; 1 per cent), ten times as fast against as along",
            all(abs(rates[n] / wanted[n] - 1) < 0.01 for n in SENSES),
        ),
        (
            f"so it reverses in the second sense too, only later: at {turned[0]:.1f} s, with h/2 at {turned[1]:.1f} s",
            bool(np.all(np.isfinite(turned)) and np.all(turned > 2 * TIME) and abs(turned[0] - turned[1]) < 0.5),
        ),
        (
            "without the tilt nothing reverses: with the axes of inertia along the ellipsoid's the spin stays",
            bool(np.max(np.abs(data["untilted"] + SPIN)) < 0.01 * SPIN),
        ),
        (
            "a rounder stone has one sense that is asymptotically stable, as [ND] says: its growth rates are all "
            f"negative at -40 rad/s (at most {data['round'][0].max():.3f}/s), positive at +40",
            bool(data["round"][0].max() < -1e-6 and data["round"][1].min() > 1e-6),
        ),
    ]


def _turns(t: np.ndarray, spin: np.ndarray) -> float:
    """When the spin is first negative; infinity if it never is."""
    return float(t[np.argmax(spin < 0)]) if np.any(spin < 0) else np.inf


def _rate_of_growth(data: dict[str, Any], name: str) -> float:
    """Of the logarithm of the fastest mode, by least squares."""
    first, last = WINDOWS[name]
    inside = (data["t"] > first) & (data["t"] < last)
    return float(np.polyfit(data["t"][inside], np.log(data[f"mode {name}"][inside]), 1)[0])
