"""From a jaxpr to the scalar graph: each array becomes an array of node indices.

Straight-line code on small arrays is understood; the first primitive that is not raises Unsupported with its name, and
the run then takes the plain path. Values that depend on no input are evaluated by JAX itself.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from discrete_hamel.kernel.elimination import solve
from discrete_hamel.kernel.graph import UNARY, Graph
from discrete_hamel.kernel.movements import BY_JAX, BY_NUMPY, by_jax


class Unsupported(Exception):
    """Why a function cannot be turned into a scalar graph."""


Nodes = np.ndarray  # of dtype object, holding node indices


def _elementwise(function: Callable, *arrays: Nodes) -> Nodes:
    result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return result if isinstance(result, np.ndarray) else np.array(result, dtype=object)


def as_nodes(graph: Graph, value: Any) -> Nodes:
    """Numbers as constants; arrays of nodes as they are."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value
    value = np.asarray(value)
    nodes = np.empty(value.shape, dtype=object)
    for index in np.ndindex(*value.shape):
        nodes[index] = graph.const(float(value[index]))
    return nodes


def _symbolic(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object


def trace(graph: Graph, closed: Any, arguments: list[Any]) -> list[Any]:
    """The outputs of a closed jaxpr for arguments that are node arrays or numbers."""
    jaxpr = closed.jaxpr
    environment: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    environment.update(zip(jaxpr.invars, arguments, strict=True))

    def read(v: Any) -> Any:
        return np.asarray(v.val) if isinstance(v, Literal) else environment[v]

    for equation in jaxpr.eqns:
        values = [read(v) for v in equation.invars]
        outputs = _apply(graph, equation, values)
        environment.update(zip(equation.outvars, outputs, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _apply(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    name, parameters = equation.primitive.name, equation.params
    inner = parameters.get("jaxpr") or parameters.get("call_jaxpr")
    if name in ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint"):
        return trace(graph, inner if hasattr(inner, "consts") else ClosedJaxpr(inner, ()), values)
    if name == "lu":
        return [None] * len(equation.outvars)  # only custom_linear_solve looks at it, and it eliminates anew
    if name == "custom_linear_solve":
        return _linear_solve(graph, parameters, values)
    if not any(_symbolic(v) for v in values):
        result = equation.primitive.bind(*(jnp.asarray(v) for v in values), **parameters)
        return list(result) if equation.primitive.multiple_results else [np.asarray(result)]
    if name in BY_NUMPY:
        result = BY_NUMPY[name](parameters, *(as_nodes(graph, v) for v in values))
        return list(result) if equation.primitive.multiple_results else [result]
    if name in BY_JAX:
        indices = BY_JAX[name](len(values))
        if any(_symbolic(values[i]) for i in indices):
            raise Unsupported(f"the primitive {name} with a choice that depends on the state")
        return by_jax(equation, [v if i in indices else as_nodes(graph, v) for i, v in enumerate(values)])
    rule = RULES.get(name)
    if rule is None:
        raise Unsupported(f"the primitive {name}")
    return [rule(graph, parameters, *(as_nodes(graph, v) for v in values))]


def _linear_solve(graph: Graph, parameters: dict, values: list[Any]) -> list[Any]:
    """A x = b by elimination in the graph; A is read off the linear map matvec."""
    lengths, jaxprs = parameters["const_lengths"], parameters["jaxprs"]
    consts = values[: lengths.matvec]
    right = [as_nodes(graph, b) for b in values[sum(lengths) :]]
    if len(right) != 1:
        raise Unsupported("a linear solve of several unknown arrays")
    shape = right[0].shape
    unknowns = np.array([graph.input(object(), 1.0) for _ in range(right[0].size)], dtype=object)
    (image,) = trace(graph, jaxprs.matvec, [*consts, unknowns.reshape(shape)])
    rows = graph.derivative(list(as_nodes(graph, image).ravel()), list(unknowns))
    return [np.array(solve(graph, rows, list(right[0].ravel())), dtype=object).reshape(shape)]


def _sum(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
    for axis in sorted(parameters["axes"], reverse=True):
        total = np.full(np.delete(a.shape, axis), graph.const(0.0), dtype=object)
        for part in np.moveaxis(a, axis, 0):
            total = _elementwise(graph.add, total, part)
        a = total
    return a


def _dot(graph: Graph, parameters: dict, a: Nodes, b: Nodes) -> Nodes:
    (ca, cb), (ba, bb) = parameters["dimension_numbers"]
    fa = [i for i in range(a.ndim) if i not in (*ca, *ba)]
    fb = [i for i in range(b.ndim) if i not in (*cb, *bb)]
    batch, left = [a.shape[i] for i in ba], [a.shape[i] for i in fa]
    right, length = [b.shape[i] for i in fb], int(np.prod([a.shape[i] for i in ca]))
    x = a.transpose([*ba, *fa, *ca]).reshape(int(np.prod(batch)), int(np.prod(left)), length)
    y = b.transpose([*bb, *fb, *cb]).reshape(int(np.prod(batch)), int(np.prod(right)), length)
    result = np.empty((x.shape[0], x.shape[1], y.shape[1]), dtype=object)
    for n, i, j in np.ndindex(*result.shape):
        total = graph.const(0.0)
        for k in range(length):
            total = graph.add(total, graph.mul(x[n, i, k], y[n, j, k]))
        result[n, i, j] = total
    return result.reshape([*batch, *left, *right])


def _same(graph: Graph, parameters: dict, a: Nodes) -> Nodes:
    return a


RULES: dict[str, Callable] = {
    "add": lambda g, p, a, b: _elementwise(g.add, a, b),
    "add_any": lambda g, p, a, b: _elementwise(g.add, a, b),
    "sub": lambda g, p, a, b: _elementwise(g.sub, a, b),
    "mul": lambda g, p, a, b: _elementwise(g.mul, a, b),
    "div": lambda g, p, a, b: _elementwise(g.div, a, b),
    "neg": lambda g, p, a: _elementwise(g.neg, a),
    "square": lambda g, p, a: _elementwise(lambda x: g.mul(x, x), a),
    "integer_pow": lambda g, p, a: _elementwise(lambda x: g.power(x, p["y"]), a),
    "reduce_sum": _sum,
    "dot_general": _dot,
    "convert_element_type": _same,
    **{name: (lambda g, p, a, name=name: _elementwise(lambda x: g.unary(name, x), a)) for name in UNARY},
}


def to_graph(graph: Graph, function: Callable, *arguments: Any) -> list[Nodes]:
    """The outputs of a JAX function, as node arrays; its arguments are pytrees of node arrays."""
    flat, tree = jax.tree.flatten(arguments)
    shapes = [jax.ShapeDtypeStruct(a.shape, jnp.result_type(float)) for a in flat]
    closed = jax.make_jaxpr(lambda *leaves: function(*jax.tree.unflatten(tree, leaves)))(*shapes)
    return [as_nodes(graph, value) for value in trace(graph, closed, flat)]
