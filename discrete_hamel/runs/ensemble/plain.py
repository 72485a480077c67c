"""Members by the plain path, side by side: for what the lanes cannot take, and where one of them failed."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel._support.arrays import PyTree
from discrete_hamel.mechanics.hamel import full
from discrete_hamel.mechanics.newton import Report
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State, start, step

WIDTH = 64  # members a call: XLA's batched linear algebra has been seen to hang with a thousand

Axes = tuple[int | None, ...]  # of the leaves of the system


def _map(function: Callable, axes: Axes, system: System, *arguments: PyTree) -> Any:
    return jax.vmap(function, (jax.tree.unflatten(jax.tree.structure(system), axes), *(0 for _ in arguments)))(
        system, *arguments
    )


@partial(jax.jit, static_argnums=0)
def first_states(axes: Axes, system: System, scheme: Scheme, h: Array, q: Array, xi: Array) -> State:
    """The states that members set out from."""
    return _map(lambda s, q, xi: start(s, scheme, q, full(s, q, xi[: s.rank]), h), axes, system, q, xi)


@partial(jax.jit, static_argnums=0)
def advance(
    axes: Axes, system: System, scheme: Scheme, h: Array, state: PyTree, todo: Array
) -> tuple[PyTree, Array, Array, Report]:
    """Up to `todo` steps of each member: the last good state, the good steps, most iterations, the last report."""

    def several(system: System, state: PyTree, todo: Array) -> tuple:
        def one(carry: tuple) -> tuple:
            state, done, most, _ = carry
            new, interval = step(system, scheme, state, h)
            solve = interval.report
            finite = jnp.isfinite(sum(jnp.sum(leaf * 0) for leaf in jax.tree.leaves(new)))
            solve = solve.replace(converged=solve.converged & finite)
            state = jax.tree.map(lambda a, b: jnp.where(solve.converged, a, b), new, state)
            return state, done + solve.converged, jnp.maximum(most, solve.iterations), solve

        def going(carry: tuple) -> Array:
            _, done, _, solve = carry
            return (done < todo) & solve.converged

        none = jnp.asarray(0)
        return lax.while_loop(going, one, (state, none, none, Report(jnp.asarray(True), none, jnp.zeros((), h.dtype))))

    return _map(several, axes, system, state, todo)


@partial(jax.jit, static_argnums=0)
def velocities(axes: Axes, system: System, scheme: Scheme, state: PyTree) -> Array:
    """xi at the nodes of members."""
    return _map(scheme.velocity, axes, system, state)


def in_groups(function: Callable, width: int, count: int, *trees: PyTree) -> Any:
    """The function of trees with a leading axis of `count`, `width` at a time: so one compilation serves all counts."""

    def part(first: int) -> PyTree:
        here = np.minimum(np.arange(first, first + width), count - 1)
        return jax.tree.map(np.asarray, function(*jax.tree.map(lambda leaf: leaf[here], trees)))

    parts = [part(first) for first in range(0, count, width)]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *parts)
