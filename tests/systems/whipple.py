"""The Whipple bicycle as a user writes it: a Lagrangian, and what must not slip; and what is known of it.

Coordinates (x, y, yaw, lean, pitch, steer, rear, front), z up, parameters from `dh.systems.garage.WhippleBicycle`,
whose formulas are not used.
"""

import garages
import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

# Meijaard, Papadopoulos, Ruina and Schwab (2007), table 2: by speed, weave (real, imaginary), capsize, castering.
TABLE = {
    1: (3.52696170990070, 0.80774027519930, -3.13423125066578, -7.11008014637442),
    2: (2.68234517512745, 1.68066296590675, -3.07158645641514, -8.67387984831735),
    3: (1.70675605663975, 2.31582447384325, -2.63366137253667, -10.35101467245920),
    4: (0.41325331521125, 3.07910818603206, -1.42944427361326, -12.15861426576447),
    5: (-0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279822),
    6: (-1.52644486584142, 5.87673060598709, -0.00406690076970, -16.08537123098026),
    7: (-2.13875644258362, 7.19525913329805, 0.10268170574766, -18.15788466125262),
    8: (-2.69348683581097, 8.46037971396931, 0.14327879765713, -20.27940894394569),
    9: (-3.21675402252485, 9.69377351531791, 0.15790184030917, -22.43788559040858),
    10: (-3.72016840437287, 10.90681139476287, 0.16105338653172, -24.62459635017404),
}
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837
STILL = (-3.13164324790656, 3.13164324790656, -5.53094371765393, 5.53094371765393)


def eigenvalues_at(speed):
    """What the table says, all four."""
    if speed == 0:
        return STILL
    real, imaginary, capsize, castering = TABLE[speed]
    return complex(real, imaginary), complex(real, -imaginary), capsize, castering


def turn(axis, angle):
    """Rodrigues."""
    k = jnp.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return jnp.eye(3) + jnp.sin(angle) * k + (1 - jnp.cos(angle)) * k @ k


def attitudes(q, s):
    """Of leaning plane, frame, rear wheel, fork, front wheel."""
    ex, ey, ez = np.eye(3)
    axis = jnp.stack([jnp.sin(s.tilt), 0.0, -jnp.cos(s.tilt)])
    leaning = turn(ez, q[2]) @ turn(ex, q[3])
    frame = leaning @ turn(ey, q[4])
    fork = frame @ turn(axis, q[5])
    return leaning, frame, frame @ turn(ey, q[6]), fork, fork @ turn(ey, q[7])


def places(q, s):
    """Mass centres of rear wheel, frame, fork, front wheel."""
    leaning, frame, _, fork, _ = attitudes(q, s)
    rear = jnp.stack([q[0], q[1], 0.0]) + s.rear_radius * leaning[:, 2]
    (bx, bz), (hx, hz), foot = s.frame_centre, s.fork_centre, s.wheelbase + s.trail
    ground = rear + frame @ jnp.array([foot, 0.0, -s.rear_radius])
    middle = rear + frame @ jnp.array([bx, 0.0, bz - s.rear_radius])
    return (
        rear,
        middle,
        ground + fork @ jnp.array([hx - foot, 0, hz]),
        ground + fork @ jnp.array([-s.trail, 0, s.front_radius]),
    )


def moving(q, v, s):
    """Places, velocities, attitudes and angular velocities of the four bodies, in space."""
    where, speeds = jax.jvp(lambda q: jnp.stack(places(q, s)), (q,), (v,))
    turns, rates = jax.jvp(lambda q: jnp.stack([attitudes(q, s)[i] for i in (2, 1, 3, 4)]), (q,), (v,))
    w = rates @ jnp.swapaxes(turns, 1, 2)
    return where, speeds, turns, jnp.stack([w[:, 2, 1], w[:, 0, 2], w[:, 1, 0]], axis=1)


def inertias(s):
    def full(xx, yy, zz, xz):
        return jnp.array([[xx, 0.0, xz], [0.0, yy, 0.0], [xz, 0.0, zz]])

    wheels = [jnp.diag(jnp.array([a, b, a])) for a, b in (s.rear_inertia, s.front_inertia)]
    return jnp.stack([wheels[0], full(*s.frame_inertia), full(*s.fork_inertia), wheels[1]])


def lagrangian(q, v, s):
    where, speeds, turns, omegas = moving(q, v, s)
    masses = jnp.array([s.rear_mass, s.frame_mass, s.fork_mass, s.front_mass])
    own = jnp.einsum("kba,kb->ka", turns, omegas)
    turning = jnp.einsum("ka,kab,kb->", own, inertias(s), own)
    return 0.5 * (masses @ jnp.sum(speeds**2, axis=1) + turning) - s.gravity * masses @ where[:, 2]


def slipping(q, v, s):
    """Of the rear wheel's lowest point forward and sideways, of the front wheel's all three components."""
    where, speeds, turns, omegas = moving(q, v, s)

    def lowest(k, radius):
        axle = turns[k][:, 1]
        down = axle[2] * axle - jnp.array([0.0, 0.0, 1.0])
        return speeds[k] + jnp.cross(omegas[k], radius * down / jnp.sqrt(down @ down))

    return jnp.concatenate([lowest(0, s.rear_radius)[:2], lowest(3, s.front_radius)])


def rows(q, s):
    return jax.jacfwd(lambda v: slipping(q, v, s))(jnp.zeros(8))


NAMES = ("x", "y", "yaw", "lean", "pitch", "steer", "rear", "front")
ORDER = [2, 0, 1, 3, 4, 6, 5, 7]  # of the mechanism's coordinates, in those
FREE = ("lean", "steer", "rear")  # whose rates are xi in the frame by hand


def from_constraints(s):
    return dh.from_constraints(lagrangian, rows, params=s, coordinates=NAMES, free=FREE)


def as_a_mechanism(s):
    """With the same velocities free as by hand; nothing says so in what a user builds."""
    return garages.bicycle(s).replace(free=tuple(ORDER.index(NAMES.index(name)) for name in FREE))
