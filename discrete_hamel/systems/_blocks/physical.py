"""What parameters must satisfy to describe a real body: each refusal names the parameter, its value and the reason."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import jax
import jax.numpy as jnp
import numpy as np

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError

ROUNDOFF = 1e-9  # relative slack of inequalities that real bodies may just meet (a flat plate, a thin rod)


_demands: ContextVar[list | None] = ContextVar("demands", default=None)


@contextmanager
def demanded() -> Iterator[list]:
    """What is demanded of traced values within, as traced truths: these cannot be refused, only marked."""
    demands: list = []
    token = _demands.set(demands)
    try:
        yield demands
    finally:
        _demands.reset(token)


def _demand(value: ArrayLike, holds: Callable, sentence: str) -> None:
    demands = _demands.get()
    if demands is not None and any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(value)):
        demands.append(jnp.all(holds(jnp.asarray(value))))
        return
    value = np.asarray(value)
    if not holds(value).all():
        if demands is None:
            raise InputError(f"{sentence}; it is {_show(value)}.")
        demands.append(jnp.asarray(False))


def positive(system: object, *names: str) -> None:
    """Every entry of each named parameter is above zero: masses, lengths, moments of inertia."""
    for name in names:
        _demand(getattr(system, name), lambda x: x > 0, f"{_of(system, name)} must be positive")


def not_negative(system: object, *names: str) -> None:
    """Every entry of each named parameter is zero or above: spring constants, moments of thin things."""
    for name in names:
        _demand(getattr(system, name), lambda x: x >= 0, f"{_of(system, name)} must not be negative")


def shape(system: object, name: str, *shapes: tuple[int, ...]) -> None:
    """The named array has one of these shapes."""
    got = np.shape(getattr(system, name))
    if got not in shapes:
        wanted = " or ".join(str(s) for s in shapes)
        raise InputError(f"{_of(system, name)} must have shape {wanted}; it has shape {got}.")


def metric(system: object, name: str) -> None:
    """The named matrix, or vector for a diagonal one, is symmetric and positive definite."""
    _moments(system, name)


def inertia_tensor(system: object, name: str) -> None:
    """Three principal moments or a full 3 x 3 matrix, of a body whose mass is nowhere negative.

    Such a body has positive moments, none of which exceeds the sum of the other two.
    """
    shape(system, name, (3,), (3, 3))
    _triangle(_of(system, name), _moments(system, name))


def principal_moments(system: object, *names: str) -> None:
    """Three named parameters (repeat one for an axisymmetric body) are the principal moments of a real body."""
    positive(system, *names)
    _triangle(_of(system, " and ".join(dict.fromkeys(names))), np.array([float(getattr(system, n)) for n in names]))


def _triangle(of: str, moments: np.ndarray) -> None:
    a, b, c = np.sort(moments)
    if c > (a + b) * (1 + ROUNDOFF):
        raise InputError(
            f"{of} breaks the triangle inequality: the largest principal moment, {c:g}, exceeds the sum of the other "
            f"two, {a:g} + {b:g}, which no distribution of mass allows."
        )


def independent_rows(system: object, name: str) -> None:
    """The named covector, or the rows of the named matrix, are independent."""
    value = np.atleast_2d(np.asarray(getattr(system, name), float))
    if np.linalg.matrix_rank(value) < len(value):
        what = "zero" if len(value) == 1 else f"{_show(value)}, whose rows are dependent"
        raise InputError(f"{_of(system, name)} must give independent constraints; it is {what}.")


def _moments(system: object, name: str) -> np.ndarray:
    value = np.asarray(getattr(system, name), float)
    if value.ndim == 1:
        value = np.diag(value)
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        raise InputError(f"{_of(system, name)} must be a square matrix or its diagonal; it has shape {value.shape}.")
    if np.max(np.abs(value - value.T), initial=0.0) > ROUNDOFF * np.max(np.abs(value), initial=0.0):
        raise InputError(f"{_of(system, name)} must be symmetric; it is {_show(value)}.")
    moments = np.linalg.eigvalsh(value)
    if not np.all(moments > 0):
        raise InputError(
            f"{_of(system, name)} must be positive definite: kinetic energy is positive; its principal values are "
            f"{_show(moments)}."
        )
    return moments


def _of(system: object, name: str) -> str:
    return f"the parameter {name} of {type(system).__name__}"


def _show(value: np.ndarray) -> float | list:
    return np.round(value, 6).tolist()
