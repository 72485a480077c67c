"""Bodies of revolution that roll on a plane, in axes that follow their lean and not their spin.   [MD] chapter 9"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, PyTree, Quasivelocities
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks.contact_laws import of_arguments
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.pendulums import hat
from discrete_hamel.systems.rolling import normal_force, symmetries_in_angles
from discrete_hamel.systems.rolling_bodies import RollingBody, support_of_spheroid


class RollingBodyAngles(System):
    """A body of revolution that rolls without slipping, in Resal's axes: its steady motions are kept, for every step.

    The body and its parameters are those of `RollingBody`; `of` leads here from `RollingBody`, `RouthTop` and
    `RollingDiskOnRotations`. Resal's axes follow the body's axis and not its spin: the first along
    the line of nodes, horizontal, the third along the body's axis, so that gamma = (0, sin theta, cos theta) in them.
    Coordinates: lean theta of the axis from the vertical, heading phi of the line of nodes, own rotation psi, and the
    mass centre's place (x, y). Quasi-velocities: the body's angular velocity omega along Resal's axes, and the slips of
    the contact along the line of nodes and across it:

        theta' = omega1,  phi' = omega2 / sin theta,  psi' = omega3 - omega2 cot theta
        (x, y)' = horizontal part of omega x rho + V
        l = (omega . J omega + m |omega x rho + V|^2) / 2 - m g h(cos theta)

    l and the bracket depend on theta alone, which stands still while the body rolls steadily, and the symmetries only
    translate phi and psi: so `DiscreteHamel` keeps every steady motion to round-off, for every tau and h ([HE] 5.5). In
    axes fixed in the body (`RollingBody`) gamma and omega turn with the spin, and steady motions are lost at O(h^2): at
    theta = 0.9, phi' = 1.5, h = 0.1, Routh's top of the tests loses 3e-3 of cos theta there and 1e-14 here.
    Energy is bounded. The price is a pole: upright, theta = 0 or pi, the line of nodes is lost. No frame is without:
    an upright body turned about its axis looks the same, so that no axis across could be invariant. Sleeping tops are
    for `RollingBody` and `RouthTop`.

    >>> import discrete_hamel as dh
    >>> egg = dh.systems.RollingBodyAngles()
    >>> run = dh.simulate(egg, [0.9, 0.0, 0.0, 0.0, 0.0], egg.steady(0.9, 1.5), h=0.1, steps=100)
    >>> bool(abs(run.xi[-1] - run.xi[0]).max() < 1e-12)
    True
    """

    support: Callable = support_of_spheroid  # h(c), the height of the mass centre at c = cos(theta)
    params: PyTree = (0.8, 0.5)  # m, passed to `support` as second argument unless None
    mass: float = 1.0  # kg
    inertia_across: float = 0.4  # kg m^2, about axes through the mass centre across the body's axis (J1)
    inertia_axis: float = 0.5  # kg m^2, about the body's axis (J3)
    gravity: float = 9.8  # m/s^2

    rank = 3
    coordinates = ("theta", "phi", "psi", "x", "y")
    velocities = ("omega1", "omega2", "omega3", "slip1", "slip2")
    units = SI

    @classmethod
    def of(cls, body: Any, q: Coordinates, xi: Quasivelocities) -> tuple["RollingBodyAngles", Array, Array]:
        """The same body in these coordinates, and q and the free quasi-velocities of the state (q, xi) of `body`."""
        q, (omega1, omega2, omega3) = jnp.asarray(q, float), jnp.asarray(xi, float)[:3]
        r, moments = q[:9].reshape(3, 3), body.moments()
        lean = jnp.arctan2(jnp.hypot(r[2, 0], r[2, 1]), r[2, 2])
        heading, own = jnp.arctan2(r[0, 2], -r[1, 2]), jnp.arctan2(r[2, 0], r[2, 1])
        c, s = jnp.cos(own), jnp.sin(own)
        support, params = body.shape_of_revolution()
        same = cls(
            support=support,
            params=params,
            mass=body.mass,
            inertia_across=moments[0, 0],
            inertia_axis=moments[2, 2],
            gravity=body.gravity,
        )
        turned = jnp.stack([c * omega1 - s * omega2, s * omega1 + c * omega2, omega3])
        return same, jnp.concatenate([jnp.stack([lean, heading, own]), q[9:]]), turned

    def on_rotations(self) -> RollingBody:
        """The same body on rotation matrices."""
        return RollingBody(
            support=self.support,
            params=self.params,
            mass=self.mass,
            inertia_across=self.inertia_across,
            inertia_axis=self.inertia_axis,
            gravity=self.gravity,
        )

    def to_centre(self, gamma: Array) -> Array:
        """rho(gamma), along Resal's axes: the same function as in the body's."""
        return self.on_rotations().to_centre(gamma)

    def moments(self) -> Array:
        """J, about the mass centre, along Resal's axes as in the body's."""
        return self.on_rotations().moments()

    def check(self) -> None:
        self.on_rotations().check()

    def check_shape(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> None:
        self.on_rotations().check_shape(q, by)

    def gamma(self, q: Array) -> Array:
        """The upward vertical along Resal's axes."""
        return jnp.stack([jnp.zeros_like(q[0]), jnp.sin(q[0]), jnp.cos(q[0])])

    def axes(self, q: Array) -> Array:
        """Resal's axes in space, the columns of a rotation."""
        _, s, c = self.gamma(q)
        cn, sn = jnp.cos(q[1]), jnp.sin(q[1])
        return jnp.array([[cn, -c * sn, s * sn], [sn, c * cn, -s * cn], [0.0 * s, s, c]])

    def attitude(self, q: Array) -> Array:
        """R, body to space."""
        c, s = jnp.cos(q[2]), jnp.sin(q[2])
        return self.axes(q) @ jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def kinetic_energy(self, q: Array, xi: Array) -> Array:
        omega, gamma = xi[:3], self.gamma(q)
        slip = jnp.stack([xi[3], gamma[2] * xi[4], -gamma[1] * xi[4]])  # across: e_z x e_1
        centre = jnp.cross(omega, self.to_centre(gamma)) + slip
        return 0.5 * (omega @ self.moments() @ omega + self.mass * centre @ centre)

    def potential_energy(self, q: Array) -> Array:
        return self.mass * self.gravity * self.on_rotations().height_at(jnp.cos(q[0]))

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.kinetic_energy(q, xi) - self.potential_energy(q)

    def frame(self, q: Array) -> Array:
        gamma = self.gamma(q)
        _, s, c = gamma
        turning = jnp.array([[1.0, 0.0, 0.0], [0.0, 1 / s, 0.0], [0.0, -c / s, 1.0]])
        rolling = -self.axes(q)[:2] @ hat(self.to_centre(gamma))  # columns e_i x rho
        cn, sn = jnp.cos(q[1]), jnp.sin(q[1])
        slipping = jnp.concatenate([jnp.zeros((3, 2)), jnp.array([[cn, -sn], [sn, cn]])])
        return jnp.concatenate([jnp.concatenate([turning, rolling]), slipping], axis=1)

    @of_arguments
    def contact_force(self, q: Array, xi: Array) -> Array:
        """The plane's normal force on the body: positive where it pushes, as a plane does."""
        return normal_force(self, self.gamma(q), xi[:3])  # type: ignore[arg-type]

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return self.kinetic_energy(q, xi) + self.potential_energy(q)

        return {"energy": Invariant(energy, "bounded", ("lagrangian", "slip", "force"))}

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return symmetries_in_angles("rotation about the body's axis")

    def steady(self, theta: float, heading: float) -> Array:
        """The free quasi-velocities of steady rolling at lean theta whose heading turns at the rate phi' = `heading`.

        Resal's axes then turn at the rate n = phi' e_z, and everything stands still in them: with v = omega x rho,

            n x J omega + rho x m (n x v + g gamma) = 0

        has a component along the line of nodes only, and omega3 in it is linear.
        """
        gamma = self.gamma(jnp.asarray(theta, float)[None])
        rho, turn = self.to_centre(gamma), heading * gamma

        def moment(spin: Array | float) -> Array:
            omega = turn.at[2].set(spin)
            force = self.mass * (jnp.cross(turn, jnp.cross(omega, rho)) + self.gravity * gamma)
            return (jnp.cross(turn, self.moments() @ omega) + jnp.cross(rho, force))[0]

        return turn.at[2].set(moment(0.0) / (moment(0.0) - moment(1.0)))

    def sample(self) -> dict:
        """A leaning body that spins and falls a little: the motion of `RollingBody`'s sample."""
        return self.on_rotations().sample() | {"q": (0.9, 0.0, 0.0, 0.0, 0.0)}

    def shapes(self, q: Array) -> list[np.ndarray]:
        """The body's surface in space, and its contact."""
        q = np.asarray(q, float)  # type: ignore[assignment]
        return self.on_rotations().shapes(np.concatenate([np.asarray(self.attitude(q)).reshape(9), q[3:]]))
