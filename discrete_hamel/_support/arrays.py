"""What signatures say of arrays: their shapes, in the letters of the papers, written as jaxtyping writes them.

To a type checker `Float[Array, N]` is Array; help() shows it as written. ArrayLike: numbers, lists, tuples, arrays.
"""

from types import GenericAlias
from typing import TYPE_CHECKING

import numpy as np
from jax import Array


def _type(name: str) -> type:
    return type(name, (), {"__module__": "builtins"})  # which help() leaves out


# N coordinates; n quasi-velocities, of which m are free and k are not, or either; K intervals and the nodes of a run
N, n, m, k, m_or_n, K, nodes = map(_type, ("N", "n", "m", "n-m", "m or n", "K", "K+1"))
if TYPE_CHECKING:
    from os import PathLike as Path
    from typing import Annotated as Float

    from numpy.typing import ArrayLike

    Scalar = Array | np.ndarray | np.number | float  # a number, or an array of shape ()
    PyTree = object  # arrays in tuples, dicts and registered classes: any object that JAX can map over
    PathLike = str | Path[str]
else:
    Float, ArrayLike, Scalar, PyTree, PathLike = map(_type, ("Float", "ArrayLike", "Scalar", "PyTree", "PathLike"))
    own = {kind: _type(kind.__name__.rpartition(".")[2]) for kind in (Array, np.ndarray)}
    Float.__class_getitem__ = classmethod(lambda cls, parts: GenericAlias(cls, tuple(own.get(p, p) for p in parts)))
Coordinates = Float[ArrayLike, N]
Velocities = Float[ArrayLike, N]
Quasivelocities = Float[ArrayLike, m_or_n]
Momenta = Float[ArrayLike, m]
