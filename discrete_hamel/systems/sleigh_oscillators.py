"""A sleigh that carries a mass on a spring, in the two frames of [QS] 6.3."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel.mechanics.system import Invariant
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.sleighs import body_fields, motions_of_plane, platform


def sliding_energies(
    system: "SleighOscillator",
    r: Array,
    rate: Array,
    turn: Array,
    along: Array,
    across: Array,
) -> tuple[Array, Array]:
    """Kinetic and potential energy of a sleigh with a sliding mass, for (r', Omega1, Omega2, Omega3).   [QS] 6.3"""
    m, total = system.mass, system.sleigh + system.mass
    shape = system.sleigh * m / total * rate**2
    turning = (system.inertia + m * r**2) * turn**2 + 2 * m * r * turn * across
    return 0.5 * (shape + turning + total * (along**2 + across**2)), 0.5 * system.stiffness * r**2


def sliding_fields(system: "SleighOscillator", theta: Array) -> Array:
    """(r', theta', x', y') of (r', Omega): the body frame of SE(2), and d/dr - m / (M + m) e2.   [QS] 6.3"""
    fields = body_fields(theta)
    shape = -system.mass / (system.sleigh + system.mass) * fields[:, 1]
    top = jnp.array([[1.0, 0.0, 0.0, 0.0]])
    return jnp.concatenate([top, jnp.concatenate([shape[:, None], fields], axis=1)])


def sliding_outline(q: ArrayLike) -> list[np.ndarray]:
    """The platform and the sliding mass."""
    r, theta, x, y = np.asarray(q)
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * 0.06 + np.array([float(r), 0.0])
    return [*platform(theta, x, y), outlines.planar(theta, x, y, square).view(outlines.Load)]


class SleighOscillator(Natural):
    """A balanced sleigh with a mass on a spring that slides along the line of the blade.

    Coordinates (r, theta, x, y): place of the mass ahead of the contact point, heading, contact point. Quasi-velocities
    (r', Omega1, Omega2, Omega3): Omega1 = theta', Omega2 the velocity along the blade plus m r' / (M + m) (that of the
    common mass centre), Omega3 the velocity across it, zero. J is the sleigh's inertia about the contact point.

        l = (M m / (M + m) r'^2 + (J + m r^2) Omega1^2 + (M + m) (Omega2^2 + Omega3^2) - k r^2) / 2 + m r Omega1 Omega3
        M m / (M + m) r'' = M m r p1^2 / ((M + m) (J + m r^2)^2) - k r
        p1' = (-m r p1 p2 + m^2 r p1 r') / ((M + m) (J + m r^2)),   p2' = m r p1^2 / (J + m r^2)^2       [QS] 6.3, (6.5)

    Energy is bounded. The motion of (r, p) is periodic, with period 2 tau, where p1 is small, and then
    g(t + 2 tau) = h g(t) with one element h of SE(2).
    """

    sleigh: float = 1.0  # kg, mass of the sleigh (M)
    mass: float = 0.5  # kg, mass that slides (m)
    inertia: float = 0.6  # kg m^2, of the sleigh about the contact point (J)
    stiffness: float = 2.0  # N/m, of the spring (k)

    rank = 3
    coordinates = ("r", "theta", "x", "y")
    velocities = ("r'", "Omega1", "Omega2", "Omega3")
    units = SI | {"Omega2": "m/s", "Omega3": "m/s"}

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        return sliding_energies(self, q[0], *xi)

    def frame(self, q: Array) -> Array:
        return sliding_fields(self, q[1])

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.total_energy, "bounded")}

    def symmetries(self) -> dict[str, Callable]:
        return motions_of_plane(before=1)

    def check(self) -> None:
        physical.positive(self, "sleigh", "mass", "inertia", "stiffness")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The blade, the platform, and the mass as a small square on the line of the blade."""
        return sliding_outline(q)

    def sample(self) -> dict:
        """The mass passes the contact point while the sleigh turns slowly: the motion of (r, p) is periodic."""
        return {"q": (0.0, 0.0, 0.0, 0.0), "xi": (0.8, 0.3, 0.5), "h": 0.05}


class SleighOscillatorScaledFrame(SleighOscillator):
    """The sleigh with a sliding mass in the frame that removes r' from the momentum equation.

    Coordinates and parameters as for `SleighOscillator`. Quasi-velocities (r', xi1, Omega2, Omega3) with
    Omega1 = (J + m r^2)^(-m / (2 (M + m))) xi1.

        M m / (M + m) r'' = M m r p1^2 / ((M + m) (J + m r^2)^(M / (M + m) + 1)) - k r                    [QS] (6.6)
        p1' = -m r p1 p2 / ((M + m) (J + m r^2)),   p2' = m r p1^2 / (J + m r^2)^(M / (M + m) + 1)          (6.7), (6.8)

    Energy is bounded. The equations are kept by p1 -> -p1; (r, p2) -> -(r, p2); (t, r) -> -(t, r); (t, p2) -> -(t, p2).
    """

    velocities = ("r'", "xi1", "Omega2", "Omega3")
    units = SI | {"Omega2": "m/s", "Omega3": "m/s", "xi1": ""}  # that of xi1 changes with the masses

    def scale(self, r: Array) -> Array:
        """Omega1 / xi1."""
        return (self.inertia + self.mass * r**2) ** (-self.mass / (2 * (self.sleigh + self.mass)))

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        return sliding_energies(self, q[0], xi[0], self.scale(q[0]) * xi[1], xi[2], xi[3])

    def frame(self, q: Array) -> Array:
        return sliding_fields(self, q[1]) @ jnp.diag(jnp.stack([1.0, self.scale(q[0]), 1.0, 1.0]))

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.total_energy, "bounded")}

    def sample(self) -> dict:
        """As for SleighOscillator, with about the same turning rate."""
        return {"q": (0.0, 0.0, 0.0, 0.0), "xi": (0.8, 0.275, 0.5), "h": 0.05}
