"""The force in the contact of a body, as its class gives it: `contact_force(q, xi)`."""

from collections.abc import Callable
from functools import wraps

from jax import Array

from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System, overridden

# What decides how a system moves; a family's further parts (a shape, moments) are read where they are used.
MECHANICS = frozenset(("rank", "lagrangian", "frame", "structure", "slip", "force"))
ENERGIES = frozenset(("kinetic_energy", "potential_energy", "_energies"))


def contact_law(system: System) -> Callable[[Array, Array], Array] | None:
    """`contact_force(q, xi)` of a system that has one, unless a subclass has changed the forces behind it."""
    owner = next((one for one in type(system).__mro__ if "contact_force" in vars(one)), None)
    if owner is None or overridden(type(system), owner) & (MECHANICS | ENERGIES):
        return None
    return system.contact_force  # type: ignore[attr-defined]


def of_arguments(force: Callable) -> Callable:
    """The decorated `contact_force`, of arrays as long as its system has them; others are refused in a sentence."""

    @wraps(force)
    def contact_force(self: System, q: Array, xi: Array) -> Array:
        _, (q, xi) = hamel.arguments(self, q, xi=xi)
        return force(self, q, xi)

    return contact_force
