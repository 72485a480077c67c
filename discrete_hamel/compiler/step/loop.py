"""A chunk of steps as one native kernel: scalar state in, rows of numbers out, and arrays made of these afterwards."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.compiler.graph.leaves import scalars
from discrete_hamel.compiler.graph.lowering import one_kernel
from discrete_hamel.compiler.step.stages import StageStepper
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.mechanics.newton import Report
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


def chunk(
    stepper: Stepper | StageStepper,
    length: int,
    system: System,
    scheme: Scheme,
    state: State,
    h: Array,
    intervals: Array | int,
    every: Array | int,
) -> tuple[State, int, bool, tuple]:
    """Up to `intervals` intervals of `every` steps by the compiled step: the last node's state, how many were done,
    whether the end was reached, and what was saved. An interval in which a step fails here may still be done by the
    plain path.
    """
    if stepper.run is not None:
        return stepper.run(system, scheme, state, h, int(intervals), int(every))
    given = stepper, length, (system, scheme, h), state, jnp.asarray(intervals), jnp.asarray(every)
    final, ended, rows, nodal_xi = _loop_of(stepper)(*given)
    whole, good = np.asarray(ended).tolist()
    nodes, xi, xi_mid, residual, iterations = stepper.row.parts(np.asarray(rows), stepper.shape, nodal_xi)
    solves: tuple = np.ones(length, bool), iterations, residual
    return final, whole, bool(good), (nodes.q, nodes.p, xi, xi_mid, Report(*solves))


def _steps(
    stepper: Stepper | StageStepper, length: int, parameters: Any, state: State, intervals: Array, every: Array
) -> tuple[Any, Array, Array, Any]:
    loop = partial(_loop, stepper)
    numbers, lengths = stepper.arguments(*parameters)
    steps, begin = one_kernel(loop) if stepper.native else loop, scalars(state)
    rows = jnp.zeros((length, stepper.row.width), begin[0].dtype)  # outside: see `one_kernel`
    whole, good, rows = steps(numbers, lengths, begin, rows, intervals, every)
    nodal_xi = None
    if not stepper.row.nodal:
        q, p, free = ([rows[:, i] for i in place] for place in stepper.node_places())
        nodal_xi, trusted = stepper.node_velocity.side_by_side(numbers, q, p, free)
        if trusted is not None:
            place = jnp.arange(length)
            first = jnp.min(jnp.where(trusted, whole, jnp.minimum(place, whole)))
            whole, good = first, good & (first == whole)
    row, at = lax.dynamic_index_in_dim(rows, jnp.maximum(whole - 1, 0), keepdims=False), 0
    leaves, structure = jax.tree.flatten(state)
    final = []
    for leaf in leaves:
        final.append(jnp.where(whole > 0, row[at : at + leaf.size].reshape(leaf.shape), leaf))
        at += leaf.size
    return jax.tree.unflatten(structure, final), jnp.stack([whole, good.astype(whole.dtype)]), rows, nodal_xi


# The fusion pass copies cheap operations into all who use them, which beyond some size costs more than it saves. There
# LLVM's highest level takes a third more of the seconds of a first call, for steps that are a twentieth faster.
LARGE: dict[str, bool | int | str] = {"xla_disable_hlo_passes": "fusion", "xla_backend_optimization_level": 1}
_steps_fused = partial(jax.jit, static_argnums=(0, 1))(_steps)
_steps_unfused = partial(jax.jit, static_argnums=(0, 1), compiler_options=LARGE)(_steps)


def _loop_of(stepper: Stepper | StageStepper) -> Callable:
    return _steps_fused if stepper.fused else _steps_unfused


def _loop(
    stepper: Stepper | StageStepper,
    parameters: list[Array],
    lengths: Any,
    begin: list[Array],
    rows: Array,
    intervals: Array,
    save_every: Array,
) -> tuple[Array, Array, Array]:
    """The steps: how many intervals were done, whether the end was reached, and a row of numbers an interval.

    Each step of an interval writes its row, so that the last one stays.
    """
    fixed = stepper.prepare(parameters)

    def one(carry: tuple) -> tuple:
        k, inside, state, most, _, rows = carry
        new, recorded, good, count = stepper(fixed, lengths, list(state))
        most = jnp.maximum(most, count)
        last = inside + 1 == save_every
        rows = stepper.row.write(rows, k, new, recorded, most)
        return k + last, jnp.where(last, 0, inside + 1), tuple(new), jnp.where(last, 0, most), good, rows

    def going(carry: tuple) -> Array:
        k, *_, good, _ = carry
        return (k < intervals) & good

    zero, well = jnp.zeros_like(intervals), ~jnp.isnan(sum([*parameters, *begin]))  # XLA fails on operands nobody uses
    k, inside, _, _, good, rows = lax.while_loop(going, one, (zero, zero, tuple(begin), zero, well, rows))
    return jnp.where(good | (inside > 0), k, k - 1), good, rows
