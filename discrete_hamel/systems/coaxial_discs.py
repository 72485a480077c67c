"""Two discs on one axis."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import Invariant
from discrete_hamel.systems._blocks import outlines, parameters
from discrete_hamel.systems._blocks.algebras import constants
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI

# Brackets of the frame (s1, s2, a1, a2) times the distance: [s1, s2] = a1 + a2, [s2, a_i] = s_i = -[s1, a_i].
BRACKETS = constants(
    4, (0, 1, 2, 1.0), (0, 1, 3, 1.0), (0, 2, 0, -1.0), (0, 3, 1, -1.0), (1, 2, 0, 1.0), (1, 3, 1, 1.0)
)


class CoaxialDiscs(Natural):
    """Two thin discs that roll upright on a plane and keep a common axis, along which they are free to slide.

    Their masses sit in their centres. Coordinates (x1, y1, x2, y2): the points of contact. Quasi-velocities: the two
    velocities across the axis (s1, s2), which are free, and the two along it, which are zero. `incline` tilts the
    plane, downhill along x.

        L = sum_i (m_i |v_i|^2 / 2 + m_i g sin(alpha) x_i),   v_i . (P_2 - P_1) = 0                  [BE] 8.2, Remark 7
        s_i' = g sin(alpha) n_x,  n the unit vector across the axis

    Energy and the distance of the discs are exact; nothing holds the distance. Where the discs meet, the axis is lost.
    """

    mass1: float = 1.0  # kg
    mass2: float = 2.0  # kg
    incline: float = 0.1  # rad, of the plane (alpha)
    gravity: float = 9.8  # m/s^2

    rank = 2
    coordinates = ("x1", "y1", "x2", "y2")
    velocities = ("s1", "s2", "a1", "a2")
    units = SI

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        masses = jnp.stack([self.mass1, self.mass2])
        kinetic = 0.5 * masses @ (xi[:2] ** 2 + xi[2:] ** 2)
        return kinetic, -self.gravity * jnp.sin(self.incline) * (masses @ q[::2])

    def frame(self, q: Array) -> Array:
        axis = q[2:] - q[:2]
        x, y = axis / jnp.sqrt(axis @ axis)
        return jnp.array([[-y, 0.0, x, 0.0], [x, 0.0, y, 0.0], [0.0, -y, 0.0, x], [0.0, x, 0.0, y]])

    def structure(self, q: Array) -> Array:
        axis = q[2:] - q[:2]
        return jnp.asarray(BRACKETS) / jnp.sqrt(axis @ axis)

    def invariants(self) -> dict[str, Invariant]:
        def distance(q: Array, _: Array) -> Array:
            axis = q[2:] - q[:2]
            return jnp.sqrt(axis @ axis)

        return {
            "energy": Invariant(self.total_energy, "exact"),
            "distance": Invariant(distance, "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        return {"translation along y": lambda q: jnp.array([0.0, 1.0, 0.0, 1.0])}

    def check(self) -> None:
        parameters.positive(self, "mass1", "mass2")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The axis, and the two discs from above."""
        first, second = np.asarray(q)[:2], np.asarray(q)[2:]
        blade = 0.3 * np.array([-(second - first)[1], (second - first)[0]])
        discs = [outlines.segment(p - blade, p + blade).view(outlines.Blade) for p in (first, second)]
        return [outlines.segment(first, second), *discs]

    def sample(self) -> dict:
        """Turning on a gentle slope."""
        return {"q": (0.0, 0.0, 0.0, 1.0), "xi": (-0.5, -1.5), "h": 0.02}
