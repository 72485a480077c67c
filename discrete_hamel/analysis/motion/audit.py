"""audit: what a trajectory keeps, line by line, each with the standing of its claim: theorem, observed, not claimed."""

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.motion.momenta import momentum_residual
from discrete_hamel.analysis.motion.off_constraint import constraint_residual
from discrete_hamel.analysis.motion.trend import UNKNOWN, Trend
from discrete_hamel.analysis.motion.trend import drift as drift_of
from discrete_hamel.mechanics.gibbs_appell import covector, directions, drive
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory, pull
from discrete_hamel.schemes import (
    Composed,
    CortesMartinez,
    DiscreteHamel,
    EnergyExact,
    FollowingHamel,
    Gauss,
    NonlinearMidpoint,
    RungeKutta4,
    StaggeredHamel,
)
from discrete_hamel.schemes.scheme import Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ALONG = 1e-12  # part of qdot across psi_z, relative to qdot, that is round-off
ROUNDOFF = 1e-12  # times the square root of the number of steps: what an exact quantity may wander
ONE_CHORD = (DiscreteHamel, FollowingHamel, CortesMartinez, StaggeredHamel, EnergyExact)  # q_{k+1} - q_k itself is in D
ELSEWHERE = {  # where schemes that claim the constraint meet it, if not on the chord of a step
    Gauss: "met at every stage of a step; its chord, measured here, need not",
    RungeKutta4: "met at every stage of a step; its chord, measured here, need not",
    Composed: "met where each of the steps within a step meets it; the whole chord, measured here, need not",
}
UNKNOWN_SCHEME = "claimed by {}, which does not say where in a step; measured at the middle of its chord"
SINGLE_STEPS = "asked of single steps of one size only"
FEWEST = 64  # nodes for an exponent of wandering


class Standing(Enum):
    """On what ground a line rests."""

    THEOREM = "theorem"
    OBSERVED = "observed"
    NOT_CLAIMED = "not claimed"


class Line(NamedTuple):
    """One line of an audit; `holds` is None where nothing is claimed that could fail."""

    what: str
    size: float  # largest deviation, or largest residual
    standing: Standing
    holds: bool | None
    drift: Trend = UNKNOWN
    wandering: float = float("nan")  # exponent: 0 bounded, 1/2 a random walk, 1 a drift
    note: str = ""


class Audit:
    """The lines of an audit; prints as a table, `plot` draws it."""

    def __init__(self, title: str, lines: list[Line], t: np.ndarray, deviations: dict[str, np.ndarray]) -> None:
        self.title, self.lines, self.t, self.deviations = title, lines, t, deviations

    def __getitem__(self, what: str) -> Line:
        return next(line for line in self.lines if line.what == what)

    @property
    def sound(self) -> bool:
        """Whether every line that is a theorem holds."""
        return all(line.holds for line in self.lines if line.standing is Standing.THEOREM)

    def __repr__(self) -> str:
        head = ["", "largest", "drift a unit time", "wanders as t^", "standing", "note"]
        rows = [head, *(_cells(line) for line in self.lines)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.title, *table])

    def plot(self) -> "Figure":
        """A figure: each invariant's deviation against time, one panel a standing (needs matplotlib)."""
        from discrete_hamel.drawing.plots.look import blank, style

        with style():
            standings = [s for s in Standing if any(self[what].standing is s for what in self.deviations)]
            figure = blank(5 * max(len(standings), 1), 4)
            for axes, standing in zip(
                figure.subplots(1, max(len(standings), 1), squeeze=False)[0], standings, strict=False
            ):
                for what, off in self.deviations.items():
                    if self[what].standing is standing:
                        axes.semilogy(self.t[1:], np.maximum(np.abs(off[1:]), 1e-18), label=what)
                axes.set(title=standing.value, xlabel="t", ylabel="|deviation|")
                axes.legend(fontsize="small")
        return figure


def _cells(line: Line) -> list[str]:
    verdict = "" if line.holds is None else (", holds" if line.holds else ", BROKEN")
    drift = "" if np.isnan(line.drift.slope) else str(line.drift)
    wandering = "" if np.isnan(line.wandering) else f"{line.wandering:.2f}"
    return [line.what, f"{line.size:.1e}", drift, wandering, line.standing.value + verdict, line.note]


def audit(trajectory: Trajectory) -> Audit:
    """Returns what this trajectory keeps: constraint, invariants with drift and wandering, momentum equation, Newton's
    health.

    A line is a theorem where one holds for this scheme and system (README, "What is promised"), observed where it is
    known from experience only, and not claimed otherwise.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> found = dh.audit(dh.simulate(sleigh, [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=200))
    >>> found.sound, found["energy"].standing.value, found["constraint"].standing.value
    (True, 'theorem', 'theorem')
    """
    if trajectory.scheme is None:
        raise InputError("an audit is of a run of a scheme (dh.simulate); a reference motion has none.")
    invariants = {name: np.asarray(values) for name, values in trajectory.invariants().items()}
    steps = max(1, (len(trajectory.t) - 1) * trajectory.save_every)
    first, last = (_nonlinear if trajectory.system.frameless else _linear)(trajectory, steps)
    lines = [first, *(_invariant(trajectory, name, values, steps) for name, values in invariants.items())]
    lines += [last, *_contact(trajectory), _newton(trajectory)]
    title = (
        f"{type(trajectory.system).__name__} by {trajectory.scheme!r}, h = {float(trajectory.h):g}, {steps} steps to "
        f"t = {trajectory.t[-1]:g}"
    )
    deviations = {name: values - values[0] for name, values in invariants.items()}
    return Audit(title, lines, np.asarray(trajectory.t), deviations)


def wandering(values: ArrayLike) -> float:
    """Returns the exponent of t with which values move away from where they were: 0 bounded, 1/2 random walk, 1 drift.

    From the root mean square of increments over lags 1, 2, 4, ... up to a quarter of the series.

    >>> from discrete_hamel.analysis import wandering
    >>> import numpy as np
    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=20_000))
    >>> round(wandering(walk), 1), round(wandering(np.arange(1000.0)), 1)
    (0.5, 1.0)
    """
    exponent = _exponent(values)
    if np.isnan(exponent):
        raise InputError(
            f"an exponent of wandering needs {FEWEST} values at least, finite and not all alike at any lag; these "
            f"{len(np.atleast_1d(values))} are not, so they say nothing about how far a series goes in time."
        )
    return exponent


def _exponent(values: ArrayLike) -> float:
    values = np.asarray(values, float)
    if len(values) < FEWEST or not np.all(np.isfinite(values)) or not np.ptp(values):
        return float("nan")
    lags = 2 ** np.arange(0, int(np.log2(len(values) // 4)) + 1)
    sizes = np.array([np.sqrt(np.mean((values[lag:] - values[:-lag]) ** 2)) for lag in lags])
    if np.any(sizes == 0):
        return float("nan")
    late = slice(len(lags) // 2, None)
    return float(np.polyfit(np.log(lags[late]), np.log(sizes[late]), 1)[0])


def _linear(trajectory: Trajectory, steps: int) -> tuple[Line, Line]:
    return _constraint(trajectory, steps), _momentum(trajectory, steps)


def _nonlinear(trajectory: Trajectory, steps: int) -> tuple[Line, Line]:
    """Constraint and equations where qdot = psi(q, z): nodes satisfy it by their form, so the chords are asked."""
    what = ("constraint", "variational equations")
    if trajectory.save_every != 1 or trajectory.scheme.time(trajectory.final) is not None or len(trajectory.t) < 2:
        first, last = (Line(name, float("nan"), Standing.NOT_CLAIMED, None, note=SINGLE_STEPS) for name in what)
        return first, last
    sizes = _midpoint_residuals(trajectory)
    if not isinstance(trajectory.scheme, NonlinearMidpoint):
        note = "exact at nodes; (N1), (N2) at the middle, measured here, are not this scheme's equations"
        first, last = (
            Line(name, size, Standing.NOT_CLAIMED, None, note=note) for name, size in zip(what, sizes, strict=True)
        )
        return first, last
    speed = float(np.max(np.abs(trajectory.v))) + float(np.max(np.abs(trajectory.q))) / abs(float(trajectory.h))
    first, last = (
        Line(name, size, Standing.THEOREM, size < ROUNDOFF * steps**0.5 * (1 + speed))
        for name, size in zip(what, sizes, strict=True)
    )
    return first, last


def _constraint(trajectory: Trajectory, steps: int) -> Line:
    claimed = "constraint" in trajectory.scheme.conserves
    standing = Standing.THEOREM if claimed else Standing.NOT_CLAIMED
    if trajectory.save_every != 1 or trajectory.scheme.time(trajectory.final) is not None:
        return Line(
            "constraint", float("nan"), Standing.NOT_CLAIMED, None, note="asked of single steps of one size only"
        )
    if len(trajectory.t) < 2:
        return Line("constraint", 0.0, standing, True if claimed else None)
    size = constraint_residual(trajectory)
    if not claimed:
        return Line("constraint", size, standing, None)
    if not isinstance(trajectory.scheme, ONE_CHORD):
        unknown = UNKNOWN_SCHEME.format(type(trajectory.scheme).__name__)
        note = next((words for kind, words in ELSEWHERE.items() if isinstance(trajectory.scheme, kind)), unknown)
        return Line("constraint", size, Standing.NOT_CLAIMED, None, note=note)
    speed = float(np.max(np.abs(trajectory.v))) + float(np.max(np.abs(trajectory.q))) / abs(float(trajectory.h))
    return Line("constraint", size, standing, size < ROUNDOFF * steps**0.5 * (1 + speed))


def _exact(scheme: Scheme, name: str, kept: str | None) -> bool:
    """Whether an invariant's exactness is a theorem for this scheme; catalogue marks speak of DiscreteHamel()."""
    if name == "energy" and "energy" in scheme.conserves:
        return True
    return kept == "exact" and set(DiscreteHamel.conserves) <= set(scheme.conserves)


def _invariant(trajectory: Trajectory, name: str, values: np.ndarray, steps: int) -> Line:
    declared = trajectory.system.invariants().get(name)
    kept = getattr(declared, "kept", None)
    size = float(np.max(np.abs(values - values[0])))
    drift = drift_of(np.asarray(trajectory.t), values)
    found = _exponent(values)
    lossy = name == "energy" and trajectory.system.frameless and _reactions_work(trajectory)
    if _exact(trajectory.scheme, name, kept) and not lossy:
        holds = size < ROUNDOFF * steps**0.5 * max(1.0, abs(float(values[0])))
        return Line(name, size, Standing.THEOREM, holds, drift, found)
    if kept == "bounded" and trajectory.scheme.symmetric:
        secular = drift.significant and abs(drift.slope) * float(trajectory.t[-1]) > 0.5 * size
        note = "a drift stands out" if secular else "bounded, where a motion is its own reverse"
        return Line(
            name,
            size,
            Standing.OBSERVED,
            not secular,
            drift,
            found,
            note or "bounded, where a motion is its own reverse",
        )
    note = "no invariant is declared" if declared is None else f"declared {kept!r} for DiscreteHamel()"
    return Line(name, size, Standing.NOT_CLAIMED, None, drift, found, note)


def _momentum(trajectory: Trajectory, steps: int) -> Line:
    what = "momentum equation"
    if trajectory.save_every != 1 or trajectory.scheme.time(trajectory.final) is not None or len(trajectory.t) < 2:
        return Line(what, float("nan"), Standing.NOT_CLAIMED, None, note=SINGLE_STEPS)
    fields = [_UnitField(j, trajectory.xi.shape[1]) for j in range(trajectory.system.rank)]
    size = max(float(np.max(np.abs(momentum_residual(trajectory, field)))) for field in fields)
    if not isinstance(trajectory.scheme, DiscreteHamel):
        return Line(what, size, Standing.NOT_CLAIMED, None, note="(D2) at the midpoint; of this scheme's order in h")
    scale = 1 + float(np.max(np.abs(trajectory.p))) / abs(float(trajectory.h))
    return Line(what, size, Standing.THEOREM, size < ROUNDOFF * steps**0.5 * scale)


class _UnitField:
    """The field u_j, in frame components; equal ones share a compilation."""

    def __init__(self, j: int, n: int) -> None:
        self.key = (j, n)

    def __call__(self, q: Coordinates) -> Array:  # noqa: ARG002  # constant in the frame
        return jnp.eye(self.key[1])[self.key[0]]

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _UnitField) and self.key == other.key


def _contact(trajectory: Trajectory) -> list[Line]:
    """The least normal force, and from when on the contact would have to pull."""
    if trajectory.contact_force is None:
        return []
    least, found = float(np.min(trajectory.contact_force)), pull(trajectory)
    note = "the surface pushes throughout" if found is None else f"pulls from t = {found[0]:.6g}: a real body leaves"
    return [Line("least contact force", least, Standing.OBSERVED, found is None, note=note)]


def _newton(trajectory: Trajectory) -> Line:
    report = trajectory.report
    if not len(report.converged):
        return Line("Newton", 0.0, Standing.OBSERVED, True, note="no steps")
    failed, most = int(np.sum(~np.asarray(report.converged))), int(np.max(report.iterations))
    note = f"{failed} failed, at most {most} iterations, {report.path} path"
    return Line("Newton", float(np.nanmax(report.residual)), Standing.OBSERVED, failed == 0, note=note)


def _midpoint_residuals(run: Trajectory) -> tuple[float, float]:
    """The largest residuals of (N1) a step, divided by h, and of (N2), by NonlinearMidpoint or at the middle."""
    tau = jnp.asarray(0.5 if run.scheme is None else run.scheme.point, float)
    chord, balance = _residuals(run.system, run.q, run.xi, run.xi_mid, run.h, tau)
    return float(np.max(np.asarray(chord))), float(np.max(np.asarray(balance)))


@jax.jit
def _residuals(system: System, q: Array, z: Array, inside: Array, h: Array, tau: Array) -> tuple[Array, Array]:
    def one(q0: Array, q1: Array, z0: Array, z1: Array, middle: Array) -> tuple[Array, Array]:
        q = (1 - tau) * q0 + tau * q1
        along, force, here = directions(system, q, middle).T, h * drive(system, q, middle), covector(system, q, middle)
        first = along @ (here - covector(system, q0, z0) - (1 - tau) * force)
        second = along @ (covector(system, q1, z1) - here - tau * force)
        chord = (q1 - q0) / h - system.velocity(q, middle)
        return jnp.max(jnp.abs(chord)), jnp.max(jnp.abs(jnp.concatenate([first, second])))

    return jax.vmap(one)(q[:-1], q[1:], z[:-1], z[1:], inside)


def _reactions_work(run: Trajectory) -> bool:
    """Whether qdot has a part across psi_z at some node: then the reactions work, and the motion's energy changes."""
    across = np.asarray(_across(run.system, jnp.asarray(run.q), jnp.asarray(run.xi)))
    return not bool(np.all(across <= ALONG))


@jax.jit
def _across(system: System, q: Array, z: Array) -> Array:
    """|psi - psi_z c| / |psi| with psi_z c the nearest."""

    def one(q: Array, z: Array) -> Array:
        v, psi_z = system.velocity(q, z), directions(system, q, z)
        off = v - psi_z @ (jnp.linalg.pinv(psi_z) @ v)
        return jnp.linalg.norm(off) / jnp.maximum(jnp.linalg.norm(v), jnp.finfo(v.dtype).tiny)

    return jax.vmap(one)(q, z)
