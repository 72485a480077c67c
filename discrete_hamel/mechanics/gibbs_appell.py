"""The formulas of `hamel.py` for velocities qdot = psi(q, z): the Gibbs-Appell equations in normal form.   [BE] 3, 7

With P(q, z) = L_v(q, psi(q, z)) and G = psi_z^T L_vv psi_z the motion is

    qdot = psi,   G zdot = psi_z^T (L_q + f - d/dt P at constant z)          [BE] Theorem 1, (44)-(45)

and with rows(q, z) = 0 besides, K = rows_z, + K^T lambda on the right, where lambda keeps d/dt rows = 0.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import System

STARTS = 24  # points from which z is searched for, where a velocity is given


def covector(system: System, q: Array, z: Array) -> Array:
    """P(q, z) = L_v(q, psi(q, z)), n components."""
    return jax.grad(system.lagrangian, 1)(q, system.velocity(q, z))


def drive(system: System, q: Array, z: Array) -> Array:
    """L_q + f at (q, psi(q, z)), n components."""
    v = system.velocity(q, z)
    return jax.grad(system.lagrangian, 0)(q, v) + system.force(q, v)


def slopes(system: System, q: Array, z: Array) -> Array:
    """K = rows_z, k x m; k = 0 where every z is allowed."""
    return jax.jacfwd(system.rows, 1)(q, z)


def directions(system: System, q: Array, z: Array) -> Array:
    """psi_z(q, z), n x m: the virtual displacements of the state; of rows (q, z) = 0 those along, psi_z (1 - K^+ K).

    [BE] (5), (27)
    """
    psi_z, k = jax.jacfwd(system.velocity, 1)(q, z), slopes(system, q, z)
    return psi_z - psi_z @ k.T @ jnp.linalg.solve(k @ k.T, k) if len(k) else psi_z


def inertia(system: System, q: Array, z: Array) -> Array:
    """G = psi_z^T L_vv psi_z, m x m; with rows that of `directions` and, across them, K^T K.   [BE] (33)"""
    along, k = directions(system, q, z), slopes(system, q, z)
    if not len(k):
        return along.T @ jax.jacfwd(covector, 2)(system, q, z)
    return along.T @ jax.hessian(system.lagrangian, 1)(q, system.velocity(q, z)) @ along + k.T @ k


def balance(system: System, q: Array, z: Array) -> tuple[Array, Array]:
    """(z, Z): the two sides of d/dt z = Z(q, z), in the place of d/dt mu = F.   [BE] (45)"""
    psi_z, v = jax.jacfwd(system.velocity, 1)(q, z), system.velocity(q, z)
    _, drift = jax.jvp(lambda point: covector(system, point, z), (q,), (v,))
    mass = psi_z.T @ jax.jacfwd(covector, 2)(system, q, z)
    force, k = psi_z.T @ (drive(system, q, z) - drift), slopes(system, q, z)
    if not len(k):
        return z, jnp.linalg.solve(mass, force)
    _, turned = jax.jvp(lambda point: system.rows(point, z), (q,), (v,))
    whole = jnp.block([[mass, k.T], [k, jnp.zeros((len(k), len(k)))]])
    return z, jnp.linalg.solve(whole, jnp.concatenate([force, -turned]))[: len(z)]


def vector_field(system: System, q: Array, z: Array) -> tuple[Array, Array]:
    """(qdot, zdot).   [BE] (23)"""
    return system.velocity(q, z), balance(system, q, z)[1]


def acceleration(system: System, q: Array, z: Array) -> Array:
    """qddot = psi_q psi + psi_z zdot."""
    _, rate = jax.jvp(system.velocity, (q, z), vector_field(system, q, z))
    return rate


def momentum(system: System, q: Array, z: Array) -> Array:
    """psi_z^T L_v, m components."""
    return directions(system, q, z).T @ covector(system, q, z)


def momentum_on_d(system: System, q: Array, z: Array) -> Array:  # noqa: ARG001  # hamel's signature
    """z itself, which is what the state holds in the place of p."""
    return z


def legendre(system: System, q: Array, p: Array, guess: Array) -> Array:  # noqa: ARG001  # hamel's signature
    """z itself, which is what the state holds in the place of p."""
    return p


def energy(system: System, q: Array, z: Array) -> Array:
    """E = L_v psi - L. Its rate is <R, psi>: zero if psi is in the span of psi_z (homogeneous constraints).

    [BE] Theorem 3 says so of all ideal constraints, which holds of homogeneous ones only.
    """
    v = system.velocity(q, z)
    return covector(system, q, z) @ v - system.lagrangian(q, v)


def reactions(system: System, q: Array, z: Array) -> Array:
    """R = d/dt L_v - L_q - f, a covector of n components with psi_z^T R = 0.   [BE] (30)"""
    _, rate = jax.jvp(lambda q, z: covector(system, q, z), (q, z), vector_field(system, q, z))
    return rate - drive(system, q, z)


def quasivelocities(system: System, q: Array, v: Array) -> Array:
    """z with psi(q, z) = v: in closed form where the system knows one, else the nearest that least squares finds."""
    known = system.z_of(q, v)  # type: ignore[attr-defined]
    if known is not None:
        return jnp.asarray(known)
    from scipy.optimize import least_squares  # here, as it takes as long to load as JAX

    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((system, q, v))):
        raise InputError("which z gives a velocity is searched for, and these values are traced by jax: give z.")
    draws = np.random.default_rng(0).normal(size=(STARTS, system.rank)) * max(1.0, float(jnp.max(jnp.abs(v))))
    best = None
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
def _miss(system: System, q: Array, v: Array, z: Array) -> Array:
    return system.velocity(q, z) - v
