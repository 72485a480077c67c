"""Carts, boards and racers: equations, the cart's two integrals. With prescribed steering: test_driven.py."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from carts import across, moving, racer_energy, snakeboard_axles, snakeboard_energy, unit
from contact import assert_second_order
from hypothesis import assume, given, settings
from multipliers import assert_lagrange_dalembert, assert_same
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.testing.strategies import numbers, sizes, vectors

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


@settings(max_examples=25)
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


@jax.jit
def _defect_of_the_cart(cart, q):
    """K(kappa, [kappa, gamma]) for kappa = f kappa_0 - g gamma by autodiff, and f (f g' - g f' / 2), [MD] 12.4."""

    def inner(q, x, y):
        return jax.hessian(lambda v: cart_lagrangian(q, v, cart))(jnp.zeros(7)) @ x @ y

    def gamma(q):
        return cart.frame(q)[:, 0]

    def steering(q):
        return jnp.eye(7)[6]

    def kappa(q):
        f, g = inner(q, gamma(q), gamma(q)), inner(q, steering(q), gamma(q))
        return f * steering(q) - g * gamma(q)

    bracket = jax.jvp(gamma, (q,), (kappa(q),))[1] - jax.jvp(kappa, (q,), (gamma(q),))[1]
    (f, df), r, alpha = jax.value_and_grad(cart.metric)(q[6] - q[0]), cart.wheel_radius, q[6] - q[0]
    g, dg = cart.steering_inertia * r * jnp.sin(alpha), cart.steering_inertia * r * jnp.cos(alpha)
    return inner(q, kappa(q), bracket), f * (f * dg - 0.5 * g * df)


@settings(max_examples=25)
@given(vectors(4, 0.2, 2.0), sizes(0.1, 0.5), numbers(-0.5, 1.0), vectors(7))
def test_the_cart_fails_to_be_flat_by_the_amount_of_the_thesis(masses, radius, centre, q):
    found, printed = _defect_of_the_cart(dh.systems.ThreeWheelCart(*masses, radius, 1.0, centre), jnp.asarray(q))
    assert_same(found, printed)
    at_rest = np.asarray(q) * np.array([0, 1, 1, 1, 1, 1, 0])  # alpha = 0, where f^2 g' is left
    assert abs(_defect_of_the_cart(dh.systems.ThreeWheelCart(*masses, radius), jnp.asarray(at_rest))[0]) > 1e-8


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


@settings(max_examples=25)
@given(vectors(3, 0.2, 2.0), sizes(0.5, 1.5), numbers(-0.5, 1.0), vectors(4), vectors(2))
def test_car_is_lagrange_dalembert(masses, wheelbase, centre, q, xi):
    car = dh.systems.Car(*masses, wheelbase, centre)
    assert_lagrange_dalembert(car, q, xi, car_lagrangian, car_rolling)


# Snakeboard.


def snakeboard_lagrangian(q, v, s):
    return snakeboard_energy(s, v[:3], v[3], v[4]) + 0.0 * q[0]


def snakeboard_rolling(q, v, s):
    return snakeboard_axles(q, v, s, q[4])


@settings(max_examples=25)
@given(vectors(5, 0.2, 2.0), vectors(5), vectors(3))
def test_snakeboard_is_lagrange_dalembert(parameters, q, xi):
    assume(abs(np.cos(q[4])) > 0.05)  # at pi/2 the two axles' constraints are one
    board = dh.systems.Snakeboard(*parameters)
    assert_lagrange_dalembert(board, q, xi, snakeboard_lagrangian, snakeboard_rolling)


# Roller racer.


def racer_lagrangian(q, v, s):
    return racer_energy(s, v, v[3]) + 0.0 * q[0]


def racer_rolling(q, v, s):
    front = moving(lambda q: q[1:3] + s.rear * unit(q[0]) + s.front * unit(q[0] + q[3]))(q, v)
    return jnp.stack([across(q[0]) @ v[1:3], across(q[0] + q[3]) @ front])


@settings(max_examples=25)
@given(vectors(3, 0.2, 2.0), sizes(0.5, 1.0), sizes(0.1, 0.4), vectors(4), vectors(2))
def test_racer_is_lagrange_dalembert(masses, rear, front, q, xi):
    racer = dh.systems.RollerRacer(*masses, rear, front)
    assert_lagrange_dalembert(racer, q, xi, racer_lagrangian, racer_rolling)


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
