"""What signatures say of arrays: their shapes, in the letters of the papers, written as jaxtyping writes them.

To a type checker `Float[Array, N]` is Array; help() shows it as it is written. N coordinates, n quasi-velocities, m of
them free (the rank), K intervals. ArrayLike is what `jnp.asarray` takes: lists, tuples, arrays of NumPy and of JAX.
"""

import os
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from jax import Array


class Written(str):
    """An annotation that reads as it is written: `Float[ArrayLike, N] | None`."""

    __repr__ = str.__str__

    def __getitem__(self, parts: tuple) -> "Written":  # type: ignore[override]  # not of characters
        return Written(f"{self}[{', '.join(map(_name, parts))}]")

    def __or__(self, other: object) -> "Written":
        return Written(f"{self} | {_name(other)}")

    def __ror__(self, other: object) -> "Written":
        return Written(f"{_name(other)} | {self}")


def _name(part: object) -> str:
    return part.__name__.rpartition(".")[2] if isinstance(part, type) else str(part).replace("collections.abc.", "")


N, n, m, m_or_n, n_less_m, K, nodes = map(Written, ("N", "n", "m", "m or n", "n-m", "K", "K+1"))

if TYPE_CHECKING:
    from typing import Annotated as Float

    from numpy.typing import ArrayLike

    Scalar: TypeAlias = Array | np.ndarray | np.number | float  # a number, or an array of shape ()
    PyTree: TypeAlias = object  # arrays in tuples, dicts and registered classes: any object that JAX can map over
    PathLike: TypeAlias = str | os.PathLike[str]
else:
    Float, ArrayLike, Scalar, PyTree, PathLike = map(Written, ("Float", "ArrayLike", "Scalar", "PyTree", "PathLike"))

Coordinates = Velocities = Float[ArrayLike, N]
Quasivelocities, Momenta = Float[ArrayLike, m_or_n], Float[ArrayLike, m]
