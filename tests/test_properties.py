"""What holds for all systems, parameters, tau, h and data, drawn by Hypothesis; one compilation a kind of system."""

import checkers
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problems import blade, rolling

import discrete_hamel as dh
from discrete_hamel.testing import check_conserved
from discrete_hamel.testing.strategies import directions, rotations, vectors

SIZES = st.floats(0.3, 3.0)
NUMBERS = st.floats(-2.0, 2.0)
TAUS = st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.5, 1.0])
STEPS = st.floats(1e-3, 0.05) | st.floats(-0.05, -1e-3)


def moments(parts) -> tuple:
    """Principal moments of a real body, from the three second moments of its mass."""
    x, y, z = parts
    return (y + z, z + x, x + y)


def wavy(q, weights):
    """Any smooth frame near the identity, and (below) any natural Lagrangian."""
    return jnp.eye(3) + 0.2 * jnp.sin(jnp.einsum("ijk,k->ij", weights[:3], q) + weights[:3, :, 0])


def any_lagrangian(q, xi, weights):
    waves = 0.2 * jnp.sin(jnp.einsum("ijk,k->ij", weights[3:6], q))
    metric = 2 * jnp.eye(3) + waves + waves.T
    return 0.5 * xi @ metric @ xi - jnp.sin(weights[6] @ q).sum()


WEIGHTS = st.integers(0, 2**31).map(lambda seed: jnp.array(np.random.default_rng(seed).uniform(-1, 1, (7, 3, 3))))
ANY = st.builds(lambda w: dh.from_quasivelocities(any_lagrangian, wavy, 2, params=w), WEIGHTS)
SLEIGHS = st.builds(dh.systems.ChaplyginSleigh, SIZES, SIZES, NUMBERS)
DISKS = st.builds(
    lambda m, r, b, g: dh.systems.RollingDisk(m, r, b * m * r**2 / 2, b * m * r**2, g), SIZES, SIZES, SIZES, SIZES
)
PENDULA = st.builds(dh.systems.SphericalPendulum, SIZES, SIZES, SIZES)
BODIES = st.builds(lambda parts: dh.systems.RigidBody(moments(parts)), st.tuples(SIZES, SIZES, SIZES))
TOPS = st.builds(
    lambda parts, w: dh.systems.HeavyTop(moments(parts), tuple(w)), st.tuples(SIZES, SIZES, SIZES), vectors(3)
)
LEANING = st.builds(lambda lean, rest: (lean, *rest), st.floats(-0.8, 0.8), vectors(4))
# (system, q, xi): systems, where they are, how they move
MOTIONS = {
    "sleigh": st.tuples(SLEIGHS, vectors(3), vectors(2)),
    "disk": st.tuples(DISKS, LEANING, vectors(3)),
    "pendulum": st.tuples(PENDULA, directions(), vectors(2)),
    "rigid body": st.tuples(BODIES, rotations().map(np.ravel), vectors(3)),
    "heavy top": st.tuples(TOPS, rotations().map(np.ravel), vectors(3)),
    "any": st.tuples(ANY, vectors(3), vectors(2)),
}
EACH = pytest.mark.parametrize("kind", MOTIONS)
FRAME = jax.jit(lambda system, q: system.frame(q))


def started(motion, tau: float, h: float):
    system, q, xi = motion
    scheme = dh.DiscreteHamel(tau=jnp.asarray(tau))
    return system, scheme, dh.start(system, scheme, jnp.array(q), jnp.array(xi), h)


@EACH
@settings(max_examples=20)
@given(data=st.data())
def test_step_is_undone_by_its_adjoint(kind, data):
    motion, tau, h = data.draw(MOTIONS[kind]), data.draw(TAUS), data.draw(STEPS)
    system, scheme, state = started(motion, tau, h)
    checkers.is_undone(system, scheme, dh.DiscreteHamel(tau=jnp.asarray(1 - tau)), state, h)


@EACH
@settings(max_examples=20)
@given(data=st.data())
def test_reversible_at_one_half(kind, data):
    """Turn the velocities, go on, turn them again: back at the start. Holds as l is even in xi and the slip zero."""
    motion, h = data.draw(MOTIONS[kind]), data.draw(STEPS)
    system, scheme, state = started(motion, 0.5, h)
    there, _ = checkers.STEP(system, scheme, state, h)
    back, _ = checkers.STEP(system, scheme, there.replace(p=-there.p, xi=-there.xi), h)
    size = 1 + float(jnp.max(jnp.abs(state.p))) + float(jnp.max(jnp.abs(state.q)))
    assert np.max(np.abs(back.q - state.q)) < 1e-12 * size
    assert np.max(np.abs(back.p + state.p)) < 1e-12 * size


@EACH
@settings(max_examples=20)
@given(data=st.data())
def test_constraint_at_the_tau_point(kind, data):
    """A(q_{k+tau}) (q_{k+1} - q_k) = 0 for every tau, A by hand where it is known and else from the inverse of Psi."""
    motion, tau, h = data.draw(MOTIONS[kind]), data.draw(TAUS), data.draw(STEPS)
    system, scheme, state = started(motion, tau, h)
    one_forms = {"sleigh": blade, "any": lambda q: np.linalg.inv(FRAME(system, q))[2:]}
    for _ in range(3):
        new, interval = checkers.STEP(system, scheme, state, h)
        assume(bool(interval.report.converged))
        middle, change = (1 - tau) * state.q + tau * new.q, np.asarray(new.q - state.q)
        size = 1 + np.max(np.abs(state.q))
        if kind in one_forms:
            assert np.max(np.abs(one_forms[kind](middle) @ change)) < 1e-14 * size
        if kind == "disk":
            a = rolling(middle)
            a[0, 2] = system.radius
            assert np.max(np.abs(a @ change)) < 1e-13 * size
        miss = change - h * np.asarray(FRAME(system, middle)) @ np.asarray(interval.xi)
        assert np.max(np.abs(miss)) < 1e-14 * size * (1 + np.max(np.abs(interval.xi)))
        state = new


EXACT = {
    "sleigh": ("energy",),
    "pendulum": ("energy", "vertical momentum", "length of gamma"),
    "rigid body": ("energy", "spatial momentum x", "spatial momentum y", "spatial momentum z", "trace of R^T R"),
    "heavy top": ("energy", "vertical momentum", "trace of R^T R"),
}


@pytest.mark.parametrize("kind", EXACT)
def test_exact_invariants(kind):
    check_conserved(EXACT[kind], motions=MOTIONS[kind], examples=15)


@settings(max_examples=15)
@given(MOTIONS["sleigh"], st.floats(0.0, 0.4) | st.floats(0.6, 1.0))
def test_energy_of_the_sleigh_is_not_kept_by_another_tau(motion, tau):
    """For every sleigh that turns: the energy at nodes changes at first order in h where tau is not one half."""
    system, q, xi = motion
    assume(abs(xi[0]) > 0.2 and abs(xi[1]) > 0.2 and abs(system.offset) > 0.2)
    run = dh.simulate(system, q=q, xi=xi, h=0.05, steps=100, scheme=dh.DiscreteHamel(tau=jnp.asarray(tau)))
    assert np.max(np.abs(run.energy - run.energy[0])) > 1e-6


def test_energy_of_the_sleigh_moves_at_first_order_with_another_tau():
    check_conserved("energy", scheme=dh.DiscreteHamel(tau=0.3), kept=1, h=0.02, motions=MOTIONS["sleigh"])


@settings(max_examples=15)
@given(MOTIONS["any"])
def test_one_step_is_third_order_for_any_system(motion):
    """The local error against the exact motion falls by 8 as h is halved, to within its next order."""
    system, q, xi = motion
    errors = []
    for h in (0.02, 0.01):
        _, scheme, state = started(motion, 0.5, h)
        new, _ = checkers.STEP(system, scheme, state, h)
        exact = dh.reference(system, q, xi, t=h)
        errors.append(max(np.max(np.abs(new.q - exact.q[-1])), np.max(np.abs(new.p - exact.p[-1]))))
    assume(errors[0] > 1e-8)  # not (nearly) at rest
    assert 6.5 < errors[0] / errors[1] < 9.5
