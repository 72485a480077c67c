"""What is said of a system made of plain functions besides how it moves: names, units, symmetries, invariants, shapes.

One frozen record, static in the system, and one base class that reads it; every constructor takes the same words.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.caches import Cache
from discrete_hamel._support.errors import InputTypeError
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


def describe(words: Mapping) -> Description:
    """The record of what a constructor was given; what is of another kind is refused.

    >>> describe({"coordinates": ["x", "y"], "units": {"x": "m"}}).coordinates
    ('x', 'y')
    """
    known = [field.name for field in dataclasses.fields(Description)]
    for name, value in words.items():
        if name not in known:
            raise InputTypeError(f"a system has no {name!r}; what can be said of it is {', '.join(known)}.")
        if name in ("coordinates", "velocities") and (
            isinstance(value, str) or not all(isinstance(one, str) for one in value)
        ):
            raise InputTypeError(f"{name} are names, one each, as a tuple of strings; got {value!r}.")
        if name in ("shapes", "holonomic") and value is not None and not callable(value):
            raise InputTypeError(f"{name} is a function of q; got {value!r}.")
        if name in ("units", "symmetries", "invariants") and not isinstance(value, Mapping):
            raise InputTypeError(f"{name} is a dict by name; got {value!r}.")
        if name in ("symmetries", "invariants") and not all(callable(one) for one in value.values()):
            raise InputTypeError(f"{name} is a dict of functions by name; got {value!r}.")
    frozen: dict = {
        name: tuple(value.items()) if isinstance(value, Mapping) else value if callable(value) else tuple(value or ())
        for name, value in words.items()
        if value is not None
    }
    return Description(**frozen)


_staged = Cache(most=200)


def call(function: Callable, params: object, *arguments: object) -> Any:
    """function(*arguments), with the system's params as last argument if it has any; JAX traces it once a shape."""
    arguments = arguments if params is None else (*arguments, params)
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(arguments)):
        function = _staged.fetch(function, lambda: jax.jit(function))
    return function(*arguments)


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
        return {name: partial(self._generator_at, of) for name, of in self._said.symmetries}

    def _generator_at(self, generator: Callable, q: Array) -> Array:
        return jnp.asarray(self._functions(generator, q), float)

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
