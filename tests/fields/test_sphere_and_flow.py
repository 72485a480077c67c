"""Wave maps into the sphere, and the ideal fluid on the torus: what they keep, and what they approximate."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.fields import NeighbourHamel, SphereField, TorusFlow
from discrete_hamel.fields.torus_flow import matrices, sine_bracket, waves
from discrete_hamel.mechanics import frames

FAST = NeighbourHamel()


def slope(errors):
    return np.diff(-np.log2(errors))


def arc(field):
    """Bent and moving across itself."""
    s = np.linspace(0, 1, field.points)
    u = np.column_stack([np.cos(2 * s), np.sin(2 * s), 0 * s])
    v = np.column_stack([-np.sin(2 * s), np.cos(2 * s), np.cos(3 * s)]) * np.column_stack([0.3 * s, 0.3 * s, 1 + 0 * s])
    return field.moving(u, v)


@pytest.fixture(scope="module")
def run():
    field = SphereField(points=6)
    return dh.simulate(field, **arc(field), h=0.05, steps=1000, scheme=FAST)


def test_the_wave_map_keeps_everything_exactly(run):
    """On the sphere, without spin, total angular momentum and energy: exact, as each is quadratic."""
    for name, values in run.invariants().items():
        assert np.max(np.abs(values - values[0])) < 1e-12 * 1000**0.5, name
    assert run.invariants()["off the sphere"].max() < 1e-12
    assert np.ptp(run.q[:, 0]) > 0.5


def test_the_linear_step_is_the_discrete_hamel_map(run):
    field = run.system
    plain = dh.simulate(field, **arc(field), h=0.05, steps=40, compiled=False)
    np.testing.assert_allclose(run.q[:41], plain.q, atol=1e-12)
    np.testing.assert_allclose(run.xi[:41], plain.xi, atol=1e-11)


def test_wave_map_in_time_against_the_embedded_equation():
    """u'' + |u'|^2 u = (forces tangent to the sphere) / m, integrated by SciPy in R^3; second order in h."""
    field = SphereField(points=6)
    start = arc(field)
    u0 = start["q"].reshape(-1, 3)
    v0 = np.cross(start["xi"].reshape(-1, 3), u0)
    m, ds = np.asarray(field.masses())[:, None], 1 / 5

    def rhs(t, y):
        u, v = y.reshape(2, -1, 3)
        pull = np.zeros_like(u)
        pull[:-1] += np.diff(u, axis=0) / ds
        pull[1:] -= np.diff(u, axis=0) / ds
        tangent = pull - np.sum(pull * u, axis=1, keepdims=True) * u
        return np.concatenate([v.ravel(), (tangent / m - np.sum(v * v, axis=1, keepdims=True) * u).ravel()])

    exact = solve_ivp(rhs, (0, 0.5), np.concatenate([u0.ravel(), v0.ravel()]), "DOP853", rtol=1e-12, atol=1e-12).y[
        :18, -1
    ]
    errors = [
        np.max(np.abs(dh.simulate(field, **start, h=0.5 / k, steps=k, scheme=FAST).q[-1] - exact)) for k in (20, 40, 80)
    ]
    assert slope(errors)[-1] == pytest.approx(2, abs=0.1)


def test_waves_on_a_great_circle_are_dalemberts():
    """u = (cos f, sin f, 0): f_tt = f_ss with free ends, so f = a cos(pi s) cos(pi t); second order in ds and h."""
    errors = []
    for points in (6, 11, 21):
        field = SphereField(points=points)
        s = np.linspace(0, 1, points)
        f = 0.8 * np.cos(np.pi * s)
        start = field.moving(np.column_stack([np.cos(f), np.sin(f), 0 * f]), np.zeros((points, 3)))
        run = dh.simulate(field, **start, h=0.5 / (points - 1), steps=points - 1, scheme=FAST)
        u = run.q[-1].reshape(-1, 3)
        errors.append(np.max(np.abs(np.arctan2(u[:, 1], u[:, 0]) - f * np.cos(np.pi * 0.5) - 0.0)))
        assert np.max(np.abs(u[:, 2])) < 1e-12
    assert slope(errors)[-1] == pytest.approx(2, abs=0.1)


def test_the_bracket_of_spatial_rotations():
    """Of fields dependent as vectors, so given: it is what the fields' own brackets say, [u_i, u_j] = c^k_ij u_k."""
    field = SphereField(points=2)
    q = jnp.asarray(np.random.default_rng(1).normal(size=6))
    psi = field.frame(q)
    along = jnp.einsum("ajb,bi->aij", jax.jacfwd(field.frame)(q), psi)
    np.testing.assert_allclose(
        along - along.swapaxes(1, 2), jnp.einsum("ak,kij->aij", psi, field.structure(q)), atol=1e-12
    )
    xi, mu = np.random.default_rng(2).normal(size=(2, 6))
    direct = np.einsum("kij,i,k->j", np.asarray(field.structure(q)), xi, mu)
    np.testing.assert_allclose(field.coadjoint(q, jnp.asarray(xi), jnp.asarray(mu)), direct, atol=1e-12)


def test_velocities_off_the_sphere_are_refused():
    with pytest.raises(ValueError, match="tangent to the sphere"):
        SphereField(points=2).moving([[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 0]])


@pytest.fixture(scope="module")
def flow():
    system = TorusFlow(3)
    start = system.sample()
    return [dh.simulate(system, start["q"], start["xi"], h=h, steps=round(20 / h), compiled=False) for h in (0.1, 0.05)]


def test_energy_and_enstrophy_of_the_fluid_are_exact(flow):
    for name in ("energy", "enstrophy"):
        values = flow[0].invariants()[name]
        assert np.ptp(values) < 1e-12 * 200**0.5, name
        assert values[0] > 0.01
    assert np.max(np.ptp(flow[0].xi, axis=0)) > 0.01


def test_the_cubic_casimir_is_kept_to_second_order(flow):
    moves = [np.max(np.abs(run.invariants()["tr W^3"] - run.invariants()["tr W^3"][0])) for run in flow]
    assert moves[-1] > 1e-12
    assert slope(moves)[0] == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("size", [3, 5])
def test_zeitlins_bracket(size):
    """sin(2 pi (n x m) / N) between waves, closed in su(N), and Jacobi's identity."""
    e, c = matrices(size), sine_bracket(size)
    assert e.shape == (size**2 - 1, size, size)
    products = np.einsum("iab,jbc->ijac", e, e)
    np.testing.assert_allclose(products - products.swapaxes(0, 1), np.einsum("kij,kab->ijab", c, e), atol=1e-12)
    np.testing.assert_allclose(e, -e.conj().swapaxes(1, 2), atol=1e-13)
    jacobi = np.einsum("lij,mlk->mijk", c, c)
    cyclic = jacobi + jacobi.transpose(0, 2, 3, 1) + jacobi.transpose(0, 3, 1, 2)
    assert np.max(np.abs(cyclic)) < 1e-12
    order = [tuple(n) for n in waves(size).tolist()]
    i, j = 2 * order.index((0, 1)), 2 * order.index((1, 0))  # n x m = 1
    strength = size / (2 * np.pi) * np.sin(2 * np.pi / size)
    # {cos n.x, cos m.x} has two waves, n + m and n - m, of half the strength each.
    assert np.max(np.abs(c[:, i, j])) == pytest.approx(strength / 2, rel=1e-10)


def test_the_bracket_becomes_that_of_functions():
    """(N / 2 pi) sin(2 pi (n x m) / N) -> n x m, of second order in 1 / N."""
    miss = []
    for size in (5, 9, 17):
        order = {tuple(n): i for i, n in enumerate(waves(size).tolist())}
        i, j = 2 * order[(1, 0)], 2 * order[(1, 1)]
        miss.append(abs(np.max(np.abs(_bracket_of(size, i, j))) - 0.5))
    assert np.diff(-np.log(miss))[-1] / np.log(17 / 9) == pytest.approx(2, abs=0.1)


def _bracket_of(size, i, j):
    e = matrices(size)
    bracket = e[i] @ e[j] - e[j] @ e[i]
    return np.einsum("ab,kab->k", bracket, e.conj()).real / np.einsum("ab,ab->", e[0], e[0].conj()).real


def fourier(size, values):
    """Amplitudes of cos(n.x) and sin(n.x) as coefficients of exp(i n.x), by wave vector."""
    found = {}
    for n, (a, b) in zip(waves(size).tolist(), np.reshape(values, (-1, 2)), strict=True):
        found[tuple(n)], found[-n[0], -n[1]] = (a - 1j * b) / 2, (a + 1j * b) / 2
    return found


def test_it_is_eulers_equation():
    """w' = {psi, w} = psi_x w_y - psi_y w_x with w = -Lap psi, mode by mode, to second order in 1 / N."""
    misses = []
    for size in (5, 9, 13):
        system, xi = TorusFlow(size), np.zeros(size**2 - 1)
        for k, n in enumerate(waves(size).tolist()):
            if max(map(abs, n)) <= 1:
                xi[2 * k : 2 * k + 2] = np.cos(3.0 * n[0] + n[1]), np.sin(1.0 + n[0] - 2.0 * n[1])
        found = fourier(size, dh.hamel_force(system, [], xi))
        psi = fourier(size, xi)
        wanted = dict.fromkeys(found, 0.0)
        for n, a in psi.items():
            for m, b in psi.items():
                total = (n[0] + m[0], n[1] + m[1])
                if total in wanted:  # {e^in.x, e^im.x} = -(n x m) e^i(n+m).x, and w_m = |m|^2 psi_m
                    wanted[total] -= (n[0] * m[1] - n[1] * m[0]) * (m[0] ** 2 + m[1] ** 2) * a * b
        size_of = max(map(abs, wanted.values()))
        misses.append(max(abs(found[n] - wanted[n]) for n in wanted) / size_of)
    assert misses[-1] < 0.1
    assert np.polyfit(np.log([5, 9, 13]), np.log(misses), 1)[0] == pytest.approx(-2, abs=0.3)


def test_a_disturbance_is_carried_with_the_flow():
    """psi = cos y: u = psi_y = -sin y, so at y = -pi/2 vorticity moves to positive x. w = e cos(x) cos(y) there, in the
    frame of Euler's equations: w_t = -u w_x - (the disturbance's own flow) w_y, in Fourier modes by the test above."""
    system = TorusFlow(9)
    order = [tuple(n) for n in waves(9).tolist()]
    xi = np.zeros(80)
    xi[2 * order.index((0, 1))] = 1.0
    xi[2 * order.index((2, 0))] = 1e-3
    rate = fourier(9, dh.hamel_force(system, [], xi))
    # w' = -u w_x + ..: psi_x w_y - psi_y w_x = 1e-3 (4 - 1) sin(y) (-2 sin 2x), less the sines' finite N
    product = -2 * 3e-3 * (-1 / 4)  # of exp(i(2x + y)) in sin(2x) sin(y): -1/4
    assert rate[2, 1].real == pytest.approx(product * np.sin(4 * np.pi / 9) / (4 * np.pi / 9), rel=1e-9)


def test_refusals():
    with pytest.raises(ValueError, match="odd N"):
        TorusFlow(4).check()
    assert frames.condition(np.asarray(SphereField(points=2).frame(jnp.ones(6)))) > 1e8  # fields dependent as vectors
