"""The bicycle of Whipple (1899), with knife-edge wheels and a rigid rider."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.garage.carried import Vehicle, along_coordinate, heading, plane_motions
from discrete_hamel.systems.mechanisms.rotations import hat, turn_about

FORWARD, LEFT, UP = np.eye(3)


class _Parts(NamedTuple):
    """Attitudes and places of the parts, in axes along the bicycle's heading, from the rear contact."""

    leaning: Array
    frame: Array
    fork: Array
    steering: Array  # the axis
    rear: Array  # hub
    joint: Array  # of fork and frame
    front: Array  # hub
    down: Array  # unit vector, front hub to its contact


class WhippleBicycle(Vehicle):
    """A bicycle: a frame with its rider, a fork, and two wheels that roll on the plane without slipping.

    Coordinates (x, y, yaw, lean, pitch, steer, rear, front): the rear contact, heading, lean to the right, pitch of the
    frame, steering angle, and the wheels' turning in frame and fork. Pitch is what keeps the front wheel on the ground.
    Quasi-velocities: the rates of lean, steer and rear wheel, then the slips, which are rates of x, y, yaw, pitch and
    front beyond what rolling makes them. With t the heading, y the axle of the frame, s the steering axis, n the front
    axle, c the front contact seen from the rear one, r, p and f rear hub, joint and front hub, d the way down to c,

        (x, y)' = R (rear' + pitch') t
        yaw' k x c + pitch' (y x (c - r) + R t) + front' n x R_f d = -lean' t x c - steer' s x (c - p) - rear' R t
        L = sum over the four bodies of (m |v|^2 + omega . I omega) / 2 - m g z

    three equations for yaw', pitch' and front'. Parameters are those of the benchmark of Meijaard, Papadopoulos, Ruina
    and Schwab (2007), where z points down; here it points up. Its speeds of weave and capsize, 4.292 and 6.024 m/s,
    bound those of self-stable riding. Energy is bounded. The height of the front wheel is kept as a
    velocity, to O(h^2).
    """

    wheelbase: float = 1.02  # m
    trail: float = 0.08  # m
    tilt: float = float(np.pi / 10)  # rad, of the steering axis, backward
    gravity: float = 9.81  # m/s^2
    rear_radius: float = 0.3  # m (R)
    rear_mass: float = 2.0  # kg
    rear_inertia: tuple[float, ...] = (0.0603, 0.12)  # kg m^2, across the axle and about it
    frame_mass: float = 85.0  # kg, with the rider
    frame_centre: tuple[float, ...] = (0.3, 0.9)  # m, ahead of the rear contact and above it
    frame_inertia: tuple[float, ...] = (9.2, 11.0, 2.8, -2.4)  # kg m^2: xx, yy, zz, xz
    fork_mass: float = 4.0  # kg, with the handlebar
    fork_centre: tuple[float, ...] = (0.9, 0.7)  # m, as that of the frame
    fork_inertia: tuple[float, ...] = (0.05892, 0.06, 0.00708, 0.00756)  # kg m^2: xx, yy, zz, xz
    front_radius: float = 0.35  # m (R_f)
    front_mass: float = 3.0  # kg
    front_inertia: tuple[float, ...] = (0.1405, 0.28)  # kg m^2, across the axle and about it

    rank = 3
    coordinates = ("x", "y", "yaw", "lean", "pitch", "steer", "rear", "front")
    velocities = ("lean'", "steer'", "rear'", "slip x", "slip y", "slip yaw", "slip pitch", "slip front")
    units = (
        SI
        | {name: "rad" for name in ("yaw", "lean", "pitch", "steer", "rear", "front")}
        | {name: "m" for name in ("trail", "rear_radius", "front_radius", "frame_centre", "fork_centre")}
        | {f"{part}_mass": "kg" for part in ("rear", "front", "frame", "fork")}
        | {f"{part}_inertia": "kg m^2" for part in ("rear", "front", "frame", "fork")}
        | {"slip x": "m/s", "slip y": "m/s"}
        | {f"slip {name}": "rad/s" for name in ("yaw", "pitch", "front")}
    )

    def qdot(self, q: Array, xi: Array) -> Array:
        lean, steer, rear, x, y, *slips = xi
        parts = self._parts(q)
        contact = parts.front + self.front_radius * parts.down
        axle, n = parts.leaning[:, 1], parts.fork[:, 1]
        yawing = hat(UP) @ contact
        pitching = hat(axle) @ (contact - parts.rear) + self.rear_radius * FORWARD
        turning = hat(n) @ (self.front_radius * parts.down)
        rest = lean * (hat(FORWARD) @ contact) + steer * (hat(parts.steering) @ (contact - parts.joint))
        rest = -rest - rear * self.rear_radius * FORWARD
        # By Cramer's rule: the triple products of the three ways.
        across = hat(pitching) @ turning, hat(turning) @ yawing, hat(yawing) @ pitching
        volume = yawing @ across[0]
        yaw, pitch, front = (rest @ normal / volume + slip for normal, slip in zip(across, slips, strict=True))
        speed = self.rear_radius * (rear + rest @ across[1] / volume)
        place = speed * heading(q[2])[0] + jnp.stack([x, y])
        return jnp.stack([*place, yaw, lean, pitch, steer, rear, front])

    def _parts(self, q: Array) -> _Parts:
        _, _, _, lean, pitch, steer, _, _ = q
        leaning = turn_about(FORWARD, lean)
        frame = leaning @ turn_about(LEFT, pitch)
        axis = jnp.stack(
            [jnp.sin(self.tilt), 0.0, -jnp.cos(self.tilt)]
        )  # down, so that a turn to the right is positive
        fork = frame @ turn_about(axis, steer)
        rear = self.rear_radius * leaning[:, 2]
        joint = rear + frame @ jnp.stack([self.wheelbase + self.trail, 0.0, -self.rear_radius])
        front = joint + fork @ jnp.stack([-self.trail, 0.0, self.front_radius])
        n = fork[:, 1]
        down = n[2] * n - UP
        return _Parts(leaning, frame, fork, frame @ axis, rear, joint, front, down / jnp.sqrt(n[0] ** 2 + n[1] ** 2))

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        x, y, yaw, lean, pitch, steer, rear, front = v
        parts = self._parts(q)
        along, across = heading(q[2])
        ground = jnp.stack([along @ v[:2], across @ v[:2], 0.0])
        leaning = yaw * UP + lean * FORWARD
        framed = leaning + pitch * parts.leaning[:, 1]
        forked = framed + steer * parts.steering
        at_rear = ground + hat(leaning) @ parts.rear
        at_joint = at_rear + hat(framed) @ (parts.joint - parts.rear)
        (bx, bz), (hx, hz) = self.frame_centre, self.fork_centre
        to_frame = parts.frame @ jnp.stack([bx, 0.0, bz - self.rear_radius])
        to_fork = parts.fork @ jnp.stack([hx - self.wheelbase - self.trail, 0.0, hz])
        speeds = (
            at_rear,
            at_rear + hat(framed) @ to_frame,
            at_joint + hat(forked) @ to_fork,
            at_joint + hat(forked) @ (parts.front - parts.joint),
        )
        masses = self.rear_mass, self.frame_mass, self.fork_mass, self.front_mass
        heights = parts.rear[2], (parts.rear + to_frame)[2], (parts.joint + to_fork)[2], parts.front[2]
        twice = sum(mass * speed @ speed for mass, speed in zip(masses, speeds, strict=True))
        twice += _of_solid(self.frame_inertia, parts.frame.T @ framed) + _of_solid(
            self.fork_inertia, parts.fork.T @ forked
        )
        twice += _of_wheel(self.rear_inertia, framed + rear * parts.leaning[:, 1], parts.leaning[:, 1])
        twice += _of_wheel(self.front_inertia, forked + front * parts.fork[:, 1], parts.fork[:, 1])
        return 0.5 * twice, self.gravity * jnp.stack([*masses]) @ jnp.stack(heights)

    def gap(self, q: Array) -> Array:
        """Height of the front wheel above the ground, m."""
        parts = self._parts(jnp.asarray(q, float))
        return (parts.front + self.front_radius * parts.down)[2]

    def holonomic(self, q: Array) -> Array:
        return (self.gap(q) / self.front_radius)[None]

    def standing(self, lean: float, steer: float) -> np.ndarray:
        """q with both wheels on the ground: pitched as lean and steer make it."""
        q = np.zeros(8)
        q[3], q[5] = lean, steer
        for _ in range(20):
            value, slope = (float(a) for a in _gap_and_slope(self, jnp.asarray(q)))
            q[4] -= value / slope
        return q

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        wheels = {f"rotation of the {self.coordinates[i]} wheel": along_coordinate(8, i) for i in (6, 7)}
        return plane_motions(8, (2,), (0, 1)) | wheels

    def check(self) -> None:
        physical.positive(self, "wheelbase", "rear_radius", "front_radius", "rear_mass", "frame_mass", "fork_mass")
        physical.positive(self, "front_mass", "rear_inertia", "front_inertia")

    def sample(self) -> dict:
        """At 5 m/s, where it is stable, after a push."""
        return {"q": (0.0,) * 8, "xi": (0.3, 0.0, 5.0 / 0.3), "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Wheels, frame, fork and rider."""
        q = np.asarray(q, float)
        parts = jax.device_get(_place(self, jnp.asarray(q)))
        c, s = np.cos(q[2]), np.sin(q[2])
        turn, place = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([q[0], q[1], 0.0])

        def move(points: list[np.ndarray] | np.ndarray) -> np.ndarray:
            return np.asarray(points) @ turn.T + place

        drawn: list[np.ndarray] = []
        for hub, attitude, angle, radius in (
            (parts.rear, parts.frame, q[6], float(self.rear_radius)),
            (parts.front, parts.fork, q[7], float(self.front_radius)),
        ):
            spun = attitude @ np.asarray(turn_about(LEFT, angle))
            drawn += outlines.disk(move(hub), radius * turn @ spun[:, 0], radius * turn @ spun[:, 2])
        (bx, bz) = self.frame_centre
        rider = parts.rear + parts.frame @ np.array([bx, 0.0, bz - float(self.rear_radius)])
        head = parts.joint - 0.9 * parts.steering
        bar = head + 0.25 * np.outer([-1.0, 1.0], parts.fork[:, 1])
        drawn += [
            outlines.segment(*move([parts.rear, rider - 0.3 * parts.frame[:, 2], head])),
            outlines.segment(*move([head, parts.front])),
            outlines.segment(*move(bar)),
            outlines.segment(*move([rider - 0.3 * parts.frame[:, 2], rider, rider + 0.4 * parts.frame[:, 2]])),
            outlines.contact(*q[:2]),
        ]
        return drawn


def _of_solid(moments: tuple[float, ...], omega: Array) -> Array:
    """omega . I omega for xx, yy, zz, xz."""
    xx, yy, zz, xz = moments
    x, y, z = omega
    return xx * x**2 + yy * y**2 + zz * z**2 + 2 * xz * x * z


def _of_wheel(moments: tuple[float, ...], omega: Array, axle: Array) -> Array:
    """omega . I omega for moments across and about the axle."""
    across, about = moments
    return across * omega @ omega + (about - across) * (omega @ axle) ** 2


@jax.jit
def _gap_and_slope(bicycle: WhippleBicycle, q: Array) -> tuple[Array, Array]:
    return bicycle.gap(q), jax.grad(bicycle.gap)(q)[4]


@jax.jit
def _place(bicycle: WhippleBicycle, q: Array) -> _Parts:
    return bicycle._parts(q)
