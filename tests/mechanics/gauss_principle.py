"""Gauss' principle: of all accelerations that the constraint allows, the motion takes the one nearest to the free one.

    G(a) = (1/2) (a - a_free)^T L_vv (a - a_free),  a_free = L_vv^{-1} (L_q + f - L_vq qdot)        [BE] (37), Theorem 4

A check, of systems with linear and with nonlinear constraints, that shares no line with the library's equations.
"""

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from discrete_hamel.mechanics import gibbs_appell, hamel
from discrete_hamel.mechanics.nonlinear import NonlinearSystem
from discrete_hamel.mechanics.system import System


def compulsion(system: System, q: ArrayLike, xi: ArrayLike, rates: ArrayLike) -> Array:
    """G of the acceleration that d/dt xi = `rates` (of z or xi^D, m components) gives at the state (q, xi).

    Gauss' word is Zwang. It is least at the rates of `vector_field`.
    """
    q, xi, rates = (jnp.asarray(a, float) for a in (q, xi, rates))
    acceleration = gibbs_appell_acceleration(system, q, xi, rates)
    free, metric = free_acceleration(system, q, xi)
    off = acceleration - free
    return 0.5 * off @ metric @ off


def gibbs_appell_acceleration(system: System, q: Array, xi: Array, rates: Array) -> Array:
    """qddot of a motion with these rates of z or xi^D, compatible with the constraint.   [BE] (24)"""
    if isinstance(system, NonlinearSystem):
        _, acceleration = jax.jvp(system.velocity, (q, xi), (system.velocity(q, xi), rates))
        return acceleration
    system = system.at(q)
    free = xi[: system.rank]

    def velocity(q: Array, free: Array) -> Array:
        return system.frame(q) @ hamel.full(system, q, free)

    _, acceleration = jax.jvp(velocity, (q, free), (velocity(q, free), rates[: system.rank]))
    return acceleration


def free_acceleration(system: System, q: Array, xi: Array) -> tuple[Array, Array]:
    """qddot without the constraint, and the metric L_vv, n x n, at a state of the constrained system."""
    if isinstance(system, NonlinearSystem):
        v = system.velocity(q, xi)
        metric = jax.hessian(system.lagrangian, 1)(q, v)
        _, drift = jax.jvp(lambda point: jax.grad(system.lagrangian, 1)(point, v), (q,), (v,))
        return jnp.linalg.solve(metric, gibbs_appell.drive(system, q, xi) - drift), metric
    ready = system.at(q)
    psi = ready.frame(q)
    if psi.shape[0] != psi.shape[1]:
        raise ValueError("Gauss' principle in coordinates needs a square frame: as many coordinates as velocities.")

    def lagrangian(q: Array, v: Array) -> Array:
        return ready.lagrangian(q, jnp.linalg.solve(ready.frame(q), v))

    whole = hamel.full(ready, q, xi)
    v = psi @ whole
    metric = jax.hessian(lagrangian, 1)(q, v)
    _, drift = jax.jvp(lambda point: jax.grad(lagrangian, 1)(point, v), (q,), (v,))
    force = jnp.linalg.solve(psi.T, ready.force(q, whole))
    return jnp.linalg.solve(metric, jax.grad(lagrangian)(q, v) + force - drift), metric
