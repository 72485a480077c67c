"""Why a run stopped: each failure says which step, where, how far off, which equation, and what to try."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import FrameDegenerates, NewtonFailed, RunFailed, RunInterrupted
from discrete_hamel._support.inputs import in_short
from discrete_hamel.compiler.along import along
from discrete_hamel.compiler.reading.start_facts import DENSE
from discrete_hamel.mechanics import frames
from discrete_hamel.mechanics.newton import Report, newton
from discrete_hamel.mechanics.singular_states import singular_reason
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

PART = 9984  # numbers of which BLAS takes products by itself
DEGENERATE = 1e8  # condition at which a frame is as good as singular


@partial(jax.jit, static_argnames="many")
def _last_try(system: System, scheme: Scheme, state: State, h: Array, many: bool) -> tuple[Array, ...]:
    """The step's size, and residuals at guess and end; of a field of `many` points no end, its Jacobian being dense."""
    scheme, state, h = scheme.unsolved(system, state, h)
    residual, guess = partial(scheme.residual, system, state, h), scheme.guess(system, state, h)
    if many:
        return h, residual(guess)
    fields = jnp.eye(len(state.q)) if system.frameless else system.frame(state.q)
    return h, residual(guess), residual(newton(residual, guess)[0]), fields


def failed_step(system: System, scheme: Scheme, state: State, h: Array, steps: int, report: Report) -> RunFailed:
    """The failure of the step after `steps` good ones."""
    many = len(state.q) > DENSE
    size_of_step, at_guess, *further = (np.asarray(a) for a in _last_try(system, scheme, state, h, many))
    clock = scheme.time(state)
    t = steps * float(h) if clock is None else float(clock)
    where = f"step {steps + 1} (from t = {t:g} with h = {float(size_of_step):g})"
    if system.frameless and (reason := singular_reason(system, state.q, state.p, float(size_of_step), where)):
        return reason
    position = f"q = {np.array2string(np.asarray(state.q), precision=6, separator=', ')}"
    if not np.all(np.isfinite(at_guess)):
        row = int(np.flatnonzero(~np.isfinite(at_guess))[0])
        return NewtonFailed(
            f"{where}: {scheme.equation(system, row)} is not finite already at the first guess, near {position}. The "
            "Lagrangian, frame, structure, slip or force returns NaN or inf there: a pole of the coordinates, a "
            "division by zero, or a step that jumps out of their domain. Look at that point, or try a smaller h."
        )
    remedy = "Try a smaller step" + (f", h = {float(h) / 4:g} say" if clock is None else " density")
    remedy += "; what was computed is in .trajectory."
    if many:
        left = f"a residual of norm {float(report.residual):.1e}"
        return NewtonFailed(
            f"{where}: Newton's method left {left} after {int(report.iterations)} iterations, near {position}. {remedy}"
        )
    at_end, psi = further
    size = np.where(np.isfinite(at_end), np.abs(at_end), np.inf)
    row = int(np.argmax(size))
    left = f"a residual of {size[row]:.1e}" if np.isfinite(size[row]) else "values that are not finite"
    message = (
        f"{where}: Newton's method left {left} after {int(report.iterations)} iterations, worst in "
        f"{scheme.equation(system, row)}, near {position}. "
    )
    if (bad := frames.condition(psi[:, : system.rank])) > DEGENERATE:
        message += f"The frame is nearly singular there (condition {bad:.1e}): change coordinates or fields. "
    return NewtonFailed(message + remedy)


def _sum_of_squares(a: np.ndarray) -> float:
    """In one look at each number, by parts that BLAS leaves to one thread."""
    return sum((part := a[k : k + PART]).dot(part) for k in range(0, len(a), PART))


def not_finite(q: np.ndarray, xi: np.ndarray, t: np.ndarray, finished: int, save_every: int) -> NewtonFailed | None:
    """A failure if some node's momentum has no velocity, or products of its q and xi are too large for a float."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(_sum_of_squares(q.ravel()) * _sum_of_squares(xi.ravel())):
            return None
        sizes = (np.abs(q).max(axis=1, initial=0.0) * np.abs(xi).max(axis=1)) ** 2  # reduced: no q
    if len(lost := np.flatnonzero(~np.isfinite(xi).all(axis=1))):
        return NewtonFailed(
            f"after step {(finished + lost[0]) * save_every} (t = {t[lost[0]]:g}) no velocity belongs to the momentum: "
            "the Lagrangian has become degenerate there, d2l/dxi2 is singular on the constraint. What was computed is "
            "in .trajectory."
        )
    if not len(bad := np.flatnonzero(~np.isfinite(sizes))):
        return None
    k = int(bad[0])
    return NewtonFailed(
        f"at step {(finished + k) * save_every} (t = {t[k]:g}) q reaches {np.abs(q[k]).max(initial=0.0):.1e} and xi "
        f"{np.abs(xi[k]).max():.1e}, whose products no float holds. Choose other units, or look for a runaway motion.",
        good=max(finished + k - 1, 0),
    )


def _frame_margin(system: System, q: Array) -> Array:  # of wrappers too, whose class has a property there
    return system.frame_margin(q)


def lost_frame(
    system: System, scheme: Scheme, q: np.ndarray, t: np.ndarray, finished: int, save_every: int
) -> FrameDegenerates | None:
    """A failure if a frame built from constraints has degenerated at the nodes q[1:], q[0] being good.

    Between them as well, unless it is used at nodes only. Both q and t are from node `finished` on.
    """
    if type(system).frame_margin is System.frame_margin:
        return None
    margins = along(_frame_margin, system, q)
    left = np.abs(margins) if scheme.at_nodes else margins * np.sign(margins[0])
    if not len(lost := np.flatnonzero(~(left > 1 / DEGENERATE))):
        return None
    k = finished + int(lost[0])
    return FrameDegenerates(
        f"before step {k * save_every} (t = {t[lost[0]]:g}) the frame built from the constraints, or by reduction, "
        f"degenerates (margin {margins[lost[0]]:.1e}, at the start {margins[0]:.1e}): its fields no longer span "
        "the motions that the constraints allow. Go on from an earlier node, where a new frame is chosen: "
        "simulate(system, q=traj.q[k], v=traj.v[k], ...) with traj = error.trajectory, or reduce about that r "
        "(or by another section), or give a frame of your own that is good everywhere (from_velocities).",
        good=max(k - 1, 0),
    )


def crash(error: Exception, steps: int, asked: int, h: Array) -> RunFailed:
    """The failure of a chunk in which something raised: a callback of the user's functions, or the machine."""
    failure = RunFailed(
        f"between steps {steps + 1} and {steps + asked} (from t = {steps * float(h):g}) an exception ended the run: "
        f"{in_short(error)}. If the system's functions call back to Python, look there; what was "
        "computed is in .trajectory."
    )
    failure.__cause__ = error
    return failure


def interruption(steps: int, of: int) -> RunInterrupted:
    """What Ctrl-C ends a run with."""
    return RunInterrupted(f"interrupted after {steps} of {of} steps (in .trajectory); a store goes on by resume=True.")
