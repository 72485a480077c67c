"""Matrices of linear stability: their eigenvalues, how many are zero, and what that says."""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import matrix_balance

ZERO = 1e-11  # coefficient of the scaled characteristic polynomial that counts as none
DECIDED = 1e-7  # growth per unit of the largest rate that is more than round-off


class Stability(Enum):
    """What a linearisation says of a relative equilibrium, modulo the symmetry."""

    ASYMPTOTIC = "asymptotically stable: every rate has a negative real part"
    PARTIAL = (
        "stable, and asymptotically so in the directions that leave its family (Lyapunov-Malkin: as many zero rates as "
        "the family has dimensions, all others with negative real part)"
    )
    NEUTRAL = "spectrally stable: no rate grows, and the linearisation alone decides no more"
    UNSTABLE = "unstable: a rate has a positive real part"


class Linearisation(NamedTuple):
    """A matrix modulo the symmetry: of the rates of (H), or with a step h the (B - 1)/h of a map B."""

    matrix: np.ndarray
    h: float | None = None
    floor: float = 0.0  # a rate that is not small here, for matrices that are nothing but round-off

    def eigenvalues(self) -> np.ndarray:
        """All of them: rates, or multipliers of the map."""
        found = np.linalg.eigvals(self.matrix) if self.matrix.size else np.zeros(0)
        return found if self.h is None else 1 + self.h * found

    def polynomial(self) -> tuple[np.ndarray, float]:
        """Coefficients of det(z - matrix/scale) from the highest, and the scale: symmetric functions are steadier
        than eigenvalues, which a zero of higher multiplicity scatters."""
        if not self.matrix.size:
            return np.ones(1), 1.0
        with np.errstate(invalid="ignore"):  # SciPy casts a permutation that it was told not to make
            balanced = matrix_balance(self.matrix, permute=False)[0]
        scale = max(float(np.linalg.norm(balanced, 2)), self.floor, 1e-300)
        return np.poly(balanced / scale).real, scale

    def zeros(self) -> int:
        """How many eigenvalues are zero (of a map: multipliers that are one)."""
        coefficients, _ = self.polynomial()
        small = np.abs(coefficients[::-1]) < ZERO
        return int(np.argmin(small)) if not np.all(small) else len(small) - 1

    def rates(self, zeros: int | None = None) -> np.ndarray:
        """The other rates; of a map, the logarithms of its multipliers over h."""
        coefficients, scale = self.polynomial()
        zeros = self.zeros() if zeros is None else zeros
        roots = np.roots(coefficients[: len(coefficients) - zeros]) * scale
        return roots if self.h is None else logarithms(1 + self.h * roots, self.h)

    def stability(self, family: int) -> Stability:
        """The type, for a relative equilibrium in a family of that dimension."""
        zeros, rates = self.zeros(), self.rates()
        small = DECIDED * max(self.polynomial()[1], 1e-300)
        if np.any(rates.real > small):
            return Stability.UNSTABLE
        if np.all(rates.real < -small) and zeros <= family:
            return Stability.PARTIAL if zeros else Stability.ASYMPTOTIC
        return Stability.NEUTRAL


def logarithms(multipliers: Any, h: float) -> np.ndarray:
    """log(multiplier) / h; minus infinity for a multiplier that is zero."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(multipliers, complex)) / h
