"""Reduction to one shape variable: amended potentials, periods and shifts."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ellipk

import discrete_hamel as dh
from discrete_hamel.analysis.geometry.one_shape import period

S = dh.systems


@pytest.fixture(scope="module")
def disk():
    system = S.RollingDisk()
    return system, dh.hidden_momenta(system, [0.0, 0, 0, 0, 0], between=(-1.3, 1.3))


@settings(max_examples=6)
@given(st.floats(-0.8, 0.8), st.floats(0.2, 1), st.floats(-1, 1), st.floats(2, 4))
def test_amended_potential_of_the_disk_predicts_turning_points_and_period(disk, theta, lean, heading, own):
    """Against the whole motion: the lean's range and the time between its turns."""
    system, momenta = disk
    q, xi = [theta, 0.0, 0.0, 0.0, 0.0], [lean, heading, own]
    motion = dh.reduced(momenta, momenta(q, xi))
    energy = float(dh.energy(system, q, xi))
    assert float(motion.energy(theta, lean)) == pytest.approx(energy, abs=1e-10 * abs(energy))
    try:
        low, high = motion.oscillation(energy, theta)
    except ValueError:  # leans beyond 1.3
        assert float(motion.potential(1.3)) < energy or float(motion.potential(-1.3)) < energy
        return
    period = motion.period(energy, theta)
    run = dh.reference(system, momenta.point(low), motion.velocity(low, 0.0), t=np.array([0, 0.5, 1.0]) * period)
    assert run.q[:, 0] == pytest.approx([low, high, low], abs=1e-8)
    assert run.xi[:, 0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_a_steady_lean_rests_at_the_bottom_and_its_period_is_that_of_small_oscillations(disk):
    """Straight rolling upright: (A + m R^2) theta'' = (m g R - B (B + m R^2) psi'^2 / A) theta."""
    system, momenta = disk
    q, xi = [0.0, 0, 0, 0, 0], [0.0, 0.0, 4.0]
    motion = dh.reduced(momenta, momenta(q, xi))
    energy = float(dh.energy(system, q, xi))
    assert motion.oscillation(energy, 0.0) == (0.0, 0.0)
    a, b, mr2 = system.inertia_diameter, system.inertia_axis, system.mass * system.radius**2
    square = (b * (b + mr2) * xi[2] ** 2 / a - 9.8) / (a + mr2)
    assert motion.period(energy, 0.0) == pytest.approx(2 * np.pi / np.sqrt(square), rel=1e-8)
    slow = dh.reduced(momenta, momenta(q, [0.0, 0.0, 1.0]))  # below the critical speed: no oscillation
    assert slow.period(float(dh.energy(system, q, [0.0, 0.0, 1.0])), 0.0) == np.inf


def test_a_motion_that_starts_where_it_turns_runs_to_the_other_end(disk):
    """Started there, or at the other end, it runs between the same two, with the same period."""
    system, momenta = disk
    lean = 0.3
    q, xi = [lean, 0, 0, 0, 0], [0.0, 0.9, 2.6]
    motion, energy = dh.reduced(momenta, momenta(q, xi)), float(dh.energy(system, q, xi))
    low, high = motion.oscillation(energy, lean)
    assert low == pytest.approx(lean, abs=1e-12)
    assert high > lean + 0.1
    assert motion.oscillation(float(motion.potential(high)), high) == pytest.approx((low, high), abs=1e-12)
    period = motion.period(energy, lean)
    assert period == pytest.approx(motion.period(energy, (low + high) / 2), rel=1e-9)
    assert dh.reference(system, q, xi, t=period).q[-1, 0] == pytest.approx(lean, abs=1e-8)


def test_amended_potential_of_the_disk_in_closed_form(disk):
    """U_c = p1^2/2A + p2^2/2(m R^2 + B) + m g R cos(theta), [QS] 6.5, with the errata's p1, p2, along a motion."""
    system, momenta = disk
    a, b, mr2 = system.inertia_diameter, system.inertia_axis, system.mass * system.radius**2
    run = dh.reference(system, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], t=np.linspace(0, 2, 9))
    motion = dh.reduced(momenta, momenta(run.q[0], run.xi[0]))
    for q, xi in zip(run.q, run.xi, strict=True):
        c, s = np.cos(q[0]), np.sin(q[0])
        p1, p2 = a * xi[1] * c, (mr2 + b) * (xi[1] * s + xi[2])
        closed = p1**2 / (2 * a) + p2**2 / (2 * (mr2 + b)) + 9.8 * c
        assert float(motion.potential(q[0])) == pytest.approx(closed, abs=1e-9)
        assert float(motion.inertia(q[0])) == pytest.approx(a + mr2, abs=1e-12)


def test_the_amended_potential_grows_towards_the_flat_disk(disk):
    """It never falls: U_c -> infinity at +-pi/2 for all momenta but a line, where it does not, [QS] 6.5; Kolesnikov."""
    system, momenta = disk
    wide = dh.hidden_momenta(system, [0.0, 0, 0, 0, 0], between=(-1.5, 1.5))
    assert len(wide) == len(momenta) == 2
    generic = dh.reduced(wide, [1.0, 0.4])
    assert float(generic.potential(1.5)) > 3 * float(generic.potential(1.3)) > 3 * float(generic.potential(0.9))
    at = wide.fields(1.5)
    # the momenta for which <p, eta> stays finite there: c along the direction that eta maps to the regular p
    regular = np.linalg.svd(np.asarray(at)[1:])[2][0]
    assert float(dh.reduced(wide, regular).potential(1.5)) < 0.1 * float(dh.reduced(wide, regular[::-1]).potential(1.5))


def test_shift_per_period_and_reconstruction(disk):
    """q(t + T) = h q(t), twice; q(t) from the reduced motion alone, against the whole one."""
    system, momenta = disk
    q, xi = [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0]
    motion = dh.reduced(momenta, momenta(q, xi))
    energy = float(dh.energy(system, q, xi))
    shift = motion.shift(energy, 0.3)
    low, _ = motion.oscillation(energy, 0.3)
    start = momenta.point(low)
    t = np.linspace(0, 2 * shift.period, 21)
    run = dh.reference(system, start, motion.velocity(low, 0.0), t=t)
    assert shift(start) == pytest.approx(run.q[10], abs=1e-8)
    assert shift(start, 2) == pytest.approx(run.q[20], abs=1e-7)
    assert np.abs(run.q[10] - run.q[0]).max() > 0.1
    r, rebuilt = motion.reconstruction(low, 0.0, t)
    assert r == pytest.approx(run.q[:, 0], abs=1e-8)
    assert np.abs(rebuilt - run.q).max() < 1e-8


def test_shift_of_the_routh_top_on_rotation_matrices():
    top = S.RouthTop()
    sample = top.sample()
    momenta = dh.hidden_momenta(top, sample["q"], between=(-0.95, 0.95))
    motion = dh.reduced(momenta, momenta(sample["q"], sample["xi"]))
    energy, c = float(dh.energy(top, sample["q"], sample["xi"])), sample["q"][8]
    low, high = motion.oscillation(energy, c)
    shift = motion.shift(energy, c)
    run = dh.reference(top, momenta.point(low), motion.velocity(low, 0.0), t=np.array([0, 0.5, 1]) * shift.period)
    assert run.q[:, 8] == pytest.approx([low, high, low], abs=1e-8)
    assert shift(run.q[0]) == pytest.approx(run.q[2], abs=1e-8)


def routh_potential(top, c, c1, c2):
    """[MD] 9.5."""
    m, j1, j3, a, r = top.mass, top.inertia_across, top.inertia_axis, top.offset, top.radius
    s2 = 1 - c**2
    root = np.sqrt(j1 * (j3 + m * r**2 * s2) + m * j3 * (a + r * c) ** 2)
    turning = (c1 * root - c2 * j3 * (a + r * c)) ** 2 / (2 * r**2 * j1**2 * j3 * s2)
    return (c2**2 - m * c1**2 / j3) / (2 * j1) + m * top.gravity * (r + a * c) + turning


def test_amended_potential_of_the_routh_top_in_closed_form():
    top = S.RouthTop()
    sample = top.sample()
    q, xi = jnp.array(sample["q"]), jnp.array(sample["xi"])
    momenta = dh.hidden_momenta(top, q, between=(-0.9, 0.9))
    motion = dh.reduced(momenta, momenta(q, xi))
    c1, c2 = float(top.jellett(q, xi)), float(top.routh(q, xi))
    for c in (-0.85, -0.2, 0.5, 0.89):
        assert float(motion.potential(c)) == pytest.approx(routh_potential(top, c, c1, c2), rel=1e-9)


def test_a_ball_in_a_cylinder_rises_and_falls_harmonically():
    """Period 2 pi sqrt((J + m r^2)/J) / |theta'|, [MD] 10.6."""
    ball = S.BallInCylinder()
    q, xi = [*np.eye(3).ravel(), 0.0, 0.0], [2.0, 30.0, -80.0]
    momenta = dh.hidden_momenta(ball, q, between=(-4.0, 2.0))
    motion = dh.reduced(momenta, momenta(q, xi))
    rate = abs(ball.radius * xi[2])
    expected = 2 * np.pi * np.sqrt((ball.inertia + ball.mass * ball.radius**2) / ball.inertia) / rate
    assert motion.period(float(dh.energy(ball, q, xi)), 0.0) == pytest.approx(expected, rel=1e-9)


def test_plot_of_the_amended_potential(disk):
    """The curve is U_c, and the turning points marked on it are where it meets the energy."""
    pytest.importorskip("matplotlib")
    system, momenta = disk
    q, xi = [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0]
    motion = dh.reduced(momenta, momenta(q, xi))
    energy = float(dh.energy(system, q, xi))
    (axes,) = motion.plot(energy).axes
    curve, level, ends = axes.lines
    assert curve.get_ydata()[::100] == pytest.approx([float(motion.potential(r)) for r in curve.get_xdata()[::100]])
    assert np.asarray(level.get_ydata()) == pytest.approx(energy)
    assert ends.get_xdata() == pytest.approx(motion.turning_points(energy))
    assert np.asarray(ends.get_ydata()) == pytest.approx(energy)
    low, high = axes.get_ylim()
    assert low < np.min(curve.get_ydata()) < energy < high
    assert len(motion.plot(ax=axes).axes) == 1


def test_sentences(disk):
    system, momenta = disk
    with pytest.raises(ValueError, match="values must be the 2 hidden momenta"):
        dh.reduced(momenta, [1.0])
    motion = dh.reduced(momenta, [1.0, 3.0])
    with pytest.raises(ValueError, match="exceeds the energy"):
        motion.oscillation(-1.0, 0.0)
    cart = dh.hidden_momenta(S.ThreeWheelCart(), [0.0, 0, 0, 0, 0, 0, 0.4], between=(0, 1), vertical=False)
    with pytest.raises(ValueError, match="as many hidden momenta along S"):
        dh.reduced(cart, [1.0, 1.0])


@pytest.mark.parametrize("lean", [1e-1, 1e-2, 1e-3, 1e-5, 1e-7])
def test_the_period_near_a_steady_motion_is_nearly_that_of_small_oscillations(disk, lean):
    """T = 2 pi / omega + O(amplitude^2): at a lean rate of 1e-3 it used to be 9.6e137."""
    system, momenta = disk
    steady = dh.relative_equilibrium(system, [0.3, 0, 0, 0, 0], [0.0, 0.6, 3.0], hold=["theta", "psi'"])
    q, xi = np.asarray(steady.q), np.asarray(steady.xi) + np.eye(5)[0] * lean
    motion, energy = dh.reduced(momenta, momenta(q, xi)), float(dh.energy(system, q, xi))
    rest = float(dh.energy(system, q, steady.xi))
    small = motion.period(rest, float(q[0]))
    period = motion.period(energy, float(q[0]))
    assert period == pytest.approx(small, rel=max(lean**2, 1e-8))
    run = dh.reference(system, q, xi, t=[0.0, 0.5 * period, period])
    assert run.q[2, 0] - q[0] == pytest.approx(0.0, abs=1e-9)
    assert run.xi[2, 0] == pytest.approx(lean, abs=1e-9)
    assert motion.shift(energy, float(q[0])).period == period


def pendulum(offset):
    return lambda r: (1.0 + 0 * r, offset - np.cos(r), np.cos(r))


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("amplitude", [1e-7, 1e-3, 0.1, 1.0, 2.5, 3.1])
def test_the_period_of_the_pendulum(amplitude, offset):
    """4 K(sin(a/2)), whatever is added to the energy."""
    found = period(pendulum(offset), offset - np.cos(amplitude), -amplitude, amplitude)
    assert found == pytest.approx(4 * ellipk(np.sin(amplitude / 2) ** 2), rel=1e-11)


def test_equal_angles_converge_exponentially():
    """Eight of them give 1e-11 and better at an amplitude of a radian."""
    at = np.cos(np.pi * (np.arange(8) + 0.5) / 8)
    kinetic = np.cos(at) - np.cos(1.0)
    eight = 2 * np.pi * np.mean(np.sqrt((1 - at**2) / (2 * kinetic)))
    assert eight == pytest.approx(4 * ellipk(np.sin(0.5) ** 2), rel=1e-11)
    assert period(pendulum(0.0), -np.cos(1.0), -1.0, 1.0) == pytest.approx(eight, rel=1e-11)


def test_a_separatrix_has_no_period_and_its_neighbourhood_is_refused():
    assert period(pendulum(0.0), 1.0, -np.pi, np.pi) == np.inf
    with pytest.raises(ValueError, match="close to a separatrix"):
        period(pendulum(0.0), -np.cos(3.1415), -3.1415, 3.1415)


def test_a_hill_narrower_than_the_grid_is_not_passed_over(disk):
    """Just below the top of the potential at rest upright, spinning slowly: it turns before it."""
    system, momenta = disk
    q = [0.0, 0, 0, 0, 0]
    slow = dh.reduced(momenta, momenta(q, [0.0, 0.0, 1.0]))
    top = float(slow.potential(0.0))
    for below in (1e-6, 1e-9):
        ends = slow.turning_points(top - below)
        assert np.sum(np.abs(ends) < 1e-2) == 2
