"""Bases on wheels: a differential drive with its caster, three wheels that roll every way, two disks on an axle."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.carts import wheel
from discrete_hamel.systems.garage.carried import Vehicle, along_coordinate, heading, plane_motions


class DifferentialDrive(Vehicle):
    """A base on two wheels, each with its own motor, and a caster that follows.

    Coordinates (theta, x, y, left, right, fork, caster): heading, middle of the axle, angles of the wheels, of the fork
    against the base, and of the caster wheel. Quasi-velocities: the rates of the two wheels, then the five slips, each
    the rate of a coordinate beyond what the wheels make it. With R the radius, b half the track, d = `pivot` the way
    back from axle to fork, e = `trail` that from fork to caster, r its radius,

        u = R (left' + right') / 2,  theta' = R (right' - left') / (2 b),  (x, y)' = u t(theta)
        e (fork' + theta') = -u sin(fork) - d theta' cos(fork),  r caster' = u cos(fork) - d theta' sin(fork)
        L = {m |v_c|^2 + J theta'^2 + J_w (left'^2 + right'^2) + m_f |v_f|^2 + J_f (theta' + fork')^2
             + m_r |v_r|^2 + J_r caster'^2} / 2

    Energy is bounded. Campion, Bastin and d'Andrea-Novel (1996), type (2, 0). Going forward, the fork ends trailing.
    """

    mass: float = 9.0  # kg, of the base with both wheels (m)
    inertia: float = 0.27  # kg m^2, of these about the vertical through their mass centre (J)
    centre: float = 0.0  # m, axle to that mass centre
    wheel_inertia: float = 0.0025  # kg m^2, of a wheel about its axle (J_w)
    wheel_radius: float = 0.1  # m (R)
    half_track: float = 0.2  # m (b)
    pivot: float = 0.2  # m, axle back to the fork's axis (d)
    trail: float = 0.04  # m, fork's axis back to the caster's contact (e)
    fork_mass: float = 0.2  # kg, in its axis (m_f)
    fork_inertia: float = 0.001  # kg m^2, of fork and caster wheel about verticals through their centres (J_f)
    caster_mass: float = 0.1  # kg (m_r)
    caster_inertia: float = 8e-5  # kg m^2, about its axle (J_r)
    caster_radius: float = 0.04  # m (r)

    rank = 2
    coordinates = ("theta", "x", "y", "left", "right", "fork", "caster")
    velocities = ("left'", "right'", "slip theta", "slip x", "slip y", "slip fork", "slip caster")
    units = (
        SI
        | {name: "rad" for name in ("left", "right", "fork", "caster")}
        | {name: "m" for name in ("pivot", "trail", "caster_radius")}
        | {"fork_mass": "kg", "caster_mass": "kg", "fork_inertia": "kg m^2", "caster_inertia": "kg m^2"}
        | {"slip theta": "rad/s", "slip x": "m/s", "slip y": "m/s", "slip fork": "rad/s", "slip caster": "rad/s"}
    )

    def qdot(self, q: Array, xi: Array) -> Array:
        left, right, *slips = xi
        forward = 0.5 * self.wheel_radius * (left + right)
        turning = 0.5 * self.wheel_radius / self.half_track * (right - left)
        along, _ = heading(q[0])
        c, s = jnp.cos(q[5]), jnp.sin(q[5])
        fork = -(forward * s + self.pivot * turning * c) / self.trail - turning
        caster = (forward * c - self.pivot * turning * s) / self.caster_radius
        turned, x, y, of_fork, of_caster = slips
        return jnp.stack(
            [turning + turned, *(forward * along + jnp.stack([x, y])), left, right, fork + of_fork, caster + of_caster]
        )

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        turning, left, right, steering, caster = v[0], v[3], v[4], v[0] + v[5], v[6]
        (_, across), (_, to_side) = heading(q[0]), heading(q[0] + q[5])
        centre = v[1:3] + self.centre * turning * across
        fork = v[1:3] - self.pivot * turning * across
        hub = fork - self.trail * steering * to_side
        places = self.mass * centre @ centre + self.fork_mass * fork @ fork + self.caster_mass * hub @ hub
        turns = self.inertia * turning**2 + self.fork_inertia * steering**2
        spins = self.wheel_inertia * (left**2 + right**2) + self.caster_inertia * caster**2
        return 0.5 * (places + turns + spins), jnp.zeros(())

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        wheels = {f"rotation of the {self.coordinates[i]} wheel": along_coordinate(7, i) for i in (3, 4, 6)}
        return plane_motions(7, (0,), (1, 2)) | wheels

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "wheel_inertia", "wheel_radius", "half_track", "trail")
        physical.positive(self, "caster_radius")
        physical.not_negative(self, "fork_mass", "fork_inertia", "caster_mass", "caster_inertia")

    def sample(self) -> dict:
        """In a curve, the caster the wrong way round."""
        return {"q": (0.0, 0.0, 0.0, 0.0, 0.0, 2.9, 0.0), "xi": (5.0, 7.0), "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Base and wheels, from above."""
        theta, x, y, _, _, fork, _ = np.asarray(q, float)
        b, d, e, r, small = (
            float(a) for a in (self.half_track, self.pivot, self.trail, self.wheel_radius, self.caster_radius)
        )
        deck = [(r, -0.8 * b), (r, 0.8 * b), (-d - r, 0.8 * b), (-d - r, -0.8 * b), (r, -0.8 * b)]
        left, right, pivot = outlines.planar(theta, x, y, [(0, b), (0, -b), (-d, 0)])
        hub = outlines.planar(theta + fork, pivot[0], pivot[1], [(-e, 0.0)])[0]
        wheels = [wheel(theta, left, r), wheel(theta, right, r), wheel(theta + fork, hub, small)]
        return [outlines.planar(theta, x, y, deck).view(outlines.Solid), outlines.segment(pivot, hub), *wheels]


class OmniBase(Vehicle):
    """A base on three wheels with rollers on their rims, a third of a turn apart: it drives every way at once.

    Coordinates (theta, x, y, phi1, phi2, phi3): heading, middle, and angles of the wheels. Quasi-velocities: turning,
    forward and sideways, then the slips, the wheels' rates beyond what rolling makes them. A wheel at the angle a_i
    holds the base along its own plane and not across:

        R phi_i' = -sin(a_i) forward + cos(a_i) sideways + b theta',   a_i = pi/3, pi, 5 pi/3
        L = {m |v_c|^2 + J theta'^2 + J_w (phi1'^2 + phi2'^2 + phi3'^2)} / 2

    Energy is bounded. Muir and Neuman (1987). With c = 0 turning is uniform and the middle goes straight.
    """

    mass: float = 10.0  # kg, of everything (m)
    inertia: float = 0.4  # kg m^2, of everything about the vertical through its mass centre (J)
    centre: float = 0.05  # m, middle to mass centre, ahead (c)
    wheel_inertia: float = 0.002  # kg m^2, of a wheel about its axle (J_w)
    wheel_radius: float = 0.06  # m (R)
    reach: float = 0.2  # m, middle to wheels (b)

    rank = 3
    coordinates = ("theta", "x", "y", "phi1", "phi2", "phi3")
    velocities = ("turning", "forward", "sideways", "slip phi1", "slip phi2", "slip phi3")
    units = SI | {f"phi{i}": "rad" for i in (1, 2, 3)} | {f"slip phi{i}": "rad/s" for i in (1, 2, 3)} | {"reach": "m"}

    def qdot(self, q: Array, xi: Array) -> Array:
        turning, forward, sideways = xi[:3]
        along, across = heading(q[0])
        a = MOUNTS
        rolled = (-np.sin(a) * forward + np.cos(a) * sideways + self.reach * turning) / self.wheel_radius
        return jnp.concatenate([turning[None], forward * along + sideways * across, rolled + xi[3:]])

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        _, across = heading(q[0])
        centre = v[1:3] + self.centre * v[0] * across
        turning = self.inertia * v[0] ** 2 + self.wheel_inertia * (v[3:] @ v[3:])
        return 0.5 * (self.mass * centre @ centre + turning), jnp.zeros(())

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        wheels = {f"rotation of wheel {i - 2}": along_coordinate(6, i) for i in (3, 4, 5)}
        return plane_motions(6, (0,), (1, 2)) | wheels

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "wheel_inertia", "wheel_radius", "reach")

    def sample(self) -> dict:
        """Turning while it goes, which wheeled things seldom do."""
        return {"q": (0.0,) * 6, "xi": (1.5, 0.6, 0.2), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Deck, a mark ahead, and wheels, from above."""
        theta, x, y = np.asarray(q, float)[:3]
        b, r = float(self.reach), float(self.wheel_radius)
        rim = b * np.stack([np.cos(np.linspace(0, 2 * np.pi, 25)), np.sin(np.linspace(0, 2 * np.pi, 25))], axis=1)
        places = outlines.planar(theta, x, y, b * np.stack([np.cos(MOUNTS), np.sin(MOUNTS)], axis=1))
        wheels = [wheel(theta + a + np.pi / 2, place, r) for a, place in zip(MOUNTS, places, strict=True)]
        ahead = outlines.planar(theta, x, y, [(0.0, 0.0), (b, 0.0)])
        return [outlines.planar(theta, x, y, 0.9 * rim).view(outlines.Solid), ahead, *wheels]


MOUNTS = np.pi / 3 * np.array([1.0, 3.0, 5.0])  # rad, of OmniBase's wheels


class RollingAxle(Vehicle):
    """Two disks that roll at the ends of an axle, each turning freely on it, on a plane that may slope.

    Coordinates (theta, x, y, left, right): heading, middle, and angles of the disks; downhill is along x.
    Quasi-velocities: the disks' rates, then three slips.

        u = R (left' + right') / 2,  theta' = R (right' - left') / (2 b),  (x, y)' = u t(theta)
        L = {m |v|^2 + J theta'^2 + J_w (left'^2 + right'^2)} / 2 + m g sin(incline) x

    so that theta' is constant and (m + 2 J_w / R^2) u' = m g sin(incline) cos(theta): on a slope it moves along a
    cycloid, across the slope on average, as a knife edge does (`KnifeEdgeOnIncline`). Energy is bounded.
    """

    mass: float = 3.0  # kg, of axle and disks (m)
    inertia: float = 0.1  # kg m^2, of these about the vertical (J)
    wheel_inertia: float = 0.02  # kg m^2, of a disk about the axle (J_w)
    wheel_radius: float = 0.2  # m (R)
    half_track: float = 0.3  # m (b)
    incline: float = 0.1  # rad
    gravity: float = 9.81  # m/s^2

    rank = 2
    coordinates = ("theta", "x", "y", "left", "right")
    velocities = ("left'", "right'", "slip theta", "slip x", "slip y")
    units = SI | {"left": "rad", "right": "rad", "slip theta": "rad/s", "slip x": "m/s", "slip y": "m/s"}

    def qdot(self, q: Array, xi: Array) -> Array:
        left, right = xi[:2]
        forward = 0.5 * self.wheel_radius * (left + right)
        turning = 0.5 * self.wheel_radius / self.half_track * (right - left)
        along, _ = heading(q[0])
        return jnp.concatenate([(turning + xi[2])[None], forward * along + xi[3:], xi[:2]])

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        kinetic = self.mass * v[1:3] @ v[1:3] + self.inertia * v[0] ** 2 + self.wheel_inertia * v[3:] @ v[3:]
        return 0.5 * kinetic, -self.mass * self.gravity * jnp.sin(self.incline) * q[1]

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        wheels = {f"rotation of the {self.coordinates[i]} disk": along_coordinate(5, i) for i in (3, 4)}
        return {"translation along y": along_coordinate(5, 2)} | wheels

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "wheel_inertia", "wheel_radius", "half_track")

    def sample(self) -> dict:
        """Turning on the slope."""
        return {"q": (0.0,) * 5, "xi": (-1.5, 1.5), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The axle and its disks, in space over the slope as if it were level."""
        theta, x, y, left, right = np.asarray(q, float)
        b, r = float(self.half_track), float(self.wheel_radius)
        along = np.array([np.cos(theta), np.sin(theta), 0.0])
        up, across = np.array([0.0, 0.0, 1.0]), np.array([-np.sin(theta), np.cos(theta), 0.0])
        hubs = [np.array([x, y, r]) + side * b * across for side in (1, -1)]
        drawn: list[np.ndarray] = [outlines.segment(*hubs), outlines.contact(x, y)]
        for hub, angle in zip(hubs, (left, right), strict=True):
            c, s = np.cos(angle), np.sin(angle)
            drawn += outlines.disk(hub, r * (c * along - s * up), r * (s * along + c * up))
        return drawn
