"""Spectra modulo symmetry against closed forms and Newton-Euler equations by hand; thresholds; multipliers."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import DISKS

import discrete_hamel as dh
from discrete_hamel.analysis import Stability, family, threshold
from discrete_hamel.testing.conserved_words import steady_spin

S = dh.systems
SIZES = st.floats(0.4, 2.5)
UPRIGHT = np.eye(3).ravel()


def cayley(rate, h):
    return (1 + h * rate / 2) / (1 - h * rate / 2)


def same(found, expected, tolerance):
    """Two sets of complex numbers, each of one near one of the other."""
    gaps = np.abs(np.asarray(found, complex)[:, None] - np.asarray(expected, complex)[None])
    return gaps.shape[0] == gaps.shape[1] and max(gaps.min(0).max(), gaps.min(1).max()) < tolerance


# --- Chaplygin's sleigh ---


@settings(max_examples=30)
@given(SIZES, SIZES, st.floats(0.1, 1.0), st.sampled_from([1.0, -1.0]), SIZES, st.floats(-2.3, 2.0), st.floats(-3, 3))
def test_the_sleigh_runs_straight_if_its_blade_is_behind(m, inertia, a, sense, speed, log_h, theta):
    sleigh, v, h = S.ChaplyginSleigh(m, inertia, a), sense * speed, 10**log_h
    found = dh.spectrum(sleigh, [theta, 0.3, -0.2], [0.0, v], dh.DiscreteHamel(), h)
    rate = -a * m * v / (inertia + m * a**2)
    assert same(found.rates, [0.0, rate], 1e-12 * (1 + abs(rate)))
    turning, forward = sorted(found.multipliers, key=lambda mu: -abs(mu - 1))
    assert abs(forward - 1) < 1e-12
    assert turning == pytest.approx(cayley(rate, h), rel=1e-9, abs=1e-12)
    assert abs(turning) < 1 if v > 0 else abs(turning) > 1
    assert found.stability is found.discrete.stability is (Stability.PARTIAL if v > 0 else Stability.UNSTABLE)
    assert found.continuous.family == found.discrete.family == found.continuous.zeros == 1


def test_the_explicit_scheme_leaves_the_unit_circle():
    """What must not hold for every scheme: RK4 repels where the sleigh attracts, once h rate is below -2.79."""
    sleigh = S.ChaplyginSleigh(1.0, 0.7, 0.4)
    for h, inside in ((2.5, True), (3.5, False)):
        found = dh.spectrum(sleigh, [0, 0, 0], [0.0, 2.0], dh.RungeKutta4(), h)
        assert bool(np.max(np.abs(found.multipliers)) < 1 + 1e-9) is inside


# --- the rolling disk ---


def critical_speed(disk):
    """v with v^2 = A m g R^3 / (C (C + m R^2))."""
    a, c, m, r, g = disk.inertia_diameter, disk.inertia_axis, disk.mass, disk.radius, disk.gravity
    return np.sqrt(a * m * g * r**3 / (c * (c + m * r**2)))


@settings(max_examples=8)
@given(DISKS, st.floats(0.01, 0.2))
def test_critical_speed_of_the_disk(disk, h):
    v = critical_speed(disk)
    scheme = dh.DiscreteHamel()

    def at(speed):
        return dh.spectrum(disk, [0, 0.7, 0, 0.1, 0], [0, 0, speed / disk.radius], scheme, h)

    assert threshold(at, 0.4 * v, 2.0 * v) == pytest.approx(v, rel=1e-8)
    assert threshold(at, 0.4 * v, 2.0 * v, discrete=True) == pytest.approx(v, rel=1e-8)
    assert at(0.99 * v).stability is at(0.99 * v).discrete.stability is Stability.UNSTABLE
    assert at(1.01 * v).stability is at(1.01 * v).discrete.stability is Stability.NEUTRAL


def test_two_sets_of_coordinates_have_one_spectrum():
    """Lean and angles, or nine numbers of a rotation matrix: 4 rates, not 11 + 3 - 4."""
    angles, matrix = S.RollingDisk(), S.RollingDiskOnRotations()
    found = dh.relative_equilibrium(angles, [0.3, 0, 0, 0, 0], [0, -0.7, 3.0], hold=["theta", "psi'"])
    theta, turn, spin = found.q[0], found.xi[1], found.xi[2]
    q = np.concatenate([np.asarray(matrix.attitude(theta, 0.4, 0.2)).ravel(), [0.3, 0.1]])
    omega = turn * q[6:9] + spin * np.array([0.0, 0.0, 1.0])  # about the vertical, and about the disk's axis
    other = dh.spectrum(matrix, q, omega)
    assert len(other.rates) == 4
    assert same(other.continuous.linear.rates(), dh.spectrum(angles, found.q, found.xi).continuous.linear.rates(), 1e-8)


@pytest.mark.parametrize("turn", [-0.715, 1.5])
def test_family_by_continuation_is_that_of_the_balance_of_lean(turn):
    disk = S.RollingDisk()
    leans = np.linspace(0.1, 0.8, 5)
    start = [0.0, turn, steady_spin(disk, 0.1, turn) + 0.05]
    for lean, found in zip(leans, family(disk, [0.1, 0, 0, 0, 0], start, "theta", leans, hold=["phi'"]), strict=True):
        assert found.xi[2] == pytest.approx(steady_spin(disk, lean, turn), rel=1e-10)
        assert found.dimension == 2
        assert found.group["rotation about the vertical"] == pytest.approx(turn, rel=1e-10)


# --- tops ---


@settings(max_examples=12)
@given(SIZES, st.floats(0.2, 0.8) | st.floats(1.2, 1.9), SIZES, SIZES, st.floats(1.0, 10.0))
def test_spin_at_which_a_top_wakes(j1, ratio, m, a, g):
    top = S.LagrangeTop(j1, ratio * j1, m, a, g)
    critical = 2 * np.sqrt(j1 * m * g * a) / (ratio * j1)
    at = lambda spin: dh.spectrum(top, UPRIGHT, [0, 0, spin])  # noqa: E731
    assert threshold(at, 0.6 * critical, 1.7 * critical) == pytest.approx(critical, rel=1e-8)
    spin = 1.3 * critical
    # in space J1 r^2 - J3 spin r + m g a = 0 for each rate r of the axis; here seen from half-way turning axes
    root = np.sqrt((ratio * j1 * spin) ** 2 - 4 * j1 * m * g * a)
    seen = (ratio * j1 * spin + root * np.array([1, -1])) / (2 * j1) - spin / 2
    assert same(at(spin).rates, [0, *(1j * seen), *(-1j * seen)], 1e-7 * spin)


def test_rotation_about_principal_axes():
    """I = (1, 2, 3): saddle about the middle axis, centres about the others; the family is the spin."""
    body, moments, spin = S.RigidBody((1.0, 2.0, 3.0)), np.array([1.0, 2.0, 3.0]), 1.7
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        rate = spin * np.sqrt(
            complex((moments[j] - moments[k]) * (moments[k] - moments[i]) / (moments[i] * moments[j]))
        )
        found = dh.spectrum(body, UPRIGHT, spin * np.eye(3)[k])
        assert same(found.rates, [0, rate, -rate], 1e-9)
        assert found.stability is (Stability.UNSTABLE if k == 1 else Stability.NEUTRAL)


ABOUT_THE_ROD = {"about the rod": lambda q: jnp.stack([-q[1], q[0], jnp.zeros_like(q[2])])}


@pytest.mark.parametrize("lean", [0.4, 1.2])
def test_conical_pendulum_in_angles_and_on_the_sphere(lean):
    """Rates +-i Omega sqrt(1 + 3 cos^2 lean) about the cone, and 0 along the family; so too with redundant gamma."""
    turn = np.sqrt(9.8 / (9.8 * np.cos(lean)))  # g = l
    expected = [0, *(1j * turn * np.sqrt(1 + 3 * np.cos(lean) ** 2) * np.array([1, -1]))]
    angles = S.SphericalPendulumAngles(mass=1.0, length=9.8, gravity=9.8)
    assert same(dh.spectrum(angles, [lean, 0.3], [0.0, turn]).rates, expected, 1e-9)
    gamma = np.array([np.sin(lean), 0.0, -np.cos(lean)])
    # horizontal momentum about the vertical: gamma' = gamma x xi is a turn about the rod
    about = -turn * np.cos(lean)
    xi = np.array([turn * np.sin(lean), 0.0, 0.0])
    sphere = dh.relative_equilibrium(S.SphericalPendulum(), gamma, xi, hold=["gamma3"], symmetries=ABOUT_THE_ROD)
    assert abs(abs(sphere.group["about the rod"]) - abs(about)) < 1e-9
    assert same(dh.spectrum(S.SphericalPendulum(), sphere.q, sphere.xi, symmetries=ABOUT_THE_ROD).rates, expected, 1e-8)


# --- the rattleback ---


def newton_euler(stone):
    """d/dt (omega, gamma) from M' = M x omega + m rho' x (omega x rho) + m g gamma x rho, by hand."""
    semiaxes, m, g = np.asarray(stone.semiaxes), stone.mass, stone.gravity
    c, s = np.cos(stone.tilt), np.sin(stone.tilt)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    moments = turn @ np.diag(stone.inertia) @ turn.T

    def rho(gamma):
        return semiaxes**2 * gamma / np.linalg.norm(semiaxes * gamma) - np.array([0.0, 0.0, stone.depth])

    def rhs(z):
        omega, gamma = z[:3], z[3:]
        falling, small, r = np.cross(gamma, omega), 1e-6, rho(gamma)
        moving = (rho(gamma + small * falling) - rho(gamma - small * falling)) / (2 * small)
        inertia = moments + m * (r @ r * np.eye(3) - np.outer(r, r))
        change = m * (2 * (r @ moving) * np.eye(3) - np.outer(moving, r) - np.outer(r, moving))
        torque = (
            np.cross(inertia @ omega, omega) + m * np.cross(moving, np.cross(omega, r)) + m * g * np.cross(gamma, r)
        )
        return np.concatenate([np.linalg.solve(inertia, torque - change @ omega), falling])

    return rhs


def rates_by_hand(stone, spin):
    """Central differences on (omega, gamma1, gamma2); good to about 1e-8 of the largest."""
    rhs, z, small = newton_euler(stone), np.array([0, 0, spin, 0, 0, 1.0]), 1e-5
    matrix = np.array([(rhs(z + small * e) - rhs(z - small * e)) / (2 * small) for e in np.eye(6)[:5]]).T[:5]
    return np.linalg.eigvals(matrix)


STONE = S.Rattleback()
AT_REST = np.concatenate([UPRIGHT, [0.0, 0.0]])


@pytest.mark.parametrize("spin", [1.0, 5.0, 20.0])
def test_a_rattleback_grows_one_way_and_decays_the_other(spin):
    """The pitching mode grows at spin < 0 (where the stone reverses) and decays at spin > 0, and both rates are
    opposite numbers; the slow rolling mode the other way about."""
    right, wrong = dh.spectrum(STONE, AT_REST, [0, 0, spin]), dh.spectrum(STONE, AT_REST, [0, 0, -spin])
    for found, sign in ((right, 1), (wrong, -1)):
        assert same(found.rates, rates_by_hand(STONE, sign * spin), 1e-6 * np.max(np.abs(found.rates)))
    assert same(right.rates, -wrong.rates, 1e-8 * np.max(np.abs(right.rates)))
    pitching = [found.rates[np.argmax(found.rates.imag)].real for found in (right, wrong)]
    assert pitching[0] < -0.1 * spin**0.5
    assert pitching[1] > 0.1 * spin**0.5
    assert wrong.growth > 5 * right.growth > 0


def test_spin_above_which_a_rattleback_is_asymptotically_stable():
    """A stone with a threshold in its good sense, and unstable at any spin in the other."""
    stone = S.Rattleback(1.0, (0.56, 0.84, 0.38), 0.0, (0.34, 0.17, 0.27), 0.22, 9.81)
    at = lambda spin: dh.spectrum(stone, AT_REST, [0, 0, spin])  # noqa: E731
    critical = threshold(at, 4.0, 20.0)
    growth = [np.max(r.real[np.abs(r) > 1e-3]) for r in (rates_by_hand(stone, critical * f) for f in (0.999, 1.001))]
    assert growth[0] > 0 > growth[1]
    assert at(0.99 * critical).stability is Stability.UNSTABLE
    assert at(1.01 * critical).stability is Stability.PARTIAL
    for spin in (-4.0, -critical, -20.0):
        assert at(spin).stability is Stability.UNSTABLE
    kept = dh.spectrum(stone, AT_REST, [0, 0, 1.01 * critical], dh.DiscreteHamel(), 0.02)
    assert kept.discrete.stability is Stability.PARTIAL
    assert np.max(np.abs(kept.multipliers)) < 1 + 1e-9


# --- what is refused ---


def test_refusals_are_sentences():
    sleigh = S.ChaplyginSleigh()
    with pytest.raises(ValueError, match="is not a relative equilibrium"):
        dh.spectrum(sleigh, [0, 0, 0], [1.0, 2.0])
    with pytest.raises(ValueError, match="does not keep this relative equilibrium"):
        dh.spectrum(
            S.RollingDisk(), [0.3, 0, 0, 0, 0], [0, -0.7157155729657075, 3.0], dh.CortesMartinez(0.0, 0.0), 0.05
        )
    with pytest.raises(ValueError, match="go together"):
        dh.spectrum(sleigh, [0, 0, 0], [0.0, 2.0], dh.DiscreteHamel())
    with pytest.raises(ValueError, match="nothing named 'speed'"):
        dh.relative_equilibrium(sleigh, [0, 0, 0], [0.0, 2.0], hold=["speed"])
    with pytest.raises(ValueError, match="no relative equilibrium"):
        dh.relative_equilibrium(S.KnifeEdgeOnIncline(), [0.3, 0, 0], [0.0, 1.0], hold=["theta"])
    with pytest.raises(ValueError, match="stable both"):
        threshold(lambda v: dh.spectrum(sleigh, [0, 0, 0], [0.0, v]), 1.0, 2.0)
    bent = {"bent": lambda q: jnp.stack([jnp.zeros_like(q[0]), jnp.cos(q[2]), jnp.zeros_like(q[0])])}
    with pytest.raises(ValueError, match="not affine"):
        dh.spectrum(sleigh, [0, 0, 0], [0.0, 0.0], dh.DiscreteHamel(), 0.1, symmetries=bent)
