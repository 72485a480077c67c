"""The other principle against closed forms, and against the action made least over curves of nodes, by SciPy alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, minimize

import discrete_hamel as dh


class Heisenberg(dh.System):
    """z' = x y' - y x', twice the area swept; kinetic energy of the group."""

    rank = 2

    def lagrangian(self, q, xi):
        return 0.5 * xi @ xi + 0 * q[0]

    def frame(self, q):
        return jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-q[1], q[0], 1.0]])


class WithoutBracket(Heisenberg):
    """lambda is left out of the bracket."""

    def coadjoint(self, q, xi, mu):
        return super().coadjoint(q, xi, mu.at[2:].set(0.0))


HEISENBERG = Heisenberg()


def test_the_flow_goes_round_circles_with_a_constant_multiplier():
    """z' = x y' - y x': x'' = 2 lambda y', y'' = -2 lambda x' of unit mass, up to the sign of turning."""
    curve = dh.vakonomic(HEISENBERG, [0.0, 0, 0], [0.8, 0.0], multipliers=[0.5], t=np.linspace(0, 2.0, 41))
    radius = 0.8 / (2 * 0.5)
    center = np.array([0.0, np.sign(curve.q[1, 1]) * radius])
    distances = np.linalg.norm(curve.q[:, :2] - center, axis=1)
    np.testing.assert_allclose(distances, radius, rtol=1e-10)
    assert np.ptp(curve.multipliers) < 1e-11
    assert np.ptp(curve.energy) < 1e-11
    straight = dh.vakonomic(HEISENBERG, [0.0, 0, 0], [0.8, 0.0], t=2.0)  # lambda = 0
    np.testing.assert_allclose(straight.q[-1], [1.6, 0.0, 0.0], atol=1e-12)


def test_between_two_points_the_least_energy_is_that_of_an_arc():
    """On an arc of angle a: chord 2 R sin(a/2), area z/2 = R^2 (a - sin a) / 2, action (R a)^2 / 2."""
    chord, lift = 0.3, 0.04
    angle = brentq(lambda a: (a - np.sin(a)) / (8 * np.sin(a / 2) ** 2) * chord**2 - lift / 2, 0.1, 6.0)
    length = chord / (2 * np.sin(angle / 2)) * angle
    curve = dh.vakonomic_between(HEISENBERG, [0.0, 0, 0], [chord, 0.0, lift], t=1.0)
    assert curve.action == pytest.approx(length**2 / 2, rel=1e-7)
    np.testing.assert_allclose(curve.q[-1], [chord, 0.0, lift], atol=1e-12)
    with pytest.raises(ValueError, match="as many coordinates as fields"):
        dh.vakonomic_between(dh.systems.SphericalPendulum(), [0.0, 0, -1], [1.0, 0, 0], t=1.0)


def test_holonomic_constraints_know_one_principle():
    """Whatever the multiplier at the start; and on the blade's Heisenberg neighbour they are two."""
    pendulum, times = dh.systems.SphericalPendulumCartesian(length=1.0), np.linspace(0, 3.0, 7)
    start = ([0.6, 0.0, -0.8], [0.3, 0.9])
    exact = dh.reference(pendulum, *start, t=times)
    for multiplier in (0.0, 0.7):
        curve = dh.vakonomic(pendulum, *start, multipliers=[multiplier], t=times)
        assert np.max(np.abs(curve.q - exact.q)) < 1e-10
    other = dh.vakonomic(HEISENBERG, [0.1, 0, 0], [1.0, 0.3], multipliers=[0.7], t=times)
    straight = np.outer(times, [1.0, 0.3]) + [0.1, 0.0]  # the nonholonomic motion
    assert np.max(np.abs(other.q[:, :2] - straight)) > 0.1


def test_the_vertical_disk_by_quadratures():
    """L + lambda (slips) has P and Q, conjugate to x and y, and C, conjugate to psi, constant; and energy.

    (B + m R^2) psi' = C - R (P cos phi + Q sin phi),  A phi'^2 + (B + m R^2) psi'^2 = 2 E
    """
    disk, end = dh.systems.VerticalDisk(), 1.5
    A, whole, R = disk.inertia_diameter, disk.inertia_axis + disk.mass * disk.radius**2, disk.radius
    turn, spin, pull = 3.0, 2.0, (1.6, -0.5)
    curve = dh.vakonomic(disk, [0.0] * 4, [turn, spin], multipliers=pull, t=end)
    P, Q = pull[0] - disk.mass * R * spin, pull[1]
    C, twice = whole * spin + R * P, A * turn**2 + whole * spin**2
    own = lambda phi: (C - R * (P * np.cos(phi) + Q * np.sin(phi))) / whole  # noqa: E731
    heading = lambda phi: np.sqrt((twice - whole * own(phi) ** 2) / A)  # noqa: E731
    rates = (lambda _: 1.0, own, lambda phi: -R * np.cos(phi) * own(phi), lambda phi: -R * np.sin(phi) * own(phi))
    phi, *others = curve.q[-1]
    found = [quad(lambda a, rate=rate: rate(a) / heading(a), 0.0, phi, epsabs=1e-12)[0] for rate in rates]
    assert np.array(found) == pytest.approx(np.array([end, *others]), abs=1e-10)
    assert abs(phi - turn * end) > 0.3  # where d'Alembert's disk is


def least_action(system, rows, q0, q1, end, intervals):
    """The nodes between q0 and q1 that make sum h L(middle, change / h) least, with rows(middle) change = 0."""
    h = end / intervals

    def parts(inner):
        q = jnp.concatenate([jnp.asarray(q0)[None], inner.reshape(-1, len(q0)), jnp.asarray(q1)[None]])
        return (q[:-1] + q[1:]) / 2, jnp.diff(q, axis=0)

    def action(inner):
        middle, change = parts(inner)
        density = lambda q, v: system.lagrangian(q, jnp.linalg.solve(system.frame(q), v))  # noqa: E731
        return h * jnp.sum(jax.vmap(density)(middle, change / h))

    def off(inner):
        middle, change = parts(inner)
        return jnp.einsum("ki,ki->k", jax.vmap(rows)(middle), change)

    chord = np.linspace(q0, q1, intervals + 1)[1:-1].ravel()
    level = {"xla_backend_optimization_level": 0}
    quick = lambda function: jax.jit(function, compiler_options=level)  # noqa: E731
    held = {"type": "eq", "fun": quick(off), "jac": quick(jax.jacfwd(off))}
    both = quick(jax.value_and_grad(action))
    found = minimize(both, chord, jac=True, constraints=[held], method="SLSQP", options={"ftol": 1e-14})
    assert np.max(np.abs(off(found.x))) < 1e-9
    return found.x.reshape(-1, len(q0))


def test_the_skate_on_a_slope_has_least_action_among_curves_of_nodes():
    """Only the Lagrangian is the library's; the curves come nearer as h^2, and d'Alembert's does not."""
    skate, ends, time = dh.systems.KnifeEdgeOnIncline(), ([0.0, 0.0, 0.0], [0.4, 1.0, 0.3]), 1.0
    blade = lambda q: jnp.stack([0.0 * q[0], jnp.sin(q[0]), -jnp.cos(q[0])])  # noqa: E731
    curve = dh.vakonomic_between(skate, *ends, t=time)
    off = []
    for intervals in (10, 20):
        nodes = least_action(skate, blade, *ends, time, intervals)
        off.append(np.max(np.abs(nodes - CubicSpline(curve.t, curve.q)(np.linspace(0, time, intervals + 1)[1:-1]))))
    assert np.log2(off[0] / off[1]) == pytest.approx(2, abs=0.15)
    assert off[1] < 2e-3
    rolling = dh.reference(skate, curve.q[0], curve.xi[0], t=time)
    assert np.max(np.abs(rolling.q[-1] - curve.q[-1])) > 10 * off[0]


def test_without_the_multipliers_bracket_it_is_another_flow():
    """The mutant goes straight where circles are right."""
    curve = dh.vakonomic(WithoutBracket(), [0.0, 0, 0], [0.8, 0.0], multipliers=[0.5], t=2.0)
    np.testing.assert_allclose(curve.q[-1, :2], [1.6, 0.0], atol=1e-9)


def test_what_no_action_has_is_refused():
    pushed = dh.forced(HEISENBERG, lambda q, xi: jnp.array([1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="forces are not part of an action"):
        dh.vakonomic(pushed, [0.0, 0, 0], [1.0, 0.0], t=1.0)
    with pytest.raises(ValueError, match="there are 1, one a constraint"):
        dh.vakonomic(HEISENBERG, [0.0, 0, 0], [1.0, 0.0], multipliers=[1.0, 2.0], t=1.0)


def test_a_force_that_is_zero_at_the_start_is_refused_too():
    spring = dh.forced(HEISENBERG, lambda q, xi: -4.0 * q)
    with pytest.raises(ValueError, match="forces are not part of an action"):
        dh.vakonomic(spring, [0.0, 0, 0], [1.0, 0.5], t=[0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="forces are not part of an action"):
        dh.vakonomic_between(spring, [0.0, 0, 0], [0.3, 0.0, 0.1], t=1.0)


def test_the_flow_goes_back_in_time_and_times_without_order_are_refused():
    """There and back, with the action of the way back that of the way there with the other sign."""
    times = np.linspace(0.0, 2.0, 41)
    there = dh.vakonomic(HEISENBERG, [0.1, 0.2, 0], [0.8, -0.3], multipliers=[0.5], t=times)
    back = dh.vakonomic(HEISENBERG, there.q[-1], there.xi[-1, :2], multipliers=there.multipliers[-1], t=-times)
    np.testing.assert_allclose(back.q[::-1], there.q, atol=1e-10)
    assert back.action == pytest.approx(-there.action, rel=1e-9)
    for t in ([0.0, 1.0, 0.5], [-1.0, 1.0], [2.0, 1.0], [], [np.nan]):
        with pytest.raises(ValueError, match="finite times in order"):
            dh.vakonomic(HEISENBERG, [0.0, 0, 0], [1.0, 0.0], t=t)
        with pytest.raises(ValueError, match="finite times in order"):
            dh.reference(HEISENBERG, [0.0, 0, 0], [1.0, 0.0], t=t)
