"""The two loops under `simulate`: a differentiable scan, and a chunked run on the host that never recompiles."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel._support.arrays import PyTree, Scalar
from discrete_hamel._support.console import Progress, stop_requests
from discrete_hamel._support.errors import RunFailed, RunInterrupted
from discrete_hamel._support.inputs import before_steps, explained
from discrete_hamel.compiler.native.kept_values import once_a_run
from discrete_hamel.compiler.paths import AnyStepper, Pace, compiled_for, stepper_for
from discrete_hamel.mechanics.newton import Report
from discrete_hamel.mechanics.singular_states import met_singular_state
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.diagnosis import crash, failed_step, interruption, lost_frame, not_finite
from discrete_hamel.runs.storage.record import Checkpoint, Record, Rows
from discrete_hamel.runs.trajectory import RunReport, Trajectory, times
from discrete_hamel.runs.validation import by_numpy
from discrete_hamel.schemes.scheme import Scheme, State, start, step

CHUNK = 4096  # nodes that a compiled call fills at most: bounds memory, and lets the host look in between
COORDINATES = 2**20  # that these nodes have at most all together: fields of many points take shorter calls
FEW = 64  # after a failure of the compiled step the plain path goes on up to a multiple of so many intervals
CHUNK_STEPS = 2**17  # steps it takes at most, unless a single saved interval is longer


@once_a_run
def first_state(system: System, scheme: Scheme, q: Any, xi: Array, h: Array) -> tuple[State, tuple]:
    state = start(system, scheme, q, xi, h) if hasattr(q, "shape") else q  # a state, from which a run goes on
    return state, (state.q, state.p, xi)


def trace(
    system: System, scheme: Scheme, q: Any, xi: Array, h: Array, intervals: int, save_every: int, compiled: bool
) -> Trajectory:
    """The run under jit, grad and vmap, by the compiled step where there is one; a failed step leaves NaN behind it."""
    at = getattr(q, "q", q)
    how = "asked for" if not compiled else compiled_for(system, scheme, at, xi, h) if intervals else "no steps"
    if isinstance(how, str):
        trajectory = scan(system, scheme, q, xi, h, intervals, save_every)
        steps = jnp.asarray(intervals * save_every)
        return trajectory.replace(report=trajectory.report.replace(reason=how, plain_steps=steps))
    (q, p, xi), ran, final = how.follow(first_state, (system, scheme, q, xi, h), intervals, save_every)
    report = RunReport(ran.converged, ran.iterations, ran.residual, "compiled", how.history.without, ran.plain_steps)
    t = times(h, save_every, 0, intervals + 1)
    return Trajectory(t, q, p, xi, ran.xi_mid, report, system, scheme, h, final, save_every)  # type: ignore[arg-type]


def scan(system: System, scheme: Scheme, q: Any, xi: Array, h: Array, intervals: int, save_every: int) -> Trajectory:
    """The run as one differentiable scan; a failed step leaves NaN behind it, and its mark."""

    def one(carry: tuple, _: object) -> tuple[tuple, Any]:
        state, well = carry
        state, interval = step(system, scheme, state, h)
        well = well & interval.report.converged
        state = jax.tree.map(lambda leaf: jnp.where(well, leaf, jnp.nan), state)
        return (state, well), interval

    def several(carry: tuple, _: object) -> tuple[tuple, Any]:
        (state, well), interval = lax.scan(one, carry, length=save_every)
        solves = interval.report
        report = RunReport(well, jnp.max(solves.iterations), solves.residual[-1])  # type: ignore[arg-type]
        node = (state.q, state.p, scheme.velocity(system, state))
        return (state, well), (node, scheme.time(state), jnp.where(well, interval.xi[-1], jnp.nan), report)

    state, first = first_state(system, scheme, q, xi, h)
    (final, _), (nodes, clock, xi_mid, report) = lax.scan(several, (state, jnp.asarray(True)), length=intervals)
    q, p, xi = (jnp.concatenate([a[None], b]) for a, b in zip(first, nodes, strict=True))
    t = times(h, save_every, 0, intervals + 1) if clock is None else jnp.concatenate([jnp.zeros(1, h.dtype), clock])
    return Trajectory(t, q, p, xi, xi_mid, report, system, scheme, h, final, save_every)  # type: ignore[arg-type]


def chunk_length(q: Array) -> int:
    """Nodes of a compiled call: of the shape of q alone, so that nothing recompiles."""
    return max(1, min(CHUNK, COORDINATES // max(1, q.size)))


def _per_call(stepper: AnyStepper | str, q: Array, save_every: int) -> int:
    """Intervals that a call takes at most: native code, which has no room set aside, some tenths of a second."""
    if isinstance(stepper, str):
        return max(1, min(chunk_length(q), CHUNK_STEPS // save_every))
    return max(1, min(COORDINATES // max(1, q.size), stepper.run.steps // save_every))


@partial(jax.jit, static_argnames="length")
def _chunk(
    system: System, scheme: Scheme, state: State, h: Array, intervals: Scalar, save_every: Scalar, length: int = CHUNK
) -> tuple[State, Array, Report, tuple, Any]:
    """Up to `length` intervals of `save_every` steps each, ended early by a failed step; both numbers are traced.

    Returns the last good state, the number of good steps, the report of the last step tried, what was saved, and the
    times of the nodes where the scheme keeps them.
    """
    n = jax.eval_shape(scheme.velocity, system, state).shape[0]

    def buffer(leaf: Array) -> Array:
        return jnp.zeros((length, *leaf.shape), leaf.dtype)

    well = Report(jnp.asarray(True), jnp.asarray(0), jnp.zeros((), h.dtype))
    saved = (jax.tree.map(buffer, state), buffer(jnp.zeros(n)), jax.tree.map(buffer, well))

    def one(carry: tuple) -> tuple:
        state, done, _, (nodes, xi_mid, worst) = carry
        new, interval = step(system, scheme, state, h)
        solve, slot = interval.report, done // save_every
        state = jax.tree.map(lambda a, b: jnp.where(solve.converged, a, b), new, state)
        nodes = jax.tree.map(lambda kept, leaf: kept.at[slot].set(leaf), nodes, new)
        worst = jax.tree.map(lambda kept, leaf: kept.at[slot].max(leaf), worst, solve)
        return state, done + solve.converged, solve, (nodes, xi_mid.at[slot].set(interval.xi), worst)

    def going(carry: tuple) -> Array:
        _, done, solve, _ = carry
        return (done < intervals * save_every) & solve.converged

    state, done, solve, saved = lax.while_loop(going, one, (state, jnp.asarray(0), well, saved))

    def velocity(k: Array, xi: Array) -> Array:
        return xi.at[k].set(scheme.velocity(system, jax.tree.map(lambda leaf: leaf[k], saved[0])))

    xi = lax.fori_loop(0, done // save_every, velocity, jnp.zeros((length, n), h.dtype))
    return state, done, solve, (saved[0].q, saved[0].p, xi, *saved[1:]), scheme.time(saved[0])


def plain_chunk(system: System, scheme: Scheme, state: State, h: Array, ask: int, save_every: int) -> tuple:
    """A chunk by the plain path: state, steps done, a solve that failed, the whole intervals saved, and their clock."""
    state, done, solve, saved, clock = _chunk(system, scheme, state, h, ask, save_every, length=chunk_length(state.q))
    whole = int(done) // save_every
    return state, int(done), None if solve.converged else solve, _first(saved, whole), _first(clock, whole)


def _first(saved: PyTree, count: int) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:count], saved)


def _from_last(last: tuple, t: np.ndarray, saved: tuple, rows: Rows | None) -> tuple:
    """t, q and xi of a chunk, with those of the node before it in front."""
    if rows is None:
        return tuple(np.concatenate([a[None], b]) for a, b in zip(last, (t, saved[0], saved[2]), strict=True))
    return tuple(a[: len(t) + 1] for a in (rows.t, rows.q, rows.xi))


def run(
    system: System,
    scheme: Scheme,
    q: Any,
    xi: Array,
    h: Array,
    intervals: int,
    save_every: int,
    progress: bool,
    compiled: bool,
    record: Record,
) -> tuple[Trajectory, RunFailed | RunInterrupted | None]:
    """The run on the host from q and xi, or from a state in place of q: what was computed, and what ended it.

    Nothing depends on where chunks end, so that a run taken up again has the numbers of one never interrupted.
    """
    stepper: AnyStepper | str = "asked for"
    with before_steps():
        with explained(f"the start of {type(scheme).__name__}"):
            state, first = (first_state.afresh if record.lasting else first_state)(system, scheme, q, xi, h)
        if compiled:
            stepper = stepper_for(system, scheme, state, h, reproducible=record.lasting)
    path = ("plain", stepper) if isinstance(stepper, str) else ("compiled", "")
    (state, finished, plain_until, plain_steps), last = record.begin(state, first, path)
    failure: RunFailed | RunInterrupted | None = None
    per_chunk = _per_call(stepper, state.q, save_every)
    several = record.lasting or intervals > per_chunk
    pace = Pace(system, scheme, stepper if compiled else None, intervals * save_every)
    with Progress(intervals * save_every, progress, finished * save_every) as bar, stop_requests(several) as stops:
        while finished < intervals and failure is None and not record.failure:
            ask, astray = min(per_chunk, intervals - finished, record.room(finished), pace.most), False
            rows, plain = record.rows(finished, ask), isinstance(stepper, str) or finished < plain_until
            try:
                if isinstance(stepper, str) or plain:
                    ask = ask if isinstance(stepper, str) else min(ask, plain_until - finished)
                    chunk = plain_chunk(system, scheme, state, h, ask, save_every)
                else:  # where a step of it fails the plain path, with true pivoting, has to go on
                    into = None if rows is None else rows.ahead()
                    state, whole, good, saved = stepper.run(system, scheme, state, h, ask, save_every, into)
                    chunk, astray = (state, whole * save_every, None, saved, None), not good
            except Exception as error:  # the user's functions may do anything
                failure = crash(error, finished * save_every, ask * save_every, h)
                break
            state, done, failed, saved, clock = chunk
            whole, steps = done // save_every, finished * save_every + done
            room = rows and rows.t[1 : whole + 1]
            t = np.asarray(times(h, save_every, finished + 1, whole, room)) if clock is None else clock
            if rows is not None:
                rows.take(t, saved)
            if failed is not None:
                failure = failed_step(system, scheme, state, h, steps, failed)
            else:
                at, track, velocities = _from_last(last, t, saved, rows)
                failure = (
                    not_finite(track, velocities, at, finished, save_every)
                    or lost_frame(system, scheme, track, at, finished, save_every)
                    or met_singular_state(system, track, velocities, at, finished, save_every, by_numpy)
                )
                last = at[-1], track[-1], velocities[-1]
            finished, plain_steps = finished + whole, plain_steps + whole * save_every * plain
            plain_until = (finished // FEW + 1) * FEW if astray else plain_until
            failure = record.add(t, saved, Checkpoint(state, finished, plain_until, plain_steps)) or failure
            bar.at(steps)
            pace.at(steps)
            if stops and finished < intervals and failure is None:
                failure = interruption(finished * save_every, intervals * save_every)
    return record.end(state, failure)
