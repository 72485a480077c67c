"""Pendulums on spheres, and chains of pendulums in a plane."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.lie_algebras import SO3, rotation_basis, rotations_of
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI


def hat(a: Array) -> Array:
    """The matrix of a x ."""
    return jnp.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


class SphericalPendulum(System):
    """A bob on a massless rod, free to swing over the whole sphere, without poles.

    Coordinates gamma in R^3: the upward vertical seen from the body, whose third axis points along the rod to the bob;
    so gamma3 = -1 at rest, and the bob hangs at (-gamma1, gamma2, gamma3) up to the body's own turn. Quasi-velocities
    xi: body angular velocity, with xi3 = 0. The bracket is that of so(3), which the three dependent fields cannot show.

        l = m r^2 (xi1^2 + xi2^2) / 2 - m g r gamma3,   gamma' = gamma x xi          [HE] (6.2)-(6.5)

    Energy, vertical momentum and |gamma| are exact, [HE] Theorem 6.1.
    """

    mass: float = 1.0  # kg
    length: float = 9.8  # m
    gravity: float = 9.8  # m/s^2

    rank = 2
    coordinates = ("gamma1", "gamma2", "gamma3")
    velocities = ("xi1", "xi2", "xi3")
    units = SI

    def lagrangian(self, q: Array, xi: Array) -> Array:
        kinetic = 0.5 * self.mass * self.length**2 * (xi[0] ** 2 + xi[1] ** 2)
        return kinetic - self.mass * self.gravity * self.length * q[2]

    def frame(self, q: Array) -> Array:
        return hat(q)

    def structure(self, q: Array) -> Array:
        return jnp.asarray(SO3)

    def vertical_momentum(self, q: Array, xi: Array) -> Array:
        """Angular momentum about the vertical."""
        return self.mass * self.length**2 * (q[0] * xi[0] + q[1] * xi[1])

    def holonomic(self, q: Array) -> Array:
        return (q @ q - 1)[None]

    def invariants(self) -> dict[str, Invariant]:
        def energy(q: Array, xi: Array) -> Array:
            return self.lagrangian(q, xi) + 2 * self.mass * self.gravity * self.length * q[2]

        return {
            "energy": Invariant(energy, "exact"),
            "vertical momentum": Invariant(self.vertical_momentum, "exact"),
            "length of gamma": Invariant(lambda q, xi: jnp.sqrt(q @ q), "exact", ("frame",)),
        }

    def check(self) -> None:
        physical.positive(self, "mass", "length")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The rod, as the body sees it: its azimuth is that of gamma."""
        return [outlines.rod(np.zeros(3), self.length * np.asarray(q) * np.array([-1.0, 1.0, 1.0]))]

    def sample(self) -> dict:
        """The run of [HE] 6.3."""
        return {"q": (0.3, 0.2, -((1 - 0.3**2 - 0.2**2) ** 0.5)), "xi": (0.6, 0.0), "h": 0.2}


class NSpherePendulum(Natural):
    """A bob on a massless rod that swings over the sphere S^(n-1) in R^n, without poles: n = 3 is `SphericalPendulum`.

    Coordinates gamma in R^n: the upward vertical seen from a body whose last axis points along the rod to the bob, so
    gamma_n = -1 at rest. Quasi-velocities xi: the body's turning R^T R' in the basis E_ab = e_a e_b^T - e_b e_a^T; the
    first n - 1 turn the rod, the others (the body about the rod) are zero. The bracket is that of so(n).

        l = m r^2 (xi_1^2 + ... + xi_(n-1)^2) / 2 - m g r gamma_n,   gamma' = -(R^T R') gamma     after [HE] (6.2)-(6.5)

    Energy and |gamma| are exact. So is the size of the momentum of the rotations that keep the vertical, an element of
    so(n - 1); for n = 3 it is the vertical momentum.
    """

    dimension: int = 4  # n, of the space
    mass: float = 1.0  # kg
    length: float = 9.8  # m
    gravity: float = 9.8  # m/s^2

    units = SI | {"horizontal momentum squared": "kg^2 m^4/s^2"}

    @property
    def rank(self) -> int:
        return self.dimension - 1

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as there are dimensions
        return tuple(f"gamma{a + 1}" for a in range(self.dimension))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as there are planes
        return tuple(f"xi{i + 1}" for i in range(self.dimension * (self.dimension - 1) // 2))

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        rod = xi[: self.rank]
        return 0.5 * self.mass * self.length**2 * (rod @ rod), self.mass * self.gravity * self.length * q[-1]

    def frame(self, q: Array) -> Array:
        return jnp.einsum("iab,b->ai", -rotation_basis(self.dimension), q)

    def structure(self, q: Array) -> Array:
        return jnp.asarray(rotations_of(self.dimension))

    def horizontal_momentum(self, q: Array, xi: Array) -> Array:
        """|P M P|^2 / 2 of the body momentum M = m r^2 R^T R' and the projection P across gamma."""
        rod, across = xi[: self.rank], q[: self.rank]
        square = (rod @ rod) * (across @ across) - (rod @ across) ** 2
        return (self.mass * self.length**2) ** 2 * square

    def holonomic(self, q: Array) -> Array:
        return (q @ q - 1)[None]

    def invariants(self) -> dict[str, Invariant]:
        return {
            "energy": Invariant(self.total_energy, "exact"),
            "length of gamma": Invariant(lambda q, xi: jnp.sqrt(q @ q), "exact", ("frame",)),
            "horizontal momentum squared": Invariant(self.horizontal_momentum, "exact"),
        }

    def check(self) -> None:
        physical.positive(self, "mass", "length")
        if self.dimension < 2:
            raise InputError(f"the parameter dimension of NSpherePendulum must be at least 2; it is {self.dimension}.")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The rod, as the body sees it, in the first, second and last coordinate."""
        return [outlines.rod(np.zeros(3), self.length * np.asarray(q)[[0, min(1, self.dimension - 2), -1]])]

    def sample(self) -> dict:
        """Off the vertical, and moving out of the vertical plane."""
        lean = 0.36 / self.rank
        xi = tuple(0.5 if i == 0 else 0.2 * i for i in range(self.rank))
        return {"q": (*[lean**0.5] * self.rank, -0.8), "xi": xi, "h": 0.1}


class PlanarChain(Natural):
    """Bobs on massless rods, each hung from the one before, swinging in a vertical plane: the n-fold pendulum.

    Coordinates theta_1..theta_n: the angle of each rod with the downward vertical, not with the rod before.
    Quasi-velocities: their rates, so that the frame is the identity and its brackets vanish.

        v_k = sum_{j<=k} r_j theta_j' (cos theta_j, sin theta_j),   y_k = - sum_{j<=k} r_j cos theta_j
        l = sum_k m_k (v_k . v_k / 2 - g y_k)

    Energy is bounded; without gravity, angular momentum about the pivot is exact. Written like this, with cumulative
    sums over the rods, a step of the compiled path takes operations in proportion to the number of links, as by the
    articulated-body algorithm (Featherstone 2008, ch. 7).
    """

    links: int = 3  # n
    masses: Scalar = 1.0  # kg, of the bobs: n of them, or one for all
    lengths: Scalar = 1.0  # m, of the rods: n of them, or one for all
    gravity: float = 9.8  # m/s^2

    units = SI

    @property
    def rank(self) -> int:
        return self.links

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as there are links
        return tuple(f"theta{k + 1}" for k in range(self.links))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as there are links
        return tuple(f"omega{k + 1}" for k in range(self.links))

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        c, s = self.lengths * jnp.cos(q), self.lengths * jnp.sin(q)
        across, up = jnp.cumsum(c * xi), jnp.cumsum(s * xi)
        kinetic = 0.5 * jnp.sum(self.masses * (across**2 + up**2))
        return kinetic, -self.gravity * jnp.sum(self.masses * jnp.cumsum(c))

    def frame(self, q: Array) -> Array:
        return jnp.eye(self.links)

    def structure(self, q: Array) -> Array:
        return jnp.zeros((self.links,) * 3)

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.total_energy, "bounded")}

    def check(self) -> None:
        if self.links < 1:
            raise InputError(f"the parameter links of PlanarChain must be at least 1; it is {self.links}.")
        for name in ("masses", "lengths"):
            physical.shape(self, name, (), (self.links,))
        physical.positive(self, "masses", "lengths")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The rods, from the pivot down."""
        angles = np.asarray(q)
        rods = np.asarray(self.lengths) * np.array([np.sin(angles), -np.cos(angles)])
        return [outlines.rod((0.0, 0.0), *np.cumsum(rods, axis=1).T)]

    def sample(self) -> dict:
        """Pulled aside and let go, the last bob with a push."""
        k = np.arange(1, self.links + 1)
        push = np.where(k == self.links, 0.5, 0.0)
        return {"q": tuple(0.3 + 0.2 * k / self.links), "xi": tuple(push), "h": 0.01}
