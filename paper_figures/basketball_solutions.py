"""What figures 11.2 and 11.3 of [MD] share: a fundamental solution over four turns each way, and the ball along it."""

from typing import Any, NamedTuple

import numpy as np

from discrete_hamel.drawing.plots import BLACK, BLUE, VERMILLION, style

from . import basketball
from .basketball_numbers import EXTREMES, FUNDAMENTAL, agrees
from .pictures import mosaic

PARAMETERS: dict[str, Any] = basketball.PARAMETERS | {"h": 1e-3, "rate": 30.0, "size": 0.1, "time": 0.52}
TOLERANCE = 1e-10  # relative: both integrations are good to 1e-13 a step, and errors grow threefold a turn
PARITY = np.array([[1.0], [-1.0], [-1.0], [1.0]])


class Solution(NamedTuple):
    """The first (0) or the second (1) solution; the labels of its two curves with their units, and their names."""

    which: int
    labels: tuple[str, str]
    names: tuple[str, str]

    def compute(self, fast: bool) -> dict[str, Any]:
        """Its two curves from the kept momenta, by DOP853, and along runs of the whole ball; all four at 2 pi."""
        turns = np.linspace(-4, 4, 1601)
        start, which = np.eye(2)[self.which], self.which
        data: dict[str, Any] = {
            "turns": turns,
            "f": basketball.spins(np.pi * turns, *start),
            "dop853": basketball.fundamental(np.pi * turns)[2 * which : 2 * which + 2],
            "table": basketball.spins(np.pi * np.array(list(FUNDAMENTAL)), *start),
            "monodromy": np.concatenate([basketball.spins(2 * np.pi * np.ones(1), *e) for e in np.eye(2)])[:, 0],
        }
        steps = [1, 2, 4] if fast else [1, 2, 4, 8]
        runs = [_run(start, PARAMETERS["h"] / n) for n in steps]
        data |= {"run_psi": runs[0][0] / np.pi, "run": runs[0][1], "steps": np.array(steps)}
        data["errors"] = np.array([_error(start, *found) for found in runs])
        return data

    def draw(self, data: dict[str, Any]) -> Any:
        """Omega1 above, Omega2 below; dots are every few nodes of the run."""
        with style():
            drawing, axes = mosaic([["spin"], ["pivot"]], size=(6.4, 4.2), sharex=True)
            for i, (name, color) in enumerate((("spin", BLUE), ("pivot", VERMILLION))):
                ax = axes[name]
                ax.axhline(0, color=BLACK, linewidth=0.6)
                ax.plot(
                    data["turns"],
                    data["f"][i],
                    color=color,
                    label=f"${self.labels[i].split()[0]}$",
                )
                every = slice(None, None, 16)
                looks = {"color": BLACK, "markersize": 3.4, "markerfacecolor": "white", "markeredgewidth": 0.7}
                label = "a ball that rolls twice around the wire" if i else None
                ax.plot(data["run_psi"][every], data["run"][i, every], "o", label=label, **looks)
                ax.set(ylabel=_label(self.labels[i]), xticks=(-4, -2, 0, 2, 4), xlim=(-4.1, 4.1))
            axes["pivot"].set_xlabel(r"$\psi$ [$\pi$ rad]")
            drawing.legend(loc="outside upper center", ncols=2)
        return drawing

    def claims(self, data: dict[str, Any]) -> list[tuple[str, bool]]:
        """What both figures show."""
        rows, names = slice(2 * self.which, 2 * self.which + 2), self.names
        parity = PARITY[rows]
        f, size = data["f"], np.max(np.abs(data["f"]), axis=1, keepdims=True)
        off = float(np.max(np.abs(f - data["dop853"]) / size))
        uneven = float(np.max(np.abs(f - parity * f[:, ::-1]) / size))
        printed = list(zip(*FUNDAMENTAL.values(), strict=True))[rows]
        met = [
            agrees(*pair)
            for found, row in zip(data["table"], printed, strict=True)
            for pair in zip(found, row, strict=True)
        ]
        where = ", ".join(f"{x:g}" for x in FUNDAMENTAL)
        positive = data["turns"] >= 0
        turns = data["turns"][positive]
        ends = [[basketball.vertex(turns, row, int(k(row))) for k in (np.argmin, np.argmax)] for row in f[:, positive]]
        right = [
            agrees(x, p) and agrees(at, there)
            for found, row in zip(ends, EXTREMES[rows], strict=True)
            for (at, x), (there, p) in zip(found, row, strict=True)
        ]
        even, odd = [names[int(i)] for i in np.argsort(-parity[:, 0])]
        slope = -np.polyfit(np.log(data["steps"]), np.log(data["errors"]), 1)[0]
        return [
            (
                f"the kept momenta give what DOP853 gives on (11.1) as printed, within 1e-10 ({off:.0e})",
                off < TOLERANCE,
            ),
            (f"{even} is even and {odd} is odd, within 1e-10 ({uneven:.0e})", uneven < TOLERANCE),
            (f"at psi/pi = {where} both are those of (11.1) by DOP853, to the last digits computed", all(met)),
            (f"so have their extremes on [0, 4 pi]: {_in_words(names, ends)}", all(right)),
            *_turn(data["monodromy"]),
            (
                "the whole ball in space runs along them, whatever its speed: its distance falls with h at order 2, "
                f"slope {slope:.2f}",
                abs(slope - 2) < 0.1,
            ),
        ]


def _run(start: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """psi and (Omega1, Omega2) / size of the ball sent twice around the wire, each way; the fundamental solution."""
    size, steps = PARAMETERS["size"], round(PARAMETERS["time"] / h)
    runs = [basketball.run(way * PARAMETERS["rate"], *(size * start), h=h, steps=steps) for way in (-1, 1)]
    psi = np.concatenate([basketball.angle(run) for run in runs])
    omega = np.concatenate([np.asarray(run.xi)[:, 1:3] for run in runs]).T / size
    inside = np.abs(psi) <= basketball.REACH
    order = np.argsort(psi[inside])
    return psi[inside][order], omega[:, inside][:, order]


def _error(start: np.ndarray, psi: np.ndarray, omega: np.ndarray) -> float:
    """Largest distance from the fundamental solution, relative to its size."""
    exact = basketball.spins(psi, *start)
    return float(np.max(np.abs(omega - exact) / np.max(np.abs(exact), axis=1, keepdims=True)))


def _label(name: str) -> str:
    """From "f cm" to "$f$ [cm]"; some have no unit."""
    name, _, unit = name.partition(" ")
    return f"${name}$ [{unit}]" if unit else f"${name}$"


def _in_words(names: tuple[str, str], ends: list[list[tuple[float, float]]]) -> str:
    parts = [
        f"{name} from {low:.4g} at {a:.3f} pi to {high:.4g} at {b:.3f} pi"
        for name, ((a, low), (b, high)) in zip(names, ends, strict=True)
    ]
    return "; ".join(parts)


def _turn(after: np.ndarray) -> list[tuple[str, bool]]:
    """The map of (Omega1, a^2 Omega2) over one turn, from f11, f12, f21, f22 at 2 pi."""
    inner = (basketball.HOOP - basketball.AROUND) ** 2
    turn = np.array([[after[0], after[2] / inner], [after[1] * inner, after[3]]])
    multipliers = np.sort(np.linalg.eigvals(turn).real)
    exponent = float(np.log(np.max(np.abs(multipliers))))
    good = (
        abs(np.linalg.det(turn) - 1) < 1e-9
        and agrees(np.trace(turn), "-3.3567847")
        and agrees(multipliers[0], "-3.0263541")
        and agrees(multipliers[1], "-0.3304306")
        and agrees(exponent, "1.1073586")
    )
    sentence = (
        "it is not periodic, as [MD] says of its plots: a turn of 2 pi has determinant 1, trace -3.3567847, "
        f"multipliers -3.0263541 and -0.3304306, so solutions change sign and grow by e^{exponent:.7f}; "
        "f11(2 pi) = f22(2 pi)"
    )
    return [(sentence, bool(good and abs(after[0] - after[3]) < 1e-9 * abs(after[0])))]
