"""[MD] figure 9.2: Q(z) and the reduced potential of the Routh top, in all four cases of 9.7

Above Q(z), z = cos(theta), where it stands on a wall it leaves the page: [MD] plots it for case 2 only and gives no
numbers, so these are ours. Then a row a case: left the reduced potential U, from the library's energy at given Jellett
and Routh integrals C1, C2, with the leans (thick) that the top visits in two runs of the discrete Hamel scheme at their
energies (dashes); right these runs, dotted the poles. Case 1: no spin, U has no wall and the top goes over or swings
back. Case 2: walls at both poles. Case 3: no wall at theta = 0, which is a maximum for slow spin and a minimum for fast
spin, when the top sleeps. Case 4: no wall at theta = 180 degrees, a minimum.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, PURPLE, VERMILLION, style

from .pictures import mosaic
from .routh_reduced import (
    J1,
    J3,
    SIZES,
    TOP,
    A,
    G,
    M,
    R,
    at,
    at_pole,
    bend,
    constant,
    energy_of_lean,
    measured_bend,
    q_of,
    reduced,
    s_of,
    slope_of_s,
    swinging,
    through,
    turning,
    without_pole,
)

H, TIME = 0.005, 4.0
SLOW, FAST = 1.7, 10.0  # C2
CASES: dict[str, dict[str, Any]] = {  # C1, C2, and (theta, theta') at the start of two runs
    "1": {"c": (0.0, 0.0), "starts": ((np.pi, 5.0), (np.pi, 6.6))},
    "2": {"c": (1.5, 4.0), "starts": ((1.6, 0.5), (1.6, 3.5))},
    "3 slow": {"c": (without_pole(1, SLOW), SLOW), "starts": ((0.0, 1.0), (2.0, 1.0))},
    "3 fast": {"c": (without_pole(1, FAST), FAST), "starts": ((0.0, 1.0), (0.0, 3.0))},
    "4": {"c": (without_pole(-1, SLOW), SLOW), "starts": ((np.pi, 2.0), (np.pi, 5.0))},
}
PARAMETERS: dict[str, Any] = SIZES | {"h": H, "time": TIME, "cases": CASES}
TITLES = {
    "1": "Case 1: $S(\\pm1) = 0$",
    "2": "Case 2: $S(\\pm1) \\neq 0$",
    "3 slow": "Case 3: $S(1) = 0$, slow",
    "3 fast": "Case 3: $S(1) = 0$, fast",
    "4": "Case 4: $S(-1) = 0$",
}
Z = np.linspace(-0.9999, 0.9999, 801)
LEAN = np.linspace(0.006, np.pi - 0.006, 401)


def compute(fast: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"z": Z, "lean": LEAN}
    for name, case in CASES.items():
        c1, c2 = case["c"]
        data |= {f"q {name}": reduced(np.arccos(Z), c1, c2) - constant(c1, c2), f"u {name}": reduced(LEAN, c1, c2)}
        for i in (0, 1):
            data |= {f"{key} {name} {i}": value for key, value in _runs(name, i).items()}
    least = jnp.asarray(_least("2"))
    still = [
        dh.simulate(TOP, at(least), turning(least, *CASES["2"]["c"]), h=H / k, steps=800 * k).q[:, 8] for k in (1, 2)
    ]
    first, last = CASES["2"]["starts"]
    t = np.linspace(0, TIME, 801)
    return data | {
        "steady": np.array([np.ptp(np.arccos(z)) for z in still]),
        "swing 0": swinging(first, CASES["2"]["c"], t),
        "swing 1": swinging(last, CASES["2"]["c"], t),
        "slopes of S": np.array([slope_of_s(pole, SLOW) for pole in (1.0, -1.0)]),
        "bends": np.array([measured_bend(pole, SLOW) for pole in (1.0, -1.0)]),
        "bend fast": np.array(measured_bend(1.0, FAST)),
    }


def _runs(name: str, i: int) -> dict[str, Any]:
    """theta and theta' of run i, at h and h/2, its energy, and C1 and C2 along it."""
    theta, fall = CASES[name]["starts"][i]
    c1, c2 = CASES[name]["c"]
    omega = turning(jnp.asarray(theta), c1, c2, fall) if np.sin(theta) > 1e-9 else at_pole(theta, c2, fall)
    found: dict[str, Any] = {}
    for halves in (1, 2):
        run = dh.simulate(TOP, at(jnp.asarray(theta)), omega, h=H / halves, steps=round(TIME / H) * halves)
        kept = run.invariants()
        found |= {f"axis{halves}": run.q[:, 6:9], f"omega{halves}": run.xi[:, :3], f"energy{halves}": run.energy}
        found |= {"place": run.q[:, [2, 5, 8]], "t": run.t} if halves == 1 else {}
        found[f"kept{halves}"] = np.stack([kept["Jellett"], kept["Routh"]], axis=1)
    return found


def _least(name: str) -> float:
    """The lean of least U, where Q' = 0."""
    from scipy.optimize import brentq

    c1, c2 = CASES[name]["c"]
    k = int(np.argmin(reduced(LEAN, c1, c2)))
    slope = jax.jit(jax.grad(lambda z: q_of(z, c1, c2, jnp)))
    return float(np.arccos(brentq(lambda z: float(slope(z)), np.cos(LEAN[k + 1]), np.cos(LEAN[k - 1]), xtol=1e-15)))


def signed(data: dict[str, Any], name: str, i: int) -> np.ndarray:
    """The lean along run i in radians, continuous through the poles; from the run's axis in space."""
    axis = data[f"place {name} {i}"]
    lean = np.arctan2(np.hypot(axis[:, 0], axis[:, 1]), axis[:, 2])
    if name == "1":  # in a plane
        return np.unwrap(np.arctan2(-axis[:, 1], axis[:, 2]))
    if name == "4":
        return np.pi - through(np.pi - lean)
    return through(lean)


def draw(data: dict[str, Any]) -> Any:
    names = list(CASES)
    with style():
        layout = [["q", "q"], *([f"u {name}", f"run {name}"] for name in names)]
        drawing, axes = mosaic(layout, size=(7.0, 9.4), height_ratios=[1.3, 1, 1, 1, 1, 1])
        looks = zip(names, (BLUE, VERMILLION, GREEN, PURPLE, BLACK), ("-", "--", "-.", ":", (0, (6, 1.5))), strict=True)
        for name, color, dashes in looks:
            label = "Case " + name.replace(" ", ", ")
            axes["q"].plot(data["z"], data[f"q {name}"], color=color, linestyle=dashes, label=label)
            _row(data, name, axes[f"u {name}"], axes[f"run {name}"])
        axes["q"].set(xlabel=r"$z = \cos\theta$", ylabel="$Q$ [J]", xlim=(-1, 1), ylim=(-10, 22))
        drawing.legend(*axes["q"].get_legend_handles_labels(), loc="outside upper center", ncols=5)
        axes["u 4"].set_xlabel(r"$\theta$ [deg]")
        axes["run 4"].set_xlabel("$t$ [s]")
        axes["run 1"].legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1, ncols=3)
    return drawing


def _row(data: dict[str, Any], name: str, u_ax: Any, run_ax: Any) -> None:
    lean, u, (c1, c2) = np.degrees(data["lean"]), data[f"u {name}"], CASES[name]["c"]
    levels = [data[f"energy1 {name} {i}"][0] for i in (0, 1)]
    low, top = u.min(), max(levels)
    u_ax.plot(np.concatenate([-lean[::-1], lean]), np.concatenate([u[::-1], u]), color=BLACK)
    if name in ("1", "4"):
        u_ax.plot(360 - lean, u, color=BLACK)
    window = {"1": (-180, 180), "2": (0, 180), "4": (0, 360)}.get(name, (-180, 180))
    room = (low - 0.12 * (top - low), top + 0.45 * (top - low))
    u_ax.set(xlim=window, ylim=room, ylabel="$U$ [J]", xticks=np.linspace(*window, 5))
    u_ax.set_title(f"{TITLES[name]}, $C_1 = {c1:.3g}$ kg m$^3$/s, $C_2 = {c2:g}$ kg m$^2$/s", loc="left", fontsize=8)
    for i, color in ((0, BLUE), (1, VERMILLION)):
        angle = np.degrees(signed(data, name, i))
        shown = (angle + 180) % 360 - 180 if name == "1" else angle
        shown = np.sort(shown)
        across = np.where(np.diff(shown, append=shown[-1]) > 30, np.nan, shown)  # case 1: no line where it never is
        u_ax.axhline(levels[i], color=color, linewidth=0.6, linestyle="--")
        u_ax.plot(across, 0 * across + levels[i], color=color, linewidth=3, solid_capstyle="butt")
        run_ax.plot(data[f"t {name} {i}"], angle, color=color, label=("first run", "second run")[i])
    poles = {"1": (0, 180), "2": (0, 180), "4": (180,)}.get(name, (0,))
    for k, pole in enumerate(poles):
        label = "pole" if k == 0 else None
        run_ax.axhline(pole, color=GREY, linewidth=0.9, linestyle=":", label=label)
    run_ax.set(ylabel=r"$\theta$ [deg]", xlim=(0, TIME))


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    formula = max(_off_formula(data, name) for name in CASES)
    slopes = data["slopes of S"]
    bends, wanted = data["bends"], np.array([-7.295662924, 7.949219790])
    deep = {name: [_out_of_well(data, name, i) for i in (0, 1)] for name in CASES}
    ratio = [np.log2(a / b) for pair in deep.values() for a, b in pair]
    kept = [data[f"kept{k} {name} {i}"] for name in CASES for i in (0, 1) for k in (1, 2)]
    jellett = max(float(np.max(np.abs(c[:, 0] - c[0, 0]))) for c in kept)
    still = data["steady"]
    turns = [np.ptp(signed(data, "1", i)) for i in (0, 1)]
    critical = np.sqrt(4 * M * G * A * (J1 + M * (A + R) ** 2) * (J1 * J3 + M * J3 * (A + R) ** 2))
    critical /= J3 + M * R * (A + R)
    swings = [np.log2(_swing_miss(data, i, 1) / _swing_miss(data, i, 2)) for i in (0, 1)]
    return [
        (
            f"the library's energy at given C1, C2 is [MD]'s U = const + Q(cos(theta)) ({formula:.0e} of it)",
            formula < 1e-10,
        ),
        (
            "the library's U'' at the poles is what S'(1) of 9.7 and S'(-1) with its misprint corrected make it (1e-6)",
            bool(np.max(np.abs(bends - [bend(pole, s) for pole, s in zip((1, -1), slopes[:, 1], strict=True)])) < 1e-6),
        ),
        (
            f"C2 = 1.7: U''(0) = {bends[0]:.6f}, U''(180 deg) = {bends[1]:.6f} (1e-6 of numbers by sympy)",
            bool(np.max(np.abs(bends - wanted)) < 1e-6),
        ),
        (
            f"with S'(-1) as printed U''(180 deg) were {bend(-1, slopes[1, 2]):.4f}, off the library's by over 0.5",
            abs(bend(-1, slopes[1, 2]) - bends[1]) > 0.5,
        ),
        (
            f"case 3: theta = 0 is a maximum for C2 = 1.7 and a minimum for 10, as sleeping needs {critical:.2f}",
            bool(data["bend fast"] > 0 > bends[0] and SLOW < critical < FAST),
        ),
        ("U has walls S(1)^2, S(-1)^2/(2 r^2 J1^2 J3 sin^2) at the poles in case 2 (0.1 %)", _walls(data)),
        (
            "case 1: with little energy the top swings back, with more it goes over and over",
            bool(turns[0] < 2 * np.pi < turns[1]),
        ),
        (
            f"all ten runs stay in their wells: U + K = E to O(h^2), slopes {min(ratio):.2f} to {max(ratio):.2f}",
            max(abs(r - 2) for r in ratio) < 0.1 and max(a for pair in deep.values() for a, _ in pair) < 1e-3,
        ),
        (
            f"case 2 runs follow DOP853 of the reduced equation at order 2, slopes {swings[0]:.2f}, {swings[1]:.2f}",
            max(abs(x - 2) for x in swings) < 0.1,
        ),
        (
            f"at the minimum of case 2 the lean stands still, to O(h^2): {still[0]:.0e} rad, {still[1]:.0e} with h/2"
            " (not exactly: the body's frame is not invariant under the spin)",
            bool(still[1] > 1e-10 and abs(np.log2(still[0] / still[1]) - 2) < 0.1),
        ),
        (f"C1 is exact: {jellett:.0e} (1e-12 sqrt(steps))", jellett < 1e-12 * np.sqrt(TIME / H)),
    ]


def _off_formula(data: dict[str, Any], name: str) -> float:
    c1, c2 = CASES[name]["c"]
    away = np.sin(data["lean"]) > 0.1  # at the poles U is a quotient of small numbers
    wanted = constant(c1, c2) + q_of(np.cos(data["lean"][away]), c1, c2)
    return float(np.max(np.abs(data[f"u {name}"][away] / wanted - 1)))


def _walls(data: dict[str, Any]) -> bool:
    c1, c2 = CASES["2"]["c"]
    ends = data["lean"][[0, -1]]
    heights = data["u 2"][[0, -1]] * np.sin(ends) ** 2 * 2 * R**2 * J1**2 * J3
    return bool(np.allclose(heights, s_of(np.array([1.0, -1.0]), c1, c2) ** 2, rtol=1e-3))


def _out_of_well(data: dict[str, Any], name: str, i: int) -> list[float]:
    """Largest miss of U + K, with C1 and C2 of the start, over the depth of the well, at h and at h/2."""
    level = data[f"energy1 {name} {i}"][0]
    found = [
        energy_of_lean(data[f"axis{k} {name} {i}"], data[f"omega{k} {name} {i}"], *CASES[name]["c"]) for k in (1, 2)
    ]
    return [float(np.max(np.abs(e - level))) / (level - data[f"u {name}"].min()) for e in found]


def _swing_miss(data: dict[str, Any], i: int, halves: int) -> float:
    lean = np.arccos(data[f"axis{halves} 2 {i}"][::halves, 2])
    return float(np.max(np.abs(lean - data[f"swing {i}"])))
