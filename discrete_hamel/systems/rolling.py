"""Convex bodies that roll without slipping on a horizontal plane: what all of them have in common."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.contact_laws import of_arguments
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.pendulums import SO3, hat
from discrete_hamel.systems.rigid_bodies import body_frame, off_rotations, orthogonality

UP = np.array([0.0, 0.0, 1.0])


class Rolling(System):
    """A convex body on a horizontal plane; a subclass has `mass`, `gravity`, `moments()` and `to_centre(gamma)`.

    Coordinates: the attitude R (body to space), row by row, and the mass centre's horizontal place (x, y). Its height
    is a function of gamma = R^T e_z, the third row of R: the upward vertical seen from the body. Quasi-velocities: body
    angular velocity omega and the velocity V, in the body, of the material point in contact; rolling is V = 0.
    rho(gamma) leads from the contact to the mass centre, in the body:

        R' = R hat(omega),   (x, y)' = horizontal part of R (omega x rho + V)
        l = (omega . J omega + m |omega x rho + V|^2) / 2 - m g height(gamma)

    The fields are those of rotations and translations of space, with gamma . V the speed of lifting off; their bracket,
    with rho_i = D rho [gamma x e_i], depends on gamma only:

        [u_i, u_j] = e_ijk u_k + (e_j x rho_i - e_i x rho_j) . u_V,   [u_i, u_Va] = e_iab u_Vb,   [u_Va, u_Vb] = 0

    so that height = gamma . rho and its derivative gamma . (omega x rho) agree also between rotations.
    `dh.reactions` is the contact force in the body's axes, `contact_force` its normal component gamma . reaction, which
    is positive as long as the body stays on the plane.
    """

    rank = 3
    coordinates = (*(f"R{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3)), "x", "y")
    velocities = ("omega1", "omega2", "omega3", "slip1", "slip2", "slip3")
    units = SI
    rim: ClassVar[float] = 0.02  # the angle from the third axis at which what is drawn ends in a flat lid

    if TYPE_CHECKING:  # fields of the subclasses, not of this class
        mass: Array | float = 1.0
        gravity: Array | float = 1.0

    def to_centre(self, gamma: Array) -> Array:
        """rho(gamma): from the contact to the mass centre, in the body."""
        raise NotImplementedError

    def height(self, gamma: Array) -> Array:
        """Height of the mass centre above the plane."""
        return gamma @ self.to_centre(gamma)

    def moments(self) -> Array:
        """J, 3 x 3, about the mass centre, in the body's axes."""
        raise NotImplementedError

    def kinetic_energy(self, q: Array, xi: Array) -> Array:
        omega, slip = xi[:3], xi[3:]
        centre = jnp.cross(omega, self.to_centre(q[6:9])) + slip
        return 0.5 * (omega @ self.moments() @ omega + self.mass * centre @ centre)

    def potential_energy(self, q: Array) -> Array:
        return self.mass * self.gravity * self.height(q[6:9])

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.kinetic_energy(q, xi) - self.potential_energy(q)

    def frame(self, q: Array) -> Array:
        horizontal = q[:6].reshape(2, 3)  # the first two rows of R
        turning = jnp.concatenate([body_frame(q[:9]), -horizontal @ hat(self.to_centre(q[6:9]))])
        return jnp.concatenate([turning, jnp.concatenate([jnp.zeros((9, 3)), horizontal])], axis=1)

    def structure(self, q: Array) -> Array:
        gamma, so3 = q[6:9], jnp.asarray(SO3)
        rates = jax.jacfwd(self.to_centre)(gamma) @ hat(gamma)  # column i is rho_i
        twist = jnp.einsum("ajb,bi->aij", so3, rates)  # e_j x rho_i
        turning = jnp.concatenate([so3, twist - jnp.swapaxes(twist, 1, 2)])
        mixed = jnp.concatenate([jnp.zeros_like(so3), so3])
        upper = jnp.concatenate([turning, mixed], axis=2)
        lower = jnp.concatenate([-jnp.swapaxes(mixed, 1, 2), jnp.zeros((6, 3, 3))], axis=2)
        return jnp.concatenate([upper, lower], axis=1)

    def force(self, q: Array, xi: Array) -> Array:
        """Gravity along the slips, which l cannot show: the height is no coordinate. It matters for reactions only."""
        return jnp.concatenate([jnp.zeros(3), -self.mass * self.gravity * q[6:9]])

    def energy(self, q: Array, xi: Array) -> Array:
        return self.kinetic_energy(q, xi) + self.potential_energy(q)

    @of_arguments
    def contact_force(self, q: Array, xi: Array) -> Array:
        """The plane's normal force on the body: positive where it pushes, as a plane does."""
        return normal_force(self, q[6:9], xi[:3])

    def holonomic(self, q: Array) -> Array:
        return off_rotations(q[:9])

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.energy, "bounded", ("lagrangian", "slip", "force")),
            "trace of R^T R": Invariant(attitude_trace, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot: the plane's motions."""
        return {
            "translation along x": lambda q: jnp.zeros(11).at[9].set(1.0),
            "translation along y": lambda q: jnp.zeros(11).at[10].set(1.0),
            "rotation about the vertical": turn_of_the_plane,
        }

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The body's surface in space, and its contact."""
        q = np.asarray(q, float)
        attitude, gamma = q[:9].reshape(3, 3), q[6:9]
        height, rho = standing(self, jnp.asarray(gamma))
        centre = np.array([*q[9:11], float(height)])
        contact = centre - attitude @ np.asarray(rho)
        return [outlines.Surface.of(np.asarray(_surface(self)) @ attitude.T + centre), outlines.contact(*contact[:2])]

    def normals(self, directions: Array) -> Array:
        """The unit normals at which the surface is drawn, for evenly spread directions (rows x columns x 3)."""
        return directions


def normal_force(body: "Rolling", gamma: Array, omega: Array) -> Array:
    """gamma . F of the force F at the contact, by Newton's and Euler's laws for the mass centre, in the body's axes.

    F = m (omega' x rho + omega x rho' + omega x (omega x rho) + g gamma),  J omega' = J omega x omega - rho x F
    """
    rho, drift = jax.jvp(body.to_centre, (gamma,), (jnp.cross(gamma, omega),))
    moments, mass = body.moments(), body.mass
    held = jnp.cross(omega, drift + jnp.cross(omega, rho)) + body.gravity * gamma  # F / m but for omega' x rho
    about_contact = moments + mass * ((rho @ rho) * jnp.eye(3) - jnp.outer(rho, rho))
    x, y, z = about_contact
    across = jnp.stack([jnp.cross(y, z), jnp.cross(z, x), jnp.cross(x, y)])  # det times the inverse: it is symmetric
    turning = across @ (jnp.cross(moments @ omega, omega) - mass * jnp.cross(rho, held)) / (x @ across[0])
    return mass * gamma @ (jnp.cross(turning, rho) + held)


def attitude_trace(q: Array, xi: Array) -> Array:
    """trace(R^T R) of the first nine coordinates, 3 for a rotation."""
    return orthogonality(q[:9], xi)


def turn_of_the_plane(q: Array) -> Array:
    """Generator of rotations about the vertical: of the attitude, and of the place (x, y) about the origin."""
    vertical = hat(jnp.asarray(UP))
    return jnp.concatenate([(vertical @ q[:9].reshape(3, 3)).reshape(9), jnp.stack([-q[10], q[9]])])


def spin_of_the_body(q: Array) -> Array:
    """Generator of rotations of the body about its third axis."""
    spun = q[:9].reshape(3, 3) @ hat(jnp.asarray(UP))
    return jnp.concatenate([spun.reshape(9), jnp.zeros(len(q) - 9)])


def axisymmetric_moments(body: System, across: str, axis: str) -> None:
    """The moments J1 across the axis and J3 about it are positive and J3 <= 2 J1: no mass is negative."""
    physical.positive(body, across, axis)
    j1, j3 = float(getattr(body, across)), float(getattr(body, axis))
    if j3 > 2 * j1 * (1 + physical.ROUNDOFF):
        raise InputError(
            f"the parameter {axis} of {type(body).__name__} is {j3:g} and breaks the triangle inequality: it exceeds "
            f"twice {across}, {j1:g}, which no distribution of mass allows."
        )


@jax.jit
def standing(body: Rolling, gamma: Array) -> tuple[Array, Array]:
    """The height of the mass centre, and rho."""
    return body.height(gamma), body.to_centre(gamma)


@jax.jit
def _surface(body: Rolling) -> Array:
    """The surface about the mass centre in body axes: from pole to pole by normals that stop short of the poles, where
    a disk's rim ends; each pole is the middle of the last parallel."""
    polar = np.linspace(np.pi - 0.02, body.rim, 13)[:, None]
    turn = np.linspace(0, 2 * np.pi, 25)[None]
    normals = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar) + 0 * turn], axis=-1)
    points = jax.vmap(jax.vmap(lambda normal: -body.to_centre(-normal)))
    grid = points(body.normals(jnp.asarray(normals)))
    poles = jnp.broadcast_to(grid[jnp.array([0, -1]), :-1].mean(axis=1)[:, None], (2, *grid.shape[1:]))
    return jnp.concatenate([poles[:1], grid, poles[1:]])


def symmetries_in_angles(own: str) -> dict[str, Callable[[Array], Array]]:
    """Generators, q to qdot, for round bodies on a plane with (lean, heading, turn about its axis, x, y)."""
    return {
        own: lambda q: jnp.zeros(5).at[2].set(1.0),
        "translation along x": lambda q: jnp.zeros(5).at[3].set(1.0),
        "translation along y": lambda q: jnp.zeros(5).at[4].set(1.0),
        "rotation about the vertical": lambda q: jnp.zeros(5).at[1].set(1.0).at[3].set(-q[4]).at[4].set(q[3]),
    }
