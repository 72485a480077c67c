"""[HE] 6.3: the pendulum by Hamel, generalised Stormer-Verlet and RATTLE

The run of [HE] figure 5, 10 000 steps of 0.2 s, by the discrete Hamel scheme in (gamma, xi), with and without
compensated summation, by the generalised Stormer-Verlet method in angles and by RATTLE in Cartesian coordinates. Above
the largest error so far of the energy, below that of the length, which the angles cannot lose. Dotted: eps sqrt(k), a
rounding a step. [HE] claims the smallest energy error, refers to [51] for the runs, and proposes the summation.
"""

from typing import Any

import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, SKY, VERMILLION, style

from . import pendulum
from .pictures import mosaic

TURN = 0.6  # rad/s, xi^1 of [HE] 6.3; xi^2 = 0
STEPS, SHORT = 10_000, 0.05  # the second step is one at which a step rounds off less than RATTLE imposes
CHECK_TIME, CHECK_STEPS = 10.0, (200, 400, 800)  # against Newton's equations
PARAMETERS: dict[str, Any] = pendulum.PENDULUM | {
    "gamma": pendulum.GAMMA,
    "xi": (TURN, 0.0),
    "h": (pendulum.STEP, SHORT),
    "steps": STEPS,
}
VERLET, RATTLE, HAMEL, COMPENSATED = "Stormer-Verlet", "RATTLE", "Hamel", "Hamel, compensated"
LOOKS = {VERLET: VERMILLION, RATTLE: GREEN, HAMEL: BLUE, COMPENSATED: SKY}
WITH_LENGTH = (RATTLE, HAMEL, COMPENSATED)
EPS = float(np.finfo(float).eps)

# The same motion in each system's coordinates: theta from the downward vertical, cos theta = -gamma3, and the vertical
# momentum over m r^2 is gamma1 xi1 = sin^2(theta) phi'.
(G1, G2, G3), R = pendulum.GAMMA, pendulum.PENDULUM["length"]
SINE = float(np.hypot(G1, G2))
RATES = (-G2 * TURN / SINE, G1 * TURN / SINE**2)
POSITION = R * np.array([SINE, 0.0, G3])
VELOCITY = R * np.array([-G3 * RATES[0], SINE * RATES[1], SINE * RATES[0]])


def run(method: str, h: float, steps: int) -> dh.Trajectory:
    """The motion of [HE] 6.3 by one of the methods."""
    if method == VERLET:
        angles = dh.systems.SphericalPendulumAngles(**pendulum.PENDULUM)
        return dh.simulate(angles, [np.arccos(-G3), 0.0], RATES, h=h, steps=steps, scheme=dh.StormerVerlet())
    if method == RATTLE:
        cartesian = dh.systems.SphericalPendulumCartesian(**pendulum.PENDULUM)
        return dh.simulate(cartesian, POSITION, v=VELOCITY, h=h, steps=steps, scheme=dh.Rattle())
    scheme = dh.DiscreteHamel(compensated=method == COMPENSATED)
    body = dh.systems.SphericalPendulum(**pendulum.PENDULUM)
    return dh.simulate(body, pendulum.GAMMA, (TURN, 0.0), h=h, steps=steps, scheme=scheme)


def height(method: str, trajectory: dh.Trajectory) -> np.ndarray:
    """Of the bob over the pivot, in units of the length."""
    if method == VERLET:
        return -np.cos(np.asarray(trajectory.q[:, 0]))
    return np.asarray(trajectory.q[:, 2]) / (R if method == RATTLE else 1.0)


def energy_error(trajectory: dh.Trajectory) -> np.ndarray:
    """Relative to m g r, which is the same for all."""
    energy = np.asarray(trajectory.energy)
    return (energy - energy[0]) / (R * pendulum.PENDULUM["mass"] * pendulum.PENDULUM["gravity"])


def length_error(trajectory: dh.Trajectory) -> np.ndarray:
    """|q| / |q_0| - 1, in extended precision, so that it has no rounding of its own."""
    size = np.sqrt(np.sum(trajectory.q.astype(np.longdouble) ** 2, axis=1))
    return np.asarray(size / size[0] - 1, float)


def compute(fast: bool) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for method in LOOKS:
        for key, h in (("", pendulum.STEP), ("_short", SHORT)):
            made = run(method, h, STEPS)
            data[f"energy_{method}{key}"] = energy_error(made)
            if method in WITH_LENGTH:
                data[f"length_{method}{key}"] = length_error(made)
    counts = CHECK_STEPS if fast else (*CHECK_STEPS, 1600, 3200)
    data["check_steps"] = np.array(counts)
    for method in LOOKS:
        data[f"height_{method}"] = np.array([_height_error(method, n) for n in counts])
    return data


def _height_error(method: str, steps: int) -> float:
    """Largest difference from Newton's equations for the bob over CHECK_TIME, in units of the length."""
    h = CHECK_TIME / steps
    exact = pendulum.newtonian(pendulum.run((TURN, 0.0), steps, h=h))[:, 2] / R
    return float(np.max(np.abs(height(method, run(method, h, steps)) - exact)))


def draw(data: dict[str, Any]) -> Any:
    k = np.arange(1, STEPS + 1)
    with style():
        drawing, axes = mosaic([["energy"], ["length"]], size=(4.8, 5.4), sharex=True, height_ratios=[1.35, 1])
        for kind, ax in axes.items():
            for method, color in LOOKS.items():
                if f"{kind}_{method}" in data:
                    error = np.maximum.accumulate(np.abs(data[f"{kind}_{method}"][1:]))
                    # A step without any error has no place on a log axis: its curve begins at the first that has one.
                    ax.plot(k, np.where(error > 0, error, np.nan), color=color, label=method)
            ax.plot(k, EPS * np.sqrt(k), ":", color=BLACK, linewidth=0.8, label=r"$\varepsilon\sqrt{k}$")
            ax.set(xscale="log", yscale="log", xlim=(1, STEPS))
        axes["energy"].set(ylabel="largest $|E - E_0| / m g r$ so far", ylim=(3e-17, 0.1))
        axes["length"].set(xlabel="step $k$", ylabel=r"largest $|\,\|q\|/\|q_0\| - 1|$ so far", ylim=(1e-17, 1e-13))
        handles, names = axes["energy"].get_legend_handles_labels()
        drawing.legend(handles, names, loc="outside upper center", ncols=3)
    return drawing


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    energy = {method: _most(data, "energy", method) for method in LOOKS}
    length = {method: _most(data, "length", method) for method in WITH_LENGTH}
    short = {method: _most(data, "energy", method, "_short") for method in LOOKS}
    lengths = {method: _most(data, "length", method, "_short") for method in WITH_LENGTH}
    others, walk = (VERLET, RATTLE), EPS * STEPS**0.5
    slopes = {m: _slope(data["check_steps"], data[f"height_{m}"]) for m in (VERLET, RATTLE, HAMEL)}
    filled = [_most({"early": np.abs(data[f"energy_{m}"])[:1001]}, "early") / energy[m] for m in others]
    return [
        (
            "the energy error of Hamel is the smallest, round-off against O(h^2): "
            + ", ".join(f"{energy[m]:.0e} {m}" for m in LOOKS),
            max(energy[HAMEL], energy[COMPENSATED]) < walk and min(energy[m] for m in others) > 1e-4,
        ),
        (
            "the others' does not grow: a tenth of the run fills nine tenths of its band, and at a quarter of the step "
            f"it is a sixteenth, within a quarter of that ({', '.join(f'{energy[m] / short[m]:.1f}' for m in others)})",
            min(filled) > 0.9 and all(12 < energy[m] / short[m] < 20 for m in others),
        ),
        (
            f"the length, which only RATTLE imposes, is kept by Hamel within a rounding a step: {length[HAMEL]:.0e} "
            f"against {walk:.0e} (RATTLE {length[RATTLE]:.0e}, within 4 eps)",
            length[HAMEL] < walk and length[RATTLE] < 4 * EPS,
        ),
        (
            "compensated summation more than halves both errors of Hamel, as [HE] supposes: "
            f"energy {energy[COMPENSATED]:.0e}, length {length[COMPENSATED]:.0e}",
            energy[COMPENSATED] < energy[HAMEL] / 2 and length[COMPENSATED] < length[HAMEL] / 2,
        ),
        (
            f"with it and h = {SHORT:g} s Hamel's are the smallest of energy ({short[COMPENSATED]:.0e}) and of length "
            f"({lengths[COMPENSATED]:.0e}; RATTLE {lengths[RATTLE]:.0e})",
            short[COMPENSATED] < 1e-9 * min(short[m] for m in others) and lengths[COMPENSATED] < lengths[RATTLE],
        ),
        (
            "it is one motion: each height of the bob tends to Newton's (DOP853, no frame) at order 2, slopes "
            + ", ".join(f"{slope:.2f} {m}" for m, slope in slopes.items()),
            all(abs(slope - 2) < 0.1 for slope in slopes.values()),
        ),
    ]


def _most(data: dict[str, Any], kind: str, method: str = "", key: str = "") -> float:
    return float(np.max(np.abs(data[f"{kind}_{method}{key}" if method else kind])))


def _slope(steps: np.ndarray, errors: np.ndarray) -> float:
    return float(-np.polyfit(np.log(steps), np.log(errors), 1)[0])
