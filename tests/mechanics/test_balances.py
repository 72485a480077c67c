"""Energy minus work closes: exactly where theory says so, to the scheme's order elsewhere, and by quadrature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import slopes
from piloted import PILOTED, SLEIGH, START, TIME, drag
from test_turntable import ball, set_down
from vehicles import VEHICLES

import discrete_hamel as dh

TABLE = ball(0.4, tilt=0.1)
CASES = {
    "car": (VEHICLES["car"].system, VEHICLES["car"].q, VEHICLES["car"].xi),
    "turntable": (TABLE, *set_down(TABLE, (0.2, -0.1), (0.3, 0.4))),
    "piloted sleigh": (PILOTED, *START),
}


POWER = jax.jit(jax.vmap(dh.power, (None, 0, 0)))
MOVING = jax.jit(jax.vmap(dh.moving_energy, (None, 0, 0)))


def missed(run):
    return np.max(np.abs(run.energy - run.energy[0] - dh.work(run).total))


@pytest.mark.parametrize("name", CASES)
def test_energy_is_what_was_supplied_by_quadrature(name):
    """E(T) - E(0) = int (<f, xi> + lambda b) dt over a reference, at Gauss points; and it is not small."""
    system, q, xi = CASES[name]
    x, w = np.polynomial.legendre.leggauss(24)
    times = np.concatenate([[0.0], TIME * (1 + x) / 2, [TIME]])
    run = dh.reference(system, q, xi, t=times)
    power = np.asarray(POWER(system, run.q[1:-1], run.xi[1:-1]).total)
    gained = run.energy[-1] - run.energy[0]
    assert abs(gained) > 1e-3
    assert TIME / 2 * w @ power == pytest.approx(gained, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_energy_minus_work_closes_to_second_order(name):
    system, q, xi = CASES[name]
    counts = np.array([70, 84, 100, 120])
    runs = [dh.simulate(system, q, xi, h=TIME / n, steps=int(n)) for n in counts]
    misses = [missed(run) for run in runs]
    assert np.ptp(runs[0].energy) > 50 * misses[0]
    if misses[0] > 1e-12:  # all but those of constant coefficients, where it closes exactly
        assert slopes(1 / counts, misses) == pytest.approx(2.0, abs=0.1)


def test_at_higher_order_it_closes_at_that_order():
    counts = np.array([160, 200, 250])
    scheme = dh.Composed(dh.DiscreteHamel(), order=4)
    misses = [missed(dh.simulate(PILOTED, *START, h=TIME / n, steps=int(n), scheme=scheme)) for n in counts]
    assert slopes(1 / counts, misses) == pytest.approx(4.0, abs=0.1)
    assert misses[-1] > 1e-12


def test_it_closes_exactly_where_the_energy_is_exact():
    """Constant coefficients, l quadratic: h <f, xi> at the interval is the node's change of energy."""
    for system, q, xi in (
        (dh.damped(SLEIGH, drag, params=0.2), START[0][:3], START[1]),
        (PILOTED, *START),
        (dh.systems.BallOnTurntable(tilt=0.1), *CASES["turntable"][1:]),
    ):
        run = dh.simulate(system, q, xi, h=0.05, steps=400)
        assert np.ptp(run.energy) > 1e-2
        assert missed(run) < 1e-12 * 400**0.5 * max(1.0, np.max(np.abs(run.energy)))


def test_energy_exact_closes_exactly_with_any_force():
    cart = dh.systems.Gearbox()
    dragged = dh.damped(cart, lambda q, xi, c: 0.5 * c * xi @ xi, params=0.05)
    run = dh.simulate(dragged, **cart.sample(), steps=200, scheme=dh.EnergyExact())
    assert missed(run) < 1e-12 * 200**0.5 * max(1.0, abs(run.energy[0]))
    assert run.energy[-1] < run.energy[0] - 0.01
    assert missed(dh.simulate(dragged, **cart.sample(), steps=200)) > 1e-9


def test_work_of_thinned_and_backward_runs():
    run = dh.simulate(PILOTED, *START, h=0.01, steps=300)
    thin = dh.simulate(PILOTED, *START, h=0.01, steps=300, save_every=10)
    assert dh.work(thin).forces == pytest.approx(dh.work(run).forces[::10], abs=1e-4)
    back = dh.simulate(PILOTED, run.q[-1], run.xi[-1], h=-0.01, steps=300)
    assert dh.work(back).forces[-1] == pytest.approx(-dh.work(run).forces[-1], abs=1e-12)
    still = dh.simulate(PILOTED, *START, h=0.01, steps=0)
    assert dh.work(still).total.tolist() == [0.0]


def test_moving_energy_of_a_belt():
    """Seen from a belt that runs at b: E - <mu_U, b> is kept though E is not."""
    belt = dh.from_quasivelocities(
        lambda q, xi: 0.5 * xi @ xi - jnp.sin(q[0]),
        lambda q: jnp.array([[1.0, 0.0], [0.4, 1.0]]),
        1,
        slip=lambda q: jnp.array([0.7]),
    )
    run = dh.reference(belt, [0.3, -0.2], [0.5], t=np.linspace(0.0, 3.0, 7))
    assert np.ptp(MOVING(belt, run.q, run.xi)) < 1e-10
    carried = dh.from_velocities(
        lambda q, v: 0.5 * v @ v - jnp.sin(q[0]) + 0.3 * v[0] * v[1],
        lambda q: jnp.array([[1.0, 0.0], [0.4, 1.0]]),
        1,
        slip=lambda q: jnp.array([0.7]),
    )
    run = dh.reference(carried, [0.3, -0.2], [0.5], t=np.linspace(0.0, 3.0, 7))
    assert np.ptp(run.energy) > 1e-2
    assert np.ptp(MOVING(carried, run.q, run.xi)) < 1e-10
