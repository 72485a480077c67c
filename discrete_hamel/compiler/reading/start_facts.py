"""What has to hold where a run starts: numbers that are finite, fields that are independent, inertia in all motions."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.inputs import combination, name_of, short
from discrete_hamel.mechanics.singular_states import lost_direction, without_inertia
from discrete_hamel.mechanics.system import System

# Fields of many points: no dense matrix is formed, so frame and inertia are not looked at, and fields dependent at q,
# or a motion without inertia, are found by the first step only, whose equations are singular then.
DENSE = 200  # coordinates up to which dense matrices are formed for the sake of a better message
FEW = 4  # columns up to which a determinant tells: that of the inertia of five links in a chain is 1e-7


def refuse_not_finite(found: dict[str, np.ndarray], **place: ArrayLike) -> None:
    """A sentence with the first that is not finite: of frame or velocity, which tell most, then of single numbers."""
    numbers = np.concatenate([*found.values()], axis=None)
    if np.isfinite(numbers).all():
        return
    at = (np.array2string(np.asarray(a), 10**6, threshold=DENSE, separator=", ") for a in place.values())
    where = ", ".join(f"{name} = {text}" for name, text in zip(place, at, strict=True))
    for name, value in sorted(found.items(), key=lambda x: (x[0] not in ("frame(q)", "velocity(q, z)"), x[1].ndim)):
        if not np.all(np.isfinite(value)):
            which = f"component {np.flatnonzero(~np.isfinite(value))[0]} of " if value.size > DENSE else ""
            raise InputError(
                f"{which}{name} is not finite at the initial data, {where}: {short(value.tolist())}. A pole of the "
                "coordinates, a division by zero or the root of a negative number are the usual causes."
            )


def gramian(columns: Array, form: bool = False) -> Array:
    """Gram's determinant det(u^T u) of the columns scaled to length 1: at most 1, where they are orthogonal.

    NaN where one is zero; 0 of more than a few, or than they have components, of which it would tell nothing. Of a
    quadratic form's matrix in units in which its diagonal is 1.
    """
    if columns.shape[1] > min(FEW, columns.shape[0]):
        return jnp.zeros(())
    if form:
        columns = columns / jnp.sqrt(jnp.abs(_diagonal(columns)))[:, None]
    unit = columns / jnp.sqrt(jnp.sum(columns * columns, axis=0, keepdims=True))
    packed, _, _ = jax.lax.linalg.lu(unit.T @ unit)
    return jnp.abs(jnp.prod(_diagonal(packed)))


def _diagonal(matrix: Array) -> Array:
    """That of a square matrix: for `jnp.diagonal`, which asks for the platform, XLA compiles."""
    return jnp.ravel(matrix)[:: len(matrix) + 1]


def refuse_dependent(system: System, psi: np.ndarray, q: Array) -> None:
    """Columns of the frame independent: all of them, or where the bracket is given those of D."""
    columns = psi if system.brackets_by_autodiff else psi[:, : system.rank]
    if columns.shape[1] > columns.shape[0] or not np.isfinite(columns).all():
        return  # a reduced system: N < m
    mix = lost_direction(columns)
    # Advected coordinates lose rank at points (a vertical rod): there only a frame that is zero carries no motion.
    if mix is None or not system.brackets_by_autodiff and np.any(columns):
        return
    fields = combination(mix, lambda i: f"u_{i + 1}")
    raise InputError(
        f"frame(q) is singular at q = {np.asarray(q).tolist()}: {fields} = 0, so its rank is below {len(mix)}. "
        "Choose fields that are independent here, other coordinates if this is a pole, or give structure(q) if the "
        "fields are dependent everywhere (advected coordinates)."
    )


def refuse_degenerate(system: System, mass: np.ndarray, psi: np.ndarray) -> None:
    """M = d mu / d xi on D invertible, else the motion that carries no inertia; in terms of qdot if L is given so."""
    lost = without_inertia(mass)
    if lost is None:
        return
    words, slope = combination(lost, lambda i: name_of(system.velocities, "xi", i)), "d2l/dxi2"
    if system.in_velocities is not None:
        along = psi[:, : len(lost)] @ lost
        words, slope = combination(along, lambda i: f"{name_of(system.coordinates, 'q', i)}'"), "d2L/dqdot2"
    raise InputError(
        f"the Lagrangian is degenerate on the constraint: motion along {words} carries no inertia ({slope} is singular "
        "there), so its acceleration is not determined. Add the missing mass or inertia, or forbid that motion."
    )
