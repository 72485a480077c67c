"""Composition: the published weights satisfy the order conditions to round-off. Orders: test_orders.py."""

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import STEP, keeps
from problems import DISK, SLEIGH

import discrete_hamel as dh
from discrete_hamel.schemes.coefficients import weights

ALL = [
    *(family(order) for family in (weights.triple_jump, weights.suzuki) for order in (4, 6, 8)),
    weights.MCLACHLAN_4,
    weights.YOSHIDA_6,
    weights.KAHAN_LI_6,
    weights.SUZUKI_UMENO_8,
    weights.KAHAN_LI_8,
]


@functools.cache
def words(degree):
    """Words in the letters 1, 3, 5, ... of total degree `degree`."""
    if degree == 0:
        return [()]
    return [(letter, *rest) for letter in range(1, degree + 1, 2) for rest in words(degree - letter)]


def product(a, b, most):
    """Product of two series in non-commuting letters, truncated above degree `most`."""
    result: dict[tuple, float] = {}
    for (u, x), (v, y) in itertools.product(a.items(), b.items()):
        if sum(u) + sum(v) <= most:
            result[u + v] = result.get(u + v, 0.0) + x * y
    return result


def symmetric_step(gamma, most):
    """exp(gamma X_1 + gamma^3 X_3 + gamma^5 X_5 + ...): every symmetric method of order 2 is one."""
    return {
        word: gamma ** sum(word) / math.factorial(len(word)) for degree in range(most + 1) for word in words(degree)
    }


def defects(gammas, most):
    """By degree, the largest difference between the composition and exp(X_1), the exact flow."""
    series = {(): 1.0}
    for gamma in gammas:
        series = product(series, symmetric_step(float(gamma), most), most)
    exact = {(1,) * k: 1 / math.factorial(k) for k in range(most + 1)}
    return [max(abs(series.get(word, 0.0) - exact.get(word, 0.0)) for word in words(d)) for d in range(most + 1)]


@pytest.mark.parametrize("family", ALL, ids=lambda family: f"{family.source} {len(family)}")
def test_weights_satisfy_the_order_conditions_and_no_more(family):
    """In the free algebra, so for every base method and every system; palindromic, sum 1."""
    gamma = np.asarray(family.gamma)
    assert np.array_equal(gamma, gamma[::-1])
    assert len(gamma) == len(family)
    by_degree = defects(gamma, family.order + 1)
    length = np.sum(np.abs(gamma))  # round-off of a word of degree d is that of (sum |gamma|)^d / d!
    for degree, defect in enumerate(by_degree[:-1]):
        assert defect <= 20 * np.finfo(float).eps * max(1.0, length**degree / math.factorial(degree))
    assert by_degree[-1] > 1e-9


def test_published_decimals_of_the_middle_are_the_sum_condition():
    for family in ALL[6:]:
        assert abs(float(family.gamma[len(family) // 2]) - family.half[-1]) < 1e-15


def test_a_step_is_its_sub_steps():
    scheme, h = dh.Composed(dh.DiscreteHamel(), weights=weights.triple_jump(4)), 0.1
    state = dh.start(DISK.system, scheme, DISK.q, DISK.xi, h)
    whole, interval = STEP(DISK.system, scheme, state, h)
    iterations = []
    for gamma in scheme.weights.gamma:
        state, part = STEP(DISK.system, dh.DiscreteHamel(), state, gamma * h)
        iterations.append(int(part.report.iterations))
    assert float(jnp.max(jnp.abs(whole.q - state.q))) < 1e-14
    assert float(jnp.max(jnp.abs(whole.p - state.p))) < 1e-13
    assert int(interval.report.iterations) == max(iterations)


def test_keeps_what_each_sub_step_keeps():
    steps = 400
    keeps(SLEIGH.run(steps, scheme=dh.Composed(dh.DiscreteHamel(), order=6)), SLEIGH.exact, 1e-12 * steps**0.5)


@pytest.mark.parametrize(
    "base", [dh.DiscreteHamel(tau=0.3), dh.RungeKutta4(), dh.CortesMartinez(0.0, 0.5)], ids=lambda base: repr(base)
)
def test_refuses_a_base_that_is_not_symmetric(base):
    with pytest.raises(ValueError, match=r"needs a symmetric scheme.*is not symmetric"):
        dh.Composed(base)


def test_refuses_what_does_not_go_together():
    with pytest.raises(ValueError, match="give order 4"):
        dh.Composed(dh.DiscreteHamel(), order=6, weights=weights.suzuki(4))
    with pytest.raises(ValueError, match="of order 4 already"):
        dh.Composed(dh.Gauss(2), order=4)
    with pytest.raises(ValueError, match="4, 6 and 8"):
        dh.Composed(dh.DiscreteHamel(), order=10)
    with pytest.raises(ValueError, match="even orders"):
        weights.suzuki(5)
    with pytest.raises(TypeError, match="not the class"):
        dh.Composed(dh.DiscreteHamel)


def test_a_sub_step_that_fails_is_named_with_its_own_step():
    """Beyond q = 1 there is no potential; the triple jump goes 1.35 h on, 1.70 h back, and 1.35 h on."""
    wall = dh.from_quasivelocities(
        lambda q, xi: 0.5 * xi @ xi - jnp.sqrt(1 - q[0]),
        lambda q: jnp.eye(1),
        1,
        structure=lambda q: jnp.zeros((1, 1, 1)),
    )
    scheme = dh.Composed(dh.DiscreteHamel(), weights=weights.triple_jump(4))
    with pytest.raises(dh.NewtonFailed, match=r"with h = 0\.135121\).*not finite") as failure:
        dh.simulate(wall, [0.0], [1.0], h=0.1, steps=30, scheme=scheme)
    assert np.all(np.isfinite(failure.value.trajectory.q))


def test_is_differentiable():
    """d energy_end / d v_0 through six steps: the sleigh's energy is exact, so it is m v_0."""

    def energy(v):
        run = dh.simulate(
            SLEIGH.system, SLEIGH.q, jnp.stack([1.5, v]), h=0.1, steps=3, scheme=dh.Composed(dh.DiscreteHamel())
        )
        return dh.energy(SLEIGH.system, run.q[-1], run.xi[-1])

    assert abs(float(jax.grad(energy)(-0.3)) + 0.3) < 1e-12
