"""Carts and other things on wheels that roll on a plane without skidding; angles on the plane have no poles."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI


def in_the_plane(theta: Array) -> Array:
    """Columns: turning, forward and sideways motion of a body at heading theta, as (theta', x', y')."""
    c, s = jnp.cos(theta), jnp.sin(theta)
    return jnp.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def plane_symmetries(coordinates: tuple[str, ...]) -> dict[str, Callable[[Array], Array]]:
    """Generators of the plane's motions, q to qdot, for coordinates (theta, x, y, ...)."""
    size = len(coordinates)
    return {
        "translation along x": lambda q: jnp.zeros(size).at[1].set(1.0),
        "translation along y": lambda q: jnp.zeros(size).at[2].set(1.0),
        "rotation of the plane": lambda q: jnp.zeros(size).at[0].set(1.0).at[1].set(-q[2]).at[2].set(q[1]),
    }


class DrivenInPlane(System):
    """What vehicles share whose joints are given functions of time: one velocity v is free, and t' = 1 is a slip."""

    rank = 1
    coordinates = ("theta", "x", "y", "t")
    velocities = ("v", "sideways", "across v", "t'")
    units = SI
    clock = 3

    def slip(self, q: Array) -> Array:
        return jnp.array([0.0, 0.0, 1.0])

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return plane_symmetries(self.coordinates)


class ThreeWheelCart(System):
    """A cart with two rear wheels on one axle and a steered front wheel that turns freely about its vertical axis.

    Coordinates (theta, u1, u2, phi, psi, chi, xi): heading of the cart, its mass centre, rotations of the left, right
    and front wheel, and heading of the front wheel; alpha = xi - theta is the steering angle. The mass centre is
    `centre` (a) and the front wheel `wheelbase` (d) ahead of the rear axle, `half_track` (b) is half the axle's length.
    Quasi-velocities (Omega, w, slips): Omega = chi' / d and w = xi' - r Omega sin alpha along

        gamma = (r sin alpha, r R(theta) (d cos alpha, a sin alpha), d cos alpha - b sin alpha,
                 d cos alpha + b sin alpha, d, r sin alpha),   kappa_0 = d/dxi                     [MD] (12.1)-(12.6)
        L = {J theta'^2 + m |u'|^2 + J_W (phi'^2 + psi'^2 + chi'^2) + J_D xi'^2} / 2

    J_D xi' is exact (a Noether field in D that is not vertical), Omega^2 (f - J_D r^2 sin^2 alpha) and energy are
    bounded,

        f = (J + J_D) r^2 sin^2 + m r^2 (d^2 cos^2 + a^2 sin^2) + J_W (2 d^2 cos^2 + 2 b^2 sin^2 + d^2)

    so that alpha' = xi' - r Omega sin alpha is integrable, though not by the symmetry method ([MD] 12.4).
    """

    mass: float = 1.0  # kg
    inertia: float = 0.3  # kg m^2, of the cart about the vertical through its mass centre (J)
    wheel_inertia: float = 0.02  # kg m^2, of each wheel about its axle (J_W)
    steering_inertia: float = 0.05  # kg m^2, of the front wheel about the vertical (J_D)
    wheel_radius: float = 0.2  # m (r)
    wheelbase: float = 1.0  # m, rear axle to front wheel (d)
    centre: float = 0.4  # m, rear axle to mass centre (a)
    half_track: float = 0.3  # m (b)

    rank = 2
    coordinates = ("theta", "u1", "u2", "phi", "psi", "chi", "xi")
    velocities = ("Omega", "w", "slip theta", "slip u1", "slip u2", "slip phi", "slip psi")
    units = (
        SI
        | {"xi": "rad", "Omega": "rad/(m s)", "w": "rad/s", "slip theta": "rad/s", "slip u1": "m/s", "slip u2": "m/s"}
        | {"slip phi": "rad/s", "slip psi": "rad/s", "Omega^2 (f - J_D r^2 sin^2 alpha)": "J"}
    )

    def frame(self, q: Array) -> Array:
        alpha, r, d = q[6] - q[0], self.wheel_radius, self.wheelbase
        c, s = jnp.cos(alpha), jnp.sin(alpha)
        place = in_the_plane(q[0]) @ jnp.stack([r * s, r * d * c, r * self.centre * s])
        wheels = jnp.stack([d * c - self.half_track * s, d * c + self.half_track * s, d * jnp.ones_like(c), r * s])
        rolling = jnp.concatenate([place, wheels])
        eye = jnp.eye(7)
        return jnp.concatenate([rolling[:, None], eye[:, 6:], eye[:, :5]], axis=1)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        theta, u1, u2, phi, psi, chi, steering = self.frame(q) @ xi
        body = self.inertia * theta**2 + self.mass * (u1**2 + u2**2)
        wheels = self.wheel_inertia * (phi**2 + psi**2 + chi**2) + self.steering_inertia * steering**2
        return 0.5 * (body + wheels)

    def metric(self, alpha: Array) -> Array:
        """f(alpha) = K(gamma, gamma)."""
        r, d, c2, s2 = self.wheel_radius, self.wheelbase, jnp.cos(alpha) ** 2, jnp.sin(alpha) ** 2
        turning = (self.inertia + self.steering_inertia) * r**2 * s2
        moving = self.mass * r**2 * (d**2 * c2 + self.centre**2 * s2)
        return turning + moving + self.wheel_inertia * (2 * d**2 * c2 + 2 * self.half_track**2 * s2 + d**2)

    def steering_momentum(self, q: Array, xi: Array) -> Array:
        """J_D xi'."""
        return self.steering_inertia * (self.frame(q) @ xi)[6]

    def rolling_energy(self, q: Array, xi: Array) -> Array:
        """Omega^2 (f - J_D r^2 sin^2 alpha), twice what energy is not in the steering."""
        alpha = q[6] - q[0]
        return xi[0] ** 2 * (self.metric(alpha) - self.steering_inertia * (self.wheel_radius * jnp.sin(alpha)) ** 2)

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.lagrangian, "bounded"),
            "steering momentum": Invariant(self.steering_momentum, "exact"),
            "Omega^2 (f - J_D r^2 sin^2 alpha)": Invariant(self.rolling_energy, "bounded"),
        }

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        plane = plane_symmetries(self.coordinates)
        turn = plane.pop("rotation of the plane")
        wheels = {
            f"rotation of the {name} wheel": lambda q, i=i: jnp.zeros(7).at[i].set(1.0)
            for i, name in ((3, "left"), (4, "right"), (5, "front"))
        }
        return plane | {"rotation of the plane": lambda q: turn(q).at[6].set(1.0)} | wheels

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "wheel_inertia", "steering_inertia", "wheel_radius", "wheelbase")
        physical.not_negative(self, "half_track")

    def sample(self) -> dict:
        """Rolling with the front wheel turned and turning."""
        return {"q": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4), "xi": (3.0, 0.5), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The frame and the three wheels, in the plane."""
        theta, u1, u2, *_, heading = np.asarray(q, float)
        a, b, d, r = (float(v) for v in (self.centre, self.half_track, self.wheelbase, self.wheel_radius))
        axle = [(-a, -b), (-a, b)]
        deck = [(-a - r, -b), (d - a - 1.5 * r, -b), (d - a, 0.0), (d - a - 1.5 * r, b), (-a - r, b), (-a - r, -b)]
        places = outlines.planar(theta, u1, u2, [*axle, (d - a, 0.0)])
        wheels = [wheel(turn, place, r) for turn, place in zip((theta, theta, heading), places, strict=True)]
        return [outlines.planar(theta, u1, u2, deck).view(outlines.Solid), places[:2], *wheels]


def wheel(heading: float, place: Array | np.ndarray, radius: float) -> outlines.Blade:
    """A wheel seen from above."""
    return outlines.blade(heading, place[0], place[1], radius)


class Car(System):
    """A car whose rear wheels do not skid and whose front wheel is steered, with a free steering column.

    Coordinates (theta, x, y, alpha): heading, middle of the rear axle, steering angle. Quasi-velocities (v, alpha',
    slips): v is the speed of the front wheel, of which cos alpha carries the car forward and sin alpha / l turns it;
    the slips are the sideways velocity of the rear axle and the turning beyond v sin alpha / l.

        l = {m [v^2 cos^2 + (c v sin / l)^2] + J (v sin / l)^2 + J_S (alpha' + v sin / l)^2} / 2 on D

    with c = `centre`, sin and cos of alpha. Energy is bounded and J_S (alpha' + theta') exact: the heading of the front
    wheel turns uniformly, as that of `ThreeWheelCart`, [MD] 12, whose wheels are left out here.
    """

    mass: float = 1.0  # kg
    inertia: float = 0.3  # kg m^2, about the vertical through the mass centre (J)
    steering_inertia: float = 0.02  # kg m^2, of the front wheel about the vertical (J_S)
    wheelbase: float = 1.0  # m, rear axle to front wheel (l)
    centre: float = 0.4  # m, rear axle to mass centre (c)

    rank = 2
    coordinates = ("theta", "x", "y", "alpha")
    velocities = ("v", "alpha'", "sideways", "turning")
    units = SI

    def frame(self, q: Array) -> Array:
        c, s = jnp.cos(q[3]), jnp.sin(q[3])
        # Columns in the car's own axes (turning, forward, sideways): v, sideways slip, turning slip; then alpha'.
        own = jnp.array([[s / self.wheelbase, 0.0, c], [c, 0.0, -s * self.wheelbase], [0.0, 1.0, 0.0]])
        v, sideways, turning = (in_the_plane(q[0]) @ own).T
        columns = jnp.stack([v, jnp.zeros(3), sideways, turning], axis=1)
        return jnp.concatenate([columns, jnp.array([[0.0, 1.0, 0.0, 0.0]])])

    def lagrangian(self, q: Array, xi: Array) -> Array:
        v, steering, sideways, slip = xi
        c, s = jnp.cos(q[3]), jnp.sin(q[3])
        turning = v * s / self.wheelbase + c * slip
        forward = v * c - s * self.wheelbase * slip
        across = sideways + self.centre * turning
        moving = self.mass * (forward**2 + across**2)
        return 0.5 * (moving + self.inertia * turning**2 + self.steering_inertia * (steering + turning) ** 2)

    def steering_momentum(self, q: Array, xi: Array) -> Array:
        """J_S (alpha' + theta')."""
        return self.steering_inertia * (xi[1] + (self.frame(q) @ xi)[0])

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.lagrangian, "bounded"),
            "steering momentum": Invariant(self.steering_momentum, "exact"),
        }

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return plane_symmetries(self.coordinates)

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "steering_inertia", "wheelbase")

    def sample(self) -> dict:
        """Driving with the steering let go."""
        return {"q": (0.0, 0.0, 0.0, 0.3), "xi": (1.0, 0.2), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Frame and wheels, in the plane."""
        theta, x, y, alpha = np.asarray(q, float)
        length = float(self.wheelbase)
        w = 0.2 * length
        places = outlines.planar(theta, x, y, [(0.0, -w), (0.0, w), (length, -w), (length, w)])
        turns = (theta, theta, theta + alpha, theta + alpha)
        wheels = [wheel(turn, place, 0.6 * w) for turn, place in zip(turns, places, strict=True)]
        nose = length + 0.8 * w
        deck = [(-w, -w), (length, -w), (nose, -0.6 * w), (nose, 0.6 * w), (length, w), (-w, w), (-w, -w)]
        return [outlines.planar(theta, x, y, deck).view(outlines.Solid), *wheels]
