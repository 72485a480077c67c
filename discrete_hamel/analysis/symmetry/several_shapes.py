"""Flatness and hidden constants along a shape space of several dimensions: there the transport may have curvature."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.symmetry.adjoint_equation import Shape, drags, growth_of
from discrete_hamel.analysis.symmetry.phase_space import Chosen
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory


class Transport(NamedTuple):
    """At one q, components along u_1..u_m: how an invariant field sigma of S has to change along each shape r^j.

    With the horizontal fields kappa_j, dr^k(kappa_j) = delta, and v = r'^j kappa_j + (v in S),

        d/dt <p, sigma> = v . (growth sigma) v + r'^j K(rate_j sigma, v) + <lift, sigma>,  dsigma/dr^j = rate_j sigma

    where rate_j cancels what is mixed and keeps sigma in S. Left over are the parts in S x S and H x H, conditions at
    each point, and the curvature of the transport, (rate_j along kappa_k and back the other way) on S.
    """

    inertia: Array  # K, m x m
    dr: Array  # d x m
    kappa: Array  # m x d
    velocity: Array  # kappa in coordinates, N x d
    growth: Array  # [sigma, v, v]
    rate: Array  # [j], m x m
    across: Array  # [sigma, j, k], what is left in H x H


def transport(system: System, symmetries: Chosen, shape: Shape, q: Array) -> Transport:
    """The adjoint equation at q, one for each shape variable.   [MD] (7.3), (7.9)-(7.11); [QS] (4.7), (4.12)"""
    m = system.rank

    def slope(q: Array) -> Array:
        return jax.jacrev(shape)(q) @ system.frame(q)[:, :m]

    k, dr = hamel.inertia(system, q, jnp.zeros(m)), slope(q)
    raised = jnp.linalg.solve(k, dr.T)
    mass = jnp.linalg.inv(dr @ raised)
    kappa = raised @ mass
    velocity = system.frame(q)[:, :m] @ kappa
    turn = jax.vmap(lambda along: jax.jvp(slope, (q,), (along,))[1], in_axes=1)(velocity)  # [j, k, m]
    vertical = jnp.eye(m) - kappa @ dr
    growth = growth_of(system, symmetries, q, k, vertical)
    mixed = jnp.einsum("sab,aj,bc->jcs", growth, kappa, vertical)
    rate = -2 * jax.vmap(partial(jnp.linalg.solve, k))(mixed) - jnp.einsum("al,jlb->jab", kappa, turn)
    pulled = -jnp.einsum("kl,jls->sjk", mass, turn)
    across = jnp.einsum("sab,aj,bk->sjk", growth, kappa, kappa) + 0.5 * (pulled + jnp.swapaxes(pulled, 1, 2))
    return Transport(k, dr, kappa, velocity, growth, rate, across)


@partial(jax.jit, static_argnums=(0, 1))
def transport_at(symmetries: Chosen, shape: Shape, system: System, q: Array) -> Transport:
    """The same, compiled."""
    return transport(system, symmetries, shape, q)


@partial(jax.jit, static_argnums=(0, 1))
def curvature_at(symmetries: Chosen, shape: Shape, system: System, q: Array) -> tuple[Array, Array]:
    """R_jk = kappa_j rate_k - kappa_k rate_j + [rate_k, rate_j] + a^x M_x on S, and the size of its terms.

    [kappa_j, kappa_k] = a^x X_x is a motion of the group, which carries an invariant field's components by -M_x.
    """

    def parts(q: Array) -> tuple[Array, Array]:
        at = transport(system, symmetries, shape, q)
        return at.rate, at.velocity

    at = transport(system, symmetries, shape, q)
    slopes, moved = jax.vmap(lambda along: jax.jvp(parts, (q,), (along,))[1], in_axes=1)(at.velocity)
    fields, drag = drags(system, symmetries, q)
    bracket = jnp.einsum("jxk->jkx", moved) - jnp.einsum("kxj->jkx", moved)
    amounts = jnp.einsum("gx,jkx->jkg", jnp.linalg.pinv(fields), bracket)
    twice = jnp.einsum("kab,jbc->jkac", at.rate, at.rate)
    carried = jnp.einsum("jkg,gab->jkab", amounts, drag)
    whole = slopes - jnp.swapaxes(slopes, 0, 1) + twice - jnp.swapaxes(twice, 0, 1) + carried
    vertical = jnp.eye(len(at.inertia)) - at.kappa @ at.dr
    size = jnp.sum(jnp.stack([jnp.max(jnp.abs(term)) for term in (slopes, twice, carried)]))
    return jnp.einsum("ab,jkbc,cd->jkad", vertical, whole, vertical), size


def several_bases(at: Transport) -> tuple[np.ndarray, np.ndarray]:
    """Bases of S = ker dr in D and of H, orthonormal in K, as columns."""
    upper = np.linalg.cholesky(np.asarray(at.inertia)).T
    _, _, right = np.linalg.svd(np.linalg.solve(upper.T, np.asarray(at.dr).T).T)
    found = np.linalg.solve(upper, right.T)
    return found[:, len(at.dr) :], found[:, : len(at.dr)]


class ShapeMomenta:
    """The conserved momenta <p, eta_a(r)> of a flat system with several shape variables; call it with (q, xi).

    eta_a(r) is carried from the given q along the straight line to r, along horizontal directions of Q; where the
    transport is flat no other way would give another.
    """

    def __init__(self, system: System, symmetries: Chosen, shape: Shape, q: Array, basis: np.ndarray) -> None:
        self.system, self.symmetries, self.shape, self.start, self.basis = system, symmetries, shape, q, basis

    def __len__(self) -> int:
        return int(self.basis.shape[1])

    def __call__(self, q: Coordinates, xi: Quasivelocities) -> np.ndarray:
        """<p, eta_a(r)>, a = 1, 2, ..."""
        q, xi = jnp.asarray(q, float), jnp.asarray(xi, float)
        fields = self.fields(self.shape(q))
        return np.asarray(hamel.momentum(self.system, q, xi))[: self.system.rank] @ fields

    def along(self, trajectory: Trajectory) -> np.ndarray:
        """Their values at the nodes of a trajectory, (K+1, number)."""
        return np.array([self(q, xi) for q, xi in zip(trajectory.q, trajectory.xi, strict=True)])

    def fields(self, r: ArrayLike) -> np.ndarray:
        """eta_a(r), the components along u_1..u_m, one field a column."""
        return self._transport(r)[1]

    def wronskian(self, r: ArrayLike) -> float:
        """W(r) = |det eta^b_a| in a basis of S that is orthonormal in the metric; 1 at the given q.   [QS] (6.14)"""
        point, eta = self._transport(r)
        metric = np.asarray(hamel.inertia(self.system, jnp.asarray(point), jnp.zeros(len(eta))))
        return float(np.sqrt(np.linalg.det(eta.T @ metric @ eta)))

    def point(self, r: ArrayLike) -> np.ndarray:
        """The point over r that the line from the given q's shape is lifted to."""
        return self._transport(r)[0]

    def _transport(self, r: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        size, form = len(self.start), self.basis.shape
        way = jnp.asarray(r, float) - self.shape(self.start)

        def rate(_: float, y: np.ndarray) -> np.ndarray:
            parts = _rates(self.symmetries, self.shape, self.system, y[:size], y[size:].reshape(form), way)
            return np.concatenate([np.ravel(part) for part in parts])

        y0 = np.concatenate([self.start, self.basis.ravel()])
        found = scipy.integrate.solve_ivp(rate, (0.0, 1.0), y0, "DOP853", rtol=1e-12, atol=1e-13)
        if not found.success or not np.all(np.isfinite(found.y[:, -1])):
            raise InputError(
                f"the fields could not be carried to r = {np.asarray(r).tolist()}: the shape variables, or the orbits, "
                "have a singular point on the way. Start nearer, or give other shape variables."
            )
        return found.y[:size, -1], found.y[size:, -1].reshape(form)


@partial(jax.jit, static_argnums=(0, 1))
def _rates(symmetries: Chosen, shape: Shape, system: System, q: Array, fields: Array, way: Array) -> tuple:
    at = transport(system, symmetries, shape, q)
    return at.velocity @ way, jnp.einsum("j,jab->ab", way, at.rate) @ fields
