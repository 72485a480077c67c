"""A string on ice: no point of it moves sideways, so it follows its front end."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.hamel import reactions
from discrete_hamel.system import System


def followed(links: Array, first: Array, sideways: Array, stretching: Array) -> Array:
    """The points' velocities (complex), from the front's: on each link the edge forbids sideways motion at its middle.

    Links are unit vectors that point ahead, from the front backwards; along a link the velocity falls by `stretching`,
    and across it its mean is `sideways`. Where both vanish, v_{k+1} is v_k mirrored at the link: all speeds are equal.

    >>> v = followed(jnp.exp(1j * jnp.array([0.1, 0.3])), jnp.asarray(2.0 + 0j), jnp.zeros(2), jnp.zeros(2))
    >>> np.abs(v).round(12).tolist(), np.angle(v).round(12).tolist()
    ([2.0, 2.0, 2.0], [0.0, 0.2, 0.4])
    """

    # With every other velocity conjugated, u_{k+1} = g_k u_k + d_k, |g_k| = 1: sums of angles, and one weighted sum.
    # The sums are products with a matrix of ones and zeros, as the frame is dense anyhow and these compile faster.
    size = len(links)
    sums, parity = jnp.tril(jnp.ones((size, size))), (-1.0) ** np.arange(1, size + 1)
    angles = 2 * (sums @ (parity * jnp.arctan2(links.imag, links.real)))
    turned = lax.complex(jnp.cos(angles), jnp.sin(angles))
    added = jnp.conj(turned) * _where(parity, links / jnp.abs(links) * lax.complex(-stretching, 2 * sideways))
    rest = turned * (first + lax.complex(sums @ added.real, sums @ added.imag))
    return jnp.concatenate([first[None], _where(parity, rest)])


def _where(parity: np.ndarray, z: Array) -> Array:
    """z, conjugated where the parity is -1."""
    return lax.complex(z.real, parity * z.imag)


@jax.jit
def held(system: System, q: Array, xi: Array) -> Array:
    """The reactions to what is constrained, compiled: forces, one for each of xi^U."""
    return reactions(system, q, xi)


def trailed(front: Array, links: Array, spacing: Any) -> Array:
    """The points (complex) behind the front."""
    return front - spacing * jnp.concatenate([jnp.zeros(1, links.dtype), jnp.cumsum(links)])


def complex_of(pairs: Array) -> Array:
    """(x_0, y_0, x_1, ..) as complex numbers."""
    return lax.complex(pairs[0::2], pairs[1::2])


def pairs_of(z: Array) -> Array:
    """Complex numbers as (x_0, y_0, x_1, ..)."""
    return jnp.stack([z.real, z.imag], axis=1).ravel()


def square(z: Array) -> Array:
    """|z|^2, differentiable at 0."""
    return z.real**2 + z.imag**2


def drawn(z: Any) -> np.ndarray:
    """The points as a polyline."""
    return np.column_stack([np.real(z), np.imag(z)])
