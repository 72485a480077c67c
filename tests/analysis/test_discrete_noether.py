"""Discrete Noether: horizontal symmetries, others with the reactions' impulses, gauge terms, forces; and mutants."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from wrong_principles import of_the_wrong_sign, without_bracket

import discrete_hamel as dh
from discrete_hamel.analysis.symmetry.invariance import components

TOP = dh.systems.HeavyTop()
SLEIGH = dh.systems.ChaplyginSleigh()


def run(system, h, steps, scheme=None, q=None, xi=None):
    start = {"q": system.sample()["q"], "xi": system.sample()["xi"]} if q is None else {"q": q, "xi": xi}
    return dh.simulate(system, **start, h=h, steps=steps, scheme=scheme or dh.DiscreteHamel())


def adds_up(found):
    """J_K - J_0 = sum gain + sum impulses; to round-off."""
    change = found.momentum[-1] - found.momentum[0]
    return abs(change - np.sum(found.gain) - np.sum(found.impulse)) < 1e-12 * (1 + np.max(np.abs(found.momentum)))


def test_a_horizontal_symmetry_and_one_that_gravity_breaks():
    motion = run(TOP, 0.05, 60)
    about = dh.discrete_noether(motion, TOP.symmetries()["rotation about z"])
    assert np.max(np.abs(about.momentum - about.momentum[0])) < 1e-13
    assert np.max(np.abs(about.impulse)) < 1e-13
    sideways = dh.systems.RigidBody().symmetries()["rotation about x"]
    found = dh.discrete_noether(motion, sideways)
    nodal = [p @ components(TOP, sideways, jnp.asarray(q)) for q, p in zip(motion.q, motion.p, strict=True)]
    assert np.allclose(found.momentum, nodal, atol=1e-12)
    off = []
    for h in (0.05, 0.025):
        motion = run(TOP, h, round(1.0 / h))
        found = dh.discrete_noether(motion, sideways)
        middle = (motion.q[:-1] + motion.q[1:]).reshape(-1, 3, 3) / 2
        torque = np.cross(middle @ np.asarray(TOP.weight), np.array([0, 0, -1.0]))[:, 0]  # of gravity, about x
        off.append(np.max(np.abs(found.gain / h - torque)))
    assert np.max(np.abs(found.gain)) > 1e-3
    assert 3.5 < off[0] / off[1] < 4.5
    assert adds_up(found)


def test_reactions_change_what_is_not_horizontal():
    """The impulse at a node is h times the blade's reaction, to second order."""
    symmetry = SLEIGH.symmetries()["translation along x"]
    off = []
    for h in (0.04, 0.02):
        motion = run(SLEIGH, h, round(2.0 / h))
        found = dh.discrete_noether(motion, symmetry)
        assert adds_up(found)
        force = jax.vmap(lambda q, xi: dh.reactions(SLEIGH, q, xi) @ components(SLEIGH, symmetry, q)[SLEIGH.rank :])
        expected = h * np.asarray(force(jnp.asarray(motion.q), jnp.asarray(motion.xi)))[1:-1]
        off.append(np.max(np.abs(found.impulse - expected)) / np.max(np.abs(expected)))
    assert 1e-6 < off[0] < 1e-2
    assert 3.5 < off[0] / off[1] < 4.5


def test_symmetry_up_to_a_total_derivative():
    """A charge in a constant field: m x' - B y is kept at tau = 1/2, in steps as in time."""
    L, turned = lambda q, v: 0.5 * v @ v, lambda q, v: 0.3 * jnp.stack([v[1], -v[0]])
    particle = dh.from_velocities(L, lambda q: jnp.eye(2), 2, force=turned)
    motion = run(particle, 0.1, 50, q=[0.2, 0.1], xi=[1.0, 0.3])
    found = dh.discrete_noether(motion, 0, gauge=lambda q: -0.3 * q[1])
    assert np.max(np.abs(found.rest)) < 1e-15 < 1e-3 < np.max(np.abs(found.gain))
    assert np.allclose(found.gain, found.work, atol=1e-16)
    assert np.max(np.abs(found.conserved - found.conserved[0])) < 1e-14
    assert np.max(np.abs(found.momentum - found.momentum[0])) > 1e-2


def test_forces_are_counted():
    braked = dh.forced(TOP, lambda q, xi, k: -k * xi, params=0.2)
    motion = run(braked, 0.05, 40, q=TOP.sample()["q"], xi=TOP.sample()["xi"])
    found = dh.discrete_noether(motion, TOP.symmetries()["rotation about z"])
    assert np.max(np.abs(found.gain - found.work)) < 1e-13 < 1e-4 < np.max(np.abs(found.work))
    assert adds_up(found)
    assert "forces" in repr(found)


@pytest.mark.parametrize("mutant", [without_bracket, of_the_wrong_sign])
def test_mutants_lose_the_momentum(mutant):
    motion = run(TOP, 0.05, 30, dh.Principle(variation=mutant))
    found = dh.discrete_noether(motion, TOP.symmetries()["rotation about z"])
    assert np.max(np.abs(found.momentum - found.momentum[0])) > 1e-4
    other = dh.discrete_noether(run(TOP, 0.05, 30), TOP.symmetries()["rotation about z"], principle=motion.scheme)
    assert np.max(np.abs(other.impulse)) > 1e-4  # judged by the wrong principle, a free top feels reactions


def test_refusals():
    with pytest.raises(ValueError, match="save_every"):
        dh.discrete_noether(dh.reference(TOP, TOP.sample()["q"], TOP.sample()["xi"], t=0.1), lambda q: q)
    with pytest.raises(ValueError, match="staggered"):
        dh.discrete_noether(run(SLEIGH, 0.1, 2, dh.StaggeredHamel()), "x")
