"""from_nonlinear_constraints: the same motion as by hand, jit, gradients, new charts, and each bad input's sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from curved import CONE, POINTS, accelerations_by_multipliers, cone_row, parallel_row

import discrete_hamel as dh
from discrete_hamel.mechanics import gibbs_appell

V = np.asarray(POINTS.system.velocity(jnp.array(POINTS.q), jnp.array(POINTS.z)))
WRITTEN = dh.from_nonlinear_constraints(
    lambda q, v, s: s.lagrangian(q, v), lambda q, v, _: parallel_row(q, v), params=POINTS.system
)
FIELD = jax.jit(dh.vector_field)


def test_midpoint_is_the_same_map_whatever_z_is():
    """(N1), (N2) speak of velocities and their variations only: no coordinates z enter."""
    by_rows = dh.simulate(WRITTEN, POINTS.q, v=V, h=0.05, steps=20)
    by_hand = dh.simulate(POINTS.system, POINTS.q, POINTS.z, h=0.05, steps=20)
    assert np.max(np.abs(by_rows.q - by_hand.q)) < 1e-12
    assert np.max(np.abs(by_rows.v - by_hand.v)) < 1e-12
    assert np.max(np.abs(by_rows.energy - by_hand.energy)) < 1e-12
    assert max(abs(float(parallel_row(0, v)[0])) for v in by_rows.v) < 1e-14


def test_the_equations_by_multipliers():
    rng = np.random.default_rng(3)
    for _ in range(4):
        q, z = jnp.asarray(rng.normal(size=3)), jnp.asarray(rng.normal(size=2) + np.array([0.0, 2.0]))
        v = CONE.velocity(q, z)
        ready = CONE_BY_ROW.around(q, v)
        expected = accelerations_by_multipliers(CONE.lagrangian, cone_row, q, v)
        found = ACCELERATION(CONE_BY_ROW.at(q), q, v)
        assert np.max(np.abs(found - expected)) < 1e-10 * (1 + np.max(np.abs(expected)))
        found = ACCELERATION(ready, q, jnp.zeros(2))
        assert np.max(np.abs(found - expected)) < 1e-10 * (1 + np.max(np.abs(expected)))
        away = jnp.array([0.1, -0.05])  # from the base too
        expected = accelerations_by_multipliers(CONE.lagrangian, cone_row, q, ready.velocity(q, away))
        found = ACCELERATION(ready, q, away)
        assert np.max(np.abs(found - expected)) < 1e-10 * (1 + np.max(np.abs(expected)))


CONE_BY_ROW = dh.from_nonlinear_constraints(CONE.lagrangian, cone_row)
ACCELERATION = jax.jit(gibbs_appell.acceleration)


def test_reference_agrees():
    exact = dh.reference(POINTS.system, POINTS.q, POINTS.z, t=1.0)
    by_rows = dh.reference(WRITTEN, POINTS.q, v=V, t=1.0)
    assert np.max(np.abs(by_rows.q[-1] - exact.q[-1])) < 1e-10
    assert np.max(np.abs(by_rows.v[-1] - exact.v[-1])) < 1e-10


def test_psi_is_differentiable_twice_and_runs_under_jit():
    ready = WRITTEN.around(POINTS.q, V)
    q, z = jnp.array(POINTS.q), jnp.array([0.1, -0.2, 0.15])

    def psi(z):
        return ready.velocity(q, z)

    first, second = jax.jit(jax.jacfwd(psi))(z), jax.jit(jax.jacfwd(jax.jacrev(psi)))(z)
    e = 1e-5
    for i in range(3):
        step = jnp.zeros(3).at[i].set(e)
        assert np.max(np.abs((psi(z + step) - psi(z - step)) / (2 * e) - first[:, i])) < 1e-9
        slopes = (jax.jacfwd(psi)(z + step) - jax.jacfwd(psi)(z - step)) / (2 * e)
        assert np.max(np.abs(slopes - second[:, :, i])) < 1e-8
    assert np.max(np.abs(jax.jit(lambda z: parallel_row(q, psi(z)))(z))) < 1e-15


def two_masses(q, v, masses):
    link = q[2:] - q[:2]
    return 0.5 * (masses[0] * v[:2] @ v[:2] + masses[1] * v[2:] @ v[2:] - link @ link)


def test_gradients_through_a_run_in_a_chart():
    """Of the end, by z and by a mass, under jit: against central differences."""
    q = jnp.array(POINTS.q)
    ready = dh.from_nonlinear_constraints(
        two_masses, lambda q, v, _: [v[0] * v[3] - v[1] * v[2]], params=(1.0, 2.0)
    ).around(q, V)

    def final(z, mass):
        system = ready.replace(params=(mass, 2.0))
        return jnp.sum(dh.simulate(system, q, z, h=0.1, steps=2, scheme=dh.RungeKutta4()).q[-1] ** 2)

    run, e = jax.jit(jax.value_and_grad(final, (0, 1))), 1e-5
    z, mass = jnp.array([0.1, -0.2, 0.15]), jnp.asarray(1.3)
    _, (by_z, by_mass) = run(z, mass)
    assert abs((run(z, mass + e)[0] - run(z, mass - e)[0]) / (2 * e) - by_mass) < 1e-8
    for i in range(3):
        ends = [run(z.at[i].add(step), mass)[0] for step in (e, -e)]
        assert abs((ends[0] - ends[1]) / (2 * e) - by_z[i]) < 1e-8
    assert abs(float(by_mass)) > 1e-5


def test_velocities_that_turn_round_leave_any_chart_and_no_run_without_one():
    q, v = [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, -1.0]
    whole = dh.simulate(POINTS.system, q, v=v, h=0.1, steps=64)
    found = dh.simulate(WRITTEN, q, v=v, h=0.1, steps=64)
    assert found.report.path == "compiled"
    assert np.max(np.abs(found.q - whole.q)) < 1e-11
    assert max(abs(float(parallel_row(0, v)[0])) for v in found.v) < 1e-14
    assert np.ptp(whole.xi[:, 2]) > 2 * np.pi  # it has turned round
    with pytest.raises(dh.FrameDegenerates, match=r"coordinates z.*Go on from an earlier node"):
        dh.simulate(WRITTEN.around(q, v), q, v=v, h=0.1, steps=64)
    with pytest.raises(ValueError, match=r"EnergyExact needs .* system\.around"):
        dh.simulate(WRITTEN, q, v=v, h=0.1, steps=1, scheme=dh.EnergyExact())
    traced = jax.jit(lambda v: dh.simulate(WRITTEN, q, v=v, h=0.1, steps=64).q[-1])(jnp.array(v))
    assert np.max(np.abs(traced - found.q[-1])) < 1e-12


def test_without_a_chart_gauss_leaves_the_constraint_by_its_order():
    off = [
        max(
            abs(float(parallel_row(0, v)[0]))
            for v in dh.simulate(WRITTEN, POINTS.q, v=V, h=1 / k, steps=k, scheme=SCHEME).v
        )
        for k in (10, 20)
    ]
    assert 3.7 < np.log2(off[0] / off[1]) < 4.6


SCHEME = dh.RungeKutta4()


Q3, LAGRANGIAN = [0.0, 0.0, 0.0], lambda q, v: 0.5 * v @ v + 0 * q[0]


def ball(_, v):
    return [v @ v - 1.0]


@pytest.mark.parametrize(
    ("rows", "v", "words"),
    [
        (ball, [1.0, 0.5, 0.0], r"off the constraint: row 0 of C\(q, v\) is 0.25 and must be 0.*nearest admissible"),
        (lambda q, v: [v[0] + 0 * q[0], v @ v - 1], [0.0, 1.0, 0.5], r"row 1 of C\(q, v\) is 0.25"),
        (
            lambda q, v: [*ball(q, v), 3 * (v @ v) - 3],
            [1.0, 0, 0],
            r"rows of C\(q, v\) have dependent derivatives.*row [01]",
        ),
        (lambda q, v: [*ball(q, v), v @ v - 4], [1.0, 0, 0], "contradict each other.*row [01] stays at"),
        (lambda q, v: [(v @ v - 1) ** 2 + 0 * q[0]], [1.0, 0, 0], "derivative of row 0 .* vanishes"),
        (lambda q, v: [v[0] * v[1] + 0 * q[0]], [0.0, 0, 1.0], "derivative of row 0 .* vanishes.*transitional state"),
        (lambda q, v: v @ v - 1 + 0 * q[0], [1.0, 0, 0], r"must return one number a constraint.*got shape \(\)"),
        (lambda q, v: v + 0 * q, [0.0, 0, 0], r"1 to 2 of them for 3 velocities; got shape \(3,\)"),
        (lambda q, v: [jnp.sqrt(v[0] - 2) + 0 * q[0]], [1.0, 0, 0], r"C\(q, v\) is not finite in row 0"),
    ],
    ids=[
        "off",
        "off, row 1",
        "redundant",
        "inconsistent",
        "square",
        "transitional",
        "scalar",
        "too many",
        "not finite",
    ],
)
def test_bad_constraints_get_the_sentence_with_the_row(rows, v, words):
    with pytest.raises(ValueError, match=words):
        dh.simulate(dh.from_nonlinear_constraints(LAGRANGIAN, rows), Q3, v=v, h=0.1, steps=1)


def test_z_is_qdot_without_a_chart_and_a_chart_needs_a_velocity():
    with pytest.raises(ValueError, match=r"z \(given as xi\) has 3 components; it needs m = 4"):
        dh.simulate(WRITTEN, POINTS.q, [1.0, 0.0, 0.0], h=0.1, steps=1)
    with pytest.raises(ValueError, match="traced by jax"):
        jax.jit(lambda v: WRITTEN.around(jnp.array(POINTS.q), v).chart.base)(V)
    with pytest.raises(ValueError, match="v has 3 components, q has 4"):
        dh.simulate(WRITTEN, POINTS.q, v=V[:3], h=0.1, steps=1)
