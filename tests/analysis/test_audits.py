"""The audit: each line's standing, and that a broken trajectory is called broken."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.analysis import Standing, wandering

S = dh.systems
SLEIGH = dh.simulate(S.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=2000)
DISK = dh.simulate(S.RollingDisk(), [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], h=0.01, steps=2000)


def test_theorems_hold_and_are_called_theorems():
    found = dh.audit(SLEIGH)
    assert found.sound
    for line in ("constraint", "energy", "momentum equation"):
        assert found[line].standing is Standing.THEOREM
        assert found[line].holds
    assert found["Newton"].holds


def test_energy_of_the_disk_is_observed_not_a_theorem():
    line = dh.audit(DISK)["energy"]
    assert line.standing is Standing.OBSERVED
    assert line.holds
    assert 1e-9 < line.size < 1e-2  # it does oscillate


def test_energy_away_from_one_half_is_not_claimed():
    run = dh.simulate(
        S.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=500, scheme=dh.DiscreteHamel(tau=0.3)
    )
    found = dh.audit(run)
    assert found["energy"].standing is Standing.NOT_CLAIMED
    assert found["energy"].holds is None
    assert found["energy"].size > 1e-6
    assert found["constraint"].holds
    assert found.sound


def test_energy_exact_on_the_disk_is_a_theorem():
    run = dh.simulate(S.RollingDisk(), [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], h=0.01, steps=300, scheme=dh.EnergyExact())
    line = dh.audit(run)["energy"]
    assert line.standing is Standing.THEOREM
    assert line.holds


def test_the_constraint_of_a_system_from_constraints_is_a_theorem_at_the_tau_point():
    """On a belt that runs aside, through all headings; measured elsewhere on the chord it is off by O(h)."""

    def blade(q):
        return jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]])

    skate = dh.from_constraints(lambda q, v: 0.5 * v @ v + q[1], blade, b=lambda q: jnp.array([0.2 * q[2]]))
    start = {"q": [0.0, 0, 0], "v": [2.0, 1, 0], "h": 0.01, "steps": 1000}
    for tau in (0.5, 0.3):
        run = dh.simulate(skate, **start, scheme=dh.DiscreteHamel(tau))
        line = dh.audit(run)["constraint"]
        assert (line.standing, line.holds) == (Standing.THEOREM, True)
        moved = dh.audit(run.replace(scheme=dh.schemes.FollowingHamel(tau + 0.1)))["constraint"]
        assert moved.holds is False
        assert moved.size > 1e9 * line.size
        assert f"FollowingHamel(tau={tau})" in dh.audit(run).title


@pytest.mark.parametrize(
    ("field", "line"), [("xi", "energy"), ("q", "constraint"), ("p", "momentum equation")], ids=["energy", "D", "p"]
)
def test_a_broken_run_is_called_broken(field, line):
    damaged = np.array(getattr(SLEIGH, field))
    damaged[1000:] += 1e-7 * np.arange(1000 + 1)[:, None] ** (field == "q")
    found = dh.audit(SLEIGH.replace(**{field: damaged}))
    assert found[line].holds is False
    assert not found.sound
    assert "BROKEN" in repr(found)


def test_a_secular_drift_is_no_longer_called_bounded():
    drifting = np.array(DISK.xi)
    drifting[:, 2] += 1e-2 * DISK.t
    line = dh.audit(DISK.replace(xi=drifting))["energy"]
    assert line.holds is False
    assert line.drift.significant
    assert line.wandering > 0.5  # more than a random walk
    assert line.note == "a drift stands out"


def test_print_and_plot():
    pytest.importorskip("matplotlib")
    found = dh.audit(DISK)
    text = repr(found)
    assert len(text.splitlines()) == 2 + len(found.lines)
    for word in ("theorem, holds", "observed", "constraint", "Newton", "drift a unit time"):
        assert word in text
    (axes,) = found.plot().axes
    assert axes.title.get_fontname() == "STIXGeneral"  # drawn in the house style


def test_without_matplotlib_a_plot_says_how_to_have_it(monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "discrete_hamel\[plots\]"'):
        dh.audit(DISK).plot()


def test_failed_steps_show():
    report = SLEIGH.report.replace(converged=np.arange(2000) != 7)
    line = dh.audit(SLEIGH.replace(report=report))["Newton"]
    assert line.holds is False
    assert line.note.startswith("1 failed")


def test_exponents_of_wandering():
    rng = np.random.default_rng(3)
    walks = [wandering(np.cumsum(rng.normal(size=20_000))) for _ in range(20)]
    assert np.mean(walks) == pytest.approx(0.5, abs=0.05)
    assert wandering(np.sin(np.arange(20_000) * 0.7)) == pytest.approx(0.0, abs=0.1)
    assert wandering(3.0 * np.arange(500.0)) == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(ValueError, match="not all alike"):
        wandering(np.ones(1000))


def test_a_reference_has_nothing_to_audit():
    with pytest.raises(ValueError, match="a reference motion has none"):
        dh.audit(dh.reference(S.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], t=1.0))


class Elsewhere(dh.schemes.Scheme):
    """It says that it meets the constraint, and not where."""

    order, symmetric, conserves, reference = 2, True, ("constraint",), "the user's"

    def residual(self, system, state, h, z):
        return dh.DiscreteHamel().residual(system, state, h, z)

    def advance(self, system, state, h, z):
        return dh.DiscreteHamel().advance(system, state, h, z)


@pytest.mark.parametrize(
    ("scheme", "note"),
    [
        (dh.Gauss(2), "met at every stage of a step"),
        (dh.RungeKutta4(), "met at every stage of a step"),
        (dh.Composed(dh.DiscreteHamel(), order=4), "met where each of the steps within a step meets it"),
        (Elsewhere(), "claimed by Elsewhere, which does not say where in a step; measured at the middle of its chord"),
    ],
    ids=["Gauss", "RungeKutta4", "Composed", "a user's"],
)
def test_where_the_constraint_is_met_is_said_only_of_schemes_that_are_known(scheme, note):
    run = dh.simulate(dh.systems.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.1, steps=10, scheme=scheme)
    assert dh.audit(run)["constraint"].note.startswith(note)
    assert dh.audit(run)["constraint"].standing is Standing.NOT_CLAIMED
