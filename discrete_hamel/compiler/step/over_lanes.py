"""The graph over lanes: each value that several others use is one loop over the lanes, and none is evaluated twice.

Left to itself XLA's fusion would evaluate what two outputs share once for each of them. A function of its own (an inner
jit, in a marked function: `lowering.one_kernel`) is not fused into others, so such a value becomes one.
"""

from collections import Counter
from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.operations import IN_JAX
from discrete_hamel.compiler.step import sincos

SHARED = 2  # operations that may be evaluated again rather than kept

TURNED = {"sin": sincos.turned_sine, "cos": sincos.turned_cosine}


def piece(function: Callable) -> Callable:
    """A function of lanes as a loop of its own."""
    return jax.jit(function)


def broadcast(x: Array, lanes: int) -> Array:
    """A number, or lanes, as lanes."""
    return x if x.ndim else jnp.broadcast_to(x, (lanes,))


def over_lanes(
    graph: Graph, outputs: list[int], values: Mapping[int, Array], *, polynomials: bool = True
) -> list[Array]:
    """The values of `outputs`, from values that are lanes or, the same for all of them, numbers.

    Sine and cosine are `polynomials`, NaN beyond their reach, or else the library's.
    """
    known = dict(values)
    kind = next(iter(known.values())).dtype
    missing = [i for i in graph.needed(outputs, given=known) if i not in known]
    wide = {i for i, value in known.items() if value.ndim}
    for i in missing:
        operands = graph.operands(i)
        if any(a in wide for a in operands):
            wide.add(i)
        elif operands:
            known[i] = IN_JAX[graph.nodes[i][0]](*(known[a] for a in operands))
        else:
            known[i] = jnp.asarray(graph.value(i), kind)
    kept = _own_loops(graph, outputs, [i for i in missing if i in wide])
    angles: dict[int, tuple[Array, ...]] = {}
    for i in kept:
        if _is_angle(graph, i) and kind == jnp.float64 and polynomials:
            (angle,) = graph.operands(i)
            if angle not in angles:
                angles[angle] = _turns(known[angle])
            known[i] = piece(TURNED[graph.nodes[i][0]])(*angles[angle])
        else:
            known[i] = _evaluate(graph, i, known, kind)
    return [known[o] for o in outputs]


def _is_angle(graph: Graph, index: int) -> bool:
    return graph.nodes[index][0] in TURNED


def _turns(x: Array) -> tuple[Array, ...]:
    """What sine and cosine of an angle have in common."""
    r = piece(sincos.reduced)(x)
    return piece(sincos.quadrant)(x), piece(sincos.near_sine)(r), piece(sincos.near_cosine)(r)


def _own_loops(graph: Graph, outputs: list[int], wide: list[int]) -> list[int]:
    """The nodes that get a loop of their own: outputs, angles, their sines, and what is used so often that it pays."""
    angles = {a for i in wide if _is_angle(graph, i) for a in graph.operands(i)}
    uses = Counter(a for i in wide for a in set(graph.operands(i))) + Counter(set(outputs))
    cost: dict[int, int] = {}
    kept = []
    for i in wide:
        cost[i] = 1 + sum(cost.get(a, 0) for a in set(graph.operands(i)))
        if i in outputs or i in angles or _is_angle(graph, i) or cost[i] * (uses[i] - 1) > SHARED:
            kept.append(i)
            cost[i] = 0
    return kept


def _evaluate(graph: Graph, index: int, known: Mapping[int, Array], kind: np.dtype) -> Array:
    """A node from those known, in a loop of its own."""
    order = [i for i in graph.needed([index], given=known) if i not in known]
    given = sorted({a for i in order for a in graph.operands(i) if a in known and graph.value(a) is None})

    def function(*arguments: Array) -> Array:
        values = dict(zip(given, arguments, strict=True))
        for i in order:
            operands = [values[a] if a in values else jnp.asarray(graph.value(a), kind) for a in graph.operands(i)]
            lanes = max((x.shape[0] for x in operands if x.ndim), default=0)
            values[i] = IN_JAX[graph.nodes[i][0]](*(broadcast(x, lanes) if lanes else x for x in operands))
        return values[index]

    return piece(function)(*(known[a] for a in given))
