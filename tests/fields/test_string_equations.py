"""The string's equations against [HE] (3.13)-(3.17), and its tension against Lagrange's multipliers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator

import discrete_hamel as dh
from discrete_hamel.fields import AlongAndAcross, Driven, Fixed, Free, String, TridiagonalTension, tension
from discrete_hamel.mechanics import frames

FAST = TridiagonalTension()
vector_field, reactions = jax.jit(dh.vector_field), jax.jit(dh.reactions)
FRONT_VELOCITY = 0.3 - 0.2j


def hand(t):
    return 0.1 * jnp.sin(3 * t), 0.05 * t


FRONTS = {"free": Free(), "fixed": Fixed(), "driven": Driven(hand)}


def angle(s):
    return 1.2 * s + 0.4 * np.sin(2 * s)


def curvature(s):
    return 1.2 + 0.8 * np.cos(2 * s)


def turning(s):
    return np.cos(2.5 * s) + 0.3


def bent(string):
    return string.laid(angle, turning, velocity=(FRONT_VELOCITY.real, FRONT_VELOCITY.imag))


def slope(errors, refinement=2.0):
    return np.diff(-np.log(errors)) / np.log(refinement)


@pytest.fixture(scope="module")
def continuum():
    """xi, lambda and the right side of (3.17) at t = 0, as functions of s: a boundary value problem by collocation."""
    n = 40
    t = np.cos(np.pi * np.arange(n + 1) / n)
    s = (1 - t) / 2
    weights = np.r_[2, np.ones(n - 1), 2] * (-1.0) ** np.arange(n + 1)
    d = np.outer(weights, 1 / weights) / (t[:, None] - t[None, :] + np.eye(n + 1))
    d = -2 * (d - np.diag(d.sum(axis=1)))
    kappa = curvature(s)
    operator, right = d @ d - np.diag(kappa**2), -(turning(s) ** 2)  # lambda_ss - kappa^2 lambda = -|z_st|^2
    operator[[0, -1]], right[[0, -1]] = np.eye(n + 1)[[0, -1]], 0.0  # (3.13)
    tensions = np.linalg.solve(operator, right)
    operator, right = d.astype(complex), 1j * turning(s) * np.exp(1j * angle(s))  # (z_t)_s
    operator[0], right[0] = np.eye(n + 1)[0], FRONT_VELOCITY
    xi = np.linalg.solve(operator, right) * np.exp(-1j * angle(s))
    rate = xi * np.conj(d @ xi) + d @ tensions + 1j * kappa * (tensions - np.abs(xi) ** 2)
    return [BarycentricInterpolator(s, f) for f in (xi, tensions, rate)]


def nodes(count):
    return np.linspace(0, 1, count)


@pytest.mark.parametrize("turned", [False, True])
def test_hamels_equation_of_the_string_is_recovered(turned, continuum):
    """(3.17), at fixed points within to second order; the balance of the last half cells is of first order."""
    errors, at_ends = [], []
    for count in (11, 21, 31):
        system = AlongAndAcross(String(points=count), turned)
        start = system.state_of(**bent(system.string))
        rate = np.asarray(vector_field(system, start["q"], start["xi"])[1])
        miss = np.abs(rate[0::2] + 1j * rate[1::2] - continuum[2](nodes(count)))
        errors.append(np.max(miss[:: (count - 1) // 10][2:-2]))
        at_ends.append(np.max(miss))
    assert slope(errors[1:], 1.5)[-1] == pytest.approx(2, abs=0.1)
    assert slope(at_ends[1:], 1.5)[-1] == pytest.approx(1, abs=0.1)


def test_both_substitutions_have_the_same_dynamics():
    """Remark 3.2: the brackets differ, the accelerations do not, and are those of the `String`."""
    string = String(points=9)
    start, accelerations, brackets = bent(string), [], []
    for turned in (False, True):
        system = AlongAndAcross(string, turned)
        state = system.state_of(**start)
        q, xi = jnp.asarray(state["q"]), jnp.asarray(state["xi"])
        accelerations.append(_acceleration(system, q, xi))
        brackets.append(np.asarray(system.structure(q)))
        automatic = frames.structure_functions(system.frame, q)
        np.testing.assert_allclose(brackets[-1], automatic, atol=1e-12 * np.max(np.abs(automatic)))
    np.testing.assert_allclose(*accelerations, atol=1e-12 * np.max(np.abs(accelerations)))
    assert np.max(np.abs(brackets[0] - brackets[1])) > 0.1
    links = _acceleration(string, jnp.asarray(start["q"]), jnp.asarray(start["xi"]))
    z = np.cumsum(np.concatenate([links[:1], links[1:] * string.spacing]))
    np.testing.assert_allclose(accelerations[0], z, atol=1e-11)


def _acceleration(system, q, xi):
    """q'' along the motion, as complex pairs."""
    v, rate = vector_field(system, q, xi)
    full = jnp.concatenate([xi, system.slip(q)]) if len(xi) == system.rank else xi
    _, second = jax.jvp(system.velocity, (q, full), (v, rate))
    return np.asarray(second[0::2] + 1j * second[1::2])


def test_the_discrete_bracket_becomes_that_of_the_continuum():
    """(3.15), to second order; the other is i (omega(xi) eta - omega(eta) xi), omega = Im(xi_s) + kappa Re(xi)."""
    errors = {False: [], True: []}
    for count in (11, 21, 41):
        s = nodes(count)
        string = String(points=count)
        q = AlongAndAcross(string).state_of(**bent(string))["q"]
        xi, eta = np.cos(2 * s) + 1j * s**2, np.sin(3 * s) - 1j * np.cos(s)
        xi_s, eta_s = -2 * np.sin(2 * s) + 2j * s, 3 * np.cos(3 * s) + 1j * np.sin(s)
        turn, other = (a.imag + curvature(s) * b.real for a, b in ((xi_s, xi), (eta_s, eta)))
        exact = {False: xi_s * eta - xi * eta_s, True: 1j * (turn * eta - other * xi)}
        for turned, limit in exact.items():
            pairs = [np.column_stack([f.real, f.imag]).ravel() for f in (xi, eta)]
            value = np.asarray(AlongAndAcross(string, turned).bracket(q, *map(jnp.asarray, pairs)))
            errors[turned].append(np.max(np.abs(value[0::2] + 1j * value[1::2] - limit)[:: (count - 1) // 10][2:-2]))
    assert slope(errors[False])[-1] == pytest.approx(2, abs=0.1)
    assert slope(errors[True])[-1] == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("back", [Free(), Fixed()], ids=["", "hung"])
def test_tension_is_the_multiplier(front, back):
    """The tridiagonal solve against dense Lagrange multipliers in the points' Cartesian coordinates."""
    if front == "free" and isinstance(back, Fixed):
        pytest.skip("a string held at one end has it in front")
    string = String(points=9, front=FRONTS[front], back=back, gravity=3.0, stiffness=0.02, mass=0.7)
    start = bent(string)
    q = jnp.asarray(start["q"])
    xi = jnp.concatenate([jnp.asarray(start["xi"]), string.slip(q)])
    found = np.asarray(tension(string, q, xi))
    z, v = np.asarray(string.places(q)), np.asarray(string.point_velocities(q, xi))
    m, ds = np.asarray(string.masses()), string.spacing

    def potential(z):
        links = np.diff(z) / ds
        return 3.0 * m @ z.imag + 0.01 / ds * np.sum(np.abs(np.diff(links)) ** 2)

    step = 1e-6
    unit = np.eye(9)
    pull = np.array(
        [-(potential(z + step * d * u) - potential(z - step * d * u)) / (2 * step) for u in unit for d in (1, 1j)]
    )
    lengths = np.zeros((8, 18))  # rows e_k . (z_{k+1} - z_k)
    for k, e in enumerate(np.diff(z) / ds):
        lengths[k, 2 * k : 2 * k + 4] = -e.real, -e.imag, e.real, e.imag
    held = [*([0, 1] if front != "free" else []), *([16, 17] if isinstance(back, Fixed) else [])]
    rows = np.concatenate([lengths, np.eye(18)[held]])
    across = np.abs(np.diff(v)) ** 2 / ds  # -e . (v_{k+1} - v_k)' is this
    given = np.zeros(len(held))
    if front == "driven":
        given[:2] = jax.jvp(string.hand, (jnp.asarray(0.0),), (jnp.asarray(1.0),))[1]
    inverse = np.diag(np.repeat(1 / m, 2))
    right = np.concatenate([-across, given]) - rows @ inverse @ pull
    reaction = np.linalg.solve(rows @ inverse @ rows.T, right)
    np.testing.assert_allclose(found, -reaction[:8], atol=1e-7 * np.max(np.abs(reaction)))
    stretching = np.asarray(reactions(string, q, xi))[len(held) : len(held) + 8]
    np.testing.assert_allclose(found, -stretching / ds, atol=1e-10 * np.max(np.abs(reaction)))


def test_tension_converges_to_that_of_the_continuum(continuum):
    errors = []
    for count in (11, 21, 41, 81):
        string = String(points=count)
        found = np.asarray(tension(string, **bent(string)))
        errors.append(np.max(np.abs(found - continuum[1](0.5 * (nodes(count)[1:] + nodes(count)[:-1])))))
    assert slope(errors)[-1] == pytest.approx(2, abs=0.1)
