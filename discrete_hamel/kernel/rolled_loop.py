"""A chunk of steps of a chain as one native kernel: like `loop.py`, but with arrays along the chain all through."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.kernel.lowering import one_kernel
from discrete_hamel.kernel.rolled import ChainStepper, along
from discrete_hamel.newton import Report
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

FUSED = 1000  # operations a link up to which XLA's fusion pass helps


def chunk(stepper: ChainStepper, *run: Any) -> tuple[Any, Array, Array, tuple]:
    """Up to `intervals` intervals of `every` steps, for run = (length, system, scheme, state, h, intervals, every): the
    last node's state, how many were done, whether the end was reached, and what was saved, `length` nodes at most."""
    return (_fused if stepper.operations <= FUSED else _unfused)(stepper, *run)


def _steps(stepper: ChainStepper, length: int, *arguments: Any) -> tuple[Any, Array, Array, tuple]:
    loop = partial(_loop, stepper, length)
    return (one_kernel(loop) if stepper.native else loop)(*arguments)


_fused = partial(jax.jit, static_argnums=(0, 1))(_steps)
_unfused = partial(jax.jit, static_argnums=(0, 1), compiler_options={"xla_disable_hlo_passes": "fusion"})(_steps)


def _loop(
    stepper: ChainStepper,
    length: int,
    system: System,
    scheme: Scheme,
    state: Any,
    h: Array,
    intervals: Array,
    every: Array,
) -> tuple[Any, Array, Array, tuple]:
    given = along(stepper.given, (system, scheme, h))

    def one(carry: tuple) -> tuple:
        k, inside, state, last, most, _, saved = carry
        new, xi, converged, count, left = stepper(given, state)
        most = jnp.maximum(most, count)
        saved = jax.tree.map(lambda kept, leaf: kept.at[k].set(leaf), saved, (new, xi, most, left))
        whole = converged & (inside + 1 == every)
        last = jax.tree.map(lambda a, b: jnp.where(whole, a, b), new, last)
        return k + whole, jnp.where(whole, 0, inside + 1), new, last, jnp.where(whole, 0, most), converged, saved

    def going(carry: tuple) -> Array:
        k, *_, good, _ = carry
        return (k < intervals) & good

    def buffer(leaf: Any) -> Array:
        return jnp.zeros((length, *leaf.shape), leaf.dtype)

    zero = jnp.zeros_like(intervals)
    saved = jax.tree.map(buffer, jax.eval_shape(lambda: stepper(given, state)[:2]))
    saved = (*saved, buffer(zero), buffer(h))
    begin = (zero, zero, state, state, zero, jnp.asarray(True), saved)
    whole, _, _, final, _, good, (nodes, xi_mid, most, left) = lax.while_loop(going, one, begin)

    def velocity(carry: tuple) -> tuple:
        k, xi, _ = carry
        node = jax.tree.map(lambda leaf: leaf[k], nodes)
        found, converged = stepper.velocity(system, node.q, node.p, node.xi)
        return k + converged, xi.at[k].set(found), converged

    def missing(carry: tuple) -> Array:
        k, _, converged = carry
        return (k < whole) & converged

    well, xi, _ = lax.while_loop(missing, velocity, (zero, jnp.zeros_like(xi_mid), jnp.asarray(True)))
    before = jax.tree.map(lambda first, leaf: jnp.where(well > 0, leaf[well - 1], first), state, nodes)
    final = jax.tree.map(lambda a, b: jnp.where(well < whole, a, b), before, final)
    report = Report(jnp.ones(length, bool), most, left)
    return final, well, good & (well == whole), (nodes.q, nodes.p, xi, xi_mid, report)
