"""Optimal control problems step by step, solved by Newton's method on the conditions of first order.

A problem is a chain: nodes x_1..x_K, between them unknowns w_0..w_{K-1}, on each step equations and a cost of
(x_k, w_k, x_{k+1}), and a goal for x_K. Gradients, Jacobians and Hessians of one step come from autodiff, for all
steps at once; what is solved is sparse and banded.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.sparse import block_array, coo_array, csc_array
from scipy.sparse.linalg import splu

from discrete_hamel._support.errors import RunFailed
from discrete_hamel._support.pytrees import Pytree

MAX_ITERATIONS = 300
FEASIBLE = 1e-12  # residual of the equations and the goal, relative to the size of the unknowns
STATIONARY = 1e-9  # of the first-order conditions, relative to the multipliers
MANY = 500  # steps from which on it pays to have XLA do its best
ONCE = {"xla_backend_optimization_level": 0}  # for what is hardly run, and would take long to compile otherwise
REMEMBERED = 5  # merits of which a new one need only beat the worst, so that curved constraints do not shorten steps


class Stage(Pytree):
    """One step of a problem; subclasses say what it is."""

    def equations(self, h: Array, x: Array, w: Array, x1: Array) -> Array:
        """Zero on a step."""
        raise NotImplementedError

    def cost(self, h: Array, x: Array, w: Array, x1: Array) -> Array:
        """What a step adds to the objective."""
        raise NotImplementedError

    def goal(self, x: Array) -> Array:
        """Zero at the end."""
        raise NotImplementedError


class Solution(NamedTuple):
    """x_1..x_K, w_0..w_{K-1}, the cost, and how well the conditions hold."""

    x: np.ndarray
    w: np.ndarray
    cost: float
    feasibility: float
    stationarity: float
    iterations: int


class Conditions(NamedTuple):
    """At a point: cost, its gradient, the constraints, their Jacobian, and two Hessians."""

    cost: float
    gradient: np.ndarray
    constraints: np.ndarray
    jacobian: csc_array
    hessian: csc_array  # of the Lagrangian
    convex: csc_array  # of the cost alone


def solve(stage: Stage, h: Array, x0: Array, x: Array, w: Array) -> Solution:
    """A local minimum near (x, w): Newton's method, its steps shortened until the merit f + rho |c|_1 falls.

    Where the Lagrangian curves down along Newton's step, or the step gets too short, the Hessian of the cost alone
    takes its place (Gauss-Newton), which leads downhill.   Nocedal and Wright (2006), 18
    """
    chain = Chain(stage, h, x0, np.asarray(x), np.asarray(w))
    y, multipliers, rho = chain.start, np.zeros(chain.equations), 1.0
    past: list[tuple[float, float]] = []
    for iteration in range(MAX_ITERATIONS):
        at = chain.conditions(y, multipliers)
        infeasible = float(np.max(np.abs(at.constraints)))
        steepness = at.gradient + at.jacobian.T @ multipliers
        stationarity = float(np.max(np.abs(steepness)) / (1 + np.max(np.abs(multipliers))))
        if infeasible <= FEASIBLE * (1 + np.max(np.abs(y))) and stationarity <= STATIONARY:
            return Solution(*chain.split(y), at.cost, infeasible, stationarity, iteration)
        past = [*past[-REMEMBERED:], (at.cost, float(np.sum(np.abs(at.constraints))))]
        for hessian in (at.hessian, at.convex):
            step, target = _newton(at, hessian)
            rho = max(1.1 * float(np.max(np.abs(target))), rho / 2)
            slope = at.gradient @ step - rho * past[-1][1]
            if slope < 0 and (hessian is at.convex or step @ (hessian @ step) > 0):
                bound = max(cost + rho * missed for cost, missed in past)
                share = _share(chain, y, step, slope, rho, bound)
                if share:
                    break
        else:
            break
        y, multipliers = y + share * step, multipliers + share * (target - multipliers)
    raise RunFailed(
        f"no optimum was found in {iteration + 1} iterations: the equations and the goal are met to {infeasible:.1e}, "
        f"the conditions of first order to {stationarity:.1e}. Guess inputs whose run ends nearer the goal, or let the "
        "cost depend on every input."
    )


def _newton(at: Conditions, hessian: csc_array) -> tuple[np.ndarray, np.ndarray]:
    """The step and the new multipliers of [[H, A^T], [A, 0]] (step, target) = -(gradient, constraints)."""
    matrix = block_array([[hessian, at.jacobian.T], [at.jacobian, None]], format="csc")
    try:
        solution = splu(matrix).solve(-np.concatenate([at.gradient, at.constraints]))
    except RuntimeError:  # what splu says of a singular matrix
        solution = np.full(matrix.shape[0], np.nan)
    if not np.all(np.isfinite(solution)):
        raise RunFailed(
            "the goal cannot be reached from the guess to first order: changes of the inputs do not change the end in "
            "every way that the goal asks for, or the goal asks for one thing twice. Guess inputs that move about more "
            "(a car parks by going forth and back with the wheels turned), and state each demand once."
        )
    return np.split(solution, [len(at.gradient)])  # type: ignore[return-value]  # two parts


def _share(chain: "Chain", y: np.ndarray, step: np.ndarray, slope: float, rho: float, bound: float) -> float:
    """How much of the step to take: 1, 1/2, 1/4, ... until the merit is low enough; 0 if none is."""
    noise = 1e-13 * (1 + abs(bound))
    for halvings in range(12):
        share = 0.5**halvings
        cost, constraints = chain.values(y + share * step)
        if cost + rho * np.sum(np.abs(constraints)) <= bound + 1e-4 * share * slope + noise:
            return share
    return 0.0


class Chain:
    """The whole problem, in one vector y = (w_0, x_1, w_1, ..., x_K), from the steps of a stage."""

    def __init__(self, stage: Stage, h: Array, x0: Array, x: np.ndarray, w: np.ndarray) -> None:
        self.stage, self.h, self.x0 = stage, h, x0
        self.steps, self.nx, self.nw = len(w), x.shape[1], w.shape[1]
        self.start = np.concatenate([w, x], axis=1).ravel()
        rows = jax.eval_shape(stage.equations, h, x0, w[0], x0).shape[0]
        self.goals = jax.eval_shape(stage.goal, x0).shape[0]
        self.equations = self.steps * rows + self.goals
        # Columns of (x_k, w_k, x_{k+1}) in y; those of x_0, which is given, are negative.
        width = self.nx + self.nw
        self.columns = width * np.arange(self.steps)[:, None] + np.arange(-self.nx, width)
        self.rows = rows * np.arange(self.steps)[:, None] + np.arange(rows)

    def split(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        w, x = np.split(y.reshape(self.steps, -1), [self.nw], axis=1)
        return x, w

    def _steps(self, y: np.ndarray) -> np.ndarray:
        """(x_k, w_k, x_{k+1}), a row a step."""
        x, w = self.split(y)
        before = np.concatenate([np.asarray(self.x0)[None], x[:-1]])
        return np.concatenate([before, w, x], axis=1)

    def values(self, y: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and constraints; infinite where they are no numbers."""
        cost, left, goal = _values(self.stage, self.h, self._steps(y), len(self.x0))
        constraints = np.concatenate([np.ravel(left), goal])
        good = np.isfinite(cost) and np.all(np.isfinite(constraints))
        return (float(cost) if good else np.inf), np.asarray(constraints)

    def conditions(self, y: np.ndarray, multipliers: np.ndarray) -> Conditions:
        """What the conditions of first order and Newton's method need."""
        along, at_goal = np.split(multipliers, [self.equations - self.goals])
        steps = self._steps(y)
        derivatives = _derivatives_of_few if self.steps < MANY else _derivatives_of_many
        one = derivatives(self.stage, self.h, steps, along.reshape(self.steps, -1), at_goal, len(self.x0))
        cost, left, goal, slopes, jacobians, slope_of_goal, hessians, convex, bend = (np.array(a) for a in one)
        gradient = np.zeros(len(y) + self.nx)
        np.add.at(gradient, self.columns + self.nx, slopes)
        last = self.columns[-1, -self.nx :]
        hessians[-1, -self.nx :, -self.nx :] += bend
        rows = np.arange(self.equations - self.goals, self.equations)
        jacobian = self._sparse(
            [(self.rows, self.columns, jacobians), (rows[None], last[None], slope_of_goal[None])], self.equations
        )
        return Conditions(
            float(np.sum(cost)),
            gradient[self.nx :],
            np.concatenate([left.ravel(), goal]),
            jacobian,
            self._sparse([(self.columns, self.columns, hessians)], len(y)),
            self._sparse([(self.columns, self.columns, convex)], len(y)),
        )

    def _sparse(self, blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]], rows: int) -> csc_array:
        """The sum of blocks (row indices, column indices, values), each one a step; negative indices are left out."""
        i = np.concatenate([np.broadcast_to(r[:, :, None], v.shape).ravel() for r, _, v in blocks])
        j = np.concatenate([np.broadcast_to(c[:, None, :], v.shape).ravel() for _, c, v in blocks])
        values = np.concatenate([v.ravel() for _, _, v in blocks])
        inside = (i >= 0) & (j >= 0)
        return coo_array((values[inside], (i[inside], j[inside])), shape=(rows, len(self.start))).tocsc()


def _parts(s: Array, nx: int) -> tuple[Array, Array, Array]:
    return s[:nx], s[nx:-nx], s[-nx:]


@partial(jax.jit, static_argnums=3, compiler_options=ONCE)
def _values(stage: Stage, h: Array, steps: Array, nx: int) -> tuple[Array, Array, Array]:
    def one(s: Array) -> tuple[Array, Array]:
        parts = _parts(s, nx)
        return stage.cost(h, *parts), stage.equations(h, *parts)

    cost, left = jax.vmap(one)(steps)
    return jnp.sum(cost), left, stage.goal(steps[-1, -nx:])


def _derivatives(stage: Stage, h: Array, steps: Array, along: Array, at_goal: Array, nx: int) -> tuple[Array, ...]:
    def one(s: Array, multipliers: Array) -> tuple[Array, ...]:
        def first(s: Array) -> tuple[tuple, Array]:
            value, slope = jax.value_and_grad(lambda s: stage.cost(h, *_parts(s, nx)))(s)
            left, pull = jax.vjp(lambda s: stage.equations(h, *_parts(s, nx)), s)
            return (slope, pull(multipliers)[0], left), value

        def both(s: Array) -> tuple[tuple, tuple]:
            of_s, value = first(s)
            return of_s, (value, of_s)

        # One forward sweep over the gradients gives the Jacobian and both Hessians.
        (convex, curved, jacobian), (value, (slope, _, left)) = jax.jacfwd(both, has_aux=True)(s)
        return value, left, slope, jacobian, convex + curved, convex

    value, left, slope, jacobian, hessian, convex = jax.vmap(one)(steps, along)
    end = steps[-1, -nx:]
    bend = jax.hessian(lambda x: at_goal @ stage.goal(x))(end)
    return value, left, stage.goal(end), slope, jacobian, jax.jacfwd(stage.goal)(end), hessian, convex, bend


# XLA's own work on these derivatives takes seconds, as much as a short chain's whole solution takes.
_derivatives_of_few = jax.jit(_derivatives, static_argnums=5, compiler_options=ONCE)
_derivatives_of_many = jax.jit(_derivatives, static_argnums=5)
