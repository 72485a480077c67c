"""A chunk of steps as one native kernel: scalar state in, rows of numbers out, and arrays made of these afterwards."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.kernel.lowering import one_kernel
from discrete_hamel.kernel.stepper import Stepper, scalars
from discrete_hamel.newton import Report
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

FUSED = 300  # operations an iteration up to which XLA's fusion pass helps: by a fifth; beyond, it can cost fivefold


def chunk(
    stepper: Stepper, length: int, system: System, scheme: Scheme, state: Any, h: Array, intervals: Array, every: Array
) -> tuple[Any, int, bool, tuple]:
    """Up to `intervals` intervals of `every` steps by the compiled step: the last node's state, how many were done,
    whether the end was reached, and what was saved. An interval in which a step fails here may still be done by the
    plain path.
    """
    steps = _steps_fused if stepper.root.operations <= FUSED else _steps_unfused
    final, whole, good, rows = steps(stepper, length, (system, scheme, h), state, intervals, every)
    rows, (leaves, structure) = np.asarray(rows), jax.tree.flatten(stepper.shape)
    ends = np.cumsum([leaf.size for leaf in leaves])
    parts = np.split(rows, [*ends, ends[-1] + stepper.n, ends[-1] + 2 * stepper.n, rows.shape[1] - 1], axis=1)
    *after, xi_mid, xi, residual, iterations = parts
    nodes = jax.tree.unflatten(structure, [a.reshape(length, *b.shape) for a, b in zip(after, leaves, strict=True)])
    solves: tuple[Any, ...] = np.ones(length, bool), iterations[:, 0], residual[:, 0]
    report = Report(*solves)
    return final, int(whole), bool(good), (nodes.q, nodes.p, xi, xi_mid, report)


def _steps(
    stepper: Stepper, length: int, parameters: Any, state: Any, intervals: Array, every: Array
) -> tuple[Any, Array, Array, Array]:
    loop = partial(_loop, stepper, length)
    given = *stepper.given(*parameters), scalars(state), intervals, every
    whole, good, rows = (one_kernel(loop) if stepper.native else loop)(*given)
    row, at = lax.dynamic_index_in_dim(rows, jnp.maximum(whole - 1, 0), keepdims=False), 0
    leaves, structure = jax.tree.flatten(state)
    final = []
    for leaf in leaves:
        final.append(jnp.where(whole > 0, row[at : at + leaf.size].reshape(leaf.shape), leaf))
        at += leaf.size
    return jax.tree.unflatten(structure, final), whole, good, rows


# The fusion pass copies cheap operations into all who use them, which beyond some size costs more than it saves.
_steps_fused = partial(jax.jit, static_argnums=(0, 1))(_steps)
_steps_unfused = partial(jax.jit, static_argnums=(0, 1), compiler_options={"xla_disable_hlo_passes": "fusion"})(_steps)


def _loop(
    stepper: Stepper,
    length: int,
    parameters: list[Array],
    lengths: Array,
    begin: list[Array],
    intervals: Array,
    save_every: Array,
) -> tuple[Array, Array, Array]:
    """The steps: how many intervals were done, whether the end was reached, and a row of numbers an interval.

    A row is (state after a step, what is recorded of it, most iterations so far). Each step of an interval writes it,
    so that the last one stays.
    """
    fixed = stepper.prepared(parameters)

    def one(carry: tuple) -> tuple:
        k, inside, state, most, _, rows = carry
        new, recorded, good, count = stepper(fixed, lengths, list(state))
        most = jnp.maximum(most, count)
        last = inside + 1 == save_every
        row = jnp.stack([*new, *recorded, most.astype(rows.dtype)])
        rows = lax.dynamic_update_slice(rows, row[None], (k, jnp.zeros_like(k)))
        return k + last, jnp.where(last, 0, inside + 1), tuple(new), jnp.where(last, 0, most), good, rows

    def going(carry: tuple) -> Array:
        k, *_, good, _ = carry
        return (k < intervals) & good

    rows = jnp.zeros((length, len(begin) + 2 * stepper.n + 2), begin[0].dtype)
    zero = jnp.zeros_like(intervals)
    k, inside, _, _, good, rows = lax.while_loop(going, one, (zero, zero, tuple(begin), zero, jnp.asarray(True), rows))
    return jnp.where(good | (inside > 0), k, k - 1), good, rows
