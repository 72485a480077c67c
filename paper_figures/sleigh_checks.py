"""The sleighs of [QS] 6.2 and 6.3 against rigid bodies and point masses, and against the paper's formulas."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

M, J, A = 1.0, 0.7, 0.4
TURNING = J + M * A**2
SLEIGH = dh.systems.ChaplyginSleigh(M, J, A)
CONSERVING = dh.systems.ChaplyginSleighMomentumFrame(M, J, A)
CARRYING = dh.systems.SleighOscillator()
K = float(np.sqrt(M / TURNING)) * A  # the paper's k


def differences() -> dict[str, Any]:
    """By name, the largest difference of each check at 16 random states; the printed slips at each of them."""
    rng = np.random.default_rng(1)
    q, xi, r = rng.uniform(0.3, 1.2, (16, 3)), rng.uniform(0.3, 1.2, (16, 3)), rng.uniform(0.3, 1.2, (16, 2))
    found = {name: np.asarray(off) for name, off in _at_all(SLEIGH, CONSERVING, CARRYING, q, xi, r).items()}
    slips = {name: np.abs(found.pop(name)) for name in ("printed mu3", "printed l", "definite")}
    return {name: np.max(np.abs(off)) for name, off in found.items()} | slips


@jax.jit
def _at_all(sleigh: Any, conserving: Any, carrying: Any, q: jax.Array, xi: jax.Array, r: jax.Array) -> dict[str, Any]:
    def at(q: jax.Array, xi: jax.Array, r: jax.Array) -> dict[str, Any]:
        return (
            _plain(sleigh, q, xi)
            | _spatial(sleigh, q, xi)
            | _conserving(conserving, q, xi)
            | _carrying(carrying, q, xi, r)
        )

    return jax.vmap(at)(jnp.asarray(q), jnp.asarray(xi), jnp.asarray(r))


def _fields(theta: jax.Array) -> tuple[jax.Array, jax.Array]:
    c, s = jnp.cos(theta), jnp.sin(theta)
    return jnp.stack([c, s]), jnp.stack([-s, c])


def _ahead(q: jax.Array, away: jax.Array) -> jax.Array:
    """The point at `away` e2 from the contact point."""
    return q[1:] + away * _fields(q[0])[0]


def _rigid(q: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The velocity of the mass centre, and the kinetic energy of a rigid body, in Cartesian coordinates."""
    _, moved = jax.jvp(lambda q: _ahead(q, jnp.asarray(A)), (q,), (v,))
    return moved, 0.5 * M * moved @ moved + 0.5 * J * v[0] ** 2


def _plain(system: Any, q: jax.Array, xi: jax.Array) -> dict[str, Any]:
    e2, e3 = _fields(q[0])
    moved, kinetic = _rigid(q, system.frame(q) @ xi)
    free = xi.at[2].set(0.0)
    flow = dh.vector_field(system, q, free[:2])
    p, rates = jax.jvp(jax.grad(system.lagrangian, 1), (q, free), flow)
    printed = jnp.stack([-A * p[0] * p[1] / TURNING, M * A * p[0] ** 2 / TURNING**2])
    turned, change = jax.jvp(_kept_fields, (q[0],), (flow[0][0],))
    return {
        "centre": moved - (xi[1] * e2 + (xi[2] + A * xi[0]) * e3),
        "energy": system.lagrangian(q, xi) - kinetic,
        "(6.1)": rates[:2] - printed,
        "kept momenta": turned @ rates[:2] + change @ p[:2],
    }


def _kept_fields(theta: jax.Array) -> jax.Array:
    """u1 and u2 of (6.2), (6.3) in e1, e2, as rows."""
    c, s = jnp.cos(K * theta), jnp.sin(K * theta)
    return jnp.array([[c, A / K * s], [-K / A * s, c]])


def _momentum(q: jax.Array, v: jax.Array) -> jax.Array:
    """Of a rigid body, about the origin of space: J theta' + m x_c x v_c, m v_c."""
    moved, _ = _rigid(q, v)
    c = _ahead(q, jnp.asarray(A))
    return jnp.stack([J * v[0] + M * (c[0] * moved[1] - c[1] * moved[0]), *(M * moved)])


def _spatial(system: Any, q: jax.Array, xi: jax.Array) -> dict[str, Any]:
    free = xi.at[2].set(0.0)
    theta, x, y = q
    c, s = jnp.cos(theta), jnp.sin(theta)

    def motion(q: jax.Array, xi: jax.Array) -> jax.Array:
        return _momentum(q, system.frame(q) @ xi)

    mu, rates = jax.jvp(motion, (q, free), dh.vector_field(system, q, free[:2]))
    v = system.frame(q) @ free
    e1, e2, e3 = v[0], v[1] + y * v[0], v[2] - x * v[0]  # eta
    first = TURNING * e1 - M * y * (e2 - y * e1) + M * x * (e3 + x * e1) + M * A * e1 * (x * c + y * s)
    second, third = M * ((e2 - y * e1) - A * e1 * s), M * ((e3 + x * e1) + A * e1 * c)
    push = J * (mu[0] + y * mu[1] - x * mu[2]) * (mu[1] * c + mu[2] * s) / TURNING**2
    return {
        "spatial momentum": mu - jnp.stack([first, second, third]),
        "spatial rates": rates - push * jnp.stack([x * c + y * s, -s, c]),
        "printed mu3": mu[2] - M * ((e2 - y * e1) + A * e1 * c),
    }


def _conserving(system: Any, q: jax.Array, xi: jax.Array) -> dict[str, Any]:
    """[QS] (6.2)-(6.4) and the brackets and l after them."""
    _, kinetic = _rigid(q, system.frame(q) @ xi)
    c, s = jnp.cos(K * q[0]), jnp.sin(K * q[0])
    printed = jnp.zeros((3, 3, 3))
    printed = printed.at[:, 0, 1].set(jnp.stack([-(K**2) / A * c, K * s, jnp.ones(())]))
    printed = printed.at[:2, 0, 2].set(jnp.stack([-K / A * c * s, -(c**2)]))
    printed = printed.at[:2, 1, 2].set(jnp.stack([K**2 / A**2 * s**2, K / A * c * s]))
    printed = printed - jnp.swapaxes(printed, 1, 2)
    quadratic = 0.5 * (TURNING * xi[0] ** 2 + M * xi[1] ** 2 + M * xi[2] ** 2) + M * A * c * xi[0] * xi[2]
    return {
        "momentum frame": dh.structure(system, q) - printed,
        "its fields": system.frame(q)[0, :2] - _kept_fields(q[0])[:, 0],
        "its energy": system.lagrangian(q, xi) - kinetic,
        "corrected l": kinetic - (quadratic - M * K * s * xi[1] * xi[2]),
        "printed l": kinetic - (quadratic - M * A * s * xi[1] * xi[2]),
    }


def _carrying(system: Any, q: jax.Array, xi: jax.Array, r: jax.Array) -> dict[str, Any]:
    """A sleigh of mass M balanced on its blade, and a point mass at r e2 on a spring."""
    place, velocities = jnp.concatenate([r[:1], q]), jnp.concatenate([r[1:], xi])
    v = system.frame(place) @ velocities
    _, moved = jax.jvp(lambda q: _ahead(q[1:], q[0]), (place,), (v,))
    kinetic = 0.5 * (system.sleigh * v[2:] @ v[2:] + system.inertia * v[1] ** 2 + system.mass * moved @ moved)
    metric = jax.hessian(system.lagrangian, 1)(place, velocities)
    return {
        "carrying energy": system.lagrangian(place, velocities) - kinetic + 0.5 * system.stiffness * r[0] ** 2,
        "coupling": metric[0, 2],
        "definite": jnp.min(jnp.linalg.eigvalsh(metric[:3, :3])),
    }
