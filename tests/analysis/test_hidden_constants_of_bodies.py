"""Hidden constants of bodies of revolution and of balls on surfaces: those of Jellett and Routh, and [MD] 9-11."""

import jax.numpy as jnp
import numpy as np
import pytest
from constancy import EXACT, along, of_second_order_and_not_exact
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import discrete_hamel as dh

S = dh.systems


# --- bodies of revolution, on rotation matrices: the frame is not invariant under their spin ---


def attitude(theta, turn=0.0, spin=0.0):
    """q of a body whose axis makes the angle theta with the vertical."""
    return Rotation.from_euler("ZXZ", [turn, theta, spin]).as_matrix()


TOP = S.RouthTop(mass=1.3, inertia_across=0.7, inertia_axis=0.45, offset=0.2, radius=0.35, gravity=9.81)


@pytest.fixture(scope="module")
def top():
    return dh.hidden_momenta(TOP, [*attitude(0.9).ravel(), 0.0, 0.0], between=(-0.9, 0.9))


def random_states(number, seed, low=0.6, high=2.4):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        turned = attitude(rng.uniform(low, high), *rng.uniform(-np.pi, np.pi, 2))
        yield np.concatenate([turned.ravel(), 3 * rng.normal(size=2)]), rng.normal(size=3)


def test_the_routh_tops_constants_are_jelletts_and_rouths(top):
    states = list(random_states(12, 1))
    found = np.array([top(q, xi) for q, xi in states])
    expected = np.array(
        [[TOP.jellett(jnp.asarray(q), jnp.asarray(xi)), TOP.routh(jnp.asarray(q), jnp.asarray(xi))] for q, xi in states]
    )
    fit, *_ = np.linalg.lstsq(found, expected, rcond=None)
    assert np.abs(found @ fit - expected).max() < 1e-10
    assert np.linalg.cond(fit) < 100
    jellett_only, *_ = np.linalg.lstsq(expected[:, :1], found, rcond=None)
    assert np.abs(expected[:, :1] @ jellett_only - found).max() > 0.05  # one of them would not do


def test_constants_of_the_top_along_motions(top):
    """An end state by [MD]'s equations, and the constants on the way to it."""
    q, xi = [*attitude(0.9).ravel(), 0.0, 0.0], (0.156665381925, -0.548328836739, 2.664873022211)
    run = dh.reference(TOP, q, xi, t=np.linspace(0, 1.5, 31))
    assert run.xi[-1, :3] == pytest.approx([-2.371386486229, -0.241373883157, 2.854481942664], abs=1e-9)
    assert along(top, run) < EXACT
    of_second_order_and_not_exact(top, TOP, q, xi, 1.5)


def test_the_disk_on_rotations_agrees_with_md_9_12():
    """Redundant coordinates: the fields reproduce d/dp{(1-p^2) domega3/dp} = k omega3 of the Legendre equation."""
    disk = S.RollingDiskOnRotations()
    q = [*attitude(np.pi / 2).ravel(), 0.0, 0.0]
    momenta = dh.hidden_momenta(disk, q, between=(-0.8, 0.8))
    assert len(momenta) == 2
    run = dh.reference(disk, *disk_start(disk), t=np.linspace(0, 2, 21))
    assert along(momenta, run) < EXACT
    for c in (-0.7, 0.1, 0.6):
        assert float(momenta.wronskian(c)) == pytest.approx(np.sqrt(1 - c**2), abs=1e-9)  # cos of the lean


def disk_start(disk):
    sample = disk.sample()
    return sample["q"], sample["xi"]


# --- balls on surfaces ---


def test_the_ball_on_a_surface_has_the_constants_of_10_13():
    """<p, eta> kept means G Omega = linear in the solutions: compare with (10.13)-(10.14) integrated on their own."""
    ball = S.BallOnSurface(mass=1.1, inertia=0.31, radius=0.4, gravity=9.81)
    s0 = 0.6
    q = [*np.eye(3).ravel(), s0, 0.2]
    momenta = dh.hidden_momenta(ball, q, between=(0.0, 2.5))
    assert len(momenta) == 2
    j, mr2 = 0.31, 1.1 * 0.4**2
    u, v = 2.0, 0.9

    def rate(s, y):  # Omega1' = (-a phi' + z') Omega2, (a^2 Omega2)' = J a phi' Omega1 / (J + m r^2), phi' = -1/v
        a = u + v * np.sin(s / v)
        return [u / v * y[1] / a**2, -j / (j + mr2) * a / v * y[0]]

    start = np.array([3.0, (u + v * np.sin(s0 / v)) ** 2 * -1.3])
    c = np.asarray(momenta(q, [0.5, 3.0, -1.3]))
    for s in (0.05, 1.4, 2.4):
        y = solve_ivp(rate, (s0, s), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        omega = [0.5, y[0], y[1] / (u + v * np.sin(s / v)) ** 2]
        assert np.asarray(momenta([*attitude(0.4, 1.0).ravel(), s, -2.0], omega)) == pytest.approx(c, abs=1e-9)
    end = dh.reference(ball, q, [0.5, 3.0, -1.3], t=[0.0, 0.4, 0.8])
    assert end.q[-1, 9:] == pytest.approx([1.681719371565, 0.622416233903], abs=1e-9)
    assert along(momenta, end) < EXACT
    of_second_order_and_not_exact(momenta, ball, q, [0.5, 3.0, -1.3], 0.8)


def test_the_basketball_reproduces_the_fundamental_solutions_of_11_1():
    """f11, f21 at psi = pi/4 and pi/2 from the constants: Omega = (f11 C1 + f21 C2, f12 C1 + f22 C2)."""
    ball = S.BasketballOnHoop()
    v = ball.radius + ball.wire
    place = lambda psi: [*np.eye(3).ravel(), v * (psi - np.pi / 2), 0.0]  # noqa: E731
    momenta = dh.hidden_momenta(ball, place(0.0), between=(-np.pi / 2 * v - 0.1, 0.1))
    table = {
        0.25: (0.79653608, -0.016368509, 14.075717, 0.39255119),
        0.5: (0.51688177, -0.012826879, 16.74618, -0.022571831),
    }
    c = [np.asarray(momenta(place(0.0), [0.0, *start])) for start in np.eye(2)]
    for turns, (f11, f12, f21, f22) in table.items():
        there = place(turns * np.pi)
        assert np.asarray(momenta(there, [0.0, f11, f12])) == pytest.approx(
            c[0], rel=2e-7, abs=2e-6 * np.abs(c[0]).max()
        )
        assert np.asarray(momenta(there, [0.0, f21, f22])) == pytest.approx(
            c[1], rel=2e-7, abs=2e-6 * np.abs(c[1]).max()
        )


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from([TOP, S.RollingBody(), S.BallOnSurface()]))
def test_bodies_of_revolution_and_balls_are_flat_at_every_point(seed, system):
    """To round-off, at random attitudes and places."""
    rng = np.random.default_rng(seed)
    turned = attitude(rng.uniform(0.4, 2.7), *rng.uniform(-np.pi, np.pi, 2))
    found = dh.flatness(system, [*turned.ravel(), *rng.uniform(0.2, 2.0, 2)])
    assert found
    assert found.residual < 1e-13 * found.scale
