"""Phase volume: its divergence by another way, densities against closed forms, and what has none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.mechanics import hamel


def by_coordinates(system, q, xi):
    """tr D(qdot, pdot)/D(q, p) in coordinates, plus the rate of ln |det Psi^-1|: the same volume, without brackets."""
    m = system.rank

    def motion(z):
        q, p = z[: len(q0)], z[len(q0) :]
        zero = jnp.zeros(m)
        free = jnp.linalg.solve(hamel.inertia(system, q, zero), p - hamel.momentum_on_d(system, q, zero))
        return jnp.concatenate([system.frame(q) @ hamel.full(system, q, free), hamel.balance(system, q, free)[1]])

    q0 = jnp.asarray(q)
    p = hamel.momentum_on_d(system, q0, jnp.asarray(xi))
    z = jnp.concatenate([q0, p])
    velocity = motion(z)[: len(q0)]
    _, rate = jax.jvp(lambda q: jnp.linalg.slogdet(system.frame(q))[1], (q0,), (velocity,))
    return float(jnp.trace(jax.jacfwd(motion)(z)) - rate)


@pytest.mark.parametrize("name", ["SleighOscillatorScaledFrame", "KnifeEdgeOnIncline"])
def test_divergence_is_that_of_the_coordinates(name):
    system = getattr(dh.systems, name)()
    q = np.asarray(system.sample()["q"]) + 0.3
    xi = np.linspace(0.4, 1.2, system.rank)
    assert dh.phase_divergence(system, q, xi) == pytest.approx(by_coordinates(system, q, xi), abs=1e-12)


def test_the_moving_floor_counts():
    """An affine constraint whose slip changes across D: u_a[b^a] is part of it."""

    class Sliding(dh.systems.ChaplyginSleigh):
        def slip(self, q):
            return jnp.array([0.3 * q[2] * jnp.cos(q[0]) - 0.3 * q[1] * jnp.sin(q[0])])

    system = Sliding()
    q, xi = [0.2, 0.5, -0.4], [0.7, 1.1]
    assert dh.phase_divergence(system, q, xi) == pytest.approx(by_coordinates(system, q, xi), abs=1e-12)


def test_chaplygins_sphere():
    """f = (1 - D (gamma, A gamma))^(-1/2), A = (I + D)^-1, D = m R^2, p about the contact: Chaplygin 1903."""
    sphere = dh.systems.ChaplyginSphere()
    found = dh.invariant_density(sphere)
    assert found.exists
    assert found.residual < 1e-12
    start = {name: sphere.sample()[name] for name in ("q", "xi")}
    q = dh.reference(sphere, **start, t=np.linspace(0, 1, 4)).q
    gamma, d = q[:, 6:9], sphere.mass * sphere.radius**2
    inertia = np.asarray(sphere.inertia, float)
    inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
    weight = 1 - d * np.einsum("ki,ij,kj->k", gamma, np.linalg.inv(inertia + d * np.eye(3)), gamma)
    np.testing.assert_allclose(found(q), np.sqrt(weight[0] / weight), rtol=1e-9)
    assert np.ptp(found(q)) > 0.05


def test_what_has_no_density_says_so():
    sleigh = dh.systems.ChaplyginSleigh(offset=0.4)
    found = dh.invariant_density(sleigh)
    assert not found.exists
    assert found.residual > 0.1
    with pytest.raises(ValueError, match="no density"):
        found([0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="name symmetries along the others"):
        dh.invariant_density(sleigh, symmetries=[])


def test_jacobis_last_multiplier():
    """1/omega of the sleigh, and its product with an integral; not omega, not 1."""
    sleigh, at = dh.systems.ChaplyginSleigh(offset=0.4), ([0.3, 0.1, 0.2], [1.5, -0.3])

    def off(function):
        return dh.multiplier_residual(sleigh, function, *at)

    assert off(lambda q, xi: 1 / xi[0]) < 1e-12
    assert off(lambda q, xi: dh.energy(sleigh, q, xi) ** 2 / xi[0]) < 1e-12
    assert off(lambda q, xi: xi[0]) > 0.01
    assert off(lambda q, xi: 1.0 + 0 * xi[0]) > 0.01


def test_drag_that_has_no_derivative_at_rest_keeps_no_density_without_a_word():
    """v |v| takes phase volume away; its NaN at rest was taken for no residual."""

    def drag(q, v):
        return -0.1 * v * jnp.linalg.norm(v)

    disc = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(2), 2, force=drag)
    assert dh.phase_divergence(disc, [0.0, 0.0], [1.0, 0.5]) < -0.1
    with pytest.raises(ValueError, match="has no derivative at rest"):
        dh.invariant_density(disc, [0.0, 0.0])
