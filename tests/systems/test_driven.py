"""Boards and racers whose steering is prescribed: their equations, what the drive gains them, and their energy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from carts import across, moving, racer_energy, snakeboard_axles, snakeboard_energy, unit
from contact import assert_second_order
from hypothesis import given, settings
from multipliers import accelerations, assert_lagrange_dalembert, assert_same
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.testing.strategies import sizes, vectors


def wag(t):
    return 0.7 * jnp.sin(1.3 * t) + 0.2


def turn(t):
    return 0.9 * jnp.sin(t + 0.4)


def driven_snakeboard_lagrangian(q, v, s):
    """L(x, x', t) with psi(t), phi(t) put in; the clock's own row (t' = 1) is a constraint."""
    rotor, steering = jax.jvp(turn, (q[3],), (v[3],))[1], jax.jvp(wag, (q[3],), (v[3],))[1]
    return snakeboard_energy(s, v, rotor, steering)


def driven_snakeboard_rolling(q, v, s):
    return jnp.concatenate([snakeboard_axles(q, v, s, wag(q[3])), v[3:] - 1.0])


@settings(max_examples=25)
@given(vectors(5, 0.2, 2.0), vectors(4), vectors(1))
def test_driven_snakeboard_is_lagrange_dalembert(parameters, q, xi):
    board = dh.systems.DrivenSnakeboard(*parameters, turn, wag)
    assert_lagrange_dalembert(board, q, xi, driven_snakeboard_lagrangian, driven_snakeboard_rolling)


def test_driven_snakeboard_gains_speed_in_closed_form():
    """m l^2 = J + J_r + 2 J_w: m v' = -(J_r / l) psi'' sin(phi); in phase it goes ahead, wheels straight it stays."""
    board = dh.systems.DrivenSnakeboard(1.0, 0.05, 0.1, 0.05, 0.5)
    exact = dh.reference(board, np.zeros(4), [0.0], t=6.0)
    t = np.linspace(0.0, 6.0, 20_001)
    wanted = np.trapezoid(0.1 / 0.5 * np.sin(t) * np.sin(np.sin(t)), t)  # psi = phi = sin t
    assert abs(exact.xi[-1][0] - wanted) < 1e-8
    assert wanted > 0.3
    straight = dh.systems.DrivenSnakeboard(1.0, 0.05, 0.1, 0.05, 0.5, steering=jnp.zeros_like)
    assert np.max(np.abs(dh.simulate(straight, np.zeros(4), [0.0], h=0.02, steps=300).q[:, :3])) < 1e-14
    assert_second_order(board, np.zeros(4), [0.0], 6.0, exact.q[-1], lambda run: run.q[-1], (100, 200, 400))


def driven_racer_lagrangian(q, v, s):
    return racer_energy(s, v, jax.jvp(wag, (q[3],), (v[3],))[1])


def driven_racer_rolling(q, v, s):
    def tip(q):
        return q[1:3] + s.rear * unit(q[0]) + s.front * unit(q[0] + wag(q[3]))

    front = moving(tip)(q, v)
    return jnp.stack([across(q[0]) @ v[1:3], across(q[0] + wag(q[3])) @ front, v[3] - 1.0])


@settings(max_examples=25)
@given(vectors(3, 0.2, 2.0), sizes(0.5, 1.0), sizes(0.1, 0.4), vectors(4), vectors(1))
def test_driven_racer_is_lagrange_dalembert(masses, rear, front, q, xi):
    racer = dh.systems.DrivenRollerRacer(*masses, rear, front, wag)
    assert_lagrange_dalembert(racer, q, xi, driven_racer_lagrangian, driven_racer_rolling)


def test_wagging_drives_the_racer_and_holding_does_not():
    h = 2 * np.pi / 300
    wagged = dh.simulate(dh.systems.DrivenRollerRacer(), np.zeros(4), [0.0], h=h, steps=900)
    gained = np.abs(wagged.xi[::300, 0])  # v after each whole period, from rest
    assert np.all(np.diff(gained) > 0), gained
    assert gained[-1] > 1e-3
    held = dh.systems.DrivenRollerRacer(steering=lambda t: 0.3 + 0.0 * t)
    assert np.max(np.abs(dh.simulate(held, np.zeros(4), [0.0], h=0.02, steps=100).q[:, :3])) < 1e-14


def test_a_handle_held_in_place_makes_the_free_racer_a_circle():
    """phi' = 0 at phi held by the drive: a circle of radius (d1 cos phi + d2) / sin phi about a fixed point."""
    held = dh.systems.DrivenRollerRacer(steering=lambda t: 0.3 + 0.0 * t)
    run = dh.reference(held, np.zeros(4), [1.0], t=np.linspace(0.0, 5.0, 11))
    radius = (0.6 * np.cos(0.3) + 0.2) / np.sin(0.3)
    centre = run.q[:, 1:3] + radius * np.stack([-np.sin(run.q[:, 0]), np.cos(run.q[:, 0])], axis=1)
    assert_same(centre, np.tile([0.0, radius], (11, 1)))


# Energy: a drive works, so that the motion does not keep it; what it becomes is known without the library.

H = 0.02
SCHEMES = [dh.DiscreteHamel(), dh.EnergyExact()]


FINEST = np.linspace(0.0, 6.0, 1201)


@functools.cache
def snakeboards_energy():
    """From v = (J_r / (m l)) times the integral of sin(t) sin(sin t), for psi = phi = sin t from rest."""
    fine = np.linspace(0.0, FINEST[-1], 60_001)
    push = 0.1 / 0.5 * np.sin(fine) * np.sin(np.sin(fine))
    v = np.concatenate([[0.0], np.cumsum((push[1:] + push[:-1]) / 2) * (fine[1] - fine[0])])
    v, angle, rate = v[::50], np.sin(FINEST), np.cos(FINEST)
    theta, forward = v * np.sin(angle) / 0.5, v * np.cos(angle)
    turning = 0.05 * theta**2 + 0.1 * (theta + rate) ** 2 + 0.05 * ((theta + rate) ** 2 + (theta - rate) ** 2)
    return 0.5 * (forward**2 + turning)


@functools.cache
def racers_energy():
    """By SciPy, from Lagrange-d'Alembert with multipliers."""
    racer = dh.systems.DrivenRollerRacer(steering=wag)
    rolling = jax.jit(lambda q, v: accelerations(driven_racer_lagrangian, driven_racer_rolling, q, v, racer)[0])
    energy = jax.jit(jax.vmap(lambda q, v: racer_energy(racer, v, jax.jvp(wag, (q[3],), (1.0,))[1])))

    def rate(_, y):
        return np.concatenate([y[4:], rolling(y[:4], y[4:])])

    start = dh.velocities(racer, np.zeros(4), [0.5])
    y = solve_ivp(rate, (0.0, FINEST[-1]), [*np.zeros(4), *start], "DOP853", FINEST, rtol=1e-11, atol=1e-12).y.T
    return np.asarray(energy(y[:, :4], y[:, 4:]))


DRIVES = {
    "snakeboard": (dh.systems.DrivenSnakeboard(), 0.0, snakeboards_energy),
    "racer": (dh.systems.DrivenRollerRacer(steering=wag), 0.5, racers_energy),
}


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("name", DRIVES)
def test_the_energy_changes_as_the_reference_says(name, scheme):
    """To second order in h, for six seconds in which it changes by far more."""
    system, v, energy = DRIVES[name]
    misses = []
    for steps in (150, 300, 600, 1200):
        run = dh.simulate(system, np.zeros(4), [v], h=6.0 / steps, steps=steps, scheme=scheme)
        wanted = energy()[:: 1200 // steps]
        misses.append(np.max(np.abs(run.energy - wanted)))
    assert np.ptp(wanted) > 0.02
    assert misses[-1] < 1e-3 * np.ptp(wanted)
    assert np.all(np.abs(np.log2(np.array(misses[:-1]) / misses[1:]) - 2) < 0.1), misses


@pytest.mark.parametrize(
    "system",
    [
        dh.systems.DrivenSnakeboard(rotor=jnp.zeros_like, steering=lambda t: 0.3 + 0.0 * t),
        dh.systems.DrivenRollerRacer(steering=lambda t: 0.3 + 0.0 * t),
    ],
    ids=["snakeboard", "racer"],
)
def test_with_the_drive_held_the_energy_is_exact(system):
    steps = 1000
    run = dh.simulate(system, np.zeros(4), [0.7], h=H, steps=steps, scheme=dh.EnergyExact())
    assert np.max(np.abs(run.q[:, :3])) > 1.0  # it goes round
    assert np.max(np.abs(run.energy - run.energy[0])) < 1e-12 * steps**0.5
