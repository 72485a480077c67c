"""[BE] 8.4, figures 33 and 34: two points with parallel velocities on a rigid segment

Above the kinematical states of a rigid segment (figure 33): translational, or rotational about an instantaneous centre
C; and states of type I, across the segment (figure 34). Below motions on an inclined plane, downhill along x, with the
segment every 0.4 s. Type I turns, type II is carried along at its first angle. Right the transition: thrown uphill by
type II the points stop along the segment after 1.2 s (thick), a state that both types allow. From there type I slides
across it, type II (pale) falls on; the equations do not say which.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREY, PURPLE, VERMILLION, style

from . import drawings
from .pictures import mosaic

MASSES, LENGTH, G = (1.0, 2.0), 1.0, 1.0
TURNED, CARRIED = (dh.systems.SegmentParallelVelocities(*MASSES, LENGTH, G, turning) for turning in (True, False))
ANGLE = 0.5  # phi at the start of all motions
THROWN = 1.2  # s, until tau = 0: tau' = g cos(phi) by (62)
H, EVERY = 0.005, 80
RUNS: dict[str, tuple[Any, tuple[float, float], float]] = {  # system, the free velocities, time
    "type I": (TURNED, (-0.4, 1.1), 6.0),  # nu, phi'
    "type II": (CARRIED, (-1.0, 1.2), 3.2),  # tau, nu
    "before": (CARRIED, (-G * np.cos(ANGLE) * THROWN, 1.4), THROWN),
}
AFTER = 1.6  # s
STATES = {"translational": (0.35, 0.6, 0.0), "rotational": (0.35, 0.35, 0.9)}  # tau, nu, phi' as drawn
ORTHOGONAL = ((0.3, 0.25), (0.45, -0.9), (0.45, -0.45))  # nu, phi' as drawn, of type I
PARAMETERS: dict[str, Any] = {
    **{"masses": MASSES, "length": LENGTH, "g": G, "phi": ANGLE, "h": H},
    **{name: {"velocities": xi, "time": time} for name, (_, xi, time) in RUNS.items()},
    "states": STATES,
}


def compute(_: bool) -> dict[str, Any]:
    """The three motions, both that follow the transition, and what the library says of that state."""
    runs = {name: _run(system, (0.0, 0.0, ANGLE), xi, time) for name, (system, xi, time) in RUNS.items()}
    q, v = np.asarray(runs["before"].q[-1]), np.asarray(runs["before"].v[-1])
    nu = float(runs["before"].xi[-1, 1])
    runs |= {"after I": _run(TURNED, q, (nu, 0.0), AFTER), "after II": _run(CARRIED, q, (0.0, nu), AFTER)}
    data: dict[str, Any] = {"transitional": np.array([TURNED.transitional(jnp.asarray(q), jnp.asarray(v), 1e-6)])}
    for name, run in runs.items():
        factors = [TURNED.constraint_factors(jnp.asarray(a), jnp.asarray(b)) for a, b in zip(run.q, run.v, strict=True)]
        data |= {f"t {name}": run.t, f"q {name}": run.q, f"xi {name}": run.xi, f"energy {name}": run.energy}
        data[f"factors {name}"] = np.array(factors)  # tau and phi'
    written = dh.from_nonlinear_constraints(
        lambda q, v, s: s.coordinate_lagrangian(q, v), lambda q, v, s: s.constraint(q, v), params=TURNED
    )
    return data | {"refused": np.array([_refused(written, q, _exactly(v, q)), _refused(written, q, _turning(v, q))])}


def _run(system: Any, q: Any, xi: Any, time: float) -> dh.Trajectory:
    return dh.simulate(system, q, xi, h=H, steps=round(time / H))


def _exactly(v: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The part of a velocity across the segment, without turning."""
    across = np.array([-np.sin(q[2]), np.cos(q[2]), 0.0])
    return (v @ across) * across


def _turning(v: np.ndarray, q: np.ndarray) -> np.ndarray:
    return _exactly(v, q) + [0.0, 0.0, 0.5]


def _refused(system: Any, q: np.ndarray, v: np.ndarray) -> bool:
    try:
        dh.simulate(system, q, v=v, h=H, steps=1)
    except ValueError as error:
        return "transitional" in str(error)
    return False


def draw(data: dict[str, Any]) -> Any:
    with style():
        layout = [["states"] * 3 + ["orthogonal"] * 3, ["type I"] * 2 + ["type II"] * 2 + ["transition"] * 2]
        drawing, axes = mosaic(layout, size=(7.0, 4.6), height_ratios=[1, 1.45])
        _kinematics(axes["states"])
        _orthogonal(axes["orthogonal"])
        for name in ("type I", "type II"):
            _motion(axes[name], data[f"q {name}"])
            axes[name].set_title(f"{name}, {RUNS[name][2]:g} s", fontsize=8)
        ax = axes["transition"]
        _motion(ax, data["q after II"], alpha=0.35, linestyle="--")
        _motion(ax, data["q before"])
        _motion(ax, data["q after I"])
        ends = _points(data["q before"][-1:])[0]
        ax.plot(ends[::2], ends[1::2], color=BLACK, linewidth=2.5, zorder=4)
        ax.set_title(f"transition, {THROWN:g} + {AFTER:g} s", fontsize=8)
        for name in ("type I", "type II", "transition"):
            axes[name].set(xlabel="$x$ [m], downhill", ylabel="$y$ [m]", aspect="equal")
        handles = axes["type I"].get_lines()[-2:]
        drawing.legend(handles, ["$P_1$", "$P_2$"], loc="outside lower center", ncols=2)
    return drawing


def _motion(ax: Any, q: np.ndarray, alpha: float = 1.0, linestyle: str = "-") -> None:
    """The segment every EVERY steps, and the paths of its ends."""
    points = _points(q)
    for place in points[::EVERY]:
        ax.plot(place[::2], place[1::2], color=GREY, linewidth=0.8, alpha=alpha, zorder=1)
    for i, color in ((0, BLUE), (2, VERMILLION)):
        ax.plot(points[:, i], points[:, i + 1], color=color, alpha=alpha, linestyle=linestyle)


def _points(q: np.ndarray) -> np.ndarray:
    """x1, y1, x2, y2."""
    along = LENGTH * np.stack([np.cos(q[:, 2]), np.sin(q[:, 2])], axis=1)
    return np.concatenate([q[:, :2], q[:, :2] + along], axis=1)


def _velocity(state: tuple[float, float, float], at: float, e: np.ndarray) -> np.ndarray:
    """Of the point `at` along the segment."""
    tau, nu, rate = state
    return tau * e + (nu + at * rate) * np.array([-e[1], e[0]])


def _centre(state: tuple[float, float, float], e: np.ndarray) -> np.ndarray:
    """C from P1: v_P = phi' k x CP.   [BE] (59)"""
    v = _velocity(state, 0.0, e)
    return np.array([-v[1], v[0]]) / state[2]


def _kinematics(ax: Any) -> None:
    """Figure 33."""
    e = np.array([1.0, 0.0])
    drawings.blank(ax, (-0.5, 3.9, -0.5, 1.75))
    ax.set_title("Figure 33: translational, rotational", fontsize=8)
    for left, state in zip((0.0, 2.2), STATES.values(), strict=True):
        origin = np.array([left, 0.0])
        drawings.line(ax, origin, origin + LENGTH * e, linewidth=2.5)
        if state[2]:
            c = origin + _centre(state, e)
            for at in (0.0, 1.0):
                drawings.line(ax, c, origin + at * e, linestyle=":")
            drawings.dot(ax, c, "$C$", (-8, 4), PURPLE)
        for at, color in ((0.0, BLUE), (0.5, GREY), (1.0, VERMILLION)):
            start, v = origin + at * e, _velocity(state, at, e)
            names = {0.0: r"$\mathbf{v}_1$", 1.0: r"$\mathbf{v}_2$"}
            drawings.arrow(ax, start, start + v, names.get(at, ""), (8, 5), color)
        drawings.dot(ax, origin, "$P_1$", (-3, -9))
        drawings.dot(ax, origin + LENGTH * e, "$P_2$", (4, -9))


def _orthogonal(ax: Any) -> None:
    """Figure 34."""
    e = np.array([1.0, 0.0])
    drawings.blank(ax, (-0.4, 4.3, -0.95, 1.3))
    ax.set_title(r"Figure 34: type I, $\tau = 0$", fontsize=8)
    for left, (nu, rate) in zip((0.0, 1.6, 3.2), ORTHOGONAL, strict=True):
        origin = np.array([left, 0.0])
        drawings.line(ax, origin, origin + LENGTH * e, linewidth=2.5)
        for at, color in ((0.0, BLUE), (1.0, VERMILLION)):
            v = _velocity((0.0, nu, rate), at, e)
            if np.linalg.norm(v) > 0.01:
                name = r"$\mathbf{v}_1$" if at == 0 else r"$\mathbf{v}_2$"
                drawings.arrow(ax, origin + at * e, origin + at * e + v, name, (9, 2 * np.sign(v[1])), color)
        below = -9 if nu + rate > -0.01 else 9
        drawings.dot(ax, origin, "$P_1$", (-3, -9))
        drawings.dot(ax, origin + LENGTH * e, "$P_2$", (4, below))


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    rotates = _off_rotation(data["t type I"], data["q type I"], data["xi type I"])
    one, two, before = (data[f"q {name}"] for name in RUNS)
    tau, turning = (np.abs(data[f"factors {name}"]).max(axis=0) for name in ("type I", "type II"))
    product = max(float(np.max(np.abs(np.prod(data[f"factors {name}"], axis=1)))) for name in (*RUNS, "after I"))
    t, last = data["t after I"][:, None], before[-1]
    nu = data["xi before"][-1, 1]
    across = np.array([-np.sin(ANGLE), np.cos(ANGLE)])
    sliding = last[:2] + across * (nu * t - G * np.sin(ANGLE) * t**2 / 2)
    falling = last[:2] + across * nu * t + np.array([G, 0.0]) * t**2 / 2
    slid, fell = data["q after I"][:, :2], data["q after II"][:, :2]
    gap = float(np.linalg.norm(slid[-1] - fell[-1]))
    start = data["xi type II"][0]
    thrown = start[0] * np.array([np.cos(ANGLE), np.sin(ANGLE)]) + start[1] * across
    time = data["t type II"][:, None]
    free = thrown * time + np.array([G, 0.0]) * time**2 / 2
    energies = [np.max(np.abs(data[f"energy {n}"] - data[f"energy {n}"][0])) for n in ("type II", "before", "after II")]
    return [
        (
            f"figure 33: all along type I eleven points P of the segment move by v_P = phi' k x CP about one C, by "
            f"differences of their paths, to h^2 ({rotates:.0e} m/s)",
            rotates < 10 * H**2,
        ),
        (
            f"type I moves across the segment (tau {tau[0]:.0e}) and turns at a constant rate, type II does not turn "
            f"(phi' {turning[1]:.0e}) and falls as if free, to h^2",
            bool(
                max(tau[0], turning[1]) < 1e-12
                and np.max(np.abs(one[:, 2] - ANGLE - RUNS["type I"][1][1] * data["t type I"])) < 1e-10
                and np.max(np.abs(two[:, :2] - free)) < H**2
            ),
        ),
        (
            f"so tau phi' = 0 by (60) in all of them ({product:.0e}); type II keeps its energy to round-off",
            product < 1e-12 and bool(max(energies) < 1e-12),
        ),
        (
            f"after {THROWN:g} s tau and phi' are zero at once, which the library calls transitional",
            bool(data["transitional"][0] and np.max(np.abs(data["factors before"][-1])) < 1e-10),
        ),
        (
            "and from which it refuses to go on by tau phi' = 0 alone; turning, it does not refuse",
            bool(data["refused"][0] and not data["refused"][1]),
        ),
        (
            "type I goes on along a straight line across the segment, type II along a parabola (both to h^2): "
            f"{AFTER:g} s later they are {gap:.2f} m apart",
            bool(max(np.max(np.abs(slid - sliding)), np.max(np.abs(fell - falling))) < H**2 and gap > 1),
        ),
    ]


def _off_rotation(t: np.ndarray, q: np.ndarray, xi: np.ndarray) -> float:
    """Largest miss of (59): C from the velocity of P1 and phi', the points' velocities by central differences."""
    e = np.stack([np.cos(q[:, 2]), np.sin(q[:, 2])], axis=1)
    across, (nu, rate) = np.stack([-e[:, 1], e[:, 0]], axis=1), xi[:, :2].T
    centre = q[:, :2] - (nu / rate)[:, None] * e  # P1 + k x v1 / phi'
    off = []
    for at in np.linspace(0, LENGTH, 11):
        points = q[:, :2] + at * e
        speeds = (points[2:] - points[:-2]) / (t[2:] - t[:-2])[:, None]
        reach = np.sum((points - centre) * e, axis=1)
        off.append(speeds - ((rate * reach)[:, None] * across)[1:-1])
    return float(np.max(np.abs(off)))
