"""Wheeled systems one size above the papers', as a user writes them: Lagrangian, wheels, and a frame by hand.

A car with trailers, a snake of wheeled links, and the bicycle of Meijaard et al., Linearized dynamics equations for the
balance and steer of a bicycle (2007), with their benchmark's parameters (z points down).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

EX, EY, EZ = np.eye(3)


class Model(NamedTuple):
    """L(q, v), A(q), a frame by hand whose first `rank` fields span the constraint, a force; and where a run starts."""

    L: Callable
    A: Callable
    frame: Callable
    rank: int
    force: Any
    q: np.ndarray
    v: Callable  # from q

    def system(self, way: str) -> dh.System:
        """It as given by its "constraints" or by its "frame"."""
        if way == "constraints":
            return dh.from_constraints(self.L, self.A, force=self.force)
        return dh.from_velocities(self.L, self.frame, self.rank, force=self.force)

    def velocity(self) -> np.ndarray:
        """One that the constraint allows, at the start."""
        return np.asarray(self.v(self.q))


def model(name: str) -> Model:
    """By its name.

    >>> model("snake of 3").q.shape, model("car + 1").q.shape, model("bicycle").q.shape
    ((5,), (4,), (8,))
    """
    if name == "bicycle":
        return bicycle()
    kind, _, count = name.split(" ")
    return {"car": car, "snake": snake}[kind](int(count))


def _unit(a: Any) -> Any:
    return jnp.stack([jnp.cos(a), jnp.sin(a)])


def _normal(a: Any) -> Any:
    return jnp.stack([-jnp.sin(a), jnp.cos(a)])


def car(trailers: int) -> Model:
    """q = (x, y, headings of the car and its trailers); bars of length 1, each mass 0.3 ahead of its axle."""
    masses = jnp.array([1.0, *[0.5] * trailers])
    inertias = jnp.array([0.3, *[0.1] * trailers])

    def axles(q: Any) -> Any:
        places = [q[:2]]
        for heading in q[3:]:
            places.append(places[-1] - _unit(heading))
        return jnp.stack(places)

    def L(q: Any, v: Any) -> Any:
        _, moving = jax.jvp(lambda q: axles(q) + 0.3 * _unit(q[2:]).T, (q,), (v,))
        return 0.5 * masses @ jnp.sum(moving**2, axis=1) + 0.5 * inertias @ v[2:] ** 2

    def A(q: Any) -> Any:
        return jnp.einsum("ad,adx->ax", _normal(q[2:]).T, jax.jacfwd(axles)(q))

    def frame(q: Any) -> Any:
        drive, speed = [jnp.cos(q[2]), jnp.sin(q[2]), jnp.zeros(())], jnp.ones(())
        for ahead, behind in zip(q[2:], q[3:], strict=False):
            drive.append(speed * jnp.sin(ahead - behind))
            speed = speed * jnp.cos(ahead - behind)
        turn = jnp.zeros(len(q)).at[2].set(1.0)
        return jnp.concatenate([jnp.stack([jnp.stack(drive), turn], axis=1), A(q).T], axis=1)

    q = np.concatenate([[0.0, 0.0, 0.3], 0.3 - 0.25 * np.arange(1, trailers + 1)])
    return Model(L, A, frame, 2, None, q, lambda q: frame(jnp.asarray(q))[:, :2] @ jnp.array([1.0, 0.4]))


LENGTH = 0.2  # of a link of the snake


def snake(links: int) -> Model:
    """q = (x, y) of the first link's centre, and the headings; torques between links, and drag in the joints."""
    torques = jnp.array(0.01 * np.cos(np.arange(links - 1)))

    def velocities(q: Any, v: Any) -> Any:
        turned = _normal(q[2:]).T * v[2:, None] * (LENGTH / 2)
        return v[:2] - (2 * jnp.cumsum(turned, 0) - turned - turned[0])

    def L(q: Any, v: Any) -> Any:
        return 0.25 * jnp.sum(velocities(q, v) ** 2) + 0.001 * jnp.sum(v[2:] ** 2)

    def A(q: Any) -> Any:
        return jax.jacfwd(lambda v: jnp.sum(velocities(q, v) * _normal(q[2:]).T, 1))(jnp.zeros_like(q))

    def force(_: Any, v: Any) -> Any:
        nothing = jnp.zeros(1)
        joints = torques - 0.01 * (v[2:-1] - v[3:])
        return jnp.concatenate([nothing, nothing, jnp.append(joints, nothing) - jnp.append(nothing, joints)])

    def field(headings: Any, speed: float, turning: float) -> Any:
        place, rates = speed * _unit(headings[0]), [jnp.asarray(turning)]
        for ahead, behind in zip(headings, headings[1:], strict=False):
            joint = place - LENGTH / 2 * rates[-1] * _normal(ahead)
            rates.append(2 / LENGTH * (joint @ _normal(behind)))
            place = joint - LENGTH / 2 * rates[-1] * _normal(behind)
        return jnp.concatenate([speed * _unit(headings[0]), jnp.stack(rates)])

    def frame(q: Any) -> Any:
        across = [jnp.zeros(links + 2).at[:2].set(_normal(q[2]))]
        across += [jnp.zeros(links + 2).at[2 + i].set(1.0) for i in range(1, links)]
        return jnp.stack([field(q[2:], 1.0, 0.0), field(q[2:], 0.0, 1.0), *across], axis=1)

    q = np.concatenate([[0.0, 0.0], 0.3 * np.sin(np.arange(links))])
    return Model(L, A, frame, 2, force, q, lambda q: frame(jnp.asarray(q))[:, :2] @ jnp.array([0.1, 0.2]))


def bicycle() -> Model:
    """q = rear contact x, y; yaw, lean, pitch, steer; spins of the rear and of the front wheel. Five rows, the front
    contact's as a velocity.
    """
    wheelbase, trail, tilt, gravity = 1.02, 0.08, np.pi / 10, 9.81
    rear, rear_mass, rear_inertia = 0.3, 2.0, np.array([0.0603, 0.12, 0.0603])
    front, front_mass, front_inertia = 0.35, 3.0, np.array([0.1405, 0.28, 0.1405])
    body, body_mass = (0.3, -0.9), 85.0
    body_inertia = np.array([[9.2, 0, 2.4], [0, 11.0, 0], [2.4, 0, 2.8]])
    fork, fork_mass = (0.9, -0.7), 4.0
    fork_inertia = np.array([[0.05892, 0, -0.00756], [0, 0.06, 0], [-0.00756, 0, 0.00708]])
    free, dependent = jnp.array([3, 5, 6]), jnp.array([0, 1, 2, 4, 7])

    def about(axis: int, a: Any) -> Any:
        c, s, one = jnp.cos(a), jnp.sin(a), jnp.ones_like(a)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        zero = jnp.zeros((3, 3)).at[axis, axis].set(one)
        return zero.at[i, i].set(c).at[j, j].set(c).at[i, j].set(-s).at[j, i].set(s)

    def poses(q: Any) -> dict[str, Any]:
        leaning = about(2, q[2]) @ about(0, q[3])
        turned = leaning @ about(1, q[4])
        steered = turned @ (about(1, tilt) @ about(2, q[5]) @ about(1, -tilt))
        contact = jnp.stack([q[0], q[1], 0.0 * q[0]])
        hub = contact - rear * (leaning @ EZ)
        head = hub + turned @ jnp.array([wheelbase + trail, 0, rear])

        def of_front(x: float, z: float) -> Any:
            return head + steered @ jnp.array([x - (wheelbase + trail), 0, z])

        return {
            "body turned": turned, "fork turned": steered, "rear hub": hub, "contact": contact,
            "body": hub + turned @ jnp.array([body[0], 0, body[1] + rear]),
            "fork": of_front(*fork), "front hub": of_front(wheelbase, -front),
        }  # fmt: skip

    def spin(turned: Any, turning: Any) -> Any:
        w = turning @ turned.T
        return jnp.stack([w[2, 1], w[0, 2], w[1, 0]])

    def rates(q: Any, v: Any) -> tuple[Any, Any, Any, Any]:
        place, moving = jax.jvp(poses, (q,), (v,))
        return place, moving, *(spin(place[n], moving[n]) for n in ("body turned", "fork turned"))

    def L(q: Any, v: Any) -> Any:
        place, moving, of_body, of_fork = rates(q, v)
        b, f = place["body turned"].T @ of_body, place["fork turned"].T @ of_fork
        masses = {"body": body_mass, "fork": fork_mass, "rear hub": rear_mass, "front hub": front_mass}
        kinetic = sum(0.5 * m * moving[n] @ moving[n] for n, m in masses.items())
        wheels = (b + v[6] * EY, rear_inertia), (f + v[7] * EY, front_inertia)
        kinetic += 0.5 * (b @ body_inertia @ b + f @ fork_inertia @ f + sum(w @ (i * w) for w, i in wheels))
        return kinetic + gravity * sum(m * place[n][2] for n, m in masses.items())

    def contact_velocities(q: Any, v: Any) -> Any:
        place, moving, of_body, of_fork = rates(q, v)
        below = jnp.cross(of_body + v[6] * (place["body turned"] @ EY), place["contact"] - place["rear hub"])
        axle = place["fork turned"] @ EY
        down = EZ - axle * (axle @ EZ)
        ahead = jnp.cross(of_fork + v[7] * axle, front * down / jnp.sqrt(down @ down))
        return jnp.concatenate([(moving["rear hub"] + below)[:2], moving["front hub"] + ahead])

    def A(q: Any) -> Any:
        return jax.jacfwd(lambda v: contact_velocities(q, v))(jnp.zeros(8))

    def frame(q: Any) -> Any:
        a, i = A(q), jnp.arange(3)
        fields = (
            jnp.zeros((8, 3)).at[free, i].set(1.0).at[dependent].set(-jnp.linalg.solve(a[:, dependent], a[:, free]))
        )
        return jnp.concatenate([fields, jnp.eye(8)[:, dependent]], axis=1)

    q = np.array([0, 0, 0.0, 0.05, 0, 0.02, 0, 0])
    return Model(L, A, frame, 3, None, q, lambda q: frame(jnp.asarray(q))[:, :3] @ jnp.array([0.1, 0.05, -4.6 / 0.3]))
