"""An implicit C(q, v) = 0 over the whole of [BE]'s motions, t = 20, past every fold of a chart of its velocities."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from curved import parallel_row

import discrete_hamel as dh
from paper_figures.be_cases import BY_FIGURE

STEP, STEPS = 0.02, 1000
TURNING = (
    11,
    15,
    20,
    28,
)  # the velocities' direction turns for ever, or back and forth through more than a right angle


@functools.cache
def written(figure):
    """The same system by L(q, v) and C(q, v) alone, and where it starts."""
    system = BY_FIGURE[figure].system
    rows = dh.from_nonlinear_constraints(
        lambda q, v, s: s.lagrangian(q, v), lambda q, v, _: parallel_row(q, v), params=system
    )
    case = BY_FIGURE[figure]
    return rows, case.q, np.asarray(system.velocity(jnp.array(case.q), jnp.array(case.z)))


@functools.cache
def to_the_end(figure):
    system, q, v = written(figure)
    return dh.simulate(system, q, v=v, h=STEP, steps=STEPS)


def folds(figure):
    """How often the charts about a first state and about those where the last one ended have to be chosen anew."""
    system, run, first = written(figure)[0], to_the_end(figure), 0
    slopes = np.asarray(jax.vmap(jax.jacfwd(system.constraint, 1))(run.q, run.v))
    count = 0
    for k in range(len(run)):
        tangent = np.linalg.svd(slopes[first])[2][1:]
        row = slopes[k, 0] / np.linalg.norm(slopes[k, 0])
        if abs(np.linalg.det(np.vstack([row, tangent]))) < 0.02:
            first, count = k, count + 1
    return count


@pytest.mark.parametrize("figure", TURNING)
def test_the_run_by_rows_goes_to_the_end(figure):
    case, run = BY_FIGURE[figure], to_the_end(figure)
    assert run.report.path == "compiled"
    assert float(run.t[-1]) == pytest.approx(20)
    assert folds(figure) >= 1
    assert max(abs(float(parallel_row(0, v)[0])) for v in run.v) < 1e-12 * float(np.max(np.abs(run.v))) ** 2
    by_hand = dh.simulate(case.system, case.q, case.z, h=STEP, steps=STEPS)
    assert np.max(np.abs(run.q - by_hand.q)) < 1e-9 * (1 + np.max(np.abs(by_hand.q)))


def test_a_chart_ends_on_the_way():
    system, q, v = written(20)
    with pytest.raises(dh.FrameDegenerates) as ended:
        dh.simulate(system.around(q, v), q, v=v, h=STEP, steps=STEPS)
    assert float(ended.value.trajectory.t[-1]) < 10


def test_plain_steps_lanes_and_stores_go_there_too(tmp_path):
    system, q, v = written(20)
    run = to_the_end(20)
    plain = dh.simulate(system, q, v=v, h=STEP, steps=STEPS, compiled=False)
    assert plain.report.path == "plain"
    assert np.max(np.abs(plain.q - run.q)) < 1e-9
    several = dh.ensemble(system, q, v=np.stack([v, 1.1 * v, v + [0.0, 0.1, 0.0, 0.0]]), h=STEP, steps=STEPS)
    assert several.attrs["path"] == "lanes"
    assert np.max(np.abs(several.q.values[0, -1] - run.q[-1])) < 1e-9
    assert several.steps_done.values.tolist() == [STEPS, STEPS, 0]
    assert "off the constraint" in str(several.reason.values[2])
    store = {"store": tmp_path / "run.zarr", "checkpoint_every": 100}
    half = dh.simulate(system, q, v=v, h=STEP, steps=STEPS // 2, **store)
    assert len(half) == STEPS // 2 + 1
    whole = dh.simulate(system, q, v=v, h=STEP, steps=STEPS, store=tmp_path / "other.zarr")
    resumed = dh.simulate(system, q, v=v, h=STEP, steps=STEPS, resume=True, **store)
    assert np.array_equal(resumed.q, whole.q)
    assert np.array_equal(resumed.v, whole.v)


def test_members_of_their_own_masses_and_parameters_z():
    """Of a system by psi(q, z): what each member does alone."""
    case = BY_FIGURE[20]
    masses = np.array([2.0, 2.5, 3.0])
    several = dh.ensemble(case.system.replace(mass2=masses), case.q, case.z, h=STEP, steps=100)
    for k, mass in enumerate(masses):
        alone = dh.simulate(case.system.replace(mass2=mass), case.q, case.z, h=STEP, steps=100)
        assert np.max(np.abs(several.q.values[k, -1] - alone.q[-1])) < 1e-12
    assert np.ptp(several.q.values[:, -1, 0]) > 1e-3


def test_gradients_go_there_too():
    """Of the end by a push of both velocities along their common direction, which keeps them parallel."""
    system, q, v = written(20)

    def end(size):
        return jnp.sum(dh.simulate(system, q, v=size * jnp.array(v), h=STEP, steps=STEPS, save_every=STEPS).q[-1])

    slope, e = float(jax.jit(jax.grad(end))(1.0)), 1e-5
    ends = [float(end(1.0 + d)) for d in (e, -e)]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * e), rel=1e-5)
