"""Quantities by name: a coordinate, a quasi-velocity, a momentum "p ...", an invariant, t; or a function of (q, xi)."""

import difflib
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory, contact_force_at
from discrete_hamel.systems._blocks import units
from discrete_hamel.systems._blocks.contact_laws import contact_law

Quantity = str | Callable[[Array, Array], Array]


def along(trajectory: Trajectory, quantity: Quantity) -> np.ndarray:
    """A quantity at the nodes of a trajectory."""
    if quantity == "t":
        return np.asarray(trajectory.t)
    return at_states(trajectory.system, trajectory.q, trajectory.xi, quantity)


def at_states(system: System, q: ArrayLike, xi: ArrayLike, quantity: Quantity) -> np.ndarray:
    """A quantity at each of several states (q, xi).

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(mass=2.0)
    >>> at_states(sleigh, np.zeros((1, 3)), np.array([[0.0, 1.5, 0.0]]), "p v1").tolist()
    [3.0]
    """
    function = as_function(system, quantity)
    values = np.asarray(jax.jit(jax.vmap(partial(function, system)))(jnp.asarray(q), jnp.asarray(xi)))
    if values.ndim != 1:
        raise InputError(f"a quantity is one number at each state; {name_of(quantity)} has shape {values.shape[1:]}.")
    return values


def as_function(system: System, quantity: Quantity) -> Callable[[System, Array, Array], Array]:
    """A quantity as a function of (system, q, xi)."""
    if callable(quantity):
        return lambda _, q, xi: jnp.asarray(quantity(q, xi))
    known = names(system)
    if quantity not in known:
        near = difflib.get_close_matches(quantity, known, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"there is no quantity {quantity!r} of {type(system).__name__}.{hint} There are: {', '.join(known)}; "
            "or give a function of (q, xi)."
        )
    return known[quantity]


def names(system: System) -> dict[str, Callable[[System, Array, Array], Array]]:
    """What a system's states have, by name: where two have one, coordinates go before velocities and invariants."""
    of_q = {name: _entry(i) for i, name in enumerate(system.coordinates)}
    of_xi = {name: _velocity(i) for i, name in enumerate(system.velocities)}
    of_p = {f"p {name}": _momentum(i) for i, name in enumerate(system.velocities[: system.rank])}
    kept = {name: _invariant(name) for name in system.invariants()}
    contact = {} if contact_law(system) is None else {"contact force": contact_force_at}
    return {"energy": hamel.energy, **contact, **kept, **of_p, **of_xi, **of_q}


def name_of(quantity: Quantity) -> str:
    """What to call it; "" for a function without a name."""
    return quantity if isinstance(quantity, str) else getattr(quantity, "__name__", "quantity").replace("<lambda>", "")


def unit_of(trajectory: Trajectory, quantity: Quantity) -> str:
    """A named quantity's unit as print has it, "" where the system says none; see `systems/_blocks/units.py`."""
    return units.in_print(units.unit(trajectory.system.units, quantity)) if isinstance(quantity, str) else ""


def title_of(trajectory: Trajectory, quantity: Quantity) -> str:
    """What to write on an axis: the name, with its unit."""
    unit = unit_of(trajectory, quantity)
    return f"{name_of(quantity)} [{unit}]" if unit else name_of(quantity)


def plane_coordinates(trajectory: Trajectory) -> tuple[str, str] | None:
    """Returns ("x", "y") where the system has coordinates of these names, else None."""
    return ("x", "y") if {"x", "y"} <= set(trajectory.system.coordinates) else None


def _entry(i: int) -> Callable:
    return lambda _system, q, _xi: q[i]


def _velocity(i: int) -> Callable:
    return lambda _system, _q, xi: xi[i]


def _momentum(i: int) -> Callable:
    return lambda system, q, xi: hamel.momentum(system, q, xi)[i]


def _invariant(name: str) -> Callable:
    return lambda system, q, xi: system.invariants()[name](q, xi)
