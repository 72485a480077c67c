"""Lagrange-d'Alembert with multipliers: the accelerations of a system written without any frame or bracket.

What every system of the catalogue is compared with. It knows coordinates, a Lagrangian L(q, v) and constraints
c(q, v) = 0 only, and takes every derivative by autodiff of those two.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh


@partial(jax.jit, static_argnums=(0, 1), static_argnames=("force",))
def accelerations(L, constraint, q, v, parameters, *, force=None):
    """(qddot, lambda) of d/dt dL/dv - dL/dq = f + lambda . dc/dv,  d/dt c(q, v) = 0, from one KKT system.

    L(q, v, s), constraint(q, v, s) and force(q, v, s), a covector, take `parameters` (any pytree, say the system) last;
    the constraint is affine in v: A(q) v - b(q), one row each, or None. Redundant coordinates are welcome, as long as
    the constraints that tie them (`holonomic`) are among the rows and the rows are independent. Give functions of a
    module, not made anew for each call: each compiles once.
    """
    momentum = jax.grad(lambda q, v: L(q, v, parameters), 1)
    mass = jax.jacfwd(momentum, 1)(q, v)
    drift = jax.jvp(lambda q: momentum(q, v), (q,), (v,))[1]
    applied = jax.grad(lambda q: L(q, v, parameters))(q) - drift
    if force is not None:
        applied = applied + force(q, v, parameters)
    if constraint is None:
        return jnp.linalg.solve(mass, applied), jnp.zeros(0)
    rows = jax.jacfwd(lambda v: constraint(q, v, parameters))(v)
    bend = -jax.jvp(lambda q: constraint(q, v, parameters), (q,), (v,))[1]
    kkt = jnp.block([[mass, -rows.T], [rows, jnp.zeros((len(rows), len(rows)))]])
    solution = jnp.linalg.solve(kkt, jnp.concatenate([applied, bend]))
    return solution[: len(q)], solution[len(q) :]


def holonomic(g):
    """The velocity constraint d/dt g(q) = 0 of a holonomic one."""

    def constraint(q, v, _):
        return jax.jvp(lambda q: jnp.atleast_1d(g(q)), (q,), (v,))[1]

    return constraint


def together(*constraints):
    """Several constraints as one."""
    return lambda q, v, parameters: jnp.concatenate([jnp.atleast_1d(c(q, v, parameters)) for c in constraints])


@jax.jit
def motion(system, q, xi):
    """(qdot, qddot) of the system's own coordinates, as the library has them: Psi xi and its rate along (H)."""
    velocity, rate = dh.vector_field(system, q, xi)
    xi = jnp.concatenate([xi, system.slip(q)]) if len(xi) == system.rank else xi
    _, turned = jax.jvp(lambda q: system.frame(q) @ xi, (q,), (velocity,))
    return velocity, turned + system.frame(q) @ rate


@jax.jit
def rates(system, q, xi):
    """(qdot, xidot) of (H), compiled once for all parameters and states."""
    return dh.vector_field(system, q, xi)


def assert_same(got, wanted, tolerance=1e-10):
    """Equal to `tolerance`, relative to the largest component where that is above 1."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    assert np.all(np.isfinite(wanted)), wanted
    size = max(1.0, float(np.max(np.abs(wanted))))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * size)


def assert_lagrange_dalembert(system, q, xi, L, constraint=None, *, force=None, tolerance=1e-10):
    """The system's qddot equals the one with multipliers, for L and constraint in the system's own coordinates."""
    q, xi = jnp.asarray(q, float), jnp.asarray(xi, float)
    velocity, got = motion(system, q, xi)
    if constraint is not None:  # The frame must satisfy the constraint, or the comparison is of two other systems.
        assert_same(constraint(q, velocity, system), np.zeros_like(constraint(q, velocity, system)))
    wanted, _ = accelerations(L, constraint, q, velocity, system, force=force)
    assert_same(got, wanted, tolerance)


# Rigid bodies without angular velocities: R (9 numbers, row by row) as point masses, tied by R^T R = 1.


def second_moments(inertia):
    """The integral of x x^T dm over the body, from its inertia matrix: tr(I)/2 - I."""
    inertia = jnp.asarray(inertia, float)
    return 0.5 * jnp.trace(inertia) * jnp.eye(3) - inertia


def turning_energy(rate, inertia):
    """Kinetic energy of a body that turns about a point: the masses at R x move at R' x. `rate` is R', 9 numbers."""
    rate = rate.reshape(3, 3)
    return 0.5 * jnp.trace(rate @ second_moments(inertia) @ rate.T)


@holonomic
def orthogonal(q):
    """R^T R = 1 for the first nine coordinates, 6 rows."""
    r = q[:9].reshape(3, 3)
    return (r.T @ r)[np.triu_indices(3)]


def spin(attitude, rate):
    """Body angular velocity of R and R', each 9 numbers: the axial vector of R^T R'."""
    w = attitude.reshape(3, 3).T @ rate.reshape(3, 3)
    return jnp.stack([w[2, 1] - w[1, 2], w[0, 2] - w[2, 0], w[1, 0] - w[0, 1]]) / 2


def spin_rate(attitude, rate, second):
    """Body angular acceleration of R, R' and R'', each 9 numbers."""
    return jax.jvp(spin, (attitude, rate), (rate, second))[1]
