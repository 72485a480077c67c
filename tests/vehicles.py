"""Car, roller racer and snakeboard by Lagrangian and wheels, in all their coordinates; their shapes driven in time."""

import jax
import jax.numpy as jnp
import numpy as np
from multipliers_in_time import across, moving, unit

import discrete_hamel as dh


def steering(t, s):
    return s[0] * jnp.sin(s[1] * t) + 0.2


def rotor(t, s):
    return s[2] * jnp.sin(t + 0.4)


PARAMETERS = jnp.array([0.5, 1.3, 0.9])


def driven(path, v, t, s):
    """v - f'(t)."""
    return v - jax.jvp(lambda t: path(t, s), (t,), (jnp.ones_like(t),))[1]


def car_lagrangian(t, q, v, s):
    c = dh.systems.Car()
    centre = moving(lambda q: q[1:3] + c.centre * unit(q[0]), q, v)
    turning = c.inertia * v[0] ** 2 + c.steering_inertia * (v[0] + v[3]) ** 2
    return 0.5 * (c.mass * centre @ centre + turning)


def car_constraint(t, q, v, s):
    front = moving(lambda q: q[1:3] + dh.systems.Car().wheelbase * unit(q[0]), q, v)
    return jnp.stack([across(q[0]) @ v[1:3], across(q[0] + q[3]) @ front, driven(steering, v[3], t, s)])


def racer_lagrangian(t, q, v, s):
    r = dh.systems.RollerRacer()
    turning = r.inertia * v[0] ** 2 + r.handle_inertia * (v[0] + v[3]) ** 2
    return 0.5 * (r.mass * v[1:3] @ v[1:3] + turning)


def racer_constraint(t, q, v, s):
    r = dh.systems.RollerRacer()
    front = moving(lambda q: q[1:3] + r.rear * unit(q[0]) + r.front * unit(q[0] + q[3]), q, v)
    return jnp.stack([across(q[0]) @ v[1:3], across(q[0] + q[3]) @ front, driven(steering, v[3], t, s)])


def board_lagrangian(t, q, v, s):
    b = dh.systems.Snakeboard()
    wheels = b.wheel_inertia * ((v[0] + v[4]) ** 2 + (v[0] - v[4]) ** 2)
    turning = b.inertia * v[0] ** 2 + b.rotor_inertia * (v[0] + v[3]) ** 2
    return 0.5 * (b.mass * v[1:3] @ v[1:3] + turning + wheels)


def board_constraint(t, q, v, s):
    half = dh.systems.Snakeboard().half_length
    front = moving(lambda q: q[1:3] + half * unit(q[0]), q, v)
    back = moving(lambda q: q[1:3] - half * unit(q[0]), q, v)
    wheels = [across(q[0] + q[4]) @ front, across(q[0] - q[4]) @ back]
    return jnp.stack([*wheels, driven(rotor, v[3], t, s), driven(steering, v[4], t, s)])


class Vehicle:
    """The library's system with prescribed shapes, and the other description of the same."""

    def __init__(self, free, paths, lagrangian, constraint):
        self.free, self.lagrangian, self.constraint = free, lagrangian, constraint
        self.paths = {free.coordinates.index(name): path for name, path in paths.items()}
        self.system = dh.prescribe(free, paths, params=PARAMETERS)
        self.q, self.xi = np.array([0.3, 0.1, -0.2, 0.0]), np.array([0.8])

    def whole(self, t, q, v, s=PARAMETERS):
        """All coordinates and their velocities, from those that are not prescribed."""
        shape = [jax.jvp(lambda t, f=f: f(t, s), (jnp.asarray(t),), (jnp.asarray(1.0),)) for f in self.paths.values()]
        values, rates = zip(*shape, strict=True)
        return np.concatenate([q[:3], values]), np.concatenate([v[:3], rates])


VEHICLES = {
    "car": Vehicle(dh.systems.Car(), {"alpha": steering}, car_lagrangian, car_constraint),
    "racer": Vehicle(dh.systems.RollerRacer(), {"phi": steering}, racer_lagrangian, racer_constraint),
    "board": Vehicle(dh.systems.Snakeboard(), {"psi": rotor, "phi": steering}, board_lagrangian, board_constraint),
}
