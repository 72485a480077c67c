"""[HE] figure 3: the Chaplygin sleigh coupled to a constrained string

Left: the sleigh with its blade at the contact point, where the string is tied; the string starts along the blade
(4.10). Right: thrown with a turn, the sleigh runs round a circle (blue) at constant speed, and the string, wound at
the start (pale), is on the sleigh's track after it has passed once its length.
"""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, VERMILLION, style

from . import film
from .pictures import mosaic

PARAMETERS: dict[str, Any] = {
    "points": (15, 21),  # of the string, fast and full settings
    "mass": 1.0,
    "inertia": 0.7,
    "string_mass": 0.5,
    "length": 2.0,
    "omega": 1.0,
    "v": 1.0,
    "h": 0.1,
    "steps": 60,
    "shown": (0, 10, 30, 50),
    "pull": 0.3,
}


def _angle(s: float) -> float:
    return 0.7 * float(np.sin(np.pi * (s - PARAMETERS["length"])))


def _sleigh(fast: bool) -> Any:
    names = ("mass", "inertia", "string_mass", "length")
    points = PARAMETERS["points"][0 if fast else 1]
    return dh.fields.SleighWithString(points=points, **{name: PARAMETERS[name] for name in names})


def compute(fast: bool) -> dict[str, Any]:
    sleigh = _sleigh(fast)
    start = sleigh.drawing(_angle, omega=PARAMETERS["omega"], v=PARAMETERS["v"])
    run = dh.simulate(sleigh, **start, h=PARAMETERS["h"], steps=PARAMETERS["steps"], scheme=dh.fields.LinkByLink())
    q = jnp.asarray(run.q)
    free = run.xi[:, : sleigh.rank]
    late = np.asarray(sleigh.tension(q[-1], jnp.asarray(run.xi[-1])))
    pulled = sleigh.replace(pull=PARAMETERS["pull"])
    forced = dh.simulate(pulled, **start, h=PARAMETERS["h"], steps=PARAMETERS["steps"], scheme=dh.fields.LinkByLink())
    under = np.asarray(pulled.tension(0.5 * (forced.q[-2] + forced.q[-1]), forced.xi_mid[-1]))
    return {
        "t": run.t,
        "sleigh": run.q[:, :3],
        "places": np.asarray(jax.vmap(sleigh.places)(q)),
        "xi": free,
        "stretch": run.invariants()["stretch"],
        "tension": late,
        "forced v": forced.xi[:, 1],
        "forced tension": under,
    }


def draw(data: dict[str, Any]) -> Any:
    from matplotlib.patches import Ellipse

    z, sleigh, shown = data["places"], data["sleigh"], PARAMETERS["shown"]
    with style():
        drawing, axes = mosaic([["sleigh", "motion"]], size=(7.0, 3.3), width_ratios=(1.0, 1.1))
        ax = axes["sleigh"]
        theta, x, y = sleigh[0]
        ax.add_patch(Ellipse((x, y), 0.9, 0.5, angle=np.degrees(theta), facecolor="#eef3f7", edgecolor=GREY))
        ax.plot(z[0].real, z[0].imag, color=VERMILLION, linewidth=1.8)
        ends = np.array([x + 1j * y - 0.22 * np.exp(1j * theta), x + 1j * y + 0.22 * np.exp(1j * theta)])
        ax.plot(ends.real, ends.imag, color=BLACK, linewidth=3.5, solid_capstyle="round")
        ax.plot([x], [y], "o", color=BLACK, markersize=6)
        ax.annotate("contact point", (x, y), (-22, -27), textcoords="offset points", fontsize=8)
        middle = z[0][len(z[0]) // 2]
        ax.annotate("string", (middle.real, middle.imag), (0, 10), textcoords="offset points", color=VERMILLION)
        ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal", xlim=(-2.2, 0.7), ylim=(-1.2, 1.2))
        ax = axes["motion"]
        ax.plot(sleigh[:, 1], sleigh[:, 2], color=BLUE, linewidth=0.9)
        for i, k in enumerate(shown):
            _drawn(ax, sleigh[k], z[k], 0.3 + 0.7 * i / (len(shown) - 1))
        ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal")
    return drawing


def _drawn(ax: Any, sleigh: np.ndarray, z: np.ndarray, alpha: float) -> None:
    ax.plot(z.real, z.imag, color=VERMILLION, linewidth=1.8, alpha=alpha)
    ends = sleigh[1] + 1j * sleigh[2] + 0.14 * np.exp(1j * sleigh[0]) * np.array([-1, 1])
    ax.plot(ends.real, ends.imag, color=BLACK, linewidth=3, solid_capstyle="round", alpha=alpha)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    exact, v, omega = 1e-12 * PARAMETERS["steps"] ** 0.5, PARAMETERS["v"], PARAMETERS["omega"]
    ds = PARAMETERS["length"] / (data["places"].shape[1] - 1)
    at = data["sleigh"][:, 1] + 1j * data["sleigh"][:, 2]
    # The scheme's chords v h turn by omega h each, so its points are on a circle of radius v h / (2 sin(omega h / 2)).
    radius = v * PARAMETERS["h"] / (2 * np.sin(omega * PARAMETERS["h"] / 2))
    centre = at[0] + 1j * np.exp(1j * data["sleigh"][0, 0]) * radius
    off = np.abs(data["places"] - centre) - radius
    passed = data["t"] > 1.05 * PARAMETERS["length"] / v
    density = PARAMETERS["string_mass"] / PARAMETERS["length"]
    rate = PARAMETERS["pull"] / (PARAMETERS["mass"] + PARAMETERS["string_mass"])
    forced = v + rate * data["t"]
    s = ds * (np.arange(len(data["forced tension"])) + 0.5)  # from the sleigh, as in the paper
    bent = np.abs(data["forced tension"] - density * (PARAMETERS["length"] - s) * rate)
    # Links that turn by 2a = kappa ds: cos(a) of the acceleration along them, and sin(a) of m v times v kappa; on the
    # track v kappa is omega, and v no more than now.
    most = ds**2 * density * (omega**2 / 4 + (omega / v) ** 2 * PARAMETERS["length"] * rate / 8)
    uneven = float(np.max(np.abs(np.abs(np.diff(data["places"], axis=0)) / PARAMETERS["h"] - v)))
    return [
        ("omega and v are constant ([HE] 4.7, 4.12)", bool(np.max(np.ptp(data["xi"], axis=0)) < exact)),
        ("the contact point stays on a circle", bool(np.max(np.abs(np.abs(at - centre) - radius)) < exact)),
        (
            f"all points of the string have the sleigh's speed: each goes v h in a step, to round-off ({uneven:.0e})",
            uneven < exact,
        ),
        ("the string has not stretched (1e-13)", bool(np.max(data["stretch"]) < 1e-13)),
        (
            "the string is off the sleigh's track at first and ends on it, to ds^2, after one length of it",
            bool(np.max(np.abs(off[0])) > 0.1 and np.max(np.abs(off[passed])) < ds**2),
        ),
        (
            "the tension is then zero, to ds^2 of m v^2 / length",
            bool(np.max(np.abs(data["tension"])) < ds**2 * PARAMETERS["string_mass"] * v**2 / PARAMETERS["length"]),
        ),
        (
            "pulled, the sleigh gains speed at pull / (m + string's mass), and the string takes its share (4.8, 4.11)",
            bool(np.max(np.abs(data["forced v"] - forced)) < exact),
        ),
        (
            "the tension is then linear in s, to ds^2 (4.12): no farther off than links that turn make it",
            bool(np.max(bent) < most and most < 0.05 * density * PARAMETERS["length"] * rate),
        ),
    ]


def animate(where: Path) -> Path:
    """The motion as a film, to `where` (.gif)."""
    data = compute(False)
    z, sleigh = data["places"], data["sleigh"]
    with style():
        drawing, axes = mosaic([["motion"]], size=(3.8, 3.4))
        ax = axes["motion"]
        ax.plot(sleigh[:, 1], sleigh[:, 2], color=GREY, linewidth=0.6)
        (string,) = ax.plot([], [], color=VERMILLION, linewidth=2)
        (blade,) = ax.plot([], [], color=BLACK, linewidth=4, solid_capstyle="round")
        ax.set(xlim=(-2.3, 1.4), ylim=(-1.1, 2.3), aspect="equal", xlabel="$x$ [m]", ylabel="$y$ [m]")

        def show(k: int) -> None:
            theta, x, y = sleigh[k]
            string.set_data(z[k].real, z[k].imag)
            ends = x + 1j * y + 0.14 * np.exp(1j * theta) * np.array([-1, 1])
            blade.set_data(ends.real, ends.imag)

        return film.write(where, drawing, show, len(z), a_second=12)
