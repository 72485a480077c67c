"""Rigid bodies with a fixed point, on rotation matrices."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.lie_algebras import SO3
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.pendulums import hat

# [a, b, i] = (e_i x)_ab; by NumPy, because JAX's distributed runtime has to start before JAX computes anything.
_GENERATORS = np.stack([np.cross(axis, np.eye(3)).T for axis in np.eye(3)], axis=-1)


def body_frame(q: Array) -> Array:
    """R' = R hat(omega) for q = R row by row: 9 x 3, columns R hat(e_i)."""
    return jnp.einsum("ab,bci->aci", q.reshape(3, 3), _GENERATORS).reshape(9, 3)


def inertia_matrix(inertia: ArrayLike) -> Array:
    """Three principal moments, or a full symmetric matrix."""
    inertia = jnp.asarray(inertia, float)
    return jnp.diag(inertia) if inertia.ndim == 1 else inertia


def orthogonality(q: Array, _: Array) -> Array:
    """trace(R^T R), 3 for a rotation."""
    return q @ q


def off_rotations(q: Array) -> Array:
    """The six entries of R^T R - 1 on and above the diagonal, for q = R row by row."""
    r = q.reshape(3, 3)
    return (r.T @ r - jnp.eye(3))[np.triu_indices(3)]


def rotations_in_space(axes: str) -> dict[str, Callable]:
    """Generators R -> hat(e) R of rotations about the named space axes, of q that begins with R."""

    def about(axis: str) -> Callable:
        return lambda q: (hat(jnp.eye(3)["xyz".index(axis)]) @ q.reshape(3, 3)).reshape(9)

    return {f"rotation about {axis}": about(axis) for axis in axes}


class Attitude(System):
    """What systems whose coordinates are a rotation matrix R, row by row, share: R' = R hat(omega), and R^T R = 1."""

    coordinates = tuple(f"R{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3))
    velocities = ("omega1", "omega2", "omega3")
    units = SI

    def frame(self, q: Array) -> Array:
        return body_frame(q)

    def structure(self, q: Array) -> Array:
        return jnp.asarray(SO3)

    def holonomic(self, q: Array) -> Array:
        return off_rotations(q)


class RigidBody(Attitude):
    """A free rigid body turning about its mass centre.

    Coordinates: the rotation matrix R (body to space), row by row, 9 numbers. Quasi-velocities: body angular velocity
    omega, R' = R hat(omega), unconstrained. At tau = 1/2 the step is a Cayley transform, so R stays orthogonal.

        l = omega . I omega / 2,   I omega' = I omega x omega              [HE] (2.1)

    Energy, spatial momentum R I omega and orthogonality are exact.
    """

    inertia: ArrayLike = (1.0, 2.0, 3.0)  # kg m^2, principal moments or a full matrix

    rank = 3

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * xi @ inertia_matrix(self.inertia) @ xi

    def spatial_momentum(self, q: Array, xi: Array) -> Array:
        """R I omega."""
        return q.reshape(3, 3) @ inertia_matrix(self.inertia) @ xi

    def invariants(self) -> dict[str, Invariant]:
        def spatial(i: int) -> Invariant:
            return Invariant(lambda q, xi: self.spatial_momentum(q, xi)[i], "exact")

        return {
            "energy": Invariant(self.lagrangian, "exact"),
            **{f"spatial momentum {axis}": spatial(i) for i, axis in enumerate("xyz")},
            "trace of R^T R": Invariant(orthogonality, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable]:
        return rotations_in_space("xyz")

    def check(self) -> None:
        physical.inertia_tensor(self, "inertia")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The homogeneous ellipsoid with this inertia."""
        return outlines.gyration(np.asarray(q).reshape(3, 3), self.inertia)

    def sample(self) -> dict:
        """Close to the unstable middle axis, so that the body tumbles."""
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0), "xi": (0.1, 1.0, 0.1), "h": 0.05}


class HeavyTop(Natural, Attitude):
    """A rigid body that turns about a fixed point under gravity.

    Coordinates: the rotation matrix R (body to space), row by row. Quasi-velocities: body angular velocity omega.
    `weight` is m g a, a the vector from the fixed point to the mass centre in the body; `inertia` is about the fixed
    point.

        l = omega . I omega / 2 - weight . Gamma,  Gamma = R^T e_z (third row of R)
        I omega' = I omega x omega + Gamma x weight                        [HE] (6.1), (6.2)

    Energy, vertical momentum and orthogonality are exact.
    """

    inertia: ArrayLike = (1.0, 1.0, 0.4)  # kg m^2, about the fixed point
    weight: ArrayLike = (0.0, 0.0, 3.0)  # N m

    rank = 3

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        return 0.5 * xi @ inertia_matrix(self.inertia) @ xi, jnp.asarray(self.weight) @ q[6:]

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.total_energy, "exact"),
            "vertical momentum": Invariant(lambda q, xi: q[6:] @ inertia_matrix(self.inertia) @ xi, "exact"),
            "trace of R^T R": Invariant(orthogonality, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable]:
        return rotations_in_space("z")

    def check(self) -> None:
        physical.inertia_tensor(self, "inertia")
        physical.shape(self, "weight", (3,))

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """A top about the line to the mass centre."""
        direction = np.asarray(self.weight, float)
        return _top(np.asarray(q).reshape(3, 3), direction / max(np.linalg.norm(direction), 1e-300))

    def sample(self) -> dict:
        """A leaning top that spins fast enough to precess."""
        c, s = 0.9210609940028851, 0.3894183423086505  # lean 0.4 rad
        return {"q": (1.0, 0, 0, 0, c, -s, 0, s, c), "xi": (0.0, 0.0, 12.0), "h": 0.01}


class LagrangeTop(Natural, Attitude):
    """A heavy symmetric top with a fixed point on its axis.

    Coordinates: the rotation matrix R (body to space), row by row; the top's axis is the third body axis.
    Quasi-velocities: body angular velocity omega. Moments of inertia are about the fixed point.

        l = (J1 (omega1^2 + omega2^2) + J3 omega3^2) / 2 - m g a Gamma3,  Gamma = R^T e_z
        J1 omega1' = (J1 - J3) omega2 omega3 + m g a Gamma2,  J1 omega2' = (J3 - J1) omega3 omega1 - m g a Gamma1,
        omega3' = 0                                                        [MD] ch. 9, the limit r = 0

    Energy, vertical momentum, spin omega3 and orthogonality are exact. Upright spin is stable if and only if
    (J3 omega3)^2 > 4 J1 m g a.
    """

    inertia_across: float = 1.0  # kg m^2, about any line across the axis through the fixed point (J1)
    inertia_axis: float = 0.4  # kg m^2, about the axis (J3)
    mass: float = 1.0  # kg
    distance: float = 0.3  # m, from the fixed point to the mass centre (a)
    gravity: float = 9.8  # m/s^2

    rank = 3

    def momentum(self, xi: Array) -> Array:
        """Body angular momentum about the fixed point."""
        return jnp.array([self.inertia_across, self.inertia_across, self.inertia_axis]) * xi

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        return 0.5 * xi @ self.momentum(xi), self.mass * self.gravity * self.distance * q[8]

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.total_energy, "exact"),
            "vertical momentum": Invariant(lambda q, xi: q[6:] @ self.momentum(xi), "exact"),
            "spin": Invariant(lambda q, xi: xi[2], "exact"),
            "trace of R^T R": Invariant(orthogonality, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable]:
        turn = hat(jnp.array([0.0, 0.0, 1.0]))
        about_axis = {"rotation about its axis": lambda q: (q.reshape(3, 3) @ turn).reshape(9)}
        return rotations_in_space("z") | about_axis

    def check(self) -> None:
        physical.positive(self, "mass", "distance")
        physical.principal_moments(self, "inertia_across", "inertia_across", "inertia_axis")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """A top about its axis."""
        return _top(np.asarray(q).reshape(3, 3), np.array([0.0, 0.0, 1.0]))

    def sample(self) -> dict:
        """A fast top let go from rest but for its spin: it nods."""
        c, s = 0.9210609940028851, 0.3894183423086505  # lean 0.4 rad
        return {"q": (1.0, 0, 0, 0, c, -s, 0, s, c), "xi": (0.0, 0.0, 12.0), "h": 0.01}


def _top(attitude: np.ndarray, direction: np.ndarray) -> list[np.ndarray]:
    """A top on its tip, its unit axis along `direction` in the body, and the mark that its stem makes in the air."""
    across = np.linalg.svd(direction[None])[2][1:]
    axis, u, v = attitude @ direction, attitude @ across[0], attitude @ across[1]
    return [*outlines.spindle(np.zeros(3), axis, u, v), outlines.dot(1.15 * axis)]
