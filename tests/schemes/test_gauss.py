"""Gauss collocation: its coefficients, and what is quadratic in (q, p). Its orders: test_orders.py."""

import numpy as np
import pytest
from checkers import is_undone, keeps
from problems import BODY, DISK, SLEIGH, TOP

import discrete_hamel as dh
from discrete_hamel.schemes.gauss import collocation


@pytest.mark.parametrize("stages", range(1, 13))
def test_coefficients_integrate_polynomials_exactly(stages):
    """B(2s): sum b_i c_i^{k-1} = 1/k for k <= 2s, not beyond; C(s): sum_j a_ij c_j^{k-1} = c_i^k / k for k <= s."""
    a, b, c = collocation(stages)
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
