"""Bodies that roll on a plane, written without angular velocity or frame, and end states to compare runs with."""

import jax
import jax.numpy as jnp
import numpy as np
from checkers import falls
from multipliers import orthogonal, together, turning_energy

import discrete_hamel as dh


def as_point_masses(contact, inertia):
    """(L, constraint) in (R, x, y) for assert_lagrange_dalembert.

    `contact`(gamma, s): the body's point that touches the plane, from the mass centre, for the upward vertical gamma
    seen from the body. The height is -gamma . contact; that point of the body has no horizontal velocity.
    """

    def height(q, s):
        return -q[6:9] @ contact(q[6:9], s)

    def lagrangian(q, v, s):
        rise = jax.jvp(lambda q: height(q, s), (q,), (v,))[1]
        moving = 0.5 * s.mass * (v[9] ** 2 + v[10] ** 2 + rise**2)
        return turning_energy(v[:9], inertia(s)) + moving - s.mass * s.gravity * height(q, s)

    def rolling(q, v, s):
        return v[9:] + v[:6].reshape(2, 3) @ contact(q[6:9], s)

    return lagrangian, together(orthogonal, rolling)


def diagonal(*names):
    """The inertia matrix with these parameters of the system on the diagonal."""
    return lambda s: jnp.diag(jnp.stack([jnp.asarray(getattr(s, name), float) for name in names]))


axisymmetric = diagonal("inertia_across", "inertia_across", "inertia_axis")


def lowest_of_spheroid(gamma, s):
    semiaxes = jnp.stack([s.params[0], s.params[0], s.params[1]])
    return -(semiaxes**2) * gamma / jnp.linalg.norm(semiaxes * gamma)


def lowest_of_disk(gamma, s):
    inward = gamma * jnp.array([1.0, 1.0, 0.0])
    return -s.params * inward / jnp.linalg.norm(inward)


SPHEROID = as_point_masses(lowest_of_spheroid, axisymmetric)  # of dh.systems.RollingBody
DISK = as_point_masses(lowest_of_disk, axisymmetric)


def placed(rotation, x=0.3, y=-0.2):
    """q = (R, x, y)."""
    return np.concatenate([np.asarray(rotation).reshape(9), [x, y]])


def assert_second_order(system, q, xi, t, wanted, of, steps=(200, 400, 800)):
    """The error of `of`(trajectory) at time t against given numbers."""
    falls([np.linalg.norm(of(dh.simulate(system, q, xi, h=t / k, steps=k)) - wanted) for k in steps], steps, 2)
