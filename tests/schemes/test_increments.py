"""The increment of a compensated step, against exact rational arithmetic, and what it keeps over a run."""

from fractions import Fraction
from functools import partial

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import BODY, DISK, PENDULUM

import discrete_hamel as dh
from discrete_hamel.schemes.exact_increments import affine, increment, round_to_half

EPS = np.finfo(float).eps
INCREMENT = jax.jit(lambda q, low, x, d: increment(PENDULUM.system.frame, q, low, 0.5, x, d))


def cross(a, b):
    return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]


def exactly(*parts):
    """The sums of arrays as fractions."""
    return [sum(Fraction(float(x)) for x in components) for components in zip(*parts, strict=True)]


def misses(q, low, x, d, below):
    """d - (q + low + d/2) x x, and how far that is from across q + low + d/2, where any cross product is: exactly."""
    change, middle = exactly(d, below), exactly(q, low, np.asarray(d) / 2, np.asarray(below) / 2)
    residual = [a - b for a, b in zip(change, cross(middle, exactly(x)), strict=True)]
    along = sum(a * b for a, b in zip(middle, change, strict=True))
    return max(abs(float(r)) for r in residual), abs(float(along))


vectors = st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda a: sum(map(abs, a)) > 0.1).map(np.array)


@hypothesis.given(q=vectors, x=vectors, size=st.floats(1e-3, 0.3), bits=vectors)
@hypothesis.settings(max_examples=40, deadline=None)
def test_far_below_round_off_where_the_frame_is_linear(q, x, size, bits):
    """Eight roundings of what is left, 2^-24 of the product of the sizes. Doubles alone are off by 1e-17."""
    x, low, d = size * x, 1e-17 * bits, np.zeros(3)
    for _ in range(60):
        d = np.cross(q + d / 2, x)
    better, below = INCREMENT(q, low, x, d)
    sizes = np.sum(np.abs(q)) * np.sum(np.abs(x))
    assert max(misses(q, low, x, better, below)) <= 8 * 2.0**-77 * sizes


def test_doubles_alone_are_not():
    """What the above would be without the module."""
    q, x = np.array([0.3, 0.2, -0.93]), np.array([0.12, 0.034, 0.0])
    d = np.zeros(3)
    for _ in range(60):
        d = np.cross(q + d / 2, x)
    assert misses(q, 0 * q, x, d, 0 * d)[1] > 1e-19


@hypothesis.given(x=vectors)
@hypothesis.settings(max_examples=20, deadline=None)
def test_products_of_rounded_numbers_add_up_without_rounding(x):
    a, b = np.asarray(round_to_half(jnp.asarray(x))), np.asarray(round_to_half(jnp.asarray(x[::-1] / 3)))
    assert float(a @ b) == sum(p * r for p, r in zip(exactly(a), exactly(b), strict=True))


def test_affine_frames_are_seen():
    for problem, expected in ((PENDULUM, True), (BODY, True), (DISK, False)):
        assert affine(problem.system.frame, jnp.asarray(problem.q)) == expected
    assert not affine(jnp.sin, jnp.ones(2))
    assert not affine(lambda q: jnp.ones(2), jnp.ones(2))  # nor is what is constant in need of anything


def test_chains_go_on_to_run_compiled():
    """Their frame is constant; sums over all components would tie their links together."""
    chain = dh.systems.PlanarChain(links=8)
    run = dh.simulate(chain, **chain.sample(), steps=2, scheme=dh.DiscreteHamel(compensated=True))
    assert run.report.path == "compiled"


def test_where_it_is_not_the_step_is_that_of_the_plain_sum():
    """One step of the disk: the same numbers, to the rounding of q."""
    first = [DISK.run(100, scheme=scheme).q[1] for scheme in (dh.DiscreteHamel(), dh.DiscreteHamel(compensated=True))]
    assert np.max(np.abs(first[0] - first[1])) < 4 * EPS


@pytest.mark.parametrize("compensated", [True, False])
def test_a_rotation_stays_orthogonal_to_the_rounding_of_its_own_entries(compensated):
    """Over 10 000 steps, by the longer doubles of NumPy; the plain scheme loses that, by its random walk."""
    scheme = dh.DiscreteHamel(compensated=compensated)
    run = dh.simulate(BODY.system, BODY.q, BODY.xi, h=0.1, steps=10_000, scheme=scheme)
    r = run.q.reshape(-1, 3, 3).astype(np.longdouble)
    off = np.max(np.abs(np.einsum("kab,kac->kbc", r, r) - np.eye(3)))
    assert (off < 2 * EPS) == compensated


@partial(jax.jit, static_argnums=2)
@jax.jacfwd
def _slopes(x, tau, compensated):
    """Of (q, p) after a step, with respect to xi and h."""
    scheme = dh.DiscreteHamel(tau, compensated)
    state = dh.start(PENDULUM.system, scheme, PENDULUM.q, x[:2], x[2])
    state, _ = dh.step(PENDULUM.system, scheme, state, x[2])
    return jnp.concatenate([state.q, state.p])


@pytest.mark.parametrize("tau", [0.5, 0.3])
def test_gradients_are_those_of_the_plain_scheme(tau):
    """Rounding to a grid is flat, but what it takes away is added again: the derivative is the whole one."""
    plain, better = (_slopes(jnp.array([0.6, 0.1, 0.2]), tau, compensated) for compensated in (False, True))
    assert np.max(np.abs(plain - better)) < 1e-12 * np.max(np.abs(plain))
