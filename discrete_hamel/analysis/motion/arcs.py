"""Time goes on: runs from where a trajectory ends, up to events and through what these change, and all as one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities, Scalar, Velocities
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel.analysis.motion.events import zeros_between
from discrete_hamel.analysis.motion.node_states import nodes_of, remembers
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.loop import run, trace
from discrete_hamel.runs.simulation import simulate
from discrete_hamel.runs.storage.record import RunInMemory
from discrete_hamel.runs.trajectory import RunReport, Trajectory, times
from discrete_hamel.schemes.scheme import Scheme

FIRST_LOOK, LONGEST_LOOK = 64, 4096  # steps that are simulated before events are looked for, then twice as many
ROUNDED = 1e-9  # of an event's function: more than that is no zero
WHOLE = 1e-9  # of a step: t_end is then a node
_PILE = (
    "{} before t = {:g}, ever faster: they pile up, as bounces of a ball that comes to rest do. Let an event's `then` "
    "change the system there, or end at an earlier t_end."
)


@dataclass(frozen=True, eq=False)
class Event:
    """Where function(q, xi) = 0, and what happens there.

    `then(q, xi)` returns (q, xi) for what goes on, or (system, q, xi) where that is another system (it sticks, it
    slips, a constraint is lost); None ends the run. `sense` +1 means zeros on the way up, -1 down, 0 both.

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> ball = dh.from_velocities(lambda q, v: 0.5 * v @ v - 9.8 * q[0], lambda q: jnp.eye(1), rank=1)
    >>> floor = dh.Event(lambda q, xi: q[0], sense=-1)          # it falls 4.9 m, to the floor, in a second
    >>> (fall,) = dh.arcs(ball, [4.9], [0.0], h=0.05, t_end=3.0, events=[floor])
    >>> round(float(fall.t[-1]), 9)
    1.0
    """

    function: Callable[[Array, Array], Scalar]
    then: Callable | None = None
    sense: int = 0


def prolong(trajectory: Trajectory, steps: int, *, progress: bool = True) -> Trajectory:
    """Returns the trajectory with `steps` more steps, from the state at its end: bit for bit the run in one piece.

    (Up to round-off where a compiled step failed in the 64 intervals before the end, and the plain path took over.)
    Works under jit, grad and vmap; `progress` is as in `simulate`.

    >>> import discrete_hamel as dh
    >>> sleigh, data = dh.systems.ChaplyginSleigh(), {"q": [0.1, 0, 0], "xi": [1.5, -0.3], "h": 0.01}
    >>> longer = dh.prolong(dh.simulate(sleigh, **data, steps=60), 40)
    >>> bool((longer.q == dh.simulate(sleigh, **data, steps=100).q).all()), len(longer)
    (True, 101)
    """
    if not isinstance(trajectory, Trajectory):
        raise InputTypeError(f"prolong takes a Trajectory and a number of steps; got {trajectory!r}.")
    if trajectory.final is None or trajectory.scheme is None:
        raise InputError(
            "only what simulate made goes on: a reference motion, and what join put together, has no state."
        )
    before, every = trajectory, trajectory.save_every
    steps = checks.count("steps", steps, 0)
    if steps % every:
        raise InputError(f"steps = {steps} is not a multiple of save_every = {every}, of which the trajectory is.")
    parts = before.system, before.scheme, before.final, before.xi[-1], jnp.asarray(before.h)
    if checks.traced(parts, before.q):
        more = trace(*parts, steps // every, every, before.report.path == "compiled")
    else:
        if not (np.all(before.report.converged) and np.array_equal(before.final.q, before.q[-1])):
            raise InputError("the trajectory did not come to its end (a failure, or an interruption): nothing goes on.")
        system, scheme, _, _, h = parts
        record: Any = RunInMemory(system, scheme, h, every, steps // every + 1)
        compiled = before.report.reason != "asked for"
        more, failure = run(*parts, steps // every, every, progress, compiled, record)
        if failure is not None:
            failure.trajectory = _longer(before, more)
            failure.add_note(f"Times and steps in this sentence are counted from t = {before.t[-1]:g}.")
            raise failure
    return _longer(before, more)


def join(*trajectories: Trajectory) -> Trajectory:
    """Returns one trajectory made of trajectories each of which begins when the one before ends.

    Where a state jumps, both nodes are there, at the same time, with an interval between them whose xi_mid is the
    velocity before. A whole of several steps or jumps has no h and no scheme, like a reference motion.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> one = dh.simulate(sleigh, [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=60)
    >>> other = dh.simulate(sleigh, one.q[-1], one.xi[-1], h=0.02, steps=60, t0=one.t[-1])
    >>> len(dh.join(one, other)), float(dh.join(one, other).t[-1].round(12))
    (121, 1.8)
    """
    if not trajectories or not all(isinstance(one, Trajectory) for one in trajectories):
        raise InputTypeError("join takes trajectories: dh.join(first, second), or dh.join(*dh.arcs(...)).")
    whole = trajectories[0]
    for k, after in enumerate(trajectories[1:]):
        if (
            not _equal(whole.system, after.system)
            or whole.q.shape[1:] != after.q.shape[1:]
            or whole.xi.shape[1:] != after.xi.shape[1:]
        ):
            raise InputError(
                f"trajectory {k + 1} is of {type(after.system).__name__}, and those before of "
                f"{type(whole.system).__name__}, or its parameters are others: arcs of different systems stay a list."
            )
        gap = float(after.t[0] - whole.t[-1])
        if abs(gap) > WHOLE * abs(float(after.t[-1] - whole.t[0])):
            raise InputError(
                f"trajectory {k + 1} begins at t = {after.t[0]:g}, and those before end at t = {whole.t[-1]:g}; "
                "simulate it with t0=..., or use replace(t=...)."
            )
        whole = _together(whole, after)
    return whole


def arcs(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    v: Velocities | None = None,
    h: Scalar,
    t_end: float,
    events: Iterable[Event] = (),
    scheme: Scheme | None = None,
    t0: float = 0.0,
    most: int = 1000,
) -> list[Trajectory]:
    """Returns the arcs of a motion from t0 to t_end, or to an event that ends it: one up to each event, in order.

    Each goes by steps h and ends with a shorter one, at whose end the event's function is zero to round-off, or at
    t_end. What happens there (an impact, other friction, another constraint) is the event's `then`; the first of
    several events counts. `join` makes one trajectory of the arcs of one system. The system, q, xi or v, h and scheme
    are as in `simulate`; after `most` events it gives up.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> ball = dh.from_velocities(lambda q, v: 0.5 * v @ v - 9.81 * q[0], lambda q: jnp.eye(1), 1)
    >>> bounce = dh.Event(lambda q, xi: q[0], then=lambda q, xi: (q, -0.5 * xi), sense=-1)
    >>> flights = dh.arcs(ball, [4.905], [0.0], h=0.01, t_end=2.5, events=[bounce])
    >>> [round(float(one.t[-1]), 9) for one in flights]     # falls 1 s, then flies 1, then 1/2
    [1.0, 2.0, 2.5]
    """
    events = tuple(events)
    if not all(isinstance(event, Event) for event in events):
        raise InputTypeError(f"events are a list of dh.Event(function, then=..., sense=...); got {events!r}.")
    h, t, most = float(checks.step_size(h)), float(t0), checks.count("most", most, 1)
    if not (t_end - t) * h > 0:
        raise InputError(f"t_end = {t_end} does not lie ahead of t0 = {t:g} with steps of h = {h:g}.")
    found: list[Trajectory] = []
    event = None
    while True:
        one, event = _arc(system, q, xi, v, h, t, float(t_end), events, scheme, event)
        found.append(one)
        if event is None or event.then is None:
            return found
        if len(found) > most:
            raise InputError(_PILE.format(f"more than most = {most} events came", float(one.t[-1])))
        after = event.then(jnp.asarray(one.q[-1]), jnp.asarray(one.xi[-1]))
        if not isinstance(after, tuple) or len(after) not in (2, 3):
            raise InputError(f"then(q, xi) of an event returns (q, xi) or (system, q, xi); it returned {after!r}.")
        system, q, xi = after if len(after) == 3 else (one.system, *after)
        v, t = None, float(one.t[-1])
        if abs(t_end - t) <= WHOLE * abs(h):
            return found


def _arc(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None,
    v: Velocities | None,
    h: float,
    t: float,
    t_end: float,
    events: tuple,
    scheme: Scheme | None,
    passed: Event | None,
) -> tuple[Trajectory, Event | None]:
    """One arc from t on, and the event that ends it, None where t_end does; `passed` ended the one before."""
    steps = int((t_end - t) / h + WHOLE)
    whole, rest = None, t_end - t - steps * h
    while whole is None or len(whole) <= steps:
        done = 0 if whole is None else len(whole) - 1
        look = min(max(FIRST_LOOK, min(done, LONGEST_LOOK)), steps - done)
        if whole is None:
            size, look = (h, look) if look else (rest, 1)
            whole = simulate(system, q, xi, v=v, h=size, steps=look, scheme=scheme, t0=t)
        else:
            whole = prolong(whole, look)
        if (first := _first(whole, events, done, passed)) is not None:
            return _cut(whole, *first[1:]), first[0]
    if not steps or abs(rest) <= WHOLE * abs(h):
        return whole, None
    last = _step(whole, steps, rest)
    if (first := _first(last, events, 0, None)) is not None:
        return _cut(whole, steps, first[2]), first[0]
    return _together(whole, last), None


def _first(run: Trajectory, events: tuple, done: int, passed: Event | None) -> tuple | None:
    """The first event on a run after so many steps: itself, the step, and the length of its part up to there."""
    since = 0 if remembers(run.final) else done
    names = ("t", "q", "p", "xi")
    nodes = nodes_of(run.replace(**{name: getattr(run, name)[since:] for name in names}))
    found = []
    for event in events:
        from_zero = event is passed and not since
        there = zeros_between(run.system, run.scheme, run.h, nodes, event.function, event.sense, from_zero)
        if not len(there):
            continue
        if from_zero and not abs(there.value[0]) <= ROUNDED * _size(event.function, run):
            raise InputError(_PILE.format("events come", float(run.t[0])))
        found.append((there.step[0] + since, abs(there.t[0] - nodes.t[there.step[0]]), event))
    if not found:
        return None
    step, length, event = min(found, key=lambda one: one[:2])
    return event, int(step), float(np.copysign(length, run.h))


def _size(function: Callable, run: Trajectory) -> float:
    """Of a function, at the nodes next to the start."""
    return max(
        abs(float(function(jnp.asarray(q), jnp.asarray(xi)))) for q, xi in zip(run.q[:3], run.xi[:3], strict=False)
    )


def _step(run: Trajectory, node: int, length: float) -> Trajectory:
    """A step of another length, from a node of a run."""
    at = run.q[node], run.xi[node]
    return simulate(run.system, *at, h=length, steps=1, scheme=run.scheme, t0=float(run.t[node]))


def _cut(run: Trajectory, step: int, length: float) -> Trajectory:
    """A run up to a node, and a step of another length from there; none where that is below what t resolves."""
    at_node = abs(length) <= 8 * np.finfo(float).eps * max(abs(float(run.t[step])), abs(float(run.h)))
    if not step:
        return _step(run, step, length)
    report = run.report.replace(
        **{name: getattr(run.report, name)[:step] for name in ("converged", "iterations", "residual")}
    )
    names = {name: getattr(run, name)[: step + 1] for name in ("t", "q", "p", "xi")}
    before = run.replace(**names, xi_mid=run.xi_mid[:step], report=report)
    return before.replace(scheme=None, h=None, final=None) if at_node else _together(before, _step(run, step, length))


def _equal(one: System, other: System) -> bool:
    leaves, others = jax.tree.leaves(one), jax.tree.leaves(other)
    kinds: list[object] = [jax.tree.structure(one), jax.tree.structure(other)]
    return kinds[0] == kinds[1] and all(np.array_equal(a, b) for a, b in zip(leaves, others, strict=True))


def _stack(first: ArrayLike, second: ArrayLike) -> Any:
    known = not isinstance(first, jax.Array) and not isinstance(second, jax.Array)
    xp: Any = np if known else jnp
    return xp.concatenate([xp.asarray(first), xp.asarray(second)])


def _longer(before: Trajectory, more: Trajectory) -> Trajectory:
    """A run and its continuation as one, with the times of a run in one piece."""
    intervals = len(before.xi_mid) + len(more.xi_mid)
    if before.scheme.time(before.final) is None:
        t = before.t[0] + times(more.h, before.save_every, 0, intervals + 1)
    else:
        t = _stack(before.t, more.t[1:] + (before.t[-1] - before.scheme.time(before.final)))
    names = {name: _stack(getattr(before, name), getattr(more, name)[1:]) for name in ("q", "p", "xi")}
    return more.replace(t=t, **names, xi_mid=_stack(before.xi_mid, more.xi_mid), report=_reports(before, more))


def _reports(before: Trajectory, after: Trajectory, between: int = 0) -> RunReport | None:
    """Their reports as one, with so many intervals between them in which nothing was solved."""
    if before.report is None or after.report is None:
        return None
    fills = {"converged": True, "iterations": 0, "residual": 0.0}
    return after.report.replace(
        **{
            name: _stack(
                _stack(getattr(before.report, name), np.full(between, fill))
                if between
                else getattr(before.report, name),
                getattr(after.report, name),
            )
            for name, fill in fills.items()
        },
        plain_steps=before.report.plain_steps + after.report.plain_steps,
    )


def _together(before: Trajectory, after: Trajectory) -> Trajectory:
    """Two runs as one: a run in one piece, where that is what they are, else without a scheme."""
    jumps = not (np.array_equal(before.q[-1], after.q[0]) and np.allclose(before.xi[-1], after.xi[0], 0, 1e-12))
    first = 0 if jumps else 1
    names = {name: _stack(getattr(before, name), getattr(after, name)[first:]) for name in ("t", "q", "p", "xi")}
    middles = before.xi_mid, after.xi_mid
    if any(middle is None for middle in middles):
        xi_mid = None
    else:
        jump = [before.xi[-1:]] if jumps else []
        xi_mid = np.concatenate([middles[0], *jump, middles[1]])
    return after.replace(
        **names, xi_mid=xi_mid, report=_reports(before, after, int(jumps)), scheme=None, h=None, final=None
    )
