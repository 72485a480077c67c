"""A Hamiltonised system on a box of shapes, as polynomials found once: what a step then evaluates is short."""

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.polynomial import chebyshev

from discrete_hamel._support.pytrees import Pytree

SOME, MOST = 24, 48  # coefficients along a shape, of degrees below that: of a box that is sought, and of one's own
SUM = 2400  # coefficients in all of one that is sought: with these the first call takes 3 CPU s, and a step 30 us
ROUNDING = 1e-12  # of the largest coefficient, below which the last ones have to be


class Tables(Pytree):
    """Polynomials ln f, f^2 G, U and A of the shapes on place +- half, of one total degree, in Chebyshev's basis."""

    coefficients: Array  # (tables, n, ..., n)
    place: Array
    half: Array

    def inside(self, r: Array) -> Array:
        """Whether r lies in the box."""
        return jnp.all(jnp.abs(r - self.place) <= self.half)

    def values(self, r: Array, which: slice = slice(None)) -> Array:
        """The tables at r."""
        n = self.coefficients.shape[1]
        bases = [_basis(x, n) for x in (r - self.place) / self.half]
        return _contract(self.coefficients[which], bases, n)

    def lagrangian(self, r: Array, w: Array) -> Array:
        """w f^2 G w / 2 - U + <A, w>; no number outside the box."""
        m = len(r)
        pairs = np.triu_indices(m)
        _, *found = self.values(r)
        products = jnp.stack([w[a] * w[b] / (1 + (a == b)) for a, b in zip(*pairs, strict=True)])
        kinetic, rest, potential = jnp.stack(found[: len(pairs[0])]), found[len(pairs[0])], found[len(pairs[0]) + 1 :]
        whole = kinetic @ products + rest
        if potential:
            whole += jnp.stack(potential) @ w[1:]
        return whole * jnp.where(self.inside(r), 1.0, jnp.nan)


def _basis(x: Array, n: int) -> list[Array]:
    """T_0, ..., T_{n-1} at x."""
    found = [jnp.ones_like(x), x]
    while len(found) < n:
        found.append(2 * x * found[-1] - found[-2])
    return found


def _contract(coefficients: Array, bases: Sequence[list[Array]], n: int) -> Array:
    """sum over i + j + ... < n of c_ij.. T_i T_j ..., for all tables."""
    first, *others = bases
    if not others:
        return coefficients[:, :n] @ jnp.stack(first[:n])
    return sum((first[i] * _contract(coefficients[:, i], others, n - i) for i in range(n)), jnp.zeros(()))


def tables_on(at: Callable, place: np.ndarray, half: np.ndarray, own: bool) -> Tables | None:
    """The tables of the lowest degree that resolves them to round-off; None if that is too high.

    `own` is a box that was asked for, so that it may take longer. at(r) of rows r gives d ln f, M, G and -U.
    """
    m, n = len(place), MOST if own else SOME
    nodes = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    grid = np.stack(np.meshgrid(*[nodes] * m, indexing="ij"), -1).reshape(-1, m)
    slopes, magnetic, mass, rest = (np.asarray(a) for a in at(place + half * grid))
    to = _Transform(nodes, half)
    logarithm = to.potential(slopes)
    factor = np.exp(chebyshev_at(grid, logarithm))
    tables = [
        logarithm,
        *(to.coefficients(factor**2 * mass[:, a, b]) for a, b in zip(*np.triu_indices(m), strict=True)),
    ]
    tables.append(to.coefficients(rest))
    if np.max(np.abs(magnetic)) > 0:
        turned = factor[:, None, None] * magnetic
        tables += [to.potential(turned[:, :b, b]) for b in range(1, m)]
    total = np.sum(np.indices((n,) * m), axis=0)
    least = max(_degree(c, total) for c in (*tables, *(to.coefficients(slope) for slope in slopes.T))) + 1
    if least > n - 2 or not own and np.count_nonzero(total < least) * len(tables) > SUM:
        return None
    kept = np.where(total < least, np.stack(tables), 0.0)[(slice(None),) + (slice(0, least),) * m]
    return Tables(jnp.asarray(kept), jnp.asarray(place), jnp.asarray(half))


def _degree(coefficients: np.ndarray, total: np.ndarray) -> int:
    """The largest total degree of a coefficient that is not round-off."""
    sizes = np.abs(coefficients)
    return int(np.max(total[sizes > ROUNDING * max(1e-3, np.max(sizes))], initial=0))


def chebyshev_at(x: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """A polynomial at rows x of [-1, 1]^m."""
    found = np.broadcast_to(coefficients, (len(x), *coefficients.shape))
    for column in x.T:
        found = np.einsum("si,si...->s...", chebyshev.chebvander(column, coefficients.shape[0] - 1), found)
    return found


class _Transform:
    """From values at the nodes to coefficients."""

    def __init__(self, nodes: np.ndarray, half: np.ndarray) -> None:
        n = len(nodes)
        self.n, self.m, self.half = n, len(half), half
        self.inverse = np.linalg.inv(chebyshev.chebvander(nodes, n - 1))
        self.at_place = chebyshev.chebvander(np.zeros(1), n - 1)[0]

    def coefficients(self, values: np.ndarray) -> np.ndarray:
        """Of a function with these values at the nodes."""
        found = values.reshape((self.n,) * self.m)
        for axis in range(self.m):
            found = np.moveaxis(np.tensordot(self.inverse, found, (1, axis)), 0, axis)
        return found

    def potential(self, slopes: np.ndarray) -> np.ndarray:
        """Of sum_a int slope_a dx^a, from the place along one axis after another, slope_a at rows; it is closed."""
        whole = np.zeros((self.n,) * self.m)
        for a, values in enumerate(slopes.T):
            c = self.coefficients(values)
            for before in range(a):  # at the place along the axes before
                c = np.expand_dims(np.tensordot(self.at_place, c, (0, before)), before)
            grown = self.half[a] * chebyshev.chebint(c, axis=a, lbnd=0)
            whole[tuple(slice(0, size) for size in c.shape)] += grown[(slice(None),) * a + (slice(0, self.n),)]
        return whole
