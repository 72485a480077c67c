"""What an ensemble returns: an xarray.Dataset over members, and steps or what a reduction made of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import jax
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.ensemble.failure_codes import MEANINGS, Why, sentences
from discrete_hamel.runs.storage.column import Column
from discrete_hamel.runs.storage.optional import xarray_module

if TYPE_CHECKING:
    from xarray import Dataset


class EnsembleLayout(NamedTuple):
    """Which arrays there are, along members, and the coordinates beside them."""

    columns: dict[str, Column]
    coordinates: dict[str, tuple[str, np.ndarray]]  # name -> dimension, values


def _names(given: tuple[str, ...], letter: str, count: int) -> np.ndarray:
    return np.array([given[i] if i < len(given) else f"{letter}{i}" for i in range(count)], str)


def contents(
    system: System,
    widths: tuple[int, int, int],
    steps: np.ndarray,
    h: Array,
    reduced: dict[str, jax.ShapeDtypeStruct] | None,
    size: int,
) -> EnsembleLayout:
    """The arrays of an ensemble of systems like this one: nodes at `steps`, or else `reduced`, name -> a sample.

    Their floats are those of the run, that is of h.
    """
    floats = np.dtype(h.dtype).newbyteorder("<").str
    n_q, n_p, n_xi = widths
    velocities = _names(system.velocities, "xi", n_xi)
    shapes: dict[str, tuple[tuple[str, ...], np.dtype | str, tuple[int, ...]]] = {}
    coordinates: dict[str, tuple[str, np.ndarray]] = {}
    if reduced is None:
        for name, dimension, width in (("q", "coordinate", n_q), ("p", "momentum", n_p), ("xi", "velocity", n_xi)):
            shapes[name] = (("step", dimension), floats, (len(steps), width))
        coordinates |= {
            "step": ("step", steps),
            "time": ("step", (steps * np.asarray(h)).astype(h.dtype)),
            "coordinate": ("coordinate", _names(system.coordinates, "q", n_q)),
            "velocity": ("velocity", velocities),
            "momentum": ("momentum", velocities[:n_p]),
        }
    else:
        for name, leaf in reduced.items():
            axes = tuple(f"{name} {axis + 1}" for axis in range(leaf.ndim))
            shapes[name] = (axes, np.dtype(leaf.dtype).newbyteorder("<").str, leaf.shape)
    shapes |= {
        "finished": ((), "|b1", ()),
        "failure": ((), "<i8", ()),
        "residual": ((), floats, ()),
        "steps_done": ((), "<i8", ()),
        "iterations": ((), "<i8", ()),
        "plain_steps": ((), "<i8", ()),
    }
    columns = {
        name: Column(name, ("member", *dimensions), np.dtype(kind), size, tuple(shape))
        for name, (dimensions, kind, shape) in shapes.items()
    }
    return EnsembleLayout(columns, coordinates)


def dataset(
    contents: EnsembleLayout, arrays: Mapping[str, Array | np.ndarray], attributes: Mapping[str, object]
) -> "Dataset":
    """The arrays of all members as an xarray.Dataset."""
    xarray = xarray_module()
    variables = {
        name: (column.dimensions, _in_own_floats(arrays[name], column.dtype))
        for name, column in contents.columns.items()
    }
    coordinates = {"member": np.arange(len(arrays["failure"]))} | contents.coordinates
    return with_reasons(xarray.Dataset(variables, coordinates)).assign_attrs(attributes)


def _in_own_floats(array: Array | np.ndarray, dtype: np.dtype) -> Array | np.ndarray:
    """What was gathered on this host in float64, as the run's own floats; arrays on devices have them already."""
    return array.astype(dtype, copy=False) if isinstance(array, np.ndarray) else array


def with_reasons(result: "Dataset") -> "Dataset":
    """The dataset with the reasons in words, where the numbers of all members are on this host."""
    result["failure"].attrs |= {"flag_values": [int(w) for w in Why], "flag_meanings": MEANINGS}
    if isinstance(result["failure"].variable.data, jax.Array):
        return result
    why, done, residual = (result[name].values for name in ("failure", "steps_done", "residual"))
    return result.assign(reason=(("member",), sentences(why, done, residual)))
