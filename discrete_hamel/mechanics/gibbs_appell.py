"""The formulas of `hamel.py` for velocities qdot = psi(q, z): the Gibbs-Appell equations in normal form.   [BE] 3, 7

With P(q, z) = L_v(q, psi(q, z)) and G = psi_z^T L_vv psi_z the motion is

    qdot = psi,   G zdot = psi_z^T (L_q + f - d/dt P at constant z)          [BE] Theorem 1, (44)-(45)
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.nonlinear import NonlinearSystem

STARTS = 24  # points from which z is searched for, where a velocity is given


def velocities(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """qdot = psi(q, z).   [BE] (9)"""
    return system.velocity(q, z)


def covector(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """P(q, z) = L_v(q, psi(q, z)), n components."""
    return jax.grad(system.lagrangian, 1)(q, system.velocity(q, z))


def drive(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """L_q + f at (q, psi(q, z)), n components."""
    v = system.velocity(q, z)
    return jax.grad(system.lagrangian, 0)(q, v) + system.force(q, v)


def directions(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """psi_z(q, z), n x m: the virtual displacements of the state.   [BE] (5), (27)"""
    return jax.jacfwd(system.velocity, 1)(q, z)


def inertia(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """G = psi_z^T L_vv psi_z, m x m.   [BE] (33)"""
    return directions(system, q, z).T @ jax.jacfwd(covector, 2)(system, q, z)


def balance(system: NonlinearSystem, q: Array, z: Array) -> tuple[Array, Array]:
    """(z, Z): the two sides of d/dt z = Z(q, z), in the place of d/dt mu = F.   [BE] (45)"""
    psi_z, v = directions(system, q, z), system.velocity(q, z)
    _, drift = jax.jvp(lambda point: covector(system, point, z), (q,), (v,))
    mass = psi_z.T @ jax.jacfwd(covector, 2)(system, q, z)
    return z, jnp.linalg.solve(mass, psi_z.T @ (drive(system, q, z) - drift))


def vector_field(system: NonlinearSystem, q: Array, z: Array) -> tuple[Array, Array]:
    """(qdot, zdot).   [BE] (23)"""
    return system.velocity(q, z), balance(system, q, z)[1]


def acceleration(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """qddot = psi_q psi + psi_z zdot."""
    _, rate = jax.jvp(system.velocity, (q, z), vector_field(system, q, z))
    return rate


def momentum(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """psi_z^T L_v, m components."""
    return directions(system, q, z).T @ covector(system, q, z)


def momentum_on_d(system: NonlinearSystem, q: Array, z: Array) -> Array:  # noqa: ARG001  # hamel's signature
    """z itself, which is what the state holds in the place of p."""
    return z


def legendre(system: NonlinearSystem, q: Array, p: Array, guess: Array) -> Array:  # noqa: ARG001  # hamel's signature
    """z itself, which is what the state holds in the place of p."""
    return p


def energy(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """E = L_v psi - L. Its rate is <R, psi>: zero if psi is in the span of psi_z (homogeneous constraints).

    [BE] Theorem 3 says so of all ideal constraints, which holds of homogeneous ones only.
    """
    v = system.velocity(q, z)
    return covector(system, q, z) @ v - system.lagrangian(q, v)


def reactions(system: NonlinearSystem, q: Array, z: Array) -> Array:
    """R = d/dt L_v - L_q - f, a covector of n components with psi_z^T R = 0.   [BE] (30)"""
    _, rate = jax.jvp(lambda q, z: covector(system, q, z), (q, z), vector_field(system, q, z))
    return rate - drive(system, q, z)


def quasivelocities(system: NonlinearSystem, q: Array, v: Array) -> Array:
    """z with psi(q, z) = v: in closed form where the system knows one, else the nearest that least squares finds."""
    known = system.z_of(q, v)
    if known is not None:
        return jnp.asarray(known)
    from scipy.optimize import least_squares  # here, as it takes as long to load as JAX

    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((system, q, v))):
        raise InputError("which z gives a velocity is searched for, and these values are traced by jax: give z.")
    draws = np.random.default_rng(0).normal(size=(STARTS, system.rank)) * max(1.0, float(jnp.max(jnp.abs(v))))
    best: Any = None
    for start in [np.zeros(system.rank), *draws]:
        miss = np.asarray(_miss(system, q, v, start))
        if not np.all(np.isfinite(miss)):
            continue
        found = least_squares(lambda z: np.asarray(_miss(system, q, v, z)), start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
        best = found if best is None or found.cost < best.cost else best
        if best.cost < 1e-24 * float(v @ v):
            break
    if best is None:
        raise InputError("psi(q, z) is not finite wherever z was looked for; give z.")
    return jnp.asarray(best.x)


@jax.jit
def _miss(system: NonlinearSystem, q: Array, v: Array, z: Array) -> Array:
    return system.velocity(q, z) - v
