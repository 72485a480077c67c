"""From the graph back to JAX, scalar operations or lanes of them; and what an order of evaluation has to know."""

from collections.abc import Callable, Mapping

import jax.numpy as jnp
from jax import Array

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.operations import IN_JAX


def lower(graph: Graph, outputs: list[int]) -> Callable[[Mapping[int, Array]], list[Array]]:
    """A function from input node -> JAX value to the values of `outputs`; values of any one shape (lanes)."""

    def evaluate(inputs: Mapping[int, Array]) -> list[Array]:
        like = next(iter(inputs.values()))
        values: dict[int, Array] = dict(inputs)
        for index in graph.dependencies(outputs, given=values):
            if index in values:
                continue
            node = graph.nodes[index]
            if node[0] == "const":
                values[index] = jnp.full_like(like, node[1])
            else:
                values[index] = IN_JAX[node[0]](*(values[a] for a in graph.operands(index)))
        return [values[o] for o in outputs]

    return evaluate


def used_of(graph: Graph, nodes: list[int], values: Array, outputs: list[int]) -> dict[int, Array]:
    """The values of those of the nodes that outputs need."""
    used = set(graph.dependencies(outputs))
    return {node: values[k] for k, node in enumerate(nodes) if node in used}


def dependent(graph: Graph, outputs: list[int], variables: list[int]) -> set[int]:
    """The nodes that outputs need and that change with `variables`."""
    changing = set(variables)
    for index in graph.dependencies(outputs):
        if not changing.isdisjoint(graph.operands(index)):
            changing.add(index)
    return changing


LATENCY = {"div": 13, "sqrt": 18, "rsqrt": 30, "sin": 45, "cos": 45, "tan": 60, "exp": 45, "log": 45, "pow": 90}


def cycles(graph: Graph, outputs: list[int], variables: list[int]) -> float:
    """About how long a processor takes from variables to outputs: the longest chain, and a share of the rest."""
    varying, ready = set(variables), dict[int, float]()
    for index in graph.dependencies(outputs):
        operands = graph.operands(index)
        if varying.isdisjoint(operands):
            ready[index] = 0.0
        else:
            varying.add(index)
            ready[index] = max([ready[a] for a in operands]) + LATENCY.get(graph.nodes[index][0], 4)
    return max((ready[o] for o in outputs), default=0.0) + len(varying) / 2


OF_AN_UNKNOWN = 10  # operations


def work(graph: Graph, outputs: list[int], variables: list[int]) -> float:
    """How much lanes have to do from variables to outputs; each variable costs its weight and its test as well."""
    return len(dependent(graph, outputs, variables)) + OF_AN_UNKNOWN * len(variables)


def frontier(graph: Graph, outputs: list[int], varying: set[int]) -> list[int]:
    """The nodes outside `varying` that it, or the outputs, use: what can be evaluated once, beforehand."""
    used = {a for index in graph.dependencies(outputs) if index in varying for a in graph.operands(index)}
    return sorted(a for a in used | set(outputs) if a not in varying and graph.value(a) is None)
