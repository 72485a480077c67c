"""The numbers in a pytree's leaves: as nodes of a graph, and as scalars in the same order."""

from typing import Any

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported


def inputs_like(graph: Graph, tree: PyTree) -> tuple[Any, list[int]]:
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


def scalars(tree: PyTree) -> list[Array]:
    """The numbers in a pytree's leaves, in order."""
    return [leaf[index] for leaf in jax.tree.leaves(tree) for index in np.ndindex(*leaf.shape)]
