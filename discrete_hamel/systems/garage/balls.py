"""Balls with something on them or in them: a robot in a shell, a ball on a ball."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import Invariant
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.lie_algebras import SO3
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.balls import ball_outline, turned_about
from discrete_hamel.systems.garage.carried import Carried, along_coordinate
from discrete_hamel.systems.pendulums import hat
from discrete_hamel.systems.rigid_bodies import body_frame, off_rotations, rotations_in_space

ROLLED = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # (x, y)' = radius ROLLED omega of a ball on the plane
_STATE = [f"{letter}{a}{b}" for letter in "RS" for a in (1, 2, 3) for b in (1, 2, 3)]


class BallRobot(Carried):
    """A shell on the plane that a carriage drives from inside, on one wheel that does not slip.

    Coordinates: attitude R of the carriage, row by row; S, the shell's in the carriage's axes; the wheel's angle phi;
    the shell's middle (x, y). The carriage turns about that middle, its mass centre l below it; its wheel touches the
    shell straight below, at rho from the middle, and rolls along the carriage's first axis. Quasi-velocities: omega of
    the carriage in its axes, phi', the shell's pivoting about the wheel's contact, then four slips: of the shell
    against the wheel, as angular velocities about the carriage's first two axes, and on the ground. With r and r_w the
    radii of shell and wheel,

        R' = R hat(omega),   S' = hat(sigma) S,   sigma = (0, (r_w / rho) phi', pivoting),   Omega = R (omega + sigma)
        (x, y)' = r (Omega_y, -Omega_x)
        l = {m_s |x'|^2 + J_s |Omega|^2 + m |R^T x' - omega x l e_3|^2 + omega . I omega + J_w (omega_2 + phi')^2} / 2
            + m g l R_33

    Energy is bounded. Halme, Schonberg and Wang (1996).
    """

    shell_mass: float = 1.0  # kg (m_s)
    shell_inertia: float = 0.026  # kg m^2, about its middle (J_s)
    radius: float = 0.2  # m (r)
    mass: float = 2.0  # kg, of the carriage with the wheel (m)
    moments: tuple[float, ...] = (0.01, 0.009, 0.008)  # kg m^2, of these about their mass centre, but for J_w
    depth: float = 0.08  # m, middle down to that mass centre (l)
    wheel_inertia: float = 0.0004  # kg m^2, about the axle (J_w)
    wheel_radius: float = 0.05  # m (r_w)
    track: float = 0.19  # m, middle down to the wheel's contact (rho)
    gravity: float = 9.81  # m/s^2

    rank = 5
    coordinates = (*_STATE, "phi", "x", "y")
    velocities = ("omega1", "omega2", "omega3", "phi'", "pivoting", "slip across", "slip along", "slip x", "slip y")
    units = (
        SI
        | {name: "1" for name in _STATE}
        | {"pivoting": "rad/s", "slip across": "rad/s", "slip along": "rad/s", "slip x": "m/s", "slip y": "m/s"}
        | {"shell_mass": "kg", "shell_inertia": "kg m^2", "moments": "kg m^2", "track": "m"}
    )

    def relative(self, xi: Array) -> Array:
        """sigma, of the shell in the carriage."""
        return jnp.stack([xi[5], self.wheel_radius / self.track * xi[3] + xi[6], xi[4]])

    def qdot(self, q: Array, xi: Array) -> Array:
        omega, sigma = xi[:3], self.relative(xi)
        attitude, shell = q[:9].reshape(3, 3), q[9:18].reshape(3, 3)
        place = self.radius * ROLLED @ (attitude @ (omega + sigma)) + xi[7:]
        turning = (attitude @ hat(omega)).reshape(9), (hat(sigma) @ shell).reshape(9)
        return jnp.concatenate([*turning, xi[3:4], place])

    def structure(self, q: Array) -> Array:
        """For fields of (omega, phi', sigma, ground) first, then for those of xi."""
        so3 = np.asarray(SO3)
        below = self.radius * jnp.einsum("ga,ak,kij->gij", ROLLED, q[:9].reshape(3, 3), so3)
        c = jnp.zeros((9, 9, 9)).at[:3, :3, :3].set(so3).at[4:7, 4:7, 4:7].set(-so3)
        c = (
            c.at[7:, :3, :3]
            .set(below)
            .at[7:, :3, 4:7]
            .set(below)
            .at[7:, 4:7, :3]
            .set(below)
            .at[7:, 4:7, 4:7]
            .set(below)
        )
        basis = jnp.zeros((9, 9)).at[:4, :4].set(np.eye(4)).at[5, 3].set(self.wheel_radius / self.track)
        basis = basis.at[6, 4].set(1.0).at[4, 5].set(1.0).at[5, 6].set(1.0).at[7:, 7:].set(np.eye(2))
        back = jnp.zeros((9, 9)).at[:4, :4].set(np.eye(4)).at[6, 3].set(-self.wheel_radius / self.track)
        back = back.at[4, 6].set(1.0).at[5, 4].set(1.0).at[6, 5].set(1.0).at[7:, 7:].set(np.eye(2))
        return jnp.einsum("ka,abc,bi,cj->kij", back, c, basis, basis)

    def energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        """T and V."""
        omega, attitude = xi[:3], q[:9].reshape(3, 3)
        shell = omega + self.relative(xi)
        ground = self.radius * ROLLED @ (attitude @ shell) + xi[7:]
        centre = attitude[:2].T @ ground + self.depth * jnp.stack([-omega[1], omega[0], 0.0])
        twice = self.shell_mass * ground @ ground + self.shell_inertia * shell @ shell + self.mass * centre @ centre
        twice += jnp.stack([*self.moments]) @ omega**2 + self.wheel_inertia * (omega[1] + xi[3]) ** 2
        return jnp.asarray(0.5 * twice), -self.mass * self.gravity * self.depth * q[8]

    def lagrangian(self, q: Array, xi: Array) -> Array:
        kinetic, potential = self.energies(q, xi)
        return kinetic - potential

    def holonomic(self, q: Array) -> Array:
        return jnp.concatenate([off_rotations(q[:9]), off_rotations(q[9:18])])

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(lambda q, xi: jnp.add(*self.energies(q, xi)), "bounded")}

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""

        def around(q: Array) -> Array:
            return jnp.concatenate([_about_z(q[:9]), jnp.zeros(10), jnp.stack([-q[20], q[19]])])

        def of_the_shell(q: Array, axis: int) -> Array:
            return jnp.zeros(21).at[9:18].set(body_frame(q[9:18])[:, axis])

        plane = {"translation along x": along_coordinate(21, 19), "translation along y": along_coordinate(21, 20)}
        turns = {f"rotation of the shell about its axis {i + 1}": lambda q, i=i: of_the_shell(q, i) for i in range(3)}
        return plane | {"rotation about the vertical": around} | turns

    def check(self) -> None:
        physical.positive(self, "shell_mass", "shell_inertia", "radius", "mass", "moments", "wheel_radius", "track")
        physical.not_negative(self, "wheel_inertia")
        if float(self.track) > float(self.radius):
            raise InputError(
                f"the parameter track of BallRobot is {float(self.track):g}: the wheel is not inside the shell, whose "
                f"radius is {float(self.radius):g}."
            )

    def sample(self) -> dict:
        """The carriage aside and turning, the wheel running."""
        c, s = float(np.cos(0.5)), float(np.sin(0.5))
        upright = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        return {
            "q": (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c, *upright, 0.0, 0.0, 0.0),
            "xi": (0.0, -2.0, 0.5, 20.0, 0.3),
            "h": 0.005,
        }

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The shell's rings, the wheel, and the carriage's mass."""
        q = np.asarray(q, float)
        attitude, shell = q[:9].reshape(3, 3), q[9:18].reshape(3, 3)
        middle, r = np.array([q[19], q[20], float(self.radius)]), float(self.radius)
        axes = r * attitude @ shell
        rings = [outlines.circle(middle, axes[:, i], axes[:, j]) for i, j in ((0, 1), (1, 2), (2, 0))]
        hub = middle - (float(self.track) - float(self.wheel_radius)) * attitude[:, 2]
        c, s = float(self.wheel_radius) * np.array([np.cos(q[18]), np.sin(q[18])])
        wheel = outlines.disk(hub, c * attitude[:, 0] - s * attitude[:, 2], s * attitude[:, 0] + c * attitude[:, 2])
        mass = outlines.dot(middle - float(self.depth) * attitude[:, 2])
        return [outlines.contact(q[19], q[20]), *rings, *wheel, outlines.segment(middle, hub), mass]


class BallOnBall(Carried):
    """A ball that rolls on a ball that rolls on the plane; both are homogeneous, and nothing slips.

    Coordinates: attitudes R of the lower and S of the upper ball, row by row; n, the unit vector from the lower middle
    to the upper; the lower middle (x, y). Quasi-velocities: angular velocities omega and nu in space, then slips:
    of the lower ball on the plane, and the velocity of the upper middle beyond rolling.

        R' = hat(omega) R,  S' = hat(nu) S,  (x, y)' = a (omega_y, -omega_x),  (a + b) n' = (a omega + b nu) x n
        l = {m |x'|^2 + J |omega|^2 + M |x' + (a + b) n'|^2 + K |nu|^2} / 2 - M g (a + b) n_z

    a and b are the radii. Energy is bounded, |n| exact. Like `BallOnSphere`, whose sphere does not move; the upper ball
    falls off in time, which is not noticed here.
    """

    mass: float = 8.0  # kg, of the lower ball (m)
    inertia: float = 0.8  # kg m^2, of the lower ball (J)
    radius: float = 0.5  # m, of the lower ball (a)
    upper_mass: float = 0.5  # kg (M)
    upper_inertia: float = 0.002  # kg m^2 (K)
    upper_radius: float = 0.1  # m (b)
    gravity: float = 9.81  # m/s^2

    rank = 6
    coordinates = (*_STATE, "n1", "n2", "n3", "x", "y")
    velocities = (
        *(f"{name}{i}" for name in ("omega", "nu") for i in (1, 2, 3)),
        *(f"{name}" for name in ("slip x", "slip y", "lift1", "lift2", "lift3")),
    )
    units = (
        SI
        | {name: "1" for name in (*_STATE, "n1", "n2", "n3", "length of n")}
        | {name: "m/s" for name in ("slip x", "slip y", "lift1", "lift2", "lift3")}
        | {"upper_mass": "kg", "upper_inertia": "kg m^2", "upper_radius": "m"}
    )

    def qdot(self, q: Array, xi: Array) -> Array:
        omega, nu, n = xi[:3], xi[3:6], q[18:21]
        up = (jnp.cross(self.radius * omega + self.upper_radius * nu, n) + xi[8:]) / (self.radius + self.upper_radius)
        turning = turned_about(q[:9]) @ omega, turned_about(q[9:18]) @ nu
        return jnp.concatenate([*turning, up, self.radius * ROLLED @ omega + xi[6:8]])

    def structure(self, q: Array) -> Array:
        so3, n = np.asarray(SO3), q[18:21]
        a, b = self.radius, self.upper_radius
        about_n = jnp.einsum("ak,kij->aij", hat(n), so3)  # -(e_i x e_j) x n
        c = jnp.zeros((11, 11, 11)).at[:3, :3, :3].set(-so3).at[3:6, 3:6, 3:6].set(-so3)
        c = c.at[6:8, :3, :3].set(a * jnp.einsum("gk,kij->gij", ROLLED, so3))
        rolled = jnp.kron(np.array([[[-1.0, 1.0], [1.0, -1.0]]]), about_n)
        c = c.at[8:, :6, :6].set(a * b / (a + b) * rolled)
        lifted = jnp.concatenate([-a * so3, -b * so3], axis=1) / (a + b)  # [u_i, u_lift j] = -(e_i x e_j)
        return c.at[8:, :6, 8:].set(lifted).at[8:, 8:, :6].set(-jnp.swapaxes(lifted, 1, 2))

    def energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        """T and V."""
        omega, nu, n = xi[:3], xi[3:6], q[18:21]
        ground = self.radius * ROLLED @ omega + xi[6:8]
        upper = jnp.cross(self.radius * omega + self.upper_radius * nu, n) + xi[8:] + jnp.append(ground, 0.0)
        twice = self.mass * ground @ ground + self.inertia * omega @ omega
        twice += self.upper_mass * upper @ upper + self.upper_inertia * nu @ nu
        return jnp.asarray(0.5 * twice), self.upper_mass * self.gravity * (self.radius + self.upper_radius) * n[2]

    def lagrangian(self, q: Array, xi: Array) -> Array:
        kinetic, potential = self.energies(q, xi)
        return kinetic - potential

    def holonomic(self, q: Array) -> Array:
        n = q[18:21]
        return jnp.concatenate([off_rotations(q[:9]), off_rotations(q[9:18]), (n @ n - 1)[None]])

    def invariants(self) -> dict[str, Invariant]:
        def length(q: Array, _: Array) -> Array:
            return jnp.sqrt(q[18:21] @ q[18:21])

        return {
            "energy": Invariant(lambda q, xi: jnp.add(*self.energies(q, xi)), "bounded"),
            "length of n": Invariant(length, "exact", ("frame", "qdot", "rank", "slip")),
        }

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""

        def around(q: Array) -> Array:
            n = hat(jnp.asarray([0.0, 0.0, 1.0])) @ q[18:21]
            return jnp.concatenate([_about_z(q[:9]), _about_z(q[9:18]), n, jnp.stack([-q[22], q[21]])])

        def of_a_ball(q: Array, first: int, axis: int) -> Array:
            return jnp.zeros(23).at[first : first + 9].set(body_frame(q[first : first + 9])[:, axis])

        plane = {"translation along x": along_coordinate(23, 21), "translation along y": along_coordinate(23, 22)}
        turns = {
            f"rotation of the {name} ball about its axis {i + 1}": lambda q, k=k, i=i: of_a_ball(q, k, i)
            for name, k in (("lower", 0), ("upper", 9))
            for i in range(3)
        }
        return plane | {"rotation about the vertical": around} | turns

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "radius", "upper_mass", "upper_inertia", "upper_radius")

    def sample(self) -> dict:
        """Near the top of a ball that rolls, both spinning."""
        upright = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        n = (float(np.sin(0.1)), 0.0, float(np.cos(0.1)))
        return {"q": (*upright, *upright, *n, 0.0, 0.0), "xi": (0.0, 0.2, 2.0, 0.0, -0.5, 150.0), "h": 0.002}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The two balls."""
        q = np.asarray(q, float)
        a, b = float(self.radius), float(self.upper_radius)
        middle = np.array([q[21], q[22], a])
        upper = middle + (a + b) * q[18:21]
        return [outlines.contact(q[21], q[22]), ball_outline(q[:9], middle, a), ball_outline(q[9:18], upper, b)]


_about_z = rotations_in_space("z")["rotation about z"]
