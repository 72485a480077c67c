"""The top with a round base that slips on the plane, and turns over."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.contact_laws import of_arguments
from discrete_hamel.systems._blocks.lie_algebras import SO3
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.garage.carried import along_coordinate
from discrete_hamel.systems.rigid_bodies import body_frame, off_rotations
from discrete_hamel.systems.rolling import attitude_trace, axisymmetric_moments, spin_of_the_body, turn_of_the_plane


def coulomb(slip: Array, sizes: tuple[float, float]) -> Array:
    """-mu s / sqrt(|s|^2 + s_0^2): Coulomb's law but for slow slips; sizes = (mu, s_0)."""
    coefficient, slow = sizes
    return -coefficient * slip / jnp.sqrt(slip @ slip + slow**2)


class SlippingTop(System):
    """An axisymmetric top with a spherical base that slips on the plane, with friction: the tippe top.

    Coordinates: attitude R, row by row, and the mass centre's place (x, y). Quasi-velocities: omega in the body's axes,
    and x', y': all free, and the height follows from R. With gamma = R^T e_z, a = `offset` and r = `radius`, from the
    contact to the mass centre

        rho = a e_3 + r gamma,   height = r + a gamma_3,   s = (x, y)' - (R (omega x rho))_xy      the slip
        l = {m |(x, y)'|^2 + m (gamma . omega x rho)^2 + omega . J omega} / 2 - m g height
        f = N law(s),   N = m (g + height'')                                                      the plane's force

    N is what f makes it: both are found together. Friction takes energy until nothing slips. Jellett's integral
    rho . J omega (1872) is exact, whatever the law: f acts at the contact, so that its torque is across rho. With it a
    top whose J3 / J1 lies between 1 - |a| / r and 1 + |a| / r, a < 0, turns over, if it spins fast enough: Bou-Rabee,
    Marsden and Romero (2004). `RouthTop` is the same without slip.
    """

    mass: float = 0.006  # kg (m)
    inertia_across: float = 8e-7  # kg m^2, about axes through the mass centre across the body's axis (J1)
    inertia_axis: float = 7e-7  # kg m^2, about the body's axis (J3)
    offset: float = -0.003  # m, mass centre above the centre of the spherical base, along the body's axis (a)
    radius: float = 0.015  # m, of the spherical base (r)
    gravity: float = 9.81  # m/s^2
    friction: Callable = coulomb  # force over load by slip, law(s, params)
    params: PyTree = (0.3, 0.01)  # 1, and m/s: what `friction` is given

    rank = 5
    coordinates = (*(f"R{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3)), "x", "y")
    velocities = ("omega1", "omega2", "omega3", "v1", "v2")
    units = SI | {"Jellett": "kg m^3/s"}

    def to_centre(self, gamma: Array) -> Array:
        """rho, in the body."""
        return (self.radius * gamma).at[2].add(self.offset)

    def moments(self) -> Array:
        """J1, J1, J3."""
        return jnp.stack([self.inertia_across, self.inertia_across, self.inertia_axis])

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        omega, gamma = xi[:3], q[6:9]
        rise = gamma @ jnp.cross(omega, self.to_centre(gamma))
        kinetic = 0.5 * (self.mass * (xi[3:] @ xi[3:] + rise**2) + self.moments() @ omega**2)
        return kinetic, self.mass * self.gravity * (self.radius + self.offset * gamma[2])

    def lagrangian(self, q: Array, xi: Array) -> Array:
        kinetic, potential = self._energies(q, xi)
        return kinetic - potential

    def frame(self, q: Array) -> Array:
        turning = jnp.concatenate([body_frame(q[:9]), jnp.zeros((9, 2))], axis=1)
        return jnp.concatenate([turning, jnp.zeros((2, 5)).at[:, 3:].set(np.eye(2))])

    def structure(self, q: Array) -> Array:
        c = np.zeros((5, 5, 5))
        c[:3, :3, :3] = SO3
        return jnp.asarray(c)

    def slipping(self, q: Array, xi: Array) -> Array:
        """s, the velocity of the material point in contact."""
        return xi[3:] - q[:6].reshape(2, 3) @ jnp.cross(xi[:3], self.to_centre(q[6:9]))

    @of_arguments
    def contact_force(self, q: Array, xi: Array) -> Array:
        """N of N (e_z + law(s)): J omega' = J omega x omega - rho x force, height' = omega . (rho x gamma)."""
        omega, gamma, moments = xi[:3], q[6:9], self.moments()
        rho = self.to_centre(gamma)

        def lever(gamma: Array) -> Array:
            return jnp.cross(self.to_centre(gamma), gamma)

        arm, turned = jax.jvp(lever, (gamma,), (jnp.cross(gamma, omega),))
        by_force = -jnp.cross(rho, gamma + q[:6].reshape(2, 3).T @ self.friction(self.slipping(q, xi), self.params))
        by_itself = jnp.cross(moments * omega, omega)
        load = self.gravity + arm @ (by_itself / moments) + omega @ turned
        return self.mass * load / (1 - self.mass * arm @ (by_force / moments))

    def force(self, q: Array, xi: Array) -> Array:
        """Friction."""
        f = self.contact_force(q, xi) * self.friction(self.slipping(q, xi), self.params)
        torque = -jnp.cross(self.to_centre(q[6:9]), q[:6].reshape(2, 3).T @ f)
        return jnp.concatenate([torque, f])

    def holonomic(self, q: Array) -> Array:
        return off_rotations(q[:9])

    def jellett(self, q: Array, xi: Array) -> Array:
        """rho . J omega."""
        return self.to_centre(q[6:9]) @ (self.moments() * xi[:3])

    def invariants(self) -> dict[str, Invariant]:
        return {
            "Jellett": Invariant(self.jellett, "exact"),
            "trace of R^T R": Invariant(attitude_trace, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return {
            "translation along x": along_coordinate(11, 9),
            "translation along y": along_coordinate(11, 10),
            "rotation about the vertical": turn_of_the_plane,
            "rotation about the body's axis": spin_of_the_body,
        }

    def check(self) -> None:
        physical.positive(self, "mass", "radius")
        physical.not_negative(self, "gravity")
        axisymmetric_moments(self, "inertia_across", "inertia_axis")

    def sample(self) -> dict:
        """Upright but for a little, spinning fast: it turns over within a few seconds."""
        c, s = float(np.cos(0.1)), float(np.sin(0.1))
        return {
            "q": (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c, 0.0, 0.0),
            "xi": (0.0, 150.0 * s, 150.0 * c, 0.0, 0.0),
            "h": 5e-4,
        }

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The base, cut off above, with its stem, and the contact."""
        q = np.asarray(q, float)
        attitude, r = q[:9].reshape(3, 3), float(self.radius)
        middle = np.array([q[9], q[10], r])
        latitude = np.linspace(-np.pi / 2, 0.25 * np.pi, 10)
        rows = [
            outlines.circle((0, 0, r * np.sin(b)), (r * np.cos(b), 0, 0), (0, r * np.cos(b), 0), 25) for b in latitude
        ]
        lid = np.broadcast_to([0.0, 0.0, r * np.sin(latitude[-1])], rows[0].shape)
        base = outlines.Surface.of(np.stack([*rows, lid]) @ attitude.T + middle)
        stem = outlines.segment((0, 0, 0.7 * r), (0, 0, 1.6 * r)) @ attitude.T + middle
        return [outlines.contact(q[9], q[10]), base, stem]
