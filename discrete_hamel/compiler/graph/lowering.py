"""From the graph back to JAX: scalar operations (or lanes of them), and one native kernel for a whole loop."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import sin
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel._support.arrays import PyTree
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.operations import IN_JAX


def lower(graph: Graph, outputs: list[int]) -> Callable[[Mapping[int, Array]], list[Array]]:
    """A function from input node -> JAX value to the values of `outputs`; values of any one shape (lanes)."""

    def evaluate(inputs: Mapping[int, Array]) -> list[Array]:
        like = next(iter(inputs.values()))
        values: dict[int, Array] = dict(inputs)
        for index in graph.needed(outputs, given=values):
            if index in values:
                continue
            node = graph.nodes[index]
            if node[0] == "const":
                values[index] = jnp.full_like(like, node[1])
            else:
                values[index] = IN_JAX[node[0]](*(values[a] for a in graph.operands(index)))
        return [values[o] for o in outputs]

    return evaluate


def dependent(graph: Graph, outputs: list[int], variables: list[int]) -> set[int]:
    """The nodes that outputs need and that change with `variables`."""
    changing = set(variables)
    for index in graph.needed(outputs):
        if not changing.isdisjoint(graph.operands(index)):
            changing.add(index)
    return changing


LATENCY = {"div": 13, "sqrt": 18, "rsqrt": 30, "sin": 45, "cos": 45, "tan": 60, "exp": 45, "log": 45, "pow": 90}


def cycles(graph: Graph, outputs: list[int], variables: list[int]) -> float:
    """About how long a processor takes from variables to outputs: the longest chain, and a share of the rest."""
    varying = dependent(graph, outputs, variables)
    ready: dict[int, float] = {}
    for index in graph.needed(outputs):
        operands = graph.operands(index) if index in varying else ()
        ready[index] = max((ready[a] + LATENCY.get(graph.nodes[index][0], 4) for a in operands), default=0.0)
    return max((ready[o] for o in outputs), default=0.0) + len(varying) / 2


def frontier(graph: Graph, outputs: list[int], varying: set[int]) -> list[int]:
    """The nodes outside `varying` that it, or the outputs, use: what can be evaluated once, beforehand."""
    used = {a for index in graph.needed(outputs) if index in varying for a in graph.operands(index)}
    return sorted(a for a in used | set(outputs) if a not in varying and graph.value(a) is None)


class Packed(NamedTuple):
    """Values by node, in one array: a loop then has one operand for all of them instead of one for each."""

    nodes: tuple[int, ...]
    array: Array

    def values(self) -> dict[int, Array]:
        return {node: self.array[k] for k, node in enumerate(self.nodes)}


def constants(
    graph: Graph, outputs: list[int], parameters: list[int], variables: list[int], values: Sequence[Array]
) -> Packed:
    """The nodes that outputs use and that depend on the parameters only, evaluated."""
    fixed = frontier(graph, outputs, dependent(graph, outputs, variables))
    if not fixed:
        return Packed((), jnp.zeros(0))
    return Packed(tuple(fixed), jnp.stack(lower(graph, fixed)(dict(zip(parameters, values, strict=True)))))


def one_kernel(function: Callable) -> Callable:
    """The function, marked so that XLA on the CPU emits it as one native kernel instead of many small ones.

    XLA does this of itself for small loops; the mark says that this one is meant too. It is an attribute of this call
    only: no flag is set, and no other code is affected. Where XLA does not know it, nothing changes.

    XLA aborts the process where the kernel has an operand that nothing in it uses, or an array of constants; and in
    jax 0.6 and 0.7 where it makes a large array, which XLA would make by several threads. So the arrays that a loop
    fills are made outside and handed in, all else inside are scalars, and a loop looks at each of its operands.
    """
    from jax.experimental.xla_metadata import set_xla_metadata

    inner = jax.jit(function)

    def small_call(*arguments: Array) -> PyTree:
        with set_xla_metadata(xla_cpu_small_call="true", inlineable="false"):
            return inner(*arguments)

    return small_call


@cache
def one_kernel_works() -> bool:
    """Whether this JAX compiles and runs a marked loop on this machine; tried once."""

    def loop(x: Array) -> Array:
        return lax.fori_loop(0, 8, lambda _, y: lax.sin(y) + 1.0, x)

    if jax.default_backend() != "cpu":
        return False
    expected = 0.5
    for _ in range(8):
        expected = sin(expected) + 1
    try:
        return abs(float(jax.jit(one_kernel(loop))(0.5)) - expected) < 1e-6
    except Exception:
        return False
