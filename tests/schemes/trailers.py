"""A car with trailers as a user writes it: Lagrangian and wheels; and its frame as a careful hand writes it."""

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

AHEAD = 0.3  # of each axle lies the centre of mass
MASSES, INERTIAS = (1.0, 0.5), (0.3, 0.1)  # of the car, of a trailer


def axles(q):
    """The middle of each axle, for q = (x, y, headings of the car and its trailers); bars of length 1."""
    places = [q[:2]]
    for heading in q[3:]:
        places.append(places[-1] - jnp.stack([jnp.cos(heading), jnp.sin(heading)]))
    return jnp.stack(places)


def centres(q):
    return axles(q) + AHEAD * jnp.stack([jnp.cos(q[2:]), jnp.sin(q[2:])], axis=1)


def lagrangian(q, v, slope=0.0):
    _, moving = jax.jvp(centres, (q,), (v,))
    kinetic = sum(
        0.5 * MASSES[min(i, 1)] * moving[i] @ moving[i] + 0.5 * INERTIAS[min(i, 1)] * v[2 + i] ** 2
        for i in range(len(q) - 2)
    )
    return kinetic - slope * q[1]


def wheels(q):
    """One row an axle: it does not move sideways."""
    across = jnp.stack([-jnp.sin(q[2:]), jnp.cos(q[2:])], axis=1)
    return jnp.einsum("ad,adx->ax", across, jax.jacfwd(axles)(q))


def drive_and_turn(q):
    """u_1: straight on at speed 1, the trailers following; u_2: the car turns; and the wheels' rows as complement."""
    drive, speed = [jnp.cos(q[2]), jnp.sin(q[2]), jnp.zeros(())], jnp.ones(())
    for ahead, behind in zip(q[2:], q[3:], strict=False):
        drive.append(speed * jnp.sin(ahead - behind))
        speed = speed * jnp.cos(ahead - behind)
    turn = jnp.zeros(len(q)).at[2].set(1.0)
    return jnp.concatenate([jnp.stack([jnp.stack(drive), turn], axis=1), wheels(q).T], axis=1)


def start(trailers: int) -> np.ndarray:
    return np.concatenate([[0.0, 0.0, 0.3], 0.3 - 0.25 * np.arange(1, trailers + 1)])


def by_hand() -> dh.System:
    return dh.from_velocities(lagrangian, drive_and_turn, 2)


def from_wheels() -> dh.System:
    return dh.from_constraints(lagrangian, wheels)
