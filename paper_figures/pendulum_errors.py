"""What figures 5a and 5b share: an invariant's error over 10 000 steps, and a run that loses it, for contrast."""

from typing import Any

import numpy as np

from discrete_hamel.plots import style
from paper_figures import pendulum
from paper_figures.pictures import mosaic

SHOWN = 10_000  # steps, [HE] figure 5
OFF_HALF, OFF_HALF_STEPS = 0.45, 100  # tau of the contrast; gamma grows fast there, so few steps


def compute(name: str, xi: Any, steps: int) -> dict[str, Any]:
    """Relative errors of the invariant `name` at the nodes, at tau = 1/2 and off it."""
    return {
        "error": _error(pendulum.run(xi, steps), name),
        "error_off_half": _error(pendulum.run(xi, OFF_HALF_STEPS, tau=OFF_HALF), name),
    }


def _error(run: Any, name: str) -> np.ndarray:
    values = run.invariants()[name]
    # gamma is of length one, but for the rounding of its initial data: the error is counted from the start.
    return (values - values[0]) / abs(values[0])


def draw(data: dict[str, Any], label: str) -> Any:
    with style():
        drawing, axes = mosaic([["error"]], size=(4.6, 2.6))
        ax = axes["error"]
        ax.plot(1e15 * data["error"][: SHOWN + 1], linewidth=0.6)
        ax.set(xlabel="step", ylabel=f"{label}  [$10^{{-15}}$]", xlim=(0, SHOWN))
    return drawing


def claims(data: dict[str, Any], what: str) -> list[tuple[str, bool]]:
    error, off = np.abs(data["error"]), np.abs(data["error_off_half"])
    shown = error[: SHOWN + 1].max()
    found = [
        (f"{what} stays within 1e-13 over {SHOWN:,} steps: {shown:.0e}", bool(shown < 1e-13)),
        (
            f"it is tau = 1/2 that does it: with tau = {OFF_HALF} more than 1e-3 is lost in {OFF_HALF_STEPS} steps",
            bool(off.max() > 1e-3),
        ),
    ]
    if len(error) > SHOWN + 1:
        steps = len(error) - 1
        bound = 1e-15 * steps**0.5
        found.append(
            (f"round-off adds up like a random walk, below {bound:.0e} over {steps:,} steps", error.max() < bound)
        )
    return found
