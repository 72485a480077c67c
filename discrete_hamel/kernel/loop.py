"""A chunk of steps as one native kernel: scalar state in, saved nodes out."""

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
) -> tuple[Any, Array, Report, tuple]:
    """What `loops._chunk` does, by the compiled step; a step that fails here may still succeed there."""
    size, n = len(stepper.state), stepper.n

    def loop(parameters: list[Array], begin: list[Array], intervals: Array, save_every: Array) -> tuple:
        fixed = stepper.prepared(parameters)

        def one(carry: tuple) -> tuple:
            state, done, inside, _, worst, rows = carry
            new, xi, report = stepper(fixed, list(state))
            good = report.converged
            count, residual = report.iterations.astype(h.dtype), report.residual
            fresh = inside == 0
            worst = (
                jnp.where(fresh, count, jnp.maximum(worst[0], count)),
                jnp.where(fresh, residual, jnp.maximum(worst[1], residual)),
            )
            row = jnp.stack([*new, *xi, *worst])
            slot = done // save_every
            rows = lax.dynamic_update_slice(rows, row[None], (slot, jnp.zeros_like(slot)))
            state = tuple(jnp.where(good, a, b) for a, b in zip(new, state, strict=True))
            inside = jnp.where(inside + 1 == save_every, 0, inside + 1)
            return state, done + good, inside, good, worst, rows

        def going(carry: tuple) -> Array:
            _, done, _, good, _, _ = carry
            return (done < intervals * save_every) & good

        zero = jnp.zeros((), h.dtype)
        rows = jnp.zeros((length, size + n + 2), h.dtype)
        start = (
            tuple(begin),
            jnp.zeros_like(intervals),
            jnp.zeros_like(intervals),
            jnp.asarray(True),
            (zero, zero),
            rows,
        )
        return lax.while_loop(going, one, start)

    run = one_kernel(loop) if stepper.native else loop
    parameters = scalars((system, scheme, h))
    after, done, _, good, worst, rows = run(parameters, scalars(state), intervals, save_every)
    leaves, structure = jax.tree.flatten(stepper.shape)
    nodes = _unpacked(rows[:, :size], leaves, structure)
    final = jax.tree.map(lambda leaf: leaf[0], _unpacked(jnp.stack(after)[None], leaves, structure))
    xi = stepper.velocities(system, nodes.q, nodes.p, nodes.xi)
    report = Report(jnp.ones(length, bool), rows[:, -2].astype(int), rows[:, -1])
    last = Report(good, worst[0].astype(int), worst[1])
    return final, done, last, (nodes.q, nodes.p, xi, rows[:, size : size + n], report)


def _unpacked(rows: Array, leaves: list[Any], structure: Any) -> Any:
    """A state for each row of numbers, leaves with a leading axis."""
    arrays, begin = [], 0
    for leaf in leaves:
        arrays.append(rows[:, begin : begin + leaf.size].reshape(len(rows), *leaf.shape))
        begin += leaf.size
    return jax.tree.unflatten(structure, arrays)
