"""[QS] figure 6.5: the geometry of the rolling disk

Left: lean theta of the disk's plane from the vertical, heading phi of its track, own rotation psi of a spoke (dot), and
contact point (x, y), with the track of a run that passes this place. Right: what that motion has for energy beside that
of leaning: U_c on its momentum level, which has no way to theta = +-pi/2, and the energy, with the leans it reaches.
"""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILLION, style
from discrete_hamel.systems._blocks import outlines

from . import disk_checks, spheres
from .disk_checks import DISK
from .pictures import mosaic

PARAMETERS: dict[str, Any] = {name: getattr(DISK, name) for name in ("mass", "radius", "gravity")} | {
    "A": DISK.inertia_diameter,
    "B": DISK.inertia_axis,
    "q": (0.42, 0.75, 1.3, 0.0, 0.0),
    "xi": (0.2, 0.9, 2.6),
    "h": 0.005,
    "steps": 3000,
}
LEANS = 1.45  # rad: range on which the hidden momenta are found
NEAR = 1e-3  # rad from falling flat
SEEN = spheres.view(-24, 24)
COLUMN = True


def compute(fast: bool) -> dict[str, Any]:
    q, xi, h, steps = (PARAMETERS[name] for name in ("q", "xi", "h", "steps"))
    run = dh.simulate(DISK, q=q, xi=xi, h=h, steps=steps)
    momenta = dh.hidden_momenta(DISK, [0.0] * 5, between=(-LEANS, LEANS))
    lean = dh.reduced(momenta, momenta(q, xi))
    energy = float(np.asarray(run.energy)[0])
    theta = np.linspace(-LEANS, LEANS, 291)
    potential, wronskian = (np.array([float(f(at)) for at in theta[::5]]) for f in (lean.potential, momenta.wronskian))
    p1, p2 = disk_checks.momenta(np.asarray(run.q).T, np.asarray(run.xi).T)
    level = _level(theta, q[0], (p1[0], p2[0]))
    ends = np.array([-1, 1]) * (np.pi / 2 - NEAR)
    halves = [_most(h / n, steps * n // 3) for n in (1, 2)]
    return {
        "track": run.q[: int(1.25 / h), 3:],
        "behind": dh.simulate(DISK, q=q, xi=xi, h=-h, steps=int(0.8 / h)).q[:, 3:],
        "theta": theta,
        "level": level,
        "U": disk_checks.amended(theta, *level[:2]),
        "ends": disk_checks.amended(ends, *_level(ends, q[0], (p1[0], p2[0]))),
        "library": np.stack([theta[::5], potential, wronskian]),
        "energy": np.array(energy),
        "reached": np.array([run.q[:, 0].min(), run.q[:, 0].max()]),
        "turning": lean.oscillation(energy, q[0]),
        "kept": _kept(run, p1, p2),
        "most": np.array(halves),
    } | disk_checks.differences()


def _most(h: float, steps: int) -> float:
    """The largest lean of a run, by a parabola through the nodes around it."""
    theta = np.asarray(dh.simulate(DISK, q=PARAMETERS["q"], xi=PARAMETERS["xi"], h=h, steps=steps).q)[:, 0]
    k = 1 + int(np.argmax(theta[1:-1]))
    a, b, c = theta[k - 1 : k + 2]
    return float(b - (a - c) ** 2 / (8 * (a - 2 * b + c)))


def _level(theta: np.ndarray, here: float, p: tuple[float, float]) -> np.ndarray:
    """p1, p2 as functions of the lean on the momentum level of p at `here`, by DOP853 on the momentum equations."""
    return _solved(lambda at, y: disk_checks.momentum_slopes(at, *y), theta, here, p)


def _solved(slopes: Any, theta: np.ndarray, here: float, start: Any) -> np.ndarray:
    values = np.empty((len(start), len(theta)))
    for side in (theta >= here, theta < here):
        if side.any():
            end = theta[side][np.argmax(np.abs(theta[side] - here))]
            found = solve_ivp(slopes, (here, end), start, "DOP853", dense_output=True, rtol=1e-12, atol=1e-12)
            values[:, side] = found.sol(theta[side])
    return values


def _kept(run: dh.Trajectory, p1: np.ndarray, p2: np.ndarray) -> np.ndarray:
    """How far p . eta strays along the run, eta the fundamental solution of (6.18), corrected and as printed."""
    theta = np.asarray(run.q)[:, 0]
    strays = []
    for slip in (False, True):
        eta = _solved(lambda at, y, slip=slip: disk_checks.field_slopes(at, y, slip), theta, 0.0, np.eye(2).ravel())
        kept = p1[None] * eta[:2] + p2[None] * eta[2:]
        strays.append(float(np.max(np.abs(kept - kept[:, :1]))))
    return np.array(strays)


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["disk", "energy"]], size=(7.2, 3.4), width_ratios=[1.35, 1])
        _disk(axes["disk"], data)
        ax = axes["energy"]
        theta, u, energy = data["theta"], data["U"], float(data["energy"])
        ax.plot(theta, u, color=BLUE)
        ax.plot(data["library"][0], data["library"][1], ".", color=BLACK, markersize=3)
        low, high = data["turning"]
        ax.plot([low, high], [energy, energy], color=VERMILLION, marker="o", markersize=4)
        ax.annotate("$E$", (high, energy), (6, -3), textcoords="offset points", color=VERMILLION)
        for wall in (-np.pi / 2, np.pi / 2):
            ax.axvline(wall, color=GREY, linewidth=1.2)
        ax.set(xlabel=r"$\theta$ [rad]", ylabel="$U_c$ [J]", xlim=(-1.75, 1.75), ylim=(0.6 * u.min(), 3.2 * energy))
        ax.set_xticks([-np.pi / 2, 0, np.pi / 2], [r"$-\pi/2$", "0", r"$\pi/2$"])
    return drawing


def _flat(points: Any) -> np.ndarray:
    """Points of space (.., 3) on the drawing: right and up."""
    return np.moveaxis(np.asarray(points, float) @ SEEN[:2].T, -1, 0)


def _disk(ax: Any, data: dict[str, Any]) -> None:
    theta, phi, psi, x, y = PARAMETERS["q"]
    radius, up = DISK.radius, np.array([0.0, 0.0, 1.0])
    heading, left = np.array([np.cos(phi), np.sin(phi), 0]), np.array([-np.sin(phi), np.cos(phi), 0])
    contact, tilted = np.array([x, y, 0.0]), np.cos(theta) * up + np.sin(theta) * left
    centre = contact + radius * tilted
    rim = outlines.circle(centre, radius * heading, radius * tilted, 121)
    ax.fill(*_flat(rim), facecolor="#eef3f7", edgecolor=BLACK, linewidth=1.4, alpha=0.9, zorder=2)
    for part in ("behind", "track"):
        track = np.column_stack([data[part], np.zeros(len(data[part]))])
        ax.plot(*_flat(track), color=GREEN, linewidth=1.4, zorder=1, linestyle="-" if part == "track" else ":")
    corner = np.array([0.75, -1.9, 0.0])
    for axis, name in zip(np.eye(3), "xyz", strict=True):
        _arrow(ax, corner, corner + (0.7 if name == "z" else 0.9) * axis, f"${name}$", BLACK)
    _line(ax, contact, contact + 2.2 * up, GREY, ":")
    _line(ax, contact, centre + radius * tilted, ORANGE, "-")
    _line(ax, contact, contact + np.array([1.5, 0, 0]), GREY, ":")
    _line(ax, contact, contact + 1.7 * heading, VERMILLION, "--")
    spoke = centre + radius * (np.cos(psi) * tilted - np.sin(psi) * heading)
    _line(ax, centre, spoke, BLUE, "-")
    ax.plot(*_flat(spoke), "o", color=BLUE, markersize=5, zorder=4)
    for point in (contact, centre):
        ax.plot(*_flat(point), "o", color=BLACK, markersize=4, zorder=4)
    _arc(ax, contact, 1.75, up, left, theta, r"$\theta$", ORANGE)
    _arc(ax, contact, 1.05, np.eye(3)[0], np.eye(3)[1], phi, r"$\phi$", VERMILLION)
    _arc(ax, centre, 0.45, tilted, -heading, psi, r"$\psi$", BLUE)
    ax.annotate("$(x, y)$", _flat(contact), (-8, -13), textcoords="offset points", ha="center")
    ax.set_aspect("equal")
    ax.axis("off")


def _line(ax: Any, start: np.ndarray, end: np.ndarray, color: str, linestyle: str) -> None:
    ax.plot(*_flat([start, end]), color=color, linestyle=linestyle, linewidth=1.1, zorder=3)


def _arrow(ax: Any, start: np.ndarray, end: np.ndarray, name: str, color: str) -> None:
    looks = {"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8, "lw": 0.8}
    ax.annotate("", _flat(end), _flat(start), arrowprops=looks)
    ax.update_datalim([_flat(start), _flat(end)])
    ax.annotate(name, _flat(end + 0.12 * (end - start)), ha="center", va="center")


def _arc(ax: Any, at: Any, size: float, first: Any, second: Any, angle: float, name: str, color: str) -> None:
    """From `first` by `angle` towards `second`, with its name in the middle."""
    a = np.linspace(0, angle, 31)[:, None]
    ax.plot(*_flat(at + size * (np.cos(a) * first + np.sin(a) * second)), color=color, linewidth=1.0, zorder=4)
    middle = at + (size + 0.16) * (np.cos(angle / 2) * first + np.sin(angle / 2) * second)
    ax.annotate(name, _flat(middle), ha="center", va="center", color=color, zorder=5)


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    theta, potential, wronskian = data["library"]
    size = np.abs(potential)
    off_u = float(np.max(np.abs(potential - data["U"][::5]) / size))
    off_w = float(np.max(np.abs(wronskian - np.cos(theta))))
    corrected, slip = data["kept"]
    errors = data["most"] - data["turning"][1]
    ratio = errors[0] / errors[1]
    low, high = data["turning"]
    least = float(np.min(data["ends"]) / data["energy"])

    def small(*names: str) -> bool:
        return all(bool(np.max(data[name]) < 1e-12) for name in names)

    return [
        (
            "the printed L is the energy of motion of four mass points in the disk less m g R cos theta (1e-12)",
            small("lagrangian"),
        ),
        (
            "the constraints are those of rolling: the point of the disk that touches the plane is at rest (1e-12)",
            small("rolling"),
        ),
        (
            "D is spanned by d/dtheta, d/dphi and -R cos phi d/dx - R sin phi d/dy + d/dpsi (1e-15)",
            bool(np.max(data["fields"]) < 1e-15),
        ),
        (
            "the momentum equations hold with p1 = A phi' cos theta, p2 = (m R^2 + B)(phi' sin theta + psi') (1e-12), "
            "and do not with p1, p2 as printed",
            small("momentum equations") and bool(np.min(data["printed momenta"]) > 1e-3),
        ),
        (
            f"(6.18) with eta1 in its second equation gives two constants of the run within 100 h^2 ({corrected:.0e}); "
            f"as printed, with eta2, it does not ({slip:.2f})",
            bool(corrected < 100 * PARAMETERS["h"] ** 2 and slip > 0.1),
        ),
        (
            f"the Wronskian of the kept momenta is cos theta, by Liouville's formula, within 1e-9 ({off_w:.0e})",
            off_w < 1e-9,
        ),
        (
            f"U_c = p1^2/2A + p2^2/2(m R^2 + B) + m g R cos theta is the library's (dots), within 1e-9 ({off_u:.0e})",
            off_u < 1e-9,
        ),
        (
            f"U_c tends to infinity at +-pi/2: {NEAR:g} rad from there it is {least:.0e} E, so the disk does not fall",
            bool(least > 100),
        ),
        (
            f"it leans from {low:.4f} to {high:.4f}, where U_c = E, and so does the run, at order 2: the error falls "
            f"to 1/{ratio:.2f} with h/2",
            bool(data["reached"][0] > low - 1e-3 and abs(ratio - 4) < 0.4),
        ),
    ]
