"""Suslov's problem: a rigid body with a fixed point that cannot turn about one of its own axes."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.lie_algebras import SO3, adapted_basis, adapted_structure
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.rigid_bodies import (
    Attitude,
    body_frame,
    inertia_matrix,
    orthogonality,
    rotations_in_space,
)

OBLIQUE = ((1.2, 0.0, 0.2), (0.0, 1.5, 0.3), (0.2, 0.3, 2.0))  # kg m^2: no axis of the body is principal


class HeldAxis(System):
    """What bodies share that cannot turn about one of their own axes a: omega = T xi, a . omega = 0, T adapted to a."""

    inertia: ArrayLike = OBLIQUE  # kg m^2, about the fixed point; principal moments or a full matrix
    axis: ArrayLike = (0.0, 0.0, 1.0)  # the body axis about which it cannot turn, any length but zero

    rank = 2
    velocities = ("xi1", "xi2", "a . omega")
    units = SI

    def omega(self, xi: Array) -> Array:
        """Body angular velocity T xi, T two directions across the axis, then the axis; xi has 2 or 3 components."""
        return adapted_basis(self.axis)[:, : len(xi)] @ xi

    def turning_energy(self, xi: Array) -> Array:
        """omega . I omega / 2, J."""
        omega = self.omega(xi)
        return 0.5 * omega @ inertia_matrix(self.inertia) @ omega

    def frame(self, q: Array) -> Array:
        return body_frame(q) @ adapted_basis(self.axis)

    def structure(self, q: Array) -> Array:
        return adapted_structure(SO3, self.axis)

    def check(self) -> None:
        physical.inertia_tensor(self, "inertia")
        physical.shape(self, "axis", (3,))
        physical.independent_rows(self, "axis")

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The body's ellipsoid, and the axis about which it cannot turn."""
        attitude = np.asarray(q).reshape(3, 3)
        tip = attitude @ np.asarray(self.axis, float) / np.linalg.norm(self.axis)
        axis = outlines.segment(-1.3 * tip, 1.3 * tip)
        return [*outlines.gyration(attitude, self.inertia), axis, outlines.dot(1.3 * tip)]


class Suslov(HeldAxis, Attitude):
    """A rigid body about a fixed point whose angular velocity about an axis fixed in it is held at zero.

    Coordinates: the rotation matrix R (body to space), row by row, 9 numbers. Quasi-velocities xi: omega = T xi
    (`omega`), two directions across the axis and a . omega, a = `axis`; the constraint is a . omega = 0. Where a is the
    third body axis, xi = omega.

        l = omega . I omega / 2,   I omega' = I omega x omega + lambda a,   a . omega = 0          [QS] 6.1; [ND] (18)

    Energy and orthogonality are exact. Unless the axis is principal, the motion runs along an arc of the energy ellipse
    from one turn of constant velocity to its opposite, and no smooth measure is kept, [ND] (17).
    """

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.turning_energy(xi)

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.lagrangian, "exact"),
            "trace of R^T R": Invariant(orthogonality, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable]:
        return rotations_in_space("xyz")

    def sample(self) -> dict:
        """Turning the unstable way round, so that it goes over to the stable one."""
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0), "xi": (0.8, -0.9), "h": 0.05}


class HeavySuslov(Natural, HeldAxis, Attitude):
    """Suslov's body under gravity.

    Coordinates and quasi-velocities as for `Suslov`. `weight` is m g times the vector, in the body, from the fixed
    point to the mass centre.

        l = omega . I omega / 2 - weight . Gamma,  Gamma = R^T e_z
        I omega' = I omega x omega + Gamma x weight + lambda a,   a . omega = 0                    [HE] (6.1)-(6.4)

    Energy and orthogonality are exact.
    """

    weight: ArrayLike = (0.0, 0.0, 3.0)  # N m

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        return self.turning_energy(xi), jnp.asarray(self.weight) @ q[6:]

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.total_energy, "exact"),
            "trace of R^T R": Invariant(orthogonality, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable]:
        return rotations_in_space("z")

    def check(self) -> None:
        super().check()
        physical.shape(self, "weight", (3,))

    def sample(self) -> dict:
        """Released while leaning and turning."""
        c, s = 0.9210609940028851, 0.3894183423086505  # lean 0.4 rad
        return {"q": (1.0, 0, 0, 0, c, -s, 0, s, c), "xi": (0.5, 0.7), "h": 0.02}


class ReducedSuslov(HeldAxis):
    """Suslov's body without its attitude: two velocities, the momentum equation alone.

    No coordinates (q is empty). Quasi-velocities as for `Suslov`.

        p_j' = c^k_ij omega^i p_k + lambda a_j,   p = I omega,   a . omega = 0                [QS] (5.4), 6.1; [ND] (14)

    Energy is exact. The turns of constant velocity make the line a . omega = 0, (I a) . omega = 0; one half of it
    attracts, the other repels, and each motion runs from a point of it to the opposite one.
    """

    coordinates = ()
    structure = HeldAxis.structure

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.turning_energy(xi)

    def frame(self, q: Array) -> Array:
        return jnp.zeros((0, 3))

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.lagrangian, "exact")}

    def shapes(self, q: Array) -> list[np.ndarray]:
        """Nothing: the attitude has been reduced away."""
        return []

    def sample(self) -> dict:
        """As for Suslov."""
        return {"q": (), "xi": (0.8, -0.9), "h": 0.05}
