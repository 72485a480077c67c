"""The reference motion: (H) integrated by DOP853 at 1e-12, what every scheme is compared with."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities, Velocities
from discrete_hamel._support.errors import InputError, RunFailed
from discrete_hamel._support.inputs import floats
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.singular_states import left_chart
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.trajectory import Trajectory


@jax.jit
def rate(system: System, y: Array, coordinates: Array) -> Array:
    """y' of y = (q, xi^D); `coordinates` only carries the length N in its shape."""
    q, free = jnp.split(y, [len(coordinates)])
    velocity, acceleration = hamel.vector_field(system, q, free)
    return jnp.concatenate([velocity, acceleration[: system.rank]])


@interpret
def _nodes(system: System, q: Array, free: Array) -> tuple[Array, Array]:
    def node(q: Array, free: Array) -> tuple[Array, Array]:
        return hamel.balance(system, q, free)[0], hamel.full(system, q, free)

    return jax.vmap(node)(q, free)


def node_times(t: ArrayLike) -> np.ndarray:
    """The times of the nodes: those of an array, or 0 and the time given.

    >>> node_times(2.0).tolist()
    [0.0, 2.0]
    """
    times = np.atleast_1d(np.asarray(floats("t", t)))
    times = np.concatenate([[0.0], times]) if np.ndim(t) == 0 else times
    ahead = times if np.ndim(times) == 1 and len(times) and times[-1] >= 0 else -times
    if (
        ahead.ndim != 1
        or not len(ahead)
        or not np.all(np.isfinite(ahead))
        or (ahead.any() and not (ahead[0] >= 0 and np.all(np.diff(ahead) > 0)))
    ):
        raise InputError("t must be a final time or finite times in order, all forward or all backward of 0.")
    return times


def reference(
    system: System, q: Coordinates, xi: Quasivelocities | None = None, *, v: Velocities | None = None, t: ArrayLike
) -> Trajectory:
    """Returns the motion of (H) from (q, xi), or (q, v), at time 0, by DOP853 with tolerances 1e-12.

    `t` is an array of times, at which the nodes are, or a final time T, for nodes at 0 and T.

    >>> import discrete_hamel as dh
    >>> exact = dh.reference(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], t=4.0)
    >>> exact.q.shape
    (2, 3)
    """
    system, q, xi = checks.initial_data(system, q, xi, v)
    times = node_times(t)
    y0 = np.concatenate([q, xi[: system.rank]])
    size = np.zeros(len(q))
    samples = np.empty((len(times), len(y0)))
    samples[times == 0] = y0
    wanted = times[times != 0]
    if len(wanted):
        solution = scipy.integrate.solve_ivp(
            lambda _, y: np.asarray(rate(system, y, size)),
            (0.0, wanted[-1]),
            y0,
            method="DOP853",
            t_eval=wanted,
            rtol=1e-12,
            atol=1e-12,
        )
        if not solution.success:
            reached = solution.t[-1] if len(solution.t) else 0.0
            raise RunFailed(f"the reference integrator stopped after t = {reached:g}: {solution.message}")
        samples[times != 0] = solution.y.T
    q, free = np.split(samples, [len(q)], axis=1)
    p, xi = (np.asarray(a) for a in _nodes(system, q, free))
    if getattr(system, "chart", None) is not None and (failure := left_chart(system, q, xi, times, 0, 1)):
        raise failure
    return Trajectory(times, q, p, xi, None, None, system, None, None, None)  # type: ignore[arg-type]
