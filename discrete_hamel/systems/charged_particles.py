"""Charged particles in uniform fields: the magnetic term is linear in the velocity."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.particles import NonholonomicParticle, contact_frame


def _electromagnetic(system: "ChargedParticle | ChargedNonholonomicParticle", q: Array, velocity: Array) -> Array:
    """e (A . v - phi) with A = B x q / 2 and phi = -E . q."""
    magnetic, electric = jnp.asarray(system.magnetic), jnp.asarray(system.electric)
    return system.charge * (0.5 * jnp.cross(magnetic, q) @ velocity + electric @ q)


class ChargedParticle(System):
    """A charged particle in uniform magnetic and electric fields.

    Coordinates (x, y, z), no constraint, quasi-velocities (x', y', z'). The magnetic field enters as a term linear in
    the velocity, through the vector potential A = B x q / 2.

        L = m |v|^2 / 2 + e (A . v + E . q),   m v' = e (v x B + E)        [MD] 2.1; its (2.1) lacks the charge

    Energy and the component of m v - e q x B along E x B are exact.
    """

    mass: float = 1.0  # kg
    charge: float = 1.0  # C
    magnetic: ArrayLike = (0.0, 0.0, 1.0)  # T, the field B
    electric: ArrayLike = (0.0, 0.1, 0.0)  # V/m, the field E

    rank = 3
    coordinates = ("x", "y", "z")
    velocities = ("x'", "y'", "z'")
    units = SI | {"charge": "C", "magnetic": "T", "electric": "V/m", "momentum along E x B": "kg T V/s"}

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * self.mass * (xi @ xi) + _electromagnetic(self, q, xi)

    def frame(self, q: Array) -> Array:
        return jnp.eye(3)

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return 0.5 * self.mass * (xi @ xi) - self.charge * jnp.asarray(self.electric) @ q

        def across(q: Array, xi: Array) -> Array:
            """Of m v - e q x B, the component along E x B, which E does not push."""
            momentum = self.mass * xi - self.charge * jnp.cross(q, jnp.asarray(self.magnetic))
            return momentum @ jnp.cross(jnp.asarray(self.electric), jnp.asarray(self.magnetic))

        return {
            "energy": Invariant(energy, "exact"),
            "momentum along E x B": Invariant(across, "exact"),
        }

    def check(self) -> None:
        physical.positive(self, "mass")
        physical.shape(self, "magnetic", (3,))
        physical.shape(self, "electric", (3,))

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The particle with a small cross."""
        return [*(outlines.segment(q - d, q + d) for d in 0.1 * np.eye(3)), outlines.dot(q)]

    def sample(self) -> dict:
        """A drifting helix."""
        return {"q": (1.0, 0.0, 0.0), "xi": (0.0, 1.0, 0.2), "h": 0.05}


class ChargedNonholonomicParticle(System):
    """A charged particle in uniform fields that can move only so that z' = y x'.

    Coordinates, frame and constraint as for `NonholonomicParticle`, fields as for `ChargedParticle`.

        L = m |v|^2 / 2 + e (A . v + E . q),   z' = y x';   m v' = e (v x B + E) + lambda (-y, 0, 1)     [MD] 2.1, ch. 6

    Energy is bounded where B has no y-component: then the system is reversible.
    """

    mass: float = 1.0  # kg
    charge: float = 1.0  # C
    magnetic: ArrayLike = (0.0, 0.0, 1.0)  # T, the field B
    electric: ArrayLike = (0.0, 0.0, 0.0)  # V/m, the field E

    rank = 2
    coordinates = ("x", "y", "z")
    velocities = NonholonomicParticle.velocities

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * self.mass * (xi @ xi) + _electromagnetic(self, q, self.frame(q) @ xi)

    def frame(self, q: Array) -> Array:
        return contact_frame(q[1])

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return 0.5 * self.mass * (xi @ xi) - self.charge * jnp.asarray(self.electric) @ q

        return {"energy": Invariant(energy, "bounded")}

    def check(self) -> None:
        physical.positive(self, "mass")
        physical.shape(self, "magnetic", (3,))
        physical.shape(self, "electric", (3,))

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The plane in which it may move."""
        fields = np.asarray(self.frame(q))
        return [outlines.patch(q, fields[:, 0], fields[:, 1]), outlines.dot(q)]

    def sample(self) -> dict:
        """Turning within the constraint."""
        return {"q": (0.0, 0.5, 0.0), "xi": (0.6, 0.4), "h": 0.05}
