"""The inextensible planar string, in coordinates that cannot stretch."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree, static
from discrete_hamel.fields.complex_points import complex_of, pairs_of, points_along, square
from discrete_hamel.fields.line import Line
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import physical


class Free(Pytree):
    """An end that nothing holds: the tension vanishes there.   [HE] (3.13)"""


class Fixed(Pytree):
    """An end nailed to where it is at the start."""


class Driven(Pytree):
    """An end moved along with the velocity of `path`, a function of time whose values are (x, y)."""

    path: Callable = static()


PARALLEL = 1e-12  # sine of the angle between two links below which they are taken for parallel


class String(Line, System):
    """An inextensible string in the plane: `points` masses joined by links of length ds that turn but do not stretch.

    Coordinates (x_0, y_0; e_1, .., e_{n-1}): the front end and the links' unit vectors, z_{k+1} = z_k + ds e_{k+1}; and
    the time t, if the front is driven. Quasi-velocities: z_0' (where the front is free), the turning rates omega_k of
    the links; then, constrained, z_0' (where it is held, with its slip), the rates of stretching, and t' = 1:

        e_k' = (i omega_k + sigma_k) e_k,   sigma_k = 0
        l = sum_k m_k |z_k'|^2 / 2 - V,   V = sum_k m_k g y_k + (B / 2 ds) sum_k |e_{k+1} - e_k|^2
        m_k z_k'' = lambda_{k+1} e_{k+1} - lambda_k e_k + F_k,   lambda_0 = lambda_n = 0       [HE] Example 3.2, (3.13)

    The end masses are half those within, which makes the rule second order in ds (at a free end itself, where the
    tension vanishes, only for times well above sqrt(ds)). The fields are linear in q and commute,
    so the brackets vanish, the default scheme is symplectic here, and it keeps |e_k| = 1, linear and angular momentum
    to round-off; energy is bounded. With the back end fixed too, the first and the last link turn as that demands: they
    and their rates are not free (at rates that are finite while the two are not parallel), and z_{n-1}' is constrained.
    The velocities along and across the string, with the bracket (3.15), are `AlongAndAcross`; a step at linear cost
    is `TridiagonalTension`. The tension is -`reactions` / ds along sigma, or `tension`.
    """

    points: int = 21  # from one end to the other, both counted
    mass: float = 1.0  # kg, of the whole string
    length: float = 1.0  # m
    gravity: float = 0.0  # m/s^2, downwards (-y)
    stiffness: float = 0.0  # N m^2, against bending (B)
    front: Free | Fixed | Driven = static(default=Free())
    back: Free | Fixed | Driven = static(default=Free())

    linear_cost = "dh.fields.TridiagonalTension()"

    @property
    def hung(self) -> bool:
        """Whether both ends are held."""
        return not isinstance(self.back, Free)

    @property
    def rank(self) -> int:
        return self.points - 1 + (2 if isinstance(self.front, Free) else -2 if self.hung else 0)

    @property
    def clock(self) -> int | None:  # type: ignore[override]
        return 2 * self.points if isinstance(self.front, Driven) else None

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        links = [f"{part} e{k}" for k in range(1, self.points) for part in ("Re", "Im")]
        return ("x0", "y0", *links) + (("t",) if self.clock else ())

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        turning, stretching = ([f"{name}{k}" for k in range(1, self.points)] for name in ("omega", "sigma"))
        ends = ["x0'", "y0'"]
        if isinstance(self.front, Free):
            return (*ends, *turning, *stretching)
        if self.hung:
            turning, ends = turning[1:-1], [*ends, "back x'", "back y'"]
        return (*turning, *ends, *stretching, *(["t'"] if self.clock else []))

    def masses(self) -> Array:
        """m_k, kg, of the points."""
        return self.lump(self.mass)

    def links(self, q: Array) -> Array:
        """e_k as complex numbers."""
        return complex_of(q[2 : 2 * self.points])

    def places(self, q: Array) -> Array:
        """z_k as complex numbers."""
        return points_along(complex_of(q[:2])[0], self.spacing * self.links(q))

    def split(self, q: Array, xi: Array) -> tuple[Array, Array, Array]:
        """z_0', and omega and sigma of all links."""
        n, links = self.points - 1, self.links(q)
        if isinstance(self.front, Free):
            return complex_of(xi[:2])[0], xi[2 : n + 2], xi[n + 2 : 2 * n + 2]
        if not self.hung:
            return complex_of(xi[n : n + 2])[0], xi[:n], xi[n + 2 : 2 * n + 2]
        inner, (front, back), sigma = xi[: n - 2], complex_of(xi[n - 2 : n + 2]), xi[n + 2 : 2 * n + 2]
        left = (back - front) / self.spacing - jnp.sum(sigma * links) - 1j * jnp.sum(inner * links[1:-1])
        first, last = between(links, -1j * left)
        return front, jnp.concatenate([first[None], inner, last[None]]), sigma

    def point_velocities(self, q: Array, xi: Array) -> Array:
        """z_k' as complex numbers."""
        end, omega, sigma = self.split(q, xi)
        return points_along(end, self.spacing * jax.lax.complex(sigma, omega) * self.links(q))

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * self.masses() @ square(self.point_velocities(q, xi)) - self.potential(q)

    def potential(self, q: Array) -> Array:
        """V, J."""
        bending = 0.5 * self.stiffness / self.spacing * jnp.sum(square(jnp.diff(self.links(q))))
        return self.gravity * self.masses() @ self.places(q).imag + bending

    def frame(self, q: Array) -> Array:
        return jax.jacfwd(partial(self.velocity, q))(jnp.zeros(2 * self.points + (1 if self.clock else 0)))

    def velocity(self, q: Array, xi: Array) -> Array:
        """qdot = Psi(q) xi, without the matrix."""
        end, omega, sigma = self.split(q, xi)
        turned = jax.lax.complex(sigma, omega) * self.links(q)
        return jnp.concatenate([pairs_of(jnp.concatenate([end[None], turned])), xi[2 * self.points :]])

    def quasivelocity(self, q: Array, v: Array) -> Array:
        """xi with Psi(q) xi = v."""
        end, turned, rest = v[:2], complex_of(v[2 : 2 * self.points]), v[2 * self.points :]
        rates = turned / self.links(q)
        omega, sigma = rates.imag, rates.real
        if isinstance(self.front, Free):
            return jnp.concatenate([end, omega, sigma])
        if not self.hung:
            return jnp.concatenate([omega, end, sigma, rest])
        back = end + self.spacing * pairs_of(jnp.sum(turned)[None])
        return jnp.concatenate([omega[1:-1], end, back, sigma, rest])

    def slip(self, q: Array) -> Array:
        rest = jnp.zeros(self.points - 1 + (2 if self.hung else 0))
        if isinstance(self.front, Free):
            return rest
        if isinstance(self.front, Fixed):
            return jnp.concatenate([jnp.zeros(2), rest])
        return jnp.concatenate([self.hand(q[-1]), rest, jnp.ones(1)])

    def hand(self, t: Array) -> Array:
        """The driven front's velocity at time t."""
        return jax.jvp(lambda t: jnp.asarray(self.front.path(t), float), (t,), (jnp.ones_like(t),))[1]  # type: ignore[union-attr]

    def laid(
        self,
        angle: Callable,
        turning: Callable | None = None,
        place: ArrayLike = (0.0, 0.0),
        velocity: ArrayLike = (0.0, 0.0),
    ) -> dict:
        """Initial data q, xi of the string with the tangent at angle(s), turning at the rate turning(s), 0 <= s <=
        length.

        >>> import discrete_hamel as dh
        >>> string = dh.fields.String(points=5)
        >>> dh.simulate(string, **string.laid(lambda s: 2 * s, lambda s: 1 - s), h=0.01, steps=2).q.shape
        (3, 10)
        """
        s = (np.arange(self.points - 1) + 0.5) * float(self.spacing)
        theta, omega = (np.broadcast_to([float(f(a)) for a in s], s.shape) for f in (angle, turning or (lambda s: 0.0)))
        q = np.concatenate([np.asarray(place, float), np.column_stack([np.cos(theta), np.sin(theta)]).ravel()])
        if self.clock:
            q = np.append(q, 0.0)
        if isinstance(self.front, Free):
            return {"q": q, "xi": np.concatenate([np.asarray(velocity, float), omega])}
        return {"q": q, "xi": omega[1:-1] if self.hung else omega}

    def invariants(self) -> dict[str, Invariant]:
        def stretch(q: Array, _: Array) -> Array:
            return jnp.max(jnp.abs(jnp.abs(self.links(q)) - 1.0))

        found = {"stretch": Invariant(stretch, "exact")}
        if not isinstance(self.front, Driven):
            found["energy"] = Invariant(lambda q, xi: self.lagrangian(q, xi) + 2 * self.potential(q), "bounded")
        if isinstance(self.front, Free):
            found |= {
                "momentum along x": Invariant(lambda q, xi: self.linear_momentum(q, xi)[0], "exact"),
                "angular momentum about the mass centre": Invariant(self.spin, "exact"),
            }
        return found

    def linear_momentum(self, q: Array, xi: Array) -> Array:
        """(x, y) components, kg m/s; both are exact where there is no gravity."""
        total = self.masses() @ self.point_velocities(q, xi)
        return jnp.stack([total.real, total.imag])

    def angular_momentum(self, q: Array, xi: Array) -> Array:
        """About the origin, kg m^2/s; exact where there is no gravity."""
        return self.masses() @ (jnp.conj(self.places(q)) * self.point_velocities(q, xi)).imag

    def spin(self, q: Array, xi: Array) -> Array:
        """Angular momentum about the mass centre, kg m^2/s."""
        centre, total = (self.masses() @ z for z in (self.places(q), self.point_velocities(q, xi)))
        return self.angular_momentum(q, xi) - (jnp.conj(centre) * total).imag / jnp.sum(self.masses())

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> "String":
        """Itself; refused where both ends are held and nothing says how the first and the last link turn."""
        if not self.hung or isinstance(q, jax.core.Tracer) or len(q) < 2 * self.points:
            return self
        first, last = np.asarray(q[2:4]), np.asarray(q[2 * self.points - 2 : 2 * self.points])
        across = float(last[0] * first[1] - last[1] * first[0])
        if abs(across) < PARALLEL:
            raise InputError(
                f"the first and the last link of the string are parallel: they are at {_degrees(first):.6g} and "
                f"{_degrees(last):.6g} degrees, the sine between them is {across:.1e}. With both ends held their "
                "turning follows from that of the others only while they are not (a string pulled straight cannot move "
                "at all). Lay it with some slack, bent to one side: laid(lambda s: 0.3 - 0.6 * s / length), say."
            )
        return self

    def check(self) -> None:
        if self.points < 2:
            raise InputError(f"a string has at least 2 points; points is {self.points}.")
        if not isinstance(self.front, Free | Fixed | Driven):
            raise InputError(f"front is {self.front!r}; it is Free(), Fixed() or Driven(path).")
        if not isinstance(self.back, Free | Fixed):
            raise InputError(f"back is {self.back!r}; it is Free() or Fixed(). A hand drives the front.")
        if self.hung and (isinstance(self.front, Free) or self.points < 4):
            raise InputError("a string that is held at one end only has it in front; held at both it needs 4 points.")
        physical.positive(self, "mass", "length")
        physical.not_negative(self, "stiffness")

    def sample(self) -> dict:
        """A bent string, turning."""
        return {**self.laid(lambda s: np.pi * s, lambda s: 2 * np.cos(np.pi * s)), "h": 0.25 / self.points}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The string."""
        z = np.asarray(self.places(jnp.asarray(q)))
        return [np.column_stack([z.real, z.imag])]


def between(links: Array, total: Array) -> Array:
    """The real (a, b) with a e_first + b e_last = total."""
    first, last = links[0], links[-1]
    across = (jnp.conj(last) * first).imag
    return jnp.stack([(jnp.conj(last) * total).imag, -(jnp.conj(first) * total).imag]) / across


def _degrees(link: np.ndarray) -> float:
    return float(np.degrees(np.arctan2(link[1], link[0])))
