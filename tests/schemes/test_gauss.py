"""Gauss collocation: its coefficients, and what is quadratic in (q, p). Its orders: test_orders.py."""

from fractions import Fraction

import jax
import numpy as np
import pytest
from checkers import is_undone, keeps
from problems import BODY, DISK, PENDULUM, SLEIGH, TOP

import discrete_hamel as dh
from discrete_hamel.schemes.gauss import collocation


@pytest.mark.parametrize("stages", range(1, 13))
def test_coefficients_integrate_polynomials_exactly(stages):
    """B(2s): sum b_i c_i^{k-1} = 1/k for k <= 2s, not beyond; C(s): sum_j a_ij c_j^{k-1} = c_i^k / k for k <= s."""
    share, b, c = collocation(stages)
    a = share * b
    assert np.array_equal(share + share.T, np.ones((stages, stages)))
    for k in range(1, 2 * stages + 1):
        assert abs(b @ c ** (k - 1) - 1 / k) < 1e-15
    beyond = abs(b @ c ** (2 * stages) - 1 / (2 * stages + 1))
    assert beyond > 1e-16 if stages > 11 else beyond > 1e-15
    for k in range(1, stages + 1):
        assert np.max(np.abs(a @ c ** (k - 1) - c**k / k)) < 1e-15


def test_one_stage_is_the_tau_rule_at_one_half():
    """(D1), (D2) at tau = 1/2 say q, p = (start + end)/2 at the stage: the midpoint rule of (H) in (q, p)."""
    for problem in (SLEIGH, DISK):
        midpoint, hamel = (problem.run(100, scheme=scheme) for scheme in (dh.Gauss(1), dh.DiscreteHamel()))
        assert np.max(np.abs(midpoint.q - hamel.q)) < 1e-11
        assert np.max(np.abs(midpoint.p - hamel.p)) < 1e-11
        assert np.max(np.abs(midpoint.xi_mid - hamel.xi_mid)) < 1e-11


@pytest.mark.parametrize("stages", [2, 5])
def test_is_symmetric(stages):
    scheme = dh.Gauss(stages)
    is_undone(DISK.system, scheme, scheme, dh.start(DISK.system, scheme, DISK.q, DISK.xi, 0.1), 0.1, 2e-13)


@pytest.mark.parametrize("problem", [BODY, TOP], ids=lambda problem: problem.name)
def test_invariants_quadratic_in_q_and_p_are_exact(problem):
    steps = 500
    keeps(problem.run(steps, scheme=dh.Gauss(2)), problem.exact, 1e-12 * steps**0.5)


def test_energy_that_is_not_quadratic_is_not_exact():
    energy = DISK.run(100, scheme=dh.Gauss(2)).energy
    assert np.max(np.abs(energy - energy[0])) > 1e-9


def test_number_of_stages_is_checked():
    for stages in (0, 13):
        with pytest.raises(ValueError, match="1 to 12"):
            dh.Gauss(stages)


CARRYING, ROUNDING = dh.Gauss(3, compensated=True), dh.Gauss(3)
ON_THE_WAY = np.array([2.0, 0.3, -1.0]) / np.sqrt(5.09), np.array([0.4, -0.7])


def test_what_is_quadratic_wanders_by_roundings_of_changes_only():
    """|gamma|^2 in exact arithmetic, and the energy: a walk of roundings of h qdot, else one of roundings of q."""
    (q, xi), h, steps = ON_THE_WAY, 0.1, 20_000
    worst = {}
    for scheme in (CARRYING, ROUNDING):
        run = dh.simulate(PENDULUM.system, q, xi, h=h, steps=steps, save_every=20, scheme=scheme)
        squares = [sum(Fraction(float(x)) ** 2 for x in row) for row in run.q]
        energy = np.abs(run.energy - run.energy[0]) / abs(run.energy[0])
        worst[scheme] = max(abs(float(s - squares[0])) for s in squares), np.max(energy)
    walk = np.finfo(float).eps * steps**0.5
    assert worst[CARRYING][0] < h * walk < worst[ROUNDING][0] < walk
    assert worst[CARRYING][1] < worst[ROUNDING][1] / 3


@pytest.mark.parametrize(("stages", "h"), [(8, 0.62), (10, 0.9), (12, 1.3)])
def test_a_long_run_ends_right_to_a_part_in_10_12(stages, h):
    """T = 1000, by heyoka in 80-bit arithmetic, of which two tolerances agree within 1e-15 (benchmarks/problems.py)."""
    tilt, steps = 2 * np.pi / 3, round(1000 / h)
    q = [np.sin(tilt) * np.cos(0.3), np.sin(tilt) * np.sin(0.3), np.cos(tilt)]
    scheme = dh.Gauss(stages, compensated=True)
    run = dh.simulate(
        dh.systems.SphericalPendulum(), q, [0.4, -0.7], h=1000 / steps, steps=steps, save_every=steps, scheme=scheme
    )
    end = (-0.5017314539747895, 0.8445113675738787, -0.18725944069883543, -0.10070478806382023, 0.11990590919004915)
    assert run.report.path == "compiled"
    assert np.max(np.abs([*(run.q[-1] - end[:3]), *(run.xi[-1, :2] - end[3:])])) < 1e-12


@pytest.mark.parametrize("stages", [2, 5])
@pytest.mark.parametrize("problem", [DISK, PENDULUM], ids=lambda problem: problem.name)
def test_what_is_carried_along_is_part_of_the_state_on_every_path(problem, stages):
    """Compiled and plain, in one piece and in two, side by side, under jit, and through derivatives."""
    scheme = dh.Gauss(stages, compensated=True)
    q, xi, how = np.array(problem.q), np.array(problem.xi), {"h": 0.1, "scheme": scheme}
    whole = dh.simulate(problem.system, q, xi, steps=40, **how)
    plain = dh.simulate(problem.system, q, xi, steps=40, **how, compiled=False)
    assert (whole.report.path, plain.report.path) == ("compiled", "plain")
    assert np.max(np.abs(whole.final.low)) > 0
    for name in ("q", "p", "xi", "xi_mid"):
        mine, its = getattr(whole, name), getattr(plain, name)
        assert np.max(np.abs(mine - its)) <= 1e-13 * np.max(np.abs(its))
    halves = dh.prolong(dh.simulate(problem.system, q, xi, steps=17, **how), 23)
    assert np.array_equal(halves.q, whole.q)
    assert np.array_equal(halves.final.low, whole.final.low)
    several = dh.ensemble(problem.system, np.stack([q, q]), np.stack([0.9 * xi, xi]), steps=40, **how)
    assert np.max(np.abs(several.q.values[1, -1] - whole.q[-1])) <= 1e-13 * np.max(np.abs(whole.q))

    def ended(by):
        return lambda xi: dh.simulate(problem.system, q, xi, h=0.1, steps=40, scheme=by).q[-1]

    assert np.max(np.abs(jax.jit(ended(scheme))(xi) - whole.q[-1])) <= 1e-13 * np.max(np.abs(whole.q))
    slopes, others = (jax.jacfwd(ended(by))(xi) for by in (scheme, dh.Gauss(stages)))
    assert np.max(np.abs(slopes - others)) <= 1e-11 * np.max(np.abs(others))
