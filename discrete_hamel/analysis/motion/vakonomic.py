"""The other principle: the action stationary among curves that satisfy the constraint; a flow, and between two points.

Hamel's equations vary first and constrain after; here the constraint comes first, with a multiplier in the Lagrangian.
The motions differ unless the constraint is holonomic.   Korteweg 1899; Kozlov 1983; [QS] 3.3
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities, Velocities
from discrete_hamel._support.errors import InputError, RunFailed
from discrete_hamel.analysis.motion.reference import node_times
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.frames import left_inverse
from discrete_hamel.mechanics.nonlinear import need_frame
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks

TOLERANCE = 1e-12
MESH = 60  # nodes of the first guess between two points
BETWEEN = 1e-8  # relative residual of the boundary value problem


class Vakonomic(NamedTuple):
    """A stationary curve of the action under the constraint, at times t."""

    t: np.ndarray
    q: np.ndarray
    xi: np.ndarray  # n components
    momenta: np.ndarray  # pi, n components: mu along D, mu + lambda across
    multipliers: np.ndarray  # lambda_a
    energy: np.ndarray
    action: float


def vakonomic(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    v: Velocities | None = None,
    multipliers: ArrayLike | None = None,
    t: ArrayLike,
) -> Vakonomic:
    """Returns the vakonomic flow of the system's Lagrangian and constraint from (q, xi), at times t.

        delta int l(q, xi) + lambda_a (xi^a - b^a) dt = 0:  pi = mu + lambda,  xi^a = b^a,
        d/dt pi_j = c^k_ij xi^i pi_k + u_j[l] - lambda_a u_j[b^a],  j = 1..n

    `multipliers` are lambda(0), zero unless given: free, n - m numbers
    more than a nonholonomic motion has. DOP853 at 1e-12.

    >>> import discrete_hamel as dh, numpy as np
    >>> blade, start = dh.systems.KnifeEdgeOnIncline(), ([0.0, 0, 0], [1.0, 0.0])
    >>> times = np.linspace(0, 10, 101)
    >>> rolling, stationary = dh.reference(blade, *start, t=times), dh.vakonomic(blade, *start, t=times)
    >>> bool(rolling.q[:, 1].max() < 10.0 < stationary.q[:, 1].max())       # only the second slides down for ever
    True
    """
    system, q, xi = _accept(system, q, xi, v)
    across = len(xi) - system.rank
    start = np.zeros(across) if multipliers is None else np.asarray(multipliers, float)
    if start.shape != (across,):
        raise InputError(f"multipliers has shape {start.shape}; there are {across}, one a constraint.")
    pi = np.array(hamel.momentum(system, q, xi))
    pi[system.rank :] += start
    times = node_times(t)
    guess = jnp.asarray(xi[: system.rank])
    found = scipy.integrate.solve_ivp(
        lambda _, y: np.asarray(_rates(len(q), system, y, guess)),
        (0.0, times[-1]),
        np.concatenate([q, pi]),
        "DOP853",
        t_eval=times,
        rtol=TOLERANCE,
        atol=TOLERANCE,
    )
    if not found.success:
        raise RunFailed(f"the vakonomic flow stopped after t = {found.t[-1] if len(found.t) else 0:g}: {found.message}")
    return _curve(len(q), system, times, found.y.T, guess)


def vakonomic_between(
    system: System, q0: Coordinates, q1: Coordinates, *, t: float, multipliers: ArrayLike | None = None
) -> Vakonomic:
    """Returns a stationary curve of the action, under the constraint, from q0 to q1 in the time t: a boundary value
    problem.

    Any q1 that curves along D can reach will do, near or far; a nonholonomic motion between two points exists for few.
    Collocation (SciPy's solve_bvp) from the chord, with lambda = 1 on it unless `multipliers` says what: there may be
    many stationary curves, and the guess decides.

    >>> import discrete_hamel as dh, numpy as np
    >>> particle = dh.systems.HeisenbergParticle()
    >>> curve = dh.vakonomic_between(particle, [0.0, 0, 0], [0.3, 0.0, 0.1], t=1.0)
    >>> bool(abs(curve.q[-1] - [0.3, 0.0, 0.1]).max() < 1e-7)
    True
    """
    system, begin, xi = _accept(system, q0, jnp.zeros(system.at(jnp.asarray(q0, float)).rank), None)
    end = np.asarray(checks.vector("q1", q1))
    if system.redundant or not len(end) == len(begin) == len(xi):
        raise InputError("between two points needs as many coordinates as fields: none redundant, none reduced away.")
    share = np.linspace(0.0, 1.0, MESH)
    chord = np.asarray(begin) + share[:, None] * (end - np.asarray(begin))
    pi = np.asarray(_on_chord(system, jnp.asarray(chord), jnp.asarray((end - np.asarray(begin)) / t))).copy()
    pi[:, system.rank :] = 1.0 if multipliers is None else np.asarray(multipliers, float)
    guess = jnp.zeros(system.rank)
    n, size = len(end), len(end) + pi.shape[1]
    rates = jax.jit(jax.vmap(lambda y: _rates(n, system, y, guess)))
    slopes = jax.jit(jax.vmap(jax.jacfwd(lambda y: _rates(n, system, y, guess))))
    fixed = np.eye(size)[:n]
    ends = np.concatenate([fixed, 0 * fixed]), np.concatenate([0 * fixed, fixed])
    with np.errstate(all="ignore"):  # trial curves may run away; what is found is asked below
        found = scipy.integrate.solve_bvp(
            lambda _, y: _by_columns(rates, y).T,
            lambda a, b: np.concatenate([a[:n] - np.asarray(begin), b[:n] - end]),
            share * t,
            np.concatenate([chord, pi], axis=1).T,
            fun_jac=lambda _, y: np.moveaxis(_by_columns(slopes, y), 0, -1),
            bc_jac=lambda *_: ends,
            tol=BETWEEN,
            max_nodes=20_000,
        )
    if not found.success:
        raise RunFailed(
            f"no stationary curve from q0 to q1 was found from this guess ({found.message.strip('.')}): "
            "try other multipliers=, a longer t, or a nearer q1."
        )
    return _curve(len(end), system, found.x, found.y.T, guess)


def _by_columns(function: Callable, y: np.ndarray) -> np.ndarray:
    """function of the columns of y, as many as there are, with one compilation a power of two."""
    count = y.shape[1]
    more = np.pad(y.T, ((0, (1 << (count - 1).bit_length()) - count), (0, 0)), mode="edge")
    return np.asarray(function(more))[:count]


def _accept(
    system: System, q: Coordinates, xi: Quasivelocities | None, v: Velocities | None
) -> tuple[System, Array, Array]:
    need_frame(system, "vakonomic motion", "give the constraint by its rows, from_constraints")
    system, q, xi = checks.initial_data(system, q, xi, v)
    _refuse_force(np.asarray([system.force(q, xi), system.force(q, xi + 1.0)]))
    return system, q, xi


def _refuse_force(values: np.ndarray) -> None:
    if np.any(values):
        raise InputError("forces are not part of an action: a vakonomic motion has none.")


@jax.jit
def _on_chord(system: System, chord: Array, velocity: Array) -> Array:
    def momentum(q: Array) -> Array:
        free = left_inverse(system.frame(q), velocity)[: system.rank]
        return hamel.momentum(system, q, free)

    return jax.vmap(momentum)(chord)


@partial(jax.jit, static_argnums=0)
def _rates(coordinates: int, system: System, y: Array, guess: Array) -> Array:
    """(qdot, pi')."""
    q, pi = y[:coordinates], y[coordinates:]
    xi = hamel.legendre(system, q, pi[: system.rank], guess)  # mu = pi along D, xi^U = b
    slope, mu = jax.grad(system.lagrangian, (0, 1))(q, xi)
    psi = system.frame(q)
    _, back = jax.vjp(system.slip, q)
    (slips,) = back((pi - mu)[system.rank :])
    return jnp.concatenate([psi @ xi, system.coadjoint(q, xi, pi) + psi.T @ (slope - slips)])


@partial(jax.jit, static_argnums=0)
def _along(coordinates: int, system: System, y: Array, guess: Array) -> tuple[Array, ...]:
    """xi, mu, energy, l and forces at nodes."""

    def node(y: Array) -> tuple[Array, ...]:
        q, pi = y[:coordinates], y[coordinates:]
        xi = hamel.legendre(system, q, pi[: system.rank], guess)
        value, mu = jax.value_and_grad(system.lagrangian, 1)(q, xi)
        return xi, mu, mu @ xi - value, value, system.force(q, xi)

    return jax.vmap(node)(y)


def _curve(coordinates: int, system: System, t: np.ndarray, y: np.ndarray, guess: Array) -> Vakonomic:
    found = _along(coordinates, system, jnp.asarray(y), guess)
    xi, mu, energy, value, force = (np.asarray(part) for part in found)
    _refuse_force(force)  # one that is zero where the curve starts is found along it
    pi = y[:, coordinates:]
    action, ahead = 0.0, np.sign(t[-1] - t[0])  # a spline is of what grows
    if ahead:
        action = float(ahead * scipy.interpolate.CubicSpline(ahead * t, value).integrate(ahead * t[0], ahead * t[-1]))
    return Vakonomic(t, y[:, :coordinates], xi, pi, (pi - mu)[:, system.rank :], energy, action)
