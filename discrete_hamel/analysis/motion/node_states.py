"""The states of a scheme at the nodes of a run, from which each step can be taken again, whole or in part."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.equilibria.discrete_maps import NODE, ROUNDED
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.scheme import Scheme, State

MANY = 10**5  # numbers of the nodes up to which their states take NumPy less than XLA's compiling
REPEATED = 1e-6  # how far, relative to q, the nodes of a run done again may be from what they were


class Nodes(NamedTuple):
    """Times and points of a run, and the scheme's states at any of its nodes."""

    t: np.ndarray
    q: np.ndarray
    xi: np.ndarray
    states: Callable[[np.ndarray], State]


def remembers(state: State) -> bool:
    """Whether a state is more than what the nodes of a trajectory say."""
    return not set(getattr(type(state), "__dataclass_fields__", ("?",))) <= set(NODE + ROUNDED)


def nodes_of(trajectory: Trajectory) -> Nodes:
    """Those of a trajectory; where the scheme remembers more than it has, of the same run done again."""
    system, scheme, h = trajectory.system, trajectory.scheme, jnp.asarray(trajectory.h)
    t, q, xi = (np.asarray(a) for a in (trajectory.t, trajectory.q, trajectory.xi))
    if not remembers(trajectory.final):
        return Nodes(t, q, xi, lambda index: start_at_nodes(system, scheme, h, q[index], xi[index]))
    state = scheme.start(system, jnp.asarray(q[0]), jnp.asarray(xi[0]), h)
    again = go_on(system, scheme, h, state, len(q) - 1)
    off = np.max(np.abs(again.q - q), initial=0.0)
    if not off <= REPEATED * (1 + np.max(np.abs(q))):
        raise InputError(
            f"{type(scheme).__name__} remembers more from step to step than a trajectory has, and this run, done again "
            f"from its first node, ends {off:.1e} elsewhere: it did not start there, or it is too chaotic to repeat."
        )
    return again


@partial(interpret, most=MANY)
def start_at_nodes(system: System, scheme: Scheme, h: Array, q: Array, xi: Array) -> State:
    """The states of a scheme that remembers nothing, at several nodes."""
    return jax.vmap(lambda q, xi: scheme.start(system, q, xi, h))(jnp.asarray(q), jnp.asarray(xi))


def go_on(system: System, scheme: Scheme, h: Array, state: State, steps: int, first: int = 0) -> Nodes:
    """The nodes of so many steps from a state on, which is at node number `first`."""
    states, xi, clock = _go_on(system, scheme, h, state, np.zeros(steps))
    states = jax.tree.map(np.asarray, states)
    t = (first + np.arange(steps + 1)) * np.asarray(h) if clock is None else np.asarray(clock)
    return Nodes(t, states.q, np.asarray(xi), lambda index: jax.tree.map(lambda leaf: leaf[index], states))


@jax.jit
def _go_on(system: System, scheme: Scheme, h: Array, state: State, zeros: Array) -> tuple:
    def one(state: State, _: object) -> tuple[State, State]:
        new, interval = scheme.step(system, state, h)
        new = jax.tree.map(lambda leaf: jnp.where(interval.report.converged, leaf, jnp.nan), new)
        return new, new

    _, after = lax.scan(one, state, length=len(zeros))
    states = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), state, after)
    return states, jax.vmap(lambda state: scheme.velocity(system, state))(states), scheme.time(states)
