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


@partial(jax.jit, static_argnums=(0, 1))
def chunk(
    stepper: Stepper,
    length: int,
    system: System,
    scheme: Scheme,
    state: Any,
    h: Array,
    intervals: Array,
    save_every: Array,
) -> tuple[Any, Array, Array, tuple]:
    """Up to `intervals` intervals by the compiled step: the last node's state, how many were done, whether the end was
    reached, and what was saved. An interval in which a step fails here may still be done by the plain path.
    """
    loop = partial(_loop, stepper, length)
    run = one_kernel(loop) if stepper.native else loop
    parameters, begin = scalars((system, scheme, h)), scalars(state)
    whole, good, rows = run(parameters, begin, intervals, save_every)
    size = len(begin)
    after, z, most = jnp.split(rows[1::2], [size, rows.shape[1] - 1], axis=1)
    earlier = jnp.concatenate([jnp.stack(begin)[None], after[:-1]])
    before = jnp.where(save_every == 1, earlier, rows[::2, :size])
    leaves, structure = jax.tree.flatten(stepper.shape)
    nodes = _unpacked(after, leaves, structure)
    final = jax.tree.map(lambda begin, leaf: jnp.where(whole > 0, leaf[whole - 1], begin), state, nodes)
    xi = stepper.velocities(system, nodes.q, nodes.p, nodes.xi)
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
