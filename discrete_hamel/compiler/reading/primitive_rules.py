"""What each arithmetic primitive of JAX is in the graph, on arrays of nodes."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.operations import BINARY, UNARY

Nodes = np.ndarray  # of dtype object, holding node indices


def elementwise(function: Callable, *arrays: Nodes) -> Nodes:
    """A scalar rule on arrays of one shape (or broadcast with scalars)."""
    with np.errstate(all="ignore"):  # samples may be infinite or no numbers; the ufunc sees the flags that they leave
        result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return result if isinstance(result, np.ndarray) else np.array(result, dtype=object)


Value = np.ndarray  # of nodes, or of numbers that are known


def as_nodes(graph: Graph, value: Value) -> Nodes:
    """Numbers as constants; arrays of nodes as they are."""
    if symbolic(value):
        return value
    if np.iscomplexobj(value):
        raise Unsupported("complex numbers")
    value = np.asarray(value, float)
    numbers, places = np.unique(value.ravel(), return_inverse=True)  # the n^3 of a bracket are mostly zeros
    nodes = np.array([graph.const(float(x)) for x in numbers], dtype=object)
    return nodes[places].reshape(value.shape)


def symbolic(value: object) -> bool:
    """Whether a value is an array of nodes, and not of numbers."""
    return isinstance(value, np.ndarray) and value.dtype == object


def _product(graph: Graph, a: int, b: int) -> int:
    """a b, with a note of what a literal 0 hides, as the next two."""
    made = graph.mul(a, b)
    if graph.is_zero(made):
        graph.hidden.update((a, b))
    return made


def _difference(graph: Graph, a: int, b: int) -> int:
    if a == b:
        graph.hidden.add(a)
    return graph.sub(a, b)


def _quotient(graph: Graph, a: int, b: int) -> int:
    if graph.is_zero(a) and graph.value(b) is None:
        graph.hidden.add(graph.div(graph.const(1.0), b))
    return graph.div(a, b)


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
    for side, other in ((x, y), (y, x)):  # what is multiplied by zeros, too
        graph.hidden.update(side.swapaxes(1, 2)[(other == zero).any(axis=1)].ravel())
    there = [[np.flatnonzero(row) for row in rows] for rows in np.moveaxis(y != zero, 1, 2)]
    for n, i, k in np.argwhere(x != zero):
        for j in there[n][k]:
            result[n, i, j] = graph.add(result[n, i, j], graph.mul(x[n, i, k], y[n, j, k]))
    return result.reshape([*batch, *left, *right])


def _convert(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
    """Whole numbers are doubles, and truth values 0 and 1; a number becomes whole towards zero, and true if not 0."""
    kind = np.dtype(parameters["new_dtype"])
    if kind in (np.dtype(float), np.dtype(np.float32)):
        return a
    if kind.kind == "b":
        return elementwise(lambda x: x if _true_or_false(graph, x) else graph.binary("ne", x, graph.const(0.0)), a)
    if not np.issubdtype(kind, np.integer):
        raise Unsupported(f"a conversion to {kind}")
    return elementwise(lambda x: x if _whole(graph, x) else _towards_zero(graph, x), a)


def _true_or_false(graph: Graph, x: int) -> bool:
    return graph.nodes[x][0] in TRUTHS or graph.value(x) in (0.0, 1.0)


def _whole(graph: Graph, x: int) -> bool:
    value = graph.value(x)
    return graph.nodes[x][0] in (*TRUTHS, "floor", "ceil") or (value is not None and value.is_integer())


def _towards_zero(graph: Graph, x: int) -> int:
    below = graph.binary("lt", x, graph.const(0.0))
    return graph.select(below, graph.unary("ceil", x), graph.unary("floor", x))


def _in_total_order(name: str) -> Callable:
    """lt_to and le_to, by which tables are searched; numbers only: no NaN is below all, and -0 is 0."""
    return lambda g, p, a, b: elementwise(lambda x, y: g.binary(name, x, y), a, b)


def _best(name: str) -> Callable:
    """argmax and argmin: the first place of the extreme."""

    def rule(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
        (axis,) = parameters["axes"]
        parts = list(np.moveaxis(a, axis, 0))
        best, place = parts[0], elementwise(lambda _: graph.const(0.0), parts[0])
        for k, part in enumerate(parts[1:], 1):
            better = elementwise(lambda x, y: graph.binary(name, x, y), part, best)
            best = elementwise(graph.select, better, part, best)
            place = elementwise(lambda b, p, k=k: graph.select(b, graph.const(float(k)), p), better, place)
        return place

    return rule


def _not(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
    return elementwise(lambda x: graph.sub(graph.const(1.0), x), a)


def _select(graph: Graph, parameters: dict, which: Nodes, *cases: Nodes) -> Nodes:
    return elementwise(lambda k, *of: pick(graph, k, of), np.broadcast_to(which, cases[0].shape), *cases)


def pick(graph: Graph, which: int, cases: Sequence[int]) -> int:
    """The case of a number that is 0, 1, ...; of two, that of a truth value."""
    if len(cases) == 2:
        return graph.select(which, cases[1], cases[0])

    def among(first: int, last: int) -> int:
        if first == last:
            return cases[first]
        middle = (first + last) // 2
        below = graph.binary("le", which, graph.const(float(middle)))
        return graph.select(below, among(first, middle), among(middle + 1, last))

    return among(0, len(cases) - 1)


def _clamp(graph: Graph, parameters: dict, low: Nodes, a: Nodes, high: Nodes) -> Nodes:
    return elementwise(lambda x, y, z: graph.binary("min", graph.binary("max", y, x), z), low, a, high)


def _remainder(graph: Graph, parameters: dict, a: Nodes, b: Nodes) -> Nodes:
    """Of whole numbers, with the dividend's sign; of others the quotient could round across a whole number."""

    def rest(x: int, y: int) -> int:
        return graph.sub(x, graph.mul(y, _towards_zero(graph, graph.div(x, y))))

    return elementwise(rest, a, b)


def _round(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
    """To the next whole number; from the middle between two to the even one, or away from 0."""
    to_even, half = int(parameters["rounding_method"]) == 1, graph.const(0.5)

    def next_to(x: int) -> int:
        below = graph.unary("floor", x)
        past = graph.sub(x, below)
        if to_even:
            pair = graph.mul(half, below)
            odd = graph.binary("ne", pair, graph.unary("floor", pair))
        else:
            odd = graph.binary("ge", x, graph.const(0.0))
        middle = graph.mul(graph.binary("eq", past, half), odd)
        return graph.add(below, graph.binary("max", graph.binary("gt", past, half), middle))

    return elementwise(next_to, a)


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
ON_WHOLE_NUMBERS += (*TRUTHS, "mul", "neg", "reduce_sum", "max", "min", "rem", "clamp", "argmax", "argmin")
ON_WHOLE_NUMBERS += (
    "lt_to",
    "le_to",
    "cumsum",
    "abs",
    "sign",
    "reduce_max",
    "reduce_min",
    "is_finite",
    "div",
)  # exact below 2^53

QUOTIENTS: dict[str, Callable] = {  # of whole numbers, towards zero
    "div": lambda g, p, a, b: elementwise(lambda x, y: _towards_zero(g, g.div(x, y)), a, b),
    "rem": _remainder,
}
RULES: dict[str, Callable] = {
    "add": lambda g, p, a, b: elementwise(g.add, a, b),
    "add_any": lambda g, p, a, b: elementwise(g.add, a, b),
    "sub": lambda g, p, a, b: elementwise(partial(_difference, g), a, b),
    "mul": lambda g, p, a, b: elementwise(partial(_product, g), a, b),
    "div": lambda g, p, a, b: elementwise(partial(_quotient, g), a, b),
    "neg": lambda g, p, a: elementwise(g.neg, a),
    "square": lambda g, p, a: elementwise(lambda x: g.mul(x, x), a),
    "integer_pow": lambda g, p, a: elementwise(lambda x: g.power(x, p["y"]), a),
    "reduce_sum": _sum,
    "reduce_max": _reduction(lambda g: lambda x, y: g.binary("max", x, y)),
    "reduce_min": _reduction(lambda g: lambda x, y: g.binary("min", x, y)),
    "reduce_prod": _reduction(lambda g: partial(_product, g)),
    "reduce_and": _reduction(lambda g: g.mul),
    "reduce_or": _reduction(lambda g: lambda x, y: g.binary("max", x, y)),
    "cumsum": _cumulative(lambda g: g.add),
    "cumprod": _cumulative(lambda g: partial(_product, g)),
    "dot_general": _dot,
    "convert_element_type": _convert,
    "select_n": _select,
    "clamp": _clamp,
    "round": _round,
    "is_finite": lambda g, p, a: elementwise(
        lambda x: g.binary("le", g.unary("abs", x), g.const(float(np.finfo(float).max))), a
    ),
    "lt_to": _in_total_order("lt"),
    "le_to": _in_total_order("le"),
    "argmax": _best("gt"),
    "argmin": _best("lt"),
    "and": lambda g, p, a, b: elementwise(g.mul, a, b),
    "or": _binary("max"),
    "not": _not,
    **{name: _binary(name) for name in BINARY},
    **{name: (lambda g, p, a, name=name: elementwise(lambda x: g.unary(name, x), a)) for name in UNARY},
}
