"""A run under jit, grad and vmap by compiled steps, with its derivatives: what `simulate` uses while jax traces it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.compiler.gradients.derivative import RunCall
from discrete_hamel.compiler.gradients.differentiable_run import History
from discrete_hamel.compiler.gradients.jax_primitives import FunctionCall, run
from discrete_hamel.compiler.gradients.plain_run import PlainHistory
from discrete_hamel.compiler.graph.elimination import solve
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.lowering import lower, used_of
from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
from discrete_hamel.compiler.graph.size_limits import MOST_JIT
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


class Compiled(NamedTuple):
    """What runs of one kind of system and scheme share."""

    history: History
    plain: PlainHistory
    linear: bool  # whether nodal velocities are one linear solve without pivots

    def follow(self, start: Callable, data: tuple, intervals: int, every: int) -> tuple:
        """q, p, xi at all nodes, the run, and its last state; from the first step that fails on it is NaN, and marked.

        `start` makes of the data (system, scheme, q, xi, h) the first state, and what is kept of it. The run is not
        under one jit: where JAX differentiates outside jit, all is seen to go well, and no plain path is compiled.
        """
        first, arguments = _arguments(self, start, *data)
        motion = _motion(
            self, every, arguments, *run.bind(*arguments, call=RunCall(self.history, self.plain, intervals, every))
        )
        nodes, final = _nodes(first, motion)
        return nodes, motion, final


class FollowedRun(NamedTuple):
    """A run at its saved nodes, but for the first; arrays along the first axis."""

    states: State
    xi: Array
    xi_mid: Array
    converged: Array
    iterations: Array
    residual: Array
    plain_steps: Array  # how many, from the interval on in which a compiled one failed


def with_derivatives(stepper: Stepper) -> Compiled:
    """What runs under jit share that take this stepper."""
    system, _, state, _ = stepper.sample
    history = History(stepper)
    if not np.all(np.isfinite([stepper.graph.samples[i] for i in (*stepper.root.needs(), *stepper.after)])):
        raise Unsupported("no regular point found, where the run starts", at_start=True)
    return Compiled(history, PlainHistory(history, system, stepper.part[0], state), _linear(stepper, system, state))


def _linear(stepper: Stepper, system: System, state: State) -> bool:
    """Whether mu(q, xi)^D = p is solved for xi by numbers and cofactors."""
    node = stepper.node_velocity
    if not node.root.linear or node.graph.own_derivatives or node.pivots or node.root.operations > MOST_JIT:
        return False
    graph = Graph()
    (mechanics, q, free), _ = inputs_like(graph, (system, state.q, state.xi))
    (momentum,) = to_graph(graph, lambda a, q, xi: hamel.balance(a, q, xi)[0], mechanics, q, free)
    rows = graph.derivative(list(momentum), list(free))
    return not graph.guards_of(solve(graph, rows, list(free), guarded=True))


@partial(jax.jit, static_argnums=(0, 1))
def _arguments(
    compiled: Compiled, start: Callable, system: System, scheme: Scheme, q: Array, xi: Array, h: Array
) -> tuple[tuple, list[Array]]:
    """What is kept of the first state, and what a run is a function of: parameters, lengths of steps, the state."""
    stepper, (state, first) = compiled.history.stepper, start(system, scheme, q, xi, h)
    parameters, lengths = stepper.arguments(system, scheme, h)
    return first, [*parameters, lengths, jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(state)])]


@jax.jit
def _nodes(first: tuple, motion: "FollowedRun") -> tuple[tuple, State]:
    nodes = zip(first, (motion.states.q, motion.states.p, motion.xi), strict=True)
    final = jax.tree.map(lambda leaf: leaf[-1], motion.states)
    return tuple(jnp.concatenate([a[None], b]) for a, b in nodes), final


def _motion(
    compiled: Compiled, every: int, arguments: list[Array], rows: Array, befores: Array, done: Array, by_plain: Array
) -> FollowedRun:
    """What is recorded of a run, from its rows; whatever of it is not used costs nothing under jit, and outside jit no
    derivative."""
    call = FunctionCall(_Velocities(compiled, every))
    xi, xi_mid, norm = run.bind(*arguments, rows, befores, call=call)
    nodes, well, most, by_plain = _marks(compiled, every, arguments[-2], rows, done, by_plain)
    return FollowedRun(nodes, xi, xi_mid, well, most, norm, by_plain)


@partial(jax.jit, static_argnums=(0, 1))
def _marks(
    compiled: Compiled, every: int, lengths: Array, rows: Array, done: Array, by_plain: Array
) -> tuple[State, Array, Array, Array]:
    """The states at nodes; which were reached; the most iterations to each; how many steps took the plain path."""
    history, parts = compiled.history, len(lengths)
    well = parts * every * jnp.arange(1, len(rows) // parts + 1) <= done
    nodes = compiled.plain.state.tree(rows[parts - 1 :: parts, : history.size])
    most = jnp.max(jax.lax.stop_gradient(rows[:, -1]).reshape(-1, parts), axis=1)
    most = jnp.where(jnp.isnan(most), 0, most).astype(int)
    return nodes, well, most, jax.lax.stop_gradient(by_plain).astype(int) // parts


@dataclass(frozen=True)
class _Velocities:
    """What follows from the rows of a run: xi at its nodes, xi of its intervals, and what was left of the residual."""

    compiled: Compiled
    every: int

    def __call__(self, *arrays: Array) -> list[Array]:
        *arguments, rows, befores = arrays
        return _velocities_along(self.compiled, self.every, arguments, rows, befores)


def _velocities_along(
    compiled: Compiled, every: int, arguments: list[Array], rows: Array, befores: Array
) -> list[Array]:
    history, plain, _ = compiled
    parameters, lengths, begin = jnp.concatenate(arguments[:-2]), *arguments[-2:]
    if every == 1:
        befores = jnp.concatenate([begin[None], rows[:-1, : len(begin)]])
    stepper, parts = history.stepper, len(lengths)
    mechanics, n = plain.mechanics.tree(parameters), stepper.n
    nodes = plain.state.tree(rows[parts - 1 :: parts, : history.size])
    spread = jnp.tile(lengths, len(rows) // parts)
    large = stepper.root.operations > MOST_JIT
    outputs = [*(f for _, f in stepper.root.formulas), *([] if large else [*stepper.xi, *stepper.left])]
    known = _lanes(stepper.graph, stepper.parameters, parameters, outputs, len(rows))
    known |= dict(zip(stepper.state, befores.T, strict=True))
    known |= dict.fromkeys(stepper.length, spread)
    kept = [rows[:, history.linearised.source[u]] for u in stepper.root.unknowns]
    known = stepper.root.all_unknowns(known, kept)
    z = jnp.stack([known[u] for u in stepper.unknowns], axis=-1)
    (system, scheme), states = mechanics, plain.state.tree(befores)
    if stepper.graph.own_derivatives or large:
        xi = jax.vmap(lambda state, length, z: scheme.advance(system, state, length, z)[1])(states, spread, z)
    else:
        xi = jnp.stack(lower(stepper.graph, stepper.xi)(known), axis=-1)
    if parts > 1:
        xi = jnp.sum((lengths / jnp.sum(lengths))[None, :, None] * xi.reshape(-1, parts, n), axis=1)
    if large:
        left = jax.vmap(lambda state, length, z: scheme.residual(system, state, length, z))(states, spread, z)
    else:
        left = jnp.stack(lower(stepper.graph, stepper.left)(known), axis=-1)
    norm = jnp.max(jnp.linalg.norm(jax.lax.stop_gradient(left), axis=-1).reshape(-1, parts), axis=1)
    return [_velocities(compiled, parameters, nodes), xi, norm]


def _lanes(graph: Graph, nodes: list[int], values: Array, outputs: list[int], count: int) -> dict[int, Array]:
    """The values that outputs need, in lanes."""
    return {node: jnp.broadcast_to(x, (count,)) for node, x in used_of(graph, nodes, values, outputs).items()}


def _velocities(compiled: Compiled, parameters: Array, nodes: State) -> Array:
    """xi at nodes: one linear solve each, or if it takes more than cofactors, as the plain path does it."""
    stepper, (system, scheme) = compiled.history.stepper, compiled.plain.mechanics.tree(parameters)
    node = stepper.node_velocity
    if not compiled.linear:
        return jax.vmap(lambda state: scheme.velocity(system, state))(nodes)
    outputs = [*node.root.correction, *(f for _, f in node.root.formulas), *node.whole]
    known = _lanes(node.graph, node.parameters, parameters, outputs, len(nodes.q))
    known |= dict(zip([*node.q, *node.p], [*nodes.q.T, *nodes.p.T], strict=True))
    guess = nodes.xi.T if scheme.nodal else jax.lax.stop_gradient(nodes.xi.T)
    begin = [guess[i] for i in node.root.places]
    corrected = lower(node.graph, node.root.correction)(known | dict(zip(node.root.unknowns, begin, strict=True)))
    z = [a + b for a, b in zip(begin, corrected, strict=True)]
    return jnp.stack(lower(node.graph, node.whole)(node.root.all_unknowns(known, z)), axis=-1)
