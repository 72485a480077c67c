"""dh.audit on runs with nonlinear constraints: what is a theorem there, what is not, and that it can fail."""

import numpy as np
from curved import ON_CONE, ON_CYLINDER, POINTS

import discrete_hamel as dh
from discrete_hamel.analysis import Standing


def test_midpoint():
    found = dh.audit(dh.simulate(POINTS.system, POINTS.q, POINTS.z, h=0.02, steps=200))
    assert found.sound
    assert found["constraint"].standing is found["variational equations"].standing is Standing.THEOREM
    assert found["energy"].standing is Standing.OBSERVED


def test_energy_is_a_theorem_of_energy_exact_where_reactions_do_no_work():
    for run, standing in ((ON_CONE, Standing.THEOREM), (ON_CYLINDER, Standing.NOT_CLAIMED)):
        found = dh.audit(dh.simulate(run.system, run.q, run.z, h=0.02, steps=100, scheme=dh.EnergyExact()))
        assert found["energy"].standing is standing
        assert found.sound
        assert found["constraint"].standing is Standing.NOT_CLAIMED


def test_a_false_run_is_noticed():
    run = dh.simulate(POINTS.system, POINTS.q, POINTS.z, h=0.02, steps=200)
    false = run.replace(q=run.q + 1e-6 * np.sin(np.arange(201))[:, None])
    assert not dh.audit(false).sound
