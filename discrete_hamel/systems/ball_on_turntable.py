"""A ball on a rotating table: the affine constraint that everyone can try at home."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.contact_laws import of_arguments
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.balls import ball_outline, turned_about
from discrete_hamel.systems.pendulums import SO3
from discrete_hamel.systems.rigid_bodies import off_rotations


class BallOnTurntable(System):
    """A ball of equal moments that rolls without slipping on a table, level or tilted, that turns at a constant rate.

    Coordinates: the attitude W (body to space), row by row, and the ball's centre (x, y) from the table's axis, in
    the table's plane; it slopes down along x by `tilt`. Quasi-velocities (nu, V): angular velocity in space and the
    velocity of the ball's material point in contact, which is the table's: V = b = Omega e_z x (x, y).

        x' = r nu_2 + V_1,  y' = -r nu_1 + V_2,   l = {J |nu|^2 + m |x'|^2} / 2 + m g sin(tilt) x
        [u_i, u_j] = -e_ijk (u_k - d_k),  d_1 = -r u_V2, d_2 = r u_V1

    With k = J / (m r^2) and w = k Omega / (1 + k), the centre moves as a charge does in a magnetic field,

        x'' = w e_z x x' + g sin(tilt) / (1 + k) e_x

    around circles at the rate w (2/7 of the table's for a solid ball, 2/5 for a hollow one), which on a tilted table
    drift across the slope at g sin(tilt) / (k Omega). Exact: the spin nu_3, y' - w x, |x'|^2 / 2 - g sin(tilt) x /
    (1 + k); on a level table also x' + w y and the moving energy E - Omega (m (x y' - y x') + J nu_3), whereas E
    alone is not kept: the table works.   Earnshaw (1844); Neimark and Fufaev (1972); Fasso and Sansonetto (2016)
    """

    mass: float = 1.0  # kg
    inertia: float = 0.001  # kg m^2, about any axis through the ball's centre (J)
    radius: float = 0.05  # m, of the ball (r)
    rate: float = 3.0  # 1/s, of the table (Omega)
    tilt: float = 0.0  # rad, of the table's plane: down along x
    gravity: float = 9.8  # m/s^2

    rank = 3
    coordinates = (*(f"W{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3)), "x", "y")
    velocities = ("nu1", "nu2", "nu3", "slip1", "slip2")
    units = SI

    def _velocity(self, xi: Array) -> Array:
        return jnp.stack([self.radius * xi[1] + xi[3], -self.radius * xi[0] + xi[4]])

    def _downhill(self) -> Array:
        return self.gravity * jnp.sin(self.tilt)

    def _share(self) -> Array | float:
        """k = J / (m r^2)."""
        return self.inertia / (self.mass * self.radius**2)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        v = self._velocity(xi)
        kinetic = self.inertia * xi[:3] @ xi[:3] + self.mass * v @ v
        return 0.5 * kinetic + self.mass * self._downhill() * q[9]

    def frame(self, q: Array) -> Array:
        r = self.radius
        rolling = jnp.array([[0.0, r, 0.0], [-r, 0.0, 0.0]])
        turning = jnp.concatenate([turned_about(q[:9]), rolling])
        return jnp.concatenate([turning, jnp.concatenate([jnp.zeros((9, 2)), jnp.eye(2)])], axis=1)

    def structure(self, q: Array) -> Array:
        so3 = jnp.asarray(SO3)
        slipped = jnp.stack([self.radius * so3[1], -self.radius * so3[0]])  # along V_1 and V_2
        c = jnp.zeros((5, 5, 5)).at[:3, :3, :3].set(-so3)
        return c.at[3:, :3, :3].set(slipped)

    def slip(self, q: Array) -> Array:
        return self.rate * jnp.stack([-q[10], q[9]])

    @of_arguments
    def contact_force(self, q: Array, xi: Array) -> Array:
        """m g cos(tilt), the table's normal force on the ball."""
        return self.mass * self.gravity * jnp.cos(self.tilt) * jnp.ones_like(q[9])

    def holonomic(self, q: Array) -> Array:
        return off_rotations(q[:9])

    def turning(self) -> Array | float:
        """w = k Omega / (1 + k), at which the centre goes around."""
        return self._share() / (1 + self._share()) * self.rate

    def drift(self) -> Array | float:
        """g sin(tilt) / (k Omega), the velocity along y of the circles' centre."""
        return self._downhill() / (self._share() * self.rate)

    def invariants(self) -> dict[str, Invariant]:
        def across(q: Array, xi: Array) -> Array:
            return self._velocity(xi)[1] - self.turning() * q[9]

        def of_the_centre(q: Array, xi: Array) -> Array:
            v = self._velocity(xi)
            return 0.5 * v @ v - self._downhill() / (1 + self._share()) * q[9]

        return {
            "spin": Invariant(lambda q, xi: xi[2], "exact"),
            "y' - w x": Invariant(across, "exact"),
            "energy of the centre": Invariant(of_the_centre, "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        """Generators, q to qdot, that hold for all parameters."""

        def of_the_ball(q: Array, axis: int) -> Array:
            turn = q[:9].reshape(3, 3) @ -jnp.asarray(SO3)[axis]
            return jnp.concatenate([turn.reshape(9), jnp.zeros(2)])

        return {f"rotation of the ball about its axis {i + 1}": lambda q, i=i: of_the_ball(q, i) for i in range(3)}

    def with_the_table(self, q: Array) -> Array:
        """The motion of table and ball as one body, whose moving energy a level table keeps."""
        turn = turned_about(q[:9])[:, 2]
        return self.rate * jnp.concatenate([turn, jnp.stack([-q[10], q[9]])])

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "radius")
        physical.not_negative(self, "gravity")

    def sample(self) -> dict:
        """Set down at rest beside the axis, with a spin."""
        v = np.array([-0.0, 0.6])  # of the table at (0.2, 0)
        nu = (float(v[1]) / 0.05, 0.0, 4.0)
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0.2, 0.0), "xi": nu, "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The ball, its contact, and the table's axis."""
        q = np.asarray(q, float)
        axis = outlines.segment((0.0, 0.0, 0.0), (0.0, 0.0, 2 * float(self.radius))).view(outlines.Fixed)
        ball = ball_outline(q[:9], np.array([q[9], q[10], float(self.radius)]), self.radius)
        return [ball, outlines.contact(q[9], q[10]), axis]
