"""Native runs under jit, grad, jvp, vmap and scan: the plain path's numbers, and no shape but its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import SLEIGH
from test_native_runs import started

import discrete_hamel as dh
from discrete_hamel.compiler.gradients.differentiable_run import History
from discrete_hamel.compiler.gradients.plain_run import PlainHistory
from discrete_hamel.compiler.native import object_code
from discrete_hamel.compiler.native.derivative_sweeps import Cotangents, Tangents
from discrete_hamel.compiler.native.run_history import Steps
from discrete_hamel.compiler.step.stepper import Stepper

pytestmark = pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())
SCHEMES = {"one": dh.DiscreteHamel(), "composed": dh.Composed(dh.DiscreteHamel())}


@pytest.fixture(scope="module", params=SCHEMES)
def pair(request):
    """The native history of a scheme and the plain one, and what both are arguments."""
    system, scheme, state, h = started(SLEIGH, SCHEMES[request.param])
    native = History(Stepper(system, scheme, state, h))
    other, stepper = PlainHistory(native, system, native.stepper.part[0], state), native.stepper
    parameters, lengths = stepper.arguments(system, scheme, h)
    begin = jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(state)])
    return native, other, (jnp.concatenate(parameters), lengths, begin)


def by_plain(other, saved, every, parameters, lengths, begin):
    """The rows as the plain path makes them, from the first step on."""
    count = saved * len(lengths)
    nothing = jnp.full((count, other.history.width), jnp.nan), jnp.full((count * (every > 1), len(begin)), jnp.nan)
    return other.resume(saved, every, parameters, lengths, begin, *nothing, jnp.asarray(0.0))


@pytest.mark.parametrize("every", [1, 3])
def test_rows_are_those_of_the_plain_path(pair, every):
    native, other, arguments = pair
    for a, b in zip(native.run(8, every, *arguments), by_plain(other, 8, every, *arguments), strict=True):
        assert a.shape == b.shape
        a, b = (x[:, :-1] if x.ndim and x.shape[-1] == native.width else x for x in (a, b))  # without the iterations
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("every", [1, 3])
def test_after_a_step_that_fails_there_is_nothing(pair, every):
    native, _, (parameters, lengths, begin) = pair
    lost = begin.at[1].set(jnp.nan)
    rows, _, done = native.run(4, every, parameters, lengths, lost)
    assert done == 0
    assert np.isnan(rows).all()


def test_tangents_and_cotangents_are_those_of_the_plain_path(pair):
    native, other, arguments = pair
    rows, _, done = native.run(8, 1, *arguments)
    active = (0, 2)
    rng = np.random.default_rng(4)
    moved, stretched, start, weights = (
        jnp.asarray(rng.normal(size=shape)) for shape in (2, arguments[1].shape, arguments[2].shape, rows.shape)
    )
    vectors = moved, stretched, start
    tangents = (
        native.native_sweep(Tangents, active)(*arguments, rows, vectors),
        other.tangent(active, *arguments, rows, vectors),
    )
    np.testing.assert_allclose(*tangents, rtol=1e-12, atol=1e-14)
    for some in (done, done - 2):
        weighed = weights.at[int(some) :].set(0.0)
        ours = native.adjoint(active, *arguments, rows, some, weighed)
        theirs = other.adjoint(active, *arguments, rows, weighed)
        for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    assert native.foreign
    assert all(native.foreign.values())


def test_a_count_of_steps_that_is_none_reads_nothing(pair):
    """What a caller makes of `done` never becomes an address."""
    native, _, arguments = pair
    rows, *_ = native.run(8, 1, *arguments)
    kernel = native.native_sweep(Cotangents, (0,))
    for none in (jnp.nan, -5.0, 1e18, jnp.inf, len(rows) + 1.0):
        ends, stretched = kernel(*arguments, rows, jnp.asarray(none), rows)
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


def test_many_numbers_of_one_parameter_are_one_argument():
    """As the weights of a network: with an argument for each, XLA took a minute to compile and half a second a step."""
    weights = jnp.linspace(0.1, 0.4, 2000)

    def end(weights):
        system = dh.forced(dh.systems.ChaplyginSleigh(), lambda q, xi, w: -jnp.sum(w[:20]) * xi, params=weights)
        run = dh.simulate(system, q=SLEIGH.q, xi=SLEIGH.xi, h=0.05, steps=6)
        return jnp.sum(run.q[-1] ** 2)

    assert str(jax.make_jaxpr(end)(weights)).count("\n") < len(weights)
    slopes = jax.jit(jax.grad(end))(weights)
    step = 1e-6 * jnp.eye(2000)[19]
    differences = (end(weights + step) - end(weights - step)) / 2e-6  # by one of the twenty that are used, all alike
    np.testing.assert_allclose(slopes[:20], differences, rtol=1e-7)
    assert not slopes[20:].any()
