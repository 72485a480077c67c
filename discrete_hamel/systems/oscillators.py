"""Oscillators coupled by a nonholonomic constraint x' + f(y) z' = 0: integrable, and a test of integrators."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines


def coupled_frame(coupling: Array) -> Array:
    """Fields d/dy and d/dz - f d/dx, which span D of x' + f z' = 0, and d/dx: xi = (y', z', x' + f z')."""
    return jnp.array([[0.0, -coupling, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def _driven_energy(system: System, q: Array, xi: Array) -> Array:
    """(x^2 + z^2 + x'^2 + z'^2) / 2, which the driver y does not change."""
    x, _, z = q
    vx, _, vz = system.frame(q) @ xi
    return 0.5 * (vx**2 + vz**2 + x**2 + z**2)


class ContactOscillator(System):
    """Three oscillators of unit mass and stiffness, two of them geared by the third: x' + y z' = 0.

    Coordinates (x, y, z). Quasi-velocities (y', z', x' + y z'), the last one zero.

        L = (|v|^2 - |q|^2) / 2,   x' + y z' = 0
        x'' = -x + lambda,   y'' = -y,   z'' = -z + lambda y         McLachlan, Perlmutter 2006; Modin, Verdier 2020

    The driver's energy (y^2 + y'^2) / 2 is exact. The others' energy is bounded, because every motion is its own
    reverse: (x, y, z'; x', y', z) -> (-x, -y, -z'; x', y', z) maps its torus to itself.
    """

    rank = 2
    coordinates = ("x", "y", "z")
    velocities = ("y'", "z'", "x' + y z'")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        v = self.frame(q) @ xi
        return 0.5 * (v @ v - q @ q)

    def frame(self, q: Array) -> Array:
        return coupled_frame(q[1])

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(lambda q, xi: self.lagrangian(q, xi) + q @ q, "bounded"),
            "energy of the driver": Invariant(lambda q, xi: 0.5 * (q[1] ** 2 + xi[0] ** 2), "exact"),
            "energy of the driven": Invariant(lambda q, xi: _driven_energy(self, q, xi), "bounded"),
        }

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The point's place, from the origin."""
        fields = np.asarray(self.frame(q))
        return [outlines.segment(np.zeros(3), q), outlines.patch(q, fields[:, 0], fields[:, 1]), outlines.dot(q)]

    def sample(self) -> dict:
        """All three in motion."""
        return {"q": (1.0, 0.3, 0.2), "xi": (0.9, 0.5), "h": 0.1}


class Gearbox(System):
    """A continuously variable gearbox: two oscillators geared by a rotating pendulum, x' + sin(y) z' = 0.

    Coordinates (x, y, z). Quasi-velocities (y', z', x' + sin(y) z'), the last one zero.

        L = |v|^2 / 2 - (x^2 + z^2) / 2 - cos y - (epsilon / 2) sin 2y,   x' + sin(y) z' = 0
        x'' = -x + lambda,   y'' = sin y - epsilon cos 2y,   z'' = -z + lambda sin y             Modin, Verdier 2020

    The driver's energy is bounded. Of the driven oscillators' energy, which the motion keeps, nothing is claimed. Like
    every natural system this one is reversed by v -> -v ([QS] Prop. 4.3), but that turns the driver the other way
    round, on another torus. For epsilon = 0 it is reversed by (x, y, z'; x', y', z) -> (-x, -y, -z'; x', y', z) too,
    which keeps the driver's sense of rotation: the motion is its own reverse, and the energy stays bounded. For
    epsilon > 0 no such involution is known, and the energy drifts with the default scheme. With
    `orthonormal`, the field d/dz - sin(y) d/dx has unit length and the driven energy is exact for every epsilon: what
    drifts depends on the frame.
    """

    epsilon: float = 0.3  # breaks the involution that keeps the sense of rotation
    orthonormal: bool = False  # scale the frame to unit length, so that xi2 = z' sqrt(1 + sin^2 y)

    rank = 2
    coordinates = ("x", "y", "z")

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]  # the frame may be scaled
        return ("y'", "z' sqrt(1 + sin^2 y)" if self.orthonormal else "z'", "x' + sin(y) z'")

    def potential(self, y: Array) -> Array:
        """The driver's potential cos y + (epsilon / 2) sin 2y."""
        return jnp.cos(y) + 0.5 * self.epsilon * jnp.sin(2 * y)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        v = self.frame(q) @ xi
        return 0.5 * (v @ v - q[0] ** 2 - q[2] ** 2) - self.potential(q[1])

    def frame(self, q: Array) -> Array:
        f = jnp.sin(q[1])
        if not self.orthonormal:
            return coupled_frame(f)
        size = jnp.sqrt(1 + f**2)
        return jnp.array([[0.0, -f / size, 1 / size], [1.0, 0.0, 0.0], [0.0, 1 / size, f / size]])

    def invariants(self) -> dict[str, Invariant]:
        def driver(q: Array, xi: Array) -> Array:
            return 0.5 * xi[0] ** 2 + self.potential(q[1])

        def driven_energy(q: Array, xi: Array) -> Array:
            return _driven_energy(self, q, xi)

        return {
            "energy": Invariant(lambda q, xi: driver(q, xi) + driven_energy(q, xi), "continuous"),
            "energy of the driver": Invariant(driver, "bounded"),
            "energy of the driven": Invariant(driven_energy, "exact" if self.orthonormal else "continuous"),
        }

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The driver's arm at angle y, and the two oscillators as segments along the axes."""
        x, y, z = np.asarray(q)
        arm = outlines.rod((0, 0), (np.sin(y), np.cos(y)))
        return [arm, outlines.rod((0, 0), (x, 0)), outlines.rod((0, 0), (0, z))]

    def sample(self) -> dict:
        """A driver that goes round, and both oscillators in motion."""
        return {"q": (1.0, 0.0, 0.5), "xi": (1.0, 0.5), "h": 0.1}
