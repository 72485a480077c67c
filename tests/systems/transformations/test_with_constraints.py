"""Rows in the terms of a frame that is not adapted to them: the motions and multipliers of Hamel's equations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.mechanics import frames

SLEIGH = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)


class Free(dh.System):
    """The sleigh without its blade: all three velocities of the body are free."""

    rank = 3
    velocities = ("omega", "forward", "sideways")

    def lagrangian(self, q, xi):
        return SLEIGH.lagrangian(q, xi) - q[1]

    def frame(self, q):
        return SLEIGH.frame(q)


def turned(q):
    """A blade at an angle to the body that depends on where it is, and that a belt carries."""
    return jnp.array([[0.2, jnp.sin(0.3 * q[1]) + 0.4, 1.0]])


def belt(q):
    return jnp.array([0.1 * jnp.cos(q[2])])


def test_the_blade_put_back_is_the_sleigh():
    blade = dh.with_constraints(Free(), lambda q: jnp.array([[0.0, 0, 1]]))
    hill = dh.with_potential(SLEIGH, lambda q: q[1])
    q, v = [0.1, 0, 0], np.asarray(SLEIGH.frame(jnp.array([0.1, 0, 0]))) @ [1.5, -0.3, 0]
    runs = [dh.simulate(system, q=q, v=v, h=0.05, steps=40) for system in (blade, hill)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12
    assert runs[0].system.velocities == ("omega", "forward", "row 0 of a(q) xi")
    forces = [dh.reactions(run.system, run.q[-1], run.xi[-1]) for run in runs]
    np.testing.assert_allclose(*forces, atol=1e-11)


def test_multipliers_satisfy_hamels_equations_in_the_users_frame():
    """[QS] 3.3, written out: d/dt mu_j - F_j = lambda a_j, j = 1..n, for the run's own vector field."""
    carried = dh.with_constraints(Free(), turned, b=belt)
    q = jnp.array([0.3, 0.7, -0.2])
    ready = carried.at(q)
    xi = jnp.concatenate([jnp.array([0.8, -0.5]), belt(q)])
    velocity, rates = dh.vector_field(ready, q, xi)
    user, user_rates = jax.jvp(ready.user_velocities, (q, xi), (velocity, rates))
    assert abs(turned(q) @ user - belt(q)).max() < 1e-14
    free = Free()
    mu, mu_rate = jax.jvp(jax.grad(free.lagrangian, 1), (q, user), (velocity, user_rates))
    force = jnp.einsum("kij,i,k->j", frames.structure_functions(free.frame, q), user, mu)
    force += free.frame(q).T @ jax.grad(free.lagrangian)(q, user)
    left = mu_rate - force
    multiplier = dh.reactions(ready, q, xi)[0]
    np.testing.assert_allclose(left, multiplier * turned(q)[0], atol=1e-12)
    assert abs(float(multiplier)) > 0.1
    run = dh.simulate(carried, q=q, v=velocity, h=0.05, steps=40)
    exact = dh.reference(carried, q=q, v=velocity, t=2.0)
    assert np.abs(run.q[-1] - exact.q[-1]).max() < 1e-2
    assert np.abs(run.q[-1] - dh.simulate(carried, q=q, v=velocity, h=0.05, steps=39).q[-1]).max() > 1e-2


def test_what_it_is_given_is_checked():
    with pytest.raises(ValueError, match=r"a\(q\) must be k x 3, .* got \(1, 2\)"):
        dh.simulate(dh.with_constraints(Free(), lambda q: jnp.ones((1, 2))), [0.0, 0, 0], v=[0.0, 0, 0], h=0.1, steps=1)
    system = dh.with_constraints(Free(), turned, b=lambda q: jnp.zeros(2))
    with pytest.raises(ValueError, match=r"b\(q\) must have shape \(1,\)"):
        dh.simulate(system, [0.0, 0, 0], v=[0.0, 0, 0], h=0.1, steps=1)
    with pytest.raises(ValueError, match="with_constraints needs a frame"):
        dh.with_constraints(dh.systems.TwoPointsParallelVelocities(), turned)
