"""The rolling disk of [QS] 6.5 against four mass points, and against the paper's formulas."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

DISK = dh.systems.RollingDisk()
M, R, A, B, G = DISK.mass, DISK.radius, DISK.inertia_diameter, DISK.inertia_axis, DISK.gravity
TURNING = M * R**2 + B


def momenta(q: Any, xi: Any) -> tuple[Any, Any]:
    """p1 = A phi' cos(theta), p2 = (m R^2 + B)(phi' sin(theta) + psi'); not as printed."""
    return A * xi[1] * jnp.cos(q[0]), TURNING * (xi[1] * jnp.sin(q[0]) + xi[2])


def momentum_slopes(theta: float, p1: Any, p2: Any) -> np.ndarray:
    """dp1/dtheta and dp2/dtheta by the printed momentum equations."""
    return np.array([np.tan(theta) * p1 - B / TURNING * p2, -M * R**2 / A * p1])


def field_slopes(theta: float, eta: Any, slip: bool) -> np.ndarray:
    """(6.18) for two solutions, (eta1 of both, eta2 of both); with the slip as printed, eta2 in the second equation."""
    first, second = np.split(np.asarray(eta), 2)
    return np.concatenate([-np.tan(theta) * first + M * R**2 / A * second, B / TURNING * (second if slip else first)])


def amended(theta: Any, p1: Any, p2: Any) -> Any:
    """U_c as printed."""
    return p1**2 / (2 * A) + p2**2 / (2 * TURNING) + M * G * R * np.cos(theta)


def differences() -> dict[str, Any]:
    """By name, the largest difference of each check at 8 random states; of the printed slip at each."""
    rng = np.random.default_rng(2)
    found = _at_all(DISK, rng.uniform(0.2, 1.0, (8, 5)), rng.uniform(0.3, 1.2, (8, 5)))
    return {name: np.asarray(off) for name, off in found.items()}


@jax.jit
def _at_all(disk: Any, q: jax.Array, xi: jax.Array) -> dict[str, Any]:
    found = jax.vmap(lambda q, xi: _at(disk, q, xi))(jnp.asarray(q), jnp.asarray(xi))
    return {name: jnp.max(jnp.abs(off).reshape(len(off), -1), axis=1) for name, off in found.items()}


def _point(q: jax.Array, away: Any, angle: Any) -> jax.Array:
    """The point of the disk at this distance and angle from its spoke."""
    theta, phi, psi, x, y = q
    zero = jnp.zeros(())
    heading, left = jnp.stack([jnp.cos(phi), jnp.sin(phi), zero]), jnp.stack([-jnp.sin(phi), jnp.cos(phi), zero])
    tilted = jnp.cos(theta) * jnp.array([0.0, 0.0, 1.0]) + jnp.sin(theta) * left
    turned = jnp.cos(psi + angle) * tilted - jnp.sin(psi + angle) * heading
    return jnp.stack([x, y, zero]) + R * tilted + away * turned


def _at(disk: Any, q: jax.Array, xi: jax.Array) -> dict[str, Any]:
    """Four points m/4 at R/sqrt(2) from the centre have the disk's moments m R^2/4 and m R^2/2."""
    v = disk.frame(q) @ xi

    def speed(angle: Any) -> jax.Array:
        _, moved = jax.jvp(lambda q: _point(q, R / np.sqrt(2), angle), (q,), (v,))
        return moved @ moved

    kinetic = M / 8 * jnp.sum(jax.vmap(speed)(jnp.arange(4) * jnp.pi / 2))
    free = xi.at[3:].set(0.0)
    velocity, rate = dh.vector_field(disk, q, free[:3])
    _, touching = jax.jvp(lambda q_: _point(q_, R, jnp.pi - q[2]), (q,), (velocity,))
    p, rates = jax.jvp(momenta, (q, free), (velocity, rate))
    c, s, lean = jnp.cos(q[0]), jnp.sin(q[0]), free[0]
    turned = TURNING * (free[1] * s + free[2])
    first = A * free[1] * c**2 + turned * s  # p1 and p2 as printed
    second = -A * free[1] * c**2 * s + turned * c**2
    _, slips = jax.jvp(_printed, (q, free), (velocity, rate))
    spanned = jnp.zeros((5, 3)).at[0, 0].set(1.0).at[1, 1].set(1.0).at[2, 2].set(1.0)
    spanned = spanned.at[3:, 2].set(-R * jnp.stack([jnp.cos(q[1]), jnp.sin(q[1])]))
    return {
        "lagrangian": disk.lagrangian(q, xi) - kinetic + M * G * R * c,
        "rolling": touching,
        "fields": disk.frame(q)[:, :3] - spanned,
        "momentum equations": jnp.stack(rates) - _slopes(q[0], *p) * lean,
        "printed momenta": jnp.stack(slips) - _slopes(q[0], first, second) * lean,
    }


def _printed(q: jax.Array, xi: jax.Array) -> tuple[jax.Array, jax.Array]:
    c, s = jnp.cos(q[0]), jnp.sin(q[0])
    turned = TURNING * (xi[1] * s + xi[2])
    return A * xi[1] * c**2 + turned * s, -A * xi[1] * c**2 * s + turned * c**2


def _slopes(theta: jax.Array, p1: jax.Array, p2: jax.Array) -> jax.Array:
    return jnp.stack([jnp.tan(theta) * p1 - B / TURNING * p2, -M * R**2 / A * p1])
