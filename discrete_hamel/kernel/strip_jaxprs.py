"""From a jaxpr to the graph of one link: which of its arrays run along the chain, and how that goes on.

What cannot be kept link by link (a total over all links, a matrix over pairs of them) is noted as lost, with the reason
why, and matters only if the outputs need it.
"""

from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from discrete_hamel.kernel import jaxprs
from discrete_hamel.kernel.control import CALLS
from discrete_hamel.kernel.graph import Unsupported
from discrete_hamel.kernel.links import Links
from discrete_hamel.kernel.rules import RULES, symbolic
from discrete_hamel.kernel.strip_rules import ALONG, CUMULATIVE, REDUCTIONS
from discrete_hamel.kernel.strips import Lost, Pieces, Strip, column, one_long, piecewise

AT_EACH_LINK = {*RULES} - {*REDUCTIONS, *CUMULATIVE, "reduce_and", "reduce_or", "dot_general"}


def trace(links: Links, closed: Any, arguments: list[Any]) -> list[Any]:
    """The outputs of a closed jaxpr for arguments that are strips, node arrays or numbers."""
    environment: dict[Any, Any] = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    environment.update(zip(closed.jaxpr.invars, arguments, strict=True))

    def read(v: Any) -> Any:
        return np.asarray(v.val) if isinstance(v, Literal) else environment[v]

    for equation in closed.jaxpr.eqns:
        values = [read(v) for v in equation.invars]
        shapes = [v.aval.shape for v in equation.outvars]
        if not shapes:
            raise Unsupported(f"{equation.primitive.name}, which is done at every evaluation and returns nothing")
        try:
            outputs = _apply(links, equation, values)
            if [np.shape(o) if isinstance(o, np.ndarray) else o.shape for o in outputs] != shapes:
                raise Unsupported(f"the primitive {equation.primitive.name} in this form")
        except Unsupported as reason:
            outputs = [Lost(str(reason), shape) for shape in shapes]
        environment.update(zip(equation.outvars, outputs, strict=True))
    return [read(v) for v in closed.jaxpr.outvars]


def to_links(links: Links, function: Any, *arguments: Any) -> list[Any]:
    """The outputs of a JAX function; its arguments are pytrees of strips, pieces and node arrays."""
    flat, tree = jax.tree.flatten(arguments, is_leaf=lambda x: isinstance(x, Strip | Pieces))
    shapes = [jax.ShapeDtypeStruct(a.shape, float) for a in flat]
    closed = jax.make_jaxpr(lambda *leaves: function(*jax.tree.unflatten(tree, leaves)))(*shapes)
    outputs = trace(links, closed, flat)
    for output in outputs:
        if isinstance(output, Lost):
            raise Unsupported(output.reason)
    return outputs


def _apply(links: Links, equation: Any, values: list[Any]) -> list[Any]:
    name, p = equation.primitive.name, equation.params
    if name == "dot_general" and any(isinstance(v, np.ndarray) and not symbolic(v) and not v.any() for v in values):
        return [np.zeros(equation.outvars[0].aval.shape)]
    for value in values:
        if isinstance(value, Lost):
            raise Unsupported(value.reason)
    along = [v for v in values if isinstance(v, Strip | Pieces)]
    lengthwise = _lengthwise(links, equation, values)
    if not along and lengthwise is None:
        return jaxprs.apply(links.graph, equation, values)
    if name in CALLS:
        inner: Any = p.get("jaxpr") or p.get("call_jaxpr")
        return trace(links, inner if hasattr(inner, "consts") else ClosedJaxpr(inner, ()), values)
    if name in AT_EACH_LINK:
        return [_elementwise(links, equation, values, along[0] if along else lengthwise)]
    if name not in ALONG:
        raise Unsupported(f"the primitive {name} along a chain")
    result = ALONG[name](links, p, *values)
    return result if isinstance(result, list) else [result]


def _lengthwise(links: Links, equation: Any, values: list[Any]) -> Strip | None:
    """What equal values, or numbers, spread along the chain become: a strip; None where nothing is spread."""
    shape = equation.outvars[0].aval.shape
    axes = [i for i, length in enumerate(shape) if length == links.n]
    if len(axes) != 1 or not any(symbolic(v) for v in values):
        return None
    if equation.primitive.name in AT_EACH_LINK or equation.primitive.name == "broadcast_in_dim":
        return Strip(np.empty(one_long(shape, axes[0]), dtype=object), axes[0], 0, links.n)
    return None


def _elementwise(links: Links, equation: Any, values: list[Any], like: Any) -> Any:
    whole = not np.issubdtype(equation.outvars[0].aval.dtype, np.floating)
    if whole and equation.outvars[0].aval.dtype != bool:
        raise Unsupported("whole numbers along a chain")
    if isinstance(like, Pieces):
        return Pieces([_elementwise(links, equation, at, None) for at in piecewise(values, like)])
    like = like if isinstance(like, Strip) else next(v for v in values if isinstance(v, Strip))
    operands = [column(links, v, like) for v in values]
    shape = np.broadcast_shapes(*(o.shape for o in operands))
    nodes = RULES[equation.primitive.name](links.graph, equation.params, *(np.broadcast_to(o, shape) for o in operands))
    return like._replace(nodes=nodes)
