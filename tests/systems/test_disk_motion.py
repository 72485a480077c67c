"""How disks move: Legendre's constants, the generic disk never falls, upright rolling and its critical spin."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.systems.rolling_bodies import support_of_disk
from discrete_hamel.testing.strategies import numbers, sizes


def conical(k, p, terms=400):
    """(P_nu(p), P_nu(-p)) and derivatives in p, nu (nu + 1) = -k: 2F1(-nu, nu + 1; 1; (1 - p)/2), real for all k."""
    n = np.arange(terms)
    coefficients = np.concatenate([[1.0], np.cumprod((n * (n + 1) + k) / (n + 1) ** 2)])

    def series(t):
        powers = t[..., None] ** np.arange(terms + 1)
        slopes = np.arange(1, terms + 1) * coefficients[1:] * powers[..., :-1]
        return powers @ coefficients, slopes.sum(-1)

    (up, d_up), (down, d_down) = series((1 - p) / 2), series((1 + p) / 2)
    return np.stack([up, down], -1), np.stack([-d_up / 2, d_down / 2], -1)


def test_conical_functions_have_the_values_computed_elsewhere():
    at = np.array([0.0, 0.5, -0.5])
    np.testing.assert_allclose(conical(4 / 3, at)[0][:, 0], [2.14069835342, 1.42067549697, 3.70740390204], atol=1e-11)
    np.testing.assert_allclose(conical(1.0, at)[0][:, 0], [1.81210409561, 1.30833711997, 2.84931524831], atol=1e-11)


def legendre_constants(run):
    """alpha, beta in omega3 = alpha P_nu(p) + beta P_nu(-p), Omega2 = -(J3 + m R^2)/(m R^2) domega3/dp, at nodes."""
    disk, gamma, omega = run.system, run.q[:, 6:9], run.xi[:, :3]
    mr2, j1, j3 = disk.mass * disk.radius**2, disk.inertia_diameter, disk.inertia_axis
    p = gamma[:, 2]
    pivot = (gamma[:, 0] * omega[:, 0] + gamma[:, 1] * omega[:, 1]) / (1 - p**2)
    values, derivatives = conical(float(j3 * mr2 / (j1 * (j3 + mr2))), p)
    matrix = np.stack([values, -(j3 + mr2) / mr2 * derivatives], axis=1)
    return np.linalg.solve(matrix, np.stack([omega[:, 2], pivot], axis=1)[..., None])[..., 0]


@pytest.mark.parametrize("inertia", [(0.25, 0.5), (0.5, 1.0), (0.31, 0.44)])
def test_legendre_constants(inertia):
    """Constant along the motion to 1e-10; the scheme keeps them to O(h^2), no better."""
    disk = dh.systems.RollingDiskOnRotations(1.0, 1.0, *inertia)
    sample = disk.sample()
    exact = legendre_constants(dh.reference(disk, sample["q"], sample["xi"], t=np.linspace(0.0, 8.0, 33)))
    assert np.ptp(dh.reference(disk, sample["q"], sample["xi"], t=np.linspace(0.0, 8.0, 33)).q[:, 8]) > 0.1
    assert np.max(np.abs(exact - exact[0])) < 1e-10 * np.max(np.abs(exact[0]))
    misses = []
    for steps in (800, 1600):
        constants = legendre_constants(dh.simulate(disk, sample["q"], sample["xi"], h=8.0 / steps, steps=steps))
        misses.append(np.max(np.abs(constants - constants[0])))
    assert misses[0] > 1e-7
    assert abs(np.log2(misses[0] / misses[1]) - 2) < 0.1


def test_support_function_gives_the_same_disk():
    disk = dh.systems.RollingDiskOnRotations()
    body = dh.systems.RollingBody(support_of_disk, 1.0, 1.0, 0.25, 0.5, 9.8)
    sample = disk.sample()
    one, two = (dh.reference(s, sample["q"], sample["xi"], t=3.0) for s in (disk, body))
    np.testing.assert_allclose(one.q, two.q, atol=1e-10)


@pytest.mark.parametrize("spin", [0.05, 0.3, -0.3])
def test_generic_disk_never_falls(spin):
    """Low on spin it comes near the plane, and rises again: U_c grows without bound at the horizontal."""
    disk = dh.systems.RollingDisk()
    run = dh.simulate(disk, [0.3, 0, 0, 0, 0], [0.1, spin, 0.1], h=0.001, steps=20_000)
    lean = np.abs(run.q[:, 0])
    assert lean.max() > 1.3, "it does come near"
    turned = np.sum(np.diff(np.sign(np.diff(lean))) < 0)
    assert turned >= 3, "and back, several times"
    assert lean.max() < np.pi / 2
    # The bound by theory: U_c(theta) <= E at every lean, p1 and p2 following (6.18) in theta.
    assert lean.max() < _highest_lean(disk, run) + 1e-3


def _highest_lean(disk, run):
    """The first zero of E - U_c(theta), from p(theta) by [QS] 6.5 along theta."""
    q, xi = run.q[0], run.xi[0]
    mr2, a, b = float(disk.mass * disk.radius**2), float(disk.inertia_diameter), float(disk.inertia_axis)
    p0 = [a * xi[1] * np.cos(q[0]), (mr2 + b) * (xi[1] * np.sin(q[0]) + xi[2])]
    energy = float(dh.energy(disk, q, xi))

    def left_over(theta, p):
        return energy - p[0] ** 2 / 2 / a - p[1] ** 2 / 2 / (mr2 + b) - mr2 * 9.8 * np.cos(theta)

    left_over.terminal = True

    def rate(theta, p):
        return [np.tan(theta) * p[0] - b / (mr2 + b) * p[1], -mr2 / a * p[0]]

    ends = [
        abs(solve_ivp(rate, (q[0], side), p0, events=left_over, rtol=1e-10, atol=1e-12).t[-1])
        for side in (1.5707, -1.5707)
    ]
    return max(ends)


def test_without_spin_it_falls():
    """The exceptional momenta, p1 = p2 = 0: then the disk falls flat in finite time."""
    disk = dh.systems.RollingDisk()
    run = dh.reference(disk, [0.3, 0, 0, 0, 0], [0.1, 0.0, 0.0], t=np.linspace(0.0, 1.5, 301))
    assert np.max(run.q[:, 0]) > np.pi / 2


@settings(max_examples=25)
@given(sizes(), sizes(0.3, 2.0), numbers(0.3, 2.0))
def test_upright_rolling_is_stable_above_the_critical_spin_only(m, a, ratio):
    """omega3^2 > m g R J1 / (J3 (J3 + m R^2)): a uniform disk needs g / (3 R), a hoop g / (4 R)."""
    b = ratio * a
    disk = dh.systems.RollingDisk(m, 1.0, a, b, 9.8)
    critical = np.sqrt(m * 9.8 * a / (b * (b + m)))
    assert np.max(np.real(np.linalg.eigvals(_around_upright(disk, 1.01 * critical)))) < 1e-5
    assert np.max(np.real(np.linalg.eigvals(_around_upright(disk, 0.99 * critical)))) > 1e-2


@jax.jit
def _around_upright(disk, spin):
    def rate(z):
        _, xidot = dh.vector_field(disk, jnp.zeros(5).at[0].set(z[0]), jnp.stack([z[1], z[2], spin]))
        return jnp.stack([z[1], xidot[0], xidot[1]])

    return jax.jacfwd(rate)(jnp.zeros(3))
