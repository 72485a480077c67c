"""Conserved momenta along fields that depend on the shape variable: their values, fields and Wronskian."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.polynomial import chebyshev

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree, static
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.adjoint_equation import Shape
from discrete_hamel.analysis.symmetry.phase_space import Chosen
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.trajectory import Trajectory

TAIL = 1e-13  # Chebyshev coefficients, relative to the largest, that are round-off
ALIGNMENTS = 60  # Newton iterations on the group
REACHED = 1e-9  # distance, relative to q, at which a point is taken to be on the orbit


class HiddenMomenta(Pytree):
    """The conserved momenta found by `hidden_momenta`: call it with (q, xi) for their values, one a field.

    It can be used under jit, grad and vmap; there a q whose shape variable is outside `between` gives NaN.
    """

    system: System
    symmetries: Chosen = static()
    shape: Shape = static()
    invariant: bool  # is the system's frame invariant, so that no point has to be moved to the section?
    between: Array  # range of the shape variable
    section: Array  # Chebyshev series of the curve q(r), horizontal, across all orbits
    series: Array  # of the fields: components along u_1..u_m on that curve
    logarithm: Array  # of ln W by (6.15)

    def __len__(self) -> int:
        return int(self.series.shape[-1])

    def __repr__(self) -> str:
        name = type(self.system).__name__
        if checks.traced(self):
            return f"HiddenMomenta of {name}, traced by jax"
        low, high = (float(end) for end in self.between)
        return f"HiddenMomenta of {name}: {len(self)} for {low:g} <= r <= {high:g}"

    def __call__(self, q: Coordinates, xi: Quasivelocities) -> Array:
        """<p, eta_a(r)>, a = 1, 2, ..."""
        q, xi = jnp.asarray(q, float), jnp.asarray(xi, float)
        if not checks.traced(self, q, xi):
            self._inside(self.shape(q))
        return _momenta(self, q, xi)

    def along(self, trajectory: Trajectory) -> np.ndarray:
        """Their values at the nodes of a trajectory, (K+1, number)."""
        self._inside(jax.vmap(self.shape)(jnp.asarray(trajectory.q)))
        return np.asarray(_momenta_along(self, jnp.asarray(trajectory.q), jnp.asarray(trajectory.xi)))

    def fields(self, r: ArrayLike) -> Array:
        """eta_a(r), the components along u_1..u_m at `point(r)`, one field a column.   [QS] 4.3"""
        return _series(self.series, self.between, jnp.asarray(r, float))

    def point(self, r: ArrayLike) -> Array:
        """The point of the section, a horizontal curve through the given q, where the shape variable is r."""
        return _series(self.section, self.between, jnp.asarray(r, float))

    def wronskian(self, r: ArrayLike) -> Array:
        """W(r) = |det eta^b_a| in a basis of S that is orthonormal in the metric; 1 at the given q.   [QS] (6.14)"""
        return _wronskian(self, jnp.asarray(r, float))

    def liouville(self, r: ArrayLike) -> Array:
        """W(r) = exp(- int Tr tau dr), which needs no field.   [QS] (6.15), (6.16)"""
        return jnp.exp(_series(self.logarithm, self.between, jnp.asarray(r, float)))

    def _inside(self, r: Array) -> None:
        low, high = (float(end) for end in self.between)
        slack = 1e-12 * (high - low)
        if np.min(r) < low - slack or np.max(r) > high + slack:
            raise InputError(
                f"the shape variable runs from {float(np.min(r)):.6g} to {float(np.max(r)):.6g}, beyond the range "
                f"{low:.6g} to {high:.6g} on which these momenta were found; ask hidden_momenta for a wider one."
            )


def fit(values: np.ndarray) -> Array:
    """Chebyshev coefficients of values at the Chebyshev points, without those that are round-off."""
    flat = values.reshape(len(values), -1)
    nodes = np.cos(np.pi * (np.arange(len(values)) + 0.5) / len(values))
    coefficients = 2 / len(values) * chebyshev.chebvander(nodes, len(values) - 1).T @ flat
    coefficients[0] /= 2
    large = np.flatnonzero(np.max(np.abs(coefficients), axis=1) > TAIL * max(np.max(np.abs(coefficients)), 1e-300))
    last = large[-1] if len(large) else 0
    return jnp.asarray(coefficients[: last + 1].reshape(-1, *values.shape[1:]))


@jax.jit
def _series(coefficients: Array, between: Array, r: Array) -> Array:
    """Clenshaw's sum of a Chebyshev series on `between`; NaN outside."""
    low, high = between
    x = (2 * r - low - high) / (high - low)

    def add(carry: tuple[Array, Array], c: Array) -> tuple[tuple[Array, Array], None]:
        one, two = carry
        return (c + 2 * x * one - two, one), None

    zero = jnp.zeros(coefficients.shape[1:])
    (one, two), _ = jax.lax.scan(add, (zero, zero), coefficients[:0:-1])
    return jnp.where(jnp.abs(x) <= 1 + 1e-12, coefficients[0] + x * one - two, jnp.nan)


@jax.jit
def _wronskian(found: HiddenMomenta, r: Array) -> Array:
    fields = found.fields(r)
    metric = hamel.inertia(found.system, found.point(r), jnp.zeros(len(fields)))
    return jnp.sqrt(jnp.linalg.det(fields.T @ metric @ fields))


@jax.jit
def _momenta_along(found: HiddenMomenta, q: Array, xi: Array) -> Array:
    return jax.vmap(partial(_momenta, found))(q, xi)


@jax.jit
def _momenta(found: HiddenMomenta, q: Array, xi: Array) -> Array:
    r = found.shape(q)
    if not found.invariant:
        q, xi = _align(found, q, xi, found.point(r))
    return hamel.balance(found.system, q, xi)[0] @ found.fields(r)


def _align(found: HiddenMomenta, q: Array, xi: Array, target: Array) -> tuple[Array, Array]:
    """(q, xi^D) moved by the group to the point of the section on its orbit: Newton's method on the group."""
    system, symmetries = found.system, found.symmetries
    moves = list(phase_space.generators(system, symmetries).values())
    size = len(q)
    goal = REACHED * (1 + jnp.max(jnp.abs(target)))

    def amounts(point: Array) -> Array:
        fields = jnp.stack([move(point) for move in moves], axis=1)
        whole = jnp.linalg.pinv(fields) @ (target - point)
        turning = sum(
            (a * jax.jacfwd(move)(point) for a, move in zip(whole, moves, strict=True)), jnp.zeros((size, size))
        )
        return whole / jnp.maximum(1.0, jnp.sqrt(jnp.sum(turning**2)))

    def closer(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        x, _, count = carry
        x = phase_space.action(system, symmetries, amounts(x[:size]), x)
        return x, jnp.max(jnp.abs(x[:size] - target)), count + 1

    def unfinished(carry: tuple[Array, Array, Array]) -> Array:
        _, off, count = carry
        return (off > 1e-3 * goal) & (count < ALIGNMENTS)

    x = jnp.concatenate([q, xi[: system.rank]])
    x, off, _ = jax.lax.while_loop(unfinished, closer, (x, jnp.asarray(jnp.inf), jnp.asarray(0)))
    return x[:size], jnp.where(off <= goal, x[size:], jnp.nan)
