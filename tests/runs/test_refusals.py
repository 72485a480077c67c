"""What simulate refuses in words is marked in the report of a run under jit, vmap and grad, with the same sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.runs import traced_refusals

SLEIGH = dh.systems.ChaplyginSleigh()
GOOD = {"q": [0.1, 0.0, 0.0], "xi": [1.5, -0.3, 0.0], "h": 0.01}
BAD = {
    traced_refusals.NOT_FINITE: {"q": [np.nan, 0.0, 0.0]},
    traced_refusals.NO_STEP: {"h": 0.0},
    traced_refusals.OFF_CONSTRAINT: {"xi": [1.5, -0.3, 0.5]},
    traced_refusals.PARAMETER: {"mass": -1.0},
}


def test_redundant_coordinates_off_their_manifold_are_marked():
    pendulum = dh.systems.SphericalPendulum()
    run = jax.jit(lambda q: dh.simulate(pendulum, q, [1.0, 0.0], h=0.01, steps=3))
    assert run(jnp.array([0.6, 0.0, -0.8])).report.refused == 0
    off = run(1.3 * jnp.array([0.6, 0.0, -0.8]))
    assert off.report.refused == traced_refusals.OFF_MANIFOLD
    assert "dh.project" in off.refusal()


def run(mass, q, xi, h):
    return dh.simulate(SLEIGH.replace(mass=mass), q, xi, h=h, steps=3)


@pytest.mark.parametrize("code", [0, *BAD])
def test_a_traced_run_is_marked_and_tells_the_sentence(code):
    data = {"mass": 1.0, **GOOD, **BAD.get(code, {})}
    arrays = {name: jnp.asarray(value, float) for name, value in data.items()}
    traj = jax.jit(run)(**arrays)
    assert traj.report.refused == code
    assert traj.report.refusals() == ((traced_refusals.SENTENCES[code],) if code else ())
    assert code == 0 or traced_refusals.SENTENCES[code] in repr(traj.report)
    if code == 0:
        assert traj.refusal() == ""
        return
    with pytest.raises(ValueError) as refused:  # noqa: PT011  # what it says is compared
        run(**data)
    assert traj.refusal() == str(refused.value)


def test_a_batch_is_marked_one_by_one_and_a_velocity_is_looked_at():
    masses = jnp.array([1.0, -1.0, 2.0])
    report = jax.vmap(lambda m: run(m, jnp.array(GOOD["q"]), jnp.array(GOOD["xi"]), 0.01).report)(masses)
    assert report.refused.tolist() == [0, traced_refusals.PARAMETER, 0]
    sideways = jax.jit(lambda v: dh.simulate(SLEIGH, np.zeros(3), v=v, h=0.01, steps=3).report.refused)
    assert sideways(jnp.array([0.0, 1.0, 0.0])) == 0
    assert sideways(jnp.array([0.0, 0.0, 1.0])) == traced_refusals.OFF_CONSTRAINT


def test_a_complex_parameter_is_refused_in_words():
    with pytest.raises(dh.InputError, match=r"lagrangian\(q, xi\) must return an array of real numbers .* complex128"):
        dh.simulate(SLEIGH.replace(mass=1j), **GOOD, steps=3)


def test_more_steps_than_can_be_counted_are_too_many():
    with pytest.raises(MemoryError, match="are too many for the memory of this machine.*save_every"):
        dh.simulate(SLEIGH, **GOOD, steps=10**30)
