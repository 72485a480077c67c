"""The classical Runge-Kutta method: explicit, and what it does not keep."""

import jax.numpy as jnp
import numpy as np
import pytest
from checkers import STEP
from problems import DISK, PENDULUM, SLEIGH

import discrete_hamel as dh


def test_step_of_the_sleigh_is_the_classical_tableau_on_qs_6_1():
    """omega' = -m a omega v / (J + m a^2), v' = a omega^2, theta' = omega: the method by hand."""
    m, j, a, h = 1.0, 0.7, 0.4, 0.1

    def rate(y):
        omega, v, theta = y[:3]
        return np.array(
            [-m * a * omega * v / (j + m * a**2), a * omega**2, omega, v * np.cos(theta), v * np.sin(theta)]
        )

    y = np.array([1.5, -0.3, 0.1, 0.0, 0.0])
    k1 = rate(y)
    k2 = rate(y + h / 2 * k1)
    k3 = rate(y + h / 2 * k2)
    k4 = rate(y + h * k3)
    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    found = dh.simulate(SLEIGH.system, SLEIGH.q, SLEIGH.xi, h=h, steps=1, scheme=dh.RungeKutta4())
    assert np.max(np.abs(np.concatenate([found.xi[-1][:2], found.q[-1]]) - y)) < 1e-14


def test_keeps_the_constraint_and_nothing_else():
    run = PENDULUM.run(400, scheme=dh.RungeKutta4())
    assert np.all(run.xi[:, 2] == 0)
    invariants = run.invariants()
    for name in PENDULUM.exact:
        assert abs(invariants[name][-1] - invariants[name][0]) > 1e-9


def test_is_not_symmetric():
    scheme = dh.RungeKutta4()
    state = dh.start(DISK.system, scheme, DISK.q, DISK.xi, 0.1)
    there, _ = STEP(DISK.system, scheme, state, 0.1)
    back, _ = STEP(DISK.system, scheme, there, -0.1)
    assert float(jnp.max(jnp.abs(back.p - state.p))) > 1e-7


def test_solves_nothing_and_says_where_it_leaves_the_domain():
    run = SLEIGH.run(50, scheme=dh.RungeKutta4(), compiled=False)
    assert run.report.iterations.max() == 0
    hill = dh.from_quasivelocities(
        lambda q, xi: 0.5 * xi @ xi + jnp.sqrt(1 - q[0]),
        lambda q: jnp.eye(1),
        1,
        structure=lambda q: jnp.zeros((1, 1, 1)),
    )
    with pytest.raises(dh.NewtonFailed, match="not finite"):
        dh.simulate(hill, [0.9], [1.0], h=0.2, steps=10, scheme=dh.RungeKutta4())
