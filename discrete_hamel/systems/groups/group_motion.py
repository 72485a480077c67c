"""Motions on a matrix group and on its homogeneous spaces, left or right, with or without constraints."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks.lie_algebras import (
    EulerPoincare,
    EulerPoincareSuslov,
    adapted_basis,
    adapted_structure,
)
from discrete_hamel.systems.groups.matrix_groups import Group

SAME = 1e-10  # difference of structure constants that counts as none
Motion = ArrayLike | Callable | EulerPoincare | EulerPoincareSuslov  # an inertia, l(g, Omega), or a system


def system(
    group: Group,
    motion: Motion,
    *,
    constraint: ArrayLike | None = None,
    side: str = "left",
    params: PyTree = None,
) -> "OnGroup":
    """Returns a system whose configuration is an element of the group, with its place: q are the entries of g that
    move.

        g' = g Omega (left),  g' = Omega g (right),  Omega = T xi,  <a, Omega> = 0          [QS] (2.15), (2.23), (5.4)

    `motion` is an inertia (a matrix or its diagonal), for l = Omega . I Omega / 2; or l(g, Omega), g a matrix, with
    `params` as last argument where given; or an EulerPoincare or EulerPoincareSuslov, which then has an attitude.
    `constraint` is a covector a, or several as rows: T is `adapted_basis(a)`, else 1. `side` is
    "left" or "right".

    >>> import discrete_hamel as dh
    >>> body = dh.groups.system(dh.groups.SO(3), [1.0, 2.0, 3.0])
    >>> run = dh.simulate(body, body.group.identity, [0.1, 1.0, 0.1], h=0.05, steps=1000)
    >>> bool(abs(run.energy / run.energy[0] - 1).max() < 1e-13)
    True
    """
    return _make(group, motion, constraint, side, params, 0)


def advected(
    group: Group,
    motion: Callable,
    *,
    vectors: int = 1,
    constraint: ArrayLike | None = None,
    side: str = "left",
    params: PyTree = None,
) -> "OnGroup":
    """Returns a system on a homogeneous space: q is gamma = g^-1 a (left) or g a (right), a vector a fixed where g is
    not.

        gamma' = -Omega gamma (left),  gamma' = Omega gamma (right)                         [HE] 6.1

    `motion` is l(gamma, Omega), Omega in the algebra of the group, with `params` last where given; `side` is "left" or
    "right"; with several vectors gamma is n x vectors. Which orbit it is, a sphere say, the start decides. The bracket
    is that of the algebra: the fields are dependent as vectors.

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> l = lambda gamma, omega: 0.5 * omega @ jnp.diag(jnp.array([1.0, 1.0, 0.0])) @ omega - 9.8 * gamma[2]
    >>> pendulum = dh.groups.advected(dh.groups.SO(3), l, constraint=[0.0, 0.0, 1.0])
    >>> run = dh.simulate(pendulum, [0.6, 0.0, -0.8], [0.3, 0.2], h=0.02, steps=1000)
    >>> bool(abs((run.q**2).sum(axis=1) - 1).max() < 1e-13)
    True
    """
    if not callable(motion) or vectors < 1:
        raise InputError("a motion on a homogeneous space needs l(gamma, Omega) and vectors >= 1.")
    return _make(group, motion, constraint, side, params, vectors)


def _make(
    group: Group,
    motion: Motion,
    constraint: ArrayLike | None,
    side: str,
    params: PyTree,
    vectors: int,
) -> "OnGroup":
    if side not in ("left", "right"):
        raise InputError(f'side is {side!r}; it is "left", g\' = g Omega, or "right", g\' = Omega g.')
    law, reduced = (motion, None) if callable(motion) else (None, motion)
    if isinstance(motion, EulerPoincareSuslov):
        if constraint is not None:
            raise InputError("an EulerPoincareSuslov has its own constraint: give none.")
        constraint = motion.constraint
    elif reduced is not None and not isinstance(motion, EulerPoincare):
        reduced = EulerPoincare(group.algebra, jnp.asarray(motion, float))
    if reduced is not None and not _same(reduced.algebra, group.algebra):  # type: ignore[union-attr]
        raise InputError(f"the algebra of the {type(reduced).__name__} is not that of {group} in its basis.")
    rows = None if constraint is None else jnp.atleast_2d(jnp.asarray(constraint, float))
    if rows is not None and rows.shape[1] != group.dimension:
        raise InputError(f"a covector on the algebra of {group} has {group.dimension} components, not {rows.shape[1]}.")
    return OnGroup(group, side, vectors, law, reduced, rows, params)  # type: ignore[arg-type]


def _same(one: ArrayLike, other: np.ndarray) -> bool:
    return np.shape(one) == other.shape and bool(np.max(np.abs(np.asarray(one) - other)) < SAME)


class OnGroup(System):
    """See `system` and `advected`."""

    group: Group = static()  # that moves
    side: str  # "left", with Omega in the axes of the body, or "right", in those of space
    vectors: int  # of a homogeneous space; 0: the group itself
    law: Callable | None = static()  # l(g, Omega)
    reduced: EulerPoincare | EulerPoincareSuslov | None  # or the kinetic energy of this, which depends on Omega alone
    constraint: Array | None  # rows a with a . Omega = 0
    params: PyTree

    @property
    def rank(self) -> int:
        return self.group.dimension - (0 if self.constraint is None else self.constraint.shape[0])

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        if not self.vectors:
            return tuple(f"g{a + 1}{b + 1}" for a, b in zip(*self.group.places, strict=True))
        n = self.group.basis.shape[1]
        if self.vectors == 1:
            return tuple(f"gamma{a + 1}" for a in range(n))
        return tuple(f"gamma{a + 1}{b + 1}" for a in range(n) for b in range(self.vectors))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        free = tuple(f"xi{i + 1}" for i in range(self.rank))
        return free + tuple(f"<a{i + 1}, Omega>" for i in range(self.group.dimension - self.rank))

    def omega(self, xi: Array) -> Array:
        """Omega = T xi, all components; of the first m only: on the constraint."""
        return xi if self.constraint is None else adapted_basis(self.constraint)[:, : len(xi)] @ xi

    def element(self, q: Array) -> Array:
        """g, or gamma: a matrix, or a vector where there is one."""
        if not self.vectors:
            return self.group.matrix(q)
        return q if self.vectors == 1 else q.reshape(-1, self.vectors)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        if self.reduced is None:
            return call(self.law, self.params, self.element(q), self.omega(xi))  # type: ignore[arg-type]
        return EulerPoincare.lagrangian(self.reduced, q, self.omega(xi))  # type: ignore[arg-type]  # also of a Suslov problem

    def frame(self, q: Array) -> Array:
        g, basis = self.element(q), jnp.asarray(self.group.basis)
        if self.vectors:
            moves = jnp.einsum("iab,b...->ia...", basis if self.side == "right" else -basis, g)
            fields = moves.reshape(len(basis), -1).T
        else:
            order = "ab,ibc->aci" if self.side == "left" else "iab,bc->aci"
            fields = jnp.einsum(order, *((g, basis) if self.side == "left" else (basis, g)))[self.group.places]
        return fields if self.constraint is None else fields @ adapted_basis(self.constraint)

    def structure(self, q: Array) -> Array:
        """Of left-invariant fields the algebra's, of right-invariant ones its opposite."""
        c = self.group.algebra
        c = jnp.asarray(c) if self.constraint is None else adapted_structure(c, self.constraint)  # type: ignore[assignment]
        return c if self.side == "left" else -c  # type: ignore[return-value]

    def holonomic(self, q: Array) -> Array:
        if self.vectors or self.group.relations is None:
            return jnp.zeros(0)
        return self.group.relations(self.element(q))

    @property
    def redundant(self) -> bool:
        return not self.vectors and self.group.relations is not None

    def missed_by(self, increment: Callable, q0: Array, q1: Array, xi: Array, h: Array) -> Array:
        """By how much q1 misses q0 moved by the retraction 1 + increment(h Omega); see `retractions.Retraction`."""
        x = h * self.group.hat(self.omega(xi))
        tau = increment(x)
        if jnp.shape(tau) != x.shape:
            raise InputError(f"the retraction's increment is of shape {jnp.shape(tau)}; X is {x.shape}.")
        g0, g1 = self.element(q0), self.element(q1)
        if self.vectors:
            off = g1 - g0 + (tau @ g1 if self.side == "left" else -(tau @ g0))
            return off.reshape(-1)
        return self.group.entries(g1 - g0 - (g0 @ tau if self.side == "left" else tau @ g0))

    def momentum_map(self, q: Array, xi: Array) -> Array:
        """<mu, Ad> on each E_i: constant where l does not depend on g and nothing is constrained.

        Spatial, <mu, Ad_{g^-1} E_i>, for side "left"; that in the body, <mu, Ad_g E_i>, for side "right".
        """
        moment = jax.grad(self.lagrangian, 1)(q, xi)
        if self.constraint is not None:
            moment = jnp.linalg.solve(adapted_basis(self.constraint).T, moment)
        g = self.element(q)
        if self.side == "right":
            return self.group.adjoint(g).T @ moment
        return jnp.linalg.solve(self.group.adjoint(g).T, moment)

    def energy(self, q: Array, xi: Array) -> Array:
        """<mu, xi> - l."""
        value, mu = jax.value_and_grad(self.lagrangian, 1)(q, xi)
        return mu @ xi - value

    def invariants(self) -> dict[str, Invariant]:
        """Energy, exact by the tau-rule where l is quadratic in Omega alone; and then the momentum where it is free."""
        found = {"energy": Invariant(self.energy, "continuous" if self.reduced is None else "exact")}
        if self.reduced is not None and self.constraint is None:

            def along(i: int) -> Invariant:
                return Invariant(lambda q, xi: self.momentum_map(q, xi)[i], "continuous")

            found |= {f"momentum along e{i + 1}": along(i) for i in range(self.group.dimension)}
        return found

    def symmetries(self) -> dict[str, Callable]:
        """Translations of the group on the other side, where l depends on Omega alone."""
        if self.reduced is None:
            return {}

        def along(e: np.ndarray) -> Callable:
            order = (lambda g: e @ g) if self.side == "left" else (lambda g: g @ e)
            return lambda q: self.group.entries(order(self.element(q)))

        return {f"translation along e{i + 1}": along(e) for i, e in enumerate(self.group.basis)}

    def check(self) -> None:
        if self.reduced is not None:
            self.reduced.check()

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Nothing: a group has no picture of its own."""
        return []
