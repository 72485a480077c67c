"""Relative periodic orbits, shifts and multipliers against closed forms and another derivation; patterns; returns."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from reduced_cases import disk, sleigh

import discrete_hamel as dh
from discrete_hamel.analysis.motion import events
from discrete_hamel.analysis.reduction.relative_periodic_orbits import _exponentials
from discrete_hamel.drawing.films import film_scene

TWO = (1.3, 2.1)  # rates of two springs


def springs():
    """Two springs on a cart that slides: closed in all."""

    def L(q, v):
        return 0.5 * v @ v - 0.5 * (TWO[0] ** 2 * q[0] ** 2 + TWO[1] ** 2 * q[1] ** 2)

    return dh.from_velocities(L, lambda q: jnp.eye(3), 3, coordinates=("a", "b", "x"))


def sliding():
    return dh.reduce(springs(), ["x"], q=[0.0, 0.0, 0.0])


def test_multipliers_and_shift_in_closed_form():
    reduced = sliding()
    orbit = dh.relative_periodic_orbit(reduced, [0.5, 0.0], [0.0, 0.0, 0.7], period=4.9)
    period = 2 * np.pi / TWO[0]
    assert abs(orbit.period - period) < 1e-9
    known = np.exp(1j * period * TWO[1] * np.array([1, -1]))
    for multiplier in (*known, 1.0, 1.0, 1.0):
        assert np.min(np.abs(orbit.multipliers - multiplier)) < 1e-6
    speed = orbit.v[2]
    assert abs(abs(speed) - 0.7) < 1e-12
    assert np.allclose(orbit.shift[:3, 3], [0, 0, speed * period], atol=1e-9)
    assert len(orbit.angles) == 0
    with pytest.raises(ValueError, match="no motion near"):
        dh.relative_periodic_orbit(reduced, [0.5, 0.3], [0.0, 0.4, 0.7], period=1.1)


def test_the_disk_against_the_motion_in_one_shape():
    """Period and shift of a leaning disk, which `dh.reduced` finds by quadrature and hidden constants."""
    body, start = dh.systems.RollingDisk(), ([0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0, 0, 0])
    constants = dh.hidden_momenta(body, [0.0, 0, 0, 0, 0], between=(-1.2, 1.2))
    lean = dh.reduced(constants, constants(*start))
    energy = dh.energy(body, *start)
    low, _ = lean.oscillation(energy, 0.3)
    known = lean.shift(energy, 0.3)
    q = np.asarray(constants.point(low))
    reduced = disk()
    r, xi, g = dh.shape_of(reduced, q, lean.velocity(low, 0.0))
    orbit = dh.relative_periodic_orbit(reduced, r, xi[:3], period=known.period * 1.001)
    assert abs(orbit.period - known.period) < 1e-7
    assert np.allclose(g @ orbit.shift @ np.linalg.inv(g), known.map, atol=1e-6)
    assert np.max(np.abs(orbit.multipliers - 1)) < 1e-2  # energy and two momenta: a double root at least, so no sharper


def test_the_pattern_of_the_sleigh(tmp_path):
    """[QS] 6.3: g(t + 2 tau) = h g(t), and in moving axes the track is closed, but no point."""
    reduced = sleigh()
    orbit = dh.relative_periodic_orbit(reduced, [0.0], [0.8, 0.3, 0.5], period=2.6)
    whole = dh.reference(reduced.system, orbit.q, v=orbit.v, t=orbit.period / 8 * np.arange(25))
    carried = (orbit.shift @ np.column_stack([whole.q, np.ones(25)]).T)[:-1].T
    assert np.max(np.abs(carried[:-8] - whole.q[8:])) < 1e-9
    assert 0.6 < np.ptp(whole.q[:, 0]) < 0.7  # the mass swings: this is no relative equilibrium
    seen = dh.evoke(orbit, whole)
    assert np.max(np.abs(seen.q[8:] - seen.q[:-8])) < 1e-9 < 1 < np.max(np.abs(whole.q[8:] - whole.q[:-8]))
    assert np.max(np.abs(seen.q[4:] - seen.q[:-4])) > 0.1  # nor does it close after half a period
    assert "period" in repr(orbit)
    tracks = [film_scene.scene(track, np.arange(25)) for track in (seen, whole)]
    assert [track.traces[0].over for track in tracks] == [True, False]  # the pattern is smaller than the sleigh
    assert np.array_equal(tracks[0].moving(24)[-1].points, tracks[0].traces[0].points)  # and drawn last
    assert seen.animate(tmp_path / "pattern.html", seconds=1.0, frames_a_second=4.0).stat().st_size > 1000


def test_exponentials_are_scipys():
    """Of motions of the plane, near and far from 1, and of what no power of is simple."""
    turn = np.array([[0.0, -1.0, 0.3], [1.0, 0.0, -2.0], [0.0, 0.0, 0.0]])
    shift = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    for drift in (turn, shift):
        x = np.array([0.0, 1e-9, 0.1, 3.0, 40.0])[:, None, None] * drift
        size = np.max(np.abs(known := scipy.linalg.expm(x)))
        assert np.max(np.abs(_exponentials(x) - known)) < 1e-13 * size


def test_returns():
    ball = dh.systems.SphericalPendulumAngles()
    turn = dh.return_map(ball, lambda q, xi: xi[0], h=0.1)
    points = dh.section(ball, [0.3, 0.0], [0.1, 0.4], lambda q, xi: xi[0], h=0.1, count=4)
    q, xi = points.q[0], points.xi[0]
    q, xi, t = turn(q, xi)
    assert abs(t - (points.t[1] - points.t[0])) < 1e-3  # not the same nodes
    assert np.allclose(q, points.q[1], atol=1e-3)
    angle = np.cumsum(np.full(400, 1.0) + 0.3 * np.cos(np.sqrt(2) * np.arange(400)))
    assert abs(dh.rotation_number(angle) - 1 / (2 * np.pi)) < 1e-9
    with pytest.raises(ValueError, match="three returns"):
        dh.rotation_number([0.0, 1.0])


def test_returns_in_closed_form():
    """The midpoint rule turns a spring by 2 arctan(rate h/2): the return of one, when the other passes through zero."""

    def turned(rate, h):
        return 2 * np.arctan(rate * h / 2)

    def phase(q, xi):
        return np.arctan2(rates[1] * q[..., 1], xi[..., 1])

    system, h, rates = springs(), 0.1, np.array(TWO)
    start = [0.0, 0.2, 0.0], [0.5, -0.3, 0.7]
    whole = int(2 * np.pi / turned(rates[0], h))
    rest = 2 / rates[0] * np.tan((2 * np.pi - whole * turned(rates[0], h)) / 2)  # of a step, which makes the turn full
    q, xi, t = dh.return_map(system, lambda q, xi: q[0], h=h)(*start)
    assert abs(t - (whole * h + rest)) < 1e-11
    assert np.allclose([q[0], xi[0]], [0, 0.5], atol=1e-11)
    known = phase(*map(np.array, start)) + whole * turned(rates[1], h) + turned(rates[1], rest)
    assert abs(np.exp(1j * phase(q, xi)) - np.exp(1j * known)) < 1e-11
    assert abs(q[2] - 0.7 * t) < 1e-11

    points = dh.section(system, *start, lambda q, xi: q[0], h=h, count=150)
    number = dh.rotation_number(
        np.unwrap(phase(points.q, points.xi) - 3 * np.pi * np.arange(150)) + 3 * np.pi * np.arange(150)
    )
    assert abs(number - turned(rates[1], h) / turned(rates[0], h)) < 1e-7
    assert abs(number - rates[1] / rates[0]) > 1e-3  # of the motion itself


def test_a_return_is_the_next_crossing_though_none_comes_after_it(monkeypatch):
    """A stone that falls past y = 0 once, forwards and backwards in time; it waited for a second crossing."""
    monkeypatch.setattr(events, "LONGEST", 5000)
    stone = dh.from_velocities(lambda q, v: 0.5 * v @ v - 9.81 * q[1], lambda q: jnp.eye(2), 2)
    past = dh.return_map(stone, lambda q, xi: q[1], h=0.05, sense=-1)
    q, xi, t = past([0.0, 1.0], [1.0, 2.0])
    np.testing.assert_allclose(t, (2 + np.sqrt(4 + 2 * 9.81)) / 9.81, rtol=1e-12)
    np.testing.assert_allclose([*q, *xi], [t, 0.0, 1.0, 2 - 9.81 * t], atol=1e-12)
    q, xi, t = dh.return_map(stone, lambda q, xi: q[1], h=-0.05, sense=-1)([0.0, 1.0], [1.0, -2.0])
    np.testing.assert_allclose(t, -(2 + np.sqrt(4 + 2 * 9.81)) / 9.81, rtol=1e-12)
