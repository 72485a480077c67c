"""Constraints given as C(q, v) = 0, not linear in the velocities: from_nonlinear_constraints."""

from collections.abc import Callable
from typing import Unpack

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used: linalg alone takes 0.1 s
from jax import Array

from discrete_hamel._support.arrays import Coordinates, PyTree, Velocities
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree, static
from discrete_hamel.mechanics.description import NOTHING, DescribedSystem, Description, Words, call, describe
from discrete_hamel.mechanics.newton import newton
from discrete_hamel.mechanics.nonlinear import NonlinearSystem
from discrete_hamel.mechanics.system import System

ON_CONSTRAINT = 1e-8  # how far off a row may be, relative to its derivative and the size of v
DEPENDENT = 1e-10  # share of the largest row's derivative below which a row adds nothing


def from_nonlinear_constraints(
    L: Callable, C: Callable, *, force: Callable | None = None, params: PyTree = None, **description: Unpack[Words]
) -> NonlinearSystem:
    """A system from L(q, qdot), force(q, qdot) and constraints C(q, qdot) = 0 with independent rows; z is qdot itself.

    So there are no coordinates on the constraint that a motion could leave: it ends where C_v loses rank, at a state
    that is singular itself. `NonlinearMidpoint` keeps C = 0 at nodes and tau-points; Gauss and RungeKutta4, which only
    follow the vector field, leave it by an error of their order. `system.around(q, v)` is the same system with
    coordinates z = T^T (v - v_0) about a state, T an orthonormal basis of the velocities tangent to the constraint
    there, psi(q, z) the point above found by Newton's method: for EnergyExact, and for schemes that are to keep C = 0.
    It ends where the constraint folds over T.

    >>> import discrete_hamel as dh
    >>> def parallel(q, v):
    ...     return [v[0] * v[3] - v[1] * v[2]]
    >>> points = dh.from_nonlinear_constraints(lambda q, v: 0.5 * v @ v - q[0], parallel)
    >>> traj = dh.simulate(points, [0.0, 0, 0, 1], v=[1.0, 0.5, 2.0, 1.0], h=0.05, steps=20)
    >>> bool(max(abs(parallel(0, v)[0]) for v in traj.v) < 1e-13)
    True
    """
    return FromNonlinearConstraints(L, C, force, params, describe(description))


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


class FromNonlinearConstraints(DescribedSystem, NonlinearSystem):
    """See `from_nonlinear_constraints`; `chart` holds the coordinates z that `around` chose, if it did."""

    L_of: Callable
    C_of: Callable
    force_of: Callable | None = static(default=None)
    params: PyTree = None
    description: Description = static(default=NOTHING)
    chart: Chart | None = None
    size: int | None = static(default=None)  # how many coordinates there are, known once there is a q

    @property
    def rank(self) -> int:
        if self.chart is not None:
            return self.chart.tangent.shape[1]
        if self.size is None:
            raise InputError("the rank of a system from C(q, v) = 0 is known once it is at a point: system.at(q).rank")
        return self.size

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        return self if self.chart is not None or self.size is not None else self.replace(size=len(q))

    def constraint(self, q: Array, v: Array) -> Array:
        """C(q, v), one component a row."""
        value = call(self.C_of, self.params, q, v)
        return jnp.stack([jnp.asarray(row, float) for row in value]) if isinstance(value, list | tuple) else value

    def around(self, q: Coordinates, v: Velocities) -> "FromNonlinearConstraints":
        """The system with coordinates z about the state (q, v), where z = 0; a state off the constraint is refused."""
        if any(isinstance(a, jax.core.Tracer) for a in (q, v)):
            raise InputError("the coordinates z are chosen at a state, and this one is traced by jax: choose outside.")
        return self.replace(chart=chart_at(self.constraint, jnp.asarray(q, float), jnp.asarray(v, float)))

    def lagrangian(self, q: Array, v: Array) -> Array:
        return call(self.L_of, self.params, q, v)

    def rows(self, q: Array, z: Array) -> Array:
        return self.constraint(q, z) if self.chart is None else jnp.zeros(0)

    def velocity(self, q: Array, z: Array) -> Array:
        return z if self.chart is None else velocity_above(self, self.chart, q, z)

    def z_of(self, q: Array, v: Array) -> Array:
        return v if self.chart is None else self.chart.coordinates(v)

    def check_state(self, q: Array, z: Array) -> None:
        if self.chart is None:
            refuse_state(self.constraint, q, z)

    def force(self, q: Array, v: Array) -> Array:
        return jnp.zeros_like(v) if self.force_of is None else jnp.asarray(call(self.force_of, self.params, q, v))


@jax.custom_jvp
def velocity_above(system: FromNonlinearConstraints, chart: Chart, q: Array, z: Array) -> Array:
    """v with C(q, v) = 0 and T^T (v - v_0) = z, by Newton's method from v_0 + T z; NaN where there is none."""
    v, report = newton(lambda v: _equations(system, chart, q, z, v), chart.base + chart.tangent @ z)
    return jnp.where(report.converged, v, jnp.nan)


@velocity_above.defjvp
def _velocity_above_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    """By the implicit function theorem; the iterations are never differentiated."""
    v = velocity_above(*primals)
    _, change = jax.jvp(lambda system, chart, q, z: _equations(system, chart, q, z, v), primals, tangents)
    return v, -jnp.linalg.solve(jax.jacfwd(_equations, 4)(*primals, v), change)


def _equations(system: FromNonlinearConstraints, chart: Chart, q: Array, z: Array, v: Array) -> Array:
    return jnp.concatenate([system.constraint(q, v), chart.coordinates(v) - z])


def chart_at(constraint: Callable, q: Array, v: Array) -> Chart:
    """The chart about (q, v), or a sentence with the row that forbids it."""
    slopes = refuse_state(constraint, q, v)
    return Chart(v, jnp.asarray(np.linalg.svd(slopes)[2][len(slopes) :].T))


def refuse_state(constraint: Callable, q: Array, v: Array) -> np.ndarray:
    """C_v at (q, v); a sentence with the row where that is not on the constraint, or singular."""
    shape = jax.eval_shape(constraint, q, v).shape
    if len(shape) != 1 or not 1 <= shape[0] < len(v):
        raise InputError(
            f"C(q, v) must return one number a constraint, 1 to {len(v) - 1} of them for {len(v)} velocities; "
            f"got shape {shape}."
        )
    value, slopes = np.asarray(constraint(q, v)), np.asarray(jax.jacfwd(constraint, 1)(q, v))
    for name, a in (("C(q, v)", value), ("the derivative of C(q, v) by v", slopes)):
        if not np.all(np.isfinite(a)):
            row = int(np.argwhere(~np.isfinite(a))[0][0])
            raise InputError(f"{name} is not finite in row {row} at q = {q.tolist()}, v = {v.tolist()}.")
    _refuse_off(value, slopes, np.asarray(v))
    _refuse_dependent(slopes, np.asarray(q), np.asarray(v))
    return slopes


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
        raise InputError(
            f"the constraints contradict each other here: no small change of the velocity makes all rows vanish; row "
            f"{row} stays at {left[row]:.3g} (C = {np.round(value, 9).tolist()}). Remove or correct a row."
        )
    raise InputError(
        f"the initial velocity is off the constraint: row {worst} of C(q, v) is {value[worst]:.6g} and must be 0. The "
        f"nearest admissible velocity is about {np.round(v + change, 9).tolist()}."
    )


def _refuse_dependent(slopes: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
    where = f"at q = {q.tolist()}, v = {v.tolist()}"
    sizes = np.linalg.norm(slopes, axis=1)
    flat = sizes <= DEPENDENT * max(float(np.max(sizes)), float(np.linalg.norm(v)), 1e-300)
    if np.any(flat):
        raise InputError(
            f"this state is singular: the derivative of row {int(np.flatnonzero(flat)[0])} of C(q, v) by v vanishes "
            f"{where}, so the velocities allowed have no tangent there (branches of the constraint meet: a "
            "transitional state), and the motion is not determined. Start on one branch, or write each branch as a "
            "constraint."
        )
    _, r, order = scipy.linalg.qr((slopes / sizes[:, None]).T, mode="economic", pivoting=True)
    left = np.abs(np.diag(r))
    if left[-1] <= DEPENDENT * left[0]:
        raise InputError(
            f"the {len(slopes)} rows of C(q, v) have dependent derivatives {where}: row {order[len(left) - 1]} adds, "
            f"to {left[-1]:.1e}, nothing to the others (wrong rank: {int(np.sum(left > DEPENDENT * left[0]))} of "
            f"{len(slopes)}). Remove it if it is redundant; if not, this state is singular: start at another."
        )
