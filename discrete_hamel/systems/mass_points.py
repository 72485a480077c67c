"""Systems of mass points, from where they are: the principle of d'Alembert in coordinates."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.constructors import from_constraints, from_velocities
from discrete_hamel.mechanics.description import Words
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems.implicit_constraints import from_nonlinear_constraints


def from_points(
    masses: ArrayLike,
    positions: Callable,
    *,
    potential: Callable | None = None,
    force: Callable | None = None,
    A: Callable | None = None,
    C: Callable | None = None,
    free: Callable | Iterable[str | int] | None = None,
    params: PyTree = None,
    **description: Unpack[Words],
) -> System:
    """k mass points at positions(q), k x d, which obey sum_i <m_i r_i'' - f_i, delta r_i> = 0.   [BE] (1), (2)

        L(q, qdot) = sum_i m_i |r_i'|^2 / 2 - V(q),  r' = D r(q)[qdot],  force on q:  Dr(q)^T f(q, qdot)

    `potential(q)` is V, `force(q, qdot)` gives f, k x d. Constrained are velocities by A(q) qdot = 0 or C(q, qdot) = 0;
    without either `coordinates`, their names, say how many there are. `masses` and `params`, the last argument of each
    function if given, are parameters: new values do not recompile. `free` and the rest are as to `from_constraints`.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> def bob(q):
    ...     return jnp.array([[jnp.sin(q[0]), -jnp.cos(q[0])]])
    >>> pendulum = dh.from_points([1.5], bob, potential=lambda q: -1.5 * 9.8 * jnp.cos(q[0]), coordinates=("angle",))
    >>> traj = dh.simulate(pendulum, q=[0.3], v=[0.0], h=0.01, steps=100)
    >>> bool(abs(traj.energy - traj.energy[0]).max() < 1e-4)
    True
    """
    if A is not None and C is not None:
        raise InputError("the velocities are constrained by A(q) qdot = 0 or by C(q, qdot) = 0; put all rows into C.")
    if A is None and free is not None:
        raise InputError("free says which velocities are xi where A constrains them; without A all of them are free.")
    held: dict[str, Any] = {"masses": jnp.asarray(masses, float), "params": params}
    if held["masses"].ndim != 1:
        raise InputError(f"masses are one number a point; got shape {held['masses'].shape}.")
    own = params is not None
    where = _Own(positions, own)
    given: Any = {name: _with_own(value, own) for name, value in description.items()}
    L = _Lagrangian(where, None if potential is None else _Own(potential, own))
    how: Any = {"force": None if force is None else _PulledBack(where, _Own(force, own)), "params": held, **given}
    if A is not None:
        return from_constraints(L, _Own(A, own), free=free, **how)
    if C is not None:
        return from_nonlinear_constraints(L, _Own(C, own), **how)
    if not description.get("coordinates"):
        raise InputError("without a constraint name the coordinates, coordinates=('x', 'y'): so many there are.")
    n = len(description["coordinates"])
    return from_velocities(L, _Identity(n), n, **how)


# Functions of (..., held), equal where they are made of equal ones: what was compiled for one serves the other.


@dataclass(frozen=True)
class _Own:
    """A user's function, which knows of its own params only."""

    function: Callable
    own: bool

    def __call__(self, *arguments: Any) -> Any:
        *rest, held = arguments
        return self.function(*rest, held["params"]) if self.own else self.function(*rest)


@dataclass(frozen=True)
class _Identity:
    """The coordinates' own frame."""

    n: int

    def __call__(self, q: Array, held: Any) -> Array:
        return jnp.eye(self.n)


@dataclass(frozen=True)
class _Lagrangian:
    """L(q, qdot)."""

    positions: _Own
    potential: _Own | None

    def __call__(self, q: Array, v: Array, held: Any) -> Array:
        masses = held["masses"]
        r, moved = jax.jvp(lambda q: jnp.asarray(self.positions(q, held), float), (q,), (v,))
        if r.ndim != 2 or len(r) != len(masses):
            raise InputError(
                f"positions(q) must be k x d, a row for each of {len(masses)} masses; got shape {r.shape}."
            )
        kinetic = 0.5 * jnp.sum(masses * jnp.sum(moved**2, axis=1))
        return kinetic if self.potential is None else kinetic - self.potential(q, held)


@dataclass(frozen=True)
class _PulledBack:
    """Dr^T f, a covector in coordinates."""

    positions: _Own
    force: _Own

    def __call__(self, q: Array, v: Array, held: Any) -> Array:
        r, back = jax.vjp(lambda q: jnp.asarray(self.positions(q, held), float), q)
        f = jnp.asarray(self.force(q, v, held), float)
        if f.shape != r.shape:
            raise InputError(f"force(q, qdot) must be {r.shape[0]} x {r.shape[1]}, a row a point; got shape {f.shape}.")
        return back(f)[0]


def _with_own(value: object, own: bool) -> object:
    """A word of the description, with its functions taking what the system holds."""
    if isinstance(value, Invariant):
        return Invariant(_Own(value.function, own), value.kept, value.assumes)
    if callable(value):
        return _Own(value, own)
    return {name: _with_own(one, own) for name, one in value.items()} if isinstance(value, dict) else value
