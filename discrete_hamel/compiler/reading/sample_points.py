"""A point to build at where jax traces the run: numbers in place of what is traced, drawn until they do.

Only the order of pivots comes from it, and whether that serves is watched in every step of a run.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, PyTree
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

STEP = 0.05


def sample_points(system: System, scheme: Scheme, q: Array, xi: Array, h: Array, count: int = 3) -> Iterator[tuple]:
    """Up to `count` of (system, scheme, state, h), without tracers; those that a system offers as its sample first."""
    for k in range(count):
        draw = np.random.default_rng(k)
        mechanics, rule = _defaults(system, draw), _defaults(scheme, draw)
        offered = _own_sample(mechanics) if k == 0 else {}
        place, velocity = (_number(a, draw, offered.get(name)) for name, a in (("q", q), ("xi", xi)))
        length = jnp.asarray(STEP, h.dtype) if _traced(h) else h
        yield mechanics, rule, _start(mechanics, rule, place, velocity, length), length


@interpret
def _start(system: System, scheme: Scheme, q: Array, xi: Array, h: Array) -> State:
    return scheme.start(system, q, hamel.full(system, q, xi[: system.rank]), h)


def _traced(leaf: object) -> bool:
    return isinstance(leaf, jax.core.Tracer)


def _number(leaf: Array, draw: np.random.Generator, offered: ArrayLike | None = None) -> Array:
    """The leaf, or if it is traced, what is offered, or numbers of size one."""
    if not _traced(leaf):
        return leaf
    if offered is not None and np.shape(offered) == leaf.shape:
        return jnp.asarray(offered, leaf.dtype)
    return jnp.asarray(draw.uniform(0.5, 1.5, leaf.shape), leaf.dtype)


def _defaults(tree: PyTree, draw: np.random.Generator) -> Any:
    """The tree with defaults of its class for what is traced, or numbers of size one."""
    if dataclasses.is_dataclass(tree):
        known = {f.name: f.default for f in dataclasses.fields(tree) if isinstance(f.default, int | float)}
        wanted = {n: d for n, d in known.items() if _traced(getattr(tree, n)) and jnp.shape(getattr(tree, n)) == ()}
        changes = {n: jnp.asarray(d, getattr(tree, n).dtype) for n, d in wanted.items()}
        leaves, structure = jax.tree.flatten(tree)
        marks = jax.tree.unflatten(structure, range(len(leaves)))
        for name, value in changes.items():
            leaves[getattr(marks, name)] = value
        tree = jax.tree.unflatten(structure, leaves)
    return jax.tree.map(lambda leaf: _number(leaf, draw), tree)


def _own_sample(system: Any) -> dict:
    """q and xi of a catalogue system's own sample."""
    with contextlib.suppress(Exception):
        return {name: value for name, value in system.sample().items() if name in ("q", "xi")}
    return {}
