"""Axisymmetric bodies that roll on a plane: their equations and the thesis' end states."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from contact import DISK, SPHEROID, assert_second_order, placed
from hypothesis import assume, given, settings
from multipliers import assert_lagrange_dalembert, assert_same

import discrete_hamel as dh
from discrete_hamel.systems.rolling_bodies import leaning, support_of_disk, support_of_sphere, support_of_spheroid
from discrete_hamel.testing.strategies import bodies_of_revolution, rotations, sizes, vectors

BODY = {"mass": 1.3, "inertia_across": 0.7, "inertia_axis": 0.45, "gravity": 9.81}
OMEGA = (0.156665381925, -0.548328836739, 2.664873022211)


@settings(max_examples=25)
@given(bodies_of_revolution(), sizes(), sizes(), rotations(), vectors(3))
def test_spheroid_is_lagrange_dalembert(body, across, along, r, omega):
    spheroid = dh.systems.RollingBody(support_of_spheroid, (across, along), **body)
    assert_lagrange_dalembert(spheroid, placed(r), omega, *SPHEROID)


@settings(max_examples=25)
@given(bodies_of_revolution(), sizes(), rotations(), vectors(3))
def test_disk_is_lagrange_dalembert(body, radius, r, omega):
    assume(abs(r[2, 2]) < 0.95)
    disk = dh.systems.RollingBody(support_of_disk, radius, **body)
    assert_lagrange_dalembert(disk, placed(r), omega, *DISK)


@jax.jit
def _adjoint_sides(system, q, xi):
    """Both sides of (9.12), (9.13) and (9.10), d/dtheta times theta' on each, with h by autodiff of theta."""

    def thesis(q, xi):
        c, gamma, omega = q[8], q[6:9], xi[:3]
        s2 = 1 - c**2
        spin, pivot = omega[2], (gamma[0] * omega[0] + gamma[1] * omega[1]) / s2
        theta = jnp.arccos(c)

        def h_of(t):
            return system.height_at(jnp.cos(t))

        def a_of(t):
            return -jax.grad(h_of)(t) / jnp.sin(t)

        def r_of(t):
            return h_of(t) - a_of(t) * jnp.cos(t)

        return theta, spin, pivot, a_of, r_of

    velocity, rate = dh.vector_field(system, q, xi)

    def along(f):
        return jax.jvp(lambda q, xi: f(*thesis(q, xi)), (q, xi), (velocity, rate))

    m, j1, j3 = system.mass, system.inertia_across, system.inertia_axis
    theta, fall = along(lambda t, *_: t)
    _, spin, pivot, a_of, r_of = thesis(q, xi)
    a, r, s, c = a_of(theta), r_of(theta), jnp.sin(theta), jnp.cos(theta)
    _, first = along(lambda t, w, o, *_: j3 * w)
    _, second = along(lambda t, w, o, *_: j3 * jnp.cos(t) * w + j1 * jnp.sin(t) ** 2 * o)
    _, third = along(lambda t, w, o, a, r: jnp.sin(t) * (r(t) * w - (a(t) + r(t) * jnp.cos(t)) * o))

    def metric_times(t, w, o, a, r):
        a, r, s, c = a(t), r(t), jnp.sin(t), jnp.cos(t)
        g = jnp.array(
            [
                [j3 + m * r**2 * s**2, j3 * c - m * a * r * s**2],
                [j3 * c - m * a * r * s**2, j3 * c**2 + (j1 + m * a**2) * s**2],
            ]
        )
        return g @ jnp.stack([w - c * o, o])

    _, left = along(metric_times)
    da, dr = jax.grad(a_of)(theta), jax.grad(r_of)(theta)
    b = m * s * jnp.array([[r * (dr * s + r * c), -(a * dr * s - r**2)], [-r * (da * s + a * c), a * (da * s - r)]])
    return (
        (a * first, -r * second),  # (9.12)
        (first + m * r * s * third, m * r * s * (r + a * c) * pivot * fall),  # (9.13)
        (left, b @ jnp.stack([spin - c * pivot, pivot]) * fall),  # (9.10), (9.11)
    )


@settings(max_examples=25)
@given(bodies_of_revolution(), sizes(), sizes(), rotations(), vectors(3))
def test_thesis_adjoint_equations_hold(body, across, along, r, omega):
    assume(abs(r[2, 2]) < 0.95)
    spheroid = dh.systems.RollingBody(support_of_spheroid, (across, along), **body)
    for got, wanted in _adjoint_sides(spheroid, placed(r), jnp.concatenate([omega, jnp.zeros(3)])):
        assert_same(got, wanted)


def end(body):
    """(theta, x, omega) in the order of [MD]'s tables."""

    def of(trajectory):
        q, xi = trajectory.q[-1], trajectory.xi[-1]
        height = float(body.height(jnp.asarray(q[6:9])))
        return np.array([np.arccos(q[8]), q[9], q[10], height, *xi[:3]])

    return of


ENDS = {
    "Routh": (
        dh.systems.RouthTop(offset=0.2, radius=0.35, **BODY),
        8.363190861601,
        [1.862217430286, -1.058512135205, -0.881313958575, 0.292537260076]
        + [-2.371386486229, -0.241373883157, 2.854481942664],
    ),
    "Routh, by its support function": (
        dh.systems.RollingBody(support_of_sphere, (0.2, 0.35), **BODY),
        8.363190861601,
        [1.862217430286, -1.058512135205, -0.881313958575, 0.292537260076]
        + [-2.371386486229, -0.241373883157, 2.854481942664],
    ),
    "spheroid": (
        dh.systems.RollingBody(support_of_spheroid, (0.8, 0.5), **BODY),
        13.324526411927,
        [0.767116411069, -1.912513927721, 1.931598583709, 0.661718750777]
        + [0.918861975398, -0.303897299013, 2.741399242879],
    ),
    "disk": (
        dh.systems.RollingBody(support_of_disk, 0.6, **BODY),
        9.373037782222,
        [0.903119888482, 0.104140653744, 0.99693936408, 0.471157468757]
        + [-0.363780570396, -0.410147841612, 2.664006210975],
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_end_states_of_the_thesis(name):
    """To the 12 decimals given, up to the 12 of the initial data, by reference; and at order 2 by the scheme."""
    body, energy, wanted = ENDS[name]
    exact = dh.reference(body, leaning(0.9), OMEGA, t=1.5)
    np.testing.assert_allclose(end(body)(exact), wanted, rtol=0, atol=1e-11)
    np.testing.assert_allclose(exact.energy, energy, rtol=0, atol=1e-11)
    assert_second_order(body, leaning(0.9), OMEGA, 1.5, np.array(wanted), end(body))
