"""Natural systems: kinetic minus potential energy, and bodies whose attitude is a rotation matrix."""

import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics.system import System


class Natural(System):
    """A system that gives its kinetic and potential energy, `_energies(q, xi)`: l is their difference, E their sum."""

    def _energies(self, q: Array, xi: Array) -> tuple[Array, Array]:
        raise NotImplementedError(f"{type(self).__name__} needs a method _energies(self, q, xi)")

    def lagrangian(self, q: Array, xi: Array) -> Array:
        kinetic, potential = self._energies(q, xi)
        return kinetic - potential

    def total_energy(self, q: Array, xi: Array) -> Array:
        """Kinetic plus potential energy, J."""
        return jnp.add(*self._energies(q, xi))
