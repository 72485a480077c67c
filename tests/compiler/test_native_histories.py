"""Native runs under jit, grad, jvp, vmap and scan: the numbers of XLA's loops, and no shape but its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import SLEIGH
from test_native_runs import started

import discrete_hamel as dh
from discrete_hamel.compiler.gradients import histories
from discrete_hamel.compiler.gradients.histories import History
from discrete_hamel.compiler.native import object_code
from discrete_hamel.compiler.native.histories import Steps
from discrete_hamel.compiler.native.sweeps import Cotangents
from discrete_hamel.compiler.step.stepper import Stepper

pytestmark = pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())
SCHEMES = {"one": dh.DiscreteHamel(), "composed": dh.Composed(dh.DiscreteHamel())}


@pytest.fixture(scope="module", params=SCHEMES)
def pair(request):
    """The native history of a scheme and XLA's, and what both are given."""
    system, scheme, state, h = started(SLEIGH, SCHEMES[request.param])
    native = History(Stepper(system, scheme, state, h))
    other = History(native.stepper)
    other.__dict__["steps"] = None
    stepper = native.stepper
    parameters, lengths = stepper.arguments(system, scheme, h)
    begin = jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(state)])
    return native, other, (jnp.stack(parameters[: len(stepper.parameters)]), lengths, begin)


@pytest.mark.parametrize("every", [1, 3])
def test_rows_are_those_of_xlas_loop(pair, every):
    native, other, given = pair
    assert native.steps is not None
    for a, b in zip(native.run(8, every, *given), other.run(8, every, *given), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("every", [1, 3])
def test_after_a_step_that_fails_there_is_nothing(pair, every):
    native, other, (parameters, lengths, begin) = pair
    lost = begin.at[1].set(jnp.nan)
    for a, b in zip(
        native.run(4, every, parameters, lengths, lost), other.run(4, every, parameters, lengths, lost), strict=True
    ):
        rows = (
            slice(None) if a.ndim == 0 or every == 1 else slice(len(lengths), None)
        )  # states before it are kept there
        assert np.array_equal(a[rows] if a.ndim else a, b[rows] if b.ndim else b, equal_nan=True)
    rows, _, done = native.run(4, every, parameters, lengths, lost)
    assert done == 0
    assert np.isnan(rows).all()


def test_tangents_and_cotangents_are_those_of_xlas_loops(pair):
    native, other, given = pair
    rows, _, done = native.run(8, 1, *given)
    active = (0, 2)
    rng = np.random.default_rng(4)
    moved, stretched, start, weights = (
        jnp.asarray(rng.normal(size=shape)) for shape in (2, given[1].shape, given[2].shape, rows.shape)
    )
    vectors = list(moved), stretched, start
    tangents = [history.tangent(active, *given, rows, vectors) for history in (native, other)]
    np.testing.assert_allclose(*tangents, rtol=1e-12, atol=1e-14)
    for some in (done, done - 2):
        weighed = weights.at[int(some) :].set(0.0)
        ours, theirs = (history.adjoint(active, *given, rows, some, weighed) for history in (native, other))
        for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    assert native.foreign
    assert all(native.foreign.values())


def test_a_count_of_steps_that_is_none_reads_nothing(pair):
    """What a caller makes of `done` never becomes an address."""
    native, _, given = pair
    rows, *_ = native.run(8, 1, *given)
    kernel = native.native_sweep(Cotangents, "backwards", (0,))
    for none in (jnp.nan, -5.0, 1e18, jnp.inf, len(rows) + 1.0):
        ends, stretched = kernel(*given, rows, jnp.asarray(none), rows)
        assert not ends.any()
        assert not stretched.any()


def test_other_shapes_never_reach_native_code(pair):
    native, _, (parameters, lengths, begin) = pair
    with pytest.raises(ValueError, match="the first state is float64"):
        native.run(8, 1, parameters, lengths, begin[:-1])
    with pytest.raises(ValueError, match="parameters is"):
        native.run(8, 1, jnp.append(parameters, 1.0), lengths, begin)
    with pytest.raises(ValueError, match="float32"):
        native.run(8, 1, parameters.astype(jnp.float32), lengths, begin)
    assert isinstance(native.steps, Steps)


def last(mass, q):
    run = dh.simulate(dh.systems.ChaplyginSleigh(mass=mass), q=q, xi=SLEIGH.xi, h=0.05, steps=6)
    return jnp.sum(run.q[-1] ** 2)


def test_every_transformation_gives_the_same_numbers():
    q = jnp.asarray(SLEIGH.q, float)
    masses = jnp.array([0.7, 1.0, 1.4])
    one_by_one = [jax.jit(last)(m, q) for m in masses]
    slopes = [jax.jit(jax.grad(last))(m, q) for m in masses]
    assert np.array_equal(jax.jit(jax.vmap(last, (0, None)))(masses, q), one_by_one)
    np.testing.assert_allclose(jax.vmap(jax.grad(last), (0, None))(masses, q), slopes, rtol=1e-13)
    np.testing.assert_allclose(jax.jvp(lambda m: last(m, q), (masses[1],), (1.0,))[1], slopes[1], rtol=1e-12)
    scanned = jax.jit(lambda: jax.lax.scan(lambda _, m: (None, last(m, q)), None, masses)[1])()
    assert np.array_equal(scanned, one_by_one)
    step = 1e-6
    differences = (last(masses[1] + step, q) - last(masses[1] - step, q)) / (2 * step)
    assert abs(differences - slopes[1]) < 1e-8 * abs(slopes[1]) + 1e-9


def test_the_loops_under_jit_are_native(monkeypatch):
    monkeypatch.setattr(histories, "one_kernel", lambda _: pytest.fail("a loop of XLA's"))
    jax.jit(jax.grad(lambda q: last(jnp.asarray(1.1), q)))(jnp.asarray(SLEIGH.q, float) + 0.01)
