"""What is said of a system made of plain functions besides how it moves: names, units, symmetries, invariants, shapes.

One frozen record, static in the system, and one base class that reads it; every constructor takes the same words.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.caches import Cache
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.pytrees import of
from discrete_hamel.mechanics.system import Invariant, System


class Words(TypedDict, total=False):
    """What each constructor takes besides the mechanics; functions have params as last argument if the system has any.

    `coordinates` and `velocities`: names of q and xi. `units`: by name of these and of invariants. `symmetries`: name
    to generator(q). `invariants`: name to function(q, xi) or `Invariant`. `shapes`: shapes(q), the lines that films
    draw. `holonomic`: g(q), what redundant coordinates satisfy; see the methods of `System`.
    """

    coordinates: Sequence[str]
    velocities: Sequence[str]
    units: Mapping[str, str]
    symmetries: Mapping[str, Callable]
    invariants: Mapping[str, Callable]
    shapes: Callable
    holonomic: Callable


@dataclasses.dataclass(frozen=True)
class Description:
    """The same, hashable."""

    coordinates: tuple[str, ...] = ()
    velocities: tuple[str, ...] = ()
    units: tuple[tuple[str, str], ...] = ()
    symmetries: tuple[tuple[str, Callable], ...] = ()
    invariants: tuple[tuple[str, Callable], ...] = ()
    shapes: Callable | None = None
    holonomic: Callable | None = None


NOTHING = Description()


def _fits(name: str, value: Any) -> bool:
    if name in ("coordinates", "velocities"):
        each = () if isinstance(value, str) else tuple(value)
        return all(isinstance(one, str) for one in each) and len(set(each)) == len(each) > 0
    if name in ("shapes", "holonomic"):
        return callable(value)
    return isinstance(value, Mapping) and (name == "units" or all(callable(one) for one in value.values()))


def describe(words: Mapping) -> Description:
    """The record of what a constructor was given; what is of another kind is refused."""
    known = [field.name for field in dataclasses.fields(Description)]
    for name, value in words.items():
        if name not in known:
            raise InputTypeError(f"a system has no {name!r}; what can be said of it is {', '.join(known)}.")
        if value is not None and not _fits(name, value):
            raise InputTypeError(
                f"{name} = {value!r}: coordinates and velocities are tuples of names, each of its own, shapes and "
                "holonomic functions of q, units a dict by name, symmetries and invariants dicts of functions by name."
            )
    frozen: dict = {
        name: tuple(value.items()) if isinstance(value, Mapping) else value if callable(value) else tuple(value or ())
        for name, value in words.items()
        if value is not None
    }
    said = Description(**frozen)
    named = {"t", "energy", "moving energy", *said.coordinates, *said.velocities, *dict(said.invariants)}
    for name in dict(said.units):  # "x'" and "p x" go by "x": see units.py
        if "[" not in name and not named & {name, name.removeprefix("p "), name.removeprefix("p ").rstrip("'")}:
            raise InputError(f"units has {name!r}, and the names are {', '.join(sorted(named))}.")
    return said


_staged = Cache(most=200)


def call(function: Callable, params: object, *arguments: object) -> Any:
    """function(*arguments), with the system's params as last argument if it has any; JAX traces it once a shape."""
    arguments = arguments if params is None else (*arguments, params)
    traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(arguments))
    try:
        value = (_staged.fetch(function, lambda: jax.jit(function)) if traced else function)(*arguments)
    except TypeError:
        try:
            inspect.signature(function).bind(*arguments)
        except TypeError as why:
            raise InputError(
                f"a function of {inspect.signature(function)} is called with {len(arguments)} arguments ({why}): A, b "
                "and frame take q, L and force q and qdot, l q and xi; params, where given, are one more, the last."
            ) from None
        raise
    if value is None:
        raise InputError(f"{getattr(function, '__name__', function)} returns None: is its return missing? Add one.")
    return value


def need_size(value: ArrayLike, like: Array, name: str, each: str) -> Array:
    value = jnp.asarray(value)
    if value.shape != like.shape:
        raise InputError(f"{name} must return shape ({len(like)},), one number a {each}; got shape {value.shape}.")
    return value


class DescribedSystem(System):
    """A system with the fields `params` and `description`: what the latter says, as methods."""

    _said = of("description")
    coordinates = of("description.coordinates")
    velocities = of("description.velocities")

    def _functions(self, function: Callable, *arguments: Array) -> Any:
        return call(function, self.params, *arguments)  # type: ignore[attr-defined]

    @property
    def units(self) -> Mapping[str, str]:  # type: ignore[override]
        return dict(self._said.units)

    @property
    def redundant(self) -> bool:
        return self._said.holonomic is not None

    def holonomic(self, q: Array) -> Array:
        said = self._said.holonomic
        return jnp.zeros(0) if said is None else jnp.atleast_1d(jnp.asarray(self._functions(said, q)))

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        return {name: partial(self._generator_at, name, of) for name, of in self._said.symmetries}

    def _generator_at(self, name: str, generator: Callable, q: Array) -> Array:
        moved = need_size(self._functions(generator, q), q, f"the symmetry {name!r}", "coordinate")
        return jnp.asarray(moved, float)

    def invariants(self) -> dict[str, Invariant]:
        return {name: self._as_invariant(of) for name, of in self._said.invariants}

    def _as_invariant(self, of: Callable) -> Invariant:
        """As the user declared it: it rests on no method that a subclass could have replaced."""
        function, kept = (of.function, of.kept) if isinstance(of, Invariant) else (of, "continuous")
        return Invariant(partial(self._functions, function), kept, ())

    def shapes(self, q: Array) -> list[np.ndarray]:
        """What films draw."""
        if self._said.shapes is None:
            raise AttributeError("no shapes were given", name="shapes", obj=self)
        return [np.asanyarray(line) for line in self._functions(self._said.shapes, q)]
