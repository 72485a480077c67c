"""Systems with constraints nonlinear in the velocities: forces, potentials, clocks and paths put on; equilibria."""

import gauss_principle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh

M = np.array([[0.0, 0.4, 0, -0.2], [-0.4, 0, 0.1, 0], [0, -0.1, 0, 0.3], [0.2, 0, -0.3, 0]])
Q, Z = [0.0, 0.1, 1.0, -0.2], [1.0, 0.7, 0.4]
POINTS = dh.systems.TwoPointsParallelVelocities()


def kinetic(q, v):
    return 0.5 * v @ v


def parallel(q, z, k=None):
    c, s = jnp.cos(z[2]), jnp.sin(z[2])
    return jnp.stack([z[0] * c, z[0] * s, z[1] * c, z[1] * s])


def hill(q, k):
    return k * (q[1] + 0.5 * q[2] ** 2)


def by_hand(q, v, k):
    return kinetic(q, v) - hill(q, k)


def every_force(q, v, k):
    return jnp.array([0.1, 0, q[0], 0]) - 0.3 * v + M @ v


def put_on():
    made = dh.forced(dh.nonlinear(kinetic, parallel, 3), lambda q, v: jnp.array([0.1, 0, q[0], 0]))
    made = dh.magnetic(dh.damped(made, lambda q, v: 0.15 * v @ v), lambda q: jnp.asarray(M))
    return dh.with_potential(made, hill, params=2.0)


def test_what_is_put_on_is_what_is_given():
    given = dh.nonlinear(by_hand, parallel, 3, force=every_force, params=2.0)
    runs = [dh.simulate(system, Q, Z, h=0.05, steps=40) for system in (put_on(), given)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12
    assert runs[0].report.path == "compiled"
    np.testing.assert_allclose(dh.work(runs[0]).forces, dh.work(runs[1]).forces, atol=1e-12)
    assert dh.work(runs[0]).forces[-1] < -0.1


def test_on_implicit_constraints_too():
    implicit = dh.from_nonlinear_constraints(kinetic, lambda q, v: [v[0] * v[3] - v[1] * v[2]])
    pushed = dh.with_potential(dh.forced(implicit, lambda q, v: every_force(q, v, 0)), hill, params=2.0)
    v = parallel(None, jnp.array(Z))
    run = dh.simulate(pushed, Q, v=v, h=0.05, steps=20)
    assert np.abs(run.q - dh.simulate(put_on(), Q, Z, h=0.05, steps=20).q).max() < 1e-11


def test_an_input_in_time():
    """u = (cos t, 0, -v_x, 0), put on and by hand with a clock."""
    controlled = dh.controlled(dh.nonlinear(kinetic, parallel, 3), lambda t, q, v: jnp.stack([jnp.cos(t), 0, -v[0], 0]))
    given = dh.nonlinear(
        lambda q, v: kinetic(q[:4], v[:4]),
        lambda q, z: jnp.append(parallel(q, z), 1.0),
        3,
        force=lambda q, v: jnp.stack([jnp.cos(q[4]), 0, -v[0], 0, 0]),
    )
    runs = [dh.simulate(system, [*Q, 0.3], Z, h=0.05, steps=20) for system in (controlled, given)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12
    assert runs[0].q[-1, 4] == pytest.approx(1.3, abs=1e-13)
    assert dh.timed(POINTS).coordinates[-1] == "t"


def falling(q, v):
    return 0.5 * v @ v - q[1]


def test_a_path_for_one_coordinate():
    """A point of speed 1 in space, its third coordinate moved at speed 1/2: in the plane it has speed sqrt(3)/2."""
    space = dh.from_nonlinear_constraints(falling, lambda q, v: [v @ v - 1.0], coordinates=("x", "y", "z"))
    driven = dh.prescribe(space, {"z": lambda t, rate: rate * t}, params=0.5)
    assert driven.coordinates == ("x", "y", "t")
    plane = dh.from_nonlinear_constraints(falling, lambda q, v: [v @ v - 0.75])
    v = np.sqrt(0.75) * np.array([0.6, 0.8])
    found = dh.simulate(driven, [0.0, 0, 0], v=[*v, 1.0], h=0.05, steps=20)
    assert np.abs(found.q[:, :2] - dh.simulate(plane, [0.0, 0.0], v=v, h=0.05, steps=20).q).max() < 1e-11


def test_a_path_where_velocities_are_given_by_z():
    """The first of two points with parallel velocities is driven along x: so it is with z and without."""
    by_z = dh.prescribe(dh.nonlinear(by_hand, parallel, 3, params=2.0), {0: lambda t: t + 0.1 * t**2})
    rows = dh.from_nonlinear_constraints(by_hand, lambda q, v, k: [v[0] * v[3] - v[1] * v[2] + 0 * k], params=2.0)
    v = np.asarray(parallel(None, jnp.array([1 / np.cos(0.4), 0.7, 0.4])))
    starts = {"q": [0.1, 1.0, -0.2, 0.0], "v": [*v[1:], 1.0], "h": 0.05, "steps": 20}
    runs = [dh.simulate(made, **starts) for made in (by_z, dh.prescribe(rows, {0: lambda t: t + 0.1 * t**2}))]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-11
    along = np.stack([1 + 0.2 * runs[0].t, runs[0].v[:, 0]]), runs[0].v[:, 1:3].T
    assert np.abs(along[0][0] * along[1][1] - along[0][1] * along[1][0]).max() < 1e-12  # parallel at nodes


def steady(q, z, k=None):
    return jnp.array([jnp.cos(z[0]), jnp.sin(z[0])])


def test_a_circle_at_constant_speed_is_a_relative_equilibrium_with_its_spectrum():
    """Speed 1 in the potential k r^2 / 2: circles of radius 1 / sqrt(k), about which r has the frequency sqrt(2 k)."""
    k = 4.0
    turn = {"rotation": lambda q, k: jnp.array([-q[1], q[0]])}
    point = dh.nonlinear(lambda q, v, k: 0.5 * v @ v - 0.5 * k * q @ q, steady, 1, params=k, symmetries=turn)
    found = dh.relative_equilibrium(point, [0.52, 0.0], [np.pi / 2])
    assert np.linalg.norm(found.q) == pytest.approx(0.5, abs=1e-9)
    assert found.group["rotation"] == pytest.approx(2.0, abs=1e-9)
    spectrum = dh.spectrum(point, found.q, found.xi)
    np.testing.assert_allclose(spectrum.rates, [1j * np.sqrt(2 * k), -1j * np.sqrt(2 * k)], atol=1e-8)
    scheme, h = dh.NonlinearMidpoint(), 0.05
    there = dh.relative_equilibrium(point, found.q, found.xi, scheme=scheme, h=h)
    assert 1e-6 < abs(np.linalg.norm(there.q) - 0.5) < 5 * h**2  # the group turns x and y: kept up to O(h^2)


def test_written_without_a_frame_a_sleigh_has_the_spectrum_of_the_sleigh():
    sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    psi = lambda q, z: sleigh.frame(q)[:, :2] @ z  # noqa: E731
    same = dh.nonlinear(
        lambda q, v: sleigh.lagrangian(q, jnp.linalg.solve(sleigh.frame(q), v)), psi, 2, symmetries=sleigh.symmetries()
    )
    q, xi = [0.3, 0.0, 0.0], [0.0, 1.2]
    np.testing.assert_allclose(dh.spectrum(same, q, xi).rates, dh.spectrum(sleigh, q, xi).rates, atol=1e-9)


MADE = put_on()  # one, so that it is compiled once
few = settings(deadline=None, max_examples=15)
three = st.lists(st.floats(-2, 2, allow_nan=False, allow_subnormal=False), min_size=3, max_size=3).map(np.array)
G, FIELD = jax.jit(dh.compulsion), jax.jit(dh.vector_field)


@given(three, three)
@few
def test_the_motion_has_least_compulsion(z, other):
    """[BE] Theorem 4: beside accelerations with other rates of z, by their excess in the metric."""
    z = z + np.array([2.5, 0, 0])
    system, q = MADE.system, np.array(Q)
    rates = FIELD(system, q, z)[1]
    v = parallel(q, jnp.array(z))
    along = jax.jacfwd(parallel, 1)(q, jnp.array(z))

    def at(rates):
        return G(system, q, v, jax.jvp(parallel, (jnp.array(q), jnp.array(z)), (v, jnp.array(rates)))[1])

    excess = float(0.5 * np.sum((along @ (other - rates)) ** 2))
    assert float(at(other) - at(rates)) == pytest.approx(excess, abs=1e-10 * (1 + float(at(other))))


def test_compulsion_of_a_sleigh_and_by_the_other_formula():
    sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    q, xi, rates = np.array([0.3, 1.0, 2.0]), np.array([1.5, -0.3, 0.0]), np.array([0.2, 0.9])
    v, a = sleigh.frame(q) @ xi, gauss_principle.gibbs_appell_acceleration(sleigh, q, jnp.array(xi), jnp.array(rates))
    assert float(dh.compulsion(sleigh, q, v, a)) == pytest.approx(
        float(gauss_principle.compulsion(sleigh, q, xi, rates)), abs=1e-13
    )
    with pytest.raises(ValueError, match="11 coordinates for 6 velocities"):
        dh.compulsion(dh.systems.RollingDiskOnRotations(), *np.zeros((3, 11)))


@pytest.mark.parametrize("name", ["points", "sleigh"])
def test_gibbs_and_appells_function_gives_the_motion(name):
    """[BE] 7: dS/d rates = the forces along the same directions; S itself is [BE]'s for two points."""
    if name == "points":
        system, q, xi = MADE, jnp.array(Q), jnp.array(Z)
        along = jax.jacfwd(parallel, 1)(q, xi)
        bare, rates = dh.nonlinear(kinetic, parallel, 3), jnp.array([0.3, -0.2, 0.7])
        printed = 0.5 * sum(r**2 + (u * rates[2]) ** 2 for r, u in zip(rates[:2], xi[:2], strict=True))
        assert float(dh.gibbs_appell(bare, q, xi, rates)) == pytest.approx(float(printed), abs=1e-13)
        active = every_force(q, parallel(q, xi), 0) - jax.grad(hill)(q, 2.0)
    else:
        bare = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
        system = dh.with_potential(bare, lambda q: 3.0 * q[1] + q[0])
        q, xi = jnp.array([0.3, 1.0, 2.0]), jnp.array([1.5, -0.3])
        along, active = bare.frame(q)[:, :2], -jnp.array([1.0, 3.0, 0.0])
    motion = dh.vector_field(system, q, xi)[1][: len(xi)]
    slope = jax.grad(lambda rates: dh.gibbs_appell(system, q, xi, rates))(motion)
    np.testing.assert_allclose(slope, along.T @ active, atol=1e-12)
