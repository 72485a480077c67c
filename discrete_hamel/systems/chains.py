"""Chains of pendulums."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import Invariant
from discrete_hamel.systems._blocks import outlines, parameters
from discrete_hamel.systems._blocks.natural import Natural
from discrete_hamel.systems._blocks.units import SI


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
            parameters.shape(self, name, (), (self.links,))
        parameters.positive(self, "masses", "lengths")

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
