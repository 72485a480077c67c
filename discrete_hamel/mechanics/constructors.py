"""Systems from plain JAX functions, three ways: by quasi-velocities, by velocities, by constraint one-forms.

Time dependence is no special case: t is a coordinate, and t' = 1 a constraint like any other. In `from_velocities`
and `from_quasivelocities` its field is one of u_{m+1}..u_n and its slip 1; in `from_constraints` it is a row of A that
picks t', with b = 1. See also `prescribe`, `timed` and `controlled`, which do this to a system that is there already.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics import frames
from discrete_hamel.mechanics.adapted_frames import Graph, adapt, by_names, by_rows, probes
from discrete_hamel.mechanics.description import NOTHING, DescribedSystem, Description, Words, describe, need_size
from discrete_hamel.mechanics.description import call as _call
from discrete_hamel.mechanics.system import System, Wrapper


def from_quasivelocities(
    l: Callable,  # noqa: E741  # the papers' letter for the Lagrangian in quasi-velocities
    frame: Callable,
    rank: int,
    *,
    structure: Callable | None = None,
    slip: Callable | None = None,
    force: Callable | None = None,
    params: PyTree = None,
    **description: Unpack[Words],
) -> System:
    """A system from l(q, xi) and frame(q), with structure(q), slip(q) and force(q, xi) as in `System`, if given.

    `params`, any pytree, is passed as last argument to each function, so that its values are traced, not baked in.
    Names, units, symmetries, invariants and shapes are given as to all constructors (`description.Words`):

    coordinates=, velocities=, units=, symmetries=, invariants=, shapes=, holonomic=

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> def spring(q, xi, k):
    ...     return 0.5 * (xi @ xi - k * q @ q)
    >>> oscillator = dh.from_quasivelocities(spring, lambda q, k: jnp.eye(2), rank=2, params=4.0)
    >>> dh.simulate(oscillator, q=[1.0, 0.0], xi=[0.0, 1.0], h=0.1, steps=5).q.shape
    (6, 2)
    """
    return FromQuasivelocities(rank, l, frame, structure, slip, force, params, describe(description))


def from_velocities(
    L: Callable,
    frame: Callable,
    rank: int,
    *,
    slip: Callable | None = None,
    force: Callable | None = None,
    params: PyTree = None,
    **description: Unpack[Words],
) -> System:
    """Returns a system from L(q, qdot), frame(q), its rank and slip(q); force(q, qdot) is a covector in coordinates.

    `params`, names, symmetries, invariants and shapes are given as to `from_quasivelocities`.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> point = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(2), 1, coordinates=("x", "y"),
    ...                            invariants={"speed": lambda q, xi: jnp.linalg.norm(xi)})
    >>> sorted(dh.simulate(point, q=[0.0, 0.0], xi=[1.0], h=0.1, steps=5).invariants())
    ['energy', 'speed']
    """
    return FromVelocities(rank, L, frame, slip, force, params, describe(description))


def from_constraints(
    L: Callable,
    A: Callable,
    *,
    b: Callable | None = None,
    force: Callable | None = None,
    params: PyTree = None,
    free: Callable | Iterable[str | int] | None = None,
    **description: Unpack[Words],
) -> System:
    """Returns a system from L(q, qdot) and A(q) qdot = b(q); its frame is built. force(q, qdot) is a covector.

    The step of `DiscreteHamel` depends on the constraint and the coordinates' inertias only (`FollowingHamel`). Fields
    E that span it at a node are for looking: xi = (xi^D, A qdot), qdot = E xi^D where b = 0, and p = E^T L_v. They are
    chosen at the initial point (`adapted_frames`), or by `free`, for the user's own xi^D: names or indices of
    coordinates whose velocities they are, or a function R(q), m x N, with xi^D = R(q) qdot:

        A E = 0,  R E = 1                   refused at the start, with the rows, where [R; A] cannot be solved

    A run goes on past places where E degenerates, `system.frame_margin(q)` = 0: xi and p grow without bound there, q, v
    and energy are as good as elsewhere. A node that lies there to 1e-8 ends the run with FrameDegenerates, as does any
    crossing in schemes that use E between nodes. `system.at(q)` makes the choice by hand, which code that traces q
    (jit, grad, vmap over q) has to do first, unless `free` makes it. Names and so on: see `from_quasivelocities`.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> skate = dh.from_constraints(lambda q, v: 0.5 * v @ v, lambda q: jnp.array([[0, -jnp.sin(q[0]), jnp.cos(q[0])]]))
    >>> dh.simulate(skate, q=[0.1, 0, 0], v=[1.0, jnp.cos(0.1), jnp.sin(0.1)], h=0.1, steps=5).xi.shape
    (6, 3)
    >>> car = dh.from_constraints(lambda q, v: 0.5 * v @ v, lambda q: jnp.array([[jnp.sin(q[2]), -jnp.cos(q[2]), 0]]),
    ...                           coordinates=("x", "y", "heading"), free=("heading", "x"))
    >>> dh.simulate(car, q=[0.0, 0, 0], xi=[0.5, 1.0], h=0.1, steps=5).v[0].tolist()   # heading', x'; y' follows
    [1.0, 0.0, 0.5]
    """
    if isinstance(free, str):
        raise InputTypeError(f"free is a tuple of names or indices, or a function of q; got {free!r}.")
    free = free if free is None or callable(free) else tuple(free)
    return FromConstraints(L, A, b, force, params, describe(description), free)


def unwrap(system: System) -> "FromConstraints | None":
    """The system from constraints that this one is, or is with forces put on; None for any other."""
    while isinstance(system, Wrapper) and system.same_motion:
        system = system._inner
    return system if isinstance(system, FromConstraints) else None


class FromQuasivelocities(DescribedSystem):
    """See `from_quasivelocities`."""

    rank: int  # type: ignore[misc]
    l_of: Callable
    frame_of: Callable
    structure_of: Callable | None = static(default=None)
    slip_of: Callable | None = static(default=None)
    force_of: Callable | None = static(default=None)
    params: PyTree = None
    description: Description = static(default=NOTHING)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return _call(self.l_of, self.params, q, xi)

    def frame(self, q: Array) -> Array:
        return jnp.asarray(_call(self.frame_of, self.params, q))

    def structure(self, q: Array) -> Array:
        if self.structure_of is None:
            return frames.structure_functions(self.frame, q)
        return jnp.asarray(_call(self.structure_of, self.params, q))

    def slip(self, q: Array) -> Array:
        return System.slip(self, q) if self.slip_of is None else jnp.asarray(_call(self.slip_of, self.params, q))

    def force(self, q: Array, xi: Array) -> Array:
        if self.force_of is None:
            return jnp.zeros_like(xi)
        return need_size(_call(self.force_of, self.params, q, xi), xi, "force(q, xi)", "quasi-velocity")

    @property
    def brackets_by_autodiff(self) -> bool:
        return self.structure_of is None


class _GivenInVelocities(DescribedSystem):
    """What systems from L(q, v) share, whose fields are `L_of`, `force_of` and `params`."""

    def in_velocities(self, q: Array, v: Array) -> Array:
        """L(q, v)."""
        return _call(self.L_of, self.params, q, v)  # type: ignore[attr-defined]

    def lagrangian(self, q: Array, xi: Array) -> Array:
        by = type(self).in_velocities or _GivenInVelocities.in_velocities  # type: ignore[truthy-function]
        return by(self, q, self.frame(q) @ xi)

    def force_in_velocities(self, q: Array, v: Array) -> Array:
        """f(q, v), a covector in coordinates."""
        if self.force_of is None:  # type: ignore[attr-defined]
            return jnp.zeros_like(v)
        force = _call(self.force_of, self.params, q, v)  # type: ignore[attr-defined]
        return need_size(force, v, "force(q, qdot)", "coordinate")

    def force(self, q: Array, xi: Array) -> Array:
        """f_j = <f, u_j>."""
        if self.force_of is None:  # type: ignore[attr-defined]
            return jnp.zeros_like(xi)
        psi = self.frame(q)
        return psi.T @ self.force_in_velocities(q, psi @ xi)


class FromVelocities(_GivenInVelocities):
    """See `from_velocities`."""

    rank: int  # type: ignore[misc]
    L_of: Callable
    frame_of: Callable
    slip_of: Callable | None = static(default=None)
    force_of: Callable | None = static(default=None)
    params: PyTree = None
    description: Description = static(default=NOTHING)

    frame, slip = FromQuasivelocities.frame, FromQuasivelocities.slip  # of the same fields


class FromConstraints(_GivenInVelocities):
    """See `from_constraints`; `choice` is the construction of its frame, made by `at`."""

    L_of: Callable  # L(q, qdot)
    A_of: Callable  # A(q), one row a constraint
    b_of: Callable | None = static(default=None)  # b(q), what A(q) qdot equals
    force_of: Callable | None = static(default=None)  # force(q, qdot), a covector
    params: Any = None
    description: Description = static(default=NOTHING)
    free: Any = static(default=None)
    choice: Any = None  # how the frame is made of A, found at a point
    weights: Any = None  # G, the inertias of the coordinates there

    held_rows: ClassVar[tuple[int, ...]] = ()  # rows of A that are the rates of `positions`, kept at nodes

    @property
    def rank(self) -> int:
        if self.choice is None:
            raise InputError("the rank of a system from constraints is known once it is at a point: system.at(q).rank")
        return len(self.choice.free)

    def one_forms(self, q: Array) -> Array:
        """A(q), k x N."""
        return jnp.asarray(_call(self.A_of, self.params, q))

    def positions(self, q: Array) -> Array:  # noqa: ARG002
        """g(q) whose independent rates are `held_rows` of A; none here: all rows are about velocities."""
        return jnp.zeros(0)

    def row_name(self, row: int) -> tuple[int, str]:
        """A row of A as the user knows it: its number, and what it is of."""
        return row, "A(q) v"

    def _free_rows(self, q: Array) -> Array:
        return jnp.asarray(_call(self.free, self.params, q), float)

    def _rows(self, q: Array) -> Array:
        """What the construction of the frame is given: A(q), or [R(q); A(q)]."""
        rows = self.one_forms(q)
        return jnp.concatenate([self._free_rows(q), rows]) if callable(self.free) else rows

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names given; without any, those of the coordinates whose velocities xi^D are."""
        named, choice = self.description.coordinates, self.choice
        if self.description.velocities or not named or not isinstance(choice, Graph):
            return self.description.velocities
        return tuple(f"{named[i]}'" for i in choice.free)

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        if self.choice is not None:
            return self
        q = jnp.asarray(q, float)
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((self, q))):
            if self.free is None:
                raise InputError(
                    "the frame of a system from constraints is chosen at a point, by numbers, and this q or a "
                    "parameter is traced by jax (jit, grad or vmap). Say which velocities are free, free=..., so that "
                    "there is no choice; or choose first, outside: system = system.at(q0), and inside, "
                    "system.replace(params=...) has other parameters."
                )
            k = jax.eval_shape(self.one_forms, q).shape[0]
            choice = by_names(self.free, k, len(q), self.description.coordinates)
            return self.replace(choice=choice, weights=_weights(self, q))
        forms = np.asarray(by(_one_forms)(self, probes(np.asarray(q))))
        shape = forms.shape[1:]
        if len(shape) != 2 or shape[1] != len(q):
            raise InputError(f"A(q) must be k x {len(q)}, one row a constraint, for q of length {len(q)}; got {shape}")
        b = np.zeros(shape[0]) if self.b_of is None else np.asarray(by(type(self).slip)(self, q))
        if b.shape != shape[:1]:
            raise InputError(f"b(q) must have shape ({shape[0]},), one number a row of A(q); got {b.shape}.")
        if self.free is None:
            choice = adapt(forms, b)  # type: ignore[assignment]
        else:
            asked = np.asarray(self._free_rows(q)) if callable(self.free) else self.free
            choice = by_rows(forms, b, asked, self.description.coordinates)
        return self.replace(choice=choice, weights=jnp.asarray(by(_weights)(self, q)))

    def fields(self, q: Array) -> Array:
        """u_1..u_m, which span D: the frame without its complement."""
        return self.at(q).choice.fields(self._rows(q))  # type: ignore[attr-defined]

    def components(self, q: Array, v: Array) -> Array:
        """xi^D of a velocity with A v = b, or of a matrix of such columns with A v = 0 if b is none."""
        u = self.fields(q)
        weighed = u.T * self.weights[None]
        return jnp.linalg.solve(weighed @ u, weighed @ v)

    def frame(self, q: Array) -> Array:
        return self.at(q).choice.frame(self._rows(q))  # type: ignore[attr-defined]

    def slip(self, q: Array) -> Array:
        if self.b_of is None:
            return jnp.zeros(len(self.one_forms(q)))
        return jnp.asarray(_call(self.b_of, self.params, q))

    def frame_margin(self, q: Array) -> Array:
        return self.choice.margin(self._rows(q))


def _one_forms(system: FromConstraints, q: Array) -> Array:
    return jax.vmap(system.one_forms)(q)


def _inertias(system: FromConstraints, q: Array) -> Array:
    """d2L/dv_i dv_i at rest: what a unit of each coordinate weighs."""

    def along(line: Array) -> Array:
        def slope(v: Array) -> Array:
            return jax.jvp(lambda v: system.in_velocities(q, v), (v,), (line,))[1]

        return jax.jvp(slope, (jnp.zeros_like(q),), (line,))[1]

    return jax.vmap(along)(jnp.eye(len(q)))


def _weights(system: FromConstraints, q: Array) -> Array:
    """G: the inertias, in which units cancel; for a coordinate that has none, the least of the others."""
    inertias = jax.lax.stop_gradient(_inertias(system, q))
    good = jnp.isfinite(inertias) & (inertias > 0)
    least = jnp.min(jnp.where(good, inertias, jnp.inf))
    return jnp.where(good, inertias, jnp.where(jnp.isfinite(least), least, 1.0))
