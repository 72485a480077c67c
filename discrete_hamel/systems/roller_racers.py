"""The roller racer, which is driven by wagging its handle."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.carts import DrivenInPlane, in_the_plane, plane_symmetries, wheel


class RollerRacer(System):
    """Two platforms hinged together, each with one axle that does not skid; the front one is the handle.

    Coordinates (theta, x, y, phi): heading and middle of the rear axle, and the handle's angle. The hinge is `rear`
    (d1) ahead of the rear axle, the front axle `front` (d2) ahead of the hinge. The handle has inertia but no mass.
    Quasi-velocities (v, phi', slips): v moves the racer with the handle held, phi' turns it; with w = d1 cos(phi) + d2,
    d = d1 + d2, N = w^2 + d^2 sin^2(phi),

        theta' = v sin(phi) / d - phi' d2 w / N,   forward = v w / d + phi' d2 d^2 sin(phi) / N
        L = {m |x'|^2 + I1 theta'^2 + I2 (theta' + phi')^2} / 2

    Energy is bounded. The racer is stuck, the frame singular, only for d1 = d2 folded up, phi = pi.
    Reference: Krishnaprasad and Tsakiris (2001).
    """

    mass: float = 1.0  # kg, at the rear axle
    inertia: float = 0.3  # kg m^2, of the rear platform about the vertical (I1)
    handle_inertia: float = 0.1  # kg m^2, of the handle about the vertical (I2)
    rear: float = 0.6  # m, rear axle to hinge (d1)
    front: float = 0.2  # m, hinge to front axle (d2)

    rank = 2
    coordinates = ("theta", "x", "y", "phi")
    velocities = ("v", "phi'", "sideways", "across v")
    units = SI

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return _racer_energy(self, _racer_wheels(self, q[3]) @ xi, xi[1])

    def frame(self, q: Array) -> Array:
        place = in_the_plane(q[0]) @ _racer_wheels(self, q[3])
        return jnp.concatenate([place, jnp.eye(4)[1:2]])

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.lagrangian, "bounded")}

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return plane_symmetries(self.coordinates)

    def check(self) -> None:
        _check_racer(self)

    def sample(self) -> dict:
        """Rolling with the handle let go."""
        return {"q": (0.0, 0.0, 0.0, 0.5), "xi": (1.0, 0.3), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Both platforms and axles, in the plane."""
        theta, x, y, phi = np.asarray(q, float)
        return _racer(float(self.rear), float(self.front), theta, x, y, phi)


class DrivenRollerRacer(DrivenInPlane):
    """The roller racer whose handle phi(t) is prescribed: wagging it drives the racer along.

    Coordinates (theta, x, y, t); quasi-velocities (v, slips, t'), where t' = 1 is a slip. Parameters as for
    `RollerRacer`; with its w, d and N the hinges impose

        theta' = v sin(phi) / d - phi' d2 w / N,   forward = v w / d + phi' d2 d^2 sin(phi) / N,   phi = phi(t)

    Nothing is conserved. Reference: Krishnaprasad and Tsakiris (2001).
    """

    mass: float = 1.0  # kg, at the rear axle
    inertia: float = 0.3  # kg m^2, of the rear platform about the vertical (I1)
    handle_inertia: float = 0.1  # kg m^2, of the handle about the vertical (I2)
    rear: float = 0.6  # m, rear axle to hinge (d1)
    front: float = 0.2  # m, hinge to front axle (d2)
    steering: Callable = jnp.sin  # phi(t)

    def _rolling(self, q: Array, rate: Array) -> Array:
        """Columns in the racer's axes: v, sideways, across v, and the handle's turning at `rate`."""
        phi, speed = jax.jvp(self.steering, (q[3],), (rate,))
        wheels = _racer_wheels(self, phi)
        return jnp.stack([wheels[:, 0], wheels[:, 2], wheels[:, 3], speed * wheels[:, 1]], axis=1)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        steering = jax.jvp(self.steering, (q[3],), (xi[3],))[1]
        return _racer_energy(self, self._rolling(q, jnp.ones_like(q[3])) @ xi, steering)

    def frame(self, q: Array) -> Array:
        place = in_the_plane(q[0]) @ self._rolling(q, jnp.ones_like(q[3]))
        return jnp.concatenate([place, jnp.eye(4)[3:]])

    def check(self) -> None:
        _check_racer(self)

    def sample(self) -> dict:
        """From rest."""
        return {"q": (0.0, 0.0, 0.0, 0.0), "xi": (0.0,), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Both platforms and axles, in the plane."""
        theta, x, y, t = np.asarray(q, float)
        return _racer(float(self.rear), float(self.front), theta, x, y, float(self.steering(t)))


# Planar velocities below are (turning, forward, sideways).


def _racer_wheels(racer: "RollerRacer | DrivenRollerRacer", phi: Array) -> Array:
    """Columns v, phi', sideways, across v."""
    c, s, d = jnp.cos(phi), jnp.sin(phi), racer.rear + racer.front
    w = racer.rear * c + racer.front
    size = (w**2 + (d * s) ** 2) / racer.front
    return jnp.array([[s / d, -w / size, 0.0, -w / d], [w / d, d**2 * s / size, 0.0, d * s], [0.0, 0.0, 1.0, 0.0]])


def _racer_energy(racer: "RollerRacer | DrivenRollerRacer", planar: Array, steering: Array) -> Array:
    turning, forward, sideways = planar
    moving = racer.mass * (forward**2 + sideways**2) + racer.inertia * turning**2
    return 0.5 * (moving + racer.handle_inertia * (turning + steering) ** 2)


def _check_racer(racer: "RollerRacer | DrivenRollerRacer") -> None:
    physical.positive(racer, "mass", "inertia", "handle_inertia", "rear", "front")


def _racer(rear: float, front: float, theta: float, x: float, y: float, phi: float) -> list[np.ndarray]:
    hinge = outlines.planar(theta, x, y, [(rear, 0.0)])[0]
    width = 0.3 * (rear + front)
    seat = [(-0.4 * width, -width), (0.4 * width, -width), (rear, 0.0), (0.4 * width, width), (-0.4 * width, width)]
    back = outlines.planar(theta, x, y, [(0.0, -width), (0.0, width)])
    fork = outlines.planar(theta + phi, hinge[0], hinge[1], [(0.0, 0.0), (front, 0.0)])
    bar = outlines.planar(theta + phi, hinge[0], hinge[1], [(front, -width / 2), (front, width / 2)])
    heading = [(theta, place) for place in back] + [(theta + phi, place) for place in bar]
    wheels = [wheel(turn, place, 0.4 * width) for turn, place in heading]
    return [outlines.planar(theta, x, y, [*seat, seat[0]]).view(outlines.Solid), fork, bar, *wheels]
