"""Generalised Stormer-Verlet: its order, its equations by hand, symplecticity, and what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import ANGLES, PARTICLE, SLEIGH, has_slope, orbit
from checkers import STEP

import discrete_hamel as dh

SCHEME = dh.StormerVerlet()


@pytest.mark.parametrize("case", [ANGLES, PARTICLE], ids=["angles", "particle"])
def test_second_order(case):
    has_slope(SCHEME, case, 2)


def hamiltonian(q, p):
    """Of the pendulum in angles, unit mass and length."""
    return 0.5 * (p[0] ** 2 + (p[1] / jnp.sin(q[0])) ** 2) - 9.8 * jnp.cos(q[0])


def by_hand(q, p, h):
    """The scheme in Hamiltonian form, its implicit parts by iteration."""
    along_q, along_p = (jax.jit(jax.grad(hamiltonian, i)) for i in (0, 1))
    half, q1 = p, q
    for _ in range(100):
        half = p - h / 2 * along_q(q, half)
    for _ in range(100):
        q1 = q + h / 2 * (along_p(q, half) + along_p(q1, half))
    return q1, half - h / 2 * along_q(q1, half)


def test_it_is_the_hamiltonian_scheme():
    states = orbit(SCHEME, ANGLES, 0.1, 5)
    q, p = states[0].q, states[0].p
    for state in states[1:]:
        q, p = by_hand(q, p, 0.1)
        assert np.asarray(state.q) == pytest.approx(np.asarray(q), abs=1e-12)
        assert np.asarray(state.p) == pytest.approx(np.asarray(p), abs=1e-12)


def test_for_constant_mass_it_is_verlet():
    """q_{k+1} - 2 q_k + q_{k-1} = -h^2 V'(q_k)."""
    h = 0.1
    q = np.array([state.q for state in orbit(SCHEME, PARTICLE, h, 20)])
    force = -(q**2).sum(axis=1, keepdims=True) * q
    assert q[2:] - 2 * q[1:-1] + q[:-2] == pytest.approx(h**2 * force[1:-1], abs=1e-13)


def symplectic_defect(scheme):
    """|J^T Omega J - Omega| of a step on (q, p), by central differences."""
    state = orbit(scheme, ANGLES, 0.1, 1)[0]
    z, small = np.concatenate([state.q, state.p]), 1e-5

    def mapped(z):
        moved = state.replace(q=jnp.asarray(z[:2]), p=jnp.asarray(z[2:]))
        if isinstance(scheme, dh.RungeKutta4):
            moved = moved.replace(xi=jnp.array([z[2], z[3] / np.sin(z[0]) ** 2]))
        new, _ = STEP(ANGLES.system, scheme, moved, 0.1)
        return np.concatenate([new.q, new.p])

    jacobian = np.array([(mapped(z + small * e) - mapped(z - small * e)) / (2 * small) for e in np.eye(4)]).T
    omega = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    return np.max(np.abs(jacobian.T @ omega @ jacobian - omega))


def test_it_is_symplectic_and_runge_kutta_is_not():
    assert symplectic_defect(SCHEME) < 1e-8  # the differences' own error
    assert symplectic_defect(dh.RungeKutta4()) > 1e-6


def test_refuses_constraints_and_dependent_fields():
    with pytest.raises(ValueError, match="^StormerVerlet is for unconstrained systems; this one constrains 1 of its 3"):
        dh.simulate(SLEIGH.system, SLEIGH.q, SLEIGH.xi, h=0.1, steps=2, scheme=SCHEME)
    body = dh.systems.RigidBody()
    with pytest.raises(ValueError, match="9 coordinates and 3 quasi-velocities"):
        dh.simulate(body, body.sample()["q"], body.sample()["xi"], h=0.1, steps=2, scheme=SCHEME)
