"""dh.linearise against closed forms, differences of runs, and the spectrum."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

SLEIGH = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)


def test_a_damped_oscillator_in_closed_form():
    """m = 2, k = 6, c = 1: the flow, and the midpoint rule's Cayley transform."""
    cart = dh.from_velocities(lambda q, v: v @ v - 3 * q @ q, lambda q: jnp.eye(1), 1, force=lambda q, v: -v)
    how = {"inputs": lambda q, xi, u: jnp.array([3 * u[0] - u[1]]), "u": [0.2, 0.1]}
    flow = dh.linearise(cart, [0.3], [0.4], **how)
    a, b = np.array([[0, 1.0], [-3, -0.5]]), np.array([[0, 0], [1.5, -0.5]])
    np.testing.assert_allclose(flow.A, a, atol=1e-14)
    np.testing.assert_allclose(flow.B, b, atol=1e-14)
    np.testing.assert_allclose(flow.rate, a @ [0.3, 0.4] + b @ [0.2, 0.1], atol=1e-14)
    h = 0.1
    step = dh.linearise(cart, [0.3], [0.4], **how, scheme=dh.DiscreteHamel(), h=h)
    left = np.linalg.inv(np.eye(2) - h / 2 * a)
    np.testing.assert_allclose(step.A, left @ (np.eye(2) + h / 2 * a), atol=1e-13)
    np.testing.assert_allclose(step.B, left @ (h * b), atol=1e-13)


def test_a_step_by_differences_of_runs_and_the_flow_by_the_spectrum():
    q, xi, h = np.array([0.3, 0.0, 0.0]), np.array([0.7, 1.2]), 0.05
    step = dh.linearise(SLEIGH, q, xi, scheme=dh.DiscreteHamel(), h=h)
    assert step.B.shape == (5, 0)

    def end(x):
        run = dh.simulate(SLEIGH, x[:3], x[3:], h=h, steps=1)
        return np.concatenate([run.q[1], run.xi[1, :2]])

    x, e = np.concatenate([q, xi]), 1e-5
    columns = [(end(x + e * unit) - end(x - e * unit)) / (2 * e) for unit in np.eye(5)]
    np.testing.assert_allclose(step.A, np.stack(columns, axis=1), atol=1e-9)
    np.testing.assert_allclose(step.rate, end(x), atol=1e-13)
    straight = dh.linearise(SLEIGH, q, [0.0, 1.2])
    rates = dh.spectrum(SLEIGH, q, [0.0, 1.2]).rates
    eigenvalues = np.linalg.eigvals(straight.A)
    assert all(np.min(np.abs(eigenvalues - rate)) < 1e-9 for rate in rates)


def test_what_it_is_given_is_checked():
    with pytest.raises(ValueError, match="give inputs"):
        dh.linearise(SLEIGH, [0.0, 0, 0], [1.0, 0.0], u=[1.0])
    with pytest.raises(ValueError, match="remembers more"):
        dh.linearise(SLEIGH, [0.0, 0, 0], [1.0, 0.0], scheme=dh.Leapfrog(), h=0.1)
