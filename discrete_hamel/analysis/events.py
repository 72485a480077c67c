"""Events and Poincare sections: where a function of (q, xi) crosses zero, within the scheme's own step."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel import checks, hamel
from discrete_hamel.analysis.discrete_maps import remembered
from discrete_hamel.loops import CHUNK
from discrete_hamel.schemes.discrete_hamel import DiscreteHamel
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.simulation import simulate
from discrete_hamel.system import System
from discrete_hamel.trajectory import Trajectory

ITERATIONS = 60  # bisections at worst, of the fraction of a step
LONGEST = 10**7  # steps without enough crossings after which a section is given up

Function = Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False)
class Crossings:
    """Where a function crosses zero: times, points, the step (from node `step` on) and the sense of each."""

    t: np.ndarray
    q: np.ndarray
    xi: np.ndarray
    step: np.ndarray
    sense: np.ndarray  # +1 upward, -1 downward
    value: np.ndarray  # what is left of the function there

    def __len__(self) -> int:
        return len(self.t)


@partial(jax.jit, static_argnums=0)
def _along(function: Function, q: Array, xi: Array) -> Array:
    return jax.vmap(function)(q, xi)


@partial(jax.jit, static_argnums=0)
def _located(function: Function, system: System, scheme: Scheme, q: Array, xi: Array, h: Array) -> tuple:
    """The fraction of the step from each (q, xi) at which the function of the step's end vanishes, and that end."""

    def one(q: Array, xi: Array) -> tuple:
        state = scheme.start(system, q, xi, h)

        def end(fraction: Array) -> tuple[Array, Array, Array]:
            new, _ = scheme.step(system, state, fraction * h)
            velocity = scheme.velocity(system, new)
            return function(new.q, velocity), new.q, velocity

        def narrow(_: Any, bracket: tuple) -> tuple:
            """Regula falsi, Illinois weights: superlinear, and never out of the bracket."""
            low, high, at_low, at_high = bracket
            middle = jnp.where(at_high == at_low, (low + high) / 2, high - at_high * (high - low) / (at_high - at_low))
            middle = jnp.clip(middle, jnp.minimum(low, high), jnp.maximum(low, high))
            value = end(middle)[0]
            crossed = value * at_high < 0
            return jnp.where(crossed, high, low), middle, jnp.where(crossed, at_high, at_low / 2), value

        def going(carry: tuple) -> Array:
            count, (low, high, _, at_high) = carry
            return (count < ITERATIONS) & (at_high != 0) & (jnp.abs(high - low) > 2 * jnp.finfo(q.dtype).eps)

        def again(carry: tuple) -> tuple:
            return carry[0] + 1, narrow(None, carry[1])

        zero, whole = jnp.zeros(()), jnp.ones(())
        start = (zero, whole, function(q, hamel.full(system, q, xi[: system.rank])), end(whole)[0])
        _, (_, fraction, _, _) = jax.lax.while_loop(going, again, (0, start))
        return fraction, *end(fraction)

    return jax.lax.map(lambda pair: one(*pair), (q, xi))


def crossings(trajectory: Trajectory, function: Function, *, sense: int = 0) -> Crossings:
    """Where function(q, xi) changes sign along a trajectory, to round-off: each time one step, from the node before, of
    the scheme itself, of a length h s with 0 < s <= 1 at whose end the function is zero.

    The trajectory is not touched: it goes on from node to node. `sense` +1 keeps the upward ones, -1 the downward. Two
    crossings within a step cancel, and a zero that is only touched is not seen.

    >>> import discrete_hamel as dh
    >>> ball = dh.systems.SphericalPendulumAngles()
    >>> run = dh.simulate(ball, [0.3, 0.0], [0.0, 0.0], h=0.1, steps=100)
    >>> swings = dh.crossings(run, lambda q, xi: q[0])
    >>> len(swings), bool(abs(swings.q[:, 0]).max() < 1e-13)
    (3, True)
    """
    _locatable(trajectory)
    q, xi = jnp.asarray(trajectory.q), jnp.asarray(trajectory.xi)
    values = np.asarray(_along(function, q, xi))
    if values.ndim != 1:
        raise ValueError(f"the function of (q, xi) must return one number; it returned shape {values.shape[1:]}.")
    up = (values[:-1] < 0) & (values[1:] >= 0)
    down = (values[:-1] > 0) & (values[1:] <= 0)
    index = np.flatnonzero((up & (sense >= 0)) | (down & (sense <= 0)))
    padded = np.resize(index, max(8, 2 ** int(np.ceil(np.log2(max(len(index), 1)))))) if len(index) else index
    if not len(index):
        n = trajectory.xi.shape[1]
        return Crossings(np.zeros(0), np.zeros((0, q.shape[1])), np.zeros((0, n)), index, index, np.zeros(0))
    found = _located(function, trajectory.system, trajectory.scheme, q[padded], xi[padded], jnp.asarray(trajectory.h))
    fraction, left, q_at, xi_at = (np.asarray(a)[: len(index)] for a in found)
    t = np.asarray(trajectory.t)[index] + fraction * float(trajectory.h)
    return Crossings(t, q_at, xi_at, index, np.where(up[index], 1, -1), left)


def _locatable(trajectory: Trajectory) -> None:
    if trajectory.scheme is None:
        raise ValueError("crossings are located within a scheme's steps; a reference motion has none. Use dh.simulate.")
    if trajectory.save_every != 1:
        raise ValueError(
            f"crossings need every node, and this trajectory has each {trajectory.save_every}th; "
            "simulate with save_every=1."
        )
    memory = remembered(trajectory.final)
    if memory:
        raise ValueError(
            f"{type(trajectory.scheme).__name__} remembers {' and '.join(memory)} from step to step, which the nodes "
            "of a trajectory do not have, so a step cannot be taken again from them."
        )


def section(
    system: System,
    q: Any,
    xi: Any,
    function: Function,
    *,
    h: Any,
    count: int,
    scheme: Scheme | None = None,
    sense: int = 1,
) -> Crossings:
    """A Poincare section: the first `count` crossings of function(q, xi) = 0 in one sense, the run going on as long.

    >>> import discrete_hamel as dh
    >>> pendulum = dh.systems.SphericalPendulumAngles()
    >>> points = dh.section(pendulum, [0.3, 0.0], [0.1, 0.4], lambda q, xi: xi[0], h=0.1, count=20)
    >>> points.q.shape, bool(abs(points.value).max() < 1e-13)
    ((20, 2), True)
    """
    count = checks.count("count", count, 1)
    scheme = DiscreteHamel() if scheme is None else scheme
    system, q, xi = checks.initial_data(system, q, xi, None)
    parts: list[Crossings] = []
    done = 0
    while sum(map(len, parts)) < count:
        if done >= LONGEST:
            raise ValueError(
                f"only {sum(map(len, parts))} crossings in {done} steps: the motion does not come back to the section."
            )
        run = simulate(system, q, xi, h=h, steps=CHUNK, scheme=scheme)
        found = crossings(run, function, sense=sense)
        parts.append(replace(found, t=found.t + done * float(h), step=found.step + done))
        q, xi, done = run.q[-1], run.xi[-1], done + CHUNK
    names = [field.name for field in fields(Crossings)]
    return Crossings(*(np.concatenate([getattr(part, name) for part in parts])[:count] for name in names))
