"""Lagrangians L(q, qdot, params) from the velocity of the mass centre, and constraints: no quasi-velocities."""

import jax
import jax.numpy as jnp


def sleigh(q, v, params):
    """params: mass, inertia, offset."""
    m, j, a = params

    def centre(q):
        return q[1:] + a * jnp.array([jnp.cos(q[0]), jnp.sin(q[0])])

    _, velocity = jax.jvp(centre, (q,), (v,))
    return 0.5 * m * velocity @ velocity + 0.5 * j * v[0] ** 2


def sleigh_frame(q, params=None):
    c, s = jnp.cos(q[0]), jnp.sin(q[0])
    return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def blade(q, params=None):
    return jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]])


def disk(q, v, params):
    """params: mass, radius, inertia about a diameter, about the axis, gravity; q = (theta, phi, psi, x, y)."""
    m, r, a, b, g = params

    def centre(q):
        lean = r * jnp.sin(q[0])
        return jnp.array([q[3] - lean * jnp.sin(q[1]), q[4] + lean * jnp.cos(q[1]), r * jnp.cos(q[0])])

    position, velocity = jax.jvp(centre, (q,), (v,))
    turning = a * (v[0] ** 2 + (v[1] * jnp.cos(q[0])) ** 2) + b * (v[1] * jnp.sin(q[0]) + v[2]) ** 2
    return 0.5 * (m * velocity @ velocity + turning) - m * g * position[2]


def rolling(q, params):
    """x' + R psi' cos phi = 0, y' + R psi' sin phi = 0."""
    r = params[1]
    return jnp.array([[0.0, 0.0, r * jnp.cos(q[1]), 1.0, 0.0], [0.0, 0.0, r * jnp.sin(q[1]), 0.0, 1.0]])


def rolling_along_and_across(q, params):
    """The same two, along the heading and across it."""
    c, s = jnp.cos(q[1]), jnp.sin(q[1])
    return jnp.array([[c, s], [-s, c]]) @ rolling(q, params)


SLEIGH = jnp.array([1.0, 0.7, 0.4])
DISK = jnp.array([1.0, 1.0, 0.25, 0.5, 9.8])


def lagrange_dalembert(lagrangian, one_forms, params, q, v):
    """(acceleration, lambda) of d/dt dL/dqdot - dL/dq = lambda_a A^a, A qdot = 0, as one linear (KKT) system."""
    mass = jax.hessian(lagrangian, 1)(q, v, params)
    _, drift = jax.jvp(lambda q: jax.grad(lagrangian, 1)(q, v, params), (q,), (v,))
    a, rate = jax.jvp(lambda q: one_forms(q, params), (q,), (v,))
    k, n = a.shape
    matrix = jnp.block([[mass, -a.T], [a, jnp.zeros((k, k))]])
    right = jnp.concatenate([jax.grad(lagrangian)(q, v, params) - drift, -rate @ v])
    return jnp.split(jnp.linalg.solve(matrix, right), [n])
