"""Disks: equations of [QS] 6.5 with errata, and the disk in angles against rotation matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from contact import as_point_masses, assert_second_order, diagonal, placed
from hypothesis import assume, given, settings
from multipliers import assert_lagrange_dalembert, assert_same
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.testing.strategies import numbers, rotations, sizes, vectors


def lowest(gamma, s):
    inward = gamma * jnp.array([1.0, 1.0, 0.0])
    return -s.radius * inward / jnp.linalg.norm(inward)


POINT_MASSES = as_point_masses(lowest, diagonal("inertia_diameter", "inertia_diameter", "inertia_axis"))


def upright_lagrangian(q, v, s):
    phi, psi, x, y = v
    turning = s.inertia_diameter * phi**2 + s.inertia_axis * psi**2
    return 0.5 * (turning + s.mass * (x**2 + y**2)) + 0.0 * q[0]


def upright_rolling(q, v, s):
    return v[2:] + s.radius * v[1] * jnp.stack([jnp.cos(q[0]), jnp.sin(q[0])])


def leaning_lagrangian(q, v, s):
    """L of [QS] 6.5 as motion of the centre (contact + R up) and turning about it."""

    def centre(q):
        theta, phi = q[0], q[1]
        left = jnp.stack([-jnp.sin(phi), jnp.cos(phi), 0.0 * phi])
        up = jnp.sin(theta) * left + jnp.cos(theta) * jnp.eye(3)[2]
        return jnp.concatenate([q[3:], jnp.zeros(1)]) + s.radius * up

    place, velocity = jax.jvp(centre, (q,), (v,))
    c, sn = jnp.cos(q[0]), jnp.sin(q[0])
    across = v[0] ** 2 + (v[1] * c) ** 2
    turning = s.inertia_diameter * across + s.inertia_axis * (v[1] * sn + v[2]) ** 2
    return 0.5 * (s.mass * velocity @ velocity + turning) - s.mass * s.gravity * place[2]


def leaning_rolling(q, v, s):
    return v[3:] + s.radius * v[2] * jnp.stack([jnp.cos(q[1]), jnp.sin(q[1])])


@settings(max_examples=25)
@given(sizes(), sizes(), sizes(), numbers(0.1, 2.0), vectors(4), vectors(2))
def test_vertical_disk_is_lagrange_dalembert(m, radius, a, ratio, q, xi):
    disk = dh.systems.VerticalDisk(m, radius, a, ratio * a)
    assert_lagrange_dalembert(disk, q, xi, upright_lagrangian, upright_rolling)


@settings(max_examples=25)
@given(sizes(), sizes(), sizes(), numbers(0.1, 2.0), vectors(5, -1.4, 1.4), vectors(3))
def test_rolling_disk_is_lagrange_dalembert(m, radius, a, ratio, q, xi):
    disk = dh.systems.RollingDisk(m, radius, a, ratio * a, 9.8)
    assert_lagrange_dalembert(disk, q, xi, leaning_lagrangian, leaning_rolling)


@settings(max_examples=25)
@given(sizes(), sizes(), sizes(), numbers(0.1, 2.0), rotations(), vectors(3))
def test_disk_on_rotations_is_lagrange_dalembert(m, radius, a, ratio, r, omega):
    assume(abs(r[2, 2]) < 0.95)
    disk = dh.systems.RollingDiskOnRotations(m, radius, a, ratio * a, 9.8)
    assert_lagrange_dalembert(disk, placed(r), omega, *POINT_MASSES)


def test_vertical_disk_runs_around_a_circle():
    """Closed form, the reaction across the heading included; the scheme's circle is off by O(h^2) only in phase."""
    disk = dh.systems.VerticalDisk(mass=1.4, radius=0.6, inertia_diameter=0.2, inertia_axis=0.3)
    turn, own = 0.7, -2.0
    exact = dh.reference(disk, [0.3, 0, 0, 0], [turn, own], t=5.0)
    phi = 0.3 + turn * 5.0
    circle = -0.6 * own / turn * np.array([np.sin(phi) - np.sin(0.3), np.cos(0.3) - np.cos(phi)])
    np.testing.assert_allclose(exact.q[-1], [phi, own * 5.0, *circle], atol=1e-11)
    np.testing.assert_allclose(
        dh.reactions(disk, [0.3, 0, 0, 0], [turn, own]), [0.0, -1.4 * 0.6 * own * turn], atol=1e-13
    )
    assert_second_order(disk, [0.3, 0, 0, 0], [turn, own], 5.0, circle, lambda run: run.q[-1][2:])


@jax.jit
def _momentum_rates(disk, q, xi):
    """Rates of the corrected p1, p2 and theta', and both printed (uncorrected) ones."""

    def momenta(q, xi):
        lean, heading, own = xi[:3]
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        a, b = disk.inertia_diameter, disk.mass * disk.radius**2 + disk.inertia_axis
        spin = heading * s + own
        right = jnp.stack([a * heading * c, b * spin])
        printed = jnp.stack([a * heading * c**2 + b * spin * s, -a * heading * c**2 * s + b * spin * c**2])
        return right, printed

    return jax.jvp(momenta, (q, xi), dh.vector_field(disk, q, xi))


def _qs_right_side(disk, p, theta, fall):
    mr2, a, b = disk.mass * disk.radius**2, disk.inertia_diameter, disk.inertia_axis
    return np.array([np.tan(theta) * p[0] - b / (mr2 + b) * p[1], -mr2 / a * p[0]]) * fall


@settings(max_examples=25)
@given(sizes(), sizes(), sizes(), numbers(0.1, 2.0), vectors(5, -1.4, 1.4), vectors(3))
def test_momentum_equations_of_6_5_with_errata(m, radius, a, ratio, q, xi):
    disk = dh.systems.RollingDisk(m, radius, a, ratio * a, 9.8)
    xi = np.concatenate([xi, [0.0, 0.0]])
    (right, _), (rate, _) = _momentum_rates(disk, q, xi)
    assert_same(rate, _qs_right_side(disk, np.asarray(right), q[0], xi[0]))
    amended = right[0] ** 2 / (2 * disk.inertia_diameter) + right[1] ** 2 / 2 / (m * radius**2 + disk.inertia_axis)
    amended += m * 9.8 * radius * np.cos(q[0])
    energy = 0.5 * (disk.inertia_diameter + m * radius**2) * xi[0] ** 2 + amended
    assert_same(dh.energy(disk, q, xi), energy)


def test_wronskian_of_6_18_is_cos_theta_with_the_erratum_only():
    """(6.18): d eta^1 = -tan eta^1 + (m R^2 / A) eta^2, d eta^2 = B / (m R^2 + B) eta^1 (printed eta^2)."""
    for corrected in (True, False):

        def rate(theta, eta, corrected=corrected):
            first, second = eta.reshape(2, 2)
            return np.concatenate([-np.tan(theta) * first + 4.0 * second, (first if corrected else second) / 3.0])

        end = solve_ivp(rate, (0.0, 1.0), np.eye(2).ravel(), rtol=1e-11, atol=1e-12).y[:, -1].reshape(2, 2)
        assert (abs(np.linalg.det(end) - np.cos(1.0)) < 1e-8) == corrected


def test_levels_of_the_adjoint_fields_are_kept():
    """(6.17): <p, eta(theta)> is constant along the motion for eta of (6.18) with the erratum."""
    disk = dh.systems.RollingDisk()
    run = dh.reference(disk, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], t=0.4)
    p = [
        (0.25 * xi[1] * np.cos(q[0]), 1.5 * (xi[1] * np.sin(q[0]) + xi[2])) for q, xi in zip(run.q, run.xi, strict=True)
    ]

    def rate(theta, eta):
        return [-np.tan(theta) * eta[0] + 4.0 * eta[1], eta[0] / 3.0]

    span = (run.q[0][0], run.q[-1][0])
    for eta in ([1.0, 0.0], [0.0, 1.0]):
        end = solve_ivp(rate, span, eta, rtol=1e-12, atol=1e-12, method="DOP853").y[:, -1]
        assert abs(end @ p[1] - np.dot(eta, p[0])) < 1e-9


def test_momenta_as_printed_do_not_satisfy_the_printed_equations():
    disk, q, xi = dh.systems.RollingDisk(), np.array([0.3, 0.1, 0.2, 0.0, 0.0]), np.array([0.5, 0.7, 2.0, 0.0, 0.0])
    (_, printed), (_, rate) = _momentum_rates(disk, q, xi)
    assert np.max(np.abs(np.asarray(rate) - _qs_right_side(disk, np.asarray(printed), q[0], xi[0]))) > 0.1


ANGLES, RATES = np.array([0.3, 0.4, 0.5]), np.array([0.1, 0.6, 3.0])


def test_angles_and_rotations_are_the_same_disk():
    in_angles, on_rotations = dh.systems.RollingDisk(), dh.systems.RollingDiskOnRotations()
    r, rate = jax.jvp(lambda a: on_rotations.attitude(*a), (jnp.asarray(ANGLES),), (jnp.asarray(RATES),))
    turning = np.asarray(r.T @ rate)
    omega = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
    # The contact starts at the origin, so that the centre is the horizontal part of R up.
    centre = np.sin(0.3) * np.array([-np.sin(0.4), np.cos(0.4)])
    exact = dh.reference(on_rotations, [*np.asarray(r).reshape(9), *centre], omega, t=3.0)
    same = dh.reference(in_angles, [*ANGLES, 0.0, 0.0], RATES, t=3.0)
    attitude = np.asarray(on_rotations.attitude(*same.q[-1][:3])).reshape(9)
    np.testing.assert_allclose(exact.q[-1][:9], attitude, atol=1e-9)
    theta, phi = same.q[-1][:2]
    contact = exact.q[-1][9:] - np.sin(theta) * np.array([-np.sin(phi), np.cos(phi)])
    np.testing.assert_allclose(contact, same.q[-1][3:], atol=1e-9)
    np.testing.assert_allclose(exact.energy, same.energy, atol=1e-9)
    assert_second_order(in_angles, [*ANGLES, 0.0, 0.0], RATES, 3.0, same.q[-1], lambda run: run.q[-1])


@pytest.mark.parametrize("name", ["VerticalDisk", "RollingDisk", "RollingDiskOnRotations"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mass": 0.0}, "mass"),
        ({"radius": -1.0}, "radius"),
        ({"inertia_axis": 0.6}, "inertia_axis.*triangle inequality.*inertia_diameter"),
    ],
)
def test_bad_parameters_get_a_sentence(name, change, words):
    disk = getattr(dh.systems, name)(**change)
    sample = getattr(dh.systems, name)().sample()
    with pytest.raises(ValueError, match=f"the parameter {words}"):
        dh.simulate(disk, **sample, steps=1)
