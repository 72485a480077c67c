"""What is kept of members instead of their nodes: something folded over them, so that memory does not grow."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.inputs import explained, short
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.ensemble.plain import Axes
from discrete_hamel.runs.storage.manifest import digest

OWN = (
    *("q", "p", "xi", "step", "time", "coordinate", "velocity", "momentum", "member"),
    *("finished", "failure", "reason", "residual", "steps_done", "iterations", "plain_steps"),
)  # names of the result's own
NUMBERS = ("bool", "int32", "int64", "float32", "float64")  # that a store holds


class Reduction(NamedTuple):
    """`start(system, q, xi)` at a member's first node, then `update(kept, system, q, xi)` at each saved one after it.

    Both are JAX functions of one member and return a dictionary name -> array, which becomes a variable of the result.
    A start of 0 to which an update adds floats is a float.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> highest = dh.Reduction(
    ...     start=lambda system, q, xi: {"highest": q[1]},
    ...     update=lambda kept, system, q, xi: {"highest": jnp.maximum(kept["highest"], q[1])},
    ... )
    """

    start: Callable[[System, Array, Array], dict[str, Array]]
    update: Callable[[dict[str, Array], System, Array, Array], dict[str, Array]]


def kept_shapes(
    reduction: "Reduction | None", system: System, q: Coordinates, xi: Quasivelocities
) -> dict[str, jax.ShapeDtypeStruct] | None:
    """What a reduction keeps of a member: shapes, and types that hold every update; or a sentence why it cannot."""
    if reduction is None:
        return None
    if not isinstance(reduction, Reduction) or not all(callable(function) for function in reduction):
        raise InputTypeError(f"reduction is a dh.Reduction(start, update) of two functions; got {short(reduction)}.")
    with explained("start of the reduction"):
        begun = jax.eval_shape(lambda *a: _arrays("start", reduction.start(*a)), system, q, xi)
    while True:
        with explained("update of the reduction"):
            updated = jax.eval_shape(lambda *a: _arrays("update", reduction.update(*a)), begun, system, q, xi)
        _refuse_others(begun, updated)
        types = {name: jnp.promote_types(begun[name].dtype, new.dtype) for name, new in updated.items()}
        if all(begun[name].dtype == kind for name, kind in types.items()):
            return begun
        begun = {name: jax.ShapeDtypeStruct(begun[name].shape, kind) for name, kind in types.items()}


def _arrays(function: str, given: object) -> dict[str, Array]:
    """What a user's function returned, of strong types; or a sentence."""
    if not isinstance(given, dict) or not given:
        what = (
            "an empty dictionary"
            if isinstance(given, dict)
            else "an array"
            if isinstance(given, Array)
            else short(given)
        )
        raise InputTypeError(
            f"{function} of the reduction returns {what}; wanted is a dictionary name -> number or array, such as "
            '{"highest": q[1]}.'
        )
    for name in given:
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError(
                f"{function} of the reduction returns the name {name!r}; names are words such as 'highest'."
            )
        if name in OWN:
            raise InputError(f"{name!r} is a name of the result's own; {function} of the reduction needs another.")
    arrays = {name: jnp.asarray(value) for name, value in given.items()}
    for name, array in arrays.items():
        if str(array.dtype) not in NUMBERS:
            raise InputError(
                f"{function} of the reduction returns {name!r} of type {array.dtype}; it can be any of "
                f"{', '.join(NUMBERS)}."
            )
    return {name: lax.convert_element_type(array, array.dtype) for name, array in arrays.items()}


def _refuse_others(begun: dict[str, Array], updated: dict[str, Array]) -> None:
    """An update keeps the names and the shapes of the start."""
    if set(begun) != set(updated):
        raise InputError(
            f"start of the reduction returns {', '.join(sorted(begun))}, update returns {', '.join(sorted(updated))}; "
            "both have to return the same names."
        )
    for name, array in begun.items():
        if array.shape != updated[name].shape:
            raise InputError(
                f"{name!r} of the reduction has shape {array.shape} from start and {updated[name].shape} from update; "
                "its shape has to stay."
            )


def code(reduction: Reduction, system: System, q: Coordinates, xi: Quasivelocities) -> dict[str, str]:
    """Digests of the two functions, by which another reduction is noticed."""
    start = digest(reduction.start, system, q, xi)
    update = digest(reduction.update, kept_shapes(reduction, system, q, xi), system, q, xi)
    return {"the reduction's start": start, "the reduction's update": update}


@partial(jax.jit, static_argnums=(0, 1))
def first(reduction: Reduction, axes: Axes, system: System, q: Array, xi: Array) -> dict[str, Array]:
    """What is kept of each member at its first node."""

    def one(system: System, q: Array, xi: Array) -> dict[str, Array]:
        wanted = kept_shapes(reduction, system, q, xi)
        return {k: a.astype(wanted[k].dtype) for k, a in _arrays("start", reduction.start(system, q, xi)).items()}  # type: ignore[index]

    return jax.vmap(one, (jax.tree.unflatten(jax.tree.structure(system), axes), 0, 0))(system, q, xi)


@partial(jax.jit, static_argnums=(0, 1))
def fold(
    reduction: Reduction, axes: Axes, kept: dict[str, Array], system: System, q: Array, xi: Array, count: Array
) -> dict[str, Array]:
    """After the nodes q (nodes, members, N) and xi, of which each member has reached `count`."""

    def one(kept: dict[str, Array], system: System, q: Array, xi: Array, count: Array) -> dict[str, Array]:
        def node(kept: dict[str, Array], at: tuple) -> tuple[dict[str, Array], None]:
            k, q, xi = at
            new = _arrays("update", reduction.update(kept, system, q, xi))
            return jax.tree.map(lambda a, b: jnp.where(k < count, a, b).astype(b.dtype), new, kept), None

        return lax.scan(node, kept, (jnp.arange(len(q)), q, xi))[0]

    tree = jax.tree.unflatten(jax.tree.structure(system), axes)
    return jax.vmap(one, (0, tree, 1, 1, 0))(kept, system, q, xi, count)


class Fold:
    """A reduction on its way through the nodes of a block."""

    def __init__(
        self, reduction: Reduction, axes: Axes, system: System, q: np.ndarray, xi: np.ndarray, size: int
    ) -> None:
        self.reduction, self.axes, self.count, self.more = reduction, axes, len(q), size - len(q)
        leaves, tree = jax.tree.flatten(system)
        parts = [a if axis is None else self._pad(a) for a, axis in zip(leaves, axes, strict=True)]
        self.system = jax.tree.unflatten(tree, parts)
        self.kept = first(reduction, axes, self.system, self._pad(q), self._pad(xi))

    def _pad(self, a: np.ndarray) -> np.ndarray:
        return np.concatenate([a, np.repeat(a[-1:], self.more, axis=0)])

    def take(self, q: np.ndarray, xi: np.ndarray, count: np.ndarray, capacity: int) -> None:
        """Some nodes, (nodes, components, members)."""

        def whole(a: np.ndarray) -> np.ndarray:
            a = np.pad(a, ((0, capacity - len(a)), (0, 0), (0, self.more)))
            return np.nan_to_num(a.transpose(0, 2, 1))

        counts = np.pad(count, (0, self.more))
        self.kept = fold(self.reduction, self.axes, self.kept, self.system, whole(q), whole(xi), counts)

    def arrays(self) -> dict[str, np.ndarray]:
        """What was kept of each member, up to its end."""
        return {name: np.asarray(value)[: self.count] for name, value in self.kept.items()}
