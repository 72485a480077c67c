"""Gauss' principle and Gibbs and Appell's function: the equations of motion as a minimum over accelerations."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Velocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.lagrangian import momentum_and_force


def compulsion(system: System, q: Coordinates, v: Velocities, a: Velocities) -> Array:
    """Gauss' G(a) = (1/2) (a - a_free)^T L_vv (a - a_free), a_free = L_vv^{-1} (L_q + f - L_vq v).   [BE] (37)

    Of all accelerations a = qddot that the constraint allows at (q, v), linear in the velocities or not, the motion has
    the one of least compulsion: theorem, for ideal constraints and L_vv positive definite.   [BE] Theorem 4

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> def L(q, v):                                                                             # falls freely
    ...     return 0.5 * v @ v - 9.8 * q[1]
    >>> point = dh.from_velocities(L, lambda q: jnp.eye(2), 2)
    >>> [float(dh.compulsion(point, [0.0, 0], [1.0, 0], a)) for a in ([0.0, -9.8], [3.0, -9.8])]
    [0.0, 4.5]
    """
    q, v, a = (jnp.asarray(one, float) for one in (q, v, a))
    metric, drive = _balance(system.at(q), q, v)
    off = a - jnp.linalg.solve(metric, drive)
    return 0.5 * off @ metric @ off


def gibbs_appell(system: System, q: Coordinates, xi: Quasivelocities, rates: Quasivelocities) -> Array:
    """Returns Gibbs and Appell's S(q, xi, xidot), the energy of accelerations: qddot follows from xi and its rates.
    [BE] 7

        S = (1/2) (a - a_0)^T L_vv (a - a_0),   a_0 the acceleration without forces, V(q) = -L(q, 0) and f left out

    The motion is dS/d xidot_j = <f - V_q, d qdot / d xi_j>, j = 1..m: theorem, for ideal constraints. xi is z, and the
    rates those of z, where constraints are nonlinear in the velocities; otherwise m or n components, xidot^U as b asks.

    >>> import discrete_hamel as dh
    >>> points = dh.systems.TwoPointsParallelVelocities()
    >>> float(dh.gibbs_appell(points, [0.0, 0, 1, 0], [1.0, 2.0, 0.0], [3.0, 0.0, 1.0]))     # (3^2 + 1^2)/2 + 2 2^2/2
    9.0
    """
    q, xi, rates = (jnp.asarray(one, float) for one in (q, xi, rates))
    system = system.at(q)
    v, a = acceleration(system, q, xi, rates)
    metric, drive = _balance(system, q, v)
    still = jnp.zeros_like(v)
    active = jax.grad(lambda q: _in_velocities(system)(q, still))(q) + _forces(system, q, v)
    off = a - jnp.linalg.solve(metric, drive - active)
    return 0.5 * off @ metric @ off


def acceleration(system: System, q: Array, xi: Array, rates: Array) -> tuple[Array, Array]:
    """qdot and qddot of a motion on the constraint through (q, xi) whose xi^D, or z, has these rates.   [BE] (24)"""
    m = system.rank
    v = hamel.velocities(system, q, xi[:m])
    _, a = jax.jvp(lambda q, free: hamel.velocities(system, q, free), (q, xi[:m]), (v, rates[:m]))
    return v, a


def _in_velocities(system: System) -> Callable[[Array, Array], Array]:
    """L(q, v)."""
    if system.frameless:
        return system.lagrangian
    if system.in_velocities is not None:
        return system.in_velocities
    return lambda q, v: system.lagrangian(q, jnp.linalg.solve(system.frame(q), v))


def _forces(system: System, q: Array, v: Array) -> Array:
    """f, a covector in coordinates."""
    if system.frameless:
        return system.force(q, v)
    if (shape := jax.eval_shape(system.frame, q).shape)[0] != shape[1]:
        raise InputError(
            f"{type(system).__name__} has {shape[0]} coordinates for {shape[1]} velocities: L_vv is not regular there, "
            "and accelerations in coordinates have no metric. Take as many coordinates as velocities."
        )
    _, force = momentum_and_force(system, q, v)
    return force - jax.grad(_in_velocities(system))(q, v)


def _balance(system: System, q: Array, v: Array) -> tuple[Array, Array]:
    """L_vv, and L_q + f - L_vq v."""
    forces, of = _forces(system, q, v), jax.grad(_in_velocities(system), (0, 1))
    _, drift = jax.jvp(lambda q: of(q, v)[1], (q,), (v,))
    return jax.hessian(_in_velocities(system), 1)(q, v), of(q, v)[0] + forces - drift
