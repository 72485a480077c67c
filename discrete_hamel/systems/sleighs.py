"""Sleighs: a blade on a plane that cannot move sideways."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI


def body_fields(theta: Array) -> Array:
    """The body frame of SE(2) in (theta, x, y): turning, along the blade, across it, as columns.   [QS] 6.2"""
    c, s = jnp.cos(theta), jnp.sin(theta)
    return jnp.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def motions_of_plane(before: int = 0) -> dict[str, Callable]:
    """Generators of SE(2) on coordinates (.., theta, x, y), with so many before theta."""
    zeros = [0.0] * before
    return {
        "translation along x": lambda q: jnp.array([*zeros, 0.0, 1.0, 0.0]),
        "translation along y": lambda q: jnp.array([*zeros, 0.0, 0.0, 1.0]),
        "rotation of the plane": lambda q: jnp.array([*zeros, 1.0, -q[-1], q[-2]]),
    }


def platform(theta: ArrayLike, x: ArrayLike, y: ArrayLike, length: float = 0.3) -> list[np.ndarray]:
    """The blade and the platform above it."""
    blade = outlines.blade(theta, x, y, length)
    hull = np.array([(-1, -0.8), (1, -0.8), (1.8, 0), (1, 0.8), (-1, 0.8), (-1, -0.8)]) * length
    return [blade, outlines.planar(theta, x, y, hull).view(outlines.Solid)]


class ChaplyginSleigh(System):
    """A platform on a horizontal plane that slides on one blade, which forbids sideways motion at its contact point.

    Coordinates (theta, x, y): heading and contact point. Quasi-velocities (omega, v1, v2): turning rate and the contact
    point's velocity along and across the blade; the constraint is v2 = 0. The mass centre is `offset` ahead of the
    contact point along the blade; `inertia` is about the mass centre.

        l = ((J + m a^2) omega^2 + m (v1^2 + v2^2)) / 2 + m a omega v2
        p1' = -a p1 p2 / (J + m a^2),   p2' = m a p1^2 / (J + m a^2)^2        [QS] (6.1), [ND] (19)

    Energy is exact. For a != 0 straight motion with the mass centre ahead of the blade (a v1 > 0) attracts.
    Reference: [QS] 6.2; [HE] 2.5 (balanced, offset = 0).
    """

    mass: float = 1.0  # kg
    inertia: float = 0.7  # kg m^2, about the mass centre
    offset: float = 0.4  # m, mass centre ahead of the contact point

    rank = 2
    coordinates = ("theta", "x", "y")
    velocities = ("omega", "v1", "v2")
    units = SI

    def lagrangian(self, q: Array, xi: Array) -> Array:
        omega, v1, v2 = xi
        turning = (self.inertia + self.mass * self.offset**2) * omega**2
        return 0.5 * (turning + self.mass * (v1**2 + v2**2)) + self.mass * self.offset * omega * v2

    def frame(self, q: Array) -> Array:
        return body_fields(q[0])

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(lambda q, xi: self.lagrangian(q, xi), "exact")}

    def symmetries(self) -> dict[str, Callable]:
        return motions_of_plane()

    def check(self) -> None:
        physical.positive(self, "mass", "inertia")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The blade, the platform, and the mass centre as a short bar."""
        theta, x, y = np.asarray(q)
        centre = outlines.planar(theta, x, y, [(self.offset, -0.05), (self.offset, 0.05)])
        return [*platform(theta, x, y), centre]

    def sample(self) -> dict:
        """Initial data and a step that show the turn into straight motion."""
        return {"q": (0.1, 0.0, 0.0), "xi": (1.5, -0.3), "h": 0.01}


class ChaplyginSleighMomentumFrame(System):
    """Chaplygin's sleigh in a frame whose two momenta are constants of motion.

    Coordinates (theta, x, y) and parameters as for `ChaplyginSleigh`. Quasi-velocities along

        u1 = cos(k theta) e1 + (a/k) sin(k theta) e2,   u2 = -(k/a) sin(k theta) e1 + cos(k theta) e2,   u3 = e3

    with the body frame e1 (turning), e2, e3 (along and across the blade) and k^2 = m a^2 / (J + m a^2); the constraint
    is xi3 = 0. (The paper prints a for k before sin in l; with it p1 and p2 would not be constant.)

        l = ((J + m a^2) xi1^2 + m xi2^2 + m xi3^2) / 2 + m (a cos(k theta) xi1 - k sin(k theta) xi2) xi3
        p1' = 0,   p2' = 0                                                    [QS] (6.2)-(6.4)

    Both momenta and energy are exact, here for every tau. Turned by 2 pi the frame is another one, so theta is a
    number, not an angle.
    """

    mass: float = 1.0  # kg
    inertia: float = 0.7  # kg m^2, about the mass centre
    offset: float = 0.4  # m, mass centre ahead of the contact point

    rank = 2
    coordinates = ("theta", "x", "y")
    velocities = ("xi1", "xi2", "v2")
    units = SI | {"xi2": "m/s", "p1": "kg m^2/s", "p2": "kg m/s"}

    def _ratio(self) -> Array:
        """k / a, which a balanced sleigh has too."""
        return jnp.sqrt(self.mass / (self.inertia + self.mass * self.offset**2))

    def lagrangian(self, q: Array, xi: Array) -> Array:
        k = self.offset * self._ratio()
        c, s = jnp.cos(k * q[0]), jnp.sin(k * q[0])
        turning = (self.inertia + self.mass * self.offset**2) * xi[0] ** 2
        coupling = self.mass * (self.offset * c * xi[0] - k * s * xi[1]) * xi[2]
        return 0.5 * (turning + self.mass * (xi[1] ** 2 + xi[2] ** 2)) + coupling

    def frame(self, q: Array) -> Array:
        ratio = self._ratio()
        angle = self.offset * ratio * q[0]
        c, s = jnp.cos(angle), jnp.sin(angle)
        return body_fields(q[0]) @ jnp.array([[c, -ratio * s, 0.0], [s / ratio, c, 0.0], [0.0, 0.0, 1.0]])

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(lambda q, xi: self.lagrangian(q, xi), "exact"),
            "p1": Invariant(lambda q, xi: (self.inertia + self.mass * self.offset**2) * xi[0], "exact"),
            "p2": Invariant(lambda q, xi: self.mass * xi[1], "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        return motions_of_plane()

    def check(self) -> None:
        physical.positive(self, "mass", "inertia")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The blade and the platform."""
        return platform(*np.asarray(q))

    def sample(self) -> dict:
        """The motion of ChaplyginSleigh's sample, which starts at theta = 0."""
        return {"q": (0.0, 0.0, 0.0), "xi": (1.5, -0.3), "h": 0.01}


class DegenerateSleigh(System):
    """A blade without inertia about the vertical: its heading is not determined, and has to be prescribed.

    Coordinates (t, theta, x, y): time, heading, contact point. Quasi-velocities: forward velocity; t' = 1; theta' -
    turning(t), zero; sideways velocity, zero. `turning` is any function of time.

        l = m |e^(-i theta) z'|^2 / 2,   Im(e^(-i theta) z') = 0
        xi' = 0,   z' = e^(i theta) xi,   theta(t) arbitrary                   [HE] after Example 4.1

    The forward velocity is exact, whatever the heading does.
    """

    mass: float = 1.0  # kg
    turning: Callable = static(default=jnp.cos)  # rad/s, theta' as a function of t

    rank = 1
    coordinates = ("t", "theta", "x", "y")
    velocities = ("forward", "t'", "theta' - turning", "sideways")
    units = SI

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * self.mass * (xi[0] ** 2 + xi[3] ** 2)

    def frame(self, q: Array) -> Array:
        turn, along, across = body_fields(q[1]).T
        clock = jnp.stack([jnp.ones(()), self.turning(q[0]), jnp.zeros(()), jnp.zeros(())])
        zero = jnp.zeros(1)
        fields = [jnp.concatenate([zero, field]) for field in (along, turn, across)]
        return jnp.stack([fields[0], clock, fields[1], fields[2]], axis=1)

    def slip(self, q: Array) -> Array:
        return jnp.array([1.0, 0.0, 0.0])

    def invariants(self) -> dict[str, Invariant]:
        return {"forward velocity": Invariant(lambda q, xi: xi[0], "exact")}

    def symmetries(self) -> dict[str, Callable]:
        return motions_of_plane(before=1)

    def check(self) -> None:
        physical.positive(self, "mass")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The blade."""
        return [platform(*np.asarray(q)[1:])[0].view(outlines.Skate)]

    def sample(self) -> dict:
        """A blade that winds to and fro."""
        return {"q": (0.0, 0.0, 0.0, 0.0), "xi": (1.0,), "h": 0.05}
