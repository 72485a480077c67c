"""What each arithmetic primitive of JAX is in the graph, on arrays of nodes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.operations import BINARY, UNARY

Nodes = np.ndarray  # of dtype object, holding node indices


def elementwise(function: Callable, *arrays: Nodes) -> Nodes:
    """A scalar rule on arrays of one shape (or broadcast with scalars)."""
    with np.errstate(all="ignore"):  # samples may be infinite or no numbers; the ufunc sees the flags that they leave
        result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return result if isinstance(result, np.ndarray) else np.array(result, dtype=object)


def as_nodes(graph: Graph, value: Any) -> Nodes:
    """Numbers as constants; arrays of nodes as they are."""
    if symbolic(value):
        return value
    if np.iscomplexobj(value):
        raise Unsupported("complex numbers")
    value = np.asarray(value, float)
    numbers, places = np.unique(value.ravel(), return_inverse=True)  # the n^3 of a bracket are mostly zeros
    nodes = np.array([graph.const(float(x)) for x in numbers], dtype=object)
    return nodes[places].reshape(value.shape)


def symbolic(value: Any) -> bool:
    """Whether a value is an array of nodes, and not of numbers."""
    return isinstance(value, np.ndarray) and value.dtype == object


def _reduction(operation: Callable[[Graph], Callable]) -> Callable:
    """Over some axes, from first to last."""

    def rule(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
        for axis in sorted(parameters["axes"], reverse=True):
            parts = list(np.moveaxis(a, axis, 0))
            if not parts:
                raise Unsupported("a reduction of nothing")
            total = parts[0]
            for part in parts[1:]:
                total = elementwise(operation(graph), total, part)
            a = np.asarray(total, dtype=object)
        return a

    return rule


def _sum(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
    if a.size == 0:
        return np.full(np.delete(a.shape, parameters["axes"]).astype(int), graph.const(0.0), dtype=object)
    return _reduction(lambda g: g.add)(graph, parameters, a)


def _cumulative(operation: Callable[[Graph], Callable]) -> Callable:
    def rule(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
        axis, reverse = parameters["axis"], parameters["reverse"]
        parts = np.moveaxis(np.flip(a, axis) if reverse else a, axis, 0)
        result = np.copy(parts)
        for k in range(1, len(parts)):
            result[k, ...] = elementwise(operation(graph), result[k - 1], parts[k])
        result = np.moveaxis(result, 0, axis)
        return np.flip(result, axis) if reverse else result

    return rule


def _dot(graph: Graph, parameters: dict, a: Nodes, b: Nodes) -> Nodes:
    (ca, cb), (ba, bb) = parameters["dimension_numbers"]
    fa = [i for i in range(a.ndim) if i not in (*ca, *ba)]
    fb = [i for i in range(b.ndim) if i not in (*cb, *bb)]
    batch, left = [a.shape[i] for i in ba], [a.shape[i] for i in fa]
    right, length = [b.shape[i] for i in fb], int(np.prod([a.shape[i] for i in ca]))
    x = a.transpose([*ba, *fa, *ca]).reshape(int(np.prod(batch)), int(np.prod(left)), length)
    y = b.transpose([*bb, *fb, *cb]).reshape(int(np.prod(batch)), int(np.prod(right)), length)
    zero = graph.const(0.0)
    result = np.full((x.shape[0], x.shape[1], y.shape[1]), zero, dtype=object)
    there = [[np.flatnonzero(row) for row in rows] for rows in np.moveaxis(y != zero, 1, 2)]
    for n, i, k in np.argwhere(x != zero):
        for j in there[n][k]:
            result[n, i, j] = graph.add(result[n, i, j], graph.mul(x[n, i, k], y[n, j, k]))
    return result.reshape([*batch, *left, *right])


def _converted(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
    """Truth values are numbers already; other changes of type would round."""
    kind = np.dtype(parameters["new_dtype"])
    truths = all(graph.nodes[i][0] in TRUTHS or graph.value(i) in (0.0, 1.0) for i in a.ravel())
    if not truths and kind not in (np.dtype(float), np.dtype(np.float32)):
        raise Unsupported(f"a conversion to {kind}")
    return a


def _not(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
    return elementwise(lambda x: graph.sub(graph.const(1.0), x), a)


def _select(graph: Graph, parameters: dict, truth: Nodes, *cases: Nodes) -> Nodes:
    if len(cases) != 2:
        raise Unsupported("a choice among more than two")
    return elementwise(graph.select, np.broadcast_to(truth, cases[0].shape), cases[1], cases[0])


def _clamp(graph: Graph, parameters: dict, low: Nodes, a: Nodes, high: Nodes) -> Nodes:
    return elementwise(lambda x, y, z: graph.binary("min", graph.binary("max", y, x), z), low, a, high)


def _remainder(graph: Graph, parameters: dict, a: Nodes, b: Nodes) -> Nodes:
    """Of counted truths, as in a determinant's parity; of others the quotient could round across a whole number."""

    def rest(x: int, y: int) -> int:
        return graph.sub(x, graph.mul(y, graph.unary("floor", graph.div(x, y))))

    return elementwise(rest, a, b)


def _binary(name: str) -> Callable:
    return lambda g, p, a, b: elementwise(lambda x, y: g.binary(name, x, y), a, b)


TRUTHS = ("lt", "le", "gt", "ge", "eq", "ne")
ON_WHOLE_NUMBERS: tuple[str, ...] = (
    "and",
    "or",
    "not",
    "reduce_and",
    "reduce_or",
    "select_n",
    "convert_element_type",
    "add",
    "sub",
)
ON_WHOLE_NUMBERS += (*TRUTHS, "mul", "neg", "reduce_sum", "max", "min", "rem")  # exact for numbers, or truths counted

RULES: dict[str, Callable] = {
    "add": lambda g, p, a, b: elementwise(g.add, a, b),
    "add_any": lambda g, p, a, b: elementwise(g.add, a, b),
    "sub": lambda g, p, a, b: elementwise(g.sub, a, b),
    "mul": lambda g, p, a, b: elementwise(g.mul, a, b),
    "div": lambda g, p, a, b: elementwise(g.div, a, b),
    "neg": lambda g, p, a: elementwise(g.neg, a),
    "square": lambda g, p, a: elementwise(lambda x: g.mul(x, x), a),
    "integer_pow": lambda g, p, a: elementwise(lambda x: g.power(x, p["y"]), a),
    "reduce_sum": _sum,
    "reduce_max": _reduction(lambda g: lambda x, y: g.binary("max", x, y)),
    "reduce_min": _reduction(lambda g: lambda x, y: g.binary("min", x, y)),
    "reduce_prod": _reduction(lambda g: g.mul),
    "reduce_and": _reduction(lambda g: g.mul),
    "reduce_or": _reduction(lambda g: lambda x, y: g.binary("max", x, y)),
    "cumsum": _cumulative(lambda g: g.add),
    "cumprod": _cumulative(lambda g: g.mul),
    "dot_general": _dot,
    "convert_element_type": _converted,
    "select_n": _select,
    "clamp": _clamp,
    "rem": _remainder,
    "and": lambda g, p, a, b: elementwise(g.mul, a, b),
    "or": _binary("max"),
    "not": _not,
    **{name: _binary(name) for name in BINARY},
    **{name: (lambda g, p, a, name=name: elementwise(lambda x: g.unary(name, x), a)) for name in UNARY},
}
