"""The Lagrangian in coordinates, L(q, v) = l(q, Psi^+ v), for the schemes that know no frame.

Momenta still enter and leave by their components in the frame: p_j = <P, u_j> of a covector P.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics import frames
from discrete_hamel.mechanics.system import System

DEPENDENT = 1e8  # condition of a frame from which its fields are dependent


def momentum_and_force(system: System, q: Array, v: Array) -> tuple[Array, Array]:
    """dL/dv and dL/dq + f, covectors in coordinates."""

    def lagrangian(q: Array, v: Array) -> Array:
        return system.lagrangian(q, frames.left_inverse(system.frame(q), v))

    force, momentum = jax.grad(lagrangian, (0, 1))(q, v)
    xi, transpose = jax.vjp(lambda v: frames.left_inverse(system.frame(q), v), v)
    return momentum, force + transpose(system.force(q, xi))[0]


def covector(system: System, q: Array, mu: Array) -> Array:
    """P with <P, u_i> = mu_i, for a square frame."""
    return jnp.linalg.solve(system.frame(q).T, mu)


def verlet(system: System, q: Array, start: Array, h: Array, z: Array) -> tuple[Array, Array, Array]:
    """One step of generalised Stormer-Verlet from the covector `start` at q: what z = (v, v1) leaves, q1, and P1.

    P_{1/2} = P + (h/2) dL/dq(q, v) = dL/dv(q, v) = dL/dv(q1, v1),  q1 = q + (h/2)(v + v1),
    P1 = P_{1/2} + (h/2) dL/dq(q1, v1)
    """
    v, v1 = jnp.split(z, 2)
    q1 = q + (h / 2) * (v + v1)
    before, kick = momentum_and_force(system, q, v)
    after, kick1 = momentum_and_force(system, q1, v1)
    half = start + (h / 2) * kick
    return jnp.concatenate([before - half, after - half]), q1, half + (h / 2) * kick1


def need_square(system: System, q: Array, scheme: str) -> None:
    """Refuses a system whose velocities are not as many as its coordinates."""
    need_independent(system, q, scheme)
    coordinates, n = jax.eval_shape(system.frame, q).shape
    if coordinates != n:
        raise ValueError(
            f"{scheme} works with momenta dL/dqdot in coordinates, so it needs as many coordinates as velocities; "
            f"this system has {coordinates} coordinates and {n} quasi-velocities (redundant coordinates), where that "
            "momentum is not determined. Use DiscreteHamel."
        )


def need_independent(system: System, q: Array, scheme: str) -> None:
    """Refuses a system with more velocities than coordinates, so that qdot does not determine xi."""
    coordinates, n = jax.eval_shape(system.frame, q).shape
    if coordinates < n:
        raise _undetermined(scheme, coordinates, n)


def refuse_dependent(system: System, q: Array, scheme: str) -> None:
    """The same where the fields are dependent as vectors, which only concrete values show."""
    psi = np.asarray(system.frame(q))
    if psi.shape[0] < psi.shape[1] or frames.condition(psi) > DEPENDENT:
        raise _undetermined(scheme, *psi.shape)


def _undetermined(scheme: str, coordinates: int, n: int) -> ValueError:
    return ValueError(
        f"{scheme} needs a Lagrangian L(q, qdot), and here qdot does not determine the quasi-velocities: the "
        f"{n} fields are dependent as vectors in {coordinates} coordinates and carry the bracket of an algebra "
        "(advected or reduced coordinates). Use DiscreteHamel, or the system in full coordinates."
    )
