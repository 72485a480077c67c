"""The force in the contact of a body, as its class gives it: `contact_force(q, xi)`."""

from collections.abc import Callable

from jax import Array

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
