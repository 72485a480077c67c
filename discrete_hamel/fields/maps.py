"""Hamel's equations by maps of vectors, for systems of many points: no frame, structure or inertia as a matrix.

The system gives `velocity(q, xi)` = Psi xi and its inverse `quasivelocity(q, v)`, each at a cost linear in its points;
derivatives and transposes of these are as cheap.
"""

from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics.hamel import full

if TYPE_CHECKING:
    from discrete_hamel.fields.constrained_string import ConstrainedString
    from discrete_hamel.fields.sleigh_string import SleighWithString

    ByMaps = ConstrainedString | SleighWithString  # by `velocity`, `quasivelocity` and `after`


def balance(system: "ByMaps", q: Array, xi: Array) -> tuple[Array, Array]:
    """(mu, F) of (H), all n components: with w = (Psi^-1)^T mu and v = Psi xi,

    F_j = w . (D u_j [v] - D(Psi xi)[u_j]) + u_j[l] + f_j
    """
    gradient, mu = jax.grad(system.lagrangian, (0, 1))(q, xi)
    covector = jax.grad(lambda v: mu @ system.quasivelocity(q, v))(jnp.zeros_like(q))
    v, along = jax.vjp(lambda point: system.velocity(point, xi), q)
    (bent,) = along(covector)

    def work(eta: Array) -> Array:
        u, turning = jax.jvp(lambda point: system.velocity(point, eta), (q,), (v,))
        return covector @ turning + (gradient - bent) @ u

    return mu, jax.grad(work)(jnp.zeros_like(xi)) + system.force(q, xi)


@jax.jit
def motion(system: "ByMaps", q: Array, xi: Array) -> tuple[Array, Array]:
    """(qdot, xidot) of (H) on D, for a rank that does not grow with the points: the inertia is rank x rank."""
    m = system.rank
    free, xi = xi[:m], full(system, q, xi[:m])

    def momentum(point: Array, free: Array) -> Array:
        return jax.grad(system.lagrangian, 1)(point, full(system, point, free))[:m]

    v = system.velocity(q, xi)
    _, drift = jax.jvp(partial(momentum, free=free), (q,), (v,))
    _, slip_rate = jax.jvp(system.slip, (q,), (v,))
    inertia = jax.jacfwd(partial(momentum, q))(free)
    rate = jnp.linalg.solve(inertia, balance(system, q, xi)[1][:m] - drift)
    return v, jnp.concatenate([rate, slip_rate])


@jax.jit
def reactions(system: "ByMaps", q: Array, xi: Array) -> Array:
    """`hamel.reactions`: the forces, one for each of xi^U, that hold the constraint, d/dt mu_{m+a} - F_{m+a}."""
    xi = full(system, q, xi[: system.rank])
    _, rate = jax.jvp(jax.grad(system.lagrangian, 1), (q, xi), motion(system, q, xi))
    return (rate - balance(system, q, xi)[1])[system.rank :]
