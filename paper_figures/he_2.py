"""[HE] figure 2: an inextensible planar string

Left: the string z(s) with the tangent z_s at a point, and the velocity there split along and across the string,
z' = z_s xi (3.14); colour is the tension, which vanishes at the free ends (3.13). Right: the string let go, bent and
turning, every tenth of a second; the bold dot is s = 0 and the line its mass centre's. Below: the same string where it
cannot move sideways, sharp and on ice (Example 4.1), pulled at its front s = 1 (dot): it stays on the front's track
(grey), and its tension grows in a straight line from the free end.
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
    "points": 61,
    "mass": 1.0,
    "length": 1.0,
    "h": 0.0025,
    "steps": 400,
    "velocity": (0.8, 0.25),
    "at": 27,
    "sharp": (21, 41),
    "pull": 0.7,
    "speed": 0.8,
}


def _angle(s: float) -> float:
    return 1.3 - 2.6 * s + 0.5 * float(np.sin(2 * np.pi * s))


def _heading(distance: Any) -> Any:
    """Of the sharp string's front: the string's own tangent, on and on."""
    s = 1 + distance
    return 1.3 - 2.6 * s + 0.5 * jnp.sin(2 * np.pi * s)


def _turning(s: float) -> float:
    return 1.2 * float(np.cos(np.pi * s))


def compute(fast: bool) -> dict[str, Any]:
    string = dh.fields.String(points=PARAMETERS["points"], mass=PARAMETERS["mass"], length=PARAMETERS["length"])
    start = string.laid(_angle, _turning, velocity=PARAMETERS["velocity"])
    scheme = dh.fields.TridiagonalTension()
    run = dh.simulate(string, **start, h=PARAMETERS["h"], steps=PARAMETERS["steps"], save_every=4, scheme=scheme)
    q, xi = jnp.asarray(run.q), jnp.asarray(run.xi)
    invariants = run.invariants()
    return {
        "t": run.t,
        "places": np.asarray(jax.vmap(string.places)(q)),
        "velocities": np.asarray(string.point_velocities(q[0], xi[0])),
        "linear": np.asarray(jax.vmap(string.linear_momentum)(q, xi)),
        "angular": np.asarray(jax.vmap(string.angular_momentum)(q, xi)),
        "stretch": invariants["stretch"],
        "energy": invariants["energy"],
        "tension": np.asarray(dh.fields.tension(string, **start)),
        **_sharp(),
    }


def _sharp() -> dict[str, Any]:
    """The string that cannot move sideways, coarse and fine, and its front's track z = phi, by Simpson's rule."""
    found: dict[str, Any] = {}
    speed, pull = PARAMETERS["speed"], PARAMETERS["pull"]
    for name, points in zip(("coarse", "fine"), PARAMETERS["sharp"], strict=True):
        sharp = dh.fields.ConstrainedString(points=points, heading=_heading, pull=pull, mass=PARAMETERS["mass"])
        h = 0.5 / (points - 1)
        scheme = dh.fields.LinkByLink()
        run = dh.simulate(sharp, **sharp.behind(_angle, speed), h=h, steps=2 * (points - 1), scheme=scheme)
        found |= {
            f"{name} places": np.asarray(jax.vmap(sharp.places)(jnp.asarray(run.q))),
            f"{name} speed": run.xi[:, 0],
            f"{name} gone": run.q[:, 0],
            f"{name} tension": np.asarray(sharp.tension(0.5 * (run.q[-2] + run.q[-1]), run.xi_mid[-1])),
        }
    fine = np.linspace(-1.0, 2.0, 12_001)
    values = np.exp(1j * np.asarray(_heading(fine)))
    pieces = (values[:-2:2] + 4 * values[1:-1:2] + values[2::2]) * (fine[1] - fine[0]) / 3
    track = np.concatenate([[0.0], np.cumsum(pieces)])
    return found | {"distance": fine[::2], "track": track - track[len(track) // 3]}


def draw(data: dict[str, Any]) -> Any:
    z, at = data["places"], PARAMETERS["at"]
    with style():
        layout = [["string", "motion"], ["sharp", "sharp tension"]]
        drawing, axes = mosaic(layout, size=(7.0, 5.6), width_ratios=(1.0, 1.25), height_ratios=(1.2, 1.0))
        _string(axes["string"], z[0], data["velocities"], data["tension"], at, drawing)
        ax = axes["motion"]
        shown = np.flatnonzero(np.isclose(data["t"] % 0.1, 0, atol=1e-9) | np.isclose(data["t"] % 0.1, 0.1, atol=1e-9))
        for i, k in enumerate(shown):
            ax.plot(z[k].real, z[k].imag, color=BLUE, alpha=0.25 + 0.75 * i / len(shown))
            ax.plot(z[k][:1].real, z[k][:1].imag, "o", color=BLACK, markersize=2.5)
        centre = _centre(z)
        ax.plot(centre.real, centre.imag, color=VERMILLION, linewidth=0.9)
        ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal")
        _followed(axes["sharp"], axes["sharp tension"], data)
    return drawing


def _followed(ax: Any, beside: Any, data: dict[str, Any]) -> None:
    z, track = data["fine places"], data["track"]
    passed = data["distance"] <= data["fine gone"][-1]
    ax.plot(track[passed].real, track[passed].imag, color=GREY, linewidth=6, alpha=0.3)
    for k, alpha in ((0, 0.35), (len(z) // 2, 0.6), (len(z) - 1, 1.0)):
        ax.plot(z[k].real, z[k].imag, color=BLUE, alpha=alpha, linewidth=2)
        ax.plot(z[k][:1].real, z[k][:1].imag, "o", color=BLACK, markersize=3.5)
    ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal")
    tension = data["fine tension"]
    beside.plot([0, 1], [0, PARAMETERS["pull"]], color=GREY, linewidth=0.8)
    beside.plot(1 - (np.arange(len(tension)) + 0.5) / len(tension), tension, ".", color=VERMILLION, markersize=4)
    beside.set(xlabel="$s$ [m]", ylabel=r"tension of the sharp string $\lambda$ [N]")


def _string(ax: Any, z: np.ndarray, v: np.ndarray, tension: np.ndarray, at: int, drawing: Any) -> None:
    from matplotlib.collections import LineCollection

    ends = np.column_stack([z.real, z.imag])
    pieces = LineCollection(list(np.stack([ends[:-1], ends[1:]], axis=1)), array=tension, cmap="viridis", linewidths=3)
    ax.add_collection(pieces)
    drawing.colorbar(pieces, ax=ax, label=r"tension $\lambda$ [N]", shrink=0.8)
    tangent = (z[at + 1] - z[at - 1]) / abs(z[at + 1] - z[at - 1])
    xi = v[at] / tangent
    where = (z[at].real, z[at].imag)
    for arrow, color, label, offset in (
        (0.3 * tangent, GREY, "$z_s$", (3, 3)),
        (0.25 * v[at], BLACK, r"$\dot z = z_s\,\xi$", (4, 0)),
        (0.25 * tangent * xi.real, BLUE, "along", (16, -7)),
        (0.25 * tangent * 1j * xi.imag, VERMILLION, "across", (-34, 2)),
    ):
        tip = (where[0] + arrow.real, where[1] + arrow.imag)
        ax.annotate("", tip, where, arrowprops={"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0})
        ax.annotate(label, tip, offset, textcoords="offset points", color=color)
    for k, name, offset in ((0, "$s = 0$", (6, -3)), (-1, "$s = 1$", (-8, -12))):
        ax.plot([z[k].real], [z[k].imag], "o", color=BLACK, markersize=4)
        ax.annotate(name, (z[k].real, z[k].imag), offset, textcoords="offset points")
    ax.set(xlabel="$x$ [m]", ylabel="$y$ [m]", aspect="equal")
    ax.set(ylim=(-0.08, 0.68), xlim=(-0.08, 0.72))


def _centre(z: np.ndarray) -> np.ndarray:
    weights = np.ones(z.shape[1])
    weights[[0, -1]] = 0.5
    return z @ weights / weights.sum()


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    steps, centre = PARAMETERS["steps"], _centre(data["places"])
    links = np.abs(np.diff(data["places"], axis=1)) * (PARAMETERS["points"] - 1) / PARAMETERS["length"]
    tension, exact = data["tension"], 1e-12 * steps**0.5
    ends = np.array([1.5 * tension[0] - 0.5 * tension[1], 1.5 * tension[-1] - 0.5 * tension[-2]])
    straight = centre[0] + data["t"] / data["t"][-1] * (centre[-1] - centre[0])
    return [
        (
            "no link has stretched (1e-13 of its length)",
            bool(np.max(data["stretch"]) < 1e-13 and np.ptp(links) < 1e-12),
        ),
        (
            "linear and angular momentum are exact",
            bool(np.max(np.ptp(data["linear"], axis=0)) < exact and np.ptp(data["angular"]) < exact),
        ),
        ("the mass centre goes straight, at constant speed", bool(np.max(np.abs(centre - straight)) < exact)),
        (
            "the tension vanishes towards the free ends (3.13): extended to them, less than 1 % of its largest value",
            bool(np.max(np.abs(ends)) < 0.01 * np.max(np.abs(tension))),
        ),
        (
            "the energy is not exact but bounded: it moves, by less than 1 %",
            bool(1e-12 < np.ptp(data["energy"]) / data["energy"][0] < 0.01),
        ),
        *_sharp_claims(data),
    ]


def _sharp_claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    pull, mass, points = PARAMETERS["pull"], PARAMETERS["mass"], PARAMETERS["sharp"]
    off, bent = [], []
    for name in ("coarse", "fine"):
        z, gone = data[f"{name} places"][-1], data[f"{name} gone"][-1]
        on = gone - np.linspace(0, 1, len(z))
        exact = [np.interp(on, data["distance"], part) for part in (data["track"].real, data["track"].imag)]
        off.append(np.max(np.abs(z - exact[0] - 1j * exact[1])))
        s = 1 - (np.arange(len(z) - 1) + 0.5) / (len(z) - 1)
        bent.append(np.max(np.abs(data[f"{name} tension"] - pull * s)))
    h = 0.5 / (points[1] - 1)
    speed = PARAMETERS["speed"] + pull / mass * h * np.arange(len(data["fine speed"]))
    # Links that turn by 2a = kappa ds: cos(a) of the acceleration along them, and sin(a) of m v times v kappa.
    kappa, v = 2.6 + np.pi, speed[-1]
    most = (kappa / (points[1] - 1)) ** 2 * (mass * v**2 / 4 + pull / 8)
    exact_sum = 1e-12 * len(speed) ** 0.5
    gone = np.abs(np.diff(data["fine places"], axis=0)) / (h * (speed[1:] + speed[:-1]) / 2)[:, None]
    uneven = float(np.max(np.abs(gone - 1)))
    return [
        (
            "the string that cannot move sideways is on its front's track to second order in ds (slope within 0.1)",
            bool(abs(np.log2(off[0] / off[1]) - 2) < 0.1),
        ),
        (
            "its tension is linear in s under the pull (4.5): second order (within 0.1), no farther off than theory",
            bool(abs(np.log2(bent[0] / bent[1]) - 2) < 0.1 and bent[1] < most),
        ),
        (
            "its front's speed grows as pull t / mass, and every point goes as far in each step, to round-off "
            f"({uneven:.0e} of it)",
            bool(np.max(np.abs(data["fine speed"] - speed)) < exact_sum and uneven < exact_sum),
        ),
    ]


def animate(where: Path) -> Path:
    """The motion as a film, to `where` (.gif)."""
    data = compute(False)
    z = data["places"]
    with style():
        drawing, axes = mosaic([["motion"]], size=(4.5, 3.0))
        ax = axes["motion"]
        (curve,) = ax.plot([], [], color=BLUE, linewidth=2)
        (end,) = ax.plot([], [], "o", color=BLACK, markersize=4)
        low, high = np.min([z.real, z.imag], axis=(1, 2)) - 0.05, np.max([z.real, z.imag], axis=(1, 2)) + 0.05
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xlabel="$x$ [m]", ylabel="$y$ [m]")

        def show(k: int) -> None:
            curve.set_data(z[k].real, z[k].imag)
            end.set_data(z[k][:1].real, z[k][:1].imag)

        return film.write(where, drawing, show, len(z))
