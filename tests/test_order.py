"""The order of the tau-rule: two if tau = 1/2, one otherwise; and what it converges to."""

import numpy as np
import pytest
from checkers import errors, has_order
from problems import DISK, PENDULUM, SLEIGH, TOP

import discrete_hamel as dh

COUNTS = (50, 100, 200, 400, 800)


def test_sleigh_is_second_order_with_the_error_of_the_issue():
    has_order(SLEIGH, 2.0, 0.03, COUNTS)
    assert errors(SLEIGH, [50])[0] == pytest.approx(1.6e-3, abs=5e-5)


@pytest.mark.parametrize("tau", [0.0, 0.25, 1.0])
def test_sleigh_is_first_order_away_from_one_half(tau):
    has_order(SLEIGH, 1.0, 0.05, (100, *COUNTS[2:], 1600), scheme=dh.DiscreteHamel(tau=tau))


@pytest.mark.parametrize("problem", [DISK, PENDULUM, TOP], ids=lambda problem: problem.name)
def test_others_are_second_order(problem):
    has_order(problem, 2.0, 0.03, (200, 400, 800))


@pytest.mark.parametrize("tau", [0.0, 1.0])
def test_disk_is_first_order_away_from_one_half(tau):
    has_order(DISK, 1.0, 0.1, (800, 1600, 3200), scheme=dh.DiscreteHamel(tau=tau))


def test_sleigh_staggered_is_second_order():
    has_order(SLEIGH, 2.0, 0.05, scheme=dh.StaggeredHamel())


@pytest.mark.parametrize(("scheme", "order"), [(dh.DiscreteHamel(), 2), (dh.DiscreteHamel(tau=0.3), 1)])
def test_declared_order_is_the_measured_one(scheme, order):
    assert scheme.order == order
    has_order(SLEIGH, scheme.order, 0.1, scheme=scheme)


def test_reduced_equations_of_the_sleigh_are_qs_6_1():
    """p1' = -a p1 p2 / (J + m a^2), p2' = m a p1^2 / (J + m a^2)^2."""
    for m, j, a, omega, v in np.random.default_rng(1).uniform([0.5, 0.5, -2, -2, -2], 2.0, (20, 5)):
        sleigh = dh.systems.ChaplyginSleigh(mass=m, inertia=j, offset=a)
        q, xi = [0.3, 1.0, -2.0], [omega, v]
        p1, p2 = np.asarray(dh.momentum(sleigh, q, xi))[:2]
        assert [p1, p2] == pytest.approx([(j + m * a**2) * omega, m * v], rel=1e-14)
        expected = [-a * p1 * p2 / (j + m * a**2), m * a * p1**2 / (j + m * a**2) ** 2]
        assert np.asarray(dh.hamel_force(sleigh, q, xi)) == pytest.approx(expected, rel=1e-12, abs=1e-13)
