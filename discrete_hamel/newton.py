"""One small nonlinear solve: Newton with an autodiff Jacobian -> root, Report."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.pytrees import Pytree

MAX_ITERATIONS = 25
NEGLIGIBLE = 1e-3  # of a round-off unit: what is left out has one sign step after step, so it would add up


class Report(Pytree):
    """How a solve went: did it converge, in how many iterations, and the largest residual it left."""

    converged: Array
    iterations: Array
    residual: Array


def root(residual: Callable[[Array], Array], guess: Array) -> tuple[Array, Report]:
    """z with residual(z) = 0, found from `guess`, and its Report.

    Differentiable in both modes with respect to whatever `residual` closes over, by the implicit function
    theorem: the iterations are never differentiated.

    >>> z, report = root(lambda z: z**2 - 2.0, jnp.array([1.0]))
    >>> float(z[0]), bool(report.converged)
    (1.414213562373095, True)
    """

    def tangent_solve(linear: Callable[[Array], Array], value: Array) -> Array:
        return jnp.linalg.solve(jax.jacfwd(linear)(jnp.zeros_like(value)), value)

    def solve(residual: Callable[[Array], Array], guess: Array) -> tuple[Array, Array]:
        z, report = newton(residual, guess)
        return z, jnp.stack([report.converged, report.iterations, report.residual]).astype(guess.dtype)

    # custom_root differentiates what it returns beside the root, so that goes through it as floats.
    z, (converged, iterations, size) = lax.custom_root(residual, guess, solve, tangent_solve, has_aux=True)
    return z, Report(converged > 0, iterations.astype(int), size)


def newton(residual: Callable[[Array], Array], guess: Array) -> tuple[Array, Report]:
    """Newton's iteration, ended by `finished`."""
    jacobian = jax.jacfwd(lambda z: (residual(z),) * 2, has_aux=True)
    weights, weight = units(guess)

    def iterate(carry: tuple) -> tuple:
        z, size, _, count = carry
        j, r = jacobian(z)
        correction = jnp.linalg.solve(j, -r)
        largest = jnp.max(jnp.abs(correction))
        new_size = jnp.max(jnp.abs(correction) * weights)
        return z + correction, new_size, finished(size, new_size, largest * weight), count + 1

    def unfinished(carry: tuple) -> Array:
        _, _, done, count = carry
        return ~done & (count < MAX_ITERATIONS)

    start = (guess, jnp.asarray(jnp.nan, guess.dtype), jnp.asarray(False), jnp.asarray(0))
    z, _, done, count = lax.while_loop(unfinished, iterate, start)
    return z, Report(done & jnp.all(jnp.isfinite(z)), count, jnp.max(jnp.abs(residual(z))))


def units(guess: Array) -> tuple[Array, Array]:
    """What multiplies a correction to count it in units of round-off: of each unknown, and of the largest.

    An unknown counts relative to itself, so that no choice of units changes the iteration, unless it is below round-off
    of the largest one.
    """
    eps = jnp.finfo(guess.dtype).eps
    largest = jnp.maximum(jnp.max(jnp.abs(guess)), jnp.finfo(guess.dtype).tiny ** 0.5)
    return 1 / (eps * (jnp.abs(guess) + eps * largest)), 1 / (eps * largest)


def finished(size: Array, new: Array, relative: Array) -> Array:
    """Whether to stop after a correction of `new` units, the one before having been of `size` (NaN: none before).

    Either it is round-off; or the next one, new (new / size)^2 by quadratic convergence, would be negligible; or
    corrections have stopped shrinking at round-off level of the largest unknown, where going on would spin. A
    correction that is not a number ends the iteration too.
    """
    converged = (new <= 1) | ((new * new * new <= NEGLIGIBLE * size * size) & (new < 0.1 * size))
    return converged | ((new > 0.5 * size) & (relative < 1e4)) | jnp.isnan(new)
