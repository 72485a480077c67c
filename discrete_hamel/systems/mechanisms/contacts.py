"""What rolls, slides or closes a loop: each says how far bodies are from touching, and how fast they slip there.

The ground is the plane z = 0. `gaps` are zero where things touch, `slips` where nothing slips; the last of the slips
are the rates of the gaps.
"""

from typing import TYPE_CHECKING, ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Scalar
from discrete_hamel._support.pytrees import Pytree
from discrete_hamel.systems.mechanisms.rotations import Motion

if TYPE_CHECKING:
    from discrete_hamel.systems.mechanisms.tree import Mechanism

UP = np.array([0.0, 0.0, 1.0])


class Contact(Pytree):
    """What all have in common: the bodies that they are about, by name, and words for their slips."""

    if TYPE_CHECKING:  # a field of the subclasses, not of this class
        on: str = ""

    words: ClassVar[tuple[str, ...]] = ()
    gap_count: ClassVar[int] = 0
    unit: ClassVar[str] = "m/s"  # of the slips
    bears: ClassVar[bool] = False  # whether its first gap is a height above the ground, less what does not depend on z

    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies."""
        return (self.on,)

    def look(self, tree: "Mechanism", q: Array, xi: Array, motion: Motion) -> list[Motion]:  # Gear looks at them
        """What gaps and slips are told: the motions of the bodies."""
        return [motion.of(tree.names.index(name)) for name in self.bodies()]

    def check(self, *motions: Motion) -> None:
        """Refuse what cannot be, with a sentence, where things touch."""

    def gaps(self, *motions: Motion) -> Array:
        """Distances, m, which are zero: lengths at which things touch."""
        return jnp.zeros(0)

    def slips(self, *motions: Motion) -> Array:
        """Velocities, m/s, which are zero."""
        raise NotImplementedError


class Wheel(Contact):
    """A wheel that rolls on the plane z = 0 without slipping: a disk with a sharp rim, or with a round tyre (a torus).

    The body's origin is its middle; `axle` is the letter of the body's axis about which the wheel is round. It slips
    along its heading, across it, and upward:

        d = -(k - (k . e) e) / s,  s = sqrt(1 - (k . e)^2)      the way down in the disk, e the axle, k the vertical
        0 = height - radius s - tyre,   0 = v + omega x (radius d - tyre k)
    """

    on: str
    radius: Array | float  # m, from the middle to the rim, or to the middle of the tyre
    tyre: Array | float = 0.0  # m, radius of the tyre
    axle: str = "y"

    words: ClassVar[tuple[str, ...]] = ("along", "across", "up")
    gap_count = 1
    bears = True

    def gaps(self, *motions: Motion) -> Array:
        (wheel,) = motions
        _, tilt = self._axle(wheel)
        return (wheel.place[2] - self.radius * tilt - self.tyre)[None]

    def slips(self, *motions: Motion) -> Array:
        (wheel,) = motions
        axle, tilt = self._axle(wheel)
        to_contact = self.radius * (axle[2] * axle - UP) / tilt - self.tyre * UP
        velocity = velocity_at(wheel, wheel.turn.T @ to_contact)
        along = jnp.stack([axle[1], -axle[0]]) / tilt
        return jnp.stack([along @ velocity[:2], along[0] * velocity[1] - along[1] * velocity[0], velocity[2]])

    def _axle(self, wheel: Motion) -> tuple[Array, Array]:
        axle = wheel.turn[:, "xyz".index(self.axle)]
        return axle, jnp.sqrt(axle[0] ** 2 + axle[1] ** 2)


class OmniWheel(Wheel):
    """A wheel with rollers on its rim, on the plane z = 0: it holds along one line only, and rolls freely across it.

    What is held is the velocity along the axis of the roller that touches the ground. These axes make the angle
    `rollers` with the axle: pi / 2 is an omnidirectional wheel, pi / 4 and -pi / 4 are Mecanum wheels.
    """

    on: str
    radius: Array | float  # m
    rollers: Array | float = float(np.pi / 2)  # rad, of the rollers' axes against the axle
    tyre: Array | float = 0.0  # m, radius of the tyre
    axle: str = "y"

    words = ("along its roller", "up")

    def slips(self, *motions: Motion) -> Array:
        along, across, up = super().slips(*motions)
        return jnp.stack([jnp.sin(self.rollers) * along + jnp.cos(self.rollers) * across, up])


class RollingBall(Contact):
    """A ball that rolls on the plane z = 0 without slipping; it may pivot. The body's origin is its middle."""

    on: str
    radius: Array | float  # m

    words = ("in x", "in y", "up")
    gap_count = 1
    bears = True

    def gaps(self, *motions: Motion) -> Array:
        (ball,) = motions
        return (ball.place[2] - self.radius)[None]

    def slips(self, *motions: Motion) -> Array:
        (ball,) = motions
        return velocity_at(ball, -self.radius * ball.turn[2])


class Blade(Contact):
    """A blade or knife edge on a body over the plane: the point `at` of the body moves along the blade, not across."""

    on: str
    at: ArrayLike = (0.0, 0.0, 0.0)  # m, in the body's axes
    along: str = "x"  # the body's axis that the blade lies along

    words = ("across",)

    def slips(self, *motions: Motion) -> Array:
        (body,) = motions
        along = body.turn[:2, "xyz".index(self.along)]
        velocity = velocity_at(body, jnp.asarray(self.at))
        return ((along[0] * velocity[1] - along[1] * velocity[0]) / jnp.sqrt(along @ along))[None]


class Pin(Contact):
    """A loop closed: the point `at` of one body is the point `there` of another, as by a ball joint."""

    on: str  # name of a body
    to: str  # name of another
    at: ArrayLike = (0.0, 0.0, 0.0)  # m, in the axes of `on`
    there: ArrayLike = (0.0, 0.0, 0.0)  # m, in the axes of `to`

    words = ("in x", "in y", "in z")
    gap_count = 3

    def bodies(self) -> tuple[str, ...]:
        return (self.on, self.to)

    def gaps(self, *motions: Motion) -> Array:
        one, other = motions
        here, there = jnp.asarray(self.at), jnp.asarray(self.there)
        return one.place + one.turn @ here - other.place - other.turn @ there

    def slips(self, *motions: Motion) -> Array:
        one, other = motions
        return velocity_at(one, jnp.asarray(self.at)) - velocity_at(other, jnp.asarray(self.there))


class Gear(Contact):
    """Two joints that turn, or slide, together: q_on = ratio q_to + shift, as meshing wheels, racks and pulleys do.

    `ratio` is negative where they turn against one another, and in m/rad between a slide and a hinge. The joints are
    those of the bodies named, each with one axis. Rows that do not change are kept to round-off.
    """

    on: str  # name of a body
    to: str  # name of another
    ratio: Scalar = 1.0
    shift: Scalar = 0.0  # rad or m

    words = ("gear",)
    gap_count = 1
    unit = ""

    def bodies(self) -> tuple[str, ...]:
        return (self.on, self.to)

    def look(self, tree: "Mechanism", q: Array, xi: Array, motion: Motion) -> list[Motion]:
        """The motion of each joint along its axis: its coordinate as place, its rate as speed."""
        places = [tree.place_of(name) for name in self.bodies()]
        return [Motion(jnp.eye(1), q[i : i + 1], jnp.zeros(1), xi[k : k + 1]) for i, k in places]

    def gaps(self, *motions: Motion) -> Array:
        one, other = motions
        return one.place - self.ratio * other.place - self.shift

    def slips(self, *motions: Motion) -> Array:
        one, other = motions
        return one.speed - self.ratio * other.speed


def velocity_at(body: Motion, point: Array) -> Array:
    """Of the body's own point, given in its axes: R (v + omega x r), in the axes of the ground."""
    return body.turn @ (body.speed + jnp.cross(body.omega, point))
