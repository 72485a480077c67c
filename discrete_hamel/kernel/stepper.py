"""The compiled step: a scheme's residual, Jacobian and update as scalar code around one Newton loop."""

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel import hamel
from discrete_hamel.kernel.elimination import solve
from discrete_hamel.kernel.graph import Graph, Unsupported
from discrete_hamel.kernel.jaxprs import to_graph
from discrete_hamel.kernel.lowering import dependent, frontier, lowered, one_kernel_works
from discrete_hamel.kernel.reduction import reduced
from discrete_hamel.newton import MAX_ITERATIONS, finished, squared_size, units
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

LARGEST = 5000  # operations an iteration; beyond, compiling takes many seconds

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
    """The root of `residual(z)`, given in a graph, by the same Newton iteration as `newton.newton`.

    Where that is cheaper, unknowns at some `places` are first eliminated; z is then what remains.
    """

    def __init__(self, graph: Graph, residual: list[int], unknowns: list[int], places: Iterable[int] = ()) -> None:
        self.graph, self.residual = graph, residual
        self.unknowns, self.formulas, rows = unknowns, [], residual
        self.correction = self._correction(residual, unknowns)
        fewer, remaining, formulas = reduced(graph, residual, unknowns, places)
        shorter = self._correction(fewer, remaining)
        if remaining and graph.operations(shorter) < graph.operations(self.correction):
            self.unknowns, self.formulas, self.correction, rows = remaining, formulas, shorter, fewer
        slopes = [a for row in graph.derivative(rows, self.unknowns) for a in row.values()]
        self.linear = not set(graph.needed(slopes)) & set(self.unknowns)
        self.places = [unknowns.index(v) for v in self.unknowns]
        self.operations = graph.operations(self.correction)
        varying = dependent(graph, self.correction, self.unknowns)
        self.fixed = frontier(graph, self.correction, varying)

    def _correction(self, residual: list[int], unknowns: list[int]) -> list[int]:
        rows = self.graph.derivative(residual, unknowns)
        return solve(self.graph, rows, [self.graph.neg(r) for r in residual])

    def all_unknowns(self, known: Values, z: Scalars) -> dict[int, Any]:
        """The values of z and of the eliminated unknowns, by node."""
        values = {**known, **dict(zip(self.unknowns, z, strict=True))}
        for unknown, formula in reversed(self.formulas):
            (values[unknown],) = lowered(self.graph, [formula])(values)
        return values

    def __call__(self, known: Values, everything: Scalars) -> tuple[Scalars, Array, Array]:
        """z, whether it converged, and the iterations (of each lane, if the values are lanes), from a guess of all."""
        graph, all_weights = self.graph, units(everything)
        guess, weights = [everything[i] for i in self.places], [all_weights[i] for i in self.places]
        fixed = dict(zip(self.fixed, lowered(graph, self.fixed)(known), strict=True))
        correct = lowered(graph, self.correction)

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
        carry = (tuple(guess), jnp.full_like(like, jnp.nan), jnp.zeros_like(like, bool), jnp.zeros_like(like, int))
        if self.linear:  # the first correction is the solution, the second what round-off left
            z, size, done, count = iterate(iterate(carry))
        else:
            z, size, done, count = lax.while_loop(unfinished, iterate, carry)
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
        self.guess, self.unknowns = list(guess), unknowns
        width = system.rank + len(state.q)
        self.root = Root(graph, list(residual), unknowns, [i for i in range(len(unknowns)) if i % width >= system.rank])
        self.after = [index for leaf in after for index in leaf.ravel()]
        self.xi = list(xi)
        self.guards = graph.guards_of([*self.guess, *self.root.residual, *self.after])
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
        self.legendre_guards = graph.guards_of([*self.velocity_root.residual, *self.whole])

    def prepared(self, parameters: Scalars) -> dict[int, Any]:
        """What depends on the parameters only, evaluated once for all steps."""
        known = dict(zip(self.parameters, parameters, strict=True))
        outputs = [*self.guess, *self.root.correction, *(f for _, f in self.root.formulas), *self.after]
        varying = dependent(self.graph, outputs, [*self.state, *self.unknowns])
        fixed = frontier(self.graph, outputs, varying)
        return dict(zip(fixed, lowered(self.graph, fixed)(known), strict=True))

    def __call__(self, fixed: Values, state: Scalars) -> tuple[Scalars, Scalars, Array, Array]:
        """The next state, the root z, whether it converged and the iterations, in scalars."""
        known = {**fixed, **dict(zip(self.state, state, strict=True))}
        z, converged, count = self.root(known, lowered(self.graph, self.guess)(known))
        known = self.root.all_unknowns(known, z)
        after, trusted = lowered(self.graph, self.after)(known), lowered(self.graph, self.guards)(known)
        return after, z, reduce(lax.bitwise_and, [g > 0 for g in trusted], converged), count

    def intervals(self, parameters: Scalars, before: Array, z: Array) -> tuple[Array, Array]:
        """xi and the norm of the residual of many steps at once, from the states before them and their roots."""
        known = {i: jnp.broadcast_to(a, len(z)) for i, a in zip(self.parameters, parameters, strict=True)}
        known |= dict(zip(self.state, before.T, strict=True))
        known = self.root.all_unknowns(known, list(z.T))
        values = lowered(self.graph, [*self.xi, *self.root.residual])(known)
        return jnp.stack(values[: self.n], axis=1), jnp.sqrt(sum(r * r for r in values[self.n :]))

    def velocities(self, system: System, q: Array, p: Array, free: Array) -> tuple[Array, Array]:
        """xi at many nodes at once, (K, n), and whether each was found."""
        known = {i: jnp.broadcast_to(a, len(q)) for i, a in zip(self.at_node, scalars(system), strict=True)}
        known |= dict(zip([*self.q, *self.p], [*q.T, *p.T], strict=True))
        z, converged, _ = self.velocity_root(known, list(free.T))
        known = self.velocity_root.all_unknowns(known, z)
        trusted = [g > 0 for g in lowered(self.legendre, self.legendre_guards)(known)]
        return jnp.stack(lowered(self.legendre, self.whole)(known), axis=1), reduce(lax.bitwise_and, trusted, converged)
