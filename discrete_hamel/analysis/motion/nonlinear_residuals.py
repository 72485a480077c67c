"""What a run with constraints nonlinear in the velocities keeps, measured from its nodes and intervals."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.gibbs_appell import covector, directions, drive
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory

ALONG = 1e-12  # part of qdot across psi_z, relative to qdot, that is round-off


def midpoint_residuals(run: Trajectory) -> tuple[float, float]:
    """The largest residuals of (N1) a step, divided by h, and of (N2), by NonlinearMidpoint or at the middle."""
    tau = jnp.asarray(0.5 if run.scheme is None else run.scheme.point, float)
    chord, balance = _residuals(run.system, run.q, run.xi, run.xi_mid, run.h, tau)
    return float(np.max(np.asarray(chord))), float(np.max(np.asarray(balance)))


@jax.jit
def _residuals(system: System, q: Array, z: Array, inside: Array, h: Array, tau: Array) -> tuple[Array, Array]:
    def one(q0: Array, q1: Array, z0: Array, z1: Array, middle: Array) -> tuple[Array, Array]:
        q = (1 - tau) * q0 + tau * q1
        along, force, here = directions(system, q, middle).T, h * drive(system, q, middle), covector(system, q, middle)
        first = along @ (here - covector(system, q0, z0) - (1 - tau) * force)
        second = along @ (covector(system, q1, z1) - here - tau * force)
        chord = (q1 - q0) / h - system.velocity(q, middle)
        return jnp.max(jnp.abs(chord)), jnp.max(jnp.abs(jnp.concatenate([first, second])))

    return jax.vmap(one)(q[:-1], q[1:], z[:-1], z[1:], inside)


def reactions_work(run: Trajectory) -> bool:
    """Whether qdot has a part across psi_z at some node: then the reactions work, and the motion's energy changes."""
    across = np.asarray(_across(run.system, jnp.asarray(run.q), jnp.asarray(run.xi)))
    return not bool(np.all(across <= ALONG))


@jax.jit
def _across(system: System, q: Array, z: Array) -> Array:
    """|psi - psi_z c| / |psi| with psi_z c the nearest."""

    def one(q: Array, z: Array) -> Array:
        v, psi_z = system.velocity(q, z), directions(system, q, z)
        off = v - psi_z @ (jnp.linalg.pinv(psi_z) @ v)
        return jnp.linalg.norm(off) / jnp.maximum(jnp.linalg.norm(v), jnp.finfo(v.dtype).tiny)

    return jax.vmap(one)(q, z)
