"""The compiled step of a chain: the graph of one link, evaluated along all n, and its elimination swept down and up.

What `stepper.py` unrolls for small systems stays rolled here, so that neither compiling nor a step costs more than
linearly in the number of links. Chosen by `choice.py` where the residual is found to be a chain's.
"""

import itertools
from collections.abc import Sequence
from math import gcd
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel import hamel
from discrete_hamel.kernel.graph import Unsupported
from discrete_hamel.kernel.links import Links
from discrete_hamel.kernel.lowering import one_kernel_works
from discrete_hamel.kernel.operations import FLAT
from discrete_hamel.kernel.passes import Passes, sampled
from discrete_hamel.kernel.strip_jaxprs import to_links
from discrete_hamel.kernel.strips import Pieces, Strip
from discrete_hamel.kernel.sweeps import Sweep
from discrete_hamel.newton import MAX_ITERATIONS, NEGLIGIBLE, SMALL, finished, sane
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

SHORTEST = 6  # links; up to eight are as fast unrolled, but take longer to compile
LARGEST = 5000  # operations a link and iteration; beyond, compiling takes many seconds

Values = dict[int, Array]


def strip_like(links: Links, leaf: Any) -> Any:
    """Inputs for the numbers of a leaf: strips where it runs along the chain, else nodes of all its numbers."""
    leaf = np.asarray(leaf)
    if not np.issubdtype(leaf.dtype, np.floating):
        raise Unsupported(f"a parameter of type {leaf.dtype}")
    if leaf.ndim == 1 and leaf.size > links.n and leaf.size % links.n == 0:
        return Pieces([strip_like(links, part) for part in leaf.reshape(-1, links.n)])
    along = [i for i, length in enumerate(leaf.shape) if length == links.n]
    if len(along) > 1:
        raise Unsupported("a matrix whose rows and columns are links")
    shape = tuple(1 if i in along else length for i, length in enumerate(leaf.shape))
    nodes = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape):
        sample = leaf[tuple(links.n // 2 if i in along else k for i, k in enumerate(at))]
        nodes[at] = links.graph.input(len(links.graph.nodes), float(sample))
    return Strip(nodes, along[0], 0, links.n) if along else nodes


def strips_like(links: Links, tree: Any) -> Any:
    """The tree with `strip_like` of each leaf."""
    return jax.tree.map(lambda leaf: strip_like(links, leaf), tree)


def along(inputs: Any, tree: Any) -> Values:
    """The numbers of a tree by node, as arrays along the chain where they are of a strip."""
    values: Values = {}
    leaves = jax.tree.leaves(inputs, is_leaf=lambda x: isinstance(x, Strip | Pieces))
    for strip, leaf in zip(leaves, jax.tree.leaves(tree), strict=True):
        leaf = jnp.asarray(leaf)
        if isinstance(strip, Pieces):
            values |= along(strip.parts, list(leaf.reshape(len(strip.parts), -1)))
            continue
        nodes = strip.nodes if isinstance(strip, Strip) else strip
        for at in np.ndindex(*nodes.shape):
            where: list[Any] = [*at]
            if isinstance(strip, Strip):
                where[strip.axis] = slice(None)
            values[nodes.item(*at)] = leaf[tuple(where)]
    return values


def whole(outputs: list[Any], n: int) -> list[Any]:
    """The outputs, if they are strips of the whole chain, or pieces that are."""
    for strip in itertools.chain(*(parts(o) for o in outputs)):
        if not isinstance(strip, Strip) or strip.length != n:
            raise Unsupported("an output that is not along the chain")
    return outputs


def parts(output: Any) -> list[Any]:
    return output.parts if isinstance(output, Pieces) else [output]


def nodes_of(outputs: list[Any]) -> list[int]:
    """The nodes of strips and pieces, in order."""
    return [node for output in outputs for strip in parts(output) for node in strip.nodes.ravel()]


class ChainRoot:
    """The root of a residual along a chain by the same Newton iteration as `newton.newton`."""

    def __init__(
        self, links: Links, residual: list[int], unknowns: list[int], known: Values, negligible: float = NEGLIGIBLE
    ) -> None:
        if len(residual) != len(unknowns):
            raise Unsupported("not as many equations as unknowns at each link")
        self.unknowns, self.residual, self.negligible = unknowns, residual, negligible
        self.sweep = Sweep(links, residual, unknowns, known)
        slopes = [a for a in self.sweep.entries if a not in residual]
        varying, _ = links.varying(residual, unknowns)
        flat = any(links.graph.nodes[i][0] in FLAT for i in varying)  # slopes do not show how these change
        self.linear = not flat and not set(slopes) & links.varying(slopes, unknowns)[0]

    def __call__(
        self, known: Values, guess: Sequence[Array], beside: Sequence[Array] = ()
    ) -> tuple[list[Array], Array, Array]:
        """z, whether it converged, and the iterations; `beside` is what z are changes of."""
        number = jnp.finfo(guess[0].dtype)
        total = sum((jnp.sum(jnp.abs(g)) for g in (*guess, *beside)), start=jnp.asarray(number.tiny**0.25))
        weights = [1 / (number.eps * (jnp.abs(g) + SMALL * total)) for g in guess]

        def iterate(carry: tuple) -> tuple:
            z, size, _, count = carry
            correction = self.sweep({**known, **dict(zip(self.unknowns, z, strict=True))})
            new = sum((jnp.sum((c * w) ** 2) for c, w in zip(correction, weights, strict=True)), start=0 * total)
            z = tuple(a + c for a, c in zip(z, correction, strict=True))
            return z, new, finished(size, new, self.negligible), count + 1

        def unfinished(carry: tuple) -> Array:
            _, _, done, count = carry
            return ~done & (count < MAX_ITERATIONS)

        begin = (tuple(guess), jnp.asarray(jnp.nan, guess[0].dtype), jnp.asarray(False), jnp.asarray(0))
        if self.linear:  # the first correction is the solution, the second what round-off left
            z, size, done, count = lax.fori_loop(0, 2, lambda _, carry: iterate(carry), begin)
        else:
            z, size, done, count = lax.while_loop(unfinished, iterate, begin)
        return list(z), done & sane(size), count


class ChainStepper:
    """A step of `scheme` for chains with the tree structure of the sample; hashed by identity, built once."""

    def __init__(self, system: System, scheme: Scheme, state: Any, h: Array) -> None:
        if type(scheme).step is not Scheme.step or type(scheme).velocity is not Scheme.velocity:
            raise Unsupported(f"{type(scheme).__name__} steps in a way of its own")
        self.native = one_kernel_works()
        self.n = n = gcd(*(leaf.size for leaf in jax.tree.leaves(state)))
        if n < SHORTEST:
            raise Unsupported(f"{n} links, of {SHORTEST} at least")
        self.links = links = Links(n)
        self.given = mechanics, rule, step = strips_like(links, (system, scheme, h))
        self.state = node = strips_like(links, state)
        known = {**along(self.given, (system, scheme, h)), **along(self.state, state)}
        guess = to_links(links, lambda a, b, c, h: b.guess(a, c, h), mechanics, rule, node, step)
        self.guess = nodes_of(whole(guess, n))
        self.beside = [i for name in scheme.changes for i in nodes_of([getattr(node, name)])]
        at_guess = sampled(links, self.guess, known)
        unknown = Pieces([strip_like(links, g) for g in at_guess])
        self.unknowns = nodes_of([unknown])
        known |= {node: jnp.asarray(a) for node, a in zip(self.unknowns, at_guess, strict=True)}
        everything = mechanics, rule, node, step, unknown
        residual = to_links(links, lambda a, b, c, h, z: b.residual(a, c, h, z), *everything)
        after = to_links(links, lambda a, b, c, h, z: jax.tree.leaves(b.advance(a, c, h, z)), *everything)
        self.after = whole(after, n)
        self.root = ChainRoot(links, nodes_of(whole(residual, n)), self.unknowns, known, scheme.negligible)
        self.operations = self.root.sweep.operations
        if self.operations > LARGEST:
            raise Unsupported(f"{self.operations} operations a link, of {LARGEST} at most")
        self.shape = jax.tree.structure(state)
        self._prepare_velocity(system, state)

    def _prepare_velocity(self, system: System, state: Any) -> None:
        """The Legendre inverse at nodes, mu(q, xi)^D = p, and the slip, in a graph of their own."""
        self.legendre = links = Links(self.n)
        self.at_node = mechanics, q, p, free = strips_like(links, (system, state.q, state.p, state.xi))
        known = along(self.at_node, (system, state.q, state.p, state.xi))
        mismatch = to_links(links, lambda a, q, p, xi: hamel.balance(a, q, xi)[0] - p, mechanics, q, p, free)
        self.nodal = whole(to_links(links, hamel.full, mechanics, q, free), self.n)
        self.free = nodes_of([free])
        self.velocity_root = ChainRoot(links, nodes_of(whole(mismatch, self.n)), self.free, known)

    def __call__(self, given: Values, state: Any) -> tuple[Any, Array, Array, Array, Array]:
        """The next state, the interval's xi, whether the root was found, the iterations, and the residual left."""
        known = {**given, **along(self.state, state)}
        _, guess = Passes(self.links, self.guess, set(known))(known)
        z, converged, count = self.root(known, guess, [known[i] for i in self.beside])
        known |= dict(zip(self.unknowns, z, strict=True))
        outputs = [*nodes_of(self.after), *self.root.residual]
        _, values = Passes(self.links, outputs, set(known))(known)
        left = jnp.sqrt(sum(jnp.sum(r * r) for r in values[len(outputs) - len(z) :]))
        *leaves, xi = arrays(self.after, values)
        return jax.tree.unflatten(self.shape, leaves), xi, converged, count, left

    def velocity(self, system: System, q: Array, p: Array, free: Array) -> tuple[Array, Array]:
        """xi at a node, and whether it was found."""
        known = along(self.at_node, (system, q, p, free))
        z, converged, _ = self.velocity_root(known, [known[i] for i in self.free])
        known |= dict(zip(self.free, z, strict=True))
        _, values = Passes(self.legendre, nodes_of(self.nodal), set(known))(known)
        (xi,) = arrays(self.nodal, values)
        return xi, converged


def arrays(outputs: list[Any], values: Sequence[Array]) -> list[Array]:
    """Strips and pieces as arrays, from the values of their nodes in order."""
    result, rows = [], iter(values)
    for output in outputs:
        pieces = []
        for strip in parts(output):
            columns = [next(rows) for _ in range(strip.nodes.size)]
            rest = [length for i, length in enumerate(strip.nodes.shape) if i != strip.axis]
            stacked = columns[0] if len(columns) == 1 else jnp.stack(columns)
            pieces.append(jnp.moveaxis(stacked.reshape(*rest, -1), -1, strip.axis))
        result.append(pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces))
    return result
