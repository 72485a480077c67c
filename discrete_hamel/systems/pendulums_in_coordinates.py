"""The spherical pendulum in angles and in Cartesian coordinates, for comparison with `pendulums`."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI


class SphericalPendulumAngles(Natural):
    """A bob on a massless rod, in spherical coordinates: for comparison, with a pole where the rod is vertical.

    Coordinates (theta, phi): angle from the downward vertical, azimuth. No constraint; quasi-velocities (theta', phi').

        L = m r^2 (theta'^2 + sin^2 theta phi'^2) / 2 + m g r cos theta        [HE] 6

    Vertical momentum is exact (phi is cyclic); energy is bounded.
    """

    mass: float = 1.0  # kg
    length: float = 9.8  # m
    gravity: float = 9.8  # m/s^2

    rank = 2
    coordinates = ("theta", "phi")
    velocities = ("theta'", "phi'")
    units = SI

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        speed = xi[0] ** 2 + (jnp.sin(q[0]) * xi[1]) ** 2
        return 0.5 * self.mass * self.length**2 * speed, -self.mass * self.gravity * self.length * jnp.cos(q[0])

    def frame(self, q: Array) -> Array:
        return jnp.eye(2)

    def invariants(self) -> dict[str, Invariant]:
        def vertical_momentum(q: Array, xi: Array) -> Array:
            return self.mass * (self.length * jnp.sin(q[0])) ** 2 * xi[1]

        return {
            "energy": Invariant(self.total_energy, "bounded"),
            "vertical momentum": Invariant(vertical_momentum, "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        return {"rotation about the vertical": lambda q: jnp.array([0.0, 1.0])}

    def position(self, q: Array) -> Array:
        """The bob, z up."""
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return self.length * jnp.stack([s * jnp.cos(q[1]), s * jnp.sin(q[1]), -c])

    def check(self) -> None:
        physical.positive(self, "mass", "length")

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The rod."""
        return [outlines.rod(np.zeros(3), self.position(q))]

    def sample(self) -> dict:
        """A wide swing that keeps clear of the pole."""
        return {"q": (1.2, 0.0), "xi": (0.0, 0.8), "h": 0.1}


class SphericalPendulumCartesian(System):
    """A bob at x in R^3 kept at its distance from the origin, the constraint written for velocities: x . x' = 0.

    Coordinates (x, y, z), z up, at the distance `length`; `constraint` is g(x) = (x . x - length^2) / 2, for Rattle and
    Stormer-Verlet. Quasi-velocities (v1, v2, v3): components along the reflection of the x-, y- and z-axis
    that carries z to x / |x|, so v3 = |x|' . The frame has its pole straight up, x = (0, 0, length).

        L = m |x'|^2 / 2 - m g z,   m x'' = -m g e_z + lambda x,   x . x' = 0        [HE] 6

    |x|, energy (the frame is orthonormal, the potential linear) and vertical momentum are exact.
    `SphericalPendulum` has no pole.
    """

    mass: float = 1.0  # kg
    length: float = 9.8  # m
    gravity: float = 9.8  # m/s^2

    rank = 2
    coordinates = ("x", "y", "z")
    velocities = ("v1", "v2", "|x|'")
    units = SI

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * self.mass * (xi @ xi) - self.mass * self.gravity * q[2]  # the frame is orthonormal

    def frame(self, q: Array) -> Array:
        x, y, z = q / jnp.sqrt(q @ q)
        w = 1 / (1 - z)
        return jnp.array([[1 - w * x**2, -w * x * y, x], [-w * x * y, 1 - w * y**2, y], [x, y, z]])

    def structure(self, q: Array) -> Array:
        """[u1, u2] = (x u2 - y u1) / (r (r - z)),  [u1, u3] = u1 / r,  [u2, u3] = u2 / r, r = |q|; cheaper than by
        autodiff, which would not fit the compiled loop."""
        r = jnp.sqrt(q @ q)
        turn, scale = 1 / (r * (r - q[2])), 1 / r
        upper = [[[0.0, -turn * q[1], scale], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]
        upper += [[[0.0, turn * q[0], 0.0], [0.0, 0.0, scale], [0.0, 0.0, 0.0]], [[0.0] * 3] * 3]
        c = jnp.array(upper)
        return c - jnp.swapaxes(c, 1, 2)

    def constraint(self, q: Array) -> Array:
        """g(x) = (x . x - length^2) / 2, one row."""
        return 0.5 * (q @ q - self.length**2)[None]

    def holonomic(self, q: Array) -> Array:
        return (q @ q / self.length**2 - 1)[None]

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return 0.5 * self.mass * (xi @ xi) + self.mass * self.gravity * q[2]

        def vertical_momentum(q: Array, xi: Array) -> Array:
            v = self.frame(q) @ xi
            return self.mass * (q[0] * v[1] - q[1] * v[0])

        return {
            "energy": Invariant(energy, "exact"),
            "vertical momentum": Invariant(vertical_momentum, "exact"),
            "length": Invariant(lambda q, xi: jnp.sqrt(q @ q), "exact", ("frame", "rank", "slip")),
        }

    def symmetries(self) -> dict[str, Callable]:
        return {"rotation about the vertical": lambda q: jnp.array([-q[1], q[0], 0.0])}

    def check(self) -> None:
        physical.positive(self, "mass", "length")

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The rod."""
        return [outlines.rod(np.zeros(3), q)]

    def sample(self) -> dict:
        """The motion of the angles' sample, in Cartesian coordinates, at the default length."""
        s, c = 0.9320390859672263, 0.3623577544766736  # of 1.2 rad
        return {"q": (9.8 * s, 0.0, -9.8 * c), "xi": (0.0, 0.8 * 9.8 * s), "h": 0.1}
