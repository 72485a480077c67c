"""The Chaplygin sleigh that draws a string: [HE] Example 4.2."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.fields.complex_points import complex_of, pairs_of, square
from discrete_hamel.fields.following import Trailing, across_links, drawn_along, follow, laid_behind, polyline, trail
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import physical
from discrete_hamel.systems.sleighs import motions_of_plane, platform


class SleighWithString(Trailing, System):
    """A balanced sleigh with an inextensible string tied to its contact point, which cannot move sideways either.

    Coordinates (theta; x, y; e_1, .., e_{n-1}): heading, contact point, and the directions ahead of the string's links
    from the sleigh backwards, z_k = z_{k-1} - ds e_k. Quasi-velocities (omega, v): turning and forward velocity;
    constrained to zero the blade's sideways velocity, the links' velocities across them, and their stretching.

        l = (J omega^2 + m |v|^2) / 2 + sum_k m_k |z_k'|^2 / 2
        J omega' = 0,   m v' = lambda|_0,   eta' = lambda_s                                 [HE] (4.7)-(4.9)
        the string starts at the contact point along the blade, with its velocity           [HE] (4.10)

    In [HE] z_s = 1 at the sleigh, so the string lies ahead of it and is drawn with v < 0; here it trails, v > 0,
    which is the same with the blade's direction reversed. (With the string ahead and v > 0, its free end would be the
    front, which initial data do not determine: `drawing` refuses it.) omega and v are exact: a circle, or a straight
    line, with the tension zero, to O(ds^2) where the string is curved (to O(ds) while a jump of curvature, omega / v
    ahead of the sleigh's place at the start and the string's own behind it, runs down the string). `pull` is a force on
    the sleigh along its blade. A step at linear cost is `LinkByLink`.
    """

    points: int = 21  # from one end to the other, both counted
    mass: float = 1.0  # kg, of the sleigh
    inertia: float = 0.7  # kg m^2
    string_mass: float = 1.0  # kg
    length: float = 1.0  # m
    pull: float = 0.0  # N

    rank = 2
    linear_cost = "dh.fields.LinkByLink()"

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("theta", "x", "y", *(f"{part} e{k}" for k in range(1, self.points) for part in ("Re", "Im")))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        links = range(1, self.points)
        return ("omega", "v", "sideways", *(f"across{k}" for k in links), *(f"sigma{k}" for k in links))

    def masses(self) -> Array:
        """m_k, kg, of the string's points from the sleigh."""
        return self.lump(self.string_mass)

    def point_velocities(self, q: Array, xi: Array) -> Array:
        """z_k', complex."""
        n = self.points - 1
        return follow(self.links(q), _ahead(q[0]) * jax.lax.complex(xi[1], xi[2]), xi[3 : n + 3], xi[n + 3 :])

    def velocity(self, q: Array, xi: Array) -> Array:
        """qdot = Psi(q) xi."""
        v = self.point_velocities(q, xi)
        return jnp.concatenate([xi[:1], pairs_of(v[:1]), pairs_of(-jnp.diff(v) / self.spacing)])

    def quasivelocity(self, q: Array, v: Array) -> Array:
        """xi with Psi(q) xi = v."""
        points = trail(complex_of(v[1:3])[0], complex_of(v[3:]), self.spacing)
        ends = [v[:1], pairs_of(jnp.conj(_ahead(q[0])) * points[:1])]
        return jnp.concatenate([*ends, *across_links(self.links(q), points)])

    def after(self, q: Array, xi: Array, h: Array) -> Array:
        """q_{k+1} of (D1) with tau = 1/2, from the interval's free velocities: link by link, without a solve."""
        first = _ahead(q[0] + 0.5 * h * xi[0]) * xi[1]
        links = drawn_along(self.links(q), first, h / self.spacing)
        return jnp.concatenate([q[:1] + h * xi[:1], q[1:3] + h * pairs_of(first[None]), pairs_of(links)])

    def lagrangian(self, q: Array, xi: Array) -> Array:
        sleigh = self.inertia * xi[0] ** 2 + self.mass * (xi[1] ** 2 + xi[2] ** 2)
        return 0.5 * (sleigh + self.masses() @ square(self.point_velocities(q, xi)))

    def force(self, q: Array, xi: Array) -> Array:
        return jnp.zeros_like(xi).at[1].set(self.pull)

    def tension(self, q: Coordinates, xi: Quasivelocities) -> Array:
        """lambda of the links, N, from the sleigh: the reaction to stretching; see `ConstrainedString.tension`."""
        return -jax.jit(hamel.reactions)(self, q, xi)[self.points :]

    def drawing(
        self, angle: Callable, omega: float, v: float, theta: float = 0.0, place: ArrayLike = (0.0, 0.0)
    ) -> dict:
        """Initial data q, xi: the string trails with the tangent angle(s), s from its tail; v is positive."""
        if not float(v) > 0:
            raise InputError(
                f"v is {float(v):g}; it must be positive. A sleigh that pushes its string follows the string's free "
                "end, and where that goes initial data do not determine ([HE] Example 4.1)."
            )
        links = laid_behind(angle, float(self.length), self.points, float(theta), "theta")
        return {
            "q": np.concatenate([[float(theta)], np.asarray(place, float), links]),
            "xi": np.array([omega, v], float),
        }

    def invariants(self) -> dict[str, Invariant]:
        return {
            "stretch": Invariant(self.stretch, "exact"),
            "omega": Invariant(lambda q, xi: xi[0], "exact"),
            "speed": Invariant(lambda q, xi: xi[1], "exact"),
        }

    def symmetries(self) -> dict[str, Callable]:
        """Motions of the plane."""
        moves = motions_of_plane()
        whole: dict[str, Callable] = {}
        for name, move in moves.items():
            turns = name.startswith("rotation")

            def generator(q: Array, move: Callable = move, turns: bool = turns) -> Array:
                links = pairs_of(1j * self.links(q)) if turns else jnp.zeros_like(q[3:])
                return jnp.concatenate([move(q[:3]), links])

            whole[name] = generator
        return whole

    def check(self) -> None:
        if self.points < 2:
            raise InputError(f"a string has at least 2 points; points is {self.points}.")
        physical.positive(self, "mass", "inertia", "string_mass", "length")

    def sample(self) -> dict:
        """A straight string drawn into a circle."""
        return {**self.drawing(lambda s: 0.0, omega=1.5, v=1.0), "h": 0.5 * float(self.spacing)}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The string, the blade and the platform."""
        q = np.asarray(q)
        return [polyline(np.asarray(self.places(jnp.asarray(q)))), *platform(q[0], q[1], q[2], 0.15)]


def _ahead(theta: Array) -> Array:
    """The blade's direction, complex."""
    return jax.lax.complex(jnp.cos(theta), jnp.sin(theta))
