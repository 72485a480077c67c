"""Carts, boards and racers: equations, the cart's two integrals, driving from rest."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from contact import assert_second_order
from draws import few, numbers, sizes, vectors
from hypothesis import assume, given
from multipliers import assert_lagrange_dalembert, assert_same
from scipy.integrate import solve_ivp

import discrete_hamel as dh


def unit(angle):
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def across(angle):
    return jnp.stack([-jnp.sin(angle), jnp.cos(angle)])


def moving(place):
    """The velocity of place(q)."""
    return lambda q, v: jax.jvp(place, (q,), (v,))[1]


# The three-wheel cart: every wheel's hub moves along the wheel at r times its turning rate.


def cart_lagrangian(q, v, s):
    theta, u1, u2, phi, psi, chi, steering = v
    wheels = s.wheel_inertia * (phi**2 + psi**2 + chi**2) + s.steering_inertia * steering**2
    return 0.5 * (s.inertia * theta**2 + s.mass * (u1**2 + u2**2) + wheels) + 0.0 * q[0]


def cart_rolling(q, v, s):
    def hub(ahead, left):
        return moving(lambda q: q[1:3] + ahead * unit(q[0]) + left * across(q[0]))(q, v)

    a, b, d, r = s.centre, s.half_track, s.wheelbase, s.wheel_radius
    left, right, front = hub(-a, b), hub(-a, -b), hub(d - a, 0.0)
    return jnp.stack(
        [
            unit(q[0]) @ left - r * v[3],
            unit(q[0]) @ right - r * v[4],
            across(q[0]) @ left,
            unit(q[6]) @ front - r * v[5],
            across(q[6]) @ front,
        ]
    )


@few
@given(
    vectors(4, 0.2, 2.0), sizes(0.1, 0.5), sizes(0.5, 1.5), numbers(-0.5, 1.0), sizes(0.1, 0.5), vectors(7), vectors(2)
)
def test_cart_is_lagrange_dalembert(masses, radius, wheelbase, centre, half_track, q, xi):
    cart = dh.systems.ThreeWheelCart(*masses, radius, wheelbase, centre, half_track)
    assert_lagrange_dalembert(cart, q, xi, cart_lagrangian, cart_rolling)


CART = dh.systems.ThreeWheelCart()


def test_cart_has_two_integrals():
    """xi' to round-off; Omega^2 (f - J_D r^2 sin^2 alpha) by reference, and to O(h^2), no better, by the scheme."""
    sample = CART.sample()
    exact = dh.reference(CART, sample["q"], sample["xi"], t=20.0)
    rate = exact.v[:, 6]
    assert abs(rate[1] - rate[0]) < 1e-10
    name = "Omega^2 (f - J_D r^2 sin^2 alpha)"
    values = exact.invariants()[name]
    assert abs(values[1] - values[0]) < 1e-9
    misses = []
    for steps in (500, 1000):
        run = dh.simulate(CART, sample["q"], sample["xi"], h=20.0 / steps, steps=steps)
        assert np.max(np.abs(run.v[:, 6] - run.v[0, 6])) < 1e-12 * steps**0.5
        values = run.invariants()[name]
        misses.append(np.max(np.abs(values - values[0])))
    assert misses[0] > 1e-9
    assert abs(np.log2(misses[0] / misses[1]) - 2) < 0.1


def test_cart_steers_by_the_quadrature_of_the_thesis():
    """alpha' = xi' - r Omega(alpha) sin(alpha), Omega from the second integral."""
    sample = CART.sample()
    exact = dh.reference(CART, sample["q"], sample["xi"], t=5.0)
    level = CART.invariants()["Omega^2 (f - J_D r^2 sin^2 alpha)"](jnp.asarray(exact.q[0]), jnp.asarray(exact.xi[0]))

    def rate(_, alpha):
        inside = CART.metric(alpha) - 0.05 * (0.2 * np.sin(alpha)) ** 2
        return exact.v[0, 6] - 0.2 * np.sin(alpha) * np.sqrt(level / inside)

    alpha = solve_ivp(rate, (0, 5.0), [0.4], rtol=1e-11, atol=1e-11).y[0, -1]
    assert abs(alpha - (exact.q[-1][6] - exact.q[-1][0])) < 1e-8


def test_metric_of_the_cart_is_k_gamma_gamma():
    for alpha in (0.0, 0.4, 2.0):
        q = jnp.array([0.0, 0, 0, 0, 0, 0, alpha])
        twice = 2 * CART.lagrangian(q, jnp.zeros(7).at[0].set(1.0))
        np.testing.assert_allclose(twice, CART.metric(jnp.asarray(alpha)), atol=1e-14)


def test_cart_at_order_two():
    sample = CART.sample()
    end = dh.reference(CART, sample["q"], sample["xi"], t=4.0).q[-1]
    assert_second_order(CART, sample["q"], sample["xi"], 4.0, end, lambda run: run.q[-1], (100, 200, 400))


# The car.


def car_lagrangian(q, v, s):
    velocity = moving(lambda q: q[1:3] + s.centre * unit(q[0]))(q, v)
    turning = s.inertia * v[0] ** 2 + s.steering_inertia * (v[0] + v[3]) ** 2
    return 0.5 * (s.mass * velocity @ velocity + turning)


def car_rolling(q, v, s):
    front = moving(lambda q: q[1:3] + s.wheelbase * unit(q[0]))(q, v)
    return jnp.stack([across(q[0]) @ v[1:3], across(q[0] + q[3]) @ front])


@few
@given(vectors(3, 0.2, 2.0), sizes(0.5, 1.5), numbers(-0.5, 1.0), vectors(4), vectors(2))
def test_car_is_lagrange_dalembert(masses, wheelbase, centre, q, xi):
    car = dh.systems.Car(*masses, wheelbase, centre)
    assert_lagrange_dalembert(car, q, xi, car_lagrangian, car_rolling)


# Snakeboard.


def snakeboard_lagrangian(q, v, s):
    return _snakeboard_energy(s, v[:3], v[3], v[4]) + 0.0 * q[0]


def _snakeboard_energy(s, v, rotor, steering):
    wheels = s.wheel_inertia * ((v[0] + steering) ** 2 + (v[0] - steering) ** 2)
    turning = s.inertia * v[0] ** 2 + s.rotor_inertia * (v[0] + rotor) ** 2
    return 0.5 * (s.mass * v[1:3] @ v[1:3] + turning + wheels)


def _snakeboard_axles(q, v, s, steering):
    front = moving(lambda q: q[1:3] + s.half_length * unit(q[0]))(q, v)
    back = moving(lambda q: q[1:3] - s.half_length * unit(q[0]))(q, v)
    return jnp.stack([across(q[0] + steering) @ front, across(q[0] - steering) @ back])


def snakeboard_rolling(q, v, s):
    return _snakeboard_axles(q, v, s, q[4])


@few
@given(vectors(5, 0.2, 2.0), vectors(5), vectors(3))
def test_snakeboard_is_lagrange_dalembert(parameters, q, xi):
    assume(abs(np.cos(q[4])) > 0.05)  # at pi/2 the two axles' constraints are one
    board = dh.systems.Snakeboard(*parameters)
    assert_lagrange_dalembert(board, q, xi, snakeboard_lagrangian, snakeboard_rolling)


def wag(t):
    return 0.7 * jnp.sin(1.3 * t) + 0.2


def turn(t):
    return 0.9 * jnp.sin(t + 0.4)


def driven_snakeboard_lagrangian(q, v, s):
    """L(x, x', t) with psi(t), phi(t) put in; the clock's own row (t' = 1) is a constraint."""
    rotor, steering = jax.jvp(turn, (q[3],), (v[3],))[1], jax.jvp(wag, (q[3],), (v[3],))[1]
    return _snakeboard_energy(s, v, rotor, steering)


def driven_snakeboard_rolling(q, v, s):
    return jnp.concatenate([_snakeboard_axles(q, v, s, wag(q[3])), v[3:] - 1.0])


@few
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


# Roller racer.


def _racer_energy(s, v, steering):
    return 0.5 * (s.mass * v[1:3] @ v[1:3] + s.inertia * v[0] ** 2 + s.handle_inertia * (v[0] + steering) ** 2)


def racer_lagrangian(q, v, s):
    return _racer_energy(s, v, v[3]) + 0.0 * q[0]


def racer_rolling(q, v, s):
    front = moving(lambda q: q[1:3] + s.rear * unit(q[0]) + s.front * unit(q[0] + q[3]))(q, v)
    return jnp.stack([across(q[0]) @ v[1:3], across(q[0] + q[3]) @ front])


@few
@given(vectors(3, 0.2, 2.0), sizes(0.5, 1.0), sizes(0.1, 0.4), vectors(4), vectors(2))
def test_racer_is_lagrange_dalembert(masses, rear, front, q, xi):
    racer = dh.systems.RollerRacer(*masses, rear, front)
    assert_lagrange_dalembert(racer, q, xi, racer_lagrangian, racer_rolling)


def driven_racer_lagrangian(q, v, s):
    return _racer_energy(s, v, jax.jvp(wag, (q[3],), (v[3],))[1])


def driven_racer_rolling(q, v, s):
    def tip(q):
        return q[1:3] + s.rear * unit(q[0]) + s.front * unit(q[0] + wag(q[3]))

    front = moving(tip)(q, v)
    return jnp.stack([across(q[0]) @ v[1:3], across(q[0] + wag(q[3])) @ front, v[3] - 1.0])


@few
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


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (dh.systems.ThreeWheelCart(mass=-1.0), "mass of ThreeWheelCart"),
        (dh.systems.ThreeWheelCart(half_track=-0.1), "half_track of ThreeWheelCart"),
        (dh.systems.Car(wheelbase=0.0), "wheelbase of Car"),
        (dh.systems.Snakeboard(rotor_inertia=-0.1), "rotor_inertia of Snakeboard"),
        (dh.systems.DrivenSnakeboard(half_length=0.0), "half_length of DrivenSnakeboard"),
        (dh.systems.RollerRacer(handle_inertia=0.0), "handle_inertia of RollerRacer"),
        (dh.systems.DrivenRollerRacer(front=-0.2), "front of DrivenRollerRacer"),
    ],
)
def test_bad_parameters_get_a_sentence(system, words):
    with pytest.raises(ValueError, match=f"the parameter {words}"):
        dh.simulate(system, **type(system)().sample(), steps=1)
