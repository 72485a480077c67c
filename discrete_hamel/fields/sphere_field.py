"""Wave maps into the sphere: a line of unit vectors, each drawn towards its neighbours."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.fields.line import Line
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import physical


class SphereField(Line, System):
    """A wave map u(s, t) into the unit sphere, u_tt - u_ss = (|u_s|^2 - |u_t|^2) u, on `points` equally spaced in s.

    Coordinates: the vectors u_k, 3 redundant numbers each. Quasi-velocities: spatial angular velocities w_k in R^3, so
    that the fields are those of so(3) and nowhere vanish together, as two on a sphere must.

        u_k' = w_k x u_k,   [w, v] = -w x v
        l = sum_k m_k |w_k|^2 / 2 - sum_k |u_{k+1} - u_k|^2 / (2 ds),   m_k = ds, half that at the free ends

    w_k . u_k, which does not move u_k, is a constant; it is zero where `moving` starts. |u_k|, each m_k w_k . u_k, the
    total angular momentum sum m_k w_k, and the energy are all exact with the default scheme.
    """

    points: int = 21  # from one end to the other, both counted
    length: float = 1.0  # of the interval of s

    linear_cost = "dh.fields.NeighbourHamel()"

    @property
    def rank(self) -> int:
        return 3 * self.points

    @property
    def of_points(self) -> np.ndarray:
        """The places in xi of each point's."""
        return np.arange(3 * self.points).reshape(-1, 3)

    coordinates_a_point = 3

    def masses(self) -> Array:
        """m_k."""
        return self.lump(self.length)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        apart = jnp.diff(q.reshape(-1, 3), axis=0)
        return 0.5 * self.masses() @ jnp.sum(xi.reshape(-1, 3) ** 2, axis=1) - 0.5 * jnp.sum(apart**2) / self.spacing

    def velocity(self, q: Array, xi: Array) -> Array:
        """qdot = Psi(q) xi."""
        return jnp.cross(xi.reshape(-1, 3), q.reshape(-1, 3)).ravel()

    def quasivelocity(self, q: Array, v: Array) -> Array:
        """xi with Psi(q) xi = v, without spin, w_k . u_k = 0, which v does not determine."""
        u = q.reshape(-1, 3)
        return (jnp.cross(u, v.reshape(-1, 3)) / jnp.sum(u * u, axis=1, keepdims=True)).ravel()

    def coadjoint(self, q: Array, xi: Array, mu: Array) -> Array:
        """[xi, mu]* = w x mu at each point."""
        return jnp.cross(xi.reshape(-1, 3), mu.reshape(-1, 3)).ravel()

    def frame(self, q: Array) -> Array:
        return jax.jacfwd(partial(self.velocity, q))(jnp.zeros(self.rank))

    def structure(self, q: Array) -> Array:
        def minus_cross(v: Array, w: Array) -> Array:
            return -jnp.cross(v.reshape(-1, 3), w.reshape(-1, 3)).ravel()

        none = jnp.zeros(self.rank)
        return jax.jacfwd(jax.jacfwd(minus_cross, 0), 1)(none, none)

    def moving(self, u: ArrayLike, velocity: ArrayLike) -> dict:
        """Initial data q, xi from unit vectors (points, 3) and their velocities, which are tangent to the sphere."""
        u, v = np.asarray(u, float), np.asarray(velocity, float)
        along = np.abs(np.sum(u * v, axis=1))
        if np.max(np.abs(np.sum(u * u, axis=1) - 1)) > 1e-9 or np.max(along) > 1e-9 * max(1.0, np.max(np.abs(v))):
            raise InputError(
                "u must be unit vectors and the velocities tangent to the sphere; |u|^2 is off by "
                f"{np.max(np.abs(np.sum(u * u, axis=1) - 1)):.1e}, u . velocity by {np.max(along):.1e}."
            )
        return {"q": u.ravel(), "xi": np.cross(u, v).ravel()}

    def holonomic(self, q: Array) -> Array:
        return jnp.sum(q.reshape(-1, 3) ** 2, axis=1) - 1

    def invariants(self) -> dict[str, Invariant]:
        found = {
            f"angular momentum {axis}": Invariant(
                lambda q, xi, i=i: self.masses() @ xi.reshape(-1, 3)[:, i],  # type: ignore[misc]
                "exact",
            )
            for i, axis in enumerate("xyz")
        }
        return found | {
            "off the sphere": Invariant(
                lambda q, xi: jnp.max(jnp.abs(jnp.linalg.norm(q.reshape(-1, 3), axis=1) - 1)),
                "exact",
                ("frame", "velocity"),
            ),
            "spin": Invariant(
                lambda q, xi: jnp.max(jnp.abs(jnp.sum(q.reshape(-1, 3) * xi.reshape(-1, 3), axis=1))), "exact"
            ),
        }

    def check(self) -> None:
        if self.points < 2:
            raise InputError(f"a field has at least 2 points; points is {self.points}.")
        physical.positive(self, "length")

    def sample(self) -> dict:
        """A bent arc, set moving across."""
        s = np.linspace(0, 1, self.points)
        u = np.column_stack([np.cos(2 * s), np.sin(2 * s), np.zeros_like(s)])
        return {**self.moving(u, np.column_stack([0 * s, 0 * s, np.cos(3 * s)])), "h": 0.5 / self.points}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The field's curve on the sphere."""
        return [np.asarray(q).reshape(-1, 3)]
