"""Where reducing further is wrong: Chaplygin's sphere, two shape variables; a slip of the thesis, both ways."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import discrete_hamel as dh

S = dh.systems

M, RADIUS = 1.3, 0.6


def sphere(moments):
    return S.ChaplyginSphere(mass=M, inertia=moments, radius=RADIUS)


def metric(system, gamma):
    return system.moments() + M * RADIUS**2 * (jnp.eye(3) - jnp.outer(gamma, gamma))


def lift(system, gamma, u):
    """The horizontal omega over u in T S^2: gamma x omega = u, orthogonal to S, which is omega along gamma."""
    omega = jnp.cross(u, gamma)
    return omega - (gamma @ system.moments() @ omega) / (gamma @ system.moments() @ gamma) * gamma


def upstairs(system, of_base):
    """The field on Q over one on the sphere."""
    return lambda q: system.frame(q)[:, :3] @ lift(system, q[6:9], of_base(q[6:9]))


def whole_metric(system, q, v, w):
    def body(velocity):
        spin = q[:9].reshape(3, 3).T @ velocity[:9].reshape(3, 3)
        return jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0]])

    return body(v) @ system.moments() @ body(w) + M * v[9:] @ w[9:]


def bracket(x, y, q):
    return jax.jvp(y, (q,), (x(q),))[1] - jax.jvp(x, (q,), (y(q),))[1]


def terms(system, q, omega, i):
    """For kappa_i over gamma x e_i, at a state: the left sides of (8.11) upstairs and on the sphere."""
    gamma = q[6:9]
    e_i = jnp.eye(3)[i]
    v = jnp.cross(gamma, omega)
    a = jnp.cross(v, gamma)  # v = gamma x a
    kappa, tau = (lambda y: jnp.cross(y, e_i)), (lambda y: jnp.cross(y, a))
    up_kappa, up_tau = upstairs(system, kappa), upstairs(system, tau)
    momentum = gamma @ system.moments() @ omega  # the momentum of S, kept

    def inner(q):  # Omega(gamma), the field along S with that momentum
        y = q[6:9]
        return system.frame(q)[:, :3] @ (momentum * y / (y @ system.moments() @ y))

    def below(y, u, w):
        return lift(system, y, u) @ metric(system, y) @ lift(system, y, w)

    def derivative_of_metric_up(x, y, z):
        rise = jax.jvp(lambda q: whole_metric(system, q, y(q), z(q)), (q,), (x(q),))[1]
        return rise - whole_metric(system, q, bracket(x, y, q), z(q)) - whole_metric(system, q, y(q), bracket(x, z, q))

    rise = jax.jvp(lambda y: below(y, tau(y), tau(y)), (gamma,), (kappa(gamma),))[1]
    down = rise - 2 * below(gamma, bracket(kappa, tau, gamma), tau(gamma))
    up = derivative_of_metric_up(up_kappa, up_tau, up_tau)

    def momentum_along(q, omega):
        y = q[6:9]
        return lift(system, y, kappa(y)) @ metric(system, y) @ omega

    velocity, acceleration = dh.vector_field(system, q, omega)
    rate = jax.jvp(momentum_along, (q, omega), (velocity, acceleration[:3]))[1]
    potential = jax.jvp(lambda q: 0.5 * whole_metric(system, q, inner(q), inner(q)), (q,), (up_kappa(q),))[1]
    common = rate - derivative_of_metric_up(up_kappa, up_tau, inner) + potential
    horizontal = lift(system, gamma, v)
    missing = -M * RADIUS**2 * (gamma @ horizontal) * (gamma @ jnp.cross(lift(system, gamma, kappa(gamma)), horizontal))
    return common - 0.5 * up, common - 0.5 * down, missing


terms_at = jax.jit(terms, static_argnums=3)


@settings(max_examples=10)
@given(st.tuples(*[st.floats(0.4, 0.7)] * 3), st.integers(0, 10_000))
def test_the_chaplygin_sphere_reduces_upstairs_and_not_on_the_sphere(moments, seed):
    """(8.11) holds with (L_K) taken on Q; on T S^2, as Prop. 8.4.1 has it, -m r^2 (y.w_H) y.(w_i x w_H) is missing."""
    rng = np.random.default_rng(seed)
    turned = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    q = jnp.array([*turned.ravel(), *rng.normal(size=2)])
    omega = jnp.array(rng.normal(size=3))
    for i in range(3):
        up, down, missing = terms_at(sphere(jnp.array(moments)), q, omega, i)
        assert abs(up) < 1e-11
        assert abs(down + missing) < 1e-11
        same_up, same_down, same_missing = terms_at(sphere(jnp.array([moments[0]] * 3)), q, omega, i)
        assert max(abs(same_up), abs(same_down), abs(same_missing)) < 1e-11  # equal moments: both ways


@pytest.mark.parametrize("moments", [(0.7, 0.5, 0.3), (0.7, 0.7, 0.3), (0.5, 0.5, 0.5)])
def test_the_motion_reduced_on_the_sphere_goes_wrong_unless_the_moments_are_equal(moments):
    """The path of y without the missing term against the whole motion, to T = 2."""
    system = sphere(jnp.array(moments))

    @jax.jit
    def wrong(y):
        q = jnp.zeros(11).at[6:9].set(y[:3]).at[:6].set(completed(y[:3]))
        gamma, omega = y[:3], y[3:]
        right = dh.vector_field(system, q, omega)[1][:3]
        horizontal = lift(system, gamma, jnp.cross(gamma, omega))
        covector = -M * RADIUS**2 * (gamma @ horizontal) * jnp.cross(horizontal, gamma)
        push = jnp.linalg.solve(metric(system, gamma), covector)
        along_s = (gamma @ system.moments() @ push) / (gamma @ system.moments() @ gamma)
        return jnp.concatenate([jnp.cross(gamma, omega), right + push - along_s * gamma])

    start = np.array([0, 0, 1, 0.9, -0.5, 1.2])
    reduced = solve_ivp(lambda _, y: np.asarray(wrong(y)), (0, 2), start, "DOP853", rtol=1e-11, atol=1e-11).y[:3, -1]
    exact = dh.reference(system, [*np.eye(3).ravel(), 0, 0], start[3:], t=2.0).q[-1, 6:9]
    off = np.linalg.norm(reduced - exact)
    assert off < 1e-8 if len(set(moments)) == 1 else off > 1e-4  # against 1e-9 of either integration


def test_the_whole_motion_of_the_sphere_is_that_of_the_thesis():
    run = dh.reference(sphere((0.7, 0.5, 0.3)), [*np.eye(3).ravel(), 0, 0], [0.9, -0.5, 1.2], t=5.0)
    assert run.q[-1, 6:9] == pytest.approx([0.356384317211, -0.416810848957, 0.836217037998], abs=1e-9)


def completed(gamma):
    """Two rows that make gamma the third of a rotation matrix."""
    first = jnp.cross(jnp.array([0.36, 0.48, 0.8]), gamma)
    first = first / jnp.sqrt(first @ first)
    return jnp.concatenate([first, jnp.cross(gamma, first)])
