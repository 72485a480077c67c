"""What has to balance: a cart on two wheels, a unicycle with its rider, a wheel with its rider inside."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import Invariant
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.garage.carried import Vehicle, along_coordinate, heading, plane_motions


class TwoWheeledBalancer(Vehicle):
    """An inverted pendulum on two wheels side by side, and what keeps it upright: a torque at the wheels.

    Coordinates (theta, x, y, tilt, left, right): heading, middle of the axle, tilt of the body forward, and angles of
    the wheels against the body. Quasi-velocities: the rates of tilt and of the wheels, then three slips.

        u = R (left' + right') / 2 + R tilt',  theta' = R (right' - left') / (2 b),  (x, y)' = u t(theta)
        L = {m |v|^2 + omega . I omega + 2 m_w (u^2 + b^2 theta'^2) + 2 J_d theta'^2
             + J_w ((left' + tilt')^2 + (right' + tilt')^2)} / 2 - m g l cos(tilt)
        torque = k1 tilt + k2 tilt' + k3 (tilt + (left + right) / 2) + k4 u / R

    on each wheel, with gains k1 to k4. Nothing is conserved. Grasser, d'Arrigo, Colombi and Rufer (2002).
    """

    mass: float = 6.0  # kg, of the body (m)
    moments: tuple[float, ...] = (0.12, 0.1, 0.05)  # kg m^2, of the body about its mass centre: forward, across, up
    height: float = 0.25  # m, axle to mass centre (l)
    wheel_mass: float = 0.6  # kg (m_w)
    wheel_inertia: float = 0.003  # kg m^2, of a wheel about the axle (J_w)
    wheel_diameter_inertia: float = 0.0016  # kg m^2, of a wheel about the vertical through its middle (J_d)
    wheel_radius: float = 0.1  # m (R)
    half_track: float = 0.2  # m (b)
    tilt_gain: float = 12.0  # N m/rad (k1)
    rate_gain: float = 2.0  # N m s/rad, of the tilt's rate (k2)
    angle_gain: float = 0.1  # N m/rad, of the wheels against the vertical (k3)
    speed_gain: float = 0.3  # N m s/rad, of their rate (k4)
    gravity: float = 9.81  # m/s^2

    rank = 3
    coordinates = ("theta", "x", "y", "tilt", "left", "right")
    velocities = ("tilt'", "left'", "right'", "slip theta", "slip x", "slip y")
    units = (
        SI
        | {"left": "rad", "right": "rad", "slip theta": "rad/s", "slip x": "m/s", "slip y": "m/s", "height": "m"}
        | {"moments": "kg m^2", "wheel_mass": "kg", "wheel_diameter_inertia": "kg m^2"}
        | {"tilt_gain": "N m/rad", "rate_gain": "N m s/rad", "angle_gain": "N m/rad", "speed_gain": "N m s/rad"}
    )

    def qdot(self, q: Array, xi: Array) -> Array:
        tilt, left, right = xi[:3]
        forward = self.wheel_radius * (0.5 * (left + right) + tilt)
        turning = 0.5 * self.wheel_radius / self.half_track * (right - left)
        along, _ = heading(q[0])
        return jnp.concatenate([(turning + xi[3])[None], forward * along + xi[4:], xi[:3]])

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        along, across = heading(q[0])
        c, s, high = jnp.cos(q[3]), jnp.sin(q[3]), self.height
        turning, tilt, left, right = v[0], v[3], v[4], v[5]
        forward, sideways = along @ v[1:3], across @ v[1:3]
        body = jnp.stack([forward + high * c * tilt, sideways + high * s * turning, -high * s * tilt])
        omega = jnp.stack([-s * turning, tilt, c * turning])
        twice = self.mass * body @ body + jnp.stack([*self.moments]) @ omega**2
        twice += 2 * self.wheel_mass * (forward**2 + sideways**2 + (self.half_track * turning) ** 2)
        twice += 2 * self.wheel_diameter_inertia * turning**2
        twice += self.wheel_inertia * ((left + tilt) ** 2 + (right + tilt) ** 2)
        return 0.5 * twice, self.mass * self.gravity * high * c

    def force(self, q: Array, xi: Array) -> Array:
        """The motors, between body and wheels."""
        tilt, turned = q[3], q[3] + 0.5 * (q[4] + q[5])
        speed = xi[0] + 0.5 * (xi[1] + xi[2])
        torque = self.tilt_gain * tilt + self.rate_gain * xi[0] + self.angle_gain * turned + self.speed_gain * speed
        return jnp.zeros(6).at[1:3].set(torque)

    def invariants(self) -> dict[str, Invariant]:
        """None: the motors turn."""
        return {}

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return plane_motions(6, (0,), (1, 2))

    def check(self) -> None:
        physical.positive(self, "mass", "moments", "height", "wheel_inertia", "wheel_radius", "half_track")
        physical.not_negative(self, "wheel_mass", "wheel_diameter_inertia")

    def sample(self) -> dict:
        """Tilted, in a curve: it catches itself."""
        return {"q": (0.0, 0.0, 0.0, 0.25, 0.0, 0.0), "xi": (0.0, -2.0, 2.0), "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Wheels, and the body as a pole with its mass on it."""
        theta, x, y, tilt, left, right = np.asarray(q, float)
        b, r, high = (float(a) for a in (self.half_track, self.wheel_radius, self.height))
        along, across = np.array([np.cos(theta), np.sin(theta), 0.0]), np.array([-np.sin(theta), np.cos(theta), 0.0])
        up = np.array([0.0, 0.0, 1.0])
        hub = np.array([x, y, r])
        pole = np.sin(tilt) * along + np.cos(tilt) * up
        bar = hub + 1.6 * high * pole + 0.5 * b * np.outer([-1, 1], across)
        drawn: list[np.ndarray] = [outlines.contact(x, y), outlines.segment(*bar)]
        drawn += [outlines.segment(hub - b * across, hub + b * across), outlines.segment(hub, hub + 1.6 * high * pole)]
        drawn += [outlines.dot(hub + high * pole)]
        for side, angle in ((1, left + tilt), (-1, right + tilt)):
            c, s = np.cos(angle), np.sin(angle)
            drawn += outlines.disk(hub + side * b * across, r * (c * along - s * up), r * (s * along + c * up))
        return drawn


class Unicycle(Vehicle):
    """A wheel that rolls and leans, a frame with its rider on the axle, and a rotor that turns about the frame's pole.

    Coordinates (theta, x, y, lean, wheel, pitch, rotor): heading, contact, lean of the wheel to its right, its turning,
    pitch of the frame forward, and angle of the rotor: the rider's arms. Quasi-velocities: turning and the rates of
    lean, wheel, pitch and rotor, then the slips along and across. In axes that lean with the wheel, w the rates of
    these, u = R wheel' forward,

        w = (lean', theta' sin(lean), theta' cos(lean)),   v_hub = u + w x R k,   omega = w + pitch' y,   (x, y)' = u t
        L = {m_w |v_hub|^2 + w . A w (with wheel') + m |v_hub + omega x l|^2 + omega . I omega
             + J_r (omega_3 + rotor')^2} / 2 - g (m_w z_hub + m z)

    Energy is bounded, the rotor's momentum J_r (omega_3 + rotor') exact. Zenkov, Bloch and Marsden (2002). A wheel that
    is heavy and fast stays upright by itself, and a frame whose centre is below the axle hangs.
    """

    wheel_mass: float = 4.0  # kg (m_w)
    wheel_moments: tuple[float, ...] = (0.09, 0.18)  # kg m^2, across the axle and about it
    wheel_radius: float = 0.3  # m (R)
    mass: float = 2.0  # kg, of frame, rider and rotor (m)
    moments: tuple[float, ...] = (
        0.1,
        0.1,
        0.02,
    )  # kg m^2, of these about their mass centre but for J_r: forward, across, up
    height: float = -0.1  # m, axle to their mass centre (l)
    rotor_inertia: float = 0.02  # kg m^2, of the rotor about the pole (J_r)
    gravity: float = 9.81  # m/s^2

    rank = 5
    coordinates = ("theta", "x", "y", "lean", "wheel", "pitch", "rotor")
    velocities = ("turning", "lean'", "wheel'", "pitch'", "rotor'", "slip along", "slip across")
    units = (
        SI
        | {name: "rad" for name in ("lean", "wheel", "pitch", "rotor")}
        | {"slip along": "m/s", "slip across": "m/s", "wheel_mass": "kg", "wheel_moments": "kg m^2"}
        | {"moments": "kg m^2", "height": "m"}
    )

    def qdot(self, q: Array, xi: Array) -> Array:
        along, across = heading(q[0])
        place = (self.wheel_radius * xi[2] + xi[5]) * along + xi[6] * across
        return jnp.concatenate([xi[:1], place, xi[1:5]])

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        kinetic, heights, _ = _on_one_wheel(self, q, v)
        pole = jnp.sin(q[3]) * v[0], jnp.cos(q[3]) * v[0]
        spin = jnp.sin(q[5]) * v[3] + jnp.cos(q[5]) * pole[1] + v[6]
        potential = self.gravity * (self.wheel_mass * heights[0] + self.mass * heights[1])
        return kinetic + 0.5 * self.rotor_inertia * spin**2, potential

    def rotor_momentum(self, q: Array, xi: Array) -> Array:
        """J_r (omega_3 + rotor')."""
        spin = jnp.sin(q[5]) * xi[1] + jnp.cos(q[5]) * jnp.cos(q[3]) * xi[0]
        return self.rotor_inertia * (spin + xi[4])

    def invariants(self) -> dict[str, Invariant]:
        return Vehicle.invariants(self) | {"rotor momentum": Invariant(self.rotor_momentum, "exact")}

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        spun = {f"rotation of the {self.coordinates[i]}": along_coordinate(7, i) for i in (4, 6)}
        return plane_motions(7, (0,), (1, 2)) | spun

    def check(self) -> None:
        physical.positive(self, "wheel_mass", "wheel_moments", "wheel_radius", "mass", "moments", "rotor_inertia")

    def sample(self) -> dict:
        """Leaning, fast enough not to fall, the arms turning."""
        return {"q": (0.0, 0.0, 0.0, 0.15, 0.0, 0.3, 0.0), "xi": (0.0, 0.0, 14.0, 0.0, 3.0), "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Wheel, pole and arms."""
        hub, axes = _hub(self, q)
        pole = axes @ np.array([np.sin(q[5]), 0.0, np.cos(q[5])])
        ahead = axes @ np.array([np.cos(q[5]), 0.0, -np.sin(q[5])])
        top = hub + 1.5 * float(self.wheel_radius) * pole
        arms = np.cos(q[6]) * axes[:, 1] - np.sin(q[6]) * ahead
        reach = 0.6 * float(self.wheel_radius) * np.outer([-1, 1], arms)
        rest = [
            outlines.segment(hub, top),
            outlines.segment(*(top + reach)),
            outlines.dot(hub + float(self.height) * pole),
        ]
        return [outlines.contact(*np.asarray(q)[1:3]), *_wheel(self, q, hub, axes), *rest]


class Monocycle(Vehicle):
    """A wheel with its rider inside, hung from its axle, on a plane that slopes.

    Coordinates (theta, x, y, lean, wheel, pitch): heading, contact, lean of the wheel to its right, its turning, and
    pitch of the rider against the leaning plane; downhill is along x. Quasi-velocities: turning and the rates of lean,
    wheel and pitch, then the slips along and across. Equations and kinetic energy are those of `Unicycle` without
    the rotor, l < 0, and

        V = m_w g (z_hub cos(incline) - x_hub sin(incline)) + m g (z cos(incline) - x sin(incline))

    Energy is bounded.
    """

    wheel_mass: float = 20.0  # kg (m_w)
    wheel_moments: tuple[float, ...] = (5.0, 10.0)  # kg m^2, across the axle and about it
    wheel_radius: float = 0.75  # m (R)
    mass: float = 70.0  # kg, of the rider (m)
    moments: tuple[float, ...] = (4.0, 4.0, 2.0)  # kg m^2, of the rider about his mass centre: forward, across, up
    height: float = -0.25  # m, axle to his mass centre (l)
    incline: float = 0.05  # rad
    gravity: float = 9.81  # m/s^2

    rank = 4
    coordinates = ("theta", "x", "y", "lean", "wheel", "pitch")
    velocities = ("turning", "lean'", "wheel'", "pitch'", "slip along", "slip across")
    units = Unicycle.units

    def qdot(self, q: Array, xi: Array) -> Array:
        along, across = heading(q[0])
        place = (self.wheel_radius * xi[2] + xi[4]) * along + xi[5] * across
        return jnp.concatenate([xi[:1], place, xi[1:4]])

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        kinetic, heights, ahead = _on_one_wheel(self, q, v)
        up, down = jnp.cos(self.incline), jnp.sin(self.incline)
        of_wheel = self.wheel_mass * (up * heights[0] - down * ahead[0])
        return kinetic, self.gravity * (of_wheel + self.mass * (up * heights[1] - down * ahead[1]))

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return {"translation along y": along_coordinate(6, 2), "rotation of the wheel": along_coordinate(6, 4)}

    def check(self) -> None:
        physical.positive(self, "wheel_mass", "wheel_moments", "wheel_radius", "mass", "moments")

    def sample(self) -> dict:
        """Across the slope, fast."""
        return {"q": (1.2, 0.0, 0.0, 0.0, 0.0, 0.2), "xi": (0.0, 0.0, 12.0, 0.0), "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Wheel and rider, over the slope as if it were level."""
        hub, axes = _hub(self, q)
        pole = axes @ np.array([np.sin(q[5]), 0.0, np.cos(q[5])])
        seat = hub + float(self.height) * pole
        rider = [outlines.segment(seat, seat + 0.6 * float(self.wheel_radius) * pole), outlines.dot(seat)]
        return [outlines.contact(*np.asarray(q)[1:3]), *_wheel(self, q, hub, axes), *rider]


def _on_one_wheel(
    system: "Unicycle | Monocycle", q: Array, v: Array
) -> tuple[Array, tuple[Array, Array], tuple[Array, Array]]:
    """T of wheel and frame, and their centres' heights and places along x."""
    (along, across), r, above = heading(q[0]), system.wheel_radius, system.height
    (c, s), (cp, sp) = (jnp.cos(q[3]), jnp.sin(q[3])), (jnp.cos(q[5]), jnp.sin(q[5]))
    forward, sideways = along @ v[1:3], across @ v[1:3]
    w = jnp.stack([v[3], s * v[0], c * v[0]])  # of the leaning axes, in them
    hub = jnp.stack([forward + r * w[1], c * sideways - r * w[0], -s * sideways])
    about, axle = system.wheel_moments
    twice = system.wheel_mass * hub @ hub + about * (w[0] ** 2 + w[2] ** 2) + axle * (w[1] + v[4]) ** 2
    omega = jnp.stack([cp * w[0] - sp * w[2], w[1] + v[5], sp * w[0] + cp * w[2]])  # in the frame's axes
    centre = jnp.stack(
        [cp * hub[0] - sp * hub[2] + above * omega[1], hub[1] - above * omega[0], sp * hub[0] + cp * hub[2]]
    )
    twice += system.mass * centre @ centre + jnp.stack([*system.moments]) @ omega**2
    high = r + above * cp
    places = q[1] + r * s * along[1], q[1] + above * sp * along[0] + high * s * along[1]
    return 0.5 * twice, (r * c, high * c), places


def _hub(system: "Unicycle | Monocycle", q: Array | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The wheel's middle, and the leaning axes."""
    theta, x, y, lean = np.asarray(q, float)[:4]
    along, across = np.array([np.cos(theta), np.sin(theta), 0.0]), np.array([-np.sin(theta), np.cos(theta), 0.0])
    up = np.array([0.0, 0.0, 1.0])
    axes = np.stack(
        [along, np.cos(lean) * across + np.sin(lean) * up, np.cos(lean) * up - np.sin(lean) * across], axis=1
    )
    return np.array([x, y, 0.0]) + float(system.wheel_radius) * axes[:, 2], axes


def _wheel(
    system: "Unicycle | Monocycle", q: Array | np.ndarray, hub: np.ndarray, axes: np.ndarray
) -> list[np.ndarray]:
    r, angle = float(system.wheel_radius), float(q[4])
    c, s = np.cos(angle), np.sin(angle)
    return outlines.disk(hub, r * (c * axes[:, 0] - s * axes[:, 2]), r * (s * axes[:, 0] + c * axes[:, 2]))
