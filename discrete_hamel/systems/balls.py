"""Balls that roll without slipping on a plane and on a sphere, on rotation matrices and without poles."""

from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import Invariant
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.contact_laws import of_arguments
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.pendulums import SO3, hat
from discrete_hamel.systems.rigid_bodies import body_frame, inertia_matrix, off_rotations
from discrete_hamel.systems.rolling import UP, Rolling, attitude_trace

_TURNS = np.stack([np.cross(axis, np.eye(3)).T for axis in np.eye(3)], axis=-1)  # [a, b, i] = (e_i x)_ab


class ChaplyginSphere(Rolling):
    """A balanced ball with three different moments of inertia that rolls on a horizontal plane.

    Coordinates, quasi-velocities and l are those of `Rolling` with rho = r gamma. With M = J omega + m r^2 (omega -
    (gamma . omega) gamma), the momentum about the contact,

        M' = M x omega,  gamma' = gamma x omega,     [MD] chapter 13

    so that R M is fixed in space (three components C_i, also of the discrete motion) and energy is bounded.
    """

    mass: float = 1.0  # kg
    inertia: ArrayLike = (0.3, 0.4, 0.6)  # kg m^2, about the centre: principal moments or a full matrix
    radius: float = 1.0  # m
    gravity: float = 9.8  # m/s^2, of no effect on the motion

    def to_centre(self, gamma: Array) -> Array:
        return self.radius * gamma

    def height(self, gamma: Array) -> Array:
        return self.radius * jnp.ones_like(gamma[2])

    def moments(self) -> Array:
        return inertia_matrix(self.inertia)

    def contact_momentum(self, q: Array, xi: Array) -> Array:
        """R (J omega + m rho x (omega x rho)), in space."""
        omega, rho = xi[:3], self.to_centre(q[6:9])
        about_contact = self.moments() @ omega + self.mass * jnp.cross(rho, jnp.cross(omega, rho))
        return q[:9].reshape(3, 3) @ about_contact

    def invariants(self) -> dict[str, Invariant]:
        def component(i: int) -> Invariant:
            return Invariant(lambda q, xi: self.contact_momentum(q, xi)[i], "exact")

        momenta = {f"contact momentum {axis}": component(i) for i, axis in enumerate("xyz")}
        return Rolling.invariants(self) | momenta

    def check(self) -> None:
        physical.positive(self, "mass", "radius")
        physical.not_negative(self, "gravity")
        physical.inertia_tensor(self, "inertia")

    def sample(self) -> dict:
        """Spun about no principal axis."""
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0, 0), "xi": (0.9, -0.5, 1.2), "h": 0.02}


class BallOnSphere(Natural):
    """A ball of equal moments that rolls without slipping on a fixed sphere, or inside a spherical bowl; without poles.

    Coordinates: the attitude W (body to space), row by row, and the ball's centre x from the sphere's. Quasi-velocities
    (nu, V): angular velocity in space, W' = hat(nu) W, and the velocity of the ball's material point in contact.
    With beta = x / |x| on the sphere and -x / |x| in the bowl, k = +-1 / |x|,

        x' = r nu x beta + V,  l = {J |nu|^2 + m |r nu x beta + V|^2} / 2 - m g z
        [u_i, u_j] = -e_ijk u_k + r (1 - r k) (e_i x e_j) x beta . u_V,  [u_i, u_Va] = -r k (e_i x e_a) . u_V

    The spin beta . nu about the normal, (J + m r^2) (x y' - y x') / r + J (beta . nu) z and |x| are exact, energy is
    bounded; the centre moves like the tip of a Lagrange top, [MD] 10.6. `dh.reactions` is the contact force,
    `contact_force` its normal component.
    """

    mass: float = 1.0  # kg
    inertia: float = 0.001  # kg m^2, about any axis through the ball's centre (J)
    radius: float = 0.05  # m, of the ball (r)
    sphere: float = 0.3  # m, radius of the sphere or bowl
    gravity: float = 9.8  # m/s^2
    inside: bool = False  # in the bowl?

    rank = 3
    coordinates = (*(f"W{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3)), "x", "y", "z")
    velocities = ("nu1", "nu2", "nu3", "slip1", "slip2", "slip3")
    units = SI | {"vertical momentum": "kg m^3/s"}

    def curvature(self) -> Array | float:
        """k of beta = k x: 1 / (R + r) on the sphere, -1 / (R - r) in the bowl."""
        return -1 / (self.sphere - self.radius) if self.inside else 1 / (self.sphere + self.radius)

    def energy(self, q: Array, xi: Array) -> Array:
        kinetic, potential = self._energies(q, xi)
        return kinetic + potential

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        nu, slip = xi[:3], xi[3:]
        centre = self.radius * jnp.cross(nu, self.curvature() * q[9:]) + slip
        return 0.5 * (self.inertia * nu @ nu + self.mass * centre @ centre), self.mass * self.gravity * q[11]

    def frame(self, q: Array) -> Array:
        rolling = -self.radius * self.curvature() * hat(q[9:])  # columns r e_i x beta
        turning = jnp.concatenate([turned_about(q[:9]), rolling])
        return jnp.concatenate([turning, jnp.concatenate([jnp.zeros((9, 3)), jnp.eye(3)])], axis=1)

    def structure(self, q: Array) -> Array:
        so3, k, r = jnp.asarray(SO3), self.curvature(), self.radius
        about_normal = -hat(k * q[9:])  # column i is e_i x beta
        turning = jnp.concatenate([-so3, r * (1 - r * k) * jnp.einsum("ak,kij->aij", about_normal, so3)])
        mixed = jnp.concatenate([jnp.zeros_like(so3), -r * k * so3])
        upper = jnp.concatenate([turning, mixed], axis=2)
        lower = jnp.concatenate([-jnp.swapaxes(mixed, 1, 2), jnp.zeros((6, 3, 3))], axis=2)
        return jnp.concatenate([upper, lower], axis=1)

    @of_arguments
    def contact_force(self, q: Array, xi: Array) -> Array:
        """m (g beta_z - k |x'|^2), the normal force on the ball: positive where the surface pushes, as it does."""
        beta = self.curvature() * q[9:]
        velocity = self.radius * jnp.cross(xi[:3], beta)
        return self.mass * (self.gravity * beta[2] - self.curvature() * velocity @ velocity)

    def holonomic(self, q: Array) -> Array:
        beta = self.curvature() * q[9:]
        return jnp.concatenate([off_rotations(q[:9]), (beta @ beta - 1)[None]])

    def normal_spin(self, q: Array, xi: Array) -> Array:
        """beta . nu."""
        return self.curvature() * q[9:] @ xi[:3]

    def vertical_momentum(self, q: Array, xi: Array) -> Array:
        """(J + m r^2) (x y' - y x') / r + J (beta . nu) z."""
        velocity = self.radius * jnp.cross(xi[:3], self.curvature() * q[9:])
        around = (q[9] * velocity[1] - q[10] * velocity[0]) / self.radius
        return (self.inertia + self.mass * self.radius**2) * around + self.inertia * self.normal_spin(q, xi) * q[11]

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.energy, "bounded"),
            "normal spin": Invariant(self.normal_spin, "exact"),
            "vertical momentum": Invariant(self.vertical_momentum, "exact"),
            "distance of the centres": Invariant(
                lambda q, xi: jnp.sqrt(q[9:] @ q[9:]), "exact", ("frame", "rank", "slip")
            ),
            "trace of W^T W": Invariant(attitude_trace, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable]:
        """Generators, q to qdot."""

        def around(q: Array) -> Array:
            vertical = hat(jnp.asarray(UP))
            return jnp.concatenate([(vertical @ q[:9].reshape(3, 3)).reshape(9), vertical @ q[9:]])

        def of_the_ball(q: Array, axis: int) -> Array:
            return jnp.concatenate([body_frame(q[:9])[:, axis], jnp.zeros(3)])

        turns = {f"rotation of the ball about its axis {i + 1}": partial(of_the_ball, axis=i) for i in range(3)}
        return {"rotation about the vertical": around} | turns

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "radius", "sphere")
        physical.not_negative(self, "gravity")
        if self.inside:
            fits(self, "sphere")

    def sample(self) -> dict:
        """Near the top, spinning about the normal fast enough to stay there; in the bowl, off its bottom."""
        v = float(self.sphere - self.radius if self.inside else self.sphere + self.radius)
        side = -0.8 if self.inside else 0.8
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0.6 * v, 0.0, side * v), "xi": (180.0, 2.0, 240.0), "h": 0.001}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The ball, and parallels and meridians of the sphere."""
        return [ball_outline(q[:9], q[9:], self.radius), outlines.dot(q[9:]), *outlines.sphere(float(self.sphere))]


def turned_about(q: Array) -> Array:
    """W' = hat(nu) W for W row by row: 9 x 3, columns hat(e_i) W."""
    return jnp.einsum("aci,cb->abi", jnp.asarray(_TURNS), q.reshape(3, 3)).reshape(9, 3)


def ball_outline(attitude: ArrayLike, centre: ArrayLike, radius: Scalar) -> outlines.Surface:
    """A ball in space."""
    return outlines.ellipsoid(np.asarray(attitude).reshape(3, 3), float(radius) * np.ones(3), centre)


def fits(system: "ChaplyginSphere | BallOnSphere", around: str) -> None:
    """The ball is smaller than what it rolls in."""
    radius, room = float(system.radius), float(getattr(system, around))
    if radius >= room:
        raise InputError(
            f"the parameter radius of {type(system).__name__} is {radius:g}: the ball does not fit into the {around}, "
            f"whose radius is {room:g}."
        )
