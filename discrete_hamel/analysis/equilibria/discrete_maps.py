"""A step of a scheme as a map of (q, xi^D) at the nodes, and of what else the scheme remembers."""

import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

NODE = ("q", "p", "xi")  # p is mu(q, xi), and the state's xi only where Newton starts
ROUNDED = ("low",)  # what sums round off and compensated schemes carry on: no part of the map


def memory_names(state: State) -> list[str]:
    """The fields of a state beyond (q, p, xi): a reaction, say."""
    names = list(getattr(type(state), "__dataclass_fields__", ()))
    if not set(NODE) <= set(names):
        raise InputError(
            "the step of this scheme is no map of (q, xi) with a fixed h (its state keeps its own clock or pace), so "
            "it has no spectrum and no tangent map here. Use the scheme it is made of, with a constant step."
        )
    return [name for name in names if name not in NODE + ROUNDED]


def first_point(system: System, scheme: Scheme, h: Array, x: Array) -> Array:
    """y = (q, xi^D, memory) of a scheme that starts at x = (q, xi^D)."""
    return pack(system, scheme, _start(system, scheme, h, x))


def pack(system: System, scheme: Scheme, state: State) -> Array:
    """y = (q, xi^D, memory) of a state."""
    velocity = scheme.velocity(system, state)[: system.rank]
    return jnp.concatenate([state.q, velocity, *(getattr(state, name).ravel() for name in memory_names(state))])


def unpack(system: System, scheme: Scheme, h: Array, y: Array, coordinates: int) -> State:
    """The state of y, which begins with so many coordinates."""
    state = _start(system, scheme, h, y[: coordinates + system.rank])
    at = coordinates + system.rank
    for name in memory_names(state):
        leaf = getattr(state, name)
        state, at = state.replace(**{name: y[at : at + leaf.size].reshape(leaf.shape)}), at + leaf.size
    return state


def one_step(system: System, scheme: Scheme, h: Array, y: Array, coordinates: int) -> tuple[Array, Array]:
    """The map y -> y' of a step h, and the step's own velocity xi^D."""
    state, interval = scheme.step(system, unpack(system, scheme, h, y, coordinates), h)
    return pack(system, scheme, state), interval.xi[: system.rank]


def _start(system: System, scheme: Scheme, h: Array, x: Array) -> State:
    q, free = x[: len(x) - system.rank], x[len(x) - system.rank :]
    return scheme.start(system, q, hamel.full(system, q, free), h)
