"""The geometrically exact planar beam, free, clamped, or with a blade at one end: the flexible Chaplygin sleigh."""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.fields.line import Line
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.lie_algebras import SE2


class Beam(Line, System):
    """A planar beam that bends, shears and stretches (Cosserat, Timoshenko, Reissner): a line of rigid cross-sections.

    Coordinates (theta, x, y) of each section, g_k in SE(2). The frame is used on both sides: along the beam as (D1) is
    used in time, with the strains (kappa; Gamma_1 - 1, Gamma_2) in place of the velocities,

        g_{k+1} = g_k + ds Psi(theta_{k+1/2}) (kappa, Gamma),   theta_{k+1/2} = (theta_k + theta_{k+1}) / 2
        l = sum_k m_k (r^2 theta_k'^2 + |z_k'|^2) / 2 - (ds / 2) sum (B kappa^2 + A (Gamma_1 - 1)^2 + S Gamma_2^2)

    which is indifferent to the frame of the observer, of second order in ds and free of locking. Quasi-velocities: of
    each section the turning rate and z' in the axes of the plane: these fields commute, so that linear and angular
    momentum are exact. With `blade` those of the first section are (omega, v1, v2), along and across the beam there,
    and v2 = 0 is the constraint; `clamped` holds the first section. `moment` is a couple on the last. Energy is
    bounded.

    Without bending the beam is a body: with the blade, stiff, it is `ChaplyginSleigh` with the mass centre half a
    length ahead. Reference: Reissner (1972); Simo and Vu-Quoc (1986); [HE] section 4.
    """

    points: int = 11  # from one end to the other, both counted
    mass: float = 1.0  # kg, of the whole beam
    length: float = 1.0  # m
    gyration: float = 0.05  # m, radius of gyration of a cross-section (r)
    bending: float = 1.0  # N m^2 (B)
    stretching: float = 400.0  # N (A)
    shearing: float = 200.0  # N (S)
    moment: float = 0.0  # N m
    blade: bool = False
    clamped: bool = False

    coordinates_a_point = 3

    linear_cost = "dh.fields.NeighbourHamel()"

    @property
    def rank(self) -> int:
        return 3 * self.points - (3 if self.clamped else 1 if self.blade else 0)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"{name}{k}" for k in range(self.points) for name in ("theta", "x", "y"))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        blocks = [(f"omega{k}", f"x{k}'", f"y{k}'") for k in range(self.points)]
        if self.blade:
            blocks[0] = ("omega0", "v1", "v2")
        names = [name for block in blocks for name in block]
        order = np.argsort(self.of_points.ravel())
        return tuple(names[i] for i in order)

    @property
    def of_points(self) -> np.ndarray:
        """The places in xi of each section's: what is constrained comes last."""
        n = 3 * self.points
        if self.clamped:
            return np.roll(np.arange(n), 3).reshape(-1, 3)
        if self.blade:
            return np.concatenate([[0, 1, n - 1], np.arange(2, n - 1)]).reshape(-1, 3)
        return np.arange(n).reshape(-1, 3)

    def masses(self) -> Array:
        """m_k, kg, of the sections: half at the ends."""
        return self.lump(self.mass)

    def strains(self, q: Array) -> Array:
        """(kappa, Gamma_1 - 1, Gamma_2) of the pieces between sections."""
        g = q.reshape(-1, 3)
        theta = 0.5 * (g[1:, 0] + g[:-1, 0])
        change = jnp.diff(g, axis=0) / self.spacing
        c, s = jnp.cos(theta), jnp.sin(theta)
        along, across = c * change[:, 1] + s * change[:, 2], c * change[:, 2] - s * change[:, 1]
        return jnp.stack([change[:, 0], along - 1, across], axis=1)

    def potential(self, q: Array) -> Array:
        """The energy of deformation, J."""
        stiffness = jnp.stack([self.bending, self.stretching, self.shearing])
        return 0.5 * self.spacing * jnp.sum(self.strains(q) ** 2 @ stiffness)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        blocks = xi[self.of_points] ** 2
        kinetic = self.masses() @ (self.gyration**2 * blocks[:, 0] + blocks[:, 1] + blocks[:, 2])
        return 0.5 * kinetic - self.potential(q)

    def velocity(self, q: Array, xi: Array) -> Array:
        """qdot = Psi(q) xi."""
        blocks = xi[self.of_points]
        if not self.blade:
            return blocks.ravel()
        turning, along, across = blocks[0]
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        first = jnp.stack([turning, c * along - s * across, s * along + c * across])
        return jnp.concatenate([first, blocks[1:].ravel()])

    def quasivelocity(self, q: Array, v: Array) -> Array:
        """xi with Psi(q) xi = v."""
        blocks = v.reshape(-1, 3)
        if self.blade:
            (turning, x, y), c, s = blocks[0], jnp.cos(q[0]), jnp.sin(q[0])
            blocks = blocks.at[0].set(jnp.stack([turning, c * x + s * y, c * y - s * x]))
        return jnp.zeros_like(v).at[self.of_points].set(blocks)

    def coadjoint(self, q: Array, xi: Array, mu: Array) -> Array:
        """[xi, mu]*: the bracket of se(2) at a section on a blade, none elsewhere."""
        if not self.blade:
            return jnp.zeros_like(mu)
        first = self.of_points[0]
        return jnp.zeros_like(mu).at[first].set(jnp.einsum("kij,i,k->j", SE2, xi[first], mu[first]))

    def frame(self, q: Array) -> Array:
        return jax.jacfwd(partial(self.velocity, q))(jnp.zeros(3 * self.points))

    def structure(self, q: Array) -> Array:
        first, n = self.of_points[0], 3 * self.points
        none = jnp.zeros((n, n, n))
        return none.at[np.ix_(first, first, first)].set(SE2) if self.blade else none

    def force(self, q: Array, xi: Array) -> Array:
        return jnp.zeros_like(xi).at[self.of_points[-1, 0]].add(self.moment)

    def straight(self, theta: float = 0.0, place: Sequence[float] = (0.0, 0.0)) -> np.ndarray:
        """q of the undeformed beam."""
        s = np.linspace(0.0, float(self.length), self.points)
        return np.column_stack(
            [np.full_like(s, theta), place[0] + s * np.cos(theta), place[1] + s * np.sin(theta)]
        ).ravel()

    def rigid_motion(self, q: Array | np.ndarray, omega: float, v1: float, v2: float = 0.0) -> np.ndarray:
        """xi of the beam at q that moves as a body: (omega, v1, v2) of its first section, along and across it."""
        g = np.asarray(q, float).reshape(-1, 3)
        c, s = np.cos(g[0, 0]), np.sin(g[0, 0])
        x, y = c * v1 - s * v2 - omega * (g[:, 2] - g[0, 2]), s * v1 + c * v2 + omega * (g[:, 1] - g[0, 1])
        blocks = np.column_stack([np.full(self.points, omega), x, y])
        if self.blade:
            blocks[0] = omega, v1, v2
        xi = np.zeros(blocks.size)
        xi[self.of_points] = blocks
        return xi

    def linear_momentum(self, q: Array, xi: Array) -> Array:
        """(x, y), kg m/s."""
        return self.masses() @ self.velocity(q, xi).reshape(-1, 3)[:, 1:]

    def angular_momentum(self, q: Array, xi: Array) -> Array:
        """About the origin, kg m^2/s."""
        g, v = q.reshape(-1, 3), self.velocity(q, xi).reshape(-1, 3)
        return self.masses() @ (self.gyration**2 * v[:, 0] + g[:, 1] * v[:, 2] - g[:, 2] * v[:, 1])

    def invariants(self) -> dict[str, Invariant]:
        if self.clamped or self.blade:
            return {}
        return {
            "momentum along x": Invariant(lambda q, xi: self.linear_momentum(q, xi)[0], "exact"),
            "momentum along y": Invariant(lambda q, xi: self.linear_momentum(q, xi)[1], "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        """Motions of the plane, where nothing holds the beam."""
        if self.clamped:
            return {}

        def rotation(q: Array) -> Array:
            g = q.reshape(-1, 3)
            return jnp.stack([jnp.ones(self.points), -g[:, 2], g[:, 1]], axis=1).ravel()

        def shift(axis: int) -> Callable:
            return lambda q: jnp.zeros((self.points, 3)).at[:, axis].set(1.0).ravel()

        return {"translation along x": shift(1), "translation along y": shift(2), "rotation of the plane": rotation}

    def check(self) -> None:
        if self.points < 2:
            raise InputError(f"a beam has at least 2 sections; points is {self.points}.")
        if self.blade and self.clamped:
            raise InputError("the first section is on a blade or clamped, not both.")
        physical.positive(self, "mass", "length", "gyration", "bending", "stretching", "shearing")

    def sample(self) -> dict:
        """Straight, thrown with a turn."""
        q = self.straight()
        xi = np.zeros(self.rank) if self.clamped else self.rigid_motion(q, 1.0, 0.5)[: self.rank]
        return {"q": q, "xi": xi, "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The line of the beam, and its sections."""
        g = np.asarray(q, float).reshape(-1, 3)
        width = 2 * float(self.gyration)
        return [g[:, 1:], *(outlines.planar(theta, x, y, [(0, -width), (0, width)]) for theta, x, y in g)]
