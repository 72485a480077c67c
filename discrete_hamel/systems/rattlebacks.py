"""Convex bodies of any shape that roll on a horizontal plane, the rattleback among them."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel.systems._blocks import physical, roundness
from discrete_hamel.systems.rigid_bodies import inertia_matrix
from discrete_hamel.systems.rolling import Rolling


def support_of_ellipsoid(normal: Array, semiaxes: Array) -> Array:
    """H(n) = |(a1 n1, a2 n2, a3 n3)|: the farthest an ellipsoid about the mass centre reaches along n."""
    reach = jnp.asarray(semiaxes, float) * normal
    return jnp.sqrt(reach @ reach)


class ConvexBody(Rolling):
    """A strictly convex body of any shape and inertia that rolls without slipping on a horizontal plane.

    Its shape is the support function H(n), the largest n . y over the body's points y from the mass centre, for vectors
    n of any length, so H(s n) = s H(n); H(n, params) where `params`, any pytree, is given. The point of contact is
    grad H(-gamma), so rho = -grad H(-gamma).

    Coordinates, quasi-velocities and l are those of `Rolling`; M = J omega + m rho x (omega x rho), the momentum about
    the contact, obeys the momentum equation

        M' = M x omega + m rho' x (omega x rho) + m g gamma x rho,  gamma' = gamma x omega      [ND] The Rattleback

    Energy is bounded; in general nothing else is kept.
    """

    support: Callable = support_of_ellipsoid
    params: PyTree = (0.8, 0.6, 0.5)  # m, passed to `support` as second argument unless None
    mass: float = 1.0  # kg
    inertia: ArrayLike = (0.3, 0.4, 0.5)  # kg m^2, about the mass centre: principal moments or a full matrix
    gravity: float = 9.8  # m/s^2

    def reach(self, normal: Array) -> Array:
        """H(n)."""
        return self.support(normal) if self.params is None else self.support(normal, self.params)

    def to_centre(self, gamma: Array) -> Array:
        return -jax.grad(self.reach)(-gamma)

    def moments(self) -> Array:
        return inertia_matrix(self.inertia)

    def check(self) -> None:
        physical.positive(self, "mass")
        physical.not_negative(self, "gravity")
        physical.inertia_tensor(self, "inertia")

    def check_shape(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> None:
        roundness.convex(self, by)

    def sample(self) -> dict:
        """Flat side down, spun and rocked."""
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0, 0), "xi": (0.4, 0.1, 2.0), "h": 0.01}


class Rattleback(Rolling):
    """A celtic stone: half an ellipsoid on its round side, its principal axes turned against the ellipsoid's.

    Body axes are those of the ellipsoid with semi-axes `semiaxes`, the third upward at rest; its lower half touches the
    plane. The mass centre is `depth` below the ellipsoid's centre on that axis. The principal axes of inertia (moments
    `inertia`) are the body axes turned by `tilt` about the third; a full matrix `inertia` is in the body axes, and
    `tilt` has no part in it. Coordinates, quasi-velocities and l are those of `Rolling`, with

        rho = (a^2 gamma1, b^2 gamma2, c^2 gamma3) / |(a gamma1, b gamma2, c gamma3)| - depth e_3

    Spun one way it keeps spinning for long; the other way it soon starts to rattle and reverses: the momentum about the
    contact obeys an equation, no conservation law. (At 5 rad/s both ways are unstable, with rates 0.20 and 2.12 1/s:
    the first reverses too, after half a minute.) Nothing but energy is kept: it is bounded.
    Reference: [ND] The Rattleback; the numbers are those of Kane and Levinson (1982), where the mass centre is 1 cm
    below the ellipsoid's centre and the moments are 2e-4, 1.6e-3, 1.7e-3 with the product of inertia -2e-5 kg m^2.
    """

    mass: float = 1.0  # kg
    semiaxes: Array | tuple[float, ...] = (0.2, 0.03, 0.02)  # m, of the ellipsoid, along the body axes
    depth: float = 0.01  # m, of the mass centre below the ellipsoid's centre
    inertia: ArrayLike = (
        1.9971435e-4,
        1.60028565e-3,
        1.7e-3,
    )  # kg m^2, about the mass centre: moments or a full matrix
    tilt: float = 0.0142818  # rad, of principal moments: from the ellipsoid's first two axes to theirs, about the third
    gravity: float = 9.81  # m/s^2

    rim = math.pi / 2

    def normals(self, directions: Array) -> Array:
        across = directions / jnp.asarray(self.semiaxes, float)[None, None]
        return across / jnp.linalg.norm(across, axis=-1, keepdims=True)

    def to_centre(self, gamma: Array) -> Array:
        semiaxes = jnp.asarray(self.semiaxes, float)
        reach = semiaxes * gamma
        return (semiaxes * reach / jnp.sqrt(reach @ reach)).at[2].add(-self.depth)

    def moments(self) -> Array:
        inertia = jnp.asarray(self.inertia, float)
        if inertia.ndim == 2:
            return inertia
        c, s = jnp.cos(self.tilt), jnp.sin(self.tilt)
        turn = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return turn @ jnp.diag(inertia) @ turn.T

    def check(self) -> None:
        physical.shape(self, "semiaxes", (3,))
        physical.shape(self, "depth", ())
        physical.positive(self, "mass", "semiaxes")
        physical.not_negative(self, "gravity")
        physical.inertia_tensor(self, "inertia")
        if abs(float(self.depth)) >= float(np.asarray(self.semiaxes)[2]):
            raise InputError(
                f"the parameter depth of Rattleback is {float(self.depth):g}: the mass centre lies outside the "
                f"ellipsoid, whose third semi-axis is {float(self.semiaxes[2]):g}."
            )

    def sample(self) -> dict:
        """Spun against its preferred sense, with a slight rocking: it reverses within a few seconds."""
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0, 0), "xi": (0.02, 0.02, -5.0), "h": 0.002}
