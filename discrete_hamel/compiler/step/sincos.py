"""sin and cos by polynomials, for lanes: the library's stop XLA from vectorising the loop they are in.

Cody and Waite's reduction x - k pi/2 in three parts, then the kernels of fdlibm on |r| <= pi/4. The error is below
2.3e-16 where |x| <= REACH. Beyond, the parts of pi/2 no longer suffice and the value is NaN, so that nothing wrong can
pass unseen: the step then fails in its lane, and the plain path takes it. All this is about float64.
"""

import jax.numpy as jnp
from jax import Array

REACH = 1e6  # k < 2^20, so that k times the first two parts of pi/2, of 33 bits each, is exact

TWO_OVER_PI = 0.63661977236758134308
PARTS = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)  # of pi/2, fdlibm's
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def _polynomial(coefficients: tuple[float, ...], z: Array) -> Array:
    total = jnp.full_like(z, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = c + z * total
    return total


def reduced(x: Array) -> Array:
    """r = x - k pi/2 with |r| <= pi/4; NaN beyond REACH."""
    k, r = jnp.round(x * TWO_OVER_PI), x
    for part in PARTS:
        r = r - k * part
    return jnp.where(jnp.abs(x) <= REACH, r, jnp.nan)


def quadrant(x: Array) -> Array:
    """k mod 4."""
    k = jnp.round(x * TWO_OVER_PI)
    return k - 4 * jnp.floor(k * 0.25)


def near_sine(r: Array) -> Array:
    """sin r for |r| <= pi/4."""
    z = r * r
    return r + r * z * _polynomial(SINE, z)


def near_cosine(r: Array) -> Array:
    """cos r for |r| <= pi/4."""
    z = r * r
    half = 0.5 * z
    near = 1 - half  # and what rounding took off it goes back with the small terms
    return near + (((1 - near) - half) + z * z * _polynomial(COSINE, z))


def turned_sine(quadrant: Array, sine: Array, cosine: Array) -> Array:
    """sin x from sin r and cos r."""
    value = jnp.where((quadrant == 1) | (quadrant == 3), cosine, sine)
    return jnp.where(quadrant >= 2, -value, value)


def turned_cosine(quadrant: Array, sine: Array, cosine: Array) -> Array:
    """cos x from sin r and cos r."""
    value = jnp.where((quadrant == 1) | (quadrant == 3), sine, cosine)
    return jnp.where((quadrant == 1) | (quadrant == 2), -value, value)


def sin(x: Array) -> Array:
    """sin x, to 2.3e-16 for |x| <= REACH, NaN beyond.

    >>> float(abs(sin(jnp.asarray(1000.0)) - jnp.sin(1000.0))) < 2.3e-16
    True
    """
    r = reduced(x)
    return turned_sine(quadrant(x), near_sine(r), near_cosine(r))


def cos(x: Array) -> Array:
    """cos x, to 2.3e-16 for |x| <= REACH, NaN beyond.

    >>> bool(jnp.isnan(cos(jnp.asarray(1e7))))
    True
    """
    r = reduced(x)
    return turned_cosine(quadrant(x), near_sine(r), near_cosine(r))
