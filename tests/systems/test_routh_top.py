"""Routh's top: its integrals, with and without slipping, its amended potential, sleeping, Lagrange's top as a limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from contact import as_point_masses, diagonal, placed
from hypothesis import assume, given, settings
from multipliers import accelerations, assert_lagrange_dalembert, assert_same, motion, orthogonal
from numpy.polynomial import Chebyshev

import discrete_hamel as dh
from discrete_hamel.systems.rolling_bodies import leaning, support_of_spheroid
from discrete_hamel.testing.strategies import bodies_of_revolution, numbers, rotations, sizes, vectors

BODY = {"mass": 1.3, "inertia_across": 0.7, "inertia_axis": 0.45, "gravity": 9.81}
OMEGA = (0.156665381925, -0.548328836739, 2.664873022211)
TOP = dh.systems.RouthTop(offset=0.2, radius=0.35, **BODY)


def lowest_of_sphere(gamma, s):
    return -s.offset * jnp.eye(3)[2] - s.radius * gamma / jnp.linalg.norm(gamma)


ROUTH = as_point_masses(lowest_of_sphere, diagonal("inertia_across", "inertia_across", "inertia_axis"))


@settings(max_examples=25)
@given(bodies_of_revolution(), numbers(-1.0, 1.0), numbers(0.0, 2.0), rotations(), vectors(3))
def test_routh_top_is_lagrange_dalembert(body, offset, radius, r, omega):
    assume(abs(offset) + radius > 0.1)
    top = dh.systems.RouthTop(offset=offset, radius=radius, **body)
    assert_lagrange_dalembert(top, placed(r), omega, *ROUTH)


def test_jellett_and_routh_integrals_have_the_thesis_values():
    values = dh.reference(TOP, leaning(0.9), OMEGA, t=1.5).invariants()
    np.testing.assert_allclose(values["Jellett"], 0.395506574857, rtol=0, atol=1e-11)
    np.testing.assert_allclose(values["Routh"], 1.856637035547, rtol=0, atol=1e-11)


def test_jellett_is_the_thesis_c1_and_only_that_is_exact():
    """C1 = J3 (a + r c) omega3 + r J1 s^2 Omega2; Routh's integral is off by O(h^2), on both sides."""
    misses = []
    for steps in (1000, 2000):
        run = dh.simulate(TOP, leaning(0.9), OMEGA, h=20 / steps, steps=steps)
        values, gamma, omega = run.invariants(), run.q[:, 6:9], run.xi[:, :3]
        level = gamma[:, 0] * omega[:, 0] + gamma[:, 1] * omega[:, 1]  # sin^2 Omega2
        thesis = 0.45 * (0.2 + 0.35 * gamma[:, 2]) * omega[:, 2] + 0.35 * 0.7 * level
        assert np.max(np.abs(values["Jellett"] - thesis)) < 1e-13
        assert np.max(np.abs(values["Jellett"] - values["Jellett"][0])) < 1e-12 * steps**0.5
        misses.append(np.max(np.abs(values["Routh"] - values["Routh"][0])))
    assert misses[0] > 1e-6
    assert abs(np.log2(misses[0] / misses[1]) - 2) < 0.1


DRAG = 2.0


def _slipping():
    """The top with nothing to hold its contact, which drags: xi = (omega, the contact's horizontal velocity)."""

    def lagrangian(q, xi):
        return TOP.lagrangian(q, jnp.concatenate([xi[:3], xi[3:] @ q[:6].reshape(2, 3)]))

    def frame(q):
        sliding = jnp.concatenate([jnp.zeros((9, 2)), jnp.eye(2)])
        return jnp.concatenate([TOP.frame(q)[:, :3], sliding], axis=1)

    def friction(q, xi):
        return jnp.concatenate([jnp.zeros(3), -DRAG * xi[3:]])

    return dh.from_quasivelocities(lagrangian, frame, 5, force=friction)


SLIPPING = _slipping()
SLIDE = (*OMEGA, 0.4, -0.3)


def friction_of_point_masses(q, v, s):
    """-DRAG times the velocity of the material point in contact, as a covector on (R, x, y)."""

    def at_contact(v):
        return v[9:] + v[:6].reshape(2, 3) @ lowest_of_sphere(q[6:9], s)

    sliding, transpose = jax.vjp(at_contact, v)
    return transpose(-DRAG * sliding)[0]


@settings(max_examples=25)
@given(rotations(), vectors(5))
def test_the_slipping_top_is_lagrange_dalembert(r, xi):
    q = jnp.asarray(placed(r))
    velocity, got = motion(SLIPPING, q, jnp.asarray(xi))
    wanted, _ = accelerations(ROUTH[0], orthogonal, q, velocity, TOP, force=friction_of_point_masses)
    assert_same(got, wanted)


@jax.jit
def _integrals(q, xi):
    """Jellett's and Routh's, along a run."""
    return jax.vmap(TOP.jellett)(q, xi), jax.vmap(TOP.routh)(q, xi)


def test_jelletts_integral_survives_slipping_and_rouths_does_not():
    """[MD] 9.5: C1 is constant whatever the force at the contact; C2 and the energy are not."""
    run = dh.reference(SLIPPING, leaning(0.9), SLIDE, t=np.linspace(0.0, 5.0, 21))
    jellett, routh = map(np.asarray, _integrals(run.q, run.xi))
    assert np.max(np.abs(jellett - jellett[0])) < 1e-9
    assert np.ptp(routh) > 0.01
    assert run.energy[-1] < run.energy[0] - 0.1
    assert np.max(np.linalg.norm(run.xi[:, 3:], axis=1)) > 0.3  # it does slip


def test_the_scheme_keeps_it_exactly_while_rolling_and_to_second_order_while_slipping():
    """As found; that it is exact while rolling is tested above."""
    misses = []
    for steps in (250, 500, 1000):
        run = dh.simulate(SLIPPING, leaning(0.9), SLIDE, h=5.0 / steps, steps=steps)
        jellett, _ = map(np.asarray, _integrals(run.q, run.xi))
        misses.append(np.max(np.abs(jellett - jellett[0])))
    assert misses[-1] > 1e-7
    assert np.all(np.abs(np.log2(np.array(misses[:-1]) / misses[1:]) - 2) < 0.1)


def test_jellett_is_of_spheres_only():
    """rho . J omega is not kept by the spheroid."""
    body = dh.systems.RollingBody(support_of_spheroid, (0.8, 0.5), **BODY)
    run = dh.reference(body, leaning(0.9), OMEGA, t=1.5)
    values = [
        float(body.to_centre(jnp.asarray(q[6:9])) @ body.moments() @ xi[:3])
        for q, xi in zip(run.q, run.xi, strict=True)
    ]
    assert abs(values[1] - values[0]) > 1e-2


@settings(max_examples=25)
@given(bodies_of_revolution(), numbers(-0.8, 0.8), sizes(0.3, 1.0), numbers(0.3, 2.8), numbers(), numbers(), numbers())
def test_energy_is_the_reduced_energy(body, offset, radius, theta, fall, c1, c2):
    """E = {J1 + m (a^2 + 2 a r c + r^2)} theta'^2 / 2 + U(theta; C1, C2), [MD] 9.5-9.6."""
    top = dh.systems.RouthTop(offset=offset, radius=radius, **body)
    m, j1, j3, g, a, r = top.mass, top.inertia_across, top.inertia_axis, top.gravity, offset, radius
    c, s = np.cos(theta), np.sin(theta)
    root = np.sqrt(j1 * (j3 + m * r**2 * s**2) + m * j3 * (a + r * c) ** 2)
    spin = c2 / root
    pivot = (c1 - c2 * j3 * (a + r * c) / root) / (r * j1 * s**2)
    gamma = np.array([0.0, s, c])
    omega = np.array([0.0, 0.0, spin - c * pivot]) + pivot * gamma + np.array([fall, 0.0, 0.0])
    q = np.array(leaning(theta))
    amended = (c2**2 - m * c1**2 / j3) / (2 * j1) + m * g * (r + a * c)
    amended += (c1 * root - c2 * j3 * (a + r * c)) ** 2 / (2 * r**2 * j1**2 * j3 * s**2)
    kinetic = 0.5 * (j1 + m * (a**2 + 2 * a * r * c + r**2)) * fall**2
    size = max(1.0, abs(amended), m * c1**2 / j1 / j3)
    assert abs(float(dh.energy(top, q, omega)) - kinetic - amended) < 1e-10 * size
    np.testing.assert_allclose(q[6:9], gamma, atol=1e-15)


@pytest.mark.parametrize(("pole", "wanted"), [(0.0, -7.295662924), (np.pi, 7.949219790)], ids=["top", "bottom"])
def test_curvature_of_the_amended_potential_at_the_poles(pole, wanted):
    """U'' of [MD] 9.7 to the 9 decimals given, S'(-1) corrected, from the library's energy: U is 0/0 at the pole
    but analytic, and a Chebyshev polynomial of degree N = 23 about it costs (N / 0.8)^2, some 10^3, round-offs."""
    m, j1, j3, a, r, g, c2 = 1.3, 0.7, 0.45, 0.6, 0.35, 9.81, 1.7
    top = dh.systems.RouthTop(m, j1, j3, a, r, g)
    side, lean = np.cos(pole), a + np.cos(pole) * r
    c1 = c2 * j3 * lean / np.sqrt(j1 * j3 + m * j3 * lean**2)  # S(pole) = 0

    def amended(theta):
        c, s = np.cos(theta), np.sin(theta)
        spin = c2 / np.sqrt(j1 * (j3 + m * r**2 * s**2) + m * j3 * (a + r * c) ** 2)
        pivot = (c1 - j3 * (a + r * c) * spin) / (r * j1 * s**2)
        omega = np.array([0.0, 0.0, spin - c * pivot]) + pivot * np.array([0.0, s, c])
        return float(dh.energy(top, np.array(leaning(theta)), omega))

    second = Chebyshev.interpolate(np.vectorize(amended), 23, [pole - 0.8, pole + 0.8]).deriv(2)(pole)
    assert abs(second - wanted) < 0.5e-9

    def curvature(sign):
        slope = -c2 * r * j1 * (j3 + sign * m * r * lean) / (j1 + m * lean**2)
        return -side * m * g * a + slope**2 / (4 * r**2 * j1**2 * j3)

    assert abs(second - curvature(side)) < 1e-10 < 0.1 < abs(second - curvature(-side))  # S'(-1) as printed


@settings(max_examples=25)
@given(sizes(0.3, 2.0), numbers(0.2, 1.5), sizes(0.1, 0.8), sizes(0.0, 0.8))
def test_sleeping_is_stable_above_the_critical_spin_only(j1, ratio, offset, radius):
    """n^2 [J3 + m r (a + r)]^2 > 4 m g a (J1 + m (a + r)^2), from the spectrum of the vector field."""
    top = dh.systems.RouthTop(1.0, j1, ratio * j1, offset, radius, 9.8)
    lean = offset + radius
    critical = np.sqrt(4 * 9.8 * offset * (j1 + lean**2)) / (ratio * j1 + radius * lean)
    assert np.max(np.real(np.linalg.eigvals(_around_sleeping(top, 1.01 * critical)))) < 1e-5
    assert np.max(np.real(np.linalg.eigvals(_around_sleeping(top, 0.99 * critical)))) > 1e-2


@jax.jit
def _around_sleeping(top, spin):
    """d(gamma1, gamma2, omega1, omega2)' at gamma = e_3, omega = spin e_3."""

    def rate(z):
        gamma = jnp.stack([z[0], z[1], jnp.sqrt(1 - z[0] ** 2 - z[1] ** 2)])
        q = jnp.concatenate([jnp.zeros(6), gamma, jnp.zeros(2)])  # the reduced equations see gamma only
        velocity, turning = dh.vector_field(top, q, jnp.stack([z[2], z[3], spin]))
        return jnp.concatenate([velocity[6:8], turning[:2]])

    return jax.jacfwd(rate)(jnp.zeros(4))


def test_on_a_point_it_is_lagranges_top():
    """radius = 0: the same motion as the heavy top about its fixed point, also step by step."""
    m, j1, j3, a = 1.3, 0.7, 0.45, 0.4
    top = dh.systems.RouthTop(m, j1, j3, offset=a, radius=0.0, gravity=9.81)
    fixed = dh.systems.HeavyTop(inertia=(j1 + m * a**2, j1 + m * a**2, j3), weight=(0.0, 0.0, m * 9.81 * a))
    q, xi = leaning(0.9), OMEGA
    exact, same = dh.reference(top, q, xi, t=2.0), dh.reference(fixed, q[:9], xi, t=2.0)
    np.testing.assert_allclose(exact.q[-1][:9], same.q[-1], atol=1e-10)
    np.testing.assert_allclose(exact.xi[-1][:3], same.xi[-1], atol=1e-10)
    # C2 = omega3 and C1 = e_3 . P about the contact, J3 c omega3 + (J1 + m a^2) s^2 Omega2.
    level = exact.q[:, 6] * exact.xi[:, 0] + exact.q[:, 7] * exact.xi[:, 1]
    np.testing.assert_allclose(exact.xi[:, 2], xi[2], atol=1e-11)
    about_contact = j3 * exact.q[:, 8] * exact.xi[:, 2] + (j1 + m * a**2) * level
    assert abs(np.ptp(about_contact)) < 1e-10
    # The mass centre circles above the contact, which stays.
    contact = exact.q[:, 9:] - a * exact.q[:, [2, 5]]
    assert np.max(np.ptp(contact, axis=0)) < 1e-10


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mass": -1.0}, "mass"),
        ({"inertia_across": 0.0}, "inertia_across"),
        ({"inertia_axis": 1.5}, "inertia_axis.*triangle inequality.*inertia_across"),
        ({"radius": -0.1}, "radius"),
        ({"gravity": -9.8}, "gravity"),
    ],
)
def test_bad_parameters_get_a_sentence(change, words):
    top = dh.systems.RouthTop(**change)
    with pytest.raises(ValueError, match=f"the parameter {words}"):
        dh.simulate(top, leaning(0.9), OMEGA, h=0.01, steps=1)


def test_the_contact_force_carries_the_weight():
    """At rest upside down, the reaction is m g along gamma; it is the acceleration of the mass centre otherwise."""
    still = np.array(leaning(np.pi))
    np.testing.assert_allclose(dh.reactions(TOP, still, np.zeros(3)), 1.3 * 9.81 * still[6:9], atol=1e-12)
    q = np.array(leaning(0.9))
    _, second = motion(TOP, jnp.asarray(q), jnp.asarray(OMEGA))
    reaction = q[:9].reshape(3, 3) @ np.asarray(dh.reactions(TOP, q, OMEGA))
    np.testing.assert_allclose(reaction[:2], 1.3 * np.asarray(second[9:]), atol=1e-12)
