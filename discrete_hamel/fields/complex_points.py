"""Points of the plane as complex numbers, and as the coordinates (x_0, y_0, x_1, ..) of a system."""

import jax.numpy as jnp
from jax import Array, lax


def complex_of(pairs: Array) -> Array:
    """(x_0, y_0, x_1, ..) as complex numbers."""
    return lax.complex(pairs[0::2], pairs[1::2])


def pairs_of(z: Array) -> Array:
    """Complex numbers as (x_0, y_0, x_1, ..)."""
    return jnp.stack([z.real, z.imag], axis=1).ravel()


def square(z: Array) -> Array:
    """|z|^2, differentiable at 0."""
    return z.real**2 + z.imag**2


def points_along(first: Array, steps: Array) -> Array:
    """The points from the first one, step by step."""
    return first + jnp.concatenate([jnp.zeros(1, steps.dtype), jnp.cumsum(steps)])
