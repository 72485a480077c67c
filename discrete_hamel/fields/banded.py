"""Newton's method for equations that couple neighbours only, at a cost linear in their number.

The unknowns are an array (count, size): one block of `size` numbers a place. An equation at a place involves the blocks
there and next to it, so the Jacobian is block tridiagonal. It is found by 3 size directional derivatives (places three
apart do not meet, so they share a probe) and eliminated block after block: no dense matrix is ever formed.
"""

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.mechanics.newton import SMALL, Equations, Report, implicit, iterate_newton


def diagonals(linear: Equations, like: Array) -> tuple[Array, Array, Array]:
    """The lower, main and upper blocks, each (count, size, size), of a block-tridiagonal linear map.

    >>> lower, main, upper = diagonals(lambda x: 2 * x - jnp.roll(x, 1).at[0].set(0.0), jnp.zeros((4, 1)))
    >>> lower[:, 0, 0].tolist(), main[:, 0, 0].tolist()
    ([0.0, -1.0, -1.0, -1.0], [2.0, 2.0, 2.0, 2.0])
    """
    count, size = like.shape
    place = jnp.arange(count)
    at = (place[None] % 3 == jnp.arange(3)[:, None]).astype(like.dtype)  # (3, count)
    probes = at[:, None, :, None] * jnp.eye(size, dtype=like.dtype)[None, :, None, :]
    images = jax.vmap(jax.vmap(linear))(probes)  # (3, size, count, size): colour, column, place, row

    def diagonal(shift: int) -> Array:
        inside = (place + shift >= 0) & (place + shift < count)
        return jnp.where(inside[:, None, None], jnp.swapaxes(images[(place + shift) % 3, :, place], 1, 2), 0.0)

    return diagonal(-1), diagonal(0), diagonal(1)


def solve(lower: Array, main: Array, upper: Array, right: Array) -> Array:
    """x with L_k x_{k-1} + D_k x_k + U_k x_{k+1} = r_k: Thomas's elimination, without exchanging rows.

    >>> twos, right = jnp.full((2, 1, 1), 2.0), jnp.array([[3.0], [2.0]])
    >>> x = solve(0 * twos, twos, jnp.array([[[1.0]], [[0.0]]]), right)
    >>> x.ravel().tolist()
    [1.0, 1.0]
    """
    if right.shape[1] == 1:
        return lax.linalg.tridiagonal_solve(lower[:, 0, 0], main[:, 0, 0], upper[:, 0, 0], right)

    def down(carry: tuple, block: tuple) -> tuple:
        above, known = carry
        low, middle, high, r = block
        both = _eliminate(middle - low @ above, jnp.concatenate([high, (r - low @ known)[:, None]], axis=1))
        return (both[:, :-1], both[:, -1]), (both[:, :-1], both[:, -1])

    def up(below: Array, block: tuple) -> tuple:
        high, r = block
        x = r - high @ below
        return x, x

    first = (jnp.zeros_like(main[0]), jnp.zeros_like(right[0]))
    reduced: tuple
    _, reduced = lax.scan(down, first, (lower, main, upper, right))
    return lax.scan(up, first[1], reduced, reverse=True)[1]


def _eliminate(matrix: Array, right: Array) -> Array:
    """matrix^-1 right for a small matrix, unrolled: a library call a block would cost more than the arithmetic."""
    size = len(matrix)
    rows = [jnp.concatenate([matrix[i], right[i]]) for i in range(size)]
    for i in range(size):
        rows[i] = rows[i] / rows[i][i]
        for j in range(size):
            if j != i:
                rows[j] = rows[j] - rows[j][i] * rows[i]
    return jnp.stack(rows)[:, size:]


def root(residual: Equations, guess: Array, sizes: Array | None = None) -> tuple[Array, Report]:
    """z, (count, size), with residual(z) = 0 found from `guess`, and its Report; `newton.root` for neighbours.

    `sizes`, one for each of the `size` kinds of unknowns, are what their round-off is relative to: by default the
    largest of the kind, as an unknown that is small in places is a difference of large numbers there. Differentiable in
    both modes by the implicit function theorem.

    >>> z, report = root(lambda z: z**2 - jnp.array([[2.0], [3.0]]), jnp.ones((2, 1)))
    >>> [round(a, 12) for a in z.ravel().tolist()], bool(report.converged)
    ([1.414213562373, 1.732050807569], True)
    """

    return implicit(residual, guess, _newton, lambda linear, value: solve(*diagonals(linear, value), value), sizes)


def _newton(residual: Equations, guess: Array, beside: Array | None) -> tuple[Array, Report]:
    number = jnp.finfo(guess.dtype)
    largest = jnp.max(jnp.abs(guess), axis=0)
    sizes = largest + SMALL * jnp.max(largest) if beside is None else beside

    def correct(z: Array) -> Array:
        value, linear = jax.linearize(residual, z)
        return solve(*diagonals(linear, z), -value)

    def weigh(z: Array) -> Array:
        scale = jnp.maximum(sizes, jnp.max(jnp.abs(z), axis=0))  # a guess of zeros has none of its own
        return (1 / (number.eps * (scale + number.tiny**0.25)))[None]

    z, converged, count, _ = iterate_newton(correct, weigh, jnp.max, guess)
    return z, Report(converged, count, jnp.linalg.norm(residual(z)))
