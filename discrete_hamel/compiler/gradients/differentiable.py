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
from discrete_hamel.compiler.gradients.jax_primitives import MANY, FunctionCall, of_trees, run
from discrete_hamel.compiler.gradients.plain_run import PlainHistory
from discrete_hamel.compiler.graph.elimination import solve
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.lowering import lower, used_of
from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
from discrete_hamel.compiler.graph.size_limits import MOST_JIT
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
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
        first, begin = of_trees(_Beginning(start), *data)
        system, scheme, *_, h = data
        parameters, lengths = self.history.stepper.arguments(system, scheme, h)
        arguments = [*parameters, lengths, begin]
        rows, befores, *how = run.bind(*arguments, call=RunCall(self.history, self.plain, intervals, every))
        call = FunctionCall(_Velocities(self, every))
        xi, xi_mid, norm = run.bind(first[2], *arguments, rows, befores, call=call)
        nodes, final = of_trees(_Nodes(self, arguments[-2].size), first[:2], rows)
        marks = _marks(every, *jax.lax.stop_gradient((arguments[-2], rows, *how)))
        return (*nodes, xi), FollowedRun(xi_mid, norm, *map(on_device, marks)), final


class FollowedRun(NamedTuple):
    """A run at its saved nodes, but for the first; arrays along the first axis."""

    xi_mid: Array
    residual: Array
    converged: Array
    iterations: Array
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


@dataclass(frozen=True)
class _Beginning:
    """What is kept of the first state, and its numbers."""

    start: Callable

    def __call__(self, system: System, scheme: Scheme, q: Array, xi: Array, h: Array) -> tuple[tuple, Array]:
        state, first = self.start(system, scheme, q, xi, h)
        return first, jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(state)])


@dataclass(frozen=True)
class _Nodes:
    """q and p at all nodes, and the last state, from what is kept of the first and the rows."""

    compiled: Compiled
    parts: int

    def __call__(self, first: tuple, rows: Array) -> tuple[tuple, State]:
        history, plain, _ = self.compiled
        states = plain.state.tree(rows[self.parts - 1 :: self.parts, : history.size])
        nodes = zip(first, (states.q, states.p), strict=True)
        return tuple(jnp.concatenate([a[None], b]) for a, b in nodes), jax.tree.map(lambda leaf: leaf[-1], states)


@partial(interpret, static=1, most=MANY, often=OFTEN)
def _marks(every: int, lengths: Array, rows: Array, done: Array, by_plain: Array) -> tuple[Array, Array, Array]:
    """Which nodes were reached; the most iterations to each; how many steps took the plain path."""
    parts = len(lengths)
    well = parts * every * jnp.arange(1, len(rows) // parts + 1) <= done
    most = jnp.max(rows[:, -1].reshape(-1, parts), axis=1)
    return well, jnp.where(jnp.isnan(most), 0, most).astype(int), by_plain.astype(int) // parts


@dataclass(frozen=True)
class _Velocities:
    """What follows from the first velocity and the rows of a run: xi at all nodes, xi of its intervals, and what was
    left of the residual."""

    compiled: Compiled
    every: int

    def __call__(self, *arrays: Array) -> list[Array]:
        first, *arguments, rows, befores = arrays
        after, *others = _velocities_along(self.compiled, self.every, arguments, rows, befores)
        return [jnp.concatenate([first[None], after]), *others]


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
