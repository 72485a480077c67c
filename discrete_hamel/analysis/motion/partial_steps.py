"""Where a function of (q, xi) vanishes at the end of part of a scheme's step, and where it turns there."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

FEW = 400  # numbers of the states whose steps are tried, up to which compiling would take longer
MANY = 10**5  # the same where all go side by side
ITERATIONS = 80  # bisections at worst, of the fraction of a step
NOISE = 256  # units of round-off of what the function is made of, within which a turning value is zero

T = TypeVar("T")
Function = Callable[[Array, Array], Array]


class Ends(NamedTuple):
    """Ends of parts of steps, one an entry: the part s, the function there, q, xi, and the scheme's time if kept."""

    part: Array
    value: Array
    q: Array
    xi: Array
    t: Array | None


@partial(interpret, static=1, most=MANY)
def _along(function: Function, system: System, q: Array, xi: Array) -> tuple[Array, Array]:
    def one(q: Array, xi: Array) -> tuple[Array, Array]:
        return jax.jvp(function, (q, xi), hamel.vector_field(system, q, xi[: system.rank]))

    return jax.vmap(one)(q, xi)


def along(function: Function, system: System, q: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The function and its rate along (H) at each node."""
    value, rate = (np.asarray(a)[: len(q)] for a in _along(function, system, *_pad((q, xi), len(q))))
    return value, rate


@partial(jax.jit, static_argnums=0)  # traced once, for all the places where it is tried
def _end(function: Function, system: System, scheme: Scheme, h: Array, state: State, part: Array) -> Ends:
    new, _ = scheme.step(system, state, part * h)
    xi = scheme.velocity(system, new)
    return Ends(part, function(new.q, xi), new.q, xi, scheme.time(new))


@partial(interpret, static=1, most=FEW)
def _zeros(
    function: Function, system: System, scheme: Scheme, h: Array, states: State, low: Array, high: Array
) -> Ends:
    def one(entry: tuple) -> Ends:
        state, low, high = entry
        end = partial(_end, function, system, scheme, h, state)
        begins = jnp.where(low > 0, end(low).value, function(state.q, scheme.velocity(system, state)))
        return end(narrow(lambda part: end(part).value, low, high, begins))

    return _each(one, (states, low, high))


@partial(interpret, static=1, most=FEW)
def _turns(function: Function, system: System, scheme: Scheme, h: Array, states: State) -> tuple[Ends, Array]:
    def one(state: State) -> tuple[Ends, Array]:
        end = partial(_end, function, system, scheme, h, state)

        def slope(part: Array) -> Array:
            return jax.jvp(lambda part: end(part).value, (part,), (jnp.ones(()),))[1]

        at = end(narrow(slope, jnp.zeros(()), jnp.ones(()), slope(jnp.zeros(()))))
        by_q, by_xi = jax.grad(function, (0, 1))(at.q, at.xi)
        return at, jnp.abs(at.value) + jnp.abs(by_q) @ jnp.abs(at.q) + jnp.abs(by_xi) @ jnp.abs(at.xi)

    return _each(one, states)


def _each(one: Callable[..., T], entries: object) -> T:
    """Few entries side by side, as NumPy does them; many one after the other, as XLA does them."""
    few = sum(leaf.size for leaf in jax.tree.leaves(entries)) <= FEW
    return jax.vmap(one)(entries) if few else jax.lax.map(one, entries)


def narrow(function: Callable[[Array], Array], low: Array, high: Array, at_low: Array) -> Array:
    """A zero between two ends of different sign: regula falsi with Illinois' weights, superlinear and never outside.

    >>> float(narrow(lambda x: x**2 - 2, jnp.zeros(()), jnp.asarray(2.0), jnp.asarray(-2.0)).round(14))
    1.4142135623731
    """

    def again(carry: tuple) -> tuple:
        count, low, high, at_low, at_high = carry
        middle = jnp.where(at_high == at_low, (low + high) / 2, high - at_high * (high - low) / (at_high - at_low))
        middle = jnp.clip(middle, jnp.minimum(low, high), jnp.maximum(low, high))
        value = function(middle)
        crossed = value * at_high < 0
        return count + 1, jnp.where(crossed, high, low), middle, jnp.where(crossed, at_high, at_low / 2), value

    def going(carry: tuple) -> Array:
        count, low, high, _, at_high = carry
        return (count < ITERATIONS) & (at_high != 0) & (jnp.abs(high - low) > 2 * jnp.finfo(high.dtype).eps)

    return jax.lax.while_loop(going, again, (0, low, high, at_low, function(high)))[2]


def _pad(entries: T, count: int) -> T:
    """Entries repeated up to a power of two, so that few lengths are ever compiled."""
    size = 1 << (count - 1).bit_length()
    return jax.tree.map(lambda leaf: np.resize(np.asarray(leaf), (size, *np.shape(leaf)[1:])), entries)


def zeros(
    function: Function, system: System, scheme: Scheme, h: Scalar, states: State, low: np.ndarray, high: np.ndarray
) -> Ends:
    """For each state the part of its step, between `low` and `high`, at whose end the function is zero."""
    count = len(low)
    found = _zeros(function, system, scheme, jnp.asarray(h), *_pad((states, low, high), count))
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:count], found)


def turns(
    function: Function, system: System, scheme: Scheme, h: Scalar, states: State, size: np.ndarray
) -> tuple[Ends, np.ndarray]:
    """For each state the part of its step at whose end the function is stationary, and whether that is a zero.

    `size` is that of the function at the ends of the whole step.
    """
    found, own = _turns(function, system, scheme, jnp.asarray(h), _pad(states, len(size)))
    found, own = jax.tree.map(lambda leaf: np.asarray(leaf)[: len(size)], (found, own))
    return found, np.abs(found.value) <= NOISE * np.finfo(own.dtype).eps * (own + size)


def may_turn_below(values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """The steps whose ends have one sign and between which the function may dip to zero and come back, once.

    `slopes` are d/ds, s = 0..1 over a step. By Hermite's cubic, with a dip as deep again allowed for what it misses.

    >>> may_turn_below(np.array([0.1, 0.1, 5.0]), np.array([-1.0, 1.0, 1.0])).tolist()
    [True, False]
    """
    sign = np.sign(values[:-1])
    a, b, left, right = sign * values[:-1], sign * values[1:], sign * slopes[:-1], sign * slopes[1:]
    s = np.linspace(0.0, 1.0, 33)[:, None]
    cubic = (1 + 2 * s) * (1 - s) ** 2 * a + s * (1 - s) ** 2 * left + s**2 * (3 - 2 * s) * b - s**2 * (1 - s) * right
    lowest = np.min(cubic, axis=0)
    return (a > 0) & (b > 0) & (left < 0) & (right > 0) & (lowest <= np.maximum(a, b) - lowest)
