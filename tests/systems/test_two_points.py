"""Two points on a segment with parallel velocities, both types, against multipliers on four Cartesian coordinates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from multipliers import accelerations, assert_same, motion

import discrete_hamel as dh
from discrete_hamel.testing.strategies import numbers, sizes, vectors

SEGMENTS = {True: dh.systems.SegmentParallelVelocities(), False: dh.systems.SegmentParallelVelocities(turning=False)}


def lagrangian(x, v, s):
    """Two points and their weights along x; of the segment it knows nothing."""
    kinetic = 0.5 * (s.mass1 * v[:2] @ v[:2] + s.mass2 * v[2:] @ v[2:])
    return kinetic + s.gravity * (s.mass1 * x[0] + s.mass2 * x[2])


def turning(x, v, _):
    """The segment keeps its length, and the first point moves across it."""
    link = x[2:] - x[:2]
    return jnp.stack([link @ (v[2:] - v[:2]), link @ v[:2]])


def sliding(x, v, _):
    """The segment keeps its length and its direction."""
    link, opening = x[2:] - x[:2], v[2:] - v[:2]
    return jnp.stack([link @ opening, link[0] * opening[1] - link[1] * opening[0]])


@jax.jit
def of_the_points(system, q, xi):
    """(x, x', x'') of both points, from the library's (q, q', q'')."""

    def place(q):
        return jnp.concatenate([q[:2], q[:2] + system.length * jnp.stack([jnp.cos(q[2]), jnp.sin(q[2])])])

    def velocity(q, v):
        return jax.jvp(place, (q,), (v,))[1]

    v, a = motion(system, q, xi)
    return place(q), velocity(q, v), jax.jvp(velocity, (q, v), (v, a))[1]


@pytest.mark.parametrize(("type_one", "constraint"), [(True, turning), (False, sliding)], ids=["turning", "sliding"])
def test_each_type_is_lagrange_dalembert(type_one, constraint):
    """Segments of 0.2 m and more, so that the linear system of the multipliers is well conditioned."""

    @settings(deadline=None, max_examples=15)
    @given(vectors(3), vectors(2), sizes(), sizes(), sizes(), numbers(-10.0, 10.0))
    def check(q, xi, mass1, mass2, length, gravity):
        system = SEGMENTS[type_one].replace(mass1=mass1, mass2=mass2, length=length, gravity=gravity)
        x, v, got = of_the_points(system, jnp.asarray(q), jnp.asarray(xi))
        assert_same(constraint(x, v, system), np.zeros(2))
        assert_same(v[0] * v[3] - v[1] * v[2], 0.0)  # parallel, as [BE] (60) has it
        wanted, _ = accelerations(lagrangian, constraint, x, v, system)
        assert_same(got, wanted)

    check()


def test_where_the_types_meet_they_part():
    """tau = phi' = 0 is of both; type I holds the segment back from falling along itself, g cos(phi), type II not."""
    q, nu = jnp.array([0.2, -0.1, 0.4]), 0.7
    x, v, turns = of_the_points(SEGMENTS[True], q, jnp.array([nu, 0.0]))
    _, same, slides = of_the_points(SEGMENTS[False], q, jnp.array([0.0, nu]))
    assert_same(v, same)
    assert SEGMENTS[True].transitional(q, np.array([*v[:2], 0.0]))
    assert_same(slides - turns, np.cos(0.4) * np.tile([np.cos(0.4), np.sin(0.4)], 2))
    for got, constraint in ((turns, turning), (slides, sliding)):
        assert_same(got, accelerations(lagrangian, constraint, x, v, SEGMENTS[True])[0])
