"""Discrete optimal control: the scheme's own equations as constraints, every derivative exact.

    minimise  sum_k h cost(q_{k+1/2}, xi_{k,k+1}, u_k)   over the inputs u_k, constant on each step,
    subject to the scheme's step from every node to the next, and goal(q_K, p_K) = 0

What comes out satisfies the discrete equations to round-off: run with the u_k found, `simulate` follows the plan.
[ND] section 9; Junge, Marsden and Ober-Bloebaum (2005), there for systems without constraints.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities, Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.output_shapes import shapes
from discrete_hamel.control.sqp import ONCE, Stage, solve
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.newton import root
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.schemes.nonlinear_midpoint import default_scheme
from discrete_hamel.schemes.scheme import Scheme, State, start


class Optimum(Pytree):
    """A plan: nodes q and p, and on the steps between them the velocity xi and the input u; with what it costs.

    `feasibility` is the largest residual of the scheme's equations and the goal, `stationarity` that of the conditions
    of first order, relative to the multipliers.
    """

    t: np.ndarray  # (K+1,)
    q: np.ndarray  # (K+1, N)
    p: np.ndarray  # (K+1, m); for a path, which has no momentum, (K+1, 0)
    xi: np.ndarray  # (K, n)
    u: np.ndarray  # (K, inputs)
    cost: float
    feasibility: float
    stationarity: float
    iterations: float  # a whole number

    def __repr__(self) -> str:
        return (
            f"Optimum(cost={float(self.cost):.6g}, {len(self.u)} steps, {int(self.iterations)} iterations, "
            f"feasibility={float(self.feasibility):.1e}, stationarity={float(self.stationarity):.1e})"
        )


def optimal_control(
    actuated: Callable,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    u: ArrayLike,
    h: Scalar,
    goal: Callable,
    cost: Callable,
    scheme: Scheme | None = None,
) -> Optimum:
    """Returns the inputs that take the system from (q, xi) to goal(q, p) = 0 at least cost(q, xi, u).

    `actuated`, u to System, puts the input into the system, say as `params` of `forced`. `u`, (K, inputs), is the guess
    whose run the search starts from, of as many steps as are wanted. What is found meets the conditions of first order:
    a local minimum, for a cost that is convex in what the goal leaves free; that it is one is not checked. The system
    must be controllable to first order about that run: from rest a car that drives straight on cannot park beside
    itself.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(offset=0.0)
    >>> pushed = lambda u: dh.forced(sleigh, lambda q, xi, u: jnp.array([0.0, u[0], 0.0]), params=u)
    >>> plan = dh.optimal_control(pushed, [0.0, 0, 0], [0.0, 0.0], u=jnp.zeros((8, 1)), h=0.125,
    ...                           goal=lambda q, p: jnp.stack([q[1] - 1.0, p[1]]), cost=lambda q, xi, u: u @ u)
    >>> [round(float(f), 3) for f in plan.u[:, 0]]     # force falls linearly: the brachistochrone of least effort
    [5.333, 3.81, 2.286, 0.762, -0.762, -2.286, -3.81, -5.333]
    """
    u, h = _inputs(u), checks.step_size(h)
    system, q, xi = checks.initial_data(actuated(u[0]), q, xi, None)
    scheme = checks.canonical(default_scheme(system) if scheme is None else scheme)
    if type(scheme).step is not Scheme.step or scheme.explicit:
        raise InputError(
            f"a step of {type(scheme).__name__} is not one solve, so its equations are no constraints of a plan; "
            "use DiscreteHamel, Gauss or another scheme of one solve a step."
        )
    state = start(system, scheme, q, xi, h)
    if type(state) is not State:
        raise InputError(f"{type(scheme).__name__} carries more than q and p from step to step; use DiscreteHamel.")
    stage = Dynamic(actuated, cost, goal, scheme, len(q), system.rank, u.shape[1])
    x0 = jnp.concatenate([state.q, state.p])
    x, w = _run(stage, h, x0, state.xi, u)
    if not np.all(np.isfinite(x)):
        raise InputError("the run of the guessed inputs cannot be computed; guess smaller ones, or take a smaller h.")
    found = solve(stage, h, x0, x, w)
    nodes = np.concatenate([np.asarray(x0)[None], found.x])
    return Optimum(
        np.arange(len(u) + 1) * float(h),
        nodes[:, : len(q)],
        nodes[:, len(q) :],
        np.asarray(_velocities(stage, h, jnp.asarray(nodes[:-1]), jnp.asarray(found.w))),
        found.w[:, -u.shape[1] :],
        found.cost,
        found.feasibility,
        found.stationarity,
        found.iterations,
    )


def optimal_path(system: System, q: Coordinates, *, u: ArrayLike, h: Scalar, goal: Callable, cost: Callable) -> Optimum:
    """Returns the velocities xi^D = u_k that take the system from q to goal(q) = 0 at least cost(q, u), by (D1) alone.

    For cost |u|^2 these are sub-Riemannian geodesics: optimal motions under the constraint, which "should not be
    confused with nonholonomic mechanical systems" ([ND] 9).

    >>> import jax.numpy as jnp
    >>> import discrete_hamel as dh
    >>> particle = dh.systems.HeisenbergParticle()
    >>> path = dh.optimal_path(particle, [0.0, 0, 0], u=jnp.ones((16, 2)), h=1 / 16,
    ...                        goal=lambda q: q - jnp.array([0.0, 0.0, 1.0]), cost=lambda q, u: u @ u)
    >>> round(float(path.cost), 4)     # 2 pi, a circle in the plane, by 16 steps
    6.3652
    """
    u, h = _inputs(u), checks.step_size(h)
    q = on_device(checks.vector("q", q))
    system = checks.canonical(system).at(q, checks.by_numpy)
    n, m = shapes(system, q)
    if u.shape[1] != m:
        raise InputError(f"u has {u.shape[1]} columns and the system {m} free velocities; give one a column.")
    stage = Kinematic(cost, goal, system)
    x = _path(stage, h, q, u)
    found = solve(stage, h, q, x, u)
    nodes = np.concatenate([np.asarray(q)[None], found.x])
    middle = jnp.asarray((nodes[1:] + nodes[:-1]) / 2)
    xi = jax.vmap(lambda q, u: hamel.full(system, q, u))(middle, jnp.asarray(found.w))
    t = np.arange(len(u) + 1) * float(h)
    none = np.zeros((len(t), 0))
    return Optimum(
        t, nodes, none, np.asarray(xi), found.w, found.cost, found.feasibility, found.stationarity, found.iterations
    )


class Dynamic(Stage):
    """A step of a scheme as constraint: x = (q, p) at a node, w = (z, u) with z the scheme's unknowns."""

    actuated: Callable
    running: Callable
    target: Callable
    scheme: Scheme
    coordinates: int
    rank: int
    inputs: int

    def _node(self, x: Array) -> tuple[Array, Array]:
        return x[: self.coordinates], x[self.coordinates :]

    def start_of(self, x: Array, xi: Array, u: Array) -> tuple[System, State]:
        """The system under the input, and the state at a node; xi is where Newton would start."""
        return self.actuated(u), State(*self._node(x), xi)

    @jax.jit  # traced once for all that needs it
    def _advance(self, h: Array, x: Array, w: Array) -> tuple[Array, State, Array]:
        """The scheme's residual, the state it advances to, and xi."""
        z = w[: -self.inputs]
        system, state = self.start_of(x, z[: self.rank], w[-self.inputs :])
        left = self.scheme.residual(system, state, h, z)
        # From the p that (D2) asks for, not the p that is there: then p_{k+1} = mu + tau h F, however a scheme puts it
        # together. Otherwise what is not yet met is weighed in another way, which leads the search elsewhere.
        asked = state.replace(p=state.p + left[: self.rank])
        return left, *self.scheme.advance(system, asked, h, z)

    def equations(self, h: Array, x: Array, w: Array, x1: Array) -> Array:
        left, new, _ = self._advance(h, x, w)
        return jnp.concatenate([left, x1 - jnp.concatenate([new.q, new.p])])

    def cost(self, h: Array, x: Array, w: Array, x1: Array) -> Array:
        _, _, xi = self._advance(h, x, w)
        middle = (self._node(x)[0] + self._node(x1)[0]) / 2
        return h * self.running(middle, xi, w[-self.inputs :])

    def goal(self, x: Array) -> Array:
        return jnp.asarray(self.target(*self._node(x)))


class Kinematic(Stage):
    """(D1) as constraint: x = q at a node, w = xi^D."""

    running: Callable
    target: Callable
    system: System

    def equations(self, h: Array, x: Array, w: Array, x1: Array) -> Array:
        middle = (x + x1) / 2
        return x1 - x - h * self.system.frame(middle) @ hamel.full(self.system, middle, w)

    def cost(self, h: Array, x: Array, w: Array, x1: Array) -> Array:
        return h * self.running((x + x1) / 2, w)

    def goal(self, x: Array) -> Array:
        return jnp.asarray(self.target(x))


def _inputs(u: ArrayLike) -> Array:
    u = jnp.asarray(u, float)
    if u.ndim != 2 or not u.size:
        raise InputError(f"u must have one row a step and one column an input; got shape {u.shape}.")
    return u


@partial(jax.jit, compiler_options=ONCE)
def _run(stage: Dynamic, h: Array, x0: Array, xi: Array, u: Array) -> tuple[Array, Array]:
    """Nodes and unknowns of the run of given inputs."""

    def one(carry: tuple, u: Array) -> tuple[tuple, tuple]:
        x, xi = carry
        system, state = stage.start_of(x, xi, u)
        z, report = root(lambda z: stage.scheme.residual(system, state, h, z), stage.scheme.guess(system, state, h))
        new, xi = stage.scheme.advance(system, state, h, z)
        x = jnp.where(report.converged, jnp.concatenate([new.q, new.p]), jnp.nan)
        return (x, new.xi), (x, jnp.concatenate([z, u]))

    return lax.scan(one, (x0, xi), u)[1]


@partial(jax.jit, compiler_options=ONCE)
def _path(stage: Kinematic, h: Array, q: Array, u: Array) -> Array:
    def one(q: Array, u: Array) -> tuple[Array, Array]:
        guess = q + h * stage.system.frame(q) @ hamel.full(stage.system, q, u)
        q = root(lambda q1: stage.equations(h, q, u, q1), guess)[0]
        return q, q

    return lax.scan(one, q, u)[1]


@partial(jax.jit, compiler_options=ONCE)
def _velocities(stage: Dynamic, h: Array, x: Array, w: Array) -> Array:
    return jax.vmap(lambda x, w: stage._advance(h, x, w)[2])(x, w)
