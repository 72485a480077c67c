"""Newton's iteration for lanes: each lane stops when it has converged.

What a unit of round-off is, is known to 2 % only, which now and then decides on one iteration more.
"""

from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.compiler.step.over_lanes import broadcast, over_lanes, piece
from discrete_hamel.compiler.step.roots import Root, Values
from discrete_hamel.mechanics.newton import MAX_ITERATIONS, SMALL, finished, sane, squared_size

EARLY = 3  # iterations that nearly all steps take

Lanes = list[Array]


def reciprocal(x: Array) -> Array:
    """1 / x to 2 %, without a division; x positive and normal.

    >>> float(abs(3 * reciprocal(jnp.asarray(3.0)) - 1)) < 0.02
    True
    """
    if x.dtype != jnp.float64:
        return 1 / x
    bits = jnp.asarray(0x7FDE623822FC16E6, jnp.int64) - lax.bitcast_convert_type(x, jnp.int64)
    guess = lax.bitcast_convert_type(bits, x.dtype)
    return guess * (2 - x * guess)


@piece
def _total(guess: Lanes) -> Array:
    number = jnp.finfo(guess[0].dtype)
    return sum((jnp.abs(g) for g in guess), start=jnp.asarray(number.tiny**0.25, guess[0].dtype))


@piece
def _weight(guess: Array, total: Array) -> Array:
    return reciprocal(jnp.finfo(guess.dtype).eps * (jnp.abs(guess) + SMALL * total))


# How a lane's iteration stands is one number: the squared size of the last correction while it goes on (NaN before the
# first), and once it has stopped a negative one, -(iterations + 1/2), or STRANDED less if it went nowhere.
STRANDED = 1000.0
IDLE = -0.5

_moved = piece(lambda stand, z, correction: jnp.where(stand < 0, z, z + correction))
_begun = piece(lambda active: jnp.where(active > 0, jnp.nan, IDLE))


# Whether an iteration has come to its end is asked as seldom as possible: a fifth of the time went into that.
@piece
def _stand_first(stand: Array, correction: Lanes, weights: Lanes) -> Array:
    """After the first correction nobody is at the end."""
    return jnp.where(stand < 0, stand, squared_size(correction, weights))


def _stand_early(stand: Array, correction: Lanes, weights: Lanes, count: Array, negligible: float) -> Array:
    """Up to the EARLY-th, only who has converged is."""
    new = squared_size(correction, weights)
    converged = (new <= 1) | (sane(new) & (new * new * new <= negligible**2 * (stand * stand)))
    return jnp.where(stand < 0, stand, jnp.where(converged, -(count.astype(new.dtype) + 0.5), new))


def _stand(stand: Array, correction: Lanes, weights: Lanes, count: Array, negligible: float) -> Array:
    new = squared_size(correction, weights)
    at = -(count.astype(new.dtype) + 0.5)
    stop = jnp.where(sane(new), at, at - STRANDED)
    return jnp.where(stand < 0, stand, jnp.where(finished(stand, new, negligible), stop, new))


def _going(stand: Array) -> Array:
    """Whether some lane goes on: not all signs are minus."""
    if stand.dtype != jnp.float64:
        return ~jnp.all(stand < 0)
    bits = lax.bitcast_convert_type(stand, jnp.int64)
    return lax.reduce(bits, np.int64(-1), lax.bitwise_and, (0,)) >= 0


def newton(root: Root, known: Values, everything: Lanes, active: Array) -> tuple[Lanes, Array]:
    """`Root.__call__` for lanes: z, and how each lane's iteration ended; only lanes marked active make any."""
    lanes, graph = active.shape[0], root.graph
    everything = [broadcast(x, lanes) for x in everything]
    guess, total = [everything[i] for i in root.places], _total(everything)
    weights = [_weight(g, total) for g in guess]
    fixed = dict(zip(root.fixed, over_lanes(graph, root.fixed, known), strict=True))
    early, late = (piece(partial(f, negligible=root.negligible)) for f in (_stand_early, _stand))

    def judge(stand: Array, correction: Lanes, count: Array) -> Array:
        given = stand, correction, weights
        return lax.cond(
            count == 1,
            lambda: _stand_first(*given),
            lambda: lax.cond(count <= EARLY, lambda: early(*given, count), lambda: late(*given, count)),
        )

    def iterate(carry: tuple) -> tuple:
        z, stand, k = carry
        correction = over_lanes(graph, root.correction, {**fixed, **dict(zip(root.unknowns, z, strict=True))})
        correction = [broadcast(c, lanes) for c in correction]
        moved = tuple(_moved(stand, a, c) for a, c in zip(z, correction, strict=True))
        return moved, judge(stand, correction, k + 1), k + 1

    def unfinished(carry: tuple) -> Array:
        _, stand, k = carry
        return (k == 0) | ((k < MAX_ITERATIONS) & _going(stand))

    carry = (tuple(guess), _begun(active), jnp.zeros((), jnp.int32))
    if root.linear:  # the first correction is the solution, the second what round-off left
        z, stand, _ = iterate(iterate(carry))
        return list(z), piece(lambda s: jnp.where(jnp.isnan(s), s, -2.5))(stand)
    z, stand, _ = lax.while_loop(unfinished, iterate, carry)
    return list(z), stand
