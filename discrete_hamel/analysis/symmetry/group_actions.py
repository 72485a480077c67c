"""What a symmetry may be given as, and the generator q -> dq/ds at s = 0 that each stands for."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.reading.output_shapes import refuse_shape
from discrete_hamel.mechanics.system import System

Generator = Callable[[Array], Array]
# What a symmetry is given as: X(q) or g(s, q), a matrix M or a pair (M, v), the name or the index of a coordinate.
Symmetry = Callable[..., Array] | ArrayLike | tuple[ArrayLike, ArrayLike] | str
Symmetries = Mapping[str, Symmetry] | Iterable[str | int] | None  # by name, or cyclic coordinates; None: those declared
GROUP = 1e-9  # relative error within which g(0, q) = q and g(s, g(t, q)) = g(s + t, q)


@dataclass(frozen=True)
class Flow:
    """The generator d/ds g(s, q) at s = 0 of a one-parameter group g(s, q), by automatic differentiation."""

    action: Callable[[Array, Array], Array]

    def __call__(self, q: Array) -> Array:
        return jax.jvp(lambda s: jnp.asarray(self.action(s, q)), (jnp.zeros(()),), (jnp.ones(()),))[1]


@dataclass(frozen=True)
class Affine:
    """The generator M q + v of the affine maps exp(s (M, v)); as tuples, so that equal ones share a compilation."""

    matrix: tuple[tuple[float, ...], ...]
    vector: tuple[float, ...]

    def __call__(self, q: Array) -> Array:
        return jnp.asarray(self.matrix) @ q + jnp.asarray(self.vector)


@dataclass(frozen=True)
class Translation:
    """The generator of the translations of one coordinate."""

    index: int

    def __call__(self, q: Array) -> Array:
        return jnp.zeros_like(q).at[self.index].set(1.0)


def generator(system: System, symmetry: Symmetry, q: Coordinates | None = None) -> Generator:
    """The generator q -> dq/ds that a symmetry stands for; any analysis takes each of these as a symmetry.

    * a function X(q): the generator itself;
    * a function g(s, q): the action of a one-parameter group, g(0, q) = q (asked at q, if q is given);
    * a pair (M, v), or a matrix M: the affine action whose generator is M q + v;
    * a name of a coordinate, or its index: a cyclic coordinate, whose translations are meant.

    >>> from discrete_hamel.analysis import generator
    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> disk = dh.systems.RollingDisk()
    >>> def turn(s, q):
    ...     x, y, c, sn = q[3], q[4], jnp.cos(s), jnp.sin(s)
    ...     return jnp.stack([q[0], q[1] + s, q[2], c * x - sn * y, sn * x + c * y])
    >>> generator(disk, turn)(jnp.array([0.3, 0.0, 0.0, 2.0, 5.0])).tolist()
    [0.0, 1.0, 0.0, -5.0, 2.0]
    >>> generator(disk, "psi")(jnp.zeros(5)).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """
    if isinstance(symmetry, str | int | np.integer):
        return Translation(_index(system, symmetry, q))
    if callable(symmetry):
        return _of_function(symmetry, q)
    found = _affine(symmetry)
    if q is not None and len(found.vector) != np.size(q):
        raise InputError(f"an affine symmetry is of the size of q here, {np.size(q)}; M has {len(found.vector)} rows.")
    return found


def by_name(system: System, symmetries: Symmetries, q: Coordinates | None = None) -> dict[str, Generator]:
    """Generators by name, of a mapping of names to symmetries or of a list of cyclic coordinates.

    >>> import discrete_hamel as dh
    >>> list(by_name(dh.systems.RollingDisk(), ["psi", 3]))
    ['psi', 'x']
    """
    if isinstance(symmetries, Mapping):
        return {name: generator(system, symmetry, q) for name, symmetry in symmetries.items()}
    if callable(symmetries) or isinstance(symmetries, str) or not isinstance(symmetries, Iterable):
        raise InputError(
            "symmetries is a mapping of names to symmetries, {'turn': g}, or a list of cyclic coordinates, "
            f"['x', 'y']; got {symmetries!r}."
        )
    indices = [_index(system, coordinate, q) for coordinate in symmetries]
    names = system.coordinates
    return {names[i] if i < len(names) else f"q[{i}]": Translation(i) for i in indices}


def _index(system: System, coordinate: str | int | np.integer, q: Coordinates | None) -> int:
    names = system.coordinates
    if isinstance(coordinate, int | np.integer):
        count = len(names) if q is None else np.size(q)
        if (count or q is not None) and not -count <= coordinate < count:
            raise InputError(f"{type(system).__name__} has {count} coordinates, counted from 0; got {coordinate}.")
        return int(coordinate)
    if coordinate in names:
        return names.index(coordinate)
    known = ", ".join(names) or "no named coordinates, so give its index"
    raise InputError(f"{type(system).__name__} has no coordinate {coordinate!r}; it has {known}.")


def _of_function(function: Callable, q: Coordinates | None) -> Generator:
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(needed) == 1:
        if q is not None:
            refuse_shape("the symmetry of q", np.shape(q), f"N = {np.size(q)}", function, jnp.asarray(q, float))
        return function
    if len(needed) != 2:
        raise InputError(
            f"a symmetry is a generator X(q) or an action g(s, q); {function!r} takes {len(needed)} arguments."
        )
    if q is not None:
        here = jnp.asarray(q, float)
        refuse_shape("the symmetry of (s, q)", here.shape, f"N = {len(here)}", function, jnp.zeros(()), here)
        _require_group(function, here)
    return Flow(function)


def _require_group(action: Callable, q: Array) -> None:
    """g(0, q) = q and g(s, g(t, q)) = g(s + t, q), asked at one point."""
    s, t = jnp.asarray(0.31), jnp.asarray(-0.87)
    size = 1.0 + float(np.max(np.abs(q)))
    rest = float(np.max(np.abs(action(jnp.zeros(()), q) - q)))
    if not rest <= GROUP * size:
        raise InputError(f"g(s, q) is no action of a group: g(0, q) differs from q by {rest:.1e}.")
    twice = float(np.max(np.abs(action(s, action(t, q)) - action(s + t, q))))
    if not twice <= GROUP * size:
        raise InputError(
            f"g(s, q) is no action of a one-parameter group: g(s, g(t, q)) differs from g(s + t, q) by {twice:.1e}."
        )


def _affine(symmetry: Symmetry) -> Affine:
    parts = (
        symmetry if isinstance(symmetry, tuple | list) and len(symmetry) == 2 and np.ndim(symmetry[0]) == 2 else None
    )
    matrix = np.asarray(symmetry if parts is None else parts[0], float)
    vector = np.zeros(len(matrix)) if parts is None else np.asarray(parts[1], float)
    if matrix.ndim != 2 or matrix.shape != (len(vector), len(vector)):
        raise InputError(
            "an affine symmetry is a square matrix M, or a pair (M, v) with a vector as long; got shapes "
            f"{matrix.shape} and {vector.shape}."
        )
    return Affine(tuple(map(tuple, matrix.tolist())), tuple(vector.tolist()))
