"""Runs of chains, short and long, against the plain path; and what is unrolled, or plain, because it is none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel import checks
from discrete_hamel.kernel.choice import stepper_for
from discrete_hamel.kernel.rolled import ChainStepper, along
from discrete_hamel.kernel.stepper import Stepper


def relative(q, xi, parameters):
    """The chain in joint angles: the sums are of angles too."""
    masses, lengths, gravity = parameters
    angle, omega = jnp.cumsum(q), jnp.cumsum(xi)
    across = jnp.cumsum(lengths * jnp.cos(angle) * omega)
    up = jnp.cumsum(lengths * jnp.sin(angle) * omega)
    height = -jnp.cumsum(lengths * jnp.cos(angle))
    return jnp.sum(masses * (0.5 * across**2 + 0.5 * up**2 - gravity * height))


def springs(q, xi, stiffness):
    """Beads on a string, each held in place, in the manner of Fermi, Pasta, Ulam and Tsingou."""
    stretch = q[1:] - q[:-1]
    return 0.5 * xi @ xi - 0.5 * q @ q - jnp.sum(stiffness * stretch**2 / 2 + stretch**4 / 4)


def friction(q, xi, parameters):
    return -0.3 * xi


LINKS = 6
FRAME = {"frame": lambda q, _: jnp.eye(LINKS), "rank": LINKS}
SYSTEMS = {
    "absolute angles": dh.systems.PlanarChain(links=LINKS, masses=np.linspace(1, 2, LINKS)),
    "joint angles, friction": dh.from_quasivelocities(
        relative, **FRAME, force=friction, params=(np.linspace(1, 2, LINKS), 0.7, 9.8)
    ),
    "springs": dh.from_velocities(springs, **FRAME, params=0.8),
}
DATA = {"q": 0.2 + 0.1 * np.cos(np.arange(LINKS)), "xi": 0.3 * np.sin(np.arange(LINKS)), "h": 0.01}
SCHEMES = (
    dh.DiscreteHamel(tau=0.25),
    dh.DiscreteHamel(compensated=True),
    dh.StaggeredHamel(),
    dh.Gauss(stages=2),
)


def built(system, scheme=None, q=DATA["q"], xi=DATA["xi"], h=DATA["h"]):
    """The stepper that a run takes, and what it takes."""
    system, q, xi = checks.initial_data(system, q, xi, None)
    system, scheme, h = checks.canonical(system), checks.canonical(scheme or dh.DiscreteHamel()), jnp.asarray(h)
    state = dh.start(system, scheme, q, xi, h)
    return stepper_for(4096, system, scheme, state, h), system, scheme, state, h


def difference(a, b):
    """The largest difference of two runs, relative to the largest number of each kind."""
    pairs = [(getattr(a, name), getattr(b, name)) for name in ("q", "p", "xi", "xi_mid")]
    return max(np.abs(x - y).max() / np.abs(y).max() for x, y in pairs)


CASES = [(name, dh.DiscreteHamel()) for name in SYSTEMS] + [("absolute angles", scheme) for scheme in SCHEMES]


@pytest.mark.parametrize(("name", "scheme"), CASES, ids=lambda x: x if isinstance(x, str) else repr(x))
def test_a_compiled_run_is_a_plain_one(name, scheme):
    """Step by step, each from where the plain one is, so that nothing is magnified by the motion."""
    stepper, system, scheme, state, h = built(SYSTEMS[name], scheme)
    assert isinstance(stepper, ChainStepper)
    given_once = along(stepper.given, (system, scheme, h))
    compiled = jax.jit(lambda state: stepper(given_once, state))
    plain = jax.jit(lambda state: dh.step(system, scheme, state, h))
    velocity = jax.jit(lambda state: stepper.velocity(system, state.q, state.p, state.xi))
    for _ in range(4):
        after, xi, converged, count, left = compiled(state)
        state, interval = plain(state)
        assert converged
        assert count == interval.report.iterations
        assert np.abs(xi - interval.xi).max() < 1e-13 * np.abs(interval.xi).max()
        assert left < 1e-13 * np.abs(state.p).max()
        for kind in ("q", "p", "xi"):
            a, b = getattr(after, kind), getattr(state, kind)
            assert np.abs(a - b).max() < 1e-13 * np.abs(b).max(), kind
        nodal, found = velocity(state)
        expected = scheme.velocity(system, state)
        assert found
        assert np.abs(nodal - expected).max() < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("links", [2, 3, 12])
def test_runs_of_any_length_agree(links):
    system = dh.systems.PlanarChain(links=links)
    sample = system.sample()
    run, plain = (dh.simulate(system, **sample, steps=12, compiled=compiled) for compiled in (True, False))
    assert (run.report.path, plain.report.path) == ("compiled", "plain")
    assert difference(run, plain) < 1e-13
    assert np.array_equal(run.report.iterations, plain.report.iterations)
    assert run.report.residual.max() < 1e-13 * np.abs(run.p).max()


def test_one_graph_serves_all_links():
    """The work a link is the same for 6 as for 60, so that the cost of a step is linear in their number."""
    long = dh.systems.PlanarChain(links=60, masses=np.linspace(1, 2, 60))
    sample = long.sample()
    short, (big, *_) = built(SYSTEMS["absolute angles"])[0], built(long, q=sample["q"], xi=sample["xi"])
    assert short.root.sweep.operations == big.root.sweep.operations < 200
    assert len(big.root.sweep.columns) == 6  # omega, theta, and two sums each way


def test_new_values_build_nothing_new():
    first, second = (built(SYSTEMS["absolute angles"].replace(masses=np.full(LINKS, m)))[0] for m in (0.5, 3.0))
    assert first is second


def test_what_is_no_chain_is_unrolled_as_before():
    system = dh.from_velocities(lambda q, v, k: 0.5 * v @ v - k * jnp.sum(q) ** 2, **FRAME, params=0.1)
    assert isinstance(built(system)[0], Stepper)


def test_what_is_too_large_and_no_chain_is_plain_with_the_reason():
    system = dh.systems.PlanarChain(links=30)
    sample = system.sample()
    reason = built(system, dh.CortesMartinez(), q=sample["q"], xi=sample["xi"])[0]
    assert "60 unknowns, of 48 at most" in reason
    assert "along a chain" in reason


def test_saving_now_and_then_saves_the_same():
    system = SYSTEMS["absolute angles"]
    every, fifth = (dh.simulate(system, **DATA, steps=40, save_every=k) for k in (1, 5))
    for name in ("t", "q", "p", "xi"):
        assert np.array_equal(getattr(every, name)[::5], getattr(fifth, name)), name
    assert np.array_equal(every.xi_mid[4::5], fifth.xi_mid)
    assert np.array_equal(every.report.iterations.reshape(-1, 5).max(axis=1), fifth.report.iterations)


def test_a_step_that_fails_is_a_failure_with_the_run_so_far():
    """A force without bounds: both paths stop after the same good steps."""
    system = dh.from_velocities(
        springs, **FRAME, params=0.8, force=lambda q, v, _: jnp.where(q > 1.0, jnp.nan, 5.0) + 0.0 * v
    )
    done = []
    for compiled in (True, False):
        with pytest.raises(dh.NewtonFailed) as failure:
            dh.simulate(system, **DATA, steps=500, compiled=compiled)
        done.append(len(failure.value.trajectory))
    assert 1 < done[0] == done[1] < 500


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(-2, 2), st.floats(0.0, 3.2))
def test_the_sweep_is_the_dense_solve_for_any_chain(seed, scale, spread):
    """Masses over four decades, any angles: Newton's correction as by the dense Jacobian of the plain path."""
    random = np.random.default_rng(seed)
    stepper, system, scheme, state, h = built(SYSTEMS["absolute angles"])
    system = system.replace(
        masses=jnp.asarray(10.0**scale * random.uniform(0.1, 10, LINKS)), gravity=jnp.asarray(random.uniform(0, 20))
    )
    q, p = random.uniform(-spread, spread, LINKS), random.normal(size=LINKS)
    state = state.replace(q=jnp.asarray(q), p=jnp.asarray(p))
    z = jnp.concatenate([jnp.asarray(random.normal(size=LINKS)), state.q + 0.01 * random.normal(size=LINKS)])
    known = {**along(stepper.given, (system, scheme, h)), **along(stepper.state, state)}
    known |= dict(zip(stepper.unknowns, z.reshape(2, -1), strict=True))
    correction = np.concatenate(_swept(stepper)(known))
    residual, jacobian = _dense(system, scheme, state, h, z)
    expected = np.linalg.solve(jacobian, -residual)
    tolerance = 1e-14 * np.linalg.cond(jacobian) * np.abs(expected).max() + 1e-13 * np.abs(expected).max()
    assert np.abs(correction - expected).max() < tolerance


_compiled = {}


def _swept(stepper):
    return _compiled.setdefault(stepper, jax.jit(lambda known: stepper.root.sweep(known)))


@jax.jit
def _dense(system, scheme, state, h, z):
    return jax.jacfwd(lambda z: (scheme.residual(system, state, h, z),) * 2, has_aux=True)(z)[::-1]
