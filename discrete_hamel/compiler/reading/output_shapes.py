"""The shapes of what a system's functions return, before anything is computed."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel._support.inputs import explained
from discrete_hamel.compiler.reading.places_beyond import shape_within
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System


def shapes(system: System, q: Array) -> tuple[int, int]:
    """(n, m), after a look at the shapes of all that the system's functions return."""
    psi = _shape("frame(q)", system.frame, q)
    if len(psi.shape) == 2 and len(system.coordinates) not in (0, len(q)):
        hamel.refuse_length(system, q, "q", q)
    if len(psi.shape) != 2 or psi.shape[0] != len(q):
        raise InputError(
            f"frame(q) must be N x n with N = {len(q)}, one row a coordinate and one column a field, "
            f"for q of length {len(q)}; got shape {psi.shape}."
        )
    n, m = psi.shape[1], getattr(system, "rank", None)
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or not 1 <= m <= n:
        raise InputError(f"rank is {m!r}; it counts the free quasi-velocities and must be 1 to n = {n}.")
    m = int(m)
    if (names := system.velocities) and len(names) not in (m, n):
        raise InputError(f"{len(names)} velocities are named ({', '.join(names)}); xi has {m} free ones, {n} in all.")
    if n > len(q) and system.brackets_by_autodiff:
        raise InputError(
            f"frame(q) has {n} fields on {len(q)} coordinates, which cannot be independent, so their brackets do "
            "not follow from the frame. Give structure(q), the structure functions c[k, i, j] (of a Lie algebra, say)."
        )
    xi = jax.ShapeDtypeStruct((n,), q.dtype)
    sizes = f"n = {n}, rank = {m}"
    given = "lagrangian(q, xi)" if system.in_velocities is None else "L(q, qdot)"
    refuse_shape(given, (), sizes, system.lagrangian, q, xi)
    if not system.brackets_by_autodiff:
        refuse_shape("structure(q)", (n, n, n), sizes, system.structure, q)
    refuse_shape("slip(q)", (n - m,), sizes, system.slip, q)
    refuse_shape("force(q, xi)", (n,), sizes, system.force, q, xi)
    return n, m


def nonlinear_shapes(system: System, q: Array) -> None:
    """The same look at a system with velocities psi(q, z)."""
    n = len(q)
    m: Any = getattr(system, "rank", None)
    counts = isinstance(m, int | np.integer) and not isinstance(m, bool) and m >= 1
    if not counts or m > n + (k := sum(jax.eval_shape(system.rows, q, np.zeros(m)).shape)):
        raise InputError(f"m is {m!r}; it counts the parameters z of the velocities and must be 1 to n = {n}.")
    for letter, right, names in (("q", {n}, system.coordinates), ("z", {m, m - k}, system.velocities)):
        if len(names) not in {0} | right:
            raise InputError(f"{letter} has {max(right)} components, and {len(names)} are named: {', '.join(names)}.")
    z, v, sizes = np.zeros(m), np.zeros(n), f"n = {n}, m = {m}"
    refuse_shape("velocity(q, z)", (n,), sizes, system.velocity, q, z)
    refuse_shape("the Lagrangian L(q, qdot)", (), sizes, system.lagrangian, q, v)
    refuse_shape("force(q, qdot)", (n,), sizes, system.force, q, v)


def refuse_shape(name: str, want: tuple[int, ...], sizes: str, function: Callable, *arguments: object) -> None:
    """Refuses a function that returns another shape than it should for these sizes."""
    got = _shape(name, function, *arguments).shape
    if got != want:
        meaning = f"shape {want} for {sizes}" if want else "a scalar, shape ()"
        raise InputError(f"{name} must return {meaning}; got shape {got}.")


def step_density(h: Callable, q: Array, xi: Array) -> None:
    """Refuses a step h(q, xi) that is not one number, or not positive at the start."""
    if (shape := _shape("h(q, xi)", h, q, xi).shape) != ():
        raise InputError(f"h(q, xi) must return one number, the step's size; it returns shape {shape}.")
    if not isinstance(size := h(q, xi), jax.core.Tracer) and not (size > 0 and jnp.isfinite(size)):
        raise InputError(f"h(q, xi) is {float(size):g} at the start; the step's size must be positive and finite.")


def _shape(name: str, function: Callable, *arguments: object) -> jax.ShapeDtypeStruct:
    """Shape and type of what a function of a system returns: one array of real numbers, or a sentence."""
    with explained(name):
        value = shape_within(name, function, *arguments)
    if not hasattr(value, "shape") or not jnp.issubdtype(value.dtype, jnp.floating):
        kind = str(value.dtype) if hasattr(value, "dtype") else type(value).__name__
        raise InputError(f"{name} must return an array of real numbers (floats); it returns {kind}.")
    return value
