"""What round-off allows a residual to be: the size of its terms, which is what decides that a step has converged.

A root is where the user's own rows vanish, whatever was believed of their derivatives on the way to it (a gradient that
is stopped, a sign, a rule of the user's own). They vanish to the rounding of their terms, and no better: in

    mu - (1 - tau) h k (q - a) - p    the terms    |mu| + (1 - tau) h k (|q| + |a|) + |p|

are what that is measured by, however much of them cancels.   Higham, ASNA (2002), 3.1
"""

import jax.numpy as jnp
from jax import Array

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.mechanics.newton import noise

DEPTH = 1  # products of sums that are looked into


def terms(graph: Graph, index: int, depth: int = DEPTH, known: dict[tuple[int, int], int] | None = None) -> int:
    """The node that is the sum of the sizes of what a node is a sum of, through so many products and quotients.

    `known` keeps those found: the sums of a chain are sums of sums.
    """
    known = {} if known is None else known
    if (index, depth) in known:
        return known[index, depth]
    operation, operands = graph.nodes[index][0], graph.operands(index)
    if operation in ("add", "sub"):
        found = graph.add(*(terms(graph, a, depth, known) for a in operands))
    elif operation == "neg":
        found = terms(graph, operands[0], depth, known)
    elif operation in ("mul", "div") and depth and any(_several(graph, a) for a in operands):
        found = graph.apply(operation, *(terms(graph, a, depth - 1, known) for a in operands))
    else:
        found = graph.unary("abs", index)
    known[index, depth] = found
    return found


def _several(graph: Graph, index: int) -> bool:
    return graph.nodes[index][0] in ("add", "sub")


def allowed(residual: Array, size: Array, negligible: float) -> Array:
    """Whether a row's residual is round-off of terms of this size; of scalars, or lanes of them."""
    number = jnp.finfo(size.dtype)
    return jnp.abs(residual) <= noise(negligible) * number.eps * (size + number.tiny**0.25)
