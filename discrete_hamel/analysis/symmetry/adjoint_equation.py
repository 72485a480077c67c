"""The adjoint equation: how an invariant field has to change along the shape for its momentum to be kept."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.analysis.symmetry.phase_space import Chosen, generators
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System

Shape = Callable[[Array], Array]  # r(q)


class Adjoint(NamedTuple):
    """At one q, components along u_1..u_m. An invariant field sigma of D makes d/dt <p, sigma> a quadratic form in xi.

    With dr of the shape variable r, kappa the horizontal field with dr(kappa) = 1 and v = dr(v) kappa + (v in S),

        d/dt <p, sigma> = v . (growth sigma) v + dr(v) K(dsigma/dr, v) + <lift, sigma>.

    Its parts in (kappa, D) vanish iff dsigma/dr = rate sigma; what is left are conditions on sigma at each point.
    """

    inertia: Array  # K, m x m
    change: Array  # dK/dr along kappa
    dr: Array  # m
    turn: Array  # d(dr)/dr along kappa, m
    kappa: Array  # m
    growth: Array  # [sigma, v, v]
    rate: Array  # m x m
    lift: Array  # m, -u_j[U]
    velocity: Array  # kappa in coordinates


def adjoint(system: System, symmetries: Chosen, shape: Shape, q: Array) -> Adjoint:
    """The adjoint equation at q; [MD] (7.9)-(7.11); [QS] (4.12), (6.13)."""
    m = system.rank

    def metric(q: Array) -> Array:
        return hamel.inertia(system, q, jnp.zeros(m))

    def slope(q: Array) -> Array:
        return system.frame(q)[:, :m].T @ jax.grad(shape)(q)

    k, dr = metric(q), slope(q)
    kappa = jnp.linalg.solve(k, dr)
    kappa = kappa / (dr @ kappa)
    velocity = system.frame(q)[:, :m] @ kappa
    _, change = jax.jvp(metric, (q,), (velocity,))
    _, turn = jax.jvp(slope, (q,), (velocity,))
    vertical = jnp.eye(m) - jnp.outer(kappa, dr)
    growth = growth_of(system, symmetries, q, k, vertical)
    mixed = jnp.einsum("sab,a,bc->sc", growth, kappa, vertical)
    along = jnp.einsum("sab,a,b->s", growth, kappa, kappa)
    rate = jnp.linalg.solve(k, -(jnp.outer(dr, along) + 2 * mixed.T))
    lift = hamel.balance(system, q, jnp.zeros(m))[1]
    return Adjoint(k, change, dr, turn, kappa, growth, rate, lift, velocity)


def growth_of(system: System, symmetries: Chosen, q: Array, k: Array, vertical: Array) -> Array:
    """sigma^j F_j(v) and what the invariance of sigma adds along the orbit, as symmetric matrices [sigma, v, v]."""
    m = system.rank
    force = 0.5 * jax.hessian(lambda v: hamel.balance(system, q, v)[1])(jnp.zeros(m))
    fields, drag = drags(system, symmetries, q)
    amounts = jnp.linalg.pinv(fields) @ system.frame(q)[:, :m] @ vertical
    turned = -jnp.einsum("xa,xij,ib->jab", amounts, drag, k)
    return force + 0.5 * (turned + jnp.swapaxes(turned, 1, 2))


def drags(system: System, symmetries: Chosen, q: Array) -> tuple[Array, Array]:
    """The generators X_x as columns, and M[x, i, j] of [X_x, u_j] = M^i_xj u_i for u_1..u_m."""
    m = system.rank
    moves, drag = [], []
    plus = jnp.linalg.pinv(system.frame(q)[:, :m])
    for generator in generators(system, symmetries).values():
        move, of_move = generator(q), jax.jacfwd(generator)(q)
        _, carried = jax.jvp(lambda q: system.frame(q)[:, :m], (q,), (move,))
        moves.append(move)
        drag.append(plus @ (carried - of_move @ system.frame(q)[:, :m]))
    return jnp.stack(moves, axis=1), jnp.stack(drag)


def basis_of_s(at: Adjoint) -> np.ndarray:
    """A basis of S = ker dr in D, orthonormal in K, as columns."""
    upper = np.linalg.cholesky(np.asarray(at.inertia)).T
    _, _, right = np.linalg.svd(np.linalg.solve(upper.T, np.asarray(at.dr))[None])
    return np.linalg.solve(upper, right[1:].T)
