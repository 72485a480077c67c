"""Where a function of (q, xi) vanishes at the end of part of a scheme's step, and where it turns there."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar
from discrete_hamel.compiler.paths import stepper_for
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


def _end(function: Function, system: System, scheme: Scheme, h: Array, state: State, part: Array) -> Ends:
    new, _ = scheme.step(system, state, part * h)
    xi = scheme.velocity(system, new)
    return Ends(part, function(new.q, xi), new.q, xi, scheme.time(new))


@partial(interpret, static=1, most=FEW)
def _ends(function: Function, system: System, scheme: Scheme, h: Array, states: State, parts: Array) -> Ends:
    return _each(lambda entry: _end(function, system, scheme, h, *entry), (states, parts))


@partial(interpret, static=1, most=FEW)
def _slopes(function: Function, system: System, scheme: Scheme, h: Array, states: State, parts: Array) -> Array:
    def one(entry: tuple) -> Array:
        state, part = entry

        def at_end(part: Array) -> Array:
            return _end(function, system, scheme, h, state, part).value

        return jax.jvp(at_end, (part,), (jnp.ones_like(part),))[1]

    return _each(one, (states, parts))


@partial(interpret, static=1, most=MANY)
def _values(function: Function, q: Array, xi: Array) -> Array:
    return jax.vmap(function)(q, xi)


@partial(interpret, static=1, most=MANY)
def _made_of(function: Function, q: Array, xi: Array) -> Array:
    """The size of what the function is made of."""

    def one(q: Array, xi: Array) -> Array:
        by_q, by_xi = jax.grad(function, (0, 1))(q, xi)
        return jnp.abs(function(q, xi)) + jnp.abs(by_q) @ jnp.abs(q) + jnp.abs(by_xi) @ jnp.abs(xi)

    return jax.vmap(one)(q, xi)


def _each(one: Callable[..., T], entries: object) -> T:
    """Few entries side by side, as NumPy does them; many one after the other, as XLA does them."""
    few = sum(leaf.size for leaf in jax.tree.leaves(entries)) <= FEW
    return jax.vmap(one)(entries) if few else jax.lax.map(one, entries)


def narrow(
    function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray, at_low: np.ndarray
) -> np.ndarray:
    """Zeros between ends of different sign: regula falsi with Illinois' weights, superlinear and never outside.

    >>> float(narrow(lambda x: x**2 - 2, np.zeros(1), np.full(1, 2.0), np.full(1, -2.0))[0].round(14))
    1.4142135623731
    """
    at_high = function(high)
    for _ in range(ITERATIONS):
        going = (at_high != 0) & (np.abs(high - low) > 2 * np.finfo(at_high.dtype).eps)
        if not going.any():
            break
        with np.errstate(all="ignore"):
            chord = high - at_high * (high - low) / (at_high - at_low)
        middle = np.where(at_high == at_low, (low + high) / 2, chord)
        middle = np.where(going, np.clip(middle, np.minimum(low, high), np.maximum(low, high)), high)
        value = function(middle)
        crossed = value * at_high < 0
        low, at_low = np.where(crossed, high, low), np.where(crossed, at_high, at_low / 2)
        high, at_high = middle, value
    return high


def _pad(entries: T, count: int) -> T:
    """Entries repeated up to a power of two, so that few lengths are ever compiled."""
    size = 1 << (count - 1).bit_length()
    return jax.tree.map(lambda leaf: np.resize(np.asarray(leaf), (size, *np.shape(leaf)[1:])), entries)


class PartialSteps:
    """The ends of parts of a scheme's step from some states: by the compiled step, which takes any length, where there
    is one; nothing is traced then but the function.
    """

    def __init__(self, function: Function, system: System, scheme: Scheme, h: Scalar, states: State) -> None:
        self.function, self.made_by, self.states = function, (system, scheme, jnp.asarray(h)), states
        self.count = len(states.q)
        self.each = [jax.tree.map(lambda leaf, k=k: np.asarray(leaf)[k], states) for k in range(self.count)]
        stepper = stepper_for(system, scheme, self.each[0], self.made_by[2])
        self.run = None if isinstance(stepper, str) else stepper.run
        self.found: dict[int, tuple] = {}  # the last end of each, by its part

    def __call__(self, parts: np.ndarray) -> Ends:
        if self.run is None:
            return self._ask(_ends, parts)
        for k, part in enumerate(parts):
            if k not in self.found or self.found[k][0] != part:
                self.found[k] = part, *self._run_one(k, part)
        _, *ends, t = zip(*(self.found[k] for k in range(self.count)), strict=True)
        q, xi = map(np.array, ends)
        values = np.asarray(_values(self.function, *_pad((q, xi), self.count)))[: self.count]
        return Ends(parts, values, q, xi, None if t[0] is None else np.array(t))  # type: ignore[arg-type]  # NumPy's

    def slopes(self, parts: np.ndarray) -> np.ndarray:
        """The function's derivatives by the part of the step."""
        return self._ask(_slopes, parts)

    def _ask(self, of: Callable[..., T], parts: np.ndarray) -> T:
        found = of(self.function, *self.made_by, *_pad((self.states, parts), self.count))
        return jax.tree.map(lambda leaf: np.asarray(leaf)[: self.count], found)

    def _run_one(self, k: int, part: float) -> tuple:
        """q, xi and the scheme's time at the end of a part of the step of one of them."""
        (system, scheme, h), state = self.made_by, self.each[k]
        after, _, good, (q, _, xi, *_) = self.run(system, scheme, state, np.asarray(part * h), 1, 1)  # type: ignore
        if not good:  # the plain path, with true pivoting, has to do it
            one = jax.tree.map(lambda leaf: np.asarray(leaf)[None], (self.each[k], part))
            at = jax.tree.map(lambda leaf: np.asarray(leaf)[0], _ends(self.function, *self.made_by, *one))
            return at.q, at.xi, at.t
        return q[0], xi[0], scheme.time(after)


def zeros(function: Function, system: System, scheme: Scheme, h: Scalar, states: State, *between: np.ndarray) -> Ends:
    """For each state the part of its step at whose end the function is zero.

    It is `between` low and high, and the function, which has a sign there, is known at low.
    """
    ends = PartialSteps(function, system, scheme, h, states)
    return ends(narrow(lambda parts: np.asarray(ends(parts).value), *between))


def turns(
    function: Function, system: System, scheme: Scheme, h: Scalar, states: State, size: np.ndarray
) -> tuple[Ends, np.ndarray]:
    """For each state the part of its step at whose end the function is stationary, and whether that is a zero.

    `size` is that of the function at the ends of the whole step.
    """
    ends, count = PartialSteps(function, system, scheme, h, states), len(size)
    none, whole = np.zeros_like(size), np.ones_like(size)
    found = ends(narrow(ends.slopes, none, whole, ends.slopes(none)))
    own = np.asarray(_made_of(function, *_pad((found.q, found.xi), count)))[:count]
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
