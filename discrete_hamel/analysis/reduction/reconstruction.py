"""From Q to D/G and back: q = g sigma(r), g' = g (e Omega - A r')."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.motion import reference
from discrete_hamel.analysis.reduction.reduced_systems import ReducedSystem
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.trajectory import Trajectory

MOST = 200  # iterations of `shape_of`
LONGEST = 0.5  # of one of them, on the group


def shape_of(
    reduced: ReducedSystem, q: Coordinates, xi: Quasivelocities, *, r: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns (r, xi, g) of a state of the whole system: q = g sigma(r), q' = g T (r', xi), xi = (r', Omega).

    g is the matrix by which the group acts on (q, 1). `r` is where Newton's iteration starts, else the shape at which
    the reduced system was made.

    >>> import discrete_hamel as dh
    >>> lean = dh.reduce(dh.systems.RollingDisk())
    >>> r, xi, g = dh.shape_of(lean, [0.4, 0.5, 0.1, 1, 2], [0.1, 0.6, 3.0])
    >>> bool(abs(g @ [*lean.section(r), 1] - [0.4, 0.5, 0.1, 1, 2, 1]).max() < 1e-14)
    True
    """
    system, q, xi = checks.initial_data(reduced.system, q, xi, None)
    start = reduced.start if r is None else jnp.atleast_1d(jnp.asarray(r, float))
    place, g, off = _meet(reduced, q, start)
    if not float(off) < 1e-9 * (1 + float(jnp.max(jnp.abs(q)))):
        raise InputError(
            f"no r and g with q = g sigma(r) were found from r = {np.asarray(start).tolist()}: {float(off):.1e} is "
            "left. Give r, a shape nearer by; or the section does not meet this orbit."
        )
    return np.asarray(place), np.asarray(_down(reduced, place, g, q, xi)), np.asarray(g)


@interpret
def _meet(reduced: ReducedSystem, q: Array, r: Array) -> tuple[Array, Array, Array]:
    """Gauss' and Newton's iteration for (r, g), with steps on the group no longer than half a turn's sixth."""
    s = reduced.shapes_count

    def rest(r: Array, g: Array) -> Array:
        return jnp.linalg.solve(g, jnp.append(q, 1.0))[:-1] - reduced.section(r)

    def once(carry: tuple) -> tuple:
        r, g, _, k = carry
        step = jnp.linalg.lstsq(reduced.tangent(r), rest(r, g))[0]
        step = step / jnp.maximum(1.0, jnp.linalg.norm(step) / LONGEST)
        r, g = r + step[:s], g @ jax.scipy.linalg.expm(jnp.einsum("a,aij->ij", step[s:], reduced.actions))
        return r, g, jnp.max(jnp.abs(rest(r, g))), k + 1

    goal = 4 * jnp.finfo(q.dtype).eps * (1 + jnp.max(jnp.abs(q)))

    def going(carry: tuple) -> Array:
        return (carry[2] > goal) & (carry[3] < MOST)

    r, g, off, _ = jax.lax.while_loop(going, once, (r, jnp.eye(len(q) + 1), jnp.asarray(jnp.inf), jnp.asarray(0)))
    return r, g, off


@interpret
def _down(reduced: ReducedSystem, r: Array, g: Array, q: Array, xi: Array) -> Array:
    velocity = jnp.linalg.solve(g[:-1, :-1], reduced.system.frame(q) @ xi)
    rates = jnp.linalg.lstsq(reduced.tangent(r), velocity)[0]
    return jnp.linalg.solve(reduced.transition(r), rates).at[reduced.rank :].set(0.0)


def body_velocity(reduced: ReducedSystem, r: Array, xi: Array) -> Array:
    """g^-1 g' = e Omega - A r', on the fixed basis of the algebra.   [QS] (2.15)"""
    return (reduced.transition(r) @ hamel.full(reduced, r, xi))[reduced.shapes_count :]


def reconstruct(
    trajectory: Trajectory, g: ArrayLike | None = None, *, retraction: Callable | None = None, elements: bool = False
) -> np.ndarray:
    """Returns q at the nodes of a trajectory of a reduced system, (K+1, N), from the g at the first.   [QS] (2.15)

        g_{k+1} = g_k tau(h (e Omega - A r')),  at (r_k + r_{k+1})/2 and the interval's velocity;  q_k = g_k sigma(r_k)

    tau is exp, or `retraction(X)`, what it adds to 1 (`dh.groups.cay`). Along a `reference`, the differential equation
    itself, at 1e-13. With `elements` the matrices g_k instead.

    >>> import discrete_hamel as dh
    >>> run = dh.simulate(dh.reduce(dh.systems.SleighOscillator()), [0.0], [0.8, 0.3, 0.5], h=0.1, steps=10)
    >>> dh.reconstruct(run).shape
    (11, 4)
    """
    reduced = trajectory.system
    if not isinstance(reduced, ReducedSystem):
        raise InputError(f"reconstruct is for runs of dh.reduce's systems; this is one of {type(reduced).__name__}.")
    size = reduced.actions.shape[1]
    first = jnp.eye(size) if g is None else jnp.asarray(g, float)
    if first.shape != (size, size):
        raise InputError(f"g acts on (q, 1): a matrix {size} x {size}; got shape {first.shape}.")
    if trajectory.scheme is None:
        found = _along_reference(reduced, trajectory, first)
    else:
        if trajectory.save_every != 1:
            raise InputError("a reconstruction needs every node: simulate with save_every=1.")
        if trajectory.scheme.time(trajectory.final) is not None:
            raise InputError("a reconstruction is written for a constant step; here the steps vary.")
        r = jnp.asarray(trajectory.q)
        found = _along_steps(retraction, reduced, r, jnp.asarray(trajectory.xi_mid), trajectory.h, first)
    if elements:
        return np.asarray(found)
    return np.asarray(_points(reduced, jnp.asarray(trajectory.q), jnp.asarray(found)))


@interpret
def _points(reduced: ReducedSystem, r: Array, g: Array) -> Array:
    return jax.vmap(lambda r, g: (g @ jnp.append(reduced.section(r), 1.0))[:-1])(r, g)


@partial(interpret, static=1, often=OFTEN)
def _along_steps(
    retraction: Callable | None, reduced: ReducedSystem, r: Array, mids: Array, h: Array, first: Array
) -> Array:
    def increment(r0: Array, r1: Array, xi: Array) -> Array:
        turn = h * jnp.einsum("a,aij->ij", body_velocity(reduced, (r0 + r1) / 2, xi), reduced.actions)
        return jax.scipy.linalg.expm(turn) if retraction is None else jnp.eye(len(turn)) + retraction(turn)

    def go(g: Array, step: Array) -> tuple[Array, Array]:
        return g @ step, g @ step

    _, found = jax.lax.scan(go, first, jax.vmap(increment)(r[:-1], r[1:], mids))
    return jnp.concatenate([first[None], found])


def _along_reference(reduced: ReducedSystem, run: Trajectory, first: Array) -> np.ndarray:
    s, n = reduced.shapes_count, first.shape[0]
    d, t = s + reduced.rank, np.asarray(run.t)
    y0 = np.concatenate([run.q[0], run.xi[0, : reduced.rank], np.ravel(first)])

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [reference.rate(reduced, y[:d], y[:s]), _turn(reduced, y[:s], y[s:d], y[d:].reshape(n, n))]
        )

    found = scipy.integrate.solve_ivp(
        rate,
        (t[0], t[-1]),
        y0,
        "DOP853",
        t_eval=t,
        rtol=1e-13,
        atol=1e-13,
    )
    if not found.success:
        raise InputError(f"the reduced motion could not be followed: {found.message}")
    return found.y[d:].T.reshape(-1, n, n)


@jax.jit
def _turn(reduced: ReducedSystem, r: Array, xi: Array, g: Array) -> Array:
    return (g @ jnp.einsum("a,aij->ij", body_velocity(reduced, r, xi), reduced.actions)).ravel()
