"""Matrix groups by a basis of their algebra: which entries of a matrix move, brackets, Ad, and what stays on them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.systems._blocks.lie_algebras import bracket_of, rotation_basis

IN_ALGEBRA = 1e-10  # how far a matrix may lie off the span of the basis, relative to its size
DRAWS = 8  # elements of the algebra at which cubes are asked for


@dataclass(frozen=True)
class Group:
    """A group of n x n matrices, given by a basis of its algebra; made by `SO`, `SE`, `SL`, ..., `matrix_group`.

    Its coordinates q are the entries that move along the group, row by row: 9 of SO(3), 12 of SE(3), 3 of Heisenberg's.

    >>> import discrete_hamel as dh
    >>> dh.groups.SE(3), dh.groups.SE(3).size, dh.groups.SE(3).dimension
    (SE(3), 12, 6)
    """

    name: str  # which it prints as
    rows: tuple[tuple[tuple[float, ...], ...], ...]  # the basis; as tuples, so that equal groups share a compilation
    relations: Callable[[Array], Array] | None = None  # of a matrix, zero on the group: g^T g - 1, det g - 1

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def basis(self) -> np.ndarray:
        """E_i, (dimension, n, n)."""
        return np.asarray(self.rows, float)

    @property
    def dimension(self) -> int:
        return len(self.rows)

    @property
    def identity(self) -> Array:
        """q of the identity."""
        return self.entries(jnp.eye(self.basis.shape[1]))

    @property
    def size(self) -> int:
        """How many entries move."""
        return len(self.places[0])

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries that products of the E_i can reach; all others are those of 1."""
        reached = np.any(self.basis != 0.0, axis=0)
        while True:
            more = reached | (reached.astype(int) @ reached.astype(int) > 0)
            if np.array_equal(more, reached):
                rows, columns = np.nonzero(reached)
                return rows, columns
            reached = more

    @cached_property
    def algebra(self) -> np.ndarray:
        """c[k, i, j] of [E_i, E_j] = c^k_ij E_k."""
        return bracket_of(self.basis)

    @cached_property
    def _dual(self) -> np.ndarray:
        flat = self.basis.reshape(self.dimension, -1)
        return np.linalg.solve(flat @ flat.T, flat)

    def matrix(self, q: Array) -> Array:
        """g of its moving entries."""
        rows, columns = self.places
        return jnp.eye(self.basis.shape[1], dtype=jnp.asarray(q).dtype).at[rows, columns].set(q)

    def entries(self, g: Array | np.ndarray) -> Array:
        """q, the moving entries of g; of a matrix g' those of its rate."""
        return jnp.asarray(g)[self.places]

    def hat(self, xi: Array) -> Array:
        """xi^i E_i."""
        return jnp.einsum("i,iab->ab", xi, self.basis)

    def vee(self, matrix: Array | np.ndarray) -> Array:
        """The components of a matrix of the algebra; of any other those of the nearest."""
        return jnp.asarray(self._dual) @ jnp.asarray(matrix).reshape(-1)

    def adjoint(self, g: Array) -> Array:
        """Ad_g: the components of g E_j g^-1 as columns.

        >>> import discrete_hamel as dh, jax.numpy as jnp
        >>> turn = jnp.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
        >>> bool(jnp.allclose(dh.groups.SO(3).adjoint(turn), turn))     # in the basis of `SO`, E_i = e_i x
        True
        """
        moved = jnp.einsum("ab,jbc->jac", g, self.basis)
        turned = jnp.linalg.solve(g.T, moved.swapaxes(1, 2).swapaxes(0, 1).reshape(len(g), -1))
        turned = turned.reshape(len(g), self.dimension, len(g))  # [c, j, a] of (g E_j g^-1)^T = g^-T (g E_j)^T
        return jnp.einsum("iac,cja->ij", self._dual.reshape(self.basis.shape), turned)

    def off(self, g: Array | np.ndarray) -> float:
        """How far a matrix is off the group: the largest of its relations, and of entries that cannot move."""
        g = np.asarray(g, float)
        still = np.max(np.abs(g - np.asarray(self.matrix(self.entries(g)))), initial=0.0)
        if self.relations is None:
            return float(still)
        return float(np.max(np.abs(np.asarray(self.relations(jnp.asarray(g)))), initial=still))

    def in_algebra(self, matrix: Array | np.ndarray) -> bool:
        """Whether a matrix lies in the span of the E_i, to round-off."""
        matrix = np.asarray(matrix, float)
        miss = matrix - np.asarray(self.hat(self.vee(matrix)))
        return bool(np.max(np.abs(miss)) <= IN_ALGEBRA * max(1.0, np.max(np.abs(matrix))))

    @cached_property
    def keeps_cayley(self) -> bool:
        """Whether Cayley's map stays on the group, and with it the linear average of DiscreteHamel at tau = 1/2.

        The rate of cay(s X) is cay(s X) X (1 - s^2 X^2 / 4)^-1, so it does if and only if odd powers of X in the
        algebra are in the algebra, for which cubes suffice: X^3 by polarisation makes Y^2 X + Y X Y + X Y^2, so X^5.
        True of {g: g^T P g = P}, of affine maps with such linear parts and of unipotent groups; false of SL(n), n > 2.

        >>> import discrete_hamel as dh
        >>> dh.groups.SE(3).keeps_cayley, dh.groups.SL(2).keeps_cayley, dh.groups.SL(3).keeps_cayley
        (True, True, False)
        """
        draws = np.random.default_rng(0).normal(size=(DRAWS, self.dimension))
        cubes = (np.linalg.matrix_power(np.einsum("i,iab->ab", xi, self.basis), 3) for xi in draws)
        return all(self.in_algebra(cube) for cube in cubes)

    def __mul__(self, other: "Group") -> "Group":
        """The product of two groups, as block matrices."""
        return product(self, other)


def matrix_group(basis: ArrayLike, *, relations: Callable[[Array], Array] | None = None, name: str = "") -> Group:
    """Returns the group of a basis of its algebra, k square matrices; `relations(g)`, if given, is zero on the group.

    >>> import discrete_hamel as dh, numpy as np
    >>> scale, shift = np.array([[1.0, 0], [0, 0]]), np.array([[0.0, 1], [0, 0]])
    >>> affine = dh.groups.matrix_group([scale, shift], name="affine maps of the line")
    >>> affine.size, affine.keeps_cayley
    (2, True)
    """
    basis = np.asarray(basis, float)
    if basis.ndim != 3 or basis.shape[1] != basis.shape[2]:
        raise InputError(f"a basis is k square matrices, an array (k, n, n); it has shape {basis.shape}.")
    if np.linalg.matrix_rank(basis.reshape(len(basis), -1)) < len(basis):
        raise InputError(f"the {len(basis)} matrices of the basis are linearly dependent: give independent ones.")
    bracket_of(basis)  # refuses what is no algebra
    rows = tuple(tuple(map(tuple, matrix.tolist())) for matrix in basis)
    return Group(name or f"a group of dimension {len(basis)}", rows, relations)


def _refuse_size(name: str, n: int, least: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < least:
        raise InputError(f"n is {n!r}; {name}(n) has a whole number n, {least} or more.")


def SO(n: int) -> Group:
    """Returns the rotations of R^n. In SO(3) E_i = e_i x, so that xi is the angular velocity; else the basis of
    `rotations_of`.
    """
    _refuse_size("SO", n, 2)
    basis = np.stack([np.cross(axis, np.eye(3)).T for axis in np.eye(3)]) if n == 3 else rotation_basis(n)
    return matrix_group(basis, relations=_Orthogonal(n), name=f"SO({n})")


def SE(n: int) -> Group:
    """Returns the motions of R^n, (n+1) x (n+1) matrices [[R, x], [0, 1]]: the turns of SO(n) first, then the n
    translations.
    """
    _refuse_size("SE", n, 2)
    turns = SO(n).basis
    basis = np.zeros((len(turns) + n, n + 1, n + 1))
    basis[: len(turns), :n, :n] = turns if n != 2 else -turns  # of the plane: counter-clockwise
    basis[len(turns) + np.arange(n), np.arange(n), n] = 1.0
    return matrix_group(basis, relations=_Orthogonal(n), name=f"SE({n})")


def SL(n: int) -> Group:
    """Returns the group of n x n matrices of determinant 1: E_ab for a != b, row by row, then E_aa - E_(a+1)(a+1)."""
    _refuse_size("SL", n, 2)
    places = [(a, b) for a in range(n) for b in range(n) if a != b]
    basis = np.zeros((n * n - 1, n, n))
    for e, (a, b) in zip(basis, places, strict=False):
        e[a, b] = 1.0
    for a in range(n - 1):
        basis[len(places) + a, [a, a + 1], [a, a + 1]] = 1.0, -1.0
    return matrix_group(basis, relations=_determinant, name=f"SL({n})")


def Heisenberg(n: int = 1) -> Group:
    """Returns the group of [[1, a, c], [0, 1, b], [0, 0, 1]], a, b in R^n: a first, then b, then c; [a_i, b_i] = c."""
    _refuse_size("Heisenberg", n, 1)
    basis = np.zeros((2 * n + 1, n + 2, n + 2))
    basis[np.arange(n), 0, 1 + np.arange(n)] = 1.0
    basis[n + np.arange(n), 1 + np.arange(n), n + 1] = 1.0
    basis[2 * n, 0, n + 1] = 1.0
    return matrix_group(basis, name="Heisenberg" if n == 1 else f"Heisenberg({n})")


def product(*groups: Group) -> Group:
    """Returns the product of groups, as block matrices; its basis is theirs, one after the other."""
    sizes = [group.basis.shape[1] for group in groups]
    ends = np.cumsum([0, *sizes])
    basis = np.zeros((sum(group.dimension for group in groups), ends[-1], ends[-1]))
    first = 0
    for group, start, end in zip(groups, ends, ends[1:], strict=False):
        basis[first : first + group.dimension, start:end, start:end] = group.basis
        first += group.dimension
    parts = zip((group.relations for group in groups), ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return matrix_group(basis, relations=_Parts(tuple(parts)), name=" x ".join(group.name for group in groups))


@dataclass(frozen=True)
class _Orthogonal:
    """The entries of R^T R - 1 on and above the diagonal, R the first n rows and columns."""

    n: int

    def __call__(self, g: Array) -> Array:
        r = g[: self.n, : self.n]
        return (r.T @ r - jnp.eye(self.n))[np.triu_indices(self.n)]


def _determinant(g: Array) -> Array:
    """det g - 1, by cofactors where they are few: in plain arithmetic."""
    if len(g) == 2:
        return (g[0, 0] * g[1, 1] - g[0, 1] * g[1, 0] - 1)[None]
    if len(g) == 3:
        return (g[0] @ jnp.cross(g[1], g[2]) - 1)[None]
    return (jnp.linalg.det(g) - 1)[None]


@dataclass(frozen=True)
class _Parts:
    """The relations of the blocks, one after the other."""

    parts: tuple[tuple[Callable | None, int, int], ...]

    def __call__(self, g: Array) -> Array:
        found = [relation(g[start:end, start:end]) for relation, start, end in self.parts if relation is not None]
        return jnp.concatenate([jnp.zeros(0), *found])
