"""The increment h Psi(q_tau) xi of a step to more digits than a double has, where Psi is affine in q.

What a linear frame keeps (|gamma|, the orthogonality of a rotation) it keeps for any h xi, so also for that of a
double: only the roundings of q_tau and of the products of both are seen. They are taken away by the arithmetic of
doubles: with q_a and x_a, which are q_tau and h xi rounded to whole multiples of some 2^-25 of their size, all products
in Psi(q_a) x_a and their sums are whole multiples, up to 2^52, of one number, and so exact. What is left of the
increment is 2^-24 of it, and so are its roundings.

Roundings that seem random are not: multiplying by h = 0.2, nearly 1/5, rounds to one side by as much as a tenth of a
unit, and by the same amount wherever the motion comes back. Hence also `response`, for the rounding of xi itself.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.schemes.scheme import compensate


def round_to_half(x: Array) -> Array:
    """x to half the digits: whole multiples of one number, 2^-24 to 2^-26 of the sum of |x|.

    >>> near = round_to_half(jnp.array([1.0, 0.1]))
    >>> bool(0 < abs(near[1] - 0.1) < 2**-24), float(near[1] * 2**25) % 1
    (True, 0.0)
    """
    far = 2.0 ** (jnp.finfo(x.dtype).nmant // 2 + 2) * jnp.sum(jnp.abs(x))
    return (x + far) - far


def computed_from(function: Callable[[Array], Array], x: Array) -> bool:
    """Whether a function, as it is traced, leads from x to its result."""
    traced = jax.make_jaxpr(function)(x).jaxpr
    needed = {v for v in traced.outvars if not hasattr(v, "val")}  # a literal has one
    for equation in reversed(traced.eqns):
        if needed.intersection(equation.outvars):
            needed.update(v for v in equation.invars if not hasattr(v, "val"))
    return traced.invars[0] in needed


def affine(function: Callable[[Array], Array], x: Array) -> bool:
    """Whether a function is seen to be affine in x and not constant: its derivative is computed without x.

    >>> affine(lambda q: 2 * q[::-1] + 1, jnp.ones(3)), affine(lambda q: q * q, jnp.ones(3))
    (True, False)
    """

    def derivative(x: Array) -> Array:
        return jax.jvp(function, (x,), (jnp.ones_like(x),))[1]

    return computed_from(function, x) and not computed_from(derivative, x)


def increment(
    frame: Callable[[Array], Array], q: Array, low: Array, tau: Array | float, x: Array, d: Array
) -> tuple[Array, Array]:
    """d = Psi(q + low + tau d) x, Psi affine, in two parts, the second what the first rounds off; from d as of doubles.

    One step of Newton's method, which is the whole way where Psi is affine.
    """
    coarse_x, none = round_to_half(x), jnp.zeros_like(q)
    middle, left = compensate(q, none, tau * d)
    coarse = round_to_half(middle)
    _, along = jax.jvp(lambda q: frame(q) @ x, (coarse,), ((middle - coarse) + (left + low),))
    image, below = compensate(frame(coarse) @ coarse_x, none, frame(coarse) @ (x - coarse_x) + along)
    return compensate(d, none, response(frame, coarse, tau, x, (image - d) + below))


def response(frame: Callable[[Array], Array], middle: Array, tau: Array | float, x: Array, change: Array) -> Array:
    """(1 - tau d(Psi x)/dq)^-1 change: what d = Psi(q + tau d) x makes of a change of its right side.

    To first order; `middle` is q + tau d.
    """
    return jnp.linalg.solve(jnp.eye(len(middle)) - tau * jax.jacfwd(lambda q: frame(q) @ x)(middle), change)
