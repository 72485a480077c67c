"""How far the chords of a discrete motion are from the constraint."""

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory


def constraint_residual(run: Trajectory) -> float:
    """The largest |(q_{k+1} - q_k)/h - Psi_U b| off the span of Psi_D, at the `point` of the chord that the scheme
    names, else at its middle; for nonlinear constraints, off the velocities psi(q, z)."""
    point = 0.5 if run.scheme is None else run.scheme.point
    h = jnp.asarray(run.t[1:] - run.t[:-1])
    if run.system.frameless:
        return float(jnp.max(_off_velocities(run.system, run.q[:-1], run.q[1:], h, run.xi_mid)))
    return float(jnp.max(_off_constraint(run.system, run.q[:-1], run.q[1:], h, jnp.asarray(point, float))))


@jax.jit
def _off_velocities(system: System, starts: Array, ends: Array, h: Array, xi_mid: Array) -> Array:
    def off(start: Array, end: Array, h: Array, z: Array) -> Array:
        q, chord = (start + end) / 2, (end - start) / h
        for _ in range(4):  # Gauss and Newton's iteration for the nearest psi(q, z); z is close
            z = z + jnp.linalg.pinv(jax.jacfwd(system.velocity, 1)(q, z)) @ (chord - system.velocity(q, z))
        rows = system.rows(q, z)
        return jnp.max(jnp.concatenate([jnp.abs(chord - system.velocity(q, z)), jnp.abs(rows)]))

    return jax.vmap(off)(starts, ends, h, xi_mid[:, : system.rank])


@jax.jit
def _off_constraint(system: System, starts: Array, ends: Array, h: Array, point: Array) -> Array:
    def off(start: Array, end: Array, h: Array) -> Array:
        q = (1 - point) * start + point * end
        along, across = jnp.split(system.frame(q), [system.rank], axis=1)
        velocity = (end - start) / h - across @ system.slip(q)
        return jnp.max(jnp.abs(velocity - along @ (jnp.linalg.pinv(along) @ velocity)))

    return jax.vmap(off)(starts, ends, h)
