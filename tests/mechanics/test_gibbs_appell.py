"""The generated equations against [BE]'s printed ones, against multipliers, and Gauss' principle."""

import gauss_principle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from curved import CONE, CYLINDER, DRAGGED, accelerations_by_multipliers, cone_row, cylinder_row, dragging, parallel_row
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

import discrete_hamel as dh
from discrete_hamel.mechanics import gibbs_appell, hamel

FIELD = jax.jit(dh.vector_field)
ACCELERATION = jax.jit(gibbs_appell.acceleration)
SLOPES = jax.jit(jax.grad(dh.energy, (1, 2)))
INERTIA = jax.jit(hamel.inertia)
REACTIONS = jax.jit(dh.reactions)
G = jax.jit(gauss_principle.compulsion)
few = settings(deadline=None, max_examples=40)
number = st.floats(-2, 2, allow_nan=False, allow_subnormal=False)
size = st.floats(0.2, 3)


def vectors(n):
    return st.lists(number, min_size=n, max_size=n).map(np.array)


states = st.tuples(vectors(4), vectors(3)).filter(lambda state: np.hypot(*state[1][:2]) > 0.1)


def points_52(q, z, m1, m2, a):
    """[BE] (52) as printed, for any active forces a = (A_1, A_2, A_3, A_4)."""
    v1, v2, theta = z
    c, s = np.cos(theta), np.sin(theta)
    turn = v1 * (a[1] * c - a[0] * s) + v2 * (a[3] * c - a[2] * s)
    rates = [(a[0] * c + a[1] * s) / m1, (a[2] * c + a[3] * s) / m2, turn / (m1 * v1**2 + m2 * v2**2)]
    return np.array([v1 * c, v1 * s, v2 * c, v2 * s]), np.array(rates)


def agrees(found, expected):
    scale = 1 + np.max(np.abs(np.concatenate([np.ravel(a) for a in expected])))
    for a, b in zip(found, expected, strict=True):
        assert np.max(np.abs(np.asarray(a) - b)) < 1e-10 * scale


@given(states, size, size, vectors(4))
@few
def test_52_with_any_forces(state, m1, m2, a):
    q, z = state
    made = dh.nonlinear(_kinetic, _parallel, 3, force=_constant_force, params=(m1, m2, jnp.asarray(a)))
    agrees(FIELD(made, q, z), points_52(q, z, m1, m2, a))


def _kinetic(q, v, params):
    return 0.5 * params[0] * v[:2] @ v[:2] + 0.5 * params[1] * v[2:] @ v[2:] + 0 * q[0]


def _parallel(q, z, _):
    return jnp.stack([z[0] * jnp.cos(z[2]), z[0] * jnp.sin(z[2]), z[1] * jnp.cos(z[2]), z[1] * jnp.sin(z[2])]) + 0 * q


def _constant_force(q, v, params):
    return params[2] + 0 * (q + v)


@given(states, size, size, size)
@few
def test_53_and_54_the_inclined_plane(state, m1, m2, g):
    q, z = state
    v1, v2, theta = z
    for second in (m2, m1):  # equal masses: (54)
        turn = -g * np.sin(theta) * (m1 * v1 + second * v2) / (m1 * v1**2 + second * v2**2)
        expected = points_52(q, z, m1, second, [0, 0, 0, 0])[0], [g * np.cos(theta), g * np.cos(theta), turn]
        agrees(FIELD(dh.systems.TwoPointsParallelVelocities.inclined_plane(m1, second, g), q, z), expected)


@given(states, size, size, size)
@few
def test_55_the_ideal_spring(state, m1, m2, k):
    q, z = state
    x1, y1, x2, y2 = q
    v1, v2, theta = z
    c, s = np.cos(theta), np.sin(theta)
    turn = k * v1 * ((y2 - y1) * c - (x2 - x1) * s) / (m1 * v1**2 + m2 * v2**2)
    turn += k * v2 * ((y1 - y2) * c - (x1 - x2) * s) / (m1 * v1**2 + m2 * v2**2)
    rates = [k * ((x2 - x1) * c + (y2 - y1) * s) / m1, k * ((x1 - x2) * c + (y1 - y2) * s) / m2, turn]
    expected = points_52(q, z, m1, m2, [0, 0, 0, 0])[0], rates
    agrees(FIELD(dh.systems.TwoPointsParallelVelocities.ideal_spring(m1, m2, k), q, z), expected)


@given(vectors(4).filter(lambda q: abs(q[3]) > 0.2), vectors(2), size, size, number)
@few
def test_49_corrected(q, free, m1, m2, g):
    """G_12 = -rho m2: (49) with m1 rho in the place of rho m2 (mu rho - 4), and G^12 = 1 / (rho m1)."""
    theta, rho = q[2:]
    system = dh.systems.TwoPointsOrthogonalVelocities(m1, m2, g)
    a_x, a_theta = (m1 + m2) * g, -m2 * g * rho * np.sin(theta)
    across = np.sin(theta) * a_x
    rates = [
        (rho * across + a_theta) / (rho * m1),
        (rho * m2 * across + (m1 + m2) * a_theta) / (rho**2 * m1 * m2),
        0.0,
        0.0,
    ]
    velocity = [free[0] * np.sin(theta), -free[0] * np.cos(theta), free[1], 0.0]
    agrees(FIELD(system, q, free), (velocity, rates))
    mass = np.asarray(INERTIA(system, q, free))
    assert np.allclose(mass, [[m1 + m2, -rho * m2], [-rho * m2, rho**2 * m2]], rtol=1e-12)
    assert np.isclose(np.linalg.det(mass), rho**2 * m1 * m2)


def test_49_as_printed_is_refuted():
    """As printed, G_12 = -2 rho m2, and for m1 = 3 m2 its denominator mu rho - 4 vanishes; the motion is regular."""
    system = dh.systems.TwoPointsOrthogonalVelocities(3.0, 1.0, 1.0)
    assert (3.0 + 1.0) / 1.0 == 4.0
    assert np.all(np.isfinite(FIELD(system, jnp.array([0.0, 0, 0.3, 1.0]), jnp.array([0.5, 1.0]))[1]))


@given(states, size, size, size, size)
@few
def test_8_1_is_coaxial_discs(state, m1, m2, g, rho):
    """The same accelerations in polar coordinates and in `CoaxialDiscs`' Cartesian ones, which has its own tests."""
    q, z = state
    theta = q[2]
    polar = dh.systems.TwoPointsOrthogonalVelocities(m1, m2, g)
    discs = dh.systems.CoaxialDiscs(m1, m2, jnp.pi / 2, g)
    first = np.array([q[0], q[1]])
    second = first + rho * np.array([np.cos(theta), np.sin(theta)])
    _, rates = FIELD(polar, jnp.array([q[0], q[1], theta, rho]), jnp.asarray(z[:2]))
    _, discs_rates = FIELD(discs, np.concatenate([first, second]), jnp.array([-z[0], -z[0] + rho * z[1]]))
    expected = np.array([-rates[0], -rates[0] + rho * rates[1]])
    assert np.max(np.abs(discs_rates[:2] - expected)) < 1e-10 * (1 + np.max(np.abs(expected)))


# --- multipliers: Chetaev's rule with none of our formulas ---


@given(states, size, size, number, size)
@few
def test_points_by_multipliers(state, m1, m2, g, k):
    q, z = state
    system = dh.systems.TwoPointsParallelVelocities(m1, m2, g, k)
    v = np.asarray(system.velocity(jnp.asarray(q), jnp.asarray(z)))
    mass = np.diag([m1, m1, m2, m2])
    pull = k * (q[2:] - q[:2])
    force = np.concatenate([pull, -pull]) + np.array([m1 * g, 0, m2 * g, 0])
    along = np.array([[v[3], -v[2], -v[1], v[0]]])
    matrix = np.block([[mass, -along.T], [along, np.zeros((1, 1))]])
    expected = np.linalg.solve(matrix, np.concatenate([force, [0.0]]))[:4]
    found = ACCELERATION(system, jnp.asarray(q), jnp.asarray(z))
    assert np.max(np.abs(found - expected)) < 1e-10 * (1 + np.max(np.abs(expected)))


@pytest.mark.parametrize(("system", "row"), [(CONE, cone_row), (CYLINDER, cylinder_row), (DRAGGED, cone_row)])
@given(q=vectors(3), z=vectors(2).filter(lambda z: abs(z[1]) > 0.1))
@few
def test_general_metric_and_constraint_by_multipliers(system, row, q, z):
    v = np.asarray(system.velocity(jnp.asarray(q), jnp.asarray(z)))
    force = dragging(q, v, 0.1) if system is DRAGGED else None
    expected = accelerations_by_multipliers(CONE.lagrangian, row, q, v, force)
    found = ACCELERATION(system, jnp.asarray(q), jnp.asarray(z))
    assert np.max(np.abs(found - expected)) < 1e-9 * (1 + np.max(np.abs(expected)))


# --- reactions, energy: [BE] Theorems 2 and 3 ---


def power_of_reactions(system, q, z):
    return float(REACTIONS(system, jnp.asarray(q), jnp.asarray(z)) @ system.velocity(jnp.asarray(q), jnp.asarray(z)))


def energy_rate(system, q, z):
    q, z = jnp.asarray(q), jnp.asarray(z)
    by_q, by_z = SLOPES(system, q, z)
    qdot, zdot = FIELD(system, q, z)
    return float(by_q @ qdot + by_z @ zdot)


@pytest.mark.parametrize("system", [CONE, CYLINDER], ids=["cone", "cylinder"])
def test_reactions_do_no_virtual_work(system):
    q, z = jnp.array([0.3, -0.4, 0.2]), jnp.array([0.7, 1.1])
    r = REACTIONS(system, jnp.asarray(q), jnp.asarray(z))
    assert np.max(np.abs(gibbs_appell.directions(system, q, z).T @ r)) < 1e-13
    assert np.max(np.abs(r)) > 0.1
    assert abs(energy_rate(system, q, z) - power_of_reactions(system, q, z)) < 1e-13


def test_theorem_3_holds_for_homogeneous_constraints_and_only_for_them():
    """[BE] says after (30) that no ideal constraint dissipates: true where psi is in the span of psi_z. A point held at
    speed 1 under gravity is ideal in [BE]'s sense and gains energy: its height changes, its speed does not."""
    assert abs(power_of_reactions(CONE, [0.3, -0.4, 0.2], [0.7, 1.1])) < 1e-13
    assert abs(power_of_reactions(CYLINDER, [0.3, -0.4, 0.2], [0.7, 1.1])) > 0.1
    steady = dh.nonlinear(
        lambda q, v: 0.5 * v @ v - q[1], lambda q, z: jnp.stack([jnp.cos(z[0]), jnp.sin(z[0])]) + 0 * q, 1
    )
    run = dh.reference(steady, [0.0, 0.0], [1.0], t=np.linspace(0, 2, 5))
    assert np.max(np.abs(run.energy - 0.5 - run.q[:, 1])) < 1e-11
    assert abs(run.energy[-1] - run.energy[0]) > 0.1


# --- Gauss' principle ---


@pytest.mark.parametrize("system", [CONE, CYLINDER, DRAGGED], ids=["cone", "cylinder", "dragged"])
@given(q=vectors(3), z=vectors(2).filter(lambda z: abs(z[1]) > 0.1), other=vectors(2))
@few
def test_the_acceleration_minimises_g(system, q, z, other):
    """Of all admissible accelerations, d z/dt random, the motion's has the smallest G; and by how much: (34)."""
    q, z = jnp.asarray(q), jnp.asarray(z)
    rates = FIELD(system, q, z)[1]
    least = float(G(system, q, z, rates))
    more = float(G(system, q, z, rates + other))
    expected = 0.5 * other @ np.asarray(INERTIA(system, q, z)) @ other
    assert abs(more - least - expected) < 1e-10 * (1 + least + expected)


@pytest.mark.parametrize(("system", "row"), [(CONE, cone_row), (CYLINDER, cylinder_row)], ids=["cone", "cylinder"])
def test_g_by_constrained_least_squares(system, row):
    """min |L_vv^(1/2) (a - a_free)| under C_v a = -C_q v, in R^n, by SciPy."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, z = jnp.asarray(rng.normal(size=3)), jnp.asarray(rng.normal(size=2) + np.array([0.0, 2.0]))
        v = system.velocity(q, z)
        free, mass = (np.asarray(a) for a in gauss_principle.free_acceleration(system, q, z))
        along, turning = np.asarray(jax.jacfwd(row, 1)(q, v)), np.asarray(jax.jacfwd(row, 0)(q, v) @ v)
        particular, null = np.linalg.lstsq(along, -turning)[0], np.linalg.svd(along)[2][1:].T
        root = np.linalg.cholesky(mass).T
        found = particular + null @ lsq_linear(root @ null, root @ (free - particular), tol=1e-14).x
        expected = np.asarray(ACCELERATION(system, q, z))
        assert np.max(np.abs(found - expected)) < 1e-9 * (1 + np.max(np.abs(expected)))
        least = 0.5 * (found - free) @ mass @ (found - free)
        assert abs(float(G(system, q, z, FIELD(system, q, z)[1])) - least) < 1e-9 * (1 + least)


def test_gauss_principle_of_an_ordinary_system():
    """The sleigh's acceleration too is the nearest to the free one; without its bracket term it is not."""
    sleigh, q, xi = dh.systems.ChaplyginSleigh(), jnp.array([0.3, 0.1, 0.2]), jnp.array([1.5, -0.3])
    rates = FIELD(sleigh, q, xi)[1][:2]
    least = G(sleigh, q, xi, rates)
    for change in ([1e-3, 0.0], [0.0, 1e-3], [-1e-3, 1e-3]):
        assert G(sleigh, q, xi, rates + jnp.array(change)) > least
    assert G(sleigh, q, xi, jnp.zeros(2)) > least + 1e-2


# --- what z is does not matter ---


def test_another_choice_of_z_gives_the_same_motion():
    """v1 = a + b, v2 = a - b, theta = c + a^3: psi is another, the points' accelerations are not."""

    def mixed(q, z):
        theta = z[2] + z[0] ** 3
        e = jnp.stack([jnp.cos(theta), jnp.sin(theta)])
        return jnp.concatenate([(z[0] + z[1]) * e, (z[0] - z[1]) * e]) + 0 * q

    system = dh.systems.TwoPointsParallelVelocities()
    other = dh.nonlinear(lambda q, v, s: s.lagrangian(q, v), lambda q, z, _: mixed(q, z), 3, params=system)
    q = jnp.array([0.1, -0.4, 0.8, 0.3])
    expected = ACCELERATION(system, q, jnp.array([0.2, 1.6, 0.3 + 0.9**3]))
    found = gibbs_appell.acceleration(other, q, jnp.array([0.9, -0.7, 0.3]))
    assert np.max(np.abs(found - expected)) < 1e-12


def test_m_equal_to_n_is_no_constraint():
    system = dh.nonlinear(lambda q, v: 0.5 * v @ v - 0.5 * q @ q, lambda q, z: jnp.sinh(z) + 0 * q, 2)
    q, z = jnp.array([1.0, -0.5]), jnp.array([0.3, 0.8])
    assert np.max(np.abs(gibbs_appell.acceleration(system, q, z) + q)) < 1e-14
    assert parallel_row(q, jnp.array([1.0, 2.0, 2.0, 4.0]))[0] == 0
