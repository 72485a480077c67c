"""A fair comparison of schemes: the same motion, at equal step or at equal cost, in one table."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Velocities
from discrete_hamel._support.console import Progress
from discrete_hamel._support.errors import InputError, RunFailed
from discrete_hamel.analysis.motion.off_constraint import constraint_residual
from discrete_hamel.analysis.motion.reference import reference
from discrete_hamel.analysis.motion.trend import Trend, drift
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.simulation import simulate
from discrete_hamel.runs.storage.optional import xarray_module
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.scheme import Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


SAMPLES = 200  # times at which a trajectory is held against the reference
LONG = 5.0  # seconds that a run may take to be timed three times over
SHORT = 0.1  # seconds below which a run is not timed well
MOST = 10**7  # steps that are taken for the sake of the clock
MIXED = "Times on different paths do not compare; with compiled=False all take the plain one."


class Row(NamedTuple):
    """What one scheme did; numbers are NaN, and `reason` a sentence, where it refused or failed."""

    scheme: str
    h: float
    steps: int
    error: float = float("nan")  # largest distance in q and xi from the reference
    drift: Mapping[str, Trend] = {}  # per invariant
    deviation: Mapping[str, float] = {}  # per invariant, largest |I - I_0|
    constraint: float = float("nan")  # largest velocity of a chord off the constraint
    seconds: float = float("nan")  # per step, compilation not counted
    iterations: float = float("nan")  # Newton iterations per step, mean
    path: str = ""  # on which it ran: "compiled" or "plain"; times on different paths do not compare
    reason: str = ""
    t: np.ndarray | None = None  # sampled times, and there:
    errors: np.ndarray | None = None
    energies: np.ndarray | None = None


class Comparison:
    """The rows of a comparison; prints as a table."""

    def __init__(self, system: str, t_end: float, rows: list[Row]) -> None:
        self.system, self.t_end, self.rows = system, t_end, rows

    def __getitem__(self, scheme: str) -> Row:
        return next(row for row in self.rows if row.scheme == scheme)

    def __repr__(self) -> str:
        head = [
            "scheme",
            "h",
            "error",
            "energy drift a unit time",
            "energy off",
            "constraint",
            "us/step",
            "path",
            "Newton",
        ]
        lines = [head, *([row.scheme, f"{row.h:.4g}", *_cells(row)] for row in self.rows if not row.reason)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        off = [f"{row.scheme}: {row.reason}" for row in self.rows if row.reason]
        mixed = [MIXED] if len({row.path for row in self.rows if not row.reason}) > 1 else []
        return "\n".join([f"{self.system} to t = {self.t_end:g}", *table, *mixed, *off])

    def to_xarray(self) -> "Dataset":
        """An xarray.Dataset over schemes, and over invariants where a number belongs to one (needs xarray)."""
        xarray = xarray_module()
        names = list(next((row.drift for row in self.rows if row.drift), {}))
        missing = Trend(float("nan"), float("nan"))

        def per_invariant(number: Callable[[Row, str], float]) -> tuple:
            return ("scheme", "invariant"), [[number(row, name) for name in names] for row in self.rows]

        plain = ("h", "steps", "error", "constraint", "seconds", "iterations", "path", "reason")
        data: dict[str, tuple] = {name: ("scheme", [getattr(row, name) for row in self.rows]) for name in plain}
        data["drift"] = per_invariant(lambda row, name: row.drift.get(name, missing).slope)
        data["drift_error"] = per_invariant(lambda row, name: row.drift.get(name, missing).error)
        data["deviation"] = per_invariant(lambda row, name: row.deviation.get(name, float("nan")))
        coordinates = {"scheme": [row.scheme for row in self.rows], "invariant": names}
        return xarray.Dataset(data, coordinates, {"system": self.system, "t_end": self.t_end})

    def plot(self) -> "Figure":
        """A figure of the trajectory errors and the energy errors against time (needs matplotlib)."""
        from discrete_hamel.drawing.plots.look import blank, style

        with style():
            figure = blank(10, 4)
            left, right = figure.subplots(1, 2)
            for row in self.rows:
                if row.t is not None and row.errors is not None and row.energies is not None:
                    left.semilogy(row.t[1:], row.errors[1:], label=f"{row.scheme}, h = {row.h:.3g}")
                    right.semilogy(row.t[1:], np.maximum(np.abs(row.energies - row.energies[0])[1:], 1e-17))
            left.set(title="distance from the reference", xlabel="t")
            right.set(title="|energy - initial energy|", xlabel="t")
            left.legend(fontsize="small")
        return figure


def _cells(row: Row) -> list[str]:
    numbers = (row.error, row.deviation["energy"], row.constraint)
    error, off, constraint = (f"{number:.1e}" for number in numbers)
    cost = f"{1e6 * row.seconds:.3g}", row.path, f"{row.iterations:.1f}"
    return [error, str(row.drift["energy"]), off, constraint, *cost]


def compare(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    v: Velocities | None = None,
    schemes: Iterable[Scheme] | Mapping[str, Scheme],
    h: float,
    t_end: float,
    equal_cost: bool = False,
    compiled: bool = True,
    progress: bool = True,
) -> Comparison:
    """Returns one table of what the schemes do with the motion from (q, xi), or (q, v), to time t_end.

    Per scheme: error against `dh.reference`, drift of energy and of the system's invariants with error bars, the
    constraint, time and Newton iterations per step. All take the step h; with `equal_cost` the first does, and the
    others as many steps to t_end as cost the same time. A scheme that refuses or fails is a row with its reason.
    `schemes` may be a dict, whose keys then name the rows. `progress=False` silences the line that counts them.

    Most schemes have a compiled step, hundreds of times as fast as the plain path, which varying steps take: the table
    says which ran. `compiled=False` takes the plain one for all, so that costs compare.

    >>> import discrete_hamel as dh
    >>> found = dh.compare(dh.systems.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.05, t_end=1.0,
    ...     schemes=[dh.DiscreteHamel(), dh.StormerVerlet()])
    >>> found.rows[0].error < 1e-3, found.rows[1].reason[:41]
    (True, 'StormerVerlet is for unconstrained system')
    """
    system, q, xi = checks.initial_data(system, q, xi, v)
    ratio = t_end / float(checks.step_size(h))
    if not ratio > 0:
        raise InputError(f"t_end = {t_end:g} is not after the start, 0, where h = {h:g} leads.")
    steps = round(ratio)
    if steps < 1 or abs(ratio - steps) > 1e-9 * ratio:
        raise InputError(
            f"t_end = {t_end:g} is not a whole number of steps h = {h:g}; use t_end = {max(steps, 1) * h:g}."
        )
    named = schemes if isinstance(schemes, Mapping) else {repr(scheme): scheme for scheme in schemes}
    rows: list[Row] = []
    with Progress(len(named), progress, unit="schemes") as bar:
        for label, scheme in named.items():
            own = steps
            first = next((row for row in rows if not row.reason), None)
            if equal_cost and first is not None:
                own = _affordable(system, q, xi, scheme, t_end, steps, first, compiled)
            rows.append(_row(label, system, q, xi, scheme, t_end, own, compiled))
            bar.at(len(rows))
    return Comparison(type(system).__name__, t_end, rows)


def _affordable(
    system: System, q: Array, xi: Array, scheme: Scheme, t_end: float, steps: int, first: Row, compiled: bool
) -> int:
    """How many steps take as long as the first scheme's run; its own number if the scheme cannot run at all."""
    try:
        _, seconds = _time_run(system, q, xi, scheme, t_end / steps, steps, compiled)
    except (ValueError, RunFailed):
        return steps
    return max(1, round(first.seconds * first.steps / seconds))


def _time_run(
    system: System, q: Array, xi: Array, scheme: Scheme, h: float, steps: int, compiled: bool
) -> tuple[Trajectory, float]:
    """The run and its time per step, without what a run costs before its first step.

    A run too short for the clock is timed eight times as long, and so on, as far as the scheme gets.
    """

    def clock(many: int, on_failure: str = "mark") -> tuple[Trajectory, float]:
        options: dict[str, bool | int | str] = {
            "save_every": max(1, many // steps),
            "on_failure": on_failure,
            "progress": False,
        }
        options["compiled"] = compiled
        began = time.perf_counter()
        return simulate(system, q, xi, h=h, steps=many, scheme=scheme, **options), time.perf_counter() - began  # type: ignore[arg-type]

    clock(1, on_failure="raise")  # compiles
    trajectory, seconds = clock(steps, on_failure="raise")
    before, many = min(clock(0)[1] for _ in range(3)), steps
    while seconds < 3 * before + SHORT and many < MOST:
        longer, took = clock(8 * many)
        if not np.all(longer.report.converged):
            break
        many, seconds = 8 * many, took
    if seconds < LONG:
        seconds = min(seconds, *(clock(many)[1] for _ in range(3)))
    return trajectory, max(seconds - before, 1e-9) / many


def _row(
    label: str, system: System, q: Array, xi: Array, scheme: Scheme, t_end: float, steps: int, compiled: bool
) -> Row:
    h = t_end / steps
    try:
        run, seconds = _time_run(system, q, xi, scheme, h, steps, compiled)
    except (ValueError, RunFailed) as refusal:
        return Row(label, h, steps, reason=str(refusal))
    kept = np.unique(np.linspace(0, steps, min(SAMPLES, steps) + 1).astype(int))
    exact = reference(system, q, xi, t=run.t[kept])
    distance = np.concatenate([run.q[kept] - exact.q, run.xi[kept] - exact.xi], axis=1)
    errors = np.max(np.abs(distance), axis=1)
    invariants = {name: np.asarray(values) for name, values in run.invariants().items()}
    return Row(
        label,
        h,
        steps,
        float(np.max(errors)),
        {name: drift(run.t, values) for name, values in invariants.items()},
        {name: float(np.max(np.abs(values - values[0]))) for name, values in invariants.items()},
        constraint_residual(run),
        seconds,
        float(np.mean(run.report.iterations)),
        run.report.path,
        "",
        run.t[kept],
        errors,
        invariants["energy"][kept],
    )
