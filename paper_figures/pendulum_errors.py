"""What figures 5a and 5b share: an invariant's error over 10 000 steps, and a run that loses it, for contrast."""

from typing import Any, NamedTuple

import numpy as np

from discrete_hamel.drawing.plots import style

from . import pendulum
from .pictures import mosaic

SHOWN = pendulum.PAPER["steps"]
OFF_HALF, OFF_HALF_STEPS = 0.45, 100  # tau of the contrast; gamma grows fast there, so few steps


class Kept(NamedTuple):
    """An invariant of the pendulum by name, as axis label, and in words."""

    name: str
    label: str
    words: str

    def compute(self, fast: bool) -> dict[str, Any]:
        """Its relative errors at the nodes, at tau = 1/2 and off it."""
        xi, steps = pendulum.PAPER["xi"], pendulum.PAPER["steps"] * (1 if fast else 10)
        return {
            "error": error_of(pendulum.run(xi, steps), self.name),
            "error_off_half": error_of(pendulum.run(xi, OFF_HALF_STEPS, tau=OFF_HALF), self.name),
        }

    def draw(self, data: dict[str, Any]) -> Any:
        """Over the steps of the paper's figure."""
        with style():
            drawing, axes = mosaic([["error"]], size=(4.6, 2.6))
            ax = axes["error"]
            ax.plot(1e15 * data["error"][: SHOWN + 1], linewidth=0.6)
            ax.set(xlabel="step", ylabel=f"{self.label}  [$10^{{-15}}$]", xlim=(0, SHOWN))
        return drawing

    def claims(self, data: dict[str, Any]) -> list[tuple[str, bool]]:
        """Round-off, and because of tau = 1/2."""
        error, off = np.abs(data["error"]), np.abs(data["error_off_half"])
        shown = error[: SHOWN + 1].max()
        found = [
            (f"{self.words} stays within 1e-13 over {SHOWN:,} steps: {shown:.0e}", bool(shown < 1e-13)),
            (
                f"it is tau = 1/2 that does it: with tau = {OFF_HALF} more than 1e-3 is lost in {OFF_HALF_STEPS} steps",
                bool(off.max() > 1e-3),
            ),
        ]
        steps = len(error) - 1
        if steps > SHOWN:
            bound = 1e-15 * steps**0.5
            words = f"round-off adds up like a random walk, below {bound:.0e} over {steps:,} steps"
            found.append((words, bool(error.max() < bound)))
        return found


def error_of(run: Any, name: str) -> np.ndarray:
    """The relative change of an invariant along a run."""
    values = run.invariants()[name]
    # gamma is of length one, but for the rounding of its initial data: the error is counted from the start.
    return (values - values[0]) / abs(values[0])
