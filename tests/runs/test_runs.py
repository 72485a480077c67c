"""What a run returns: its ends, what is saved of it, and that it can be taken up again."""

import jax
import numpy as np
from problems import PROBLEMS, SLEIGH

import discrete_hamel as dh


def test_zero_steps_give_the_start():
    trajectory = SLEIGH.run(0, h=0.01)
    assert trajectory.q.tolist() == [list(SLEIGH.q)]
    assert trajectory.xi.shape == (1, 3)
    assert trajectory.xi_mid.shape == (0, 3)
    assert trajectory.t.tolist() == [0.0]


def test_saving_less_saves_the_same():
    whole, thin = SLEIGH.run(3000, h=0.01), SLEIGH.run(3000, h=0.01, save_every=6)
    for name in ("t", "q", "p", "xi"):
        assert np.array_equal(getattr(whole, name)[::6], getattr(thin, name)), name
    assert np.array_equal(whole.xi_mid[5::6], thin.xi_mid)
    assert np.array_equal(whole.report.iterations.reshape(-1, 6).max(axis=1), thin.report.iterations)


STEP = jax.jit(dh.step)


def test_a_run_resumes_bitwise():
    """1000 steps are 500 and 500, by dh.step from a state that went out to bytes and came back."""
    state = dh.start(SLEIGH.system, dh.DiscreteHamel(), SLEIGH.q, SLEIGH.xi, 0.01)

    def further(state, steps):
        for _ in range(steps):
            state, _ = STEP(SLEIGH.system, dh.DiscreteHamel(), state, 0.01)
        return state

    whole, half = further(state, 1000), further(state, 500)
    leaves, shape = jax.tree.flatten(half)
    stored = [np.frombuffer(np.asarray(leaf).tobytes()) for leaf in leaves]
    resumed = further(jax.tree.unflatten(shape, stored), 500)
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(resumed), strict=True):
        assert np.array_equal(a, b)
    plain = SLEIGH.run(1000, h=0.01, compiled=False)
    assert np.max(np.abs(plain.q[-1] - whole.q)) < 1e-12
    assert np.max(np.abs(plain.final.p - whole.p)) < 1e-12


def test_a_run_goes_on_from_its_last_state():
    """traj.final is the scheme's state: going on from it is the run that was not interrupted."""
    half, whole = SLEIGH.run(500, h=0.01, compiled=False), SLEIGH.run(1000, h=0.01, compiled=False)
    state = half.final
    for k in range(500, 1000):
        state, _ = STEP(SLEIGH.system, dh.DiscreteHamel(), state, 0.01)
        assert np.max(np.abs(state.q - whole.q[k + 1])) < 1e-12


def test_shapes_of_what_comes_out():
    for problem in PROBLEMS:
        run, system = problem.run(7), problem.system
        coordinates, n = system.frame(run.q[0]).shape
        assert run.t.shape == run.energy.shape == (8,)
        assert run.q.shape == run.v.shape == (8, coordinates)
        assert run.p.shape == (8, system.rank)
        assert run.xi.shape == (8, n)
        assert run.xi_mid.shape == (7, n)
        assert run.report.converged.shape == run.report.iterations.shape == run.report.residual.shape == (7,)
        assert np.array_equal(run.t, np.arange(8) * float(run.h))
        assert all(values.shape == (8,) for values in run.invariants().values())
        assert set(problem.exact) <= set(run.invariants())
        assert np.array_equal(run.xi[0][: system.rank], problem.xi)


def test_running_back_returns():
    there = SLEIGH.run(200, h=0.01)
    back = SLEIGH.run(200, h=-0.01, q=there.q[-1], xi=there.xi[-1])
    assert back.t[-1] == -2.0
    assert np.max(np.abs(back.q[::-1] - there.q)) < 1e-12
