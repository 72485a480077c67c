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
    """Newton's iteration with sizes measured in units of attainable round-off.

    A residual row cannot be resolved below eps (|J| |z|)_i, so the unknowns not below |J^-1 eps |J| |z||, taken with
    eps |z|. In these units, which no scaling of rows or unknowns changes, the correction d_k predicts the next one,
    d_k^3 / d_(k-1)^2 for quadratic convergence; the iteration stops when that is negligible, or when corrections that
    are already at round-off level stop shrinking: going on below the floor would spin.
    """
    eps = jnp.finfo(guess.dtype).eps
    jacobian = jax.jacfwd(lambda z: (residual(z),) * 2, has_aux=True)

    def iterate(carry: tuple) -> tuple:
        z, size, _, count = carry
        j, r = jacobian(z)
        floor = eps * (jnp.abs(j) @ jnp.abs(z))
        correction, attainable = jnp.linalg.solve(j, jnp.stack([-r, floor], axis=1)).T
        z = z + correction
        unit = eps * jnp.abs(z) + jnp.abs(attainable)
        ratios = jnp.where(correction == 0, 0.0, jnp.abs(correction) / unit)
        new_size = jnp.max(ratios)
        predicted = jnp.where(jnp.isinf(size), jnp.inf, new_size * (new_size / size) ** 2)
        relative = jnp.max(jnp.abs(correction)) / jnp.max(jnp.abs(z))
        stalled = (new_size > 0.5 * size) & (relative < 1e4 * eps)
        done = (new_size <= 1) | ((predicted <= NEGLIGIBLE) & (new_size < 0.1 * size)) | stalled
        return z, new_size, done, count + 1

    def unfinished(carry: tuple) -> Array:
        _, size, done, count = carry
        return ~done & (count < MAX_ITERATIONS) & ~jnp.isnan(size)

    start = (guess, jnp.asarray(jnp.inf, guess.dtype), jnp.asarray(False), jnp.asarray(0))
    z, _, done, count = lax.while_loop(unfinished, iterate, start)
    return z, Report(done & jnp.all(jnp.isfinite(z)), count, jnp.max(jnp.abs(residual(z))))
