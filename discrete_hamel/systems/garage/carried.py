"""What rolls is carried along: some velocities are free, and say what all coordinates do."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.system import Invariant, System


class Carried(System):
    """A system whose frame is given by what it does: q' = carried(q, xi), linear in xi."""

    def qdot(self, q: Array, xi: Array) -> Array:
        """q' of xi, all components of it."""
        raise NotImplementedError

    def frame(self, q: Array) -> Array:
        return call(_frame, None, self, q)  # traced once a shape


class Vehicle(Carried):
    """A carried system with energies given in velocities of its coordinates; no brackets are needed."""

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        """T(q, v) and V(q)."""
        raise NotImplementedError

    def in_velocities(self, q: Array, v: Array) -> Array:
        """L(q, v) = T - V."""
        kinetic, potential = self.energies(q, v)
        return kinetic - potential

    def lagrangian(self, q: Array, xi: Array) -> Array:
        said = type(self).in_velocities or Vehicle.in_velocities  # type: ignore[truthy-function]  # none of another L
        return said(self, q, self.qdot(q, xi))

    def energy(self, q: Array, xi: Array) -> Array:
        """T + V."""
        return jnp.add(*self.energies(q, self.qdot(q, xi)))

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.energy, "bounded", ("lagrangian", "energies", "slip", "force"))}


def _frame(system: Carried, q: Array) -> Array:
    fields = jax.vmap(lambda unit: system.qdot(q, unit), out_axes=1)
    return fields(jnp.eye(len(system.velocities)))


def heading(angle: Array) -> tuple[Array, Array]:
    """Unit vectors along a heading, and to its left."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([c, s]), jnp.stack([-s, c])


def along_coordinate(size: int, index: int) -> Callable[[Array], Array]:
    """The generator of growth of one coordinate."""
    return lambda q: jnp.zeros(size).at[index].set(1.0)


def plane_motions(size: int, headings: tuple[int, ...], place: tuple[int, int]) -> dict[str, Callable[[Array], Array]]:
    """Generators of the plane's motions, q to qdot: what has a heading turns, what has a place moves."""

    def turn(q: Array) -> Array:
        turned = jnp.zeros(size).at[jnp.array(headings)].set(1.0)
        return turned.at[place[0]].set(-q[place[1]]).at[place[1]].set(q[place[0]])

    return {
        "translation along x": along_coordinate(size, place[0]),
        "translation along y": along_coordinate(size, place[1]),
        "rotation of the plane": turn,
    }
