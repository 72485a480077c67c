"""[HE] 5.5: the disk's steady motions by eight schemes

The rolling disk has a two-parameter family of steady motions, given by lean and heading rate. Above: started on one of
them, for 10 s. Below left: how fast a step changes the momenta on members of the family, drawn at random, where nothing
should change (line: all of them; mark: the median; what is below 1e-17 is drawn there). The discrete Hamel scheme keeps
the family for every tau, Cortes and Martinez' keeps it at midpoints only and otherwise spins the disk up or down. Below
right: growth and frequency (logarithms of the multipliers over h) of the swing about upright straight rolling, which
all keep. It is neutral, and by the schemes only at 1/2: before it grows, after it is damped.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, style

from .pictures import mosaic

LEAN, SPIN, SPEED = 0.3, 3.0, 5.0  # of the steady motion on the left, rad and rad/s; psi' of straight rolling
H, TIME, MEMBERS = 0.02, 10.0, 300
DISK = dh.systems.RollingDisk()
M, R, A, B, G = DISK.mass, DISK.radius, DISK.inertia_diameter, DISK.inertia_axis, DISK.gravity
SCHEMES = {
    "Hamel, 0": (dh.DiscreteHamel(tau=0.0), SKY, "v"),
    "Hamel, 1/4": (dh.DiscreteHamel(tau=0.25), GREEN, "<"),
    "Hamel, 1/2": (dh.DiscreteHamel(), BLUE, "o"),
    "Hamel, 1": (dh.DiscreteHamel(tau=1.0), GREY, "^"),
    "C.-M., 1/2, 1/2": (dh.CortesMartinez(), BLACK, "s"),
    "C.-M., 0, 0": (dh.CortesMartinez(0.0, 0.0), VERMILLION, "D"),
    "C.-M., 0, 1/2": (dh.CortesMartinez(0.0, 0.5), ORANGE, "p"),
    "C.-M., 1/2, 0": (dh.CortesMartinez(0.5, 0.0), PURPLE, "h"),
}
LOSING = tuple(SCHEMES)[5:]
PARAMETERS: dict[str, Any] = {
    "disk": {"mass": M, "radius": R, "inertia_diameter": A, "inertia_axis": B, "gravity": G},
    "h": H,
    "time": TIME,
    "lean": LEAN,
    "psi'": SPIN,
    "psi' of straight rolling": SPEED,
    "schemes": {name: repr(scheme) for name, (scheme, *_) in SCHEMES.items()},
}


def compute(fast: bool) -> dict[str, Any]:
    turn = _turn(LEAN, SPIN)
    lean, heading = np.random.default_rng(0).uniform([0.05, 0.3], [1.2, 3.0], (MEMBERS if fast else 10 * MEMBERS, 2)).T
    spin = _spin(lean, heading)
    data: dict[str, Any] = {"lean": lean, "heading": heading, "spin": spin, "turn": turn}
    unsteady = _rates(lean, heading, spin)
    data["unsteady"] = np.max(np.abs(unsteady) / (1 + spin**2 + heading**2)[:, None])
    data["rates_leaning"] = dh.spectrum(DISK, _at(LEAN), [0.0, turn, SPIN]).rates
    for name, (scheme, *_) in SCHEMES.items():
        data[f"defect_{name}"] = np.asarray(_defects(scheme, lean, heading, spin, H))
        run = dh.simulate(DISK, _at(LEAN), [0.0, turn, SPIN], h=H, steps=round(TIME / H), scheme=scheme)
        data |= {"t": run.t, f"spin_{name}": run.xi[:, 2], f"lean_{name}": run.q[:, 0]}
        data[f"rates_{name}"] = _growth(scheme, 0.0, 0.0, SPEED)
    data["rates"] = dh.spectrum(DISK, _at(0.0), [0.0, 0.0, SPEED]).rates
    data["rates_leaning_Hamel, 1/2"] = _growth(dh.DiscreteHamel(), LEAN, turn, SPIN)
    return data


def _at(lean: float) -> list[float]:
    return [lean, 0.0, 0.0, 0.0, 0.0]


def _spin(lean: Any, turn: Any) -> Any:
    """psi' of the steady motion with this lean and heading rate, from the balance of lean by hand, [QS] 6.5.

    (m R^2 + B) (phi' sin theta + psi') phi' cos theta - A phi'^2 sin theta cos theta + m g R sin theta = 0
    """
    c, s = np.cos(lean), np.sin(lean)
    return (A * turn**2 * s * c - M * G * R * s) / ((M * R**2 + B) * turn * c) - turn * s


def _turn(lean: float, spin: float) -> float:
    """The slower of the two heading rates with this lean and psi'."""
    c, s = np.cos(lean), np.sin(lean)
    roots = np.roots([(M * R**2 + B - A) * s * c, (M * R**2 + B) * spin * c, M * G * R * s])
    return float(roots[np.argmin(np.abs(roots))])


@jax.jit
@jax.vmap
def _rates(lean: Any, turn: Any, spin: Any) -> Any:
    """xi' of (H), which is zero on steady motions."""
    return dh.vector_field(DISK, jnp.zeros(5).at[0].set(lean), jnp.stack([jnp.zeros(()), turn, spin]))[1]


@jax.jit
def _defects(scheme: Any, lean: Any, turn: Any, spin: Any, h: Any) -> Any:
    """(p_{k+1} - p_k) / h on steady motions: the step is given, its momenta are the scheme's own."""

    def of_one(lean: jax.Array, turn: jax.Array, spin: jax.Array) -> jax.Array:
        xi, q = jnp.stack([jnp.zeros(()), turn, spin]), jnp.zeros(5).at[0].set(lean)
        point = scheme.tau if isinstance(scheme, dh.DiscreteHamel) else scheme.constraint_at
        rolled = DISK.frame(q.at[1].add(point * h * turn))[:, :3] @ xi
        z, state = jnp.concatenate([xi, q + h * rolled]), dh.start(DISK, scheme, q, xi, h)
        left = scheme.residual(DISK, state, h, z)
        new, _ = scheme.advance(DISK, state.replace(p=state.p + left[:3]), h, z)
        return jnp.concatenate([(new.p - state.p - left[:3]) / h, left[3:] / h])

    return jax.vmap(of_one)(lean, turn, spin)


@jax.jit
def _multipliers(scheme: Any, lean: Any, turn: Any, spin: Any) -> Any:
    """Derivative of a step on (lean, p), which is all that the other coordinates do not change."""
    q, xi = jnp.zeros(5).at[0].set(lean), jnp.stack([jnp.zeros(()), turn, spin])
    state = dh.start(DISK, scheme, q, xi, H)

    def stepped(x: jax.Array) -> jax.Array:
        new, _ = dh.step(DISK, scheme, state.replace(q=state.q.at[0].set(x[0]), p=x[1:]), H)
        return jnp.concatenate([new.q[:1], new.p])

    return jax.jacfwd(stepped)(jnp.concatenate([state.q[:1], state.p]))


def _growth(scheme: Any, *steady: float) -> np.ndarray:
    """Logarithms of the multipliers over h, to be compared with the rates of (H)."""
    return np.log(np.linalg.eigvals(np.asarray(_multipliers(scheme, *steady))).astype(complex)) / H


def draw(data: dict[str, Any]) -> Any:
    kept = [name for name in SCHEMES if name not in LOSING]
    with style():
        layout = [["spin"] * 6 + ["lean"] * 6, ["family"] * 6 + ["growth"] * 3 + ["frequency"] * 3]
        drawing, axes = mosaic(layout, size=(7.0, 5.4), height_ratios=[1, 1.1])
        for what, label in (("spin", r"$\dot\psi$ [rad/s]"), ("lean", r"lean $\theta$ [rad]")):
            # All that keep it are one line: to 1e-9, and by midpoints to h^2.
            axes[what].plot(data["t"], data[f"{what}_{kept[0]}"], color=BLACK, linewidth=2, label="the other five")
            for name, dashes in zip(LOSING, ("-", "--", "-."), strict=True):
                axes[what].plot(data["t"], data[f"{what}_{name}"], dashes, color=SCHEMES[name][1], label=name)
            axes[what].set(xlabel="$t$ [s]", ylabel=label, xlim=(0, TIME))
        for row, (name, (_, color, marker)) in enumerate(reversed(SCHEMES.items())):
            _spread(axes["family"], row, np.max(np.abs(data[f"defect_{name}"]), axis=1), color, marker)
            swing = data[f"rates_{name}"][np.argmax(data[f"rates_{name}"].imag)]
            for what, value in (("growth", swing.real), ("frequency", swing.imag)):
                axes[what].plot([value], [row], color=color, marker=marker, markersize=6, markeredgecolor=BLACK)
        axes["family"].set(xscale="log", xlabel=r"largest $|p_{k+1} - p_k| / h$ [N m]")
        axes["family"].set_yticks(range(len(SCHEMES)), list(reversed(SCHEMES)))
        exact = data["rates"][np.argmax(data["rates"].imag)]
        for what, value in (("growth", exact.real), ("frequency", exact.imag)):
            axes[what].axvline(value, color=BLACK, linewidth=1, zorder=0, label="continuous")
            axes[what].set(xlabel=f"{what} [{'1' if what == 'growth' else 'rad'}/s]", yticks=range(len(SCHEMES)))
            axes[what].tick_params(labelleft=False)
        for what in ("family", "growth", "frequency"):
            axes[what].set_ylim(-0.5, len(SCHEMES) - 0.5)
        axes["frequency"].margins(x=0.3)
        drawing.legend(*axes["spin"].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        axes["growth"].legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1, handlelength=1.2)
    return drawing


def _spread(ax: Any, row: int, values: np.ndarray, color: str, marker: str) -> None:
    """A line from least to greatest, and the median."""
    least, middle, greatest = np.quantile(np.maximum(values, 1e-17), [0, 0.5, 1])
    ax.plot([least, greatest], [row, row], color=color, linewidth=2)
    ax.plot([middle], [row], color=color, marker=marker, markersize=6, markeredgecolor=BLACK)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    lean, turn, spin = data["lean"], data["heading"], data["spin"]
    kept, size = [name for name in SCHEMES if name not in LOSING], 1 + spin**2 + turn**2
    defects = {name: np.max(np.abs(data[f"defect_{name}"]), axis=1) for name in SCHEMES}
    rounding = 10 * np.finfo(float).eps * size / H
    by_hand = {name: _spin_up(SCHEMES[name][0], lean, turn, spin) for name in LOSING}
    off = max(float(np.max(np.abs(data[f"defect_{n}"][:, 2] - by_hand[n]) / rounding)) for n in LOSING)
    hamel = {n: max(np.ptp(data[f"spin_{n}"]), np.ptp(data[f"lean_{n}"])) for n in SCHEMES if n.startswith("Hamel")}
    ends = {name: float(data[f"spin_{name}"][-1]) for name in SCHEMES}
    wobble = float(np.ptp(data["spin_C.-M., 1/2, 1/2"]))
    straight, leaning = _straight(), _leaning(data["turn"])
    growth = {name: float(np.max(np.abs(data[f"rates_{name}"].real))) for name in SCHEMES}
    grows = {name: float(np.max(data[f"rates_{name}"].real)) for name in SCHEMES}
    own, growing = data["rates_leaning_Hamel, 1/2"], ("Hamel, 0", "Hamel, 1/4", *LOSING)
    halves = ("Hamel, 1/2", "C.-M., 1/2, 1/2")
    return [
        (
            f"every one of the {len(lean)} members, by hand from the balance of lean, is steady by (H) and, to 10 eps "
            f"of its momenta a step, by these five: {'; '.join(kept)}",
            data["unsteady"] < 1e-12 and all(bool(np.all(defects[name] < rounding)) for name in kept),
        ),
        (
            "no member is one of the other three, and their psi-momentum changes at the rate found by hand, "
            "m R^2 {psi' [cos (1-b) a - cos b a] + phi' sin theta [cos (1-l) a - cos l a]} / h, a = h phi', for the "
            f"Lagrangian at l and the constraint at b (within {off:.2f} of these 10 eps)",
            off < 1 and all(bool(np.all(defects[name] > 1e-3 * H * turn * lean)) for name in LOSING),
        ),
        (
            f"in {TIME:g} s it has spun up with (0, 0) and (0, 1/2), down with (1/2, 0): from psi' = {SPIN:g} rad/s to "
            + ", ".join(f"{ends[name]:.2f}" for name in LOSING),
            min(ends[LOSING[0]], ends[LOSING[1]]) > SPIN + 0.05 and ends[LOSING[2]] < SPIN - 0.05,
        ),
        (
            f"by Hamel psi' and lean stay for every tau (1e-9: below 1/2 round-off grows; {max(hamel.values()):.0e})",
            bool(max(hamel.values()) < 1e-9),
        ),
        (f"and by midpoints, started off by O(h^2), within h^2 ({wobble:.0e})", wobble < H**2),
        (
            "straight rolling: rates 0, 0, +-i w, A (A + m R^2) w^2 = B (m R^2 + B) psi'^2 - A m g R (1e-9); at 1/2 "
            "each multiplier is the Cayley transform of its rate",
            _all_near(data["rates"], [0, 0, 1j * straight, -1j * straight])
            and all(_all_near(data[f"rates_{name}"], [0, 0, *_cayley(straight)]) for name in halves),
        ),
        (
            "off 1/2 it is neutral no more: it grows with Hamel at 0 and 1/4 and with all three that lose the family "
            f"({', '.join(f'{grows[name]:.2f}' for name in growing)} 1/s), and is damped with Hamel at 1",
            all(grows[name] > 0.05 for name in growing) and grows["Hamel, 1"] < 1e-9 and growth["Hamel, 1"] > 0.05,
        ),
        (
            f"the leaning motion has rates 0, 0, +-i w, (A + m R^2) w^2 = U_c'' along the momentum equations, w = "
            f"{leaning:.6f} 1/s (1e-9), and Hamel at 1/2 keeps it neutral, w within h^2 w^3",
            _all_near(data["rates_leaning"], [0, 0, 1j * leaning, -1j * leaning])
            and float(np.max(np.abs(own.real))) < 1e-9
            and abs(float(np.max(own.imag)) - leaning) < H**2 * leaning**3,
        ),
    ]


def _spin_up(scheme: Any, lean: np.ndarray, turn: np.ndarray, spin: np.ndarray) -> np.ndarray:
    """D_1 L_d + D_2 L_d along the rolling direction, over h: headings differ by h phi' times the two points."""
    at, on, angle = scheme.lagrangian_at, scheme.constraint_at, H * turn
    rolling = spin * (np.cos((1 - on) * angle) - np.cos(on * angle))
    centre = turn * np.sin(lean) * (np.cos((1 - at) * angle) - np.cos(at * angle))
    return M * R**2 / H * (rolling + centre)


def _straight() -> float:
    return float(np.sqrt((B * (M * R**2 + B) * SPEED**2 - A * M * G * R) / (A * (A + M * R**2))))


def _leaning(turn: float) -> float:
    """sqrt(U_c'' / (A + m R^2)); ' is d/dtheta along p1' = tan p1 - B/(m R^2 + B) p2, p2' = -(m R^2/A) p1, [QS] 6.5."""
    c, t, rolling = np.cos(LEAN), np.tan(LEAN), M * R**2 + B
    p1, p2 = A * turn * c, rolling * (turn * np.sin(LEAN) + SPIN)
    d1, d2 = t * p1 - B / rolling * p2, -M * R**2 / A * p1
    # U_c' = tan p1^2/A - p1 p2/A - m g R sin, whose zeros are the steady motions.
    second = p1**2 / (A * c**2) + (2 * t * p1 * d1 - d1 * p2 - p1 * d2) / A - M * G * R * c
    return float(np.sqrt(second / (A + M * R**2)))


def _cayley(frequency: float) -> tuple[complex, complex]:
    """log((1 + i h w/2)/(1 - i h w/2))/h and its conjugate."""
    rate = 2j / H * np.arctan(H * frequency / 2)
    return rate, -rate


def _all_near(found: np.ndarray, expected: Any) -> bool:
    gaps = np.abs(np.asarray(found)[:, None] - np.asarray(expected)[None])
    return bool(np.max(np.min(gaps, axis=0)) < 1e-9 and np.max(np.min(gaps, axis=1)) < 1e-9)
