"""The compiled step: a scheme's residual, Jacobian and update as scalar code around one Newton loop."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel import hamel
from discrete_hamel.kernel.elimination import solve
from discrete_hamel.kernel.graph import Graph
from discrete_hamel.kernel.jaxprs import Unsupported, to_graph
from discrete_hamel.kernel.lowering import dependent, frontier, lowered, one_kernel_works
from discrete_hamel.newton import MAX_ITERATIONS, finished, squared_size, units
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

LARGEST = 1000  # operations an iteration; beyond, one kernel is slower than many

Scalars = list[Any]
Values = Mapping[int, Any]


def inputs_like(graph: Graph, tree: Any) -> tuple[Any, list[int]]:
    """The tree with an input node for each number in its leaves, sampled there; and these nodes in order."""
    leaves, structure = jax.tree.flatten(tree)
    order: list[int] = []
    arrays = []
    for leaf in leaves:
        leaf = np.asarray(leaf)
        if not np.issubdtype(leaf.dtype, np.floating):
            raise Unsupported(f"a parameter of type {leaf.dtype}")
        nodes = np.empty(leaf.shape, dtype=object)
        for index in np.ndindex(*leaf.shape):
            order.append(graph.input(len(graph.nodes), float(leaf[index])))
            nodes[index] = order[-1]
        arrays.append(nodes)
    return jax.tree.unflatten(structure, arrays), order


def scalars(tree: Any) -> Scalars:
    """The numbers in a pytree's leaves, in order."""
    return [leaf[index] for leaf in jax.tree.leaves(tree) for index in np.ndindex(*leaf.shape)]


class Root:
    """The root of `residual(z)`, given in a graph, by the same Newton iteration as `newton.newton`."""

    def __init__(self, graph: Graph, residual: list[int], unknowns: list[int]) -> None:
        self.graph, self.unknowns, self.residual = graph, unknowns, residual
        rows = graph.derivative(residual, unknowns)
        self.correction = solve(graph, rows, [graph.neg(r) for r in residual])
        self.operations = graph.operations(self.correction)
        varying = dependent(graph, self.correction, unknowns)
        self.fixed = frontier(graph, self.correction, varying)

    def __call__(self, known: Values, guess: Scalars) -> tuple[Scalars, Array, Array]:
        """z, whether it converged, and the iterations (of each lane, if the values are lanes)."""
        graph = self.graph
        fixed = dict(zip(self.fixed, lowered(graph, self.fixed)(known), strict=True))
        correct = lowered(graph, self.correction)
        weights = units(guess)

        def iterate(carry: tuple) -> tuple:
            z, size, done, count = carry
            correction = correct({**fixed, **dict(zip(self.unknowns, z, strict=True))})
            new = squared_size(correction, weights)
            moved = tuple(jnp.where(done, a, a + c) if lanes else a + c for a, c in zip(z, correction, strict=True))
            return moved, new, done | finished(size, new), count + (jnp.where(done, 0, 1) if lanes else 1)

        def unfinished(carry: tuple) -> Array:
            _, _, done, count = carry
            going = ~done & (count < MAX_ITERATIONS)
            return jnp.any(going) if lanes else going

        like = guess[0]
        lanes = like.ndim > 0
        begin = (tuple(guess), jnp.full_like(like, jnp.nan), jnp.zeros_like(like, bool), jnp.zeros_like(like, int))
        z, size, done, count = lax.while_loop(unfinished, iterate, begin)
        return list(z), done & ~jnp.isnan(size), count


class Stepper:
    """A step of `scheme` for systems with the tree structure of the sample; hashed by identity, built once."""

    def __init__(self, system: System, scheme: Scheme, state: Any, h: Array) -> None:
        if type(scheme).step is not Scheme.step or type(scheme).velocity is not Scheme.velocity:
            raise Unsupported(f"{type(scheme).__name__} steps in a way of its own")
        self.native = one_kernel_works()
        self.graph = graph = Graph()
        self.n = jax.eval_shape(system.frame, state.q).shape[1]
        self.shape = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), state)
        (mechanics, rule, step), self.parameters = inputs_like(graph, (system, scheme, h))
        node, self.state = inputs_like(graph, state)
        (guess,) = to_graph(graph, lambda a, b, c, h: b.guess(a, c, h), mechanics, rule, node, step)
        unknown, unknowns = inputs_like(graph, np.array([graph.samples[g] for g in guess]))
        (residual,) = to_graph(
            graph, lambda a, b, c, h, z: b.residual(a, c, h, z), mechanics, rule, node, step, unknown
        )
        *after, xi = to_graph(
            graph,
            lambda a, b, c, h, z: jax.tree.leaves(b.advance(a, c, h, z)),
            mechanics, rule, node, step, unknown,
        )  # fmt: skip
        self.guess = list(guess)
        self.root = Root(graph, list(residual), unknowns)
        self.after = [index for leaf in after for index in leaf.ravel()]
        self.xi = list(xi)
        if self.root.operations > LARGEST:
            raise Unsupported(f"{self.root.operations} operations an iteration, of {LARGEST} at most")
        self._prepare_velocity(system, state)

    def _prepare_velocity(self, system: System, state: Any) -> None:
        """The Legendre inverse at nodes, mu(q, xi)^D = p, and the slip, in a graph of their own."""
        self.legendre = graph = Graph()
        mechanics, self.at_node = inputs_like(graph, system)
        q, self.q = inputs_like(graph, state.q)
        p, self.p = inputs_like(graph, state.p)
        free, unknowns = inputs_like(graph, state.xi)
        (momentum,) = to_graph(graph, lambda a, q, xi: hamel.balance(a, q, xi)[0], mechanics, q, free)
        (whole,) = to_graph(graph, hamel.full, mechanics, q, free)
        self.velocity_root = Root(graph, [graph.sub(m, t) for m, t in zip(momentum, p, strict=True)], unknowns)
        self.whole = list(whole)

    def prepared(self, parameters: Scalars) -> dict[int, Any]:
        """What depends on the parameters only, evaluated once for all steps."""
        known = dict(zip(self.parameters, parameters, strict=True))
        outputs = [*self.guess, *self.root.correction, *self.after]
        varying = dependent(self.graph, outputs, [*self.state, *self.root.unknowns])
        fixed = frontier(self.graph, outputs, varying)
        return dict(zip(fixed, lowered(self.graph, fixed)(known), strict=True))

    def __call__(self, fixed: Values, state: Scalars) -> tuple[Scalars, Scalars, Array, Array]:
        """The next state, the root z, whether it converged and the iterations, in scalars."""
        known = {**fixed, **dict(zip(self.state, state, strict=True))}
        z, converged, count = self.root(known, lowered(self.graph, self.guess)(known))
        known |= dict(zip(self.root.unknowns, z, strict=True))
        return lowered(self.graph, self.after)(known), z, converged, count

    def intervals(self, parameters: Scalars, before: Array, z: Array) -> tuple[Array, Array]:
        """xi and the norm of the residual of many steps at once, from the states before them and their roots."""
        known = {i: jnp.broadcast_to(a, len(z)) for i, a in zip(self.parameters, parameters, strict=True)}
        known |= dict(zip([*self.state, *self.root.unknowns], [*before.T, *z.T], strict=True))
        values = lowered(self.graph, [*self.xi, *self.root.residual])(known)
        return jnp.stack(values[: self.n], axis=1), jnp.sqrt(sum(r * r for r in values[self.n :]))

    def velocities(self, system: System, q: Array, p: Array, free: Array) -> Array:
        """xi at many nodes at once: (K, n)."""
        known = {i: jnp.broadcast_to(a, len(q)) for i, a in zip(self.at_node, scalars(system), strict=True)}
        known |= dict(zip([*self.q, *self.p], [*q.T, *p.T], strict=True))
        z, _, _ = self.velocity_root(known, list(free.T))
        known |= dict(zip(self.velocity_root.unknowns, z, strict=True))
        return jnp.stack(lowered(self.legendre, self.whole)(known), axis=1)
