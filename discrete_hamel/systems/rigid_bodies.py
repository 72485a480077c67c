"""Rigid bodies with a fixed point, on rotation matrices."""

from typing import Any

import jax.numpy as jnp
from jax import Array

from discrete_hamel.system import Invariant, System
from discrete_hamel.systems.pendulums import SO3, hat

_GENERATORS = jnp.stack([hat(axis) for axis in jnp.eye(3)], axis=-1)  # [a, b, i] = (e_i x)_ab


def body_frame(q: Array) -> Array:
    """R' = R hat(omega) for q = R row by row: 9 x 3, columns R hat(e_i)."""
    return jnp.einsum("ab,bci->aci", q.reshape(3, 3), _GENERATORS).reshape(9, 3)


def inertia_matrix(inertia: Any) -> Array:
    """Three principal moments, or a full symmetric matrix."""
    inertia = jnp.asarray(inertia, float)
    return jnp.diag(inertia) if inertia.ndim == 1 else inertia


def orthogonality(q: Array, xi: Array) -> Array:
    """trace(R^T R), 3 for a rotation."""
    return q @ q


class RigidBody(System):
    """A free rigid body turning about its mass centre.

    Coordinates: the rotation matrix R (body to space), row by row, 9 numbers. Quasi-velocities: body angular velocity
    omega, R' = R hat(omega), unconstrained. At tau = 1/2 the step is a Cayley transform, so R stays orthogonal.

        l = omega . I omega / 2,   I omega' = I omega x omega              [HE] (2.1)

    Energy, spatial momentum R I omega and orthogonality are exact.
    """

    inertia: Any = (1.0, 2.0, 3.0)  # kg m^2, principal moments or a full matrix

    rank = 3
    coordinates = tuple(f"R{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3))
    velocities = ("omega1", "omega2", "omega3")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * xi @ inertia_matrix(self.inertia) @ xi

    def frame(self, q: Array) -> Array:
        return body_frame(q)

    def structure(self, q: Array) -> Array:
        return jnp.asarray(SO3)

    def spatial_momentum(self, q: Array, xi: Array) -> Array:
        """R I omega."""
        return q.reshape(3, 3) @ inertia_matrix(self.inertia) @ xi

    def invariants(self) -> dict[str, Invariant]:
        spatial = {
            f"spatial momentum {axis}": Invariant(lambda q, xi, i=i: self.spatial_momentum(q, xi)[i], "exact")
            for i, axis in enumerate("xyz")
        }
        return {
            "energy": Invariant(self.lagrangian, "exact"),
            **spatial,
            "trace of R^T R": Invariant(orthogonality, "exact"),
        }

    def sample(self) -> dict:
        """Close to the unstable middle axis, so that the body tumbles."""
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0), "xi": (0.1, 1.0, 0.1), "h": 0.05}


class HeavyTop(System):
    """A rigid body that turns about a fixed point under gravity.

    Coordinates: the rotation matrix R (body to space), row by row. Quasi-velocities: body angular velocity omega.
    `weight` is m g a, a the vector from the fixed point to the mass centre in the body; `inertia` is about the fixed point.

        l = omega . I omega / 2 - weight . Gamma,  Gamma = R^T e_z (third row of R)
        I omega' = I omega x omega + Gamma x weight

    Energy, vertical momentum and orthogonality are exact.
    """

    inertia: Any = (1.0, 1.0, 0.4)  # kg m^2, about the fixed point
    weight: Any = (0.0, 0.0, 3.0)  # N m

    rank = 3
    coordinates = RigidBody.coordinates
    velocities = RigidBody.velocities

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        return 0.5 * xi @ inertia_matrix(self.inertia) @ xi, jnp.asarray(self.weight) @ q[6:]

    def lagrangian(self, q: Array, xi: Array) -> Array:
        kinetic, potential = self._energies(q, xi)
        return kinetic - potential

    def frame(self, q: Array) -> Array:
        return body_frame(q)

    def structure(self, q: Array) -> Array:
        return jnp.asarray(SO3)

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(lambda q, xi: sum(self._energies(q, xi)), "exact"),
            "vertical momentum": Invariant(lambda q, xi: q[6:] @ inertia_matrix(self.inertia) @ xi, "exact"),
            "trace of R^T R": Invariant(orthogonality, "exact"),
        }

    def sample(self) -> dict:
        """A leaning top that spins fast enough to precess."""
        c, s = 0.9210609940028851, 0.3894183423086505  # lean 0.4 rad
        return {"q": (1.0, 0, 0, 0, c, -s, 0, s, c), "xi": (0.0, 0.0, 12.0), "h": 0.01}
