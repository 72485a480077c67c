"""Particles with constraints on their velocity."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI


def contact_frame(y: Array) -> Array:
    """Orthonormal fields of z' = y x': along D, (d/dx + y d/dz) / s and d/dy; across, (d/dz - y d/dx) / s."""
    s = jnp.sqrt(1 + y**2)
    return jnp.array([[1 / s, 0.0, -y / s], [0.0, 1.0, 0.0], [y / s, 0.0, 1 / s]])


def translations(**directions: tuple[float, ...]) -> dict[str, Callable]:
    """Generators of translations of (x, y, z), by name."""
    return {f"translation along {name}": lambda q, d=d: jnp.array(d) for name, d in directions.items()}


class NonholonomicParticle(System):
    """A free particle in space that can move only so that z' = y x'.

    Coordinates (x, y, z). Quasi-velocities along the orthonormal frame (d/dx + y d/dz)/s, d/dy, (d/dz - y d/dx)/s with
    s = sqrt(1 + y^2), the last one zero.

        L = m (x'^2 + y'^2 + z'^2) / 2,   z' = y x';   y'' = 0,   (x' + y z') / s = C constant        [MD] ch. 6-8
        y = y0 + v t,   x = x0 + (C/v) (asinh y - asinh y0),   z = z0 + (C/v) (s - s0)

    Energy and both momenta are exact: the symmetry along the first field is horizontal and aligned with the frame.
    """

    mass: float = 1.0  # kg

    rank = 2
    coordinates = ("x", "y", "z")
    velocities = ("(x' + y z') / s", "y'", "(z' - y x') / s")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * self.mass * (xi @ xi)

    def frame(self, q: Array) -> Array:
        return contact_frame(q[1])

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.lagrangian, "exact"),
            "horizontal momentum": Invariant(lambda q, xi: self.mass * xi[0], "exact"),
            "momentum along y": Invariant(lambda q, xi: self.mass * xi[1], "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        return translations(x=(1.0, 0.0, 0.0), z=(0.0, 0.0, 1.0))

    def check(self) -> None:
        physical.positive(self, "mass")

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The plane in which it may move."""
        fields = np.asarray(self.frame(q))
        return [outlines.patch(q, fields[:, 0], fields[:, 1]), outlines.dot(q)]

    def sample(self) -> dict:
        """Moving along y and along the slope."""
        return {"q": (0.0, -1.0, 0.0), "xi": (0.6, 0.4), "h": 0.05}


class HeisenbergParticle(Natural):
    """Brockett's particle: z' = x y' - y x', so that z is twice the area swept; a spring pulls it to the origin.

    Coordinates (x, y, z). Quasi-velocities (x', y', z' - x y' + y x'): the left-invariant frame d/dx - y d/dz,
    d/dy + x d/dz, d/dz of the Heisenberg group, the last one zero.

        L = m |v|^2 / 2 - k |q|^2 / 2,   z' = x y' - y x'                after Bloch 2003, 1.8
        m x'' = -k x + lambda y,   m y'' = -k y - lambda x,   m z'' = -k z + lambda,   lambda = k z / (1 + x^2 + y^2)

    Energy is bounded. Without the spring the constraint needs no force, and the particle moves as if free.
    """

    mass: float = 1.0  # kg
    stiffness: float = 1.0  # N/m, of the spring

    rank = 2
    coordinates = ("x", "y", "z")
    velocities = ("x'", "y'", "z' - x y' + y x'")

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        v = self.frame(q) @ xi
        return 0.5 * self.mass * (v @ v), 0.5 * self.stiffness * (q @ q)

    def frame(self, q: Array) -> Array:
        x, y, _ = q
        return jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-y, x, 1.0]])

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.total_energy, "bounded")}

    def symmetries(self) -> dict[str, Callable]:
        return {"rotation about z": lambda q: jnp.array([-q[1], q[0], 0.0])}

    def check(self) -> None:
        physical.positive(self, "mass")
        physical.not_negative(self, "stiffness")

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The plane in which it may move."""
        fields = np.asarray(self.frame(q))
        return [outlines.patch(q, fields[:, 0], fields[:, 1]), outlines.dot(q)]

    def sample(self) -> dict:
        """Past the axis."""
        return {"q": (0.5, 0.2, 0.3), "xi": (-0.3, 0.8), "h": 0.05}


class KnifeEdgeOnIncline(Natural):
    """A blade on an inclined plane, its mass centre at the point of contact.

    Coordinates (theta, x, y): heading from the line of steepest descent, contact point with x downhill.
    Quasi-velocities (omega, v1, v2): turning, along the blade, across it; v2 = 0.

        L = m (x'^2 + y'^2) / 2 + J theta'^2 / 2 + m g sin(alpha) x,   x' sin(theta) = y' cos(theta)
        omega' = 0,   v1' = g sin(alpha) cos(theta)                          Bloch 2003, 1.6

    Turning rate and energy are exact. Let go at theta = 0 with omega != 0 it does not run downhill but traces a
    cycloid, x = g sin(alpha) sin^2(omega t) / (2 omega^2).
    """

    mass: float = 1.0  # kg
    inertia: float = 0.5  # kg m^2, about the point of contact
    incline: float = 0.5  # rad, of the plane against the horizontal (alpha)
    gravity: float = 9.8  # m/s^2

    rank = 2
    coordinates = ("theta", "x", "y")
    velocities = ("omega", "v1", "v2")
    units = SI

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        kinetic = 0.5 * (self.inertia * xi[0] ** 2 + self.mass * (xi[1] ** 2 + xi[2] ** 2))
        return kinetic, -self.mass * self.gravity * jnp.sin(self.incline) * q[1]

    def frame(self, q: Array) -> Array:
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return jnp.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.total_energy, "exact"),
            "turning momentum": Invariant(lambda q, xi: self.inertia * xi[0], "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        return translations(y=(0.0, 0.0, 1.0))

    def check(self) -> None:
        physical.positive(self, "mass", "inertia")

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The blade, in the plane."""
        return [outlines.blade(q[0], q[1], q[2], 0.1).view(outlines.Skate)]

    def sample(self) -> dict:
        """Let go pointing downhill, turning."""
        return {"q": (0.0, 0.0, 0.0), "xi": (1.0, 0.0), "h": 0.02}


class TranslationInvariantParticle(System):
    """The R^2-invariant example: s2' = b(r) s1' and a metric that b cancels on the constraint.

    Coordinates (r, s1, s2). Quasi-velocities along u1 = d/dr, u2 = exp(-b^2/2) (d/ds1 + b d/ds2), u3 = d/ds2, the last
    one zero. `b` and `potential` are functions of r.

        L = (r'^2 + (1 - b^2) s1'^2 + s2'^2) / 2 - V(r),   s2' = b(r) s1'
        p' = b b' p r' for p along d/ds1 + b d/ds2;   r'' = -V' - b b' p^2;   p2 = exp(-b^2/2) p constant    [QS] 4.3

    p2 is exact, because the symmetry is aligned with the frame; energy is bounded.
    """

    b: Callable = static(default=jnp.sin)  # of r, no unit
    potential: Callable = static(default=lambda r: 0.5 * r**2)  # V of r, J for a unit mass

    rank = 2
    coordinates = ("r", "s1", "s2")
    velocities = ("r'", "xi2", "s2' - b s1'")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        v = self.frame(q) @ xi
        return 0.5 * (v[0] ** 2 + (1 - self.b(q[0]) ** 2) * v[1] ** 2 + v[2] ** 2) - self.potential(q[0])

    def frame(self, q: Array) -> Array:
        b = self.b(q[0])
        scale = jnp.exp(-0.5 * b**2)
        return jnp.array([[1.0, 0.0, 0.0], [0.0, scale, 0.0], [0.0, scale * b, 1.0]])

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return self.lagrangian(q, xi) + 2 * self.potential(q[0])

        return {
            "energy": Invariant(energy, "bounded"),
            "p2": Invariant(lambda q, xi: jnp.exp(-(self.b(q[0]) ** 2)) * xi[1], "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        return translations(s1=(0.0, 1.0, 0.0), s2=(0.0, 0.0, 1.0))

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The plane in which it may move."""
        fields = np.asarray(self.frame(q))
        return [outlines.patch(q, fields[:, 0], fields[:, 1]), outlines.dot(q)]

    def sample(self) -> dict:
        """Oscillating along r."""
        return {"q": (0.5, 0.0, 0.0), "xi": (0.3, 0.8), "h": 0.05}
