"""The scalar operations a graph knows beyond arithmetic: value, derivative, and what they are in JAX.

Truth values are the numbers 0 and 1. Derivatives are only for Newton's Jacobian; those that the residual contains were
taken by JAX before.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

if TYPE_CHECKING:
    from discrete_hamel.compiler.graph.expressions import Graph

Slope = Callable[..., int]  # (graph, node, operand) -> the derivative as a node


def _half_angle(g: "Graph", a: int, sign: float) -> int:
    """1 / sqrt(1 +- a^2)."""
    square = g.mul(a, a)
    return g.unary("rsqrt", (g.add if sign > 0 else g.sub)(g.const(1.0), square))


def _flat(g: "Graph", _node: int, _a: int) -> int:
    return g.const(0.0)


# name -> (value, derivative, in JAX)
UNARY: dict[str, tuple[Callable, Slope, Callable]] = {
    "sin": (np.sin, lambda g, n, a: g.unary("cos", a), lax.sin),
    "cos": (np.cos, lambda g, n, a: g.neg(g.unary("sin", a)), lax.cos),
    "tan": (np.tan, lambda g, n, a: g.add(g.const(1.0), g.mul(n, n)), lax.tan),
    "exp": (np.exp, lambda g, n, a: n, lax.exp),
    "exp2": (np.exp2, lambda g, n, a: g.mul(g.const(float(np.log(2.0))), n), lax.exp2),
    "log": (np.log, lambda g, n, a: g.div(g.const(1.0), a), lax.log),
    "sqrt": (np.sqrt, lambda g, n, a: g.div(g.const(0.5), n), lax.sqrt),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda g, n, a: g.div(g.mul(g.const(-0.5), n), a), lax.rsqrt),
    "cbrt": (np.cbrt, lambda g, n, a: g.div(g.const(1 / 3), g.mul(n, n)), lax.cbrt),
    "tanh": (np.tanh, lambda g, n, a: g.sub(g.const(1.0), g.mul(n, n)), lax.tanh),
    "logistic": (
        lambda x: 1 / (1 + np.exp(-x)), lambda g, n, a: g.mul(n, g.sub(g.const(1.0), n)), lax.logistic,
    ),
    "sinh": (np.sinh, lambda g, n, a: g.unary("cosh", a), lax.sinh),
    "cosh": (np.cosh, lambda g, n, a: g.unary("sinh", a), lax.cosh),
    "asin": (np.arcsin, lambda g, n, a: _half_angle(g, a, -1), lax.asin),
    "acos": (np.arccos, lambda g, n, a: g.neg(_half_angle(g, a, -1)), lax.acos),
    "atan": (np.arctan, lambda g, n, a: g.div(g.const(1.0), g.add(g.const(1.0), g.mul(a, a))), lax.atan),
    "asinh": (np.arcsinh, lambda g, n, a: _half_angle(g, a, +1), lax.asinh),
    "acosh": (np.arccosh, lambda g, n, a: g.unary("rsqrt", g.sub(g.mul(a, a), g.const(1.0))), lax.acosh),
    "atanh": (np.arctanh, lambda g, n, a: g.div(g.const(1.0), g.sub(g.const(1.0), g.mul(a, a))), lax.atanh),
    "log1p": (np.log1p, lambda g, n, a: g.div(g.const(1.0), g.add(g.const(1.0), a)), lax.log1p),
    "expm1": (np.expm1, lambda g, n, a: g.add(n, g.const(1.0)), lax.expm1),
    "abs": (np.abs, lambda g, n, a: g.unary("sign", a), lax.abs),
    "sign": (np.sign, _flat, lax.sign),
    "floor": (np.floor, _flat, lax.floor),
    "ceil": (np.ceil, _flat, lax.ceil),
    "stop_gradient": (lambda x: x, _flat, lax.stop_gradient),
}  # fmt: skip


def _truth(compare: Callable) -> Callable[[Array, Array], Array]:
    return lambda a, b: jnp.where(compare(a, b), jnp.ones_like(a), jnp.zeros_like(a))


def _power_slopes(g: "Graph", n: int, a: int, b: int) -> tuple[int, int]:
    left = g.mul(b, g.binary("pow", a, g.sub(b, g.const(1.0))))
    return left, g.const(0.0) if g.value(b) is not None else g.mul(n, g.unary("log", a))


def _angle_slopes(g: "Graph", n: int, a: int, b: int) -> tuple[int, int]:
    square = g.add(g.mul(a, a), g.mul(b, b))
    return g.div(b, square), g.neg(g.div(a, square))


def _choose(name: str) -> Callable[["Graph", int, int, int], tuple[int, int]]:
    def slopes(g: "Graph", n: int, a: int, b: int) -> tuple[int, int]:
        first = g.binary(name, a, b)
        return first, g.sub(g.const(1.0), first)

    return slopes


def _no_slopes(g: "Graph", n: int, a: int, b: int) -> tuple[int, int]:
    return g.const(0.0), g.const(0.0)


# name -> (value, derivatives, in JAX)
BINARY: dict[str, tuple[Callable, Callable, Callable]] = {
    "pow": (np.power, _power_slopes, lax.pow),
    "atan2": (np.arctan2, _angle_slopes, lax.atan2),
    "max": (np.maximum, _choose("gt"), lax.max),
    "min": (np.minimum, _choose("lt"), lax.min),
    "lt": (np.less, _no_slopes, _truth(lax.lt)),
    "le": (np.less_equal, _no_slopes, _truth(lax.le)),
    "gt": (np.greater, _no_slopes, _truth(lax.gt)),
    "ge": (np.greater_equal, _no_slopes, _truth(lax.ge)),
    "eq": (np.equal, _no_slopes, _truth(lax.eq)),
    "ne": (np.not_equal, _no_slopes, _truth(lax.ne)),
}

# Their value changes with their operands, and their derivative says that it does not: what is linear to derivatives
# that contain them need not be.
FLAT = frozenset(
    [name for name, entry in UNARY.items() if entry[1] is _flat]
    + [name for name, entry in BINARY.items() if entry[1] is _no_slopes]
)

IN_JAX: dict[str, Callable] = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "neg": lax.neg,
    "select": lambda p, a, b: jnp.where(p != 0, a, b),
    **{name: entry[2] for name, entry in (*UNARY.items(), *BINARY.items())},
}
