"""From a jaxpr to the scalar graph: each array becomes an array of node indices.

The first primitive that is not understood raises Unsupported with its name, and the run then takes the plain path.
Values that depend on no input are numbers (`interpreter`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.reading.control import CALLS, CONTROL
from discrete_hamel.compiler.reading.data_movement import BY_INDEX, BY_NUMPY, BY_STATE
from discrete_hamel.compiler.reading.interpreter import evaluate, is_literal
from discrete_hamel.compiler.reading.matrix_algorithms import MATRICES
from discrete_hamel.compiler.reading.primitive_rules import (
    ON_WHOLE_NUMBERS,
    QUOTIENTS,
    RULES,
    Nodes,
    Value,
    as_nodes,
    symbolic,
)

if TYPE_CHECKING:
    from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

WITH_OWN_DERIVATIVE = ("custom_jvp_call", "custom_vjp_call")


def trace(
    graph: Graph, closed: "ClosedJaxpr", arguments: list[Value], wanted: Sequence[bool] | None = None
) -> list[Value]:
    """The outputs of a closed jaxpr for arguments that are node arrays or numbers; of those not wanted no numbers."""
    jaxpr = closed.jaxpr
    wanted = [True] * len(jaxpr.outvars) if wanted is None else wanted
    environment: dict[object, Value] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    environment.update(zip(jaxpr.invars, arguments, strict=True))

    def read(v: object) -> Value:
        return np.asarray(v.val) if is_literal(v) else environment[v]

    for equation, asked in _live_equations(jaxpr, wanted):
        values = [read(v) for v in equation.invars]
        outputs = apply(graph, equation, values, asked)
        for variable, value in zip(equation.outvars, outputs, strict=True):
            shape = variable.aval.shape  # type: ignore[attr-defined]  # of an array
            if np.shape(value) != shape or isinstance(value, int):
                raise Unsupported(f"the primitive {equation.primitive.name} in this form")
        environment.update(zip(equation.outvars, outputs, strict=True))
    shapes = [v.aval.shape for v in jaxpr.outvars]
    places = zip(jaxpr.outvars, shapes, wanted, strict=True)
    return [read(v) if needed else np.full(shape, np.nan) for v, shape, needed in places]


def _live_equations(jaxpr: "Jaxpr", wanted: Sequence[bool]) -> "list[tuple[JaxprEqn, list[bool]]]":
    """The equations that the wanted outputs depend on, and those that do something besides (a print), in order; with
    each, which of its own outputs are wanted."""
    named = zip(jaxpr.outvars, wanted, strict=True)
    read, equations = {v for v, asked in named if asked and not is_literal(v)}, []
    for equation in reversed(jaxpr.eqns):
        asked = [v in read for v in equation.outvars]
        if equation.effects or any(asked):
            equations.append((equation, asked))
            read.update(v for v in equation.invars if not is_literal(v))
    return equations[::-1]


def apply(graph: Graph, equation: "JaxprEqn", values: list[Value], asked: Sequence[bool]) -> list[Value]:
    """What one equation of a jaxpr makes of its operands, node arrays or numbers; of a call only what is asked."""
    name, parameters = equation.primitive.name, equation.params
    several = equation.primitive.multiple_results
    if not equation.outvars:  # a print, or another call of Python for what it does and not for what it returns
        raise Unsupported(f"{name}, which is done at every evaluation and returns nothing")
    known = not any(symbolic(v) for v in values)
    if name in WITH_OWN_DERIVATIVE and not known:
        graph.own_derivatives.add(name)
    if name in CONTROL:
        inner = partial(trace, wanted=asked) if name in CALLS else trace
        return CONTROL[name](inner, graph, parameters, values)
    if known:
        return evaluate(equation, values)
    if name in MATRICES:
        return MATRICES[name](graph, parameters, *(as_nodes(graph, v) for v in values))
    if name in BY_NUMPY:
        result = BY_NUMPY[name](parameters, *(as_nodes(graph, v) for v in values))
        return list(result) if several else [result]
    move, indices = BY_INDEX.get(name, (None, slice(0)))
    if move is not None and not any(symbolic(v) for v in values[indices]):
        chosen = range(len(values))[indices]
        operands = [np.asarray(v) if i in chosen else as_nodes(graph, v) for i, v in enumerate(values)]
        return [move(graph, parameters, *operands)]
    if name in BY_STATE:
        return [BY_STATE[name](graph, parameters, as_nodes(graph, values[0]), *values[1:])]
    whole = not jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.floating)  # type: ignore[attr-defined]
    rule = QUOTIENTS.get(name) if whole and name in QUOTIENTS else RULES.get(name)
    if rule is None:
        why = " with a choice that depends on the state" if move is not None else ""
        raise Unsupported(f"the primitive {name}{why}")
    if whole and name not in ON_WHOLE_NUMBERS:
        raise Unsupported(f"whole numbers that depend on the state (the primitive {name})")
    return [rule(graph, parameters, *(as_nodes(graph, v) for v in values))]


def to_graph(graph: Graph, function: Callable, *arguments: Array | np.ndarray) -> list[Nodes]:
    """The outputs of a JAX function, as node arrays; its arguments are pytrees of node arrays."""
    flat, tree = jax.tree.flatten(arguments)
    shapes = [jax.ShapeDtypeStruct(a.shape, jnp.result_type(float)) for a in flat]
    closed = jax.make_jaxpr(lambda *leaves: function(*jax.tree.unflatten(tree, leaves)))(*shapes)
    return [as_nodes(graph, value) for value in trace(graph, closed, flat)]
