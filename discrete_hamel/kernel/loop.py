"""A chunk of steps as one native kernel: scalar state in, rows of numbers out, and arrays made of these afterwards."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.kernel.lowering import one_kernel
from discrete_hamel.kernel.stepper import Stepper, scalars
from discrete_hamel.newton import Report
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

FUSED = 1000  # operations an iteration up to which XLA's fusion pass helps


def chunk(
    stepper: Stepper, length: int, system: System, scheme: Scheme, state: Any, h: Array, intervals: Array, every: Array
) -> tuple[Any, Array, Array, tuple]:
    """Up to `intervals` intervals of `every` steps by the compiled step: the last node's state, how many were done,
    whether the end was reached, and what was saved. An interval in which a step fails here may still be done by the
    plain path.
    """
    if stepper.root.operations <= FUSED:
        return _all_at_once(stepper, length, system, scheme, state, h, intervals, every)
    steps = _steps_unfused(stepper, length, scalars((system, scheme, h)), scalars(state), intervals, every)
    return _arrays(stepper, length, system, scheme, state, h, every, *steps)


@partial(jax.jit, static_argnums=(0, 1))
def _all_at_once(
    stepper: Stepper, length: int, system: System, scheme: Scheme, state: Any, h: Array, intervals: Array, every: Array
) -> tuple[Any, Array, Array, tuple]:
    steps = _steps(stepper, length, scalars((system, scheme, h)), scalars(state), intervals, every)
    return _arrays(stepper, length, system, scheme, state, h, every, *steps)


def _steps(stepper: Stepper, length: int, *arguments: Any) -> tuple[Array, Array, Array]:
    loop = partial(_loop, stepper, length)
    return (one_kernel(loop) if stepper.native else loop)(*arguments)


# The fusion pass copies cheap operations into all who use them, which beyond some size costs more than it saves.
_steps_unfused = partial(jax.jit, static_argnums=(0, 1), compiler_options={"xla_disable_hlo_passes": "fusion"})(_steps)


@partial(jax.jit, static_argnums=(0, 1))
def _arrays(
    stepper: Stepper,
    length: int,
    system: System,
    scheme: Scheme,
    state: Any,
    h: Array,
    every: Array,
    whole: Array,
    good: Array,
    rows: Array,
) -> tuple[Any, Array, Array, tuple]:
    """What `chunk` returns, from the rows of `_loop`."""
    parameters, begin = scalars((system, scheme, h)), scalars(state)
    size = len(begin)
    after, z, most = jnp.split(rows[1::2], [size, rows.shape[1] - 1], axis=1)
    earlier = jnp.concatenate([jnp.stack(begin)[None], after[:-1]])
    before = jnp.where(every == 1, earlier, rows[::2, :size])
    leaves, structure = jax.tree.flatten(stepper.shape)
    nodes = _unpacked(after, leaves, structure)
    xi, found = stepper.velocities(system, nodes.q, nodes.p, nodes.xi)
    lost = jnp.argmin(found | (jnp.arange(length) >= whole))
    well = found[lost] | (lost >= whole)
    whole, good = jnp.where(well, whole, lost), good & well
    final = jax.tree.map(lambda begin, leaf: jnp.where(whole > 0, leaf[whole - 1], begin), state, nodes)
    xi_mid, residual = stepper.intervals(parameters, before, z)
    report = Report(jnp.ones(length, bool), most[:, 0].astype(int), residual)
    return final, whole, good, (nodes.q, nodes.p, xi, xi_mid, report)


def _loop(
    stepper: Stepper, length: int, parameters: list[Array], begin: list[Array], intervals: Array, save_every: Array
) -> tuple[Array, Array, Array]:
    """The steps: how many intervals were done, whether the end was reached, and two rows of numbers an interval.

    A row is (state after a step, z, most iterations so far). The last step of an interval writes the odd row, those
    before it the even one, which so ends up holding the state that the last step set out from.
    """
    fixed = stepper.prepared(parameters)

    def one(carry: tuple) -> tuple:
        k, inside, state, most, _, rows = carry
        new, z, converged, count = stepper(fixed, list(state))
        most = jnp.maximum(most, count)
        last = inside + 1 == save_every
        row = jnp.stack([*new, *z, most.astype(rows.dtype)])
        rows = lax.dynamic_update_slice(rows, row[None], (2 * k + last, jnp.zeros_like(k)))
        return k + last, jnp.where(last, 0, inside + 1), tuple(new), jnp.where(last, 0, most), converged, rows

    def going(carry: tuple) -> Array:
        k, *_, good, _ = carry
        return (k < intervals) & good

    rows = jnp.zeros((2 * length, len(begin) + len(stepper.root.unknowns) + 1), begin[0].dtype)
    zero = jnp.zeros_like(intervals)
    k, inside, _, _, good, rows = lax.while_loop(going, one, (zero, zero, tuple(begin), zero, jnp.asarray(True), rows))
    return jnp.where(good | (inside > 0), k, k - 1), good, rows


def _unpacked(rows: Array, leaves: list[Any], structure: Any) -> Any:
    """A state for each row of numbers, leaves with a leading axis."""
    arrays, begin = [], 0
    for leaf in leaves:
        arrays.append(rows[:, begin : begin + leaf.size].reshape(len(rows), *leaf.shape))
        begin += leaf.size
    return jax.tree.unflatten(structure, arrays)
