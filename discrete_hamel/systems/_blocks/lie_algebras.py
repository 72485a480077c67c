"""Lie algebras by their structure constants, and the Euler-Poincare(-Suslov) equations on any of them."""

from collections.abc import Sequence
from dataclasses import field

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.adapted_frames import reflect
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import physical


def bracket_of(basis: ArrayLike) -> np.ndarray:
    """c[k, i, j] of [e_i, e_j] = c^k_ij e_k for square matrices e_i that span an algebra under the commutator.

    >>> rotation, along, across = np.zeros((3, 3, 3))
    >>> rotation[0, 1], rotation[1, 0], along[0, 2], across[1, 2] = -1, 1, 1, 1
    >>> bool(np.allclose(bracket_of([rotation, along, across]), SE2))
    True
    """
    e = np.asarray(basis, float)
    n = len(e)
    products = np.einsum("iab,jbc->ijac", e, e)
    commutators = (products - products.swapaxes(0, 1)).reshape(n * n, -1)
    components, *_ = np.linalg.lstsq(e.reshape(n, -1).T, commutators.T)
    miss = np.max(np.abs(e.reshape(n, -1).T @ components - commutators.T), initial=0.0)
    if miss > 1e-10 * max(1.0, np.max(np.abs(commutators), initial=0.0)):
        raise InputError(f"the matrices do not span a Lie algebra: a commutator lies off their span by {miss:.3g}.")
    return components.reshape(n, n, n)


def constants(n: int, *brackets: tuple[int, int, int, float]) -> np.ndarray:
    """c[k, i, j] from terms (i, j, k, value) of the brackets [e_i, e_j], each with its opposite."""
    c = np.zeros((n, n, n))
    for i, j, k, value in brackets:
        c[k, i, j], c[k, j, i] = value, -value
    return c


SO3 = constants(3, (0, 1, 2, 1.0), (1, 2, 0, 1.0), (2, 0, 1, 1.0))  # body frames: c[k, i, j] = epsilon_ijk
SE2 = constants(3, (0, 1, 2, 1.0), (0, 2, 1, -1.0))  # (turn, along, across)
HEISENBERG = constants(3, (0, 1, 2, 1.0))  # [e_1, e_2] = e_3
AFFINE = constants(2, (0, 1, 1, 1.0))  # of the line; not unimodular


def rotations_of(n: int) -> np.ndarray:
    """so(n) in the basis E_ab = e_a e_b^T - e_b e_a^T, a < b, those that turn the last axis (b = n) first."""
    return bracket_of(rotation_basis(n))


def rotation_basis(n: int) -> np.ndarray:
    """The matrices of `rotations_of`, (n (n - 1) / 2, n, n)."""
    pairs = [(a, n - 1) for a in range(n - 1)] + [(a, b) for b in range(n - 1) for a in range(b)]
    basis = np.zeros((len(pairs), n, n))
    for e, (a, b) in zip(basis, pairs, strict=True):
        e[a, b], e[b, a] = 1.0, -1.0
    return basis


def metric_matrix(inertia: ArrayLike) -> Array:
    """A full symmetric matrix, or a vector for a diagonal one."""
    inertia = jnp.asarray(inertia, float)
    return jnp.diag(inertia) if inertia.ndim == 1 else inertia


def _number_of(covectors: Sequence | Array) -> int:
    """One, or as many as there are rows."""
    depth = np.ndim(covectors) if hasattr(covectors, "ndim") else 1 + np.ndim(covectors[0])
    return len(covectors) if depth == 2 else 1


def adapted_basis(covectors: ArrayLike) -> Array:
    """T, n x n: its first n - k columns span the kernel of k covectors a, a T = (0 | 1) on the others.

    One Householder reflection a covector, in plain arithmetic (traced, differentiable, cheap to compile). Where a is
    the last axis, the first columns are the other axes.
    """
    rows = jnp.atleast_2d(jnp.asarray(covectors, float))
    k, n = rows.shape
    reflections, _ = reflect(rows, range(n - k, n))
    dual = rows.T / (rows[0] @ rows[0]) if k == 1 else jnp.linalg.solve(rows @ rows.T, rows).T
    return jnp.concatenate([reflections[:, : n - k], dual], axis=1)


def adapted_structure(algebra: ArrayLike, covectors: ArrayLike) -> Array:
    """The structure constants in the basis `adapted_basis`, whose inverse is its own columns and the covectors."""
    basis, rows = adapted_basis(covectors), jnp.atleast_2d(jnp.asarray(covectors, float))
    inverse = jnp.concatenate([basis[:, : len(basis) - len(rows)].T, rows])
    return jnp.einsum("lk,kij,ia,jb->lab", inverse, jnp.asarray(algebra, float), basis, basis)


class EulerPoincare(System):
    """A generalised rigid body: motion on a Lie group with left-invariant kinetic energy, seen in its algebra.

    No coordinates (q is empty: the system is reduced). Quasi-velocities xi: the components of g^-1 g' in the basis of
    the algebra, whose structure constants are c[k, i, j] (`algebras` has several, and `bracket_of` makes them).

        l = xi . I xi / 2,   p_j' = c^k_ij p_k xi^i,  p = I xi                [QS] (2.23), (5.3); [ND] (12)

    Energy is exact. Phase volume is kept if and only if the group is unimodular, c^k_ik = 0, [QS] Theorem 5.1.
    """

    algebra: ArrayLike = field(default_factory=SO3.copy)  # structure constants c[k, i, j], n x n x n
    inertia: ArrayLike = (1.0, 2.0, 3.0)  # kg m^2, n x n matrix or its diagonal

    coordinates = ()

    @property
    def rank(self) -> int:
        return len(self.algebra)  # type: ignore[arg-type]  # which has rows

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as the algebra has dimensions
        return tuple(f"xi{i + 1}" for i in range(self.rank))

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * xi @ metric_matrix(self.inertia) @ xi

    def frame(self, q: Array) -> Array:
        return jnp.zeros((0, self.rank))

    def structure(self, q: Array) -> Array:
        return jnp.asarray(self.algebra)

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.lagrangian, "exact")}

    def check(self) -> None:
        lie_algebra(self)
        physical.shape(self, "inertia", (self.rank,), (self.rank, self.rank))
        physical.metric(self, "inertia")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Nothing: where the body is has been reduced away."""
        return []

    def sample(self) -> dict:
        """A mix of all directions."""
        return {"q": (), "xi": tuple(0.3 + 0.5 * (-1) ** i for i in range(self.rank)), "h": 0.05}


class EulerPoincareSuslov(System):
    """A generalised rigid body whose velocity Omega = g^-1 g' is held in the kernel of fixed covectors a.

    No coordinates (q is empty: the system is reduced). Quasi-velocities: Omega = T xi (`omega`) in the adapted basis T
    of `adapted_basis`, so that the last k of xi are <a, Omega> = 0.

        l = Omega . I Omega / 2,   p_j' = c^k_ij p_k Omega^i + lambda a_j,   <a, Omega> = 0        [QS] (5.4); [ND] (14)

    Energy is exact. There is an invariant measure if and only if K c^k_ij I^ig a_g a_k + c^k_jk = mu a_j for some mu,
    K = 1 / <a, I^-1 a>: [QS] (5.6), [ND] (15).
    """

    algebra: ArrayLike = field(default_factory=SO3.copy)  # structure constants c[k, i, j], n x n x n
    inertia: ArrayLike = (1.0, 2.0, 3.0)  # kg m^2, n x n matrix or its diagonal
    constraint: ArrayLike = (0.3, 0.2, 1.0)  # covector a, or k of them as rows

    coordinates = ()

    @property
    def dimension(self) -> int:
        """Of the algebra."""
        return len(self.algebra)  # type: ignore[arg-type]  # which has rows

    @property
    def rank(self) -> int:
        return self.dimension - _number_of(self.constraint)  # type: ignore[arg-type]

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as the algebra has dimensions
        free = tuple(f"xi{i + 1}" for i in range(self.rank))
        return free + tuple(f"<a{i + 1}, Omega>" for i in range(self.dimension - self.rank))

    def omega(self, xi: Array) -> Array:
        """Omega = T xi, n components; of the first m only: on the constraint."""
        return adapted_basis(self.constraint)[:, : len(xi)] @ xi

    def lagrangian(self, q: Array, xi: Array) -> Array:
        omega = self.omega(xi)
        return 0.5 * omega @ metric_matrix(self.inertia) @ omega

    def frame(self, q: Array) -> Array:
        return jnp.zeros((0, self.dimension))

    def structure(self, q: Array) -> Array:
        return adapted_structure(self.algebra, self.constraint)

    def invariants(self) -> dict[str, Invariant]:
        return {"energy": Invariant(self.lagrangian, "exact")}

    def check(self) -> None:
        lie_algebra(self)
        n = self.dimension
        physical.shape(self, "inertia", (n,), (n, n))
        physical.metric(self, "inertia")
        physical.shape(self, "constraint", (n,), (n - self.rank, n))
        physical.independent_rows(self, "constraint")

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Nothing: where the body is has been reduced away."""
        return []

    def sample(self) -> dict:
        """A mix of all free directions."""
        return {"q": (), "xi": tuple(0.3 + 0.5 * (-1) ** i for i in range(self.rank)), "h": 0.05}


def lie_algebra(system: "EulerPoincare | EulerPoincareSuslov") -> None:
    """Refuse an `algebra` that is not n x n x n, antisymmetric and subject to Jacobi's identity."""
    c = np.asarray(system.algebra)
    name = f"the parameter algebra of {type(system).__name__}"
    if c.ndim != 3 or len(set(c.shape)) != 1:
        raise InputError(f"{name} must be the structure constants c[k, i, j], n x n x n; it has shape {c.shape}.")
    if np.max(np.abs(c + c.swapaxes(1, 2))) > 1e-10:
        raise InputError(f"{name} must be antisymmetric in its last two indices: [e_i, e_j] = c[k, i, j] e_k.")
    twice = np.einsum("lmk,mij->lijk", c, c)
    if np.max(np.abs(twice + twice.transpose(0, 2, 3, 1) + twice.transpose(0, 3, 1, 2))) > 1e-10:
        raise InputError(f"{name} must satisfy Jacobi's identity to be that of a Lie algebra.")
