"""Under jit, vmap and grad a step that the compiled path cannot solve is solved by the plain one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler import paths
from discrete_hamel.compiler.step import linearised

PENDULUM = dh.systems.SphericalPendulum()
START = jnp.array([0.3, 0.2, -(0.87**0.5)]), jnp.array([0.6, 0.0])


@pytest.fixture
def distrusted(monkeypatch):
    """Compiled steps that are not trusted where the pendulum is far to the left, as where a pivot is bad."""
    real = linearised.LinearisedStep._guards

    def guards(self):
        return [*real(self), self.graph.add(self.row[0], self.graph.const(0.1))]

    def switch():
        monkeypatch.setattr(linearised.LinearisedStep, "_guards", guards)
        paths._steps.clear()
        jax.clear_caches()

    yield switch
    monkeypatch.undo()
    paths._steps.clear()
    jax.clear_caches()


@pytest.mark.parametrize(("every", "scheme"), [(1, None), (5, None), (1, dh.Composed(dh.DiscreteHamel()))])
def test_a_run_goes_on_with_its_derivatives(every, scheme, distrusted):
    def run(system, q, xi):
        return dh.simulate(system, q, xi, h=0.05, steps=60, save_every=every, scheme=scheme)

    gradient = jax.grad(lambda *data: jnp.sum(run(*data).q ** 3), (0, 1, 2))

    def everything():
        traj = jax.jit(run)(PENDULUM, *START)
        along = jax.jvp(lambda q: run(PENDULUM, q, START[1]).q, START[:1], (jnp.ones(3),))[1]
        return traj, (traj.q, traj.p, traj.xi, traj.xi_mid, jax.jit(gradient)(PENDULUM, *START), along)

    _, wanted = everything()
    assert jnp.min(wanted[0][:, 0]) < -0.1
    distrusted()
    traj, found = everything()
    assert traj.report.path == "compiled"
    assert 0 < int(traj.report.plain_steps) < 60 * (1 if scheme is None else 3)
    assert np.all(traj.report.converged)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert np.abs(a - b).max() <= 1e-13 * max(1.0, np.abs(b).max())


PUSHED = dh.forced(dh.systems.ChaplyginSleigh(offset=0.0), lambda q, xi, f: jnp.array([0.0, f, 0.0]), params=0.5)


@pytest.mark.parametrize("small", [0.0, 1e-9, 1e-6])
def test_from_rest(small):
    """A sleigh that is pushed goes xi_2 = f t / m, and its derivative by f is t / m."""

    def last(system, q):
        return dh.simulate(system, q, jnp.zeros(2), h=0.1, steps=20).xi[-1]

    q = small * jnp.ones(3)
    assert np.abs(dh.simulate(PUSHED, q, np.zeros(2), h=0.1, steps=20).xi[-1] - [0, 1, 0]).max() < 1e-14
    assert np.abs(jax.jit(last)(PUSHED, q) - jnp.array([0, 1, 0])).max() < 1e-14
    both = jax.vmap(last, (None, 0))(PUSHED, jnp.stack([q, 2 * q]))
    assert np.abs(np.asarray(both) - [0, 1, 0]).max() < 1e-14
    rate = jax.jit(jax.grad(lambda s: last(s, q)[1]))(PUSHED)
    assert abs(rate.params - 2.0) < 1e-12


def test_what_prints_is_told_in_words():
    def force(q, v):
        jax.debug.print("v = {}", v)
        return -0.1 * v

    system = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(2), 2, force=force)
    report = dh.simulate(system, q=[0.1, 0.2], xi=[1.0, 0.5], h=0.1, steps=1).report
    assert report.path == "plain"
    assert report.reason == "debug_print, which is done at every evaluation and returns nothing"
