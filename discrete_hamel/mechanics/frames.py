"""Frames: brackets and change of frame; pure functions of `frame(q)`.

A frame is a function q -> Psi(q), an N x n matrix whose columns are the fields u_1..u_n, qdot = Psi(q) xi.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

Frame = Callable[[Array], Array]
Structure = Callable[[Array], Array]


def left_inverse(psi: Array, velocity: Array) -> Array:
    """Psi^+ v with Psi^+ = (Psi^T Psi)^{-1} Psi^T, for independent columns; the inverse when Psi is square."""
    if psi.shape[0] == psi.shape[1]:
        return jnp.linalg.solve(psi, velocity)
    return jnp.linalg.solve(psi.T @ psi, psi.T @ velocity)


def _pull_up(psi: Array, momentum: Array) -> Array:
    """(Psi^+)^T mu: a covector in coordinates whose components in the frame are mu."""
    if psi.shape[0] == psi.shape[1]:
        return jnp.linalg.solve(psi.T, momentum)
    return psi @ jnp.linalg.solve(psi.T @ psi, momentum)


def structure_functions(frame: Frame, q: Array) -> Array:
    """c[k, i, j] of [u_i, u_j] = c^k_ij u_k, as Psi^+ (D u_j [u_i] - D u_i [u_j]).   [HE] 2.3; [QS] (2.7)

    >>> import jax.numpy as jnp
    >>> spin = lambda q: jnp.array([[1.0, 0, 0], [0, jnp.cos(q[0]), -jnp.sin(q[0])], [0, jnp.sin(q[0]), jnp.cos(q[0])]])
    >>> float(structure_functions(spin, jnp.array([0.3, 0.0, 0.0]))[2, 0, 1])     # se(2): [u_1, u_2] = u_3
    1.0
    """
    psi = frame(q)
    derivative = jax.jacfwd(frame)(q)  # [a, j, b] = d Psi^a_j / d q^b
    along = jnp.einsum("ajb,bi->aij", derivative, psi)  # D u_j [u_i]
    bracket = along - jnp.swapaxes(along, 1, 2)
    coordinates, n = psi.shape
    return left_inverse(psi, bracket.reshape(coordinates, n * n)).reshape(n, n, n)


def coadjoint(frame: Frame, q: Array, xi: Array, momentum: Array) -> Array:
    """c^k_ij xi^i mu_k without forming c: with w = (Psi^+)^T mu and v = Psi xi it is w (D u_j [v] - D(Psi xi)[u_j])."""
    psi = frame(q)
    psi, along_velocity = jax.jvp(frame, (q,), (psi @ xi,))
    covector = _pull_up(psi, momentum)
    gradient = jax.grad(lambda point: covector @ (frame(point) @ xi))(q)
    return along_velocity.T @ covector - psi.T @ gradient


def coadjoint_by_maps(velocity: Callable, quasivelocity: Callable, q: Array, xi: Array, momentum: Array) -> Array:
    """The same from the maps xi -> Psi(q) xi and its inverse: no matrix is formed."""
    covector = jax.grad(lambda v: momentum @ quasivelocity(q, v))(jnp.zeros_like(q))
    v, along = jax.vjp(lambda point: velocity(point, xi), q)
    (gradient,) = along(covector)

    def work(eta: Array) -> Array:
        u, turning = jax.jvp(lambda point: velocity(point, eta), (q,), (v,))
        return covector @ turning - gradient @ u

    return jax.grad(work)(jnp.zeros_like(xi))


def transform_structure(frame: Frame, structure: Structure, transition: Frame, q: Array) -> Array:
    """The structure of the frame w_a = T^i_a(q) u_i, from a frame, its structure and T(q).

    [w_a, w_b] = (T^i_a T^j_b c^k_ij + w_a[T^k_b] - w_b[T^k_a]) u_k. Right also where the u_i are dependent
    as vectors and carry the bracket of an algebra (advected coordinates).
    """
    t = transition(q)
    derivative = jnp.einsum("kbx,xa->kab", jax.jacfwd(transition)(q), frame(q) @ t)  # w_a[T^k_b]
    bracket = jnp.einsum("kij,ia,jb->kab", structure(q), t, t) + derivative - jnp.swapaxes(derivative, 1, 2)
    return jnp.linalg.solve(t, bracket.reshape(len(t), -1)).reshape(bracket.shape)


def condition(matrix: np.ndarray) -> float:
    """Ratio of the largest to the smallest singular value; infinite for a singular or non-finite matrix."""
    if not np.all(np.isfinite(matrix)):
        return float("inf")
    sizes = np.linalg.svd(matrix, compute_uv=False)
    if not sizes.size:  # no coordinates
        return 1.0
    return float(sizes[0] / sizes[-1]) if sizes[-1] > 0 else float("inf")
