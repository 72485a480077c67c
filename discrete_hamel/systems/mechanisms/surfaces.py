"""What rolls on something else than the ground: balls and wheels on spheres and in them, balls on any fixed surface.

The slips are the three components of a velocity in the axes of the ground: that of the one body's material point where
they touch, against the other's. The gap's rate is their combination along the normal.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, PyTree, Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.systems.mechanisms.contacts import Contact, velocity_at
from discrete_hamel.systems.mechanisms.rotations import Motion

if TYPE_CHECKING:
    from discrete_hamel.systems.mechanisms.tree import Mechanism

GROUND = Motion(*cast(tuple[Array, Array, Array, Array], (np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))))


class BallOnSphere(Contact):
    """A ball that rolls on a sphere, or in it, without slipping; it may pivot. Its body's origin is its middle.

    The sphere is about the point `middle` of the body `to`, or of the ground. With n the unit vector from its middle
    to the ball's, outside and inside,

        0 = |c - c_s| - R - r,   0 = v - omega x r n - v_s(c_s + R n)
        0 = R - r - |c - c_s|,   0 = v + omega x r n - v_s(c_s + R n)
    """

    on: str
    radius: Scalar  # m, of the ball (r)
    sphere: Scalar  # m, its radius R
    to: str = ""
    middle: ArrayLike = (0.0, 0.0, 0.0)  # m, in the axes of `to`
    inside: bool = static(default=False)

    words = ("in x", "in y", "in z")
    gap_count = 1

    def bodies(self) -> tuple[str, ...]:
        return (self.on, self.to) if self.to else (self.on,)

    def look(self, tree: "Mechanism", q: Array, xi: Array, motion: Motion) -> list[Motion]:
        return [*super().look(tree, q, xi, motion), GROUND][:2]

    def gaps(self, *motions: Motion) -> Array:
        body, other = motions
        centre = other.place + other.turn @ jnp.asarray(self.middle)
        way = self._touching(body, centre) - centre
        return (self._side() * (jnp.sqrt(way @ way) - self.sphere))[None]

    def slips(self, *motions: Motion) -> Array:
        body, other = motions
        touching = self._touching(body, other.place + other.turn @ jnp.asarray(self.middle))
        there = (velocity_at(one, one.turn.T @ (touching - one.place)) for one in (body, other))
        return jnp.subtract(*there)

    def _side(self) -> float:
        return -1.0 if self.inside else 1.0

    def _touching(self, body: Motion, centre: Array) -> Array:
        """The ball's point nearest to the sphere."""
        way = body.place - centre
        return body.place - self._side() * self.radius * way / jnp.sqrt(way @ way)


class WheelOnSphere(BallOnSphere):
    """A wheel with a sharp rim that rolls on a sphere, or in it, without slipping.

    As `BallOnSphere`, of the rim's point that is nearest to the sphere: with d from the sphere's middle to the wheel's,
    less its part along the axle, the wheel's middle less r d / |d|, or plus that inside.
    """

    on: str
    radius: Scalar  # m, of the wheel (r)
    sphere: Scalar  # m, its radius R
    to: str = ""
    middle: ArrayLike = (0.0, 0.0, 0.0)  # m, in the axes of `to`
    inside: bool = static(default=False)
    axle: str = "y"

    def _touching(self, body: Motion, centre: Array) -> Array:
        axle = body.turn[:, "xyz".index(self.axle)]
        way = body.place - centre
        way = way - (way @ axle) * axle
        return body.place - self._side() * self.radius * way / jnp.sqrt(way @ way)


class BallOnSurface(Contact):
    """A ball that rolls without slipping on a fixed surface, given by the distance from it: positive where the ball is.

        0 = distance(c) - r,   0 = v - omega x r n,   n = grad distance

    The gradient of a distance has length one: a function whose gradient has another is refused.
    """

    on: str
    radius: Scalar  # m (r)
    distance: Callable  # of a point, m
    params: PyTree = None  # passed to `distance` second, unless None

    words = ("in x", "in y", "in z")
    gap_count = 1

    def _distance(self, point: Array) -> Array:
        return self.distance(point) if self.params is None else self.distance(point, self.params)

    def gaps(self, *motions: Motion) -> Array:
        (ball,) = motions
        return (self._distance(ball.place) - self.radius)[None]

    def slips(self, *motions: Motion) -> Array:
        (ball,) = motions
        return velocity_at(ball, -self.radius * ball.turn.T @ jax.grad(self._distance)(ball.place))

    def check(self, *motions: Motion) -> None:
        (ball,) = motions
        length = float(jnp.linalg.norm(jax.grad(self._distance)(ball.place)))
        if abs(length - 1) > 1e-6:
            raise InputError(
                f"the distance of {self.on!r} from its surface has a gradient of length {length:.6g} at "
                f"{np.round(np.asarray(ball.place), 6).tolist()}; that of a distance is 1. For a surface f = 0 with a "
                "radius of curvature much larger than the ball's, f / |grad f| comes near; else write the distance."
            )
