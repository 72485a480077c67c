"""The classical Runge-Kutta method: explicit, and what it does not keep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import STEP
from problems import DISK, PENDULUM, SLEIGH

import discrete_hamel as dh
from discrete_hamel.mechanics.hamel import full, vector_field


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


class Euler(dh.RungeKutta4):
    """Another explicit scheme, of a user: its guess is the next state."""

    order = 1

    def guess(self, system, state, h):
        slope, acceleration = vector_field(system, state.q, state.xi)
        xi = full(system, state.q, state.xi)
        return jnp.concatenate([state.xi + h * acceleration[: system.rank], state.q + h * slope, xi])


@pytest.mark.parametrize("scheme", [dh.RungeKutta4(), Euler()], ids=repr)
@pytest.mark.parametrize("problem", [SLEIGH, DISK, PENDULUM], ids=["sleigh", "disk", "pendulum"])
def test_compiled_it_has_the_numbers_of_the_plain_path(problem, scheme):
    ours, plain = (problem.run(20, h=0.05, scheme=scheme, compiled=compiled) for compiled in (True, False))
    assert (ours.report.path, plain.report.path) == ("compiled", "plain")
    for name in ("q", "p", "xi", "xi_mid"):
        a, b = getattr(ours, name), getattr(plain, name)
        assert np.max(np.abs(a - b)) < 1e-13 * max(1.0, np.max(np.abs(b)))


def test_its_compiled_derivatives_are_those_of_the_plain_path():
    def end(xi, compiled):
        run = dh.simulate(SLEIGH.system, SLEIGH.q, xi, h=0.05, steps=4, scheme=dh.RungeKutta4(), compiled=compiled)
        return run.q[-1] @ jnp.arange(1.0, 4.0)

    xi = jnp.asarray(SLEIGH.xi)
    ours, plain = (jax.grad(end)(xi, compiled) for compiled in (True, False))
    assert np.allclose(ours, plain, rtol=1e-11)
    assert np.allclose(jax.jvp(lambda x: end(x, True), (xi,), (xi,))[1], plain @ xi, rtol=1e-11)
    eps = 1e-5
    slopes = [(end(xi + eps * e, False) - end(xi - eps * e, False)) / (2 * eps) for e in np.eye(len(xi))]
    assert np.allclose(ours, slopes, rtol=1e-6, atol=1e-7)


def test_it_makes_no_plan_of_optimal_control():
    """Its state at a node is (q, xi), and p follows."""
    with pytest.raises(ValueError, match="not one solve"):
        dh.optimal_control(
            lambda u: SLEIGH.system, SLEIGH.q, SLEIGH.xi, u=jnp.zeros((4, 1)), h=0.1, scheme=dh.RungeKutta4(),
            goal=lambda q, p: p, cost=lambda q, xi, u: u @ u,
        )  # fmt: skip
