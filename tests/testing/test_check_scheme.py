"""check_scheme and check_conserved: false words, forgotten words and broken steps are seen."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import discrete_hamel as dh
from discrete_hamel.testing import AxiomFailed, check_conserved, schemes, strategies

SLEIGH = dh.systems.ChaplyginSleigh(offset=0.4)


class Boastful(dh.RungeKutta4):
    """It says what it does not do."""

    conserves = ("quadratic energy",)
    symmetric = True


class Forgetful(dh.DiscreteHamel):
    order = 2
    symmetric = False
    conserves = ("constraint", "relative equilibria", "quadratic energy")


class Coarse(dh.DiscreteHamel):
    order = 4


class Skewed(dh.RungeKutta4):
    """A step that looks at x, which nothing in the mechanics does."""

    def step(self, system, state, h):
        new, interval = super().step(system, state, h * (1 + 0.01 * state.q[1]))
        return new, interval


@pytest.mark.parametrize(
    ("check", "scheme", "said"),
    [
        (schemes.check_order, Coarse(), "order: .* declares 4"),
        (schemes.check_symmetry, Boastful(), "symmetric: .* declares it"),
        (schemes.check_symmetry, Forgetful(), "symmetric: .* does not say so"),
        (schemes.check_equivariance, Skewed(), "equivariant: "),
        (lambda scheme: schemes.check_word(scheme, "quadratic energy"), Boastful(), "quadratic energy: declared"),
        (lambda scheme: schemes.check_word(scheme, "spatial momentum"), Forgetful(), "spatial momentum: kept"),
    ],
)
def test_each_lie_is_seen(check, scheme, said):
    with pytest.raises(AxiomFailed, match=said):
        check(scheme)


def test_a_word_that_nobody_can_test():
    class Poet(dh.DiscreteHamel):
        conserves = (*dh.DiscreteHamel.conserves, "beauty")

    with pytest.raises(AxiomFailed, match="'beauty'"):
        dh.testing.check_scheme(Poet())


def test_conserved_both_ways():
    left = dh.DiscreteHamel(tau=0.2)
    check_conserved("energy", SLEIGH)
    check_conserved("energy", SLEIGH, left, kept=1, h=0.1, examples=5)
    check_conserved("energy", SLEIGH, left, kept=False, examples=5)
    for scheme, kept, said in (
        (left, "exact", "energy changes by .* where 1e-11 is allowed"),
        (left, 2, "not as h"),
        (None, 2, "better than to order 2"),
        (None, False, "energy is kept"),
    ):
        with pytest.raises(AxiomFailed, match=said):
            check_conserved("energy", SLEIGH, scheme, kept=kept, examples=5)


PENDULUM = dh.systems.SphericalPendulum()
GRAVITIES = []


@settings(max_examples=20)
@given(strategies.motions(PENDULUM, [0.0, 0.0, -1.0]))
def test_states_lie_on_the_manifold_and_parameters_vary(motion):
    system, q, xi = motion
    assert abs(np.linalg.norm(q) - 1) < 1e-12
    assert xi.shape == (2,)
    assert 9.8 / 3.01 <= float(system.gravity) <= 9.8 * 3.01
    GRAVITIES.append(float(system.gravity))


def test_they_did_vary():
    assert len({round(g, 3) for g in GRAVITIES}) > 5


@settings(max_examples=5)
@given(strategies.trajectories(SLEIGH, steps=10))
def test_trajectories_are_runs(run):
    assert run.q.shape == (11, 3)
    assert jnp.all(run.report.converged)


def test_what_is_to_be_kept_and_how_is_refused_in_words():
    with pytest.raises(ValueError, match='it is "exact", an order or False'):
        check_conserved("energy", SLEIGH, kept="exactly")
    with pytest.raises(ValueError, match="ChaplyginSleigh has no invariant 'enrgy'; it has energy"):
        check_conserved("enrgy", SLEIGH, examples=1, steps=2)
