"""What stays as given where a relative equilibrium is sought: coordinates, velocities, invariants, functions."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System

Function = Callable[[Array, Array], Array]  # of (q, xi)
Quantity = str | Function
Held = Iterable[Quantity] | Mapping[Quantity, float | None]  # as a mapping, with the values wanted
Condition = tuple[Function, float]


def _entry(q: Array, xi: Array, of: int, index: int) -> Array:
    return (q, xi)[of][index]


def _names(system: System, q: Array, xi: Array) -> dict[str, Function]:
    """What has a name: entries of q and xi by theirs, or where they have none as q[0] and xi[0]; and invariants."""
    found: dict[str, Function] = {}
    for of, (names, letter, values) in enumerate(((system.coordinates, "q", q), (system.velocities, "xi", xi))):
        for index in range(len(values)):
            name = names[index] if index < len(names) else f"{letter}[{index}]"
            found[name] = partial(_entry, of=of, index=index)
    return found | dict(system.invariants())


def function_named(system: System, name: Quantity, q: Array, xi: Array) -> Function:
    """What a name in `hold` means, as a function of (q, xi)."""
    if callable(name):
        return name
    known = _names(system, q, xi)
    if name in known:
        return known[name]
    listed = ", ".join(known)
    unnamed = "" if system.coordinates else " (its coordinates have no names of their own)"
    raise InputError(
        f"{type(system).__name__} has nothing named {name!r} to hold; it has {listed}{unnamed}. A function of (q, xi) "
        "will do as well."
    )


def conditions_of(system: System, hold: Held, q: Array, xi: Array) -> list[Condition]:
    """Each held function with the value it is to have: the one given, or the one at (q, xi)."""
    if isinstance(hold, str):
        raise InputError(f"hold takes several names: hold=[{hold!r}].")
    wanted = hold if isinstance(hold, Mapping) else dict.fromkeys(hold)
    functions = [(function_named(system, name, q, xi), value) for name, value in wanted.items()]
    return [(f, float(f(q, xi)) if value is None else float(value)) for f, value in functions]


def held_values(
    system: System, conditions: list[Condition], y: np.ndarray, coordinates: int
) -> tuple[np.ndarray, np.ndarray]:
    """How far each held function is off its value, and its gradient, row by row."""

    def of_point(y: Array, function: Callable) -> Array:
        q = y[:coordinates]
        return function(q, hamel.full(system, q, y[coordinates : coordinates + system.rank]))

    pairs = [jax.value_and_grad(of_point)(jnp.asarray(y), function) for function, _ in conditions]
    off = np.array([float(value) - wanted for (value, _), (_, wanted) in zip(pairs, conditions, strict=True)])
    return off, np.array([np.asarray(slope) for _, slope in pairs]).reshape(len(pairs), len(y))


def is_parameter(system: System, name: Quantity | None) -> bool:
    """Whether a name is that of a number on which the system depends: a field of it, or an entry of its `params`."""
    if not isinstance(name, str):
        return False
    leaves = {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(system)}
    found = [leaves[path] for path in (f".{name}", f".params['{name}']") if path in leaves]
    return bool(found) and np.ndim(found[0]) == 0


def with_parameter(system: System, name: str, value: Scalar) -> System:
    """The system with another value of a parameter."""
    given = getattr(system, "params", None)
    if isinstance(given, Mapping) and name in given:
        return system.replace(params={**given, name: value})
    return system.replace(**{name: value})


def parameter_value(system: System, name: str) -> Scalar:
    """The value of a parameter."""
    given = getattr(system, "params", None)
    return given[name] if isinstance(given, Mapping) and name in given else getattr(system, name)
