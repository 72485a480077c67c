"""Matrices of linear stability: their eigenvalues, how many are zero, and what that says."""

from enum import Enum
from typing import NamedTuple

import numpy as np
import scipy  # whose parts are loaded when they are used

ROUNDINGS = 8.0  # units of round-off, per root of the dimension, within which a singular value is zero


class Stability(Enum):
    """What a linearisation says of a relative equilibrium, modulo the symmetry."""

    ASYMPTOTIC = "asymptotically stable: every rate has a negative real part"
    PARTIAL = (
        "stable, and asymptotically so in the directions that leave its family (Lyapunov-Malkin: as many zero rates as "
        "the family has dimensions, all others with negative real part)"
    )
    NEUTRAL = "spectrally stable: no rate grows, and the linearisation alone decides no more"
    UNSTABLE = "unstable: a rate has a positive real part"


class Staircase(NamedTuple):
    """What is left of a balanced matrix once its zero eigenvalues are taken off, a layer of the kernel at a time."""

    rest: np.ndarray
    layers: tuple[int, ...]  # dimensions of the kernel, of that of what was left, and so on: the Jordan structure of 0
    noise: float  # norm of what round-off may have changed of the matrix


class Linearisation(NamedTuple):
    """A matrix modulo the symmetry: of the rates of (H), or with a step h the (B - 1)/h of a map B.

    Nothing is asked of its characteristic polynomial, whose last coefficients are products of all rates. Zeros are
    ranks (a staircase of kernels, each decided at the size of round-off), and a rate grows where its real part is more
    than round-off can have made of it.
    """

    matrix: np.ndarray
    h: float | None = None
    noise: np.ndarray | float = 0.0  # what round-off, or a point not quite steady, may have changed of an entry

    def eigenvalues(self) -> np.ndarray:
        """All of them: rates, or multipliers of the map."""
        found = np.linalg.eigvals(self.matrix) if self.matrix.size else np.zeros(0)
        return found if self.h is None else 1 + self.h * found

    def staircase(self) -> Staircase:
        """The zero eigenvalues, layer by layer, and a matrix with all the others."""
        if not self.matrix.size:
            return Staircase(self.matrix, (), 0.0)
        unit = ROUNDINGS * len(self.matrix) ** 0.5 * np.finfo(float).eps
        sure = np.abs(self.matrix) > self.noise
        scales = balancing(np.where(sure, self.matrix, 0.0))  # against round-off, every entry would become as small
        rest = self.matrix * scales / scales[:, None]
        own = np.linalg.norm(np.broadcast_to(self.noise, rest.shape) * scales / scales[:, None])
        noise, layers = float(own + unit * np.linalg.norm(rest, 2)), []
        while rest.size:
            _, sizes, right = np.linalg.svd(rest)
            rank = int(np.sum(sizes > noise))
            if rank == len(rest):
                break
            layers.append(len(rest) - rank)
            rest = right[:rank] @ rest @ right[:rank].T  # the kernel's columns are zero: only zeros are lost
        return Staircase(rest, tuple(layers), noise)

    def nullity(self) -> int:
        """The dimension of the kernel; at a relative equilibrium, of its family modulo the symmetry."""
        return next(iter(self.staircase().layers), 0)

    def zeros(self) -> int:
        """How many eigenvalues are zero (of a map: multipliers that are one)."""
        return sum(self.staircase().layers)

    def rates(self) -> np.ndarray:
        """The other rates; of a map, the logarithms of its multipliers over h."""
        roots = Linearisation(self.staircase().rest).eigenvalues()
        return roots if self.h is None else logarithms(1 + self.h * roots, self.h)

    def growths(self) -> np.ndarray:
        """Of each rate that is not zero its real part, or 0 where round-off cannot tell it from 0.

        Of a map (|multiplier| - 1) / h.
        """
        rest, _, noise = self.staircase()
        if not rest.size:
            return np.zeros(0)
        roots, left, right = scipy.linalg.eig(rest, left=True, right=True)
        real = roots.real if self.h is None else (np.abs(1 + self.h * roots) - 1) / self.h
        return np.where(np.abs(real) > _uncertainty(roots, left, right, noise), real, 0.0)

    def growth(self) -> float:
        """The largest of `growths`; minus infinity if every rate is zero."""
        return float(np.max(self.growths(), initial=-np.inf))

    def stability(self, family: int) -> Stability:
        """The type, for a relative equilibrium in a family of that dimension."""
        zeros, growths = self.zeros(), self.growths()
        if np.any(growths > 0):
            return Stability.UNSTABLE
        if np.all(growths < 0) and zeros <= family:
            return Stability.PARTIAL if zeros else Stability.ASYMPTOTIC
        return Stability.NEUTRAL


def balancing(matrix: np.ndarray) -> np.ndarray:
    """Powers of two s, such that rows and columns of a_ij s_j / s_i are alike in norm (Parlett and Reinsch 1969).

    As LAPACK's dgebal finds them: SciPy, which has it, takes a tenth of a second to load.

    >>> balancing(np.array([[1.0, 1e4], [1e-4, 1.0]])).tolist()
    [512.0, 0.0625]
    """
    balanced, scales, going = np.array(matrix, float), np.ones(len(matrix)), True
    while going:
        going = False
        for i in range(len(matrix)):
            column, row = np.linalg.norm(balanced[:, i]), np.linalg.norm(balanced[i])
            if not (0 < column < np.inf and 0 < row < np.inf):
                continue
            power = 2.0 ** np.floor(np.log2(row / column) / 2 + 0.5)
            if column * power + row / power < 0.95 * (column + row):
                scales[i] *= power
                balanced[:, i] *= power
                balanced[i] /= power
                going = True
    return scales


def _uncertainty(roots: np.ndarray, left: np.ndarray, right: np.ndarray, noise: float) -> np.ndarray:
    """How far each eigenvalue may move when the matrix changes by `noise`.

    To first order noise / |y* x| (y, x its left and right eigenvector). Where k of them lie as near to one another as
    the k-th root of round-off it is not more than that root, by which a Jordan block of size k moves (Elsner 1985).
    """
    with np.errstate(divide="ignore"):
        found = noise / np.abs(np.sum(left.conj() * right, axis=0))
    size, apart = max(float(np.max(np.abs(roots))), noise), np.abs(roots[:, None] - roots)
    single = np.ones(len(roots), bool)
    for order in range(2, len(roots) + 1):
        reach = 2 * size * (noise / size) ** (1 / order) if noise else 0.0
        block = single & (np.sum(apart <= reach, axis=1) >= order)
        found[block], single = np.minimum(found, reach)[block], single & ~block
    return found


def logarithms(multipliers: np.ndarray, h: float) -> np.ndarray:
    """log(multiplier) / h; minus infinity for a multiplier that is zero."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(multipliers, complex)) / h
