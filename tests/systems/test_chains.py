"""The n-fold pendulum against bobs with multipliers, its classical equations with a dense mass matrix, and SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multipliers import accelerations, assert_same, holonomic, motion
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.testing.strategies import numbers, sizes, vectors

RANDOM = np.random.default_rng(7)


def chain(n, gravity=9.8):
    return dh.systems.PlanarChain(
        links=n, masses=np.linspace(1.0, 2.0, n), lengths=np.linspace(0.6, 0.4, n), gravity=gravity
    )


def below(system):
    """m_ij = r_i r_j times the mass that hangs on both rods, and what gravity pulls on each."""
    masses, lengths = (np.broadcast_to(a, system.links) for a in (system.masses, system.lengths))
    hanging = np.cumsum(masses[::-1])[::-1]
    i = np.arange(system.links)
    return np.outer(lengths, lengths) * hanging[np.maximum.outer(i, i)], system.gravity * hanging * lengths


def classical(system, q, omega):
    """M_ij = m_ij cos(q_i - q_j), and dl/dq_i = - sum_j m_ij sin(q_i - q_j) w_i w_j - g_i sin q_i."""
    m, pull = below(system)
    apart = np.subtract.outer(q, q)
    return m * np.cos(apart), -(m * np.sin(apart)) @ omega * omega - pull * np.sin(q)


def acceleration(system, q, omega):
    """M w' = dl/dq - M' w."""
    m, _ = below(system)
    mass, gradient = classical(system, q, omega)
    apart = np.subtract.outer(q, q)
    rate = -m * np.sin(apart) * np.subtract.outer(omega, omega)
    return np.linalg.solve(mass, gradient - rate @ omega)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_momentum_and_motion_are_the_classical_ones(n):
    system = chain(n)
    q, omega = RANDOM.uniform(-3, 3, n), RANDOM.normal(size=n)
    mass, _ = classical(system, q, omega)
    assert dh.momentum(system, q, omega) == pytest.approx(mass @ omega, rel=1e-13, abs=1e-13)
    qdot, xidot = dh.vector_field(system, q, omega)
    expected = acceleration(system, q, omega)
    assert np.array_equal(qdot, omega)
    assert np.abs(xidot - expected).max() < 1e-12 * np.linalg.cond(mass) * np.abs(expected).max()


def hanging_bobs(x, v, s):
    """L of free bobs at x = (x1, y1, x2, ...): of rods and angles it knows nothing."""
    x, v = x.reshape(-1, 2), v.reshape(-1, 2)
    return jnp.sum(s.masses * (0.5 * jnp.sum(v**2, axis=1) - s.gravity * x[:, 1]))


@holonomic
def rods(x):
    """The squares of the distances from one bob to the next, the first from the pivot."""
    x = x.reshape(-1, 2)
    return jnp.sum(jnp.diff(x, axis=0, prepend=jnp.zeros((1, 2))) ** 2, axis=1)


@jax.jit
def of_the_bobs(system, q, xi):
    """(x, x', x'') of the bobs, from the library's (q, q', q'')."""

    def place(q):
        along = jnp.stack([system.lengths * jnp.sin(q), -system.lengths * jnp.cos(q)], axis=1)
        return jnp.cumsum(along, axis=0).reshape(-1)

    def velocity(q, v):
        return jax.jvp(place, (q,), (v,))[1]

    v, a = motion(system, q, xi)
    return place(q), velocity(q, v), jax.jvp(velocity, (q, v), (v, a))[1]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_it_is_bobs_on_rods_with_multipliers(n):
    """1e-10 of the accelerations: round-off times the condition of both linear systems, at most about n^2 times the
    ratios of the masses (15) and of the squares of the lengths (100)."""
    many = st.lists(sizes(), min_size=n, max_size=n).map(np.array)
    rods_long = st.lists(sizes(0.2, 2.0), min_size=n, max_size=n).map(np.array)

    @settings(deadline=None, max_examples=15)
    @given(many, rods_long, numbers(0.0, 10.0), vectors(n, -3.0, 3.0), vectors(n))
    def check(masses, lengths, gravity, q, omega):
        system = dh.systems.PlanarChain(n, masses, lengths, gravity)
        x, v, got = of_the_bobs(system, jnp.asarray(q), jnp.asarray(omega))
        assert_same(rods(x, v, system), np.zeros(n))
        wanted, _ = accelerations(hanging_bobs, rods, x, v, system)
        assert_same(got, wanted)

    check()


def test_the_run_converges_to_scipy_at_order_two():
    system, n = chain(6), 6
    q, omega = np.linspace(0.3, 1.2, n), np.linspace(0.5, -0.5, n)

    def field(_, y):
        return np.concatenate([y[n:], acceleration(system, y[:n], y[n:])])

    exact = solve_ivp(field, (0, 1.0), np.concatenate([q, omega]), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for steps in (500, 1000, 2000):
        run = dh.simulate(system, q, omega, h=1.0 / steps, steps=steps)
        assert run.report.path == "compiled"
        errors.append(np.abs(np.concatenate([run.q[-1], run.xi[-1]]) - exact).max())
    slopes = np.diff(np.log(errors)) / np.log(0.5)
    assert slopes == pytest.approx([2.0, 2.0], abs=0.1)
    assert errors[-1] < 1e-2


@pytest.fixture(scope="module")
def long_chain():
    system, n = chain(128), 128
    q = 0.5 * np.sin(np.arange(n) / 9.0)
    return system, dh.simulate(system, q, np.cos(np.arange(n) / 5.0), h=2e-3, steps=40)


def test_128_links_obey_the_scheme_written_out_densely(long_chain):
    """(D1) and (D2) at tau = 1/2 with the 128 x 128 mass matrix."""
    system, run = long_chain
    assert run.report.path == "compiled"
    h = float(run.h)
    for k in (0, 17, 39):
        q, xi = (run.q[k] + run.q[k + 1]) / 2, run.xi_mid[k]
        mass, gradient = classical(system, q, xi)
        mu = mass @ xi
        size = np.abs(mass) @ np.abs(xi) + h * np.abs(gradient)  # what is added up, hence what round-off is relative to
        assert np.abs(run.q[k + 1] - run.q[k] - h * xi).max() < 1e-15 * 4 * np.abs(run.q[k]).max()
        assert np.all(np.abs(run.p[k] - (mu - h / 2 * gradient)) < 1e-14 * size)
        assert np.all(np.abs(run.p[k + 1] - (mu + h / 2 * gradient)) < 1e-14 * size)
        nodal = classical(system, run.q[k + 1], xi)[0]
        assert np.all(np.abs(nodal @ run.xi[k + 1] - run.p[k + 1]) < 1e-14 * (np.abs(nodal) @ np.abs(run.xi[k + 1])))


def test_angular_momentum_is_exact_without_gravity_and_only_then():
    n, steps = 5, 10_000
    q, omega = np.linspace(0.0, 2.0, n), np.linspace(1.0, -0.5, n)
    for gravity, exact in ((0.0, True), (0.1, False)):
        run = dh.simulate(chain(n, gravity), q, omega, h=0.01, steps=steps)
        momentum = run.p.sum(axis=1)
        off = np.abs(momentum - momentum[0]).max()
        assert bool(off < 1e-12 * steps**0.5 * np.abs(momentum[0])) is exact


def test_energy_oscillates_at_order_h_squared():
    """Its error over the same time is a quarter at half the step: bounded by the step, not by round-off."""
    n = 4
    q, omega = np.full(n, 0.4), np.zeros(n)
    wander = []
    for h in (0.01, 0.005):
        run = dh.simulate(chain(n), q, omega, h=h, steps=round(20.0 / h))
        wander.append(np.abs(run.energy - run.energy[0]).max())
    assert wander[0] / wander[1] == pytest.approx(4.0, rel=0.1)
    assert wander[1] > 1e-10


def test_impossible_chains_are_refused():
    for bad, word in (
        ({"links": 0}, "links"),
        ({"masses": -1.0}, "masses"),
        ({"lengths": np.ones(2)}, "lengths"),
        ({"lengths": np.array([1.0, 0.0, 1.0])}, "lengths"),
    ):
        with pytest.raises(ValueError, match=word):
            dh.systems.PlanarChain(**bad).check()
    dh.systems.PlanarChain(links=2, masses=jnp.ones(2)).check()


def test_the_rods_end_where_the_bobs_are():
    system = chain(3)
    (line,) = system.shapes(np.array([0.0, np.pi / 2, np.pi]))
    r = np.asarray(system.lengths)
    assert line == pytest.approx(np.array([[0, 0], [0, -r[0]], [r[1], -r[0]], [r[1], r[2] - r[0]]]), abs=1e-15)
