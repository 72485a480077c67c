"""[MD] figure 11.7: the reduced potential for C1 = -40, C2 = 1, and what comes back

Above left U once around the wire; right near its maximum (framed on the left), with the energies of orbits that drop
below the horizontal at psi = 0; in the shaded band the ball stays on the hoop. Below: these orbits, run with the whole
ball in space; right from above, with the wire (grey) and the ball at the start (thin). Those that turn above -0.0995 pi
come back and pop out after at most 0.27 turns around the hoop below the horizontal. Crosses: where the ball leaves the
hoop; pale, what a hoop that could pull would do: one orbit (black) creeps up to the maximum for ever, and what has more
energy falls through.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, style

from . import basketball, basketball_orbits
from .basketball_numbers import POTENTIALS, TURNS, agrees, curve
from .basketball_orbits import CONSTANTS
from .pictures import mosaic

PARAMETERS: dict[str, Any] = basketball.PARAMETERS | {
    "C1": CONSTANTS[0],
    "C2": CONSTANTS[1],
    "h": basketball_orbits.STEP,
}
COLORS = tuple(basketball_orbits.COLORS.values())
CROSSES = (5, 5, 5, 5, 9, 6.5, 4)  # points; the last three orbits leave the hoop nearly together
NEAR = (-0.26, 0.24, 9.0, 11.3)  # psi/pi and U/m [m^2/s^2] about the maximum
EVERY = 20  # nodes between those kept for the drawing
THROUGH = 1.02  # rate at the horizontal of the orbit that falls through, relative to the asymptotic one


def compute(fast: bool) -> dict[str, Any]:
    turns = np.linspace(-0.32, 0.26, 291)
    top, bottom = (basketball.rest(a * np.pi, b * np.pi, *CONSTANTS) for a, b in ((-0.25, -0.02), (-0.95, -0.5)))
    extremes = np.array([top, bottom])
    places = np.array([*(np.pi * x for x in TURNS), top])
    rates = basketball.crossing_rate(places, *CONSTANTS)
    orbits = [basketball_orbits.orbit(-rate, 0.6) for rate in (*rates, THROUGH * rates[-1])]
    data: dict[str, Any] = {
        "all_turns": np.linspace(-1, 1, 401),
        "all_U": basketball.potential(np.pi * np.linspace(-1, 1, 401), *CONSTANTS),
        "turns": turns,
        "U": basketball.potential(np.pi * turns, *CONSTANTS),
        "N": basketball.contact(np.pi * turns, *CONSTANTS),
        "top": np.array([top, _top_by_formula()]),
        "extremes": np.stack([extremes, basketball.potential(extremes, *CONSTANTS)], axis=1),
        "U_top": basketball.potential(np.array([top, -0.12 * np.pi]), *CONSTANTS),
        "spins_top": basketball.spins(np.array([top]), *CONSTANTS)[:, 0],
        "growth": np.sqrt(-basketball.bend(np.array([top]), *CONSTANTS)[1] / basketball.KINETIC),
        "rest": _rest(top),
        "above": basketball.bend(np.pi * np.linspace(0, 1, 201), *CONSTANTS)[0],
        "rates": rates,
        "lowest": np.array([orbit.psi.min() for orbit in orbits]),
        "back": np.array([min(orbit.back, 1e9) for orbit in orbits]),
        "around": np.array([orbit.around for orbit in orbits]),
        "energy": np.array([orbit.energy for orbit in orbits]),
        "kept": np.array([bool(np.all(orbit.margin[orbit.t < orbit.back] > 0)) for orbit in orbits]),
        "crossings": np.array([int(np.sum(np.diff(np.sign(orbit.psi[1:])) != 0)) for orbit in orbits]),
        "lost": np.array([orbit.psi[np.argmax(orbit.margin < 0)] for orbit in orbits]),
        "approach": _approach(orbits[len(TURNS)], top),
    }
    for i, orbit in enumerate(orbits):
        kept = np.stack([orbit.t, orbit.psi, orbit.theta, orbit.margin])
        data[f"orbit_{i}"] = kept[:, ::EVERY]
    return data


def _top_by_formula() -> float:
    """Where U' = v {cos(psi) (m g + J Omega1 Omega2) - (J + m r^2) a sin(psi) Omega2^2} = 0, with (11.1) by DOP853."""

    def slope(psi: float) -> float:
        f11, f12, f21, f22 = basketball.fundamental(np.array([psi]))[:, 0]
        spin, pivot = CONSTANTS[0] * f11 + CONSTANTS[1] * f21, CONSTANTS[0] * f12 + CONSTANTS[1] * f22
        pull = basketball.GRAVITY + 2 * basketball.RADIUS**2 / 3 * spin * pivot
        return np.cos(psi) * pull - 5 * basketball.RADIUS**2 / 3 * basketball.to_axis(psi) * np.sin(psi) * pivot**2

    return float(brentq(slope, -0.25 * np.pi, -0.05 * np.pi, xtol=1e-13))


def _rest(top: float) -> np.ndarray:
    """How far psi goes from the maximum in 0.5 s, put there without psi', and how far around the hoop."""
    spin, pivot = basketball.spins(np.array([top]), *CONSTANTS)[:, 0]
    run = basketball.dh.simulate(basketball.BALL, q=basketball.place(top), xi=[0.0, spin, pivot], h=5e-4, steps=1000)
    return np.array([np.max(np.abs(basketball.angle(run) - top)), np.asarray(run.q)[-1, 10]])


def _approach(orbit: basketball_orbits.Orbit, top: float) -> float:
    """Rate (1/s) at which the asymptotic orbit comes to the maximum, between 0.25 and 0.35 s."""
    between = (orbit.t > 0.25) & (orbit.t < 0.35)
    return -float(np.polyfit(orbit.t[between], np.log(orbit.psi[between] - top), 1)[0])


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["all", "U"], ["psi", "hoop"]], size=(7.0, 5.6))
        _once_around(axes["all"], data)
        _energies(axes["U"], data)
        for i, color in enumerate(COLORS):
            t, psi, theta, margin = data[f"orbit_{i}"]
            end = int(np.argmax(margin < 0)) + 1 if np.any(margin < 0) else len(t)
            x, y, _ = basketball_orbits.centre(theta, psi).T
            for ax, across, up in ((axes["psi"], t, psi / np.pi), (axes["hoop"], x, y)):
                ax.plot(across[:end], up[:end], color=color, zorder=3)
                ax.plot(across[end - 1 : end], up[end - 1 : end], "x", color=color, markersize=CROSSES[i], zorder=4)
            axes["psi"].plot(t[end - 1 :], psi[end - 1 :] / np.pi, color=color, linewidth=0.7, alpha=0.45)
        axes["psi"].axhline(0, color=GREY, linewidth=0.8, linestyle=":")
        axes["psi"].set(xlabel="$t$ [s]", ylabel=r"$\psi$ [$\pi$ rad]", xlim=(0, 0.5), ylim=(-0.26, 0.26))
        _hoop(axes["hoop"])
        drawing.legend(*axes["U"].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawing


def _once_around(ax: Any, data: dict[str, Any]) -> None:
    """U on [-pi, pi], its maximum and minimum, and the frame of the panel beside it."""
    left, right, low, high = NEAR
    ax.plot(data["all_turns"], data["all_U"] / 1e4, color=BLACK, linewidth=1.8)
    ax.plot(data["extremes"][:, 0] / np.pi, data["extremes"][:, 1] / 1e4, "o", color=BLACK, markersize=4)
    ax.plot([left, right, right, left, left], [low, low, high, high, low], color=GREY, linewidth=0.8)
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    ax.set(xlabel=r"$\psi$ [$\pi$ rad]", ylabel="$U/m$ [m$^2$/s$^2$]", xticks=(-1, -0.5, 0, 0.5, 1), ylim=(0, 12))


def _energies(ax: Any, data: dict[str, Any]) -> None:
    """U, the band above it in which the ball stays on the hoop, and the energies, dashed outside."""
    turns, u = data["turns"], data["U"] / 1e4
    band = u + 0.5 * basketball.KINETIC * np.maximum(data["N"], 0) / 1e4
    ax.fill_between(turns, u, band, color=BLUE, alpha=0.12, linewidth=0)
    ax.plot(turns, u, color=BLACK, linewidth=1.8)
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    labels = [f"turns at ${x}\\pi$" for x in TURNS] + ["never turns", "falls through"]
    for i, (color, label) in enumerate(zip(COLORS, labels, strict=True)):
        level = np.full(len(turns), data["energy"][i] / 1e4)
        moving = (turns > data["lowest"][i] / np.pi) & (level > u)
        ax.plot(turns, np.where(moving, level, np.nan), color=color, linewidth=0.6, linestyle=(0, (3, 2)))
        # The orbit that turns last has nearly the energy of the next one, which is drawn on it.
        wide = 2.4 if i == len(TURNS) - 1 else 1.0
        ax.plot(turns, np.where(moving & (level < band), level, np.nan), color=color, label=label, linewidth=wide)
        if i < len(TURNS) + 1:
            ax.plot([data["lowest"][i] / np.pi], level[:1], "o", color=color, markersize=3.5, zorder=3)
    ax.annotate("on the hoop", (0.1, 9.25), color=BLUE, fontsize=8, ha="center")
    ax.set(xlabel=r"$\psi$ [$\pi$ rad]", ylabel="$U/m$, $E/m$ [m$^2$/s$^2$]", xlim=NEAR[:2], ylim=NEAR[2:])


def _hoop(ax: Any) -> None:
    """Wire and ball as they are at the start, from above."""
    circle = np.linspace(0, 2 * np.pi, 241)
    around = np.stack([np.cos(circle), np.sin(circle)])
    x = basketball.HOOP - basketball.AROUND
    ax.plot(*(basketball.HOOP * around), color=GREY, linewidth=3.5, alpha=0.6)
    ax.plot(x + basketball.RADIUS * around[0], basketball.RADIUS * around[1], color=GREY, linewidth=0.8)
    ax.plot([x], [0], "o", color=BLACK, markerfacecolor="white", markersize=4, zorder=5)
    ax.set(xlabel="$x$ [cm]", ylabel="$y$ [cm]", aspect="equal", xlim=(-13, 26), ylim=(-21, 13))


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    return [*_of_the_maximum(data), *_of_the_orbits(data), *_of_the_asymptotic_orbit(data)]


def _of_the_maximum(data: dict[str, Any]) -> list[tuple[str, bool]]:
    (top, by_formula), (u, u_read) = data["top"], data["U_top"]
    bottom, deep = data["extremes"][1]
    places, values = curve(1 + list(POTENTIALS).index(CONSTANTS))
    table = np.interp(places, data["all_turns"], data["all_U"])
    bends = np.flatnonzero(np.diff(np.sign(np.diff(data["all_U"]))))
    printed, high = POTENTIALS[CONSTANTS].split(), float(np.degrees(-0.12 * np.pi - top))
    return [
        (
            f"the maximum is at {top / np.pi:.6f} pi, {-np.degrees(top):.1f} degrees below the horizontal, with U = "
            f"{u:.3f} cm^2/s^2, a root of U' by the kept momenta and by DOP853 on (11.1), which agree within 1e-9",
            agrees(top / np.pi, printed[3]) and agrees(u, printed[4]) and bool(abs(top - by_formula) < 1e-9),
        ),
        (
            f"[MD] reads it off figure 11.7 as -0.12 pi, about 21 degrees: {high:.1f} degrees too high; U is so flat "
            f"there that it is only {100 * (1 - u_read / u):.2f} % less",
            bool(0.0005 < 1 - u_read / u < 0.0015 and 2 < high < 4),
        ),
        (
            "once around the wire U has 24 values by (11.1) and DOP853, to their last digits, and no other extremes "
            f"than the maximum and a minimum, {deep:.2f} cm^2/s^2 at {bottom / np.pi:.6f} pi",
            all(agrees(*pair) for pair in zip(table, values, strict=True))
            and agrees(bottom / np.pi, printed[5])
            and agrees(deep, printed[6])
            and len(bends) == 2,
        ),
    ]


def _of_the_orbits(data: dict[str, Any]) -> list[tuple[str, bool]]:
    count, printed = len(TURNS), list(TURNS.values())
    lowest, back, around, rates, kept = (data[name][:count] for name in ("lowest", "back", "around", "rates", "kept"))
    met = [
        agrees(-rate, a) and agrees(time, b) and agrees(turns, c)
        for rate, time, turns, (a, b, c, _) in zip(rates, back, around, printed, strict=True)
    ]
    turned = np.abs(lowest - np.pi * np.array(list(TURNS))) < 1e-6 * np.pi
    times, turns = (", ".join(f"{x:.4f}" for x in values) for values in (back, around))
    out = data["lost"][:count][kept] / np.pi
    return [
        (
            "[MD] on figure 11.7: orbits with less energy turn where E = U(psi), in runs of the whole ball (1e-6 pi, "
            "as h^2 has it), and come back through the horizontal",
            bool(np.all(turned) and np.all(data["crossings"][:count] == 1)),
        ),
        (
            "[MD] on figure 11.7: they do not pass the horizontal again: U' < 0 from psi = 0 to pi",
            bool(np.all(data["above"] < 0)),
        ),
        (
            f"turning at {', '.join(f'{x:g}' for x in TURNS)} pi they cross psi = 0 at their rates, stay below "
            f"for {times} s and go {turns} turns around the hoop, as by Newton and Euler, to the last digit",
            all(met),
        ),
        (
            f"the first four stay on the hoop while below, at most {around[kept].max():.2f} turns around it; the one "
            "that turns at -0.12 pi and the asymptotic one leave it below",
            bool(np.array_equal(kept, [p[3] for p in printed]) and not data["kept"][count]),
        ),
        (
            f"those four leave it above the horizontal, at {', '.join(f'{x:.3f}' for x in out)} pi: popped out",
            bool(np.all((out > 0) & (out < 0.5))),
        ),
    ]


def _of_the_asymptotic_orbit(data: dict[str, Any]) -> list[tuple[str, bool]]:
    rate, growth, approach = data["rates"][len(TURNS)], data["growth"][0], float(data["approach"])
    spin, around = data["spins_top"][0], -basketball.RADIUS * data["spins_top"][1]
    off, turned = data["rest"]
    return [
        (
            f"[MD] on figure 11.7: one orbit takes for ever: it crosses with {rate:.6f} rad/s and comes to the maximum "
            f"at the rate {growth:.3f} 1/s; that of the run is {approach:.2f}, within 1 %",
            agrees(rate, "7.571904") and agrees(growth, "17.165") and abs(approach / growth - 1) < 0.01,
        ),
        (
            f"there the ball goes around without end, theta' = {around:.4f} rad/s, spin {spin:.3f} rad/s: the scheme "
            "keeps this steady motion within 1e-7 for 0.5 s, in which what is off grows five-thousandfold",
            agrees(around, "-2.8078")
            and agrees(spin, "-46.294")
            and bool(off < 1e-7 and abs(turned - 0.5 * around) < 1e-6),
        ),
        (
            f"[MD] on figure 11.7: with more energy, at {THROUGH} times that rate, it falls through the hoop",
            bool(data["lowest"][-1] < -0.5 * np.pi and data["crossings"][-1] == 0),
        ),
    ]
