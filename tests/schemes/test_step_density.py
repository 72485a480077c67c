"""Steps that vary by reversible means: order, reversibility, recorded times."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import STEP, slopes
from orders import SUSLOV
from problems import DISK, SLEIGH

import discrete_hamel as dh


def shorter_in_turns(q, xi):
    return 1 / (1 + xi[0] ** 2 + 0.5 * xi[1] ** 2)


def shorter_when_leaning(q, xi):
    return 1 / (1 + 4 * q[0] ** 2 + xi[0] ** 2)


def drawn_in(q, xi):
    """Shorter near the centre."""
    return (q @ q) ** 0.75


KEPLER = dh.from_velocities(lambda q, v: 0.5 * v @ v + 1 / jnp.sqrt(q @ q), lambda q: jnp.eye(2), 2)


def error(problem, scheme, steps, density):
    """Against the motion at the time that the trajectory says it has reached."""
    run = dh.simulate(
        problem.system,
        problem.q,
        problem.xi,
        h=2.0 / steps,
        steps=steps,
        scheme=dh.schemes.TimeTransformed(scheme, density),
    )
    exact = dh.reference(problem.system, problem.q, problem.xi, t=run.t[-1])
    return np.linalg.norm(np.concatenate([run.q[-1] - exact.q[-1], run.xi[-1] - exact.xi[-1]]))


@pytest.mark.parametrize(
    ("problem", "density"),
    [(SLEIGH, shorter_in_turns), (DISK, shorter_when_leaning), (SUSLOV, shorter_in_turns)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_order_two_stays_two(problem, density):
    counts = (50, 100, 200, 400)
    found = slopes(1 / np.array(counts), [error(problem, dh.DiscreteHamel(), n, density) for n in counts])
    assert np.all(np.abs(found - 2) < 0.1), found


def test_order_four_stays_four():
    counts, scheme = (50, 100, 200, 400), dh.Composed(dh.DiscreteHamel())
    found = slopes(1 / np.array(counts), [error(DISK, scheme, n, shorter_when_leaning) for n in counts])
    assert np.all(np.abs(found - 4) < 0.1), found


@pytest.mark.parametrize(("scheme", "undone"), [(dh.DiscreteHamel(), True), (dh.RungeKutta4(), False)], ids=repr)
def test_a_run_there_and_back_returns_to_its_start(scheme, undone):
    """With the same density and -h: state, sigma and time; for a scheme that is not symmetric it does not."""
    paced, h = dh.schemes.TimeTransformed(scheme, shorter_when_leaning), 0.05
    assert paced.symmetric is undone
    state = first = dh.start(DISK.system, paced, DISK.q, DISK.xi, h)
    for size in (h, -h):
        for _ in range(40):
            state, interval = STEP(DISK.system, paced, state, size)
            assert interval.report.converged
    gaps = [float(jnp.max(jnp.abs(a - b))) for a, b in ((state.q, first.q), (state.p, first.p))]
    assert (max(gaps) < 1e-10) if undone else (max(gaps) > 1e-8)
    if undone:
        assert abs(float(state.t)) < 1e-12
        assert abs(float(state.log_density - first.log_density)) < 1e-11


def test_step_follows_the_density_to_second_order():
    gaps = []
    for h in (0.04, 0.02, 0.01):
        paced = dh.schemes.TimeTransformed(dh.DiscreteHamel(), shorter_in_turns)
        run = dh.simulate(SLEIGH.system, SLEIGH.q, SLEIGH.xi, h=h, steps=round(2 / h), scheme=paced)
        gaps.append(abs(float(jnp.exp(run.final.log_density)) - float(shorter_in_turns(run.q[-1], run.xi[-1]))))
    assert np.all(np.abs(slopes([0.04, 0.02, 0.01], gaps) - 2) < 0.1)


def test_simulate_takes_the_density_for_h_and_records_the_times():
    run = dh.simulate(SLEIGH.system, SLEIGH.q, SLEIGH.xi, h=lambda q, xi: 0.05 * shorter_in_turns(q, xi), steps=200)
    wrapped = dh.simulate(
        SLEIGH.system,
        SLEIGH.q,
        SLEIGH.xi,
        h=0.05,
        steps=200,
        save_every=20,
        scheme=dh.schemes.TimeTransformed(dh.DiscreteHamel(), shorter_in_turns),
    )
    size = np.diff(run.t)
    assert run.t[0] == 0
    assert size.min() > 0
    assert size.max() > 1.2 * size.min()
    frame = np.asarray(jax.vmap(SLEIGH.system.frame)((run.q[1:] + run.q[:-1]) / 2))
    moved = size[:, None] * np.einsum("kai,ki->ka", frame, run.xi_mid)
    assert np.max(np.abs(np.diff(run.q, axis=0) - moved)) < 1e-13  # t is the time of these steps
    assert run.t[-1] == pytest.approx(float(run.final.t), abs=0)
    assert wrapped.t == pytest.approx(run.t[::20], abs=1e-3)  # h and the density scale sigma alike up to O(h^2)
    assert len(wrapped.t) == 11


def test_under_jit_the_times_are_the_same():
    def ends(v):
        run = dh.simulate(SLEIGH.system, SLEIGH.q, jnp.stack([1.5, v]), h=lambda q, xi: 0.1 + 0 * q[0], steps=10)
        return run.t

    assert np.asarray(jax.jit(ends)(-0.3)) == pytest.approx(0.1 * np.arange(11), abs=1e-15)


def test_pays_on_an_eccentric_orbit():
    """Kepler, eccentricity 0.9: at equal numbers of steps over two turns the energy error falls by far."""
    eccentric, steps = 0.9, 2000
    data = {"q": [1 - eccentric, 0.0], "xi": [0.0, ((1 + eccentric) / (1 - eccentric)) ** 0.5]}
    varied = dh.simulate(KEPLER, **data, h=lambda q, xi: 0.008 * drawn_in(q, xi), steps=steps)
    even = dh.simulate(KEPLER, **data, h=float(varied.t[-1]) / steps, steps=steps)
    assert varied.t[-1] > 2 * np.pi  # more than one turn
    drifts = [np.max(np.abs(run.energy - run.energy[0])) for run in (varied, even)]
    assert drifts[0] < drifts[1] / 30


def test_a_failed_step_says_its_time_and_step():
    wall = dh.from_quasivelocities(
        lambda q, xi: 0.5 * xi @ xi - jnp.sqrt(1 - q[0]),
        lambda q: jnp.eye(1),
        1,
        structure=lambda q: jnp.zeros((1, 1, 1)),
    )
    with pytest.raises(dh.NewtonFailed, match="smaller step density|not finite") as failure:
        dh.simulate(wall, [0.0], [1.0], h=lambda q, xi: 0.1 + 0 * q[0], steps=30)
    assert "with h = 0.1)" in str(failure.value)
    run = dh.simulate(wall, [0.0], [1.0], h=lambda q, xi: 0.1 + 0 * q[0], steps=30, on_failure="mark")
    assert run.t.shape == (31,)
    assert np.isnan(run.t[-1])
    assert not run.report.converged[-1]
