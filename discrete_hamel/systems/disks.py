"""Disks that roll without slipping on a horizontal plane."""

import math
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree, Scalar
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.contact_laws import of_arguments
from discrete_hamel.systems._blocks.lie_algebras import constants
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.pendulums import hat
from discrete_hamel.systems.rolling import (
    Rolling,
    axisymmetric_moments,
    spin_of_the_body,
    standing,
    symmetries_in_angles,
)
from discrete_hamel.systems.rolling_bodies import leaning, support_of_disk


class VerticalDisk(System):
    """A disk that stays upright and rolls without slipping: the simplest of all, in closed form.

    Coordinates (phi, psi, x, y): heading, own rotation, and contact point. Quasi-velocities (phi', psi', zeta1, zeta2)
    with zeta1 = x' cos phi + y' sin phi + R psi' and zeta2 = -x' sin phi + y' cos phi the slips, signs as in [QS] 6.5.

        l = {A phi'^2 + B psi'^2 + m (zeta1 - R psi')^2 + m zeta2^2} / 2,   A phi'' = 0,  (B + m R^2) psi'' = 0

    phi' and psi' are exact, so is energy; the contact point runs around a circle of radius R |psi' / phi'|. The
    reaction across the heading is -m R psi' phi'. Reference: the lean theta = 0 of [QS] 6.5 with the upright
    constraint.
    """

    mass: float = 1.0  # kg
    radius: float = 1.0  # m
    inertia_diameter: float = 0.25  # kg m^2, about a diameter (A)
    inertia_axis: float = 0.5  # kg m^2, about the axis (B)
    gravity: float = 9.8  # m/s^2, of no effect on the motion

    rank = 2
    coordinates = ("phi", "psi", "x", "y")
    velocities = ("phi'", "psi'", "zeta1", "zeta2")
    units = SI

    def lagrangian(self, q: Array, xi: Array) -> Array:
        heading, own, along, across = xi
        centre = (along - self.radius * own) ** 2 + across**2
        return 0.5 * (self.inertia_diameter * heading**2 + self.inertia_axis * own**2 + self.mass * centre)

    def frame(self, q: Array) -> Array:
        c, s, r = jnp.cos(q[0]), jnp.sin(q[0]), self.radius
        return jnp.array(
            [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, -r * c, c, -s], [0.0, -r * s, s, c]],
        )

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.lagrangian, "exact"),
            "phi'": Invariant(lambda q, xi: xi[0], "exact"),
            "psi'": Invariant(lambda q, xi: xi[1], "exact"),
        }

    @of_arguments
    def contact_force(self, q: Array, xi: Array) -> Array:
        """m g, the plane's normal force."""
        return self.mass * self.gravity * jnp.ones_like(q[0])

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return {
            "own rotation": lambda q: jnp.array([0.0, 1.0, 0.0, 0.0]),
            "translation along x": lambda q: jnp.array([0.0, 0.0, 1.0, 0.0]),
            "translation along y": lambda q: jnp.array([0.0, 0.0, 0.0, 1.0]),
            "rotation about the vertical": lambda q: jnp.stack(
                [jnp.ones_like(q[0]), jnp.zeros_like(q[0]), -q[3], q[2]]
            ),
        }

    def check(self) -> None:
        _check(self)
        physical.not_negative(self, "gravity")

    def sample(self) -> dict:
        """Once around the circle in a little more than six seconds."""
        return {"q": (0.0, 0.0, 0.0, 0.0), "xi": (1.0, 2.0), "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The disk in space, its face in quarters, and its contact."""
        phi, psi, x, y = np.asarray(q, float)
        return _rim(float(self.radius), 0.0, phi, psi, x, y)


class RollingDisk(Natural):
    """A thin disk that rolls without slipping and is free to lean.

    Coordinates (theta, phi, psi, x, y): lean from the vertical, heading, own rotation, and contact point.
    Quasi-velocities (theta', phi', psi', zeta1, zeta2), where zeta1 = x' cos phi + y' sin phi + R psi' and
    zeta2 = -x' sin phi + y' cos phi are the slips along and across the heading; rolling is zeta1 = zeta2 = 0.

        L = m/2 [(zeta1 - R(phi' sin theta + psi'))^2 + zeta2^2 sin^2 theta + (zeta2 cos theta + R theta')^2]
          + 1/2 [A (theta'^2 + phi'^2 cos^2 theta) + B (phi' sin theta + psi')^2] - m g R cos theta        [QS] 6.5

    With p1 = A phi' cos theta and p2 = (m R^2 + B) (phi' sin theta + psi') (errata) the momentum equations are

        p1' = (tan theta p1 - B / (m R^2 + B) p2) theta',   p2' = -(m R^2 / A) p1 theta'                 [QS] 6.5

    two linear equations in theta, and E = (A + m R^2) theta'^2 / 2 + U_c, U_c = p1^2 / 2A + p2^2 / 2(m R^2 + B)
    + m g R cos theta, which tends to infinity at theta = +-pi/2 for all momenta but a line: the disk never falls.
    Upright straight rolling is stable iff psi'^2 > m g R A / (B (B + m R^2)).

    Energy is bounded. These coordinates have a pole at theta = +-pi/2, where the disk lies flat;
    `RollingDiskOnRotations` has none.
    """

    mass: float = 1.0  # kg
    radius: float = 1.0  # m
    inertia_diameter: float = 0.25  # kg m^2, about a diameter (A)
    inertia_axis: float = 0.5  # kg m^2, about the axis (B)
    gravity: float = 9.8  # m/s^2

    rank = 3
    coordinates = ("theta", "phi", "psi", "x", "y")
    velocities = ("theta'", "phi'", "psi'", "zeta1", "zeta2")
    units = SI

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        lean, heading, own, along, across = xi
        spin = heading * s + own
        centre = (along - self.radius * spin) ** 2 + (across * s) ** 2 + (across * c + self.radius * lean) ** 2
        turning = self.inertia_diameter * (lean**2 + (heading * c) ** 2) + self.inertia_axis * spin**2
        return 0.5 * (self.mass * centre + turning), self.mass * self.gravity * self.radius * c

    def frame(self, q: Array) -> Array:
        c, s, r = jnp.cos(q[1]), jnp.sin(q[1]), self.radius
        return jnp.array(
            [
                [1.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, 1.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0, 0.0],
                [0.0, 0.0, -r * c, c, -s],
                [0.0, 0.0, -r * s, s, c],
            ]
        )

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            kinetic, potential = self._energies(q, xi)
            return kinetic + potential

        return {"energy": Invariant(energy, "bounded")}

    @of_arguments
    def contact_force(self, q: Array, xi: Array) -> Array:
        """The plane's normal force, m (g + z'') with z = R cos(theta): positive where the plane pushes, as it does."""
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        lean, heading, own = xi[:3]
        rolling = self.mass * self.radius**2
        spin = (rolling + self.inertia_axis) * (heading * s + own)
        # (A + m R^2) theta'' = ((m R^2 + B)(phi' sin theta + psi') - A phi' sin theta) phi' cos theta + m g R sin theta
        moment = (spin - self.inertia_diameter * heading * s) * heading * c
        falling = (moment + self.mass * self.gravity * self.radius * s) / (rolling + self.inertia_diameter)
        return self.mass * (self.gravity - self.radius * (c * lean**2 + s * falling))

    def sample(self) -> dict:
        """A leaning disk that rolls fast enough to stay up."""
        return {"q": (0.3, 0.0, 0.0, 0.0, 0.0), "xi": (0.1, 0.6, 3.0), "h": 0.01}

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return symmetries_in_angles("own rotation")

    def check(self) -> None:
        _check(self)
        physical.not_negative(self, "gravity")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The disk in space, its face in quarters, and its contact."""
        theta, phi, psi, x, y = np.asarray(q, float)
        return _rim(float(self.radius), theta, phi, psi, x, y)


class RollingDiskOnRotations(Rolling):
    """The rolling disk on rotation matrices: no angles and no poles.

    Body axes: two diameters and the axis. Coordinates, quasi-velocities and l are those of `Rolling` with
    rho = R (gamma - gamma3 e_3) / |gamma - gamma3 e_3|, J = diag(A, A, B). It is undefined only flat on the plane,
    where no single point touches. With J1 = A, J3 = B, p = gamma3 and omega3 = alpha P_nu(p) + beta P_nu(-p),

        (J3 + m R^2) domega3/dp = -m R^2 Omega2,  d/dp {(1 - p^2) domega3/dp} = k omega3,  nu (nu + 1) = -k
        k = J3 m R^2 / (J1 (J3 + m R^2)),  (1 - p^2) Omega2 = gamma1 omega1 + gamma2 omega2              [MD] 9.5

    so alpha and beta are constants of the motion; no scheme keeps them exactly. Energy is bounded. Steady motions are
    lost at O(h^2), because gamma and omega turn in the body's axes; `RollingDisk` and `RollingBodyAngles.of` keep them.
    """

    mass: float = 1.0  # kg
    radius: float = 1.0  # m
    inertia_diameter: float = 0.25  # kg m^2, about a diameter (A)
    inertia_axis: float = 0.5  # kg m^2, about the axis (B)
    gravity: float = 9.8  # m/s^2

    def to_centre(self, gamma: Array) -> Array:
        inward = gamma.at[2].set(0.0)
        return self.radius * inward / jnp.sqrt(inward @ inward)

    def moments(self) -> Array:
        return jnp.diag(jnp.stack([self.inertia_diameter, self.inertia_diameter, self.inertia_axis]))

    def shape_of_revolution(self) -> tuple[Callable, PyTree]:
        """The support function h(c), and its parameters."""
        return support_of_disk, self.radius

    def attitude(self, theta: Scalar, phi: Scalar, psi: Scalar) -> Array:
        """R of lean, heading and own rotation of `RollingDisk`."""
        x, y, z = jnp.eye(3)
        return _turn(z, phi) @ _turn(x, -theta) @ _turn(y, -psi) @ _turn(x, jnp.pi / 2)

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return Rolling.symmetries(self) | {"rotation about the disk's axis": spin_of_the_body}

    def check(self) -> None:
        _check(self)
        physical.not_negative(self, "gravity")

    def sample(self) -> dict:
        """Leaning by 0.3, rolling fast enough to stay up."""
        return {"q": leaning(math.pi / 2 - 0.3), "xi": (-0.1, 0.573, 3.177), "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The disk in space, its face in quarters, and its contact."""
        q = np.asarray(q, float)
        attitude, gamma = q[:9].reshape(3, 3), q[6:9]
        height, rho = standing(self, jnp.asarray(gamma))
        centre = np.array([*q[9:11], float(height)])
        across, up = float(self.radius) * attitude.T[:2]
        contact = centre - attitude @ np.asarray(rho)
        return [*outlines.disk(centre, across, up), outlines.contact(*contact[:2])]


def _turn(axis: Array, angle: Scalar) -> Array:
    """The rotation by `angle` about a unit vector."""
    return jnp.eye(3) + jnp.sin(angle) * hat(axis) + (1 - jnp.cos(angle)) * hat(axis) @ hat(axis)


def _rim(radius: float, theta: float, phi: float, psi: float, x: float, y: float) -> list[np.ndarray]:
    heading = np.array([np.cos(phi), np.sin(phi), 0.0])
    left = np.array([-np.sin(phi), np.cos(phi), 0.0])
    up = np.cos(theta) * np.array([0.0, 0.0, 1.0]) + np.sin(theta) * left
    centre = np.array([x, y, 0.0]) + radius * up
    spoke = radius * (np.cos(psi) * up - np.sin(psi) * heading)
    ahead = radius * (np.cos(psi) * heading + np.sin(psi) * up)
    return [*outlines.disk(centre, ahead, spoke), outlines.contact(x, y)]


def _check(disk: "VerticalDisk | RollingDisk | RollingDiskOnRotations") -> None:
    physical.positive(disk, "mass", "radius", "inertia_diameter", "inertia_axis")
    axisymmetric_moments(disk, "inertia_diameter", "inertia_axis")


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
        physical.positive(self, "mass1", "mass2")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The axis, and the two discs from above."""
        first, second = np.asarray(q)[:2], np.asarray(q)[2:]
        blade = 0.3 * np.array([-(second - first)[1], (second - first)[0]])
        discs = [outlines.segment(p - blade, p + blade).view(outlines.Blade) for p in (first, second)]
        return [outlines.segment(first, second), *discs]

    def sample(self) -> dict:
        """Turning on a gentle slope."""
        return {"q": (0.0, 0.0, 0.0, 1.0), "xi": (-0.5, -1.5), "h": 0.02}
