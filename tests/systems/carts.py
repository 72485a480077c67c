"""Places, axles and energies of sleighs, boards and racers by hand, in coordinates (theta, x, y, ...)."""

import jax
import jax.numpy as jnp


def unit(angle):
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def across(angle):
    return jnp.stack([-jnp.sin(angle), jnp.cos(angle)])


def moving(place):
    """The velocity of place(q)."""
    return lambda q, v: jax.jvp(place, (q,), (v,))[1]


def snakeboard_energy(s, v, rotor, steering):
    wheels = s.wheel_inertia * ((v[0] + steering) ** 2 + (v[0] - steering) ** 2)
    turning = s.inertia * v[0] ** 2 + s.rotor_inertia * (v[0] + rotor) ** 2
    return 0.5 * (s.mass * v[1:3] @ v[1:3] + turning + wheels)


def snakeboard_axles(q, v, s, steering):
    front = moving(lambda q: q[1:3] + s.half_length * unit(q[0]))(q, v)
    back = moving(lambda q: q[1:3] - s.half_length * unit(q[0]))(q, v)
    return jnp.stack([across(q[0] + steering) @ front, across(q[0] - steering) @ back])


def racer_energy(s, v, steering):
    return 0.5 * (s.mass * v[1:3] @ v[1:3] + s.inertia * v[0] ** 2 + s.handle_inertia * (v[0] + steering) ** 2)


def body_ahead(q, v, offset):
    """Velocity of the point `offset` ahead of the contact point."""
    return v[1:] + offset * v[0] * jnp.array([-jnp.sin(q[0]), jnp.cos(q[0])])


def no_sideways(q, v, _):
    return (jnp.cos(q[0]) * v[2] - jnp.sin(q[0]) * v[1])[None]
