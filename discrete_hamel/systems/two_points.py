"""[BE] section 8: two mass points in the plane whose velocities are parallel, or across the line that joins them."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.nonlinear import NonlinearSystem
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI


class TwoPointsParallelVelocities(NonlinearSystem):
    """Two mass points in the plane whose velocities are kept parallel: a constraint that is truly nonlinear.

    Coordinates (x1, y1, x2, y2). z = (v1, v2, theta): both velocities along the direction theta, with signs. The force
    is gravity along x (an inclined plane: `inclined_plane`), an ideal spring between them (`ideal_spring`) or both.

        x_i' = v_i cos(theta),  y_i' = v_i sin(theta)            x1' y2' - x2' y1' = 0              [BE] 8.3, (50)-(51)
        m_i v_i' = A_i . e,   (m1 v1^2 + m2 v2^2) theta' = (v1 A_1 + v2 A_2) . n                                  (52)

    with e = (cos, sin), n = (-sin, cos). Energy is kept by the motion: the constraint is homogeneous. So is v1 - v2 on
    the plane without a spring. Where both speeds are zero the constraint is singular; a run that meets it stops.
    """

    mass1: float = 1.0  # kg
    mass2: float = 2.0  # kg
    gravity: float = 0.0  # m/s^2, along the plane (g sin of the incline), downhill along x
    stiffness: float = 1.0  # N/m, of the spring of natural length 0 between the points

    rank = 3
    coordinates = ("x1", "y1", "x2", "y2")
    velocities = ("v1", "v2", "theta")
    units = SI
    singular = "both speeds are zero, and theta is lost"

    @classmethod
    def inclined_plane(
        cls, mass1: float = 1.0, mass2: float = 1.0, gravity: float = 1.0
    ) -> "TwoPointsParallelVelocities":
        """On an inclined plane.   [BE] 8.3.1, (53)-(54)"""
        return cls(mass1, mass2, gravity, 0.0)

    @classmethod
    def ideal_spring(
        cls, mass1: float = 1.0, mass2: float = 1.0, stiffness: float = 1.0
    ) -> "TwoPointsParallelVelocities":
        """On a horizontal plane, linked by a spring.   [BE] 8.3.2, (55)"""
        return cls(mass1, mass2, 0.0, stiffness)

    def lagrangian(self, q: Array, v: Array) -> Array:
        kinetic = 0.5 * (self.mass1 * (v[:2] @ v[:2]) + self.mass2 * (v[2:] @ v[2:]))
        link = q[2:] - q[:2]
        return kinetic + self.gravity * (self.mass1 * q[0] + self.mass2 * q[2]) - 0.5 * self.stiffness * (link @ link)

    def velocity(self, q: Array, z: Array) -> Array:  # the same at every q
        c, s = jnp.cos(z[2]), jnp.sin(z[2])
        return jnp.stack([z[0] * c, z[0] * s, z[1] * c, z[1] * s])

    def z_of(self, q: Array, v: Array) -> Array:
        """theta is that of the faster point, whose v_i is then positive."""
        first, second = v[:2], v[2:]
        along = jnp.where(first @ first >= second @ second, first, second)
        theta = jnp.arctan2(along[1], along[0])
        e = jnp.stack([jnp.cos(theta), jnp.sin(theta)])
        return jnp.stack([first @ e, second @ e, theta])

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, z: Array) -> Array:
            return 0.5 * (self.mass1 * z[0] ** 2 + self.mass2 * z[1] ** 2) - self.lagrangian(q, jnp.zeros(4))

        return {"energy": Invariant(energy, "bounded")}

    def check(self) -> None:
        physical.positive(self, "mass1", "mass2")
        physical.not_negative(self, "stiffness")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The points and the spring."""
        return _points(np.asarray(q)[:2], np.asarray(q)[2:])

    def sample(self) -> dict:
        """[BE] case A: opposite velocities across the spring, of different sizes."""
        return {"q": (0.0, 0.0, 1.0, 0.0), "xi": (1.0, -2.0, np.pi / 2), "h": 0.02}


class TwoPointsOrthogonalVelocities(System):
    """Two free mass points whose velocities are kept across the line that joins them: linear, whatever it looks like.

    Coordinates (x, y, theta, rho): the first point, and the second in polar coordinates about it. Quasi-velocities: v
    of the first point across the line, omega = theta', which are free, and its velocity along the line and rho'.

        x' = v sin(theta),  y' = -v cos(theta),  theta' = omega,  rho' = 0                            [BE] 8.1, (46)
        v' = (rho A_v + A_theta) / (rho m1),   omega' = (rho m2 A_v + (m1 + m2) A_theta) / (rho^2 m1 m2)
        A_v = sin(theta) A_x - cos(theta) A_y

    The last two are (49) corrected: G_12 = -rho m2, so det G = rho^2 m1 m2 never vanishes. rho stays as it is, so that
    a spring does no work. See `CoaxialDiscs` for the same motion in Cartesian coordinates.
    """

    mass1: float = 1.0  # kg
    mass2: float = 2.0  # kg
    gravity: float = 1.0  # m/s^2, along the plane, downhill along x
    stiffness: float = 0.0  # N/m, of a spring of natural length 0 between the points

    rank = 2
    coordinates = ("x", "y", "theta", "rho")
    velocities = ("v", "omega", "along", "rho'")
    units = SI

    def lagrangian(self, q: Array, xi: Array) -> Array:
        rho, (v, omega, along, opening) = q[3], xi
        kinetic = self.mass1 * (v**2 + along**2) + self.mass2 * ((v - rho * omega) ** 2 + (along + opening) ** 2)
        x2 = q[0] + rho * jnp.cos(q[2])
        potential = -self.gravity * (self.mass1 * q[0] + self.mass2 * x2) + 0.5 * self.stiffness * rho**2
        return 0.5 * kinetic - potential

    def frame(self, q: Array) -> Array:
        c, s = jnp.cos(q[2]), jnp.sin(q[2])
        return jnp.array([[s, 0.0, c, 0.0], [-c, 0.0, s, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return self.lagrangian(q, xi) - 2 * self.lagrangian(q, jnp.zeros(4))

        return {"energy": Invariant(energy, "bounded"), "rho": Invariant(lambda q, _: q[3], "exact")}

    def symmetries(self) -> dict[str, Callable]:
        return {"translation along y": lambda _: jnp.array([0.0, 1.0, 0.0, 0.0])}

    def check(self) -> None:
        physical.positive(self, "mass1", "mass2")
        physical.not_negative(self, "stiffness")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The points and the line between them."""
        x, y, theta, rho = np.asarray(q)
        return _points(np.array([x, y]), np.array([x + rho * np.cos(theta), y + rho * np.sin(theta)]))

    def sample(self) -> dict:
        """Turning on the slope."""
        return {"q": (0.0, 0.0, 0.3, 1.0), "xi": (0.5, 1.5), "h": 0.02}


class SegmentParallelVelocities(System):
    """Two mass points on a massless rigid segment, with parallel velocities: of two linear constraints, one holds.

    Coordinates (x, y, phi): the first point and the segment's angle. Quasi-velocities: of the first point along and
    across the segment (tau, nu), and phi'. The constraint is quadratic, tau phi' = 0, and its motions are of two types:

        type I   (`turning`)        tau = 0: free are (nu, phi'), both points move across the segment    [BE] 8.4, (61)
        type II  (not `turning`)    phi' = 0: free are (tau, nu), the segment is carried along                     (62)

    Each type is a motion of its own; in states with tau = phi' = 0 (`transitional`) they meet, and which one goes on
    is not determined. Type I is also [BE] 8.2. Gravity acts along x, a spring would do no work. Energy is kept.
    """

    mass1: float = 1.0  # kg
    mass2: float = 2.0  # kg
    length: float = 1.0  # m, of the segment
    gravity: float = 1.0  # m/s^2, along the plane, downhill along x
    turning: bool = True  # type I, else type II

    rank = 2
    coordinates = ("x", "y", "phi")
    units = SI | {"nu": "m/s", "tau": "m/s"}

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]  # the free ones come first
        return ("nu", "phi'", "tau") if self.turning else ("tau", "nu", "phi'")

    def _tau_nu_rate(self, xi: Array) -> Array:
        return jnp.stack([xi[2], xi[0], xi[1]]) if self.turning else xi

    def lagrangian(self, q: Array, xi: Array) -> Array:
        tau, nu, rate = self._tau_nu_rate(xi)
        kinetic = self.mass1 * (tau**2 + nu**2) + self.mass2 * (tau**2 + (nu + self.length * rate) ** 2)
        x2 = q[0] + self.length * jnp.cos(q[2])
        return 0.5 * kinetic + self.gravity * (self.mass1 * q[0] + self.mass2 * x2)

    def frame(self, q: Array) -> Array:
        c, s = jnp.cos(q[2]), jnp.sin(q[2])
        along, across, turn = jnp.stack([c, s, 0 * c]), jnp.stack([-s, c, 0 * c]), jnp.array([0.0, 0.0, 1.0])
        return jnp.stack([across, turn, along] if self.turning else [along, across, turn], axis=1)

    def coordinate_lagrangian(self, q: Array, v: Array) -> Array:
        """L(q, qdot), for the constraint as it is written."""
        tau_nu_rate = jnp.stack([self.constraint_factors(q, v)[0], v[1] * jnp.cos(q[2]) - v[0] * jnp.sin(q[2]), v[2]])
        return self.lagrangian(q, tau_nu_rate[jnp.array([1, 2, 0] if self.turning else [0, 1, 2])])

    def constraint_factors(self, q: Array, v: Array) -> Array:
        """(tau, phi') of a velocity.   [BE] (61), (62)"""
        return jnp.stack([v[0] * jnp.cos(q[2]) + v[1] * jnp.sin(q[2]), v[2]])

    def constraint(self, q: Array, v: Array) -> Array:
        """tau phi', which vanishes in both dynamics: one row, for `from_nonlinear_constraints`.   [BE] (60)"""
        return jnp.prod(self.constraint_factors(q, v))[None]

    def transitional(self, q: Array, v: Array, within: float = 1e-9) -> bool:
        """Whether a velocity allows both dynamics: tau and phi' are zero, `within` the size of v."""
        tau, rate = np.abs(np.asarray(self.constraint_factors(jnp.asarray(q), jnp.asarray(v, float))))
        speed = float(np.max(np.abs(v)))
        return bool(tau <= within * speed and rate * self.length <= within * speed)

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return self.lagrangian(q, xi) - 2 * self.lagrangian(q, jnp.zeros(3))

        return {"energy": Invariant(energy, "bounded")}

    def symmetries(self) -> dict[str, Callable]:
        return {"translation along y": lambda _: jnp.array([0.0, 1.0, 0.0])}

    def check(self) -> None:
        physical.positive(self, "mass1", "mass2", "length")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The segment and its points."""
        x, y, phi = np.asarray(q)
        return _points(np.array([x, y]), np.array([x, y]) + float(self.length) * np.array([np.cos(phi), np.sin(phi)]))

    def sample(self) -> dict:
        """Type I, turning on the slope."""
        return {"q": (0.0, 0.0, 0.3), "xi": (0.5, 1.5), "h": 0.02}


def _points(first: np.ndarray, second: np.ndarray) -> list[np.ndarray]:
    """The line between two points, and the points."""
    return [outlines.segment(first, second), outlines.dot(first), outlines.dot(second)]
