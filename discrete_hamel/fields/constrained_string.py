"""The inextensible string that cannot move sideways: [HE] Example 4.1."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.fields.complex_points import complex_of, pairs_of, square
from discrete_hamel.fields.following import Trailing, across_links, drawn_along, follow, laid_behind, polyline, trail
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import physical


class ConstrainedString(Trailing, System):
    """A sharp inextensible string on ice: each link's middle moves along the link only, and no link stretches.

    Its front end (s = length) goes in the direction `heading`, an angle given as a function of the distance it has
    come: initial data do not determine it. Coordinates (d; x, y; e_1, .., e_{n-1}): that distance, the front, and the
    links' directions ahead, from the front backwards, z_k = z_{k-1} - ds e_k. Quasi-velocities: the speed xi;
    constrained to zero d' - xi, the front's velocity across its heading, the links' velocities across them, and their
    stretching.

        l = sum_k m_k |z_k'|^2 / 2,   z_k = z_s xi,  xi = conj(xi)                          [HE] (4.6)
        xi' = lambda_s,   z = phi(s + xi t)                                                 [HE] (4.5)

    All points have one speed, to round-off, and it is exact where nothing pulls; the track is followed to second order
    in ds. `pull` is a force on the front along its heading, under which the tension is linear in s. A step at linear
    cost is `LinkByLink`.
    """

    points: int = 21  # from one end to the other, both counted
    mass: float = 1.0  # kg
    length: float = 1.0  # m
    pull: float = 0.0  # N
    heading: Callable | None = static(default=None)  # rad, of the distance in m

    rank = 1
    linear_cost = "dh.fields.LinkByLink()"

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("d", "x", "y", *(f"{part} e{k}" for k in range(1, self.points) for part in ("Re", "Im")))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        links = range(1, self.points)
        return ("xi", "d' - xi", "across", *(f"across{k}" for k in links), *(f"sigma{k}" for k in links))

    def masses(self) -> Array:
        """m_k, kg, from the front."""
        return self.lump(self.mass)

    def ahead(self, distance: Array) -> Array:
        """The front's direction after that distance, complex."""
        angle = jnp.asarray(self.heading(distance), float)  # type: ignore[misc]
        return jax.lax.complex(jnp.cos(angle), jnp.sin(angle))

    def point_velocities(self, q: Array, xi: Array) -> Array:
        """z_k', complex."""
        first, n = self.ahead(q[0]) * jax.lax.complex(xi[0], xi[2]), self.points - 1
        return follow(self.links(q), first, xi[3 : n + 3], xi[n + 3 :])

    def velocity(self, q: Array, xi: Array) -> Array:
        """qdot = Psi(q) xi."""
        v = self.point_velocities(q, xi)
        turned = -jnp.diff(v) / self.spacing
        return jnp.concatenate([xi[:1] + xi[1:2], pairs_of(v[:1]), pairs_of(turned)])

    def quasivelocity(self, q: Array, v: Array) -> Array:
        """xi with Psi(q) xi = v."""
        points = trail(complex_of(v[1:3])[0], complex_of(v[3:]), self.spacing)
        first = jnp.conj(self.ahead(q[0])) * points[0]
        ends = jnp.stack([first.real, v[0] - first.real, first.imag])
        return jnp.concatenate([ends, *across_links(self.links(q), points)])

    def after(self, q: Array, xi: Array, h: Array) -> Array:
        """q_{k+1} of (D1) with tau = 1/2, from the interval's free velocity: link by link, without a solve."""
        step = h * xi[0]
        first = self.ahead(q[0] + 0.5 * step) * xi[0]
        links = drawn_along(self.links(q), first, h / self.spacing)
        return jnp.concatenate([q[:1] + step, q[1:3] + h * pairs_of(first[None]), pairs_of(links)])

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * self.masses() @ square(self.point_velocities(q, xi)) + 0.5 * self.mass * xi[1] ** 2

    def force(self, q: Array, xi: Array) -> Array:
        return jnp.zeros_like(xi).at[0].set(self.pull)

    def tension(self, q: Coordinates, xi: Quasivelocities) -> Array:
        """lambda of the links, N, from the front: the reaction to stretching, by the Hamel equations across D.

        Of second order in ds where the curvature is continuous, also from the string to the track ahead. Along a run
        take it in the middle of an interval, at ((q_k + q_{k+1}) / 2, xi_mid): there links and front belong together,
        while at a node the links are off by O(h^2) to alternate sides of the front's direction, which is O(h^2 / ds)
        of the tension.
        """
        return -jax.jit(hamel.reactions)(self, q, xi)[self.points + 1 :]

    def behind(self, angle: Callable, speed: float, place: ArrayLike = (0.0, 0.0)) -> dict:
        """Initial data q, xi: the string lies behind its front at `place`, its tangent at angle(s), s from its tail.

        The speed must be positive: of a string that backs, the tail would be the front. The front goes where the string
        points, heading(0) = angle(length).
        """
        self.check()
        if not float(speed) > 0:
            raise InputError(
                f"the speed is {float(speed):g}; it must be positive. A string that cannot move sideways follows the "
                "end that goes ahead, and `heading` tells where the end s = length goes; where the other end goes is "
                "not determined by that, nor by initial data ([HE] Example 4.1)."
            )
        ahead = float(self.heading(0.0))  # type: ignore[misc]
        links = laid_behind(angle, float(self.length), self.points, ahead, "heading(0)")
        return {"q": np.concatenate([[0.0], np.asarray(place, float), links]), "xi": np.array([float(speed)])}

    def invariants(self) -> dict[str, Invariant]:
        def uneven(q: Array, xi: Array) -> Array:
            speeds = jnp.abs(self.point_velocities(q, xi))
            return jnp.max(speeds) - jnp.min(speeds)

        return {
            "stretch": Invariant(self.stretch, "exact"),
            "difference of speeds": Invariant(uneven, "exact"),
            "energy": Invariant(lambda q, xi: self.lagrangian(q, xi), "exact"),
        }

    def check(self) -> None:
        if self.heading is None:
            raise InputError(
                "the motion of a string that cannot move sideways is not determined by its initial state: it follows "
                "its front end, z = phi(s + xi t), and phi is unknown ahead of it ([HE] Example 4.1). Give "
                "heading=, the front's direction (rad) as a function of the distance it has come."
            )
        if self.points < 2:
            raise InputError(f"a string has at least 2 points; points is {self.points}.")
        physical.positive(self, "mass", "length")

    def sample(self) -> dict:
        """A straight string that begins to follow `heading`; none is invented where it is missing."""
        self.check()
        first = float(self.heading(0.0))  # type: ignore[misc]
        return {**self.behind(lambda s: first, speed=1.0), "h": float(self.spacing)}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The string, from its front."""
        return [polyline(np.asarray(self.places(jnp.asarray(q))))]
