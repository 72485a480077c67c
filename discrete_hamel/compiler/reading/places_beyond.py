"""Places beyond an array's end that a function asks for whatever its data: x[3] of an x of three.

NumPy raises an IndexError; JAX takes the nearest place, and writes nothing where one is to be written, without a word.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.lax import GatherScatterMode as Mode

from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.reading.interpreter import CALLS, evaluate, is_literal
from discrete_hamel.compiler.reading.numpy_rules import TABLE

if TYPE_CHECKING:
    from jax.extend.core import Jaxpr, JaxprEqn

SMALL = 64  # numbers of an array of places that is followed
# Which of their operands are places, from which on.
FIRST = {"dynamic_slice": 1, "dynamic_update_slice": 2, "gather": 1, "scatter": 1, "scatter-add": 1}


def shape_within(name: str, function: Callable, *arguments: object) -> Any:
    """Shape and type of what the function returns, which is refused where it asks for a place beyond an array's end.

    >>> import jax.numpy as jnp
    >>> shape_within("f", lambda x: x[2], jnp.zeros(3)).shape
    ()
    >>> shape_within("f", lambda x: x[3], jnp.zeros(3))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discrete_hamel._support.errors.InputError: f asks for place [3] of an array of shape (3,)...
    """
    traced, shape = jax.make_jaxpr(function, return_shape=True)(*arguments)
    for place, size in _beyond(traced.jaxpr, dict(zip(traced.jaxpr.constvars, traced.consts, strict=True))):
        raise InputError(
            f"{name} asks for place {place} of an array of shape {size}, and there is none: JAX takes the nearest, "
            "or writes nothing, without a word. Places are counted from 0."
        )
    return shape


def _beyond(jaxpr: "Jaxpr", values: dict) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """Each such place, and its array's shape; `values` are those of variables that are constant."""
    known = {v: value for v, value in values.items() if value is not None and not isinstance(value, jax.core.Tracer)}
    for equation in jaxpr.eqns:
        given = [v.val if is_literal(v) else known.get(v) for v in equation.invars]
        name = equation.primitive.name
        if name in FIRST:
            yield from _outside(equation, given)
        elif name in TABLE and all(value is not None and np.size(value) <= SMALL for value in given):
            with np.errstate(all="ignore"):  # constants may be infinite
                found = evaluate(equation, given)  # type: ignore[arg-type]  # none is missing
            known.update(zip(equation.outvars, found, strict=True))
        for inner, consts in _within(equation):
            outer = zip(inner.invars, given, strict=True) if name in CALLS else ()
            yield from _beyond(inner, {**dict(outer), **consts})


def _within(equation: "JaxprEqn") -> Iterator[tuple["Jaxpr", dict]]:
    """What the equation calls, with its constants."""
    for value in equation.params.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            if hasattr(each, "consts"):
                yield each.jaxpr, dict(zip(each.jaxpr.constvars, each.consts, strict=True))
            elif hasattr(each, "eqns"):
                yield each, {}


def _outside(equation: "JaxprEqn", given: list) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """The first place of a read that begins outside of its array; of a write, if all do."""
    name, shape = equation.primitive.name, equation.invars[0].aval.shape  # type: ignore[attr-defined]
    places = given[FIRST[name] : 2 if name in ("gather", "scatter", "scatter-add") else None]
    if any(value is None or not np.size(value) for value in places) or 0 in shape:
        return
    if name.startswith("dynamic"):
        rows, sizes = np.array([[int(place) for place in places]]), shape
    else:
        dims = equation.params["dimension_numbers"]
        axes = dims.start_index_map if name == "gather" else dims.scatter_dims_to_operand_dims
        rows, sizes = np.asarray(places[0]).reshape(-1, len(axes)), tuple(shape[axis] for axis in axes)
        if name == "gather" and equation.params["mode"] != Mode.PROMISE_IN_BOUNDS:  # the user said what is to be there
            return
    outside = np.any((rows < 0) | (rows >= np.array(sizes)), axis=1)
    if outside.any() if name in ("gather", "dynamic_slice") else outside.size and outside.all():
        yield rows[np.argmax(outside)].tolist(), sizes
