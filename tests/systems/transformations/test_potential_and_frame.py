"""with_potential and in_frame: the same system with a potential more, or described in another frame."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

START = {"q": [0.2, 0.0, 0.0], "v": [0.5, np.cos(0.2), np.sin(0.2)], "h": 0.1, "steps": 10, "compiled": False}


def frame(q):
    c, s = jnp.cos(q[0]), jnp.sin(q[0])
    return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def blade(q):
    return jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]])


def flat(q, v):
    return 0.5 * v @ v


WAYS = {
    "velocities": lambda L: dh.from_velocities(L, frame, 2),
    "quasivelocities": lambda L: dh.from_quasivelocities(L, frame, 2),
    "constraints": lambda L: dh.from_constraints(L, blade),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_potential_put_on_is_one_subtracted(way):
    given = WAYS[way](lambda q, v: flat(q, v) - 2.0 * q[1])
    put_on = dh.with_potential(WAYS[way](flat), lambda q, k: k * q[1], params=2.0)
    one, other = (dh.simulate(system, **START) for system in (given, put_on))
    assert np.max(np.abs(one.q - other.q)) < 1e-13
    assert np.max(np.abs(one.energy - other.energy)) < 1e-13
    assert np.max(np.abs(one.q - dh.simulate(WAYS[way](flat), **START).q)) > 0.1


def turned(q):
    """Within D by an angle that depends on q, and the field across it made longer and tilted along D."""
    a = 0.3 * q[1]
    return jnp.array([[jnp.cos(a), -jnp.sin(a), 0.5], [jnp.sin(a), jnp.cos(a), 0.2], [0.0, 0.0, 2.0]])


def drag(q, xi):
    return -0.1 * xi


@pytest.mark.parametrize("given", [dh.systems.ChaplyginSleigh(), WAYS["velocities"](lambda q, v: flat(q, v) - q[2])])
def test_the_motion_is_the_same_in_another_frame(given):
    system = dh.forced(given, drag)
    changed = dh.in_frame(system, turned, velocities=("a", "b", "c"))
    q, xi = jnp.array([0.2, 0.4, -0.1]), jnp.array([0.5, 1.1, 0.0])
    t = turned(q)
    there = jnp.linalg.solve(t, xi)
    (v, rate), (v1, rate1) = dh.vector_field(system, q, xi), dh.vector_field(changed, q, there)
    turning = (turned(q + 1e-6 * v) - turned(q - 1e-6 * v)) / 2e-6
    assert np.asarray(v1) == pytest.approx(np.asarray(v), abs=1e-13)
    assert np.asarray(t @ rate1 + turning @ there) == pytest.approx(np.asarray(rate), abs=1e-8)
    assert float(dh.energy(changed, q, there)) == pytest.approx(float(dh.energy(system, q, xi)), abs=1e-13)
    assert changed.velocities == ("a", "b", "c")


def test_a_change_within_d_and_its_invariants():
    sleigh = dh.systems.ChaplyginSleigh()
    changed = dh.in_frame(sleigh, lambda q: turned(q)[:2, :2])
    run = dh.simulate(changed, q=[0.1, 0, 0], v=[0.5, np.cos(0.1), np.sin(0.1)], h=0.01, steps=10, compiled=False)
    kept = run.invariants()["energy"]
    assert kept[0] == pytest.approx(float(dh.energy(changed, run.q[0], run.xi[0])), abs=1e-13)
    assert np.max(np.abs(kept - kept[0])) < 1e-3


@pytest.mark.parametrize(
    ("T", "words"),
    [
        (lambda q: jnp.eye(4), r"T\(q\) must be 2 x 2, a change within D, or 3 x 3; got shape \(4, 4\)"),
        (lambda q: jnp.ones((3, 3)) + jnp.eye(3), "takes D out of itself"),
        (lambda q: jnp.ones((2, 2)), "singular"),
    ],
)
def test_a_wrong_change_is_refused(T, words):
    with pytest.raises(ValueError, match=words):
        dh.simulate(dh.in_frame(dh.systems.ChaplyginSleigh(), T), q=[0.1, 0, 0], xi=[1.0, 0.5], h=0.1, steps=1)
