"""One small nonlinear solve: Newton with an autodiff Jacobian -> root, Report."""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel._support.arrays import PyTree, Scalar
from discrete_hamel._support.pytrees import Pytree

Equations = Callable[[Array], Array]

MAX_ITERATIONS = 50
NEGLIGIBLE = 1e-3  # of a round-off unit: what is left out has one sign step after step, so it would add up
SMALL = 1e-4  # share of all unknowns below which one may be a difference of others
STALLED = 1e5  # round-off units at which corrections that no longer shrink are noise
GROWN = 1e9  # the same for those that grow: solves of chains of 100 links are so uncertain, and leave round-off
ABSURD = 1e47  # squared round-off units, of the guess, above which a correction leaves no hope, or their scale is wrong
NOISY = 1e12  # the same for schemes that know their noise to be larger, and say so by leaving nothing out


class Report(Pytree):
    """How a solve went: did it converge, in how many iterations, and the norm of the residual it left."""

    converged: Array
    iterations: Array
    residual: Array


def root(
    residual: Equations, guess: Array, negligible: float = NEGLIGIBLE, beside: Scalar = 0.0
) -> tuple[Array, Report]:
    """z with residual(z) = 0, found from `guess`, and its Report; `negligible` is what may be left out (`finished`).

    `beside` is the size of other numbers that the residual rounds off: what z are changes of.

    >>> z, report = root(lambda z: z**2 - 2.0, jnp.array([1.0]))
    >>> round(float(z[0]), 12), bool(report.converged)
    (1.414213562373, True)
    """
    return implicit(residual, guess, partial(newton, negligible=negligible), _dense, beside)


def implicit(
    residual: Equations, guess: Array, search: Callable, solve: Callable, beside: PyTree = None
) -> tuple[Array, Report]:
    """What `search(residual, guess, beside=...)` finds, a root and its Report, with derivatives by the implicit
    function theorem: in both modes by whatever `residual` closes over; the iterations never are differentiated.

    `solve(linear, value)` is the x with linear(x) = value.
    """
    residual, given = jax.closure_convert(residual, guess)
    residual = jax.jit(residual)  # so it is traced once, and once by each way to differentiate it

    @jax.custom_jvp
    def find(guess: Array, beside: PyTree, *given: Array) -> tuple[Array, Array]:
        z, report = search(lambda z: residual(z, *given), guess, beside=beside)
        return z, jnp.stack([report.converged, report.iterations, report.residual]).astype(guess.dtype)

    @find.defjvp
    def _(primals: tuple, tangents: tuple) -> tuple:
        (z, report), (_, _, *given), (_, _, *changes) = find(*primals), primals, tangents
        _, missed = jax.jvp(lambda *given: residual(z, *given), given, changes)
        change = solve(lambda by: jax.jvp(lambda z: residual(z, *given), (z,), (by,))[1], -missed)
        return (z, report), (change, jnp.zeros_like(report))

    z, (converged, iterations, size) = find(guess, beside, *given)  # floats, as its values have derivatives
    return z, Report(converged > 0, iterations.astype(int), size)


def _dense(linear: Equations, value: Array) -> Array:
    return jnp.linalg.solve(jax.vmap(linear, out_axes=1)(jnp.eye(len(value), dtype=value.dtype)), value)


def newton(
    residual: Equations, guess: Array, negligible: float = NEGLIGIBLE, beside: Scalar = 0.0
) -> tuple[Array, Report]:
    """Newton's iteration, ended by `finished`; what round-off is, it takes from the guess and what came of it.

    It has converged if what is left of the residual is no more than round-off in the unknowns makes of it.
    """
    jacobian = jax.jacfwd(lambda z: (residual(z),) * 2, has_aux=True)

    def correct(z: Array) -> Array:
        j, r = jacobian(z)
        return jnp.linalg.solve(j, -r)

    def weigh(z: Array) -> Array:
        largest = jnp.maximum(jnp.abs(guess), jnp.abs(z))  # a guess of zeros has no scale of its own
        return units(largest, jnp.sum(largest) + beside)

    z, converged, count, weights = iterate_newton(correct, weigh, jnp.sum, guess, negligible)
    # Derivatives may be overridden, and corrections small for that: what is left of the equations themselves decides,
    # beside what they change by when the unknowns move by so many units of round-off, each by another share of them.
    index = jnp.arange(len(guess))
    astray = noise(negligible) * (1 - 2 * (index % 2)) * (0.75 + 0.25 * jnp.cos(index)) / weights
    left, above, below = lax.map(residual, jnp.stack([z, z + astray, z - astray]))
    rounding = jnp.fmax(jnp.abs(above - left), jnp.abs(below - left))  # beyond one of them may be no number
    return z, Report(converged & jnp.all(jnp.abs(left) <= 2 * rounding), count, jnp.linalg.norm(left))


def iterate_newton(
    correct: Callable, weigh: Callable, total: Callable, guess: Array, negligible: float = NEGLIGIBLE
) -> tuple[Array, Array, Array, Array]:
    """z + correct(z) again and again until `finished`: z, whether it converged, the iterations, and the weights there.

    `weigh(z)` multiplies a correction to count it in units of round-off; `total` makes one number of their squares.
    """

    def iterate(carry: tuple) -> tuple:
        z, size, _, count, _ = carry
        correction = correct(z)
        moved = z + correction
        weights = weigh(moved)
        new = total((correction * weights) ** 2)
        return moved, new, finished(size, new, negligible), count + 1, weights

    none = jnp.zeros_like(jax.eval_shape(weigh, guess))
    start = (guess, jnp.asarray(jnp.nan, guess.dtype), jnp.asarray(False), jnp.asarray(0), none)
    z, size, done, count, weights = lax.while_loop(
        lambda carry: ~carry[2] & (carry[3] < MAX_ITERATIONS), iterate, start
    )
    return z, done & sane(size), count, weights


def units(guess: Array, total: Array) -> Array:
    """What multiplies a correction of each unknown to count it in units of round-off; `total` is the sum of |guess|.

    An unknown counts relative to itself, so that no choice of units changes the iteration, unless it is small among
    the others: then it may be the difference of larger numbers, and is not expected to be better than they allow.
    """
    number = jnp.finfo(guess.dtype)
    return (1 / number.eps) / (jnp.abs(guess) + (SMALL * total + SMALL * number.tiny**0.25))


def squared_size(correction: Sequence[Array], weights: Sequence[Array]) -> Array:
    """The square of a correction's size in units of round-off, from scalars (or lanes of them)."""
    squares = [(c * w) ** 2 for c, w in zip(correction, weights, strict=True)]
    return sum(squares[1:], start=squares[0])


def sane(size: Array) -> Array:
    """Whether a squared size is that of a correction from which there is a way back: not absurd, and a number."""
    return size < min(ABSURD, float(jnp.finfo(size.dtype).max))


def finished(size: Array, new: Array, negligible: float = NEGLIGIBLE) -> Array:
    """Whether to stop after a correction of squared size `new`, the one before having had `size` (NaN: none before).

    Either it is `vanishing` (with negligible = 0 what comes next is not relied on, which costs an iteration and leaves
    no bias); or corrections have stopped shrinking at the level that round-off allows, where going on would spin (with
    0 at a higher level: what the iteration is expected to end with), or grow at one that it may allow: whether what is
    left of the equations is round-off is asked afterwards. An absurd correction, or no number, ends it too.
    """
    stalled = ((new > 0.25 * size) & (new < noise(negligible) ** 2)) | ((new >= size) & (new < GROWN**2))
    return vanishing(size, new, negligible) | stalled | ~sane(new)


def vanishing(size: Array, new: Array, negligible: float) -> Array:
    """Whether a correction is round-off, or the next, new (new / size)^2 by quadratic convergence, is `negligible`."""
    return (new <= 1) | (new * new * new <= negligible**2 * (size * size))  # the second only if new < size / 1000


def noise(negligible: float) -> float:
    """Round-off units up to which what is left may be noise."""
    return STALLED if negligible else NOISY
