"""(D) is [HE]'s equations, and without a bracket the midpoint variational integrator: both written out again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import is_undone, respects_constraint, satisfies_5_11
from problems import DISK, PENDULUM, PROBLEMS, SLEIGH

import discrete_hamel as dh

TAUS = (0.0, 0.3, 0.5, 1.0)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_nodal_momentum_form_is_he_5_11(problem):
    for tau in TAUS:
        trajectory = problem.run(50, h=0.02, scheme=dh.DiscreteHamel(tau=tau))
        satisfies_5_11(problem, trajectory, tau)
        respects_constraint(problem, trajectory, tau)


def test_he_5_11_with_another_tau_does_not_hold():
    trajectory = DISK.run(50, h=0.02, scheme=dh.DiscreteHamel(tau=0.3))
    with pytest.raises(AssertionError, match=r"\(5.11\) is off"):
        satisfies_5_11(DISK, trajectory, 0.31)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
@pytest.mark.parametrize("tau", TAUS)
def test_step_is_undone_by_its_adjoint(problem, tau):
    scheme = dh.DiscreteHamel(tau=tau)
    state = dh.start(problem.system, scheme, problem.q, problem.xi, problem.h)
    is_undone(problem.system, scheme, dh.DiscreteHamel(tau=1 - tau), state, problem.h)


def test_step_is_not_undone_by_itself_away_from_one_half():
    scheme = dh.DiscreteHamel(tau=0.3)
    state = dh.start(SLEIGH.system, scheme, SLEIGH.q, SLEIGH.xi, 0.1)
    with pytest.raises(AssertionError, match="not undone: off by"):
        is_undone(SLEIGH.system, scheme, scheme, state, 0.1, tolerance=1e-4)


def test_staggered_is_self_adjoint():
    state = dh.start(PENDULUM.system, dh.StaggeredHamel(), PENDULUM.q, PENDULUM.xi, 0.1)
    is_undone(PENDULUM.system, dh.StaggeredHamel(), dh.StaggeredHamel(), state, 0.1)


def double_pendulum(q, v):
    """Two unit masses on unit rods, angles from the vertical; its mass matrix depends on q."""
    kinetic = v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * jnp.cos(q[0] - q[1])
    return kinetic + 9.8 * (2 * jnp.cos(q[0]) + jnp.cos(q[1]))


def natural(q):
    return jnp.eye(len(q))


@pytest.mark.parametrize("tau", TAUS)
def test_commuting_frame_gives_the_variational_integrator(tau):
    """D_2 L_d(q_{k-1}, q_k) + D_1 L_d(q_k, q_{k+1}) = 0 with L_d = h L(q_{k+tau}, (q_{k+1} - q_k)/h)."""
    h = 0.02
    system = dh.from_velocities(double_pendulum, natural, 2)
    trajectory = dh.simulate(system, q=[1.0, 2.0], xi=[0.3, -0.5], h=h, steps=200, scheme=dh.DiscreteHamel(tau=tau))

    def discrete_lagrangian(q0, q1):
        return h * double_pendulum((1 - tau) * q0 + tau * q1, (q1 - q0) / h)

    def residual(before, here, after):
        past = jax.grad(discrete_lagrangian, 1)(before, here)
        return past + jax.grad(discrete_lagrangian, 0)(here, after)

    q = trajectory.q
    off = jax.jit(jax.vmap(residual))(q[:-2], q[1:-1], q[2:])
    assert np.max(np.abs(off)) < 1e-12
    momenta = jax.jit(jax.vmap(jax.grad(discrete_lagrangian, 1)))(q[:-1], q[1:])
    assert np.max(np.abs(momenta - trajectory.p[1:])) < 1e-12  # the discrete Legendre transform
    assert np.max(np.ptp(q, axis=0)) > 1.0


def test_a_noncommuting_frame_gives_another_integrator():
    """The free sleigh's natural coordinates and its body frame: both of order two, O(h^2) apart."""

    def kinetic(q, v):
        return SLEIGH.system.lagrangian(q, SLEIGH.system.frame(q).T @ v)

    data = {"q": SLEIGH.q, "v": [1.5, 0.2, 0.4], "h": 0.02, "steps": 50}
    ends = [
        dh.simulate(dh.from_velocities(kinetic, frame, 3), **data).q[-1] for frame in (natural, SLEIGH.system.frame)
    ]
    assert 1e-7 < np.max(np.abs(ends[0] - ends[1])) < 1e-2


def test_legendre_inverse_gives_back_the_nodal_velocity():
    for problem in PROBLEMS:
        m = problem.system.rank
        trajectory = problem.run(20)
        for q, xi, p in zip(trajectory.q, trajectory.xi, trajectory.p, strict=True):
            assert np.asarray(dh.momentum(problem.system, q, xi))[:m] == pytest.approx(p, rel=1e-12, abs=1e-12)
        assert trajectory.xi[0][:m] == pytest.approx(problem.xi, rel=1e-14)


def test_velocities_and_back():
    for problem in (SLEIGH, DISK):
        xi = np.arange(1.0, problem.system.rank + 1)
        v = dh.velocities(problem.system, problem.q, xi)
        back = dh.quasivelocities(problem.system, problem.q, v)
        assert np.asarray(back) == pytest.approx(np.concatenate([xi, np.zeros(len(back) - len(xi))]), abs=1e-14)
        assert np.max(np.abs(problem.one_forms(problem.q) @ v)) < 1e-14
