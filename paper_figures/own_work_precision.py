"""Work against precision: schemes of order 2 to 8 on the Chaplygin sleigh

Error of (theta, x, y, omega, v) after 4 s against the closed solution of [QS] (6.1), for schemes of this library and
SciPy's DOP853 of the reduced equations. Left: against the step, with the slopes that the orders promise. Middle:
against evaluations of momenta and forces (iterations of Newton x solves x stages; a Jacobian comes with each and is not
counted), of which the explicit DOP853 needs the fewest. Right: the time as measured, of the compiled loop and of SciPy
in Python; the floor is what a call costs.
"""

from functools import partial
from math import cos, sin
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, style

from .pictures import mosaic
from .speeds import compiled, interleaved, start

PARAMETERS: dict[str, Any] = {
    "sleigh": {"mass": 1.0, "inertia": 0.7, "offset": 0.4},
    "q": (0.1, 0.0, 0.0),
    "xi": (1.5, -0.3),
    "time": 4.0,
    "steps": {
        "DiscreteHamel": (20, 40, 80, 160, 320, 640, 1280),
        "Composed, order 4": (10, 20, 40, 80, 160, 320),
        "Composed, order 6": (5, 10, 20, 40, 80),
        "Composed, order 8": (8, 10, 13, 16, 20, 24, 36),
        "Gauss(3)": (5, 10, 20, 40, 80),
    },
    "tolerances": (1e-4, 1e-6, 1e-8, 1e-10, 1e-12),
}
MIDPOINT = dh.DiscreteHamel()
SCHEMES: dict[str, tuple[Any, int, str, str]] = {  # scheme, solves x stages a step, colour, marker
    "DiscreteHamel": (MIDPOINT, 1, BLUE, "o"),
    **{
        f"Composed, order {order}": (scheme := dh.Composed(MIDPOINT, order=order), len(scheme.weights), colour, marker)
        for order, colour, marker in ((4, GREEN, "^"), (6, ORANGE, "v"), (8, VERMILLION, "s"))
    },
    "Gauss(3)": (dh.Gauss(stages=3), 3, PURPLE, "D"),
}
SLEIGH = dh.systems.ChaplyginSleigh(**PARAMETERS["sleigh"])
OFFSET, MASS = SLEIGH.offset, SLEIGH.mass
TURNING = SLEIGH.inertia + MASS * OFFSET**2  # J + m a^2
WANTED, CLOSE = 1e-10, 2.3e-14  # an error to reach; the least tolerance that SciPy takes
FLOOR = 5e-13  # slopes are taken above it: round-off is below


def exact(time: Any) -> np.ndarray:
    """(theta, x, y, omega, v) at one time.

    [QS] (6.1): v = (P/m) tanh s, omega = P / sqrt(m (J + m a^2)) / cosh s, theta' = omega, s = kappa (t - t0); x and y
    by Gauss quadrature with 80 points.
    """
    (theta0, x0, y0), (omega0, v0) = PARAMETERS["q"], PARAMETERS["xi"]
    size = np.sqrt((MASS * v0) ** 2 + MASS * TURNING * omega0**2)  # P
    kappa = OFFSET * size / TURNING
    since = np.arctanh(MASS * v0 / size)  # s at t = 0

    def velocity(t: Any) -> Any:
        return size / MASS * np.tanh(kappa * t + since)

    def angle(t: Any) -> Any:
        turned = 2 * (np.arctan(np.tanh((kappa * t + since) / 2)) - np.arctan(np.tanh(since / 2)))
        return theta0 + np.sqrt(TURNING / MASS) / OFFSET * turned

    nodes, weights = np.polynomial.legendre.leggauss(80)
    t, w = time * (nodes + 1) / 2, time * weights / 2
    x, y = (float(np.sum(w * velocity(t) * f(angle(t)))) for f in (np.cos, np.sin))
    omega = size / np.sqrt(MASS * TURNING) / np.cosh(kappa * time + since)
    return np.array([angle(time), x0 + x, y0 + y, omega, velocity(time)])


def compute(fast: bool) -> dict[str, Any]:
    end, runs = exact(PARAMETERS["time"]), {}
    data: dict[str, Any] = {}
    for name, counts in PARAMETERS["steps"].items():
        scheme, solves, *_ = SCHEMES[name]
        errors, work = [], []
        begun = start(SLEIGH, scheme, PARAMETERS["q"], PARAMETERS["xi"], 1.0)
        for steps in counts:
            sized = (*begun[:3], jnp.asarray(PARAMETERS["time"] / steps))
            runs[name, steps], _ = compiled(sized, steps)
            q, _, xi, _, report = runs[name, steps]()
            errors.append(np.max(np.abs(np.concatenate([q[steps - 1], xi[steps - 1, :2]]) - end)))
            work.append(solves * np.sum(report.iterations[:steps]))
        data |= {f"{name}: error": np.array(errors), f"{name}: evaluations": np.array(work)}
    by_scipy = [dop853(tolerance) for tolerance in (*PARAMETERS["tolerances"], CLOSE)]
    data["DOP853: error"] = np.array([np.max(np.abs(run.y[:, -1] - end)) for run in by_scipy[:-1]])
    data["DOP853: evaluations"] = np.array([run.nfev for run in by_scipy[:-1]])
    data["closed form and DOP853"] = np.max(np.abs(by_scipy[-1].y[:, -1] - end))
    runs |= {("DOP853", tolerance): partial(dop853, tolerance) for tolerance in PARAMETERS["tolerances"]}
    best = interleaved(runs, 5 if fast else 50)
    for name in (*SCHEMES, "DOP853"):
        data[f"{name}: seconds"] = np.array([t for (who, _), t in best.items() if who == name])
    return data


def dop853(tolerance: float) -> Any:
    """SciPy on the reduced equations, in plain numbers, which are faster there than arrays."""
    shrink = MASS * OFFSET / TURNING

    def right(_: float, y: np.ndarray) -> list[float]:
        theta, _, _, omega, v = y.tolist()
        return [omega, v * cos(theta), v * sin(theta), -shrink * omega * v, OFFSET * omega * omega]

    begin = (*PARAMETERS["q"], *PARAMETERS["xi"])
    return solve_ivp(right, (0, PARAMETERS["time"]), begin, "DOP853", rtol=tolerance, atol=tolerance)


def draw(data: dict[str, Any]) -> Any:
    with style():
        drawing, axes = mosaic([["step", "work", "time"]], size=(7.4, 3.3), sharey=True)
        for name, (scheme, _, colour, marker) in SCHEMES.items():
            error, looks = data[f"{name}: error"], {"color": colour, "marker": marker, "markersize": 3.5}
            h = PARAMETERS["time"] / np.array(PARAMETERS["steps"][name])
            axes["step"].loglog(h, error, linestyle="none", **looks)
            axes["step"].loglog(h, error[-2] * (h / h[-2]) ** scheme.order, color=colour, linewidth=0.8)
            axes["work"].loglog(data[f"{name}: evaluations"], error, label=name, **looks)
            axes["time"].loglog(1e3 * data[f"{name}: seconds"], error, **looks)
        looks = {"color": GREY, "marker": "x", "markersize": 4, "linestyle": "--"}
        axes["work"].loglog(data["DOP853: evaluations"], data["DOP853: error"], label="SciPy DOP853", **looks)
        axes["time"].loglog(1e3 * data["DOP853: seconds"], data["DOP853: error"], **looks)
        axes["step"].set(xlabel="step $h$ [s]", ylabel="error after 4 s [rad, m, rad/s, m/s]", ylim=(3e-15, 3e-2))
        axes["work"].set(xlabel="evaluations of momenta and forces")
        axes["time"].set(xlabel="time as measured [ms]")
        for ax in axes.values():
            ax.axhline(WANTED, color=BLACK, linewidth=0.6, linestyle=":")
        drawing.legend(loc="outside upper center", ncols=6, columnspacing=1.2, handlelength=1.6)
    return drawing


def needed(data: dict[str, Any], name: str) -> float:
    """Evaluations for the error WANTED, on the logarithmic line through the two most exact runs above round-off."""
    error, work = data[f"{name}: error"], data[f"{name}: evaluations"]
    last = [i for i in range(len(error)) if error[i] > FLOOR][-2:]
    (e0, e1), (w0, w1) = np.log(error[last]), np.log(work[last])
    return float(np.exp(w1 + (np.log(WANTED) - e1) * (w1 - w0) / (e1 - e0)))


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    found = []
    for name, (scheme, *_) in SCHEMES.items():
        error, steps = data[f"{name}: error"], np.array(PARAMETERS["steps"][name])
        good = np.flatnonzero(error > FLOOR)[-3:]
        slope = -np.polyfit(np.log(steps[good]), np.log(error[good]), 1)[0]
        found.append((f"{name}: slope {slope:.2f} for order {scheme.order} (0.1)", abs(slope - scheme.order) < 0.1))
    apart = data["closed form and DOP853"]
    found.append((f"DOP853 meets the closed solution within 1e-12 ({apart:.0e})", bool(apart < 1e-12)))
    second, others = needed(data, "DiscreteHamel"), {name: needed(data, name) for name in list(SCHEMES)[1:]}
    gain = second / max(others.values())
    found.append(
        (
            f"at {WANTED:g} order 2 would need {second:.0f} evaluations, all others less than a tenth: at least "
            f"{gain:.0f} times fewer",
            gain > 10,
        )
    )
    rough = {name: data[f"{name}: evaluations"][0] for name in ("DiscreteHamel", "Composed, order 8")}
    found.append(
        (
            "order 8 has its price: its coarsest run here needs more evaluations "
            f"({rough['Composed, order 8']:.0f}) than order 2's ({rough['DiscreteHamel']:.0f}), which is within 1 %",
            bool(rough["Composed, order 8"] > rough["DiscreteHamel"] and data["DiscreteHamel: error"][0] < 0.01),
        )
    )
    return found
