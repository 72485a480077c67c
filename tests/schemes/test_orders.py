"""The order of every scheme on the unbalanced sleigh, the rolling disk and Suslov's problem with its attitude.

By slope, two-sided, over four numbers of steps or more, between round-off and where the motion is resolved. What a
scheme refuses it refuses with a sentence. `TimeTransformed`, whose error is at a time of its own: test_step_density.py.
"""

import pytest
from orders import (
    LONG_SLEIGH,
    LONG_SUSLOV,
    MEDIUM_SUSLOV,
    NEARLY_STEADY_DISK,
    SLOW_DISK,
    SLOWER_DISK,
    SUSLOV,
    TURNING_SLEIGH,
    has_declared_order,
)
from problems import DISK, SLEIGH

import discrete_hamel as dh
from discrete_hamel.schemes import Gonzalez, MeanValue, weights

FIRST = ((SLEIGH, (400, 800, 1600, 3200)), (DISK, (800, 1600, 3200, 6400)), (SUSLOV, (400, 800, 1600, 3200)))
SECOND = ((SLEIGH, (50, 100, 200, 400)), (DISK, (100, 200, 400, 800)), (SUSLOV, (50, 100, 200, 400)))
FOURTH = ((SLEIGH, (50, 100, 200, 400)), (DISK, (100, 200, 400, 800)), (SUSLOV, (40, 80, 160, 320)))

HAMEL = dh.DiscreteHamel()


def composed(family):
    return dh.Composed(HAMEL, weights=family)


MATRIX = [
    (HAMEL, SECOND),
    (dh.DiscreteHamel(compensated=True), SECOND),
    *((dh.DiscreteHamel(tau=tau), FIRST) for tau in (0.0, 0.25, 1.0)),
    (dh.StaggeredHamel(), SECOND),
    (dh.CortesMartinez(), SECOND),
    (dh.CortesMartinez(0.0, 0.0), FIRST),
    (dh.CortesMartinez(0.0, 0.5), FIRST[:2]),  # on Suslov it is better than it says, see below
    (dh.CortesMartinez(0.5, 0.0), FIRST),
    (dh.Leapfrog(), SECOND[:2]),  # refuses redundant coordinates
    (dh.RungeKutta4(), ((SLEIGH, FOURTH[0][1]), (DISK, (200, 400, 800, 1600)), (SUSLOV, (50, 100, 200, 400)))),
    *((dh.EnergyExact(gradient), SECOND) for gradient in (MeanValue(), Gonzalez())),
    (dh.Gauss(1), SECOND),
    (dh.Gauss(2), ((SLEIGH, (50, 100, 200, 400)), (DISK, (50, 100, 200, 400)), (SUSLOV, (40, 80, 160, 320)))),
    (dh.Gauss(3), ((SLEIGH, (8, 12, 16, 24)), (DISK, (20, 28, 40, 64)), (SUSLOV, (8, 12, 16, 24)))),
    (dh.Gauss(3, compensated=True), ((DISK, (20, 28, 40, 64)),)),
    (dh.Gauss(4), ((SLEIGH, (8, 10, 12, 14)), (DISK, (24, 28, 32, 40)), (SUSLOV, (5, 6, 8, 10)))),
    (dh.Gauss(5), ((LONG_SLEIGH, (14, 16, 18, 20)), (SLOW_DISK, (8, 9, 10, 12)), (MEDIUM_SUSLOV, (8, 10, 12, 14)))),
    (
        dh.Gauss(6),
        ((TURNING_SLEIGH, (7, 8, 9, 10)), (NEARLY_STEADY_DISK, (58, 64, 70, 76)), (LONG_SUSLOV, (8, 10, 12, 14))),
    ),
    (dh.Galerkin(2, quadrature="lobatto"), ((DISK, (50, 100, 200, 400)),)),
    (dh.Galerkin(2, variation="derived"), ((DISK, (50, 100, 200, 400)), (SUSLOV, (25, 50, 100, 200)))),
    (dh.Galerkin(3, quadrature="lobatto"), ((SUSLOV, (8, 12, 16, 24)),)),
    (dh.Galerkin(3, variation="derived"), ((SLEIGH, (10, 14, 20, 28)), (DISK, (28, 40, 56, 80)))),
    (composed(weights.triple_jump(4)), FOURTH),
    (composed(weights.suzuki(4)), FOURTH),  # also the most accurate ones
    (composed(weights.MCLACHLAN_4), FOURTH),
    (
        composed(weights.triple_jump(6)),
        ((SLEIGH, (48, 64, 80, 96)), (DISK, (128, 160, 192, 256)), (SUSLOV, (48, 64, 80, 96))),
    ),
    (composed(weights.suzuki(6)), ((SLEIGH, (16, 20, 24, 32)), (DISK, (32, 40, 48, 64)), (SUSLOV, (14, 16, 20, 24)))),
    (composed(weights.KAHAN_LI_6), ((SLEIGH, (16, 20, 24, 32)), (DISK, (40, 48, 64, 80)), (SUSLOV, (16, 20, 24, 32)))),
    (composed(weights.YOSHIDA_6), ((SLEIGH, (32, 40, 48, 64)), (DISK, (64, 80, 96, 128)), (SUSLOV, (32, 40, 48, 64)))),
    (
        composed(weights.triple_jump(8)),
        ((SLEIGH, (48, 64, 80, 96)), (DISK, (96, 112, 128, 144)), (SUSLOV, (40, 48, 64, 80))),
    ),
    (
        composed(weights.suzuki(8)),
        ((TURNING_SLEIGH, (7, 8, 9, 10)), (SLOWER_DISK, (10, 12, 14, 16, 18, 20)), (LONG_SUSLOV, (12, 14, 16, 20))),
    ),
    (composed(weights.KAHAN_LI_8), ((SLEIGH, (8, 10, 12, 14)), (DISK, (24, 28, 32, 40)), (SUSLOV, (8, 10, 12, 14)))),
    (
        composed(weights.SUZUKI_UMENO_8),
        ((SLEIGH, (10, 12, 14, 16)), (DISK, (32, 40, 48, 56)), (SUSLOV, (10, 12, 14, 16))),
    ),
    (
        dh.Composed(dh.EnergyExact(), order=4),
        ((SLEIGH, (25, 50, 100, 200)), (DISK, (50, 100, 200, 400)), (SUSLOV, (20, 40, 80, 160))),
    ),
]
CASES = [(scheme, problem, counts) for scheme, row in MATRIX for problem, counts in row]


def named(value):
    if isinstance(value, dh.Composed):
        return f"Composed {type(value.scheme).__name__}, {value.weights.source}"
    return getattr(value, "name", None) or repr(value)


@pytest.mark.parametrize(("scheme", "problem", "counts"), CASES, ids=named)
def test_order(scheme, problem, counts):
    has_declared_order(problem, scheme, counts)


def test_every_scheme_is_measured():
    """A new scheme has a row in the matrix, or its own place."""
    elsewhere = {"Scheme", "StormerVerlet", "Rattle", "TimeTransformed", "NonlinearMidpoint", "Principle"}
    known = {name for name in dh.__all__ if isinstance(getattr(dh, name), type)}
    schemes = {name for name in known if issubclass(getattr(dh, name), dh.schemes.Scheme)}
    assert schemes - elsewhere == {type(scheme).__name__ for scheme, _ in MATRIX}


def test_gauss_declares_twice_its_stages():
    assert [dh.Gauss(stages).order for stages in range(1, 13)] == list(range(2, 25, 2))


def test_cortes_martinez_is_better_than_declared_on_suslov():
    """Suslov's Lagrangian is left-invariant, the same at both ends of a Cayley step: there (0, 1/2) has order 2."""
    has_declared_order(SUSLOV, dh.CortesMartinez(0.0, 0.5), SECOND[2][1], order=2)


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        (dh.StormerVerlet(), "StormerVerlet is for unconstrained systems|many coordinates as velocities"),
        (dh.Rattle(), "Rattle is for holonomic constraints"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("problem", [SLEIGH, DISK, SUSLOV], ids=named)
def test_what_is_for_other_systems_refuses_all_three(scheme, problem, words):
    with pytest.raises(ValueError, match=words):
        problem.run(10, scheme=scheme)


def test_leapfrog_refuses_redundant_coordinates():
    with pytest.raises(ValueError, match="9 coordinates and 3 quasi-velocities"):
        SUSLOV.run(10, scheme=dh.Leapfrog())
