"""Coordinates z on the set of velocities that C(q, v) = 0 allows, chosen about one state."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.linalg import qr

from discrete_hamel._support.pytrees import Pytree
from discrete_hamel.mechanics.newton import newton

ON_CONSTRAINT = 1e-8  # how far off a row may be, relative to its derivative and the size of v
DEPENDENT = 1e-10  # share of the largest row's derivative below which a row adds nothing


class Chart(Pytree):
    """z = T^T (v - v_0): the constraint as a graph over its tangent space at (q_0, v_0)."""

    base: Array  # v_0
    tangent: Array  # T, n x m, orthonormal columns

    def coordinates(self, v: Array) -> Array:
        """z of an admissible velocity."""
        return self.tangent.T @ (v - self.base)

    def margin(self, slopes: Array) -> Array:
        """Of C_v at an admissible velocity: at most 1, 0 where the graph has a fold, and of the other sign beyond."""
        rows = slopes / jnp.linalg.norm(slopes, axis=1, keepdims=True)
        return jnp.linalg.det(jnp.concatenate([rows, self.tangent.T]))


@jax.custom_jvp
def velocity_above(system: Any, q: Array, z: Array) -> Array:
    """v with C(q, v) = 0 and T^T (v - v_0) = z, by Newton's method from v_0 + T z; NaN where there is none."""
    guess = system.chart.base + system.chart.tangent @ z
    v, report = newton(lambda v: _equations(system, q, z, v), guess)
    return jnp.where(report.converged, v, jnp.nan)


@velocity_above.defjvp
def _velocity_above_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    """By the implicit function theorem; the iterations are never differentiated."""
    v = velocity_above(*primals)
    _, change = jax.jvp(lambda system, q, z: _equations(system, q, z, v), primals, tangents)
    system, q, z = primals
    return v, -jnp.linalg.solve(jax.jacfwd(_equations, 3)(system, q, z, v), change)


def _equations(system: Any, q: Array, z: Array, v: Array) -> Array:
    return jnp.concatenate([system.constraint(q, v), system.chart.coordinates(v) - z])


def chart_at(constraint: Callable, q: Array, v: Array) -> Chart:
    """The chart about (q, v), or a sentence with the row that forbids it."""
    shape = jax.eval_shape(constraint, q, v).shape
    if len(shape) != 1 or not 1 <= shape[0] < len(v):
        raise ValueError(
            f"C(q, v) must return one number a constraint, 1 to {len(v) - 1} of them for {len(v)} velocities; "
            f"got shape {shape}."
        )
    value, slopes = np.asarray(constraint(q, v)), np.asarray(jax.jacfwd(constraint, 1)(q, v))
    for name, a in (("C(q, v)", value), ("the derivative of C(q, v) by v", slopes)):
        if not np.all(np.isfinite(a)):
            row = int(np.argwhere(~np.isfinite(a))[0][0])
            raise ValueError(f"{name} is not finite in row {row} at q = {q.tolist()}, v = {v.tolist()}.")
    _refuse_off(value, slopes, np.asarray(v))
    _refuse_dependent(slopes, np.asarray(q), np.asarray(v))
    return Chart(v, jnp.asarray(np.linalg.svd(slopes)[2][len(value) :].T))


def _refuse_off(value: np.ndarray, slopes: np.ndarray, v: np.ndarray) -> None:
    sizes = np.linalg.norm(slopes, axis=1) * np.linalg.norm(v)
    off = np.abs(value) / np.where(sizes > 0, sizes, 1.0)
    worst = int(np.argmax(off))
    if off[worst] <= ON_CONSTRAINT:
        return
    change, *_ = np.linalg.lstsq(slopes, -value)
    left = value + slopes @ change
    if np.max(np.abs(left)) > 0.1 * np.max(np.abs(value)):
        row = int(np.argmax(np.abs(left)))
        raise ValueError(
            f"the constraints contradict each other here: no small change of the velocity makes all rows vanish; row "
            f"{row} stays at {left[row]:.3g} (C = {np.round(value, 9).tolist()}). Remove or correct a row."
        )
    raise ValueError(
        f"the initial velocity is off the constraint: row {worst} of C(q, v) is {value[worst]:.6g} and must be 0. The "
        f"nearest admissible velocity is about {np.round(v + change, 9).tolist()}."
    )


def _refuse_dependent(slopes: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
    where = f"at q = {q.tolist()}, v = {v.tolist()}"
    sizes = np.linalg.norm(slopes, axis=1)
    flat = sizes <= DEPENDENT * max(float(np.max(sizes)), float(np.linalg.norm(v)), 1e-300)
    if np.any(flat):
        raise ValueError(
            f"this state is singular: the derivative of row {int(np.flatnonzero(flat)[0])} of C(q, v) by v vanishes "
            f"{where}, so the velocities allowed have no tangent there (branches of the constraint meet: a "
            "transitional state), and the motion is not determined. Start on one branch, or write each branch as a "
            "constraint."
        )
    _, r, order = qr((slopes / sizes[:, None]).T, mode="economic", pivoting=True)
    left = np.abs(np.diag(r))
    if left[-1] <= DEPENDENT * left[0]:
        raise ValueError(
            f"the {len(slopes)} rows of C(q, v) have dependent derivatives {where}: row {order[len(left) - 1]} adds, "
            f"to {left[-1]:.1e}, nothing to the others (wrong rank: {int(np.sum(left > DEPENDENT * left[0]))} of "
            f"{len(slopes)}). Remove it if it is redundant; if not, this state is singular: start at another."
        )
