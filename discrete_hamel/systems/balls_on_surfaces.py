"""Balls that roll without slipping on surfaces of revolution with a vertical axis.   [MD] chapters 10, 11"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel.mechanics.system import Invariant
from discrete_hamel.systems._blocks import outlines, physical, roundness
from discrete_hamel.systems._blocks.contact_laws import of_arguments
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI, cgs
from discrete_hamel.systems.balls import ball_outline, fits, turned_about
from discrete_hamel.systems.pendulums import hat
from discrete_hamel.systems.rigid_bodies import body_frame, off_rotations
from discrete_hamel.systems.rolling import UP, attitude_trace


def cylinder(s: Array, radius: Array | float) -> Array:
    """(a, z) = (radius, s): the centre stays at `radius` from a vertical axis, inside a cylinder."""
    return jnp.stack([radius * jnp.ones_like(s), s])


def sphere(s: Array, radius: Array) -> Array:
    """(a, z) = radius (sin, cos)(s / radius): the centre at `radius` from a sphere's, outside; s from the top."""
    return radius * jnp.stack([jnp.sin(s / radius), jnp.cos(s / radius)])


def bowl(s: Array, radius: Array) -> Array:
    """(a, z) = radius (sin, -cos)(s / radius): the centre at `radius` from a sphere's, inside; s from the bottom."""
    return radius * jnp.stack([jnp.sin(s / radius), -jnp.cos(s / radius)])


def hoop(s: Array, sizes: Array | tuple[float, ...]) -> Array:
    """(a, z) = (u + v sin(s/v), v cos(s/v)): outside a horizontal hoop; sizes = (u of the hoop, v = tube and ball)."""
    u, v = sizes
    return jnp.stack([u + v * jnp.sin(s / v), v * jnp.cos(s / v)])


@jax.jit
def _profile(surface: "OnSurface", s: Array) -> Array:
    """(a, z, a', z') at each s."""
    return jax.vmap(lambda s: jnp.concatenate([surface.curve(s), surface.slope(s)]))(s)


class OnSurface(Natural):
    """What the balls on surfaces of revolution share; they need mass, inertia, radius, gravity and `curve(s)`."""

    rank = 3
    coordinates = (*(f"W{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3)), "s", "theta")
    velocities = ("v", "Omega1", "Omega2", "slip along s", "slip in theta")
    units = SI | {
        "v": "rad/s",
        "Omega2": "rad/(m s)",
        "slip along s": "m/s",
        "slip in theta": "rad/s",
        "Omega1 - Omega2 s": "rad/s",
    }

    if TYPE_CHECKING:  # fields of the subclasses, not of this class
        mass: Array | float = 1.0
        inertia: Array | float = 1.0  # or `moment`
        radius: Array | float = 1.0
        gravity: Array | float = 1.0

    def curve(self, s: Array) -> Array:
        """(a, z) of the ball's centre at arc length s: distance from the axis, and height."""
        raise NotImplementedError

    def moment(self) -> Array | float:
        """J, about any axis through the ball's centre."""
        return self.inertia

    def slope(self, s: Array) -> Array:
        """(a', z'), a unit vector."""
        return jax.jvp(self.curve, (s,), (jnp.ones_like(s),))[1]

    def axes(self, s: Array, theta: Array) -> tuple[Array, Array, Array]:
        """tau (around), beta (off the surface) and eta (along the profile), in space."""
        (da, dz), c, sn = self.slope(s), jnp.cos(theta), jnp.sin(theta)
        tau = jnp.stack([-sn, c, jnp.zeros_like(c)])
        beta = jnp.stack([-dz * c, -dz * sn, da])
        eta = jnp.stack([da * c, da * sn, dz])
        return tau, beta, eta

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        a, z = self.curve(q[9])
        v, spin, pivot, along, around = xi
        centre = (self.radius * v + along) ** 2 + (a * (around - self.radius * pivot)) ** 2
        turning = v**2 + spin**2 + (a * pivot) ** 2
        return 0.5 * (self.moment() * turning + self.mass * centre), self.mass * self.gravity * z

    def energy(self, q: Array, xi: Array) -> Array:
        return sum(self._energies(q, xi), jnp.zeros(()))

    def frame(self, q: Array) -> Array:
        tau, beta, eta = self.axes(q[9], q[10])
        turns = jnp.stack([tau, beta, self.curve(q[9])[0] * eta], axis=1)  # nu of kappa, gamma1, gamma2
        attitude = turned_about(q[:9]) @ turns
        place = jnp.array([[self.radius, 0.0, 0.0], [0.0, 0.0, -self.radius]])
        rolling = jnp.concatenate([attitude, place])
        return jnp.concatenate([rolling, jnp.concatenate([jnp.zeros((9, 2)), jnp.eye(2)])], axis=1)

    def structure(self, q: Array) -> Array:
        """[MD] (10.10)-(10.12) and the brackets with the slips d/ds and d/dtheta; a function of s alone."""
        s, r = q[9], self.radius
        a = self.curve(s)[0]
        (da, dz), (dda, ddz) = jax.jvp(self.slope, (s,), (jnp.ones_like(s),))
        bend = da * ddz - dz * dda
        along_tau = jnp.array([1.0, 0, 0, -r, 0])  # rotations about tau, beta, eta alone: kappa - r d/ds, ...
        about_beta = jnp.array([0, 1.0, 0, 0, 0])
        about_eta = jnp.array([0, 0, 1.0, 0, r]) / a
        brackets = {
            (1, 2): -(a + r * dz) * along_tau,
            (0, 1): -(1 + r * bend) * about_eta,
            (0, 2): (a * (1 + r * bend) + r * dz) * about_beta,
            (3, 1): -bend * about_eta,
            (3, 2): da * about_eta + a * bend * about_beta,
            (4, 0): dz * about_beta - da * about_eta,
            (4, 1): -dz * along_tau,
            (4, 2): a * da * along_tau,
        }
        zero = jnp.zeros(5)
        upper = jnp.stack([jnp.stack([brackets.get((i, j), zero) for j in range(5)]) for i in range(5)])
        return jnp.moveaxis(upper - jnp.swapaxes(upper, 0, 1), 2, 0)

    @of_arguments
    def contact_force(self, q: Array, xi: Array) -> Array:
        """m (phi' s'^2 + a z' theta'^2 + g a'), the normal force on the ball: positive where the surface pushes."""
        a, _ = self.curve(q[9])
        (da, dz), (dda, ddz) = jax.jvp(self.slope, (q[9],), (jnp.ones_like(q[9]),))
        along, around = self.radius * xi[0], self.radius * xi[2]
        return self.mass * ((da * ddz - dz * dda) * along**2 + a * dz * around**2 + self.gravity * da)

    def holonomic(self, q: Array) -> Array:
        return off_rotations(q[:9])

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.energy, "bounded", ("lagrangian", "slip", "force")),
            "trace of W^T W": Invariant(attitude_trace, "exact", ("frame",)),
        }

    def symmetries(self) -> dict[str, Callable]:
        """Generators, q to qdot."""

        def around(q: Array) -> Array:
            turned = hat(jnp.asarray(UP)) @ q[:9].reshape(3, 3)
            return jnp.concatenate([turned.reshape(9), jnp.array([0.0, 1.0])])

        def of_the_ball(q: Array, axis: int) -> Array:
            return jnp.concatenate([body_frame(q[:9])[:, axis], jnp.zeros(2)])

        turns = {f"rotation of the ball about its axis {i + 1}": partial(of_the_ball, axis=i) for i in range(3)}
        return {"rotation about the vertical": around} | turns

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The ball, and the point where it touches."""
        q = np.asarray(q, float)
        centre, touch = (self._places(q[9:10], q[10:11], off)[0, 0] for off in (0.0, -float(self.radius)))
        return [ball_outline(q[:9], centre, self.radius), outlines.dot(touch)]

    def scenery(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The surface, as far as a run with coordinates q (K+1 x 11) comes."""
        low, high = np.min(q[:, 9]) - self.radius, np.max(q[:, 9]) + self.radius
        turn = np.linspace(0, 2 * np.pi, 49)
        grid = self._places(np.linspace(low, high, 49), turn, -float(self.radius))
        return [line.view(outlines.Fixed) for line in (*grid[::8], *(grid[:, i] for i in range(0, 48, 4)))]

    def _places(self, s: np.ndarray, theta: np.ndarray, off: float) -> np.ndarray:
        """The ball's centre at each arc length s and angle theta, moved off the surface: rows x columns x 3."""
        a, z, da, dz = np.asarray(_profile(self, jnp.asarray(s))).T[:, :, None]
        a, z = a - off * dz, z + off * da
        return np.stack([a * np.cos(theta), a * np.sin(theta), z + 0 * theta], axis=-1)


class BallOnSurface(OnSurface):
    """A ball of equal moments that rolls without slipping on a surface of revolution with a vertical axis.

    `profile` is the curve of the ball's centre by arc length, s -> (a, z): distance from the axis and height; the
    surface lies at the ball's radius from it, on the other side than beta = a' e_z - z' e_r, so turn s round to change
    sides. profile(s, params) where `params`, any pytree, is given. Profiles: `cylinder`, `sphere`, `bowl`, `hoop`.

    Coordinates: the attitude W (body to space), row by row, s, and the angle theta of the centre about the axis.
    Quasi-velocities (v, Omega1, Omega2) along the fields of [MD] 10.4, nu = v tau + Omega1 beta + a Omega2 eta the
    angular velocity in space, s' = r v, theta' = -r Omega2, and two slips. They are invariant under the symmetries, so
    that steady motions are steady for every step.

        l = {J |nu|^2 + m (s'^2 + a^2 theta'^2)} / 2 - m g z                                       [MD] (10.2)
        (m + J/r^2) s'' = -z' (m g + J Omega1 Omega2) + (J + m r^2) a a' Omega2^2
        Omega1' = (z' - a phi') Omega2 s',  (a^2 Omega2)' = J a phi' Omega1 s' / (J + m r^2)       [MD] (10.13), (10.14)

    where phi' = a' z'' - z' a''. `contact_force` is m (phi' s'^2 + a z' theta'^2 + g a'), off the surface. Energy is
    bounded. These coordinates have a pole on the axis, a = 0; `BallOnSphere` has none.
    """

    profile: Callable = hoop
    params: PyTree = (2.0, 0.9)  # m, passed to `profile` as second argument unless None
    mass: float = 1.0  # kg
    inertia: float = 0.064  # kg m^2, about any axis through the ball's centre (J)
    radius: float = 0.4  # m, of the ball (r)
    gravity: float = 9.8  # m/s^2

    def curve(self, s: Array) -> Array:
        return jnp.asarray(self.profile(s) if self.params is None else self.profile(s, self.params))

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "radius")
        physical.not_negative(self, "gravity")

    def check_shape(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> None:
        roundness.rollable(self, np.asarray(q)[9], by)

    def sample(self) -> dict:
        """On top of the hoop, spinning fast enough to stay there while it rolls around."""
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0.6, 0.2), "xi": (0.5, 100.0, -0.3), "h": 0.01}


class BallInCylinder(OnSurface):
    """A ball that rolls inside a vertical cylinder: unless it starts straight down, it rises and falls for ever.

    Coordinates, quasi-velocities and l are those of `BallOnSurface` with a = cylinder - radius and z = s. Then

        Omega2 = const,  Omega1 - Omega2 s = const,                                                [MD] 10.6
        s harmonic with the frequency |theta'| sqrt(J / (J + m r^2))

    These and the energy are exact.
    """

    mass: float = 1.0  # kg
    inertia: float = 0.001  # kg m^2, about any axis through the ball's centre (J); 2 m r^2 / 5 for a solid ball
    radius: float = 0.05  # m, of the ball (r)
    cylinder: float = 0.3  # m, radius of the cylinder
    gravity: float = 9.8  # m/s^2

    def curve(self, s: Array) -> Array:
        return cylinder(s, self.cylinder - self.radius)

    def invariants(self) -> dict[str, Invariant]:
        return OnSurface.invariants(self) | {
            "energy": Invariant(self.energy, "exact"),
            "Omega2": Invariant(lambda q, xi: xi[2], "exact"),
            "Omega1 - Omega2 s": Invariant(lambda q, xi: xi[1] - xi[2] * q[9], "exact"),
        }

    def check(self) -> None:
        physical.positive(self, "mass", "inertia", "radius", "cylinder")
        physical.not_negative(self, "gravity")
        fits(self, "cylinder")  # type: ignore[arg-type]

    def sample(self) -> dict:
        """Thrown in sideways."""
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0.0, 0.0), "xi": (0.0, 0.0, -80.0), "h": 0.005}


class BasketballOnHoop(OnSurface):
    """A basketball that rolls on the rim of its hoop: lengths in cm, mass 1, as in the thesis.

    Coordinates, quasi-velocities and l are those of `BallOnSurface` with the profile `hoop`, u = hoop + wire and
    v = radius + wire, and J = 2 m r^2 / 3 (a shell). With psi = s/v + pi/2, from the inner horizontal position:

        dOmega1/dpsi = u Omega2,  d(a^2 Omega2)/dpsi = -J a Omega1 / (J + m r^2)                   [MD] (11.1)
        U = m g z + {J Omega1^2 + (J + m r^2) a^2 Omega2^2} / 2,  E = (J + m r^2) v^2 psi'^2 / (2 r^2) + U

    The ball stays on the hoop while v psi'^2 < a theta'^2 cos(psi) + g sin(psi), which is
    `contact_force` > 0; the sample's is held there from t = 0.15 on. Energy is bounded. Reference: [MD] 11.
    """

    mass: float = 1.0  # g; the motion is the same for any
    radius: float = 12.127606663602425  # cm: 30 inches around
    hoop: float = 22.86  # cm, inner radius of the hoop: 9 inches
    wire: float = 0.9525  # cm, radius of the hoop's wire: 3/8 inch
    gravity: float = 980.66  # cm/s^2

    units = cgs(OnSurface.units)

    def curve(self, s: Array) -> Array:
        return hoop(s, (self.hoop + self.wire, self.radius + self.wire))

    def moment(self) -> Array | float:
        return 2 * self.mass * self.radius**2 / 3

    def check(self) -> None:
        physical.positive(self, "mass", "radius", "hoop", "wire")
        physical.not_negative(self, "gravity")
        fits(self, "hoop")  # type: ignore[arg-type]

    def sample(self) -> dict:
        """Down over the top of the rim, spinning: C1 = -40, C2 = 1 at the inner horizontal, which it never reaches."""
        s = (self.radius + self.wire) * (0.4 - 0.5) * np.pi
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, float(s), 0.0), "xi": (0.0, -20.0, 0.5), "h": 0.001}
