"""Events and Poincare sections: where a function of (q, xi) crosses zero, within the scheme's own step."""

from dataclasses import dataclass, fields, replace

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.motion import partial_steps
from discrete_hamel.analysis.motion.node_states import Nodes, go_on, nodes_of, remembers
from discrete_hamel.analysis.motion.partial_steps import Ends, Function
from discrete_hamel.compiler.reading.parts_of_schemes import check_scheme_at
from discrete_hamel.compiler.reading.places_beyond import shape_within
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.loop import CHUNK
from discrete_hamel.runs.simulation import simulate
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.nonlinear_midpoint import default_scheme
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.schemes.varying_step import TimeTransformed

LITTLE = 1e-6  # of a step: how soon after a zero the function is looked at again
LONGEST = 10**7  # steps without enough crossings after which a section is given up


@dataclass(frozen=True, eq=False)
class Crossings:
    """Where a function crosses zero: times, points, the step (from node `step` on) and the sense of each."""

    t: np.ndarray
    q: np.ndarray
    xi: np.ndarray
    step: np.ndarray
    sense: np.ndarray  # +1 upward, -1 downward, 0 where zero is only touched
    value: np.ndarray  # what is left of the function there

    def __len__(self) -> int:
        return len(self.t)


def crossings(trajectory: Trajectory, function: Function, *, sense: int = 0) -> Crossings:
    """Returns where function(q, xi) is zero along a trajectory, to round-off: each time one step, from the node before,
    of the scheme itself, of a length h s with 0 < s <= 1 at whose end the function is zero.

    The trajectory is not touched: it goes on from node to node. `sense` +1 keeps the upward ones, -1 the downward; 0
    keeps both and those where zero is only touched. Two crossings within one step are found, and told from a touch, if
    the function turns once there; one that turns more often within a step asks for smaller steps. Where the scheme
    remembers more than the nodes (Leapfrog, varying steps) the run is done again to have it.

    >>> import discrete_hamel as dh
    >>> ball = dh.systems.SphericalPendulumAngles()
    >>> run = dh.simulate(ball, [0.3, 0.0], [0.0, 0.0], h=0.1, steps=100)
    >>> swings = dh.crossings(run, lambda q, xi: q[0])
    >>> len(swings), bool(abs(swings.q[:, 0]).max() < 1e-13)
    (3, True)
    """
    if trajectory.scheme is None:
        raise InputError("crossings are located within a scheme's steps; a reference motion has none. Use dh.simulate.")
    if trajectory.save_every != 1:
        raise InputError(
            f"crossings need every node, and this trajectory has each {trajectory.save_every}th; "
            "simulate with save_every=1."
        )
    return zeros_between(trajectory.system, trajectory.scheme, trajectory.h, nodes_of(trajectory), function, sense)


def section(
    system: System,
    q: Coordinates,
    xi: Quasivelocities,
    function: Function,
    *,
    h: Scalar,
    count: int,
    scheme: Scheme | None = None,
    sense: int = 1,
) -> Crossings:
    """Returns a Poincare section: the first `count` crossings of function(q, xi) = 0 in one sense, the run going on as
    long.

    The step h may be a function h(q, xi), as in `simulate`.

    >>> import discrete_hamel as dh
    >>> pendulum = dh.systems.SphericalPendulumAngles()
    >>> points = dh.section(pendulum, [0.3, 0.0], [0.1, 0.4], lambda q, xi: xi[0], h=0.1, count=20)
    >>> points.q.shape, bool(abs(points.value).max() < 1e-13)
    ((20, 2), True)
    """
    count = checks.count("count", count, 1)
    system, q, xi = checks.initial_data(system, q, xi, None)
    scheme = default_scheme(system) if scheme is None else scheme
    if callable(h):
        scheme, h = TimeTransformed(scheme, h), 1.0
    scheme = checks.canonical(scheme).fitted(system)
    check_scheme_at(system, scheme, q)
    h = checks.step_size(h)
    state = scheme.start(system, q, xi, h)
    parts: list[Crossings] = []
    done = 0
    while sum(map(len, parts)) < count:
        if done >= LONGEST:
            raise InputError(
                f"only {sum(map(len, parts))} crossings in {done} steps: the motion does not come back to the section."
            )
        if remembers(state):
            nodes = go_on(system, scheme, h, state, CHUNK, done)
            if not np.all(np.isfinite(nodes.xi)):
                raise InputError(f"a step failed before t = {float(nodes.t[-1]):g}; simulate it to see which, and why.")
            found = zeros_between(system, scheme, h, nodes, function, sense)
            state = nodes.states(np.asarray(CHUNK))
        else:
            run = simulate(system, q, xi, h=h, steps=CHUNK, scheme=scheme)
            found = crossings(run, function, sense=sense)
            found = replace(found, t=found.t + done * float(h))
            q, xi = run.q[-1], run.xi[-1]
        parts.append(replace(found, step=found.step + done))
        done += CHUNK
    names = [field.name for field in fields(Crossings)]
    return Crossings(*(np.concatenate([getattr(part, name) for part in parts])[:count] for name in names))


def zeros_between(
    system: System, scheme: Scheme, h: Array, nodes: Nodes, function: Function, sense: int, from_zero: bool = False
) -> Crossings:
    """All crossings between nodes: single ones, pairs within a step, and touches. Where the first node is itself a
    zero, `from_zero`, they are looked for from a little later on, when the function has the sign of its rate.
    """
    first = jnp.asarray(nodes.q[0]), jnp.asarray(nodes.xi[0])
    shape_within("the function of (q, xi)", function, *first)
    shape = np.shape(function(*first))
    if shape != ():
        raise InputError(f"the function of (q, xi) must return one number; it returned shape {shape}.")
    values, rates = partial_steps.along(function, system, nodes.q, nodes.xi)
    lengths = np.diff(nodes.t, append=nodes.t[-1] + np.ptp(nodes.t[-2:]))
    if from_zero:
        values = np.append(rates[0] * lengths[0] * LITTLE, values[1:])
    inputs = function, system, scheme, h
    found: list[tuple[np.ndarray, Ends, np.ndarray]] = []

    def locate(
        index: np.ndarray, low: np.ndarray | float, high: np.ndarray | float, at_low: np.ndarray, senses: np.ndarray
    ) -> None:
        if len(index):
            least = LITTLE * ((index == 0) & from_zero)
            low, high = (np.broadcast_to(np.asarray(end, float), index.shape) for end in (np.maximum(low, least), high))
            found.append((index, partial_steps.zeros(*inputs, nodes.states(index), low, high, at_low), senses))

    signs = np.sign(values)
    lands = (signs[1:] == 0) & (signs[:-1] != 0)
    beyond = np.sign(np.append(signs[2:], rates[-1] * lengths[-2] if len(signs) > 1 else 0.0))  # of where it goes on
    passes = (signs[1:] * signs[:-1] < 0) | lands
    single = np.flatnonzero(passes)
    touched = (lands & (beyond == signs[:-1]))[single]
    locate(single, 0.0, 1.0, values[single], np.where(touched, 0, -signs[:-1][single]))
    dips = np.flatnonzero(partial_steps.may_turn_below(values, rates * lengths))
    if len(dips):
        lowest, zero = partial_steps.turns(*inputs, nodes.states(dips), np.abs(values[dips]) + np.abs(values[dips + 1]))
        pairs = ~zero & (lowest.value * signs[dips] < 0)
        index, middle, at_middle = dips[pairs], np.asarray(lowest.part)[pairs], np.asarray(lowest.value)[pairs]
        locate(index, 0.0, middle, values[index], -signs[index])
        locate(index, middle, 1.0, at_middle, signs[index])
        if np.any(zero):
            found.append((dips[zero], jax.tree.map(lambda a: a[zero], lowest), np.zeros(np.sum(zero))))
    return _gather(nodes, h, found, sense)


def _gather(nodes: Nodes, h: Array, found: list[tuple[np.ndarray, Ends, np.ndarray]], sense: int) -> Crossings:
    """In order of time, and of one sense if one is asked for."""
    parts = []
    for index, ends, senses in found:
        t = nodes.t[index] + ends.part * float(h) if ends.t is None else ends.t
        parts.append(Crossings(*map(np.asarray, (t, ends.q, ends.xi, index, senses.astype(int), ends.value))))
    none = np.zeros(0, int)
    empty = Crossings(np.zeros(0), nodes.q[:0], nodes.xi[:0], none, none, np.zeros(0))
    names = [field.name for field in fields(Crossings)]
    columns = {name: np.concatenate([getattr(part, name) for part in (empty, *parts)]) for name in names}
    kept = np.lexsort((columns["t"] * np.sign(float(h)), columns["step"]))
    kept = kept[(sense == 0) | (columns["sense"][kept] == np.sign(sense))]
    return Crossings(**{name: column[kept] for name, column in columns.items()})
