"""Rotations and rigid motions as arrays: about an axis, by a quaternion, one after another."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
CROSS = np.stack([np.cross(axis, np.eye(3)).T for axis in np.eye(3)], axis=-1)  # [a, b, i] = (e_i x)_ab


def hat(a: Array | np.ndarray) -> Array:
    """The matrix of a x; JAX traces it, and its product, sooner than jnp.cross."""
    return CROSS @ a  # type: ignore[return-value]  # numbers where a is fixed


def turn_about(axis: Array | np.ndarray, angle: Array) -> Array:
    """The rotation by an angle about a unit axis (Rodrigues): zeros of a fixed axis stay zeros."""
    along = axis[:, None] * axis[None, :]
    return jnp.cos(angle) * (np.eye(3) - along) + jnp.sin(angle) * hat(axis) + along


def of_quaternion(q: Array) -> Array:
    """The rotation of a quaternion (w, x, y, z) other than zero; its length does not matter.

    >>> of_quaternion(jnp.array([2.0, 0.0, 0.0, 2.0])).round(12).tolist()    # a quarter turn about z
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w, x, y, z = q
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return jnp.array(rows) / (w * w + x * x + y * y + z * z)


def by_quaternion(q: Array) -> Array:
    """The fields of turning in the body: q' = by_quaternion(q) omega, 4 x 3, (q e_i) / 2."""
    w, x, y, z = q
    return 0.5 * jnp.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


class Motion(NamedTuple):
    """Where bodies are and how they move, seen from others: rotations, places, and twists in the bodies' own axes."""

    turn: Array  # ..., 3, 3: body axes to outer axes
    place: Array  # ..., 3: the body's origin, in outer axes
    omega: Array  # ..., 3: angular velocity, in body axes
    speed: Array  # ..., 3: velocity of the body's origin, in body axes

    def then(self, inner: "Motion") -> "Motion":
        """The motion of an inner body as seen from outside: T = T1 T2, V = Ad(T2)^-1 V1 + V2."""
        back = jnp.swapaxes(inner.turn, -1, -2)
        carried = self.speed + jnp.cross(self.omega, inner.place)
        return Motion(
            self.turn @ inner.turn,
            self.place + apply(self.turn, inner.place),
            apply(back, self.omega) + inner.omega,
            apply(back, carried) + inner.speed,
        )

    def of(self, bodies: np.ndarray | int) -> "Motion":
        """That of some of the bodies."""
        return Motion(*(a[bodies] for a in self))

    def put(self, bodies: np.ndarray, motion: "Motion") -> "Motion":
        """All, with some of the bodies moving like this."""
        return Motion(*(a.at[bodies].set(b) for a, b in zip(self, motion, strict=True)))


class Links(NamedTuple):
    """What energies need of bodies, in the bodies' own axes: from body to body, no pose on the ground."""

    omega: Array  # ..., 3
    speed: Array  # ..., 3: of the body's origin
    pull: Array  # ..., 3: gravity
    fall: Array  # ...: gravity times the place of the origin

    @classmethod
    def ground(cls, gravity: Array, count: int) -> "Links":
        """At rest, as often as asked for."""
        still = jnp.zeros((count, 3))
        return cls(still, still, jnp.broadcast_to(gravity, (count, 3)), jnp.zeros(count))

    def then(self, inner: Motion) -> "Links":
        """Of bodies that move like this on these."""
        back = jnp.swapaxes(inner.turn, -1, -2)
        carried = self.speed + jnp.cross(self.omega, inner.place)
        return Links(
            apply(back, self.omega) + inner.omega,
            apply(back, carried) + inner.speed,
            apply(back, self.pull),
            self.fall + jnp.sum(self.pull * inner.place, axis=-1),
        )

    def of(self, bodies: np.ndarray) -> "Links":
        """Those of some of the bodies."""
        return Links(*(a[bodies] for a in self))


def apply(matrices: Array, vectors: Array) -> Array:
    """Matrix by matrix times vector by vector."""
    return jnp.einsum("...ab,...b->...a", matrices, vectors)
