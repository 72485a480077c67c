"""Joints: how a body may move on the one that it is on. Coordinates of a joint have no poles where it has none.

A joint has coordinates q and quasi-velocities xi, its rates: q' = frame(q) xi, xi = rates(q, q'). The child is at
`pose(axis, q)` on its parent, and its twist there, in its own axes, is `twist(axis, q, xi)`.
"""

from collections.abc import Callable
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Scalar
from discrete_hamel._support.pytrees import Pytree
from discrete_hamel.systems._blocks.lie_algebras import SE2, SO3
from discrete_hamel.systems.mechanisms.rotations import AXES, CROSS, by_quaternion, of_quaternion, turn_about

# By NumPy, so that nothing is traced for them.
ORIGIN: Array = np.zeros(3)  # type: ignore[assignment]
STILL: Array = np.zeros(3)  # type: ignore[assignment]
WHOLE: Array = np.eye(3)  # type: ignore[assignment]


class Joint(Pytree):
    """What all joints have: sizes, names and units, and constant brackets of their fields."""

    coordinates: ClassVar[dict[str, str]] = {}  # name to unit; the empty name is the body's own
    velocities: ClassVar[dict[str, str]] = {}
    rest: ClassVar[tuple[float, ...]] = ()  # where the child lies on its parent as it was put there
    brackets: ClassVar[np.ndarray] = np.zeros((0, 0, 0))

    @staticmethod
    def pose(axis: Array, q: Array) -> tuple[Array, Array]:
        """(R, p) of the child on the parent."""
        return WHOLE, ORIGIN

    @staticmethod
    def twist(axis: Array, q: Array, xi: Array) -> tuple[Array, Array]:
        """(omega, v) of the child on the parent, in the child's axes."""
        return STILL, STILL

    @staticmethod
    def frame(q: Array) -> Array:
        """Psi(q) of q' = Psi xi."""
        return jnp.eye(len(q))

    @staticmethod
    def rates(q: Array, v: Array) -> Array:
        """xi with frame(q) xi = v, linear in v."""
        return v

    @staticmethod
    def relations(q: Array) -> Array:
        """What redundant coordinates satisfy: zero, of the size of a relative error."""
        return jnp.zeros(0)


class Fixed(Joint):
    """No motion: the child is welded on."""


class _OneAxis(Joint):
    axis: ArrayLike = "z"  # in the axes of the child, which are the parent's at angle zero: a letter, or a vector
    stiffness: ArrayLike = 0.0  # N m/rad, or N/m: of a spring at the joint
    unloaded: ArrayLike = 0.0  # rad, or m: where that spring is slack
    damping: ArrayLike = 0.0  # N m s/rad, or N s/m
    rotor: ArrayLike = 0.0  # kg m^2, or kg: inertia that goes with the joint's rate alone (a geared motor)
    torque: Scalar | Callable = 0.0  # N m, or N: of a motor, a number or a function of coordinate and rate

    rest = (0.0,)
    brackets = np.zeros((1, 1, 1))


class Hinge(_OneAxis):
    """Turning about an axis, by an angle that counts turns.

    >>> import discrete_hamel as dh
    >>> m = dh.mechanisms
    >>> m.mechanism(m.Body("bar", m.Hinge("y", damping=0.1), mass=1.0, centre=(0.2, 0, 0))).coordinates
    ('bar',)
    """

    coordinates = {"": "rad"}
    velocities = {"'": "rad/s"}

    @staticmethod
    def pose(axis: Array, q: Array) -> tuple[Array, Array]:
        return turn_about(axis, q[0]), ORIGIN

    @staticmethod
    def twist(axis: Array, q: Array, xi: Array) -> tuple[Array, Array]:
        return axis * xi[0], STILL


class Slide(_OneAxis):
    """Sliding along an axis."""

    coordinates = {"": "m"}
    velocities = {"'": "m/s"}

    @staticmethod
    def pose(axis: Array, q: Array) -> tuple[Array, Array]:
        return WHOLE, axis * q[0]

    @staticmethod
    def twist(axis: Array, q: Array, xi: Array) -> tuple[Array, Array]:
        return STILL, axis * xi[0]


class Universal(Joint):
    """Two hinges, one on the other, with nothing of weight between: first about `first`, then about `second`."""

    first: ArrayLike = "x"
    second: ArrayLike = "y"


class Planar(Joint):
    """A body that lies in the parent's plane of x and y: heading, place; turning, forward and sideways."""

    coordinates = {" heading": "rad", " x": "m", " y": "m"}
    velocities = {" turning": "rad/s", " forward": "m/s", " sideways": "m/s"}
    rest = (0.0, 0.0, 0.0)
    brackets = SE2

    @staticmethod
    def pose(axis: Array, q: Array) -> tuple[Array, Array]:
        return turn_about(np.array(AXES["z"]), q[0]), jnp.stack([q[1], q[2], 0.0])

    @staticmethod
    def twist(axis: Array, q: Array, xi: Array) -> tuple[Array, Array]:
        return xi[0] * np.array(AXES["z"]), jnp.stack([xi[1], xi[2], 0.0])

    @staticmethod
    def frame(q: Array) -> Array:
        return _on_plane(jnp.cos(q[0]), jnp.sin(q[0]))

    @staticmethod
    def rates(q: Array, v: Array) -> Array:
        return _on_plane(jnp.cos(q[0]), -jnp.sin(q[0])) @ v


class Ball(Joint):
    """Turning about the body's origin in all ways: a unit quaternion (w, x, y, z), and omega in the body's axes."""

    coordinates = {f" q{a}": "1" for a in "wxyz"}
    velocities = {f" omega {a}": "rad/s" for a in "xyz"}
    rest = (1.0, 0.0, 0.0, 0.0)
    brackets = SO3

    @staticmethod
    def pose(axis: Array, q: Array) -> tuple[Array, Array]:
        return of_quaternion(q), ORIGIN

    @staticmethod
    def twist(axis: Array, q: Array, xi: Array) -> tuple[Array, Array]:
        return xi, STILL

    @staticmethod
    def frame(q: Array) -> Array:
        return by_quaternion(q)

    @staticmethod
    def rates(q: Array, v: Array) -> Array:
        return 4 * (by_quaternion(q).T @ v) / (q @ q)

    @staticmethod
    def relations(q: Array) -> Array:
        return (q @ q - 1)[None]


class BallByMatrix(Joint):
    """The same by the rotation matrix, row by row: the momentum in space of a body that turns freely is then exact."""

    coordinates = {f" R{a}{b}": "1" for a in (1, 2, 3) for b in (1, 2, 3)}
    velocities = Ball.velocities
    rest = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    brackets = SO3

    @staticmethod
    def pose(axis: Array, q: Array) -> tuple[Array, Array]:
        return q.reshape(3, 3), ORIGIN

    @staticmethod
    def twist(axis: Array, q: Array, xi: Array) -> tuple[Array, Array]:
        return xi, STILL

    @staticmethod
    def frame(q: Array) -> Array:
        return jnp.einsum("ab,bci->aci", q.reshape(3, 3), CROSS).reshape(9, 3)

    @staticmethod
    def rates(q: Array, v: Array) -> Array:
        """Off the rotations too: R^T R hat(omega) + hat(omega) R^T R = hat((tr - R^T R) omega)."""
        r, rate = q.reshape(3, 3), v.reshape(3, 3)
        gram = r.T @ r
        twice = jnp.einsum("abi,ab->i", CROSS, r.T @ rate)
        return jnp.linalg.solve(jnp.trace(gram) * jnp.eye(3) - gram, twice)

    @staticmethod
    def relations(q: Array) -> Array:
        r = q.reshape(3, 3)
        return (r.T @ r - jnp.eye(3))[np.triu_indices(3)]


class Free(Joint):
    """A body that nothing holds: place and quaternion; velocity of its origin in the parent's axes, omega in its own.

    Fields of constant velocity commute, so that what flies freely goes straight, to round-off.
    """

    attitude: ClassVar[type[Joint]] = Ball

    coordinates = {f" {a}": "m" for a in "xyz"} | Ball.coordinates
    velocities = {f" v{a}": "m/s" for a in "xyz"} | Ball.velocities
    rest: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, *Ball.rest)
    brackets = np.zeros((6, 6, 6))
    brackets[3:, 3:, 3:] = SO3

    @classmethod
    def pose(cls, axis: Array, q: Array) -> tuple[Array, Array]:
        return cls.attitude.pose(axis, q[3:])[0], q[:3]

    @classmethod
    def twist(cls, axis: Array, q: Array, xi: Array) -> tuple[Array, Array]:
        return xi[3:], cls.pose(axis, q)[0].T @ xi[:3]

    @classmethod
    def frame(cls, q: Array) -> Array:
        turning = cls.attitude.frame(q[3:])
        upper = jnp.concatenate([jnp.eye(3), jnp.zeros((3, 3))], axis=1)
        return jnp.concatenate([upper, jnp.concatenate([jnp.zeros((len(turning), 3)), turning], axis=1)])

    @classmethod
    def rates(cls, q: Array, v: Array) -> Array:
        return jnp.concatenate([v[:3], cls.attitude.rates(q[3:], v[3:])])

    @classmethod
    def relations(cls, q: Array) -> Array:
        return cls.attitude.relations(q[3:])


class FreeByMatrix(Free):
    """The same by the rotation matrix, row by row."""

    attitude = BallByMatrix
    coordinates = {f" {a}": "m" for a in "xyz"} | BallByMatrix.coordinates
    rest = (0.0, 0.0, 0.0, *BallByMatrix.rest)


def _on_plane(c: Array, s: Array) -> Array:
    return jnp.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
