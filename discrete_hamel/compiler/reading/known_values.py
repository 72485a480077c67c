"""Values in a jaxpr that depend on no input: NumPy's where it computes the same numbers, else JAX's own.

JAX compiles each primitive that it evaluates, which for a few dozen small ones takes longer than all else in tracing.
"""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from discrete_hamel.compiler.reading.movements import BY_NUMPY
from discrete_hamel.compiler.reading.rules import Value

OBJECTS_ONLY = ("pad",)


def _iota(p: dict) -> np.ndarray:
    shape, along = p["shape"], p["dimension"]
    places = np.arange(shape[along]).reshape([-1 if k == along else 1 for k in range(len(shape))])
    return np.broadcast_to(places, shape)


# Exact, or rounded once: the same in NumPy and in JAX.
EXACT: dict[str, Callable] = {
    "iota": _iota,
    "convert_element_type": lambda p, a: a,
    "neg": lambda p, a: -a,
    "abs": lambda p, a: np.abs(a),
    "add": lambda p, a, b: a + b,
    "add_any": lambda p, a, b: a + b,
    "sub": lambda p, a, b: a - b,
    "mul": lambda p, a, b: a * b,
    "eq": lambda p, a, b: a == b,
    "ne": lambda p, a, b: a != b,
    "lt": lambda p, a, b: a < b,
    "le": lambda p, a, b: a <= b,
    "gt": lambda p, a, b: a > b,
    "ge": lambda p, a, b: a >= b,
    "max": lambda p, a, b: np.maximum(a, b),
    "min": lambda p, a, b: np.minimum(a, b),
    "select_n": lambda p, which, *cases: (
        np.choose(which, cases) if which.dtype != bool else np.where(which, *cases[::-1])
    ),
}


def evaluate(equation: JaxprEqn, values: list[Value]) -> list[Value]:
    """The outputs of an equation whose operands are numbers."""
    name, several = equation.primitive.name, equation.primitive.multiple_results
    rule = EXACT.get(name) or (None if name in OBJECTS_ONLY else BY_NUMPY.get(name))
    arrays = [np.asarray(v, i.aval.dtype) for v, i in zip(values, equation.invars, strict=True)]  # type: ignore[attr-defined]
    if rule:
        result = rule(equation.params, *arrays)
    else:
        result = equation.primitive.bind(*map(jnp.asarray, arrays), **equation.params)
    outputs = zip(result if several else [result], equation.outvars, strict=True)
    return [np.asarray(value, variable.aval.dtype) for value, variable in outputs]  # type: ignore[attr-defined]
