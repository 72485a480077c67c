"""Gauss collocation: its coefficients, orders 2 to 12, and what is quadratic in (q, p)."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from checkers import STEP, keeps
from orders import LONG_SLEIGH, LONG_SUSLOV, SLOW_DISK, SUSLOV, TURNING_SLEIGH, has_declared_order
from problems import BODY, DISK, SLEIGH, TOP

import discrete_hamel as dh
from discrete_hamel.schemes.gauss import collocation

MEDIUM_SUSLOV = dataclasses.replace(SUSLOV, name="medium suslov", time=8.0)


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


@pytest.mark.parametrize(
    ("problem", "stages", "counts"),
    [
        (SLEIGH, 2, (50, 100, 200, 400)),
        (DISK, 2, (50, 100, 200, 400)),
        (SUSLOV, 2, (40, 80, 160, 320)),
        (SLEIGH, 3, (8, 12, 16, 24)),
        (DISK, 3, (20, 28, 40, 64)),
        (SUSLOV, 3, (8, 12, 16, 24)),
        (SLEIGH, 4, (8, 10, 12, 14)),
        (DISK, 4, (24, 28, 32, 40)),
        (SUSLOV, 4, (5, 6, 8, 10)),
        (LONG_SLEIGH, 5, (14, 16, 18, 20)),
        (SLOW_DISK, 5, (8, 9, 10, 12)),
        (MEDIUM_SUSLOV, 5, (8, 10, 12, 14)),
        (TURNING_SLEIGH, 6, (7, 8, 9, 10)),
        (LONG_SUSLOV, 6, (8, 10, 12, 14)),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_order_is_twice_the_number_of_stages(problem, stages, counts):
    """Up to order 12; for the disk up to 10, above which round-off leaves fewer than four points."""
    assert dh.Gauss(stages).order == 2 * stages
    has_declared_order(problem, dh.Gauss(stages), counts)


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
    state = dh.start(DISK.system, scheme, DISK.q, DISK.xi, 0.1)
    there, _ = STEP(DISK.system, scheme, state, 0.1)
    back, _ = STEP(DISK.system, scheme, there, -0.1)
    assert float(jnp.max(jnp.abs(back.q - state.q))) < 1e-12
    assert float(jnp.max(jnp.abs(back.p - state.p))) < 1e-12


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
