"""Hidden constants against the closed forms of [MD] 9-12 and [QS] 6: found from l, frame and symmetries alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import hyp2f1

import discrete_hamel as dh

S = dh.systems
EXACT = 1e-9  # what the issue asks of constants along dh.reference


def along(momenta, run):
    kept = momenta.along(run)
    return np.ptp(kept, axis=0).max() / (1 + np.abs(kept).max())


def legendre(k, p):
    """P_nu(p), nu (nu + 1) = -k: real, a hypergeometric function."""
    nu = -0.5 + np.sqrt(complex(0.25 - k))
    return float(hyp2f1(-nu, nu + 1, 1, (1 - p) / 2).real) if abs(nu.imag) < 1e-12 else conical(nu, p)


def slope(k, p, eps=1e-4):
    """P_nu'(p), by central differences of fourth order."""
    near, far = (legendre(k, p + e) - legendre(k, p - e) for e in (eps, 2 * eps))
    return (8 * near - far) / (12 * eps)


def conical(nu, p):
    """The same by its series: scipy's is for real parameters."""
    x, term, total = (1 - p) / 2, 1.0 + 0j, 1.0 + 0j
    for j in range(2000):
        term *= (-nu + j) * (nu + 1 + j) / (1 + j) ** 2 * x
        total += term
    return float(total.real)


# --- the rolling disk ---


@pytest.fixture(scope="module")
def disk():
    system = S.RollingDisk(mass=1.3, radius=0.6, inertia_diameter=0.117, inertia_axis=0.234, gravity=9.81)
    return system, dh.hidden_momenta(system, [0.0, 0, 0, 0, 0], between=(-1.2, 1.2))


def test_values_of_the_legendre_functions():
    """The digest's section 4.4, so that the closed form used below is the one meant."""
    for k, values in {
        4 / 3: (2.14069835342, 1.42067549697, 3.70740390204),
        1.0: (1.81210409561, 1.30833711997, 2.84931524831),
    }.items():
        assert [legendre(k, p) for p in (0.0, 0.5, -0.5)] == pytest.approx(values, abs=1e-10)


def test_the_disk_has_two_constants_and_they_are_the_legendre_functions(disk):
    """omega3 = alpha P_nu(p) + beta P_nu(-p), p = sin(theta): (alpha, beta) of a state are linear in the two found."""
    system, momenta = disk
    assert len(momenta) == 2
    mr2, j1, j3 = system.mass * system.radius**2, system.inertia_diameter, system.inertia_axis
    k = j3 * mr2 / (j1 * (j3 + mr2))
    rng = np.random.default_rng(0)
    found, expected = [], []
    for _ in range(8):
        theta, *rest = rng.uniform(-1.1, 1.1), *rng.normal(size=4)
        xi, p = rng.normal(size=3), np.sin(theta)
        spin, rate = xi[1] * p + xi[2], -mr2 / (j3 + mr2) * xi[1]  # omega3, and domega3/dp by [QS] 6.5's p2'
        values = [[legendre(k, p), legendre(k, -p)], [slope(k, p), -slope(k, -p)]]
        expected.append(np.linalg.solve(values, [spin, rate]))
        found.append(np.asarray(momenta([theta, *rest], xi)))
    fit, *_ = np.linalg.lstsq(np.array(found), np.array(expected), rcond=None)
    assert np.abs(np.array(found) @ fit - np.array(expected)).max() < 1e-8
    assert np.linalg.cond(fit) < 1e3
    one, *_ = np.linalg.lstsq(np.array(expected)[:, :1], np.array(found), rcond=None)
    assert np.abs(np.array(expected)[:, :1] @ one - np.array(found)).max() > 0.05  # one function would not do


def test_the_wronskian_of_the_disk_is_cos_theta(disk):
    """[QS] 6.5, W(theta) = W(0) cos(theta); of the fields and, without them, by (6.15)."""
    _, momenta = disk
    for theta in np.linspace(-1.19, 1.19, 9):
        assert float(momenta.wronskian(theta)) == pytest.approx(np.cos(theta), abs=1e-10)
        assert float(momenta.liouville(theta)) == pytest.approx(np.cos(theta), abs=1e-10)


def test_the_disks_fields_obey_6_18(disk):
    """(6.18) with its errata, eta2' = B/(m R^2 + B) eta1, in e1 = (d_phi - sin(theta) d_psi)/cos(theta), e2 = d_psi."""
    system, momenta = disk
    a, b = system.inertia_diameter, system.inertia_axis
    mr2 = system.mass * system.radius**2

    def in_e(theta):
        _, heading, own = momenta.fields(theta)
        return jnp.stack([jnp.cos(theta) * heading, own + jnp.sin(theta) * heading])

    def rate(matrix, theta):
        printed = np.array([[-np.tan(theta), mr2 / a], [matrix, 0.0]])
        eta, slope = jax.jvp(in_e, (jnp.asarray(theta),), (jnp.ones(()),))
        return np.abs(np.asarray(slope) - printed @ np.asarray(eta)).max()

    for theta in (-0.9, 0.2, 1.0):
        assert rate(b / (mr2 + b), theta) < 1e-9
        assert rate(0.0, theta) > 0.05  # and not without the term


def test_constants_of_the_disk_along_motions(disk):
    """Along the reference to 1e-9; along discrete motions, where nothing is claimed, of second order and not exact."""
    system, momenta = disk
    q, xi = [0.3, 0.1, 0.2, 0.0, 0.0], [0.1, 0.6, 6.0]
    assert along(momenta, dh.reference(system, q, xi, t=np.linspace(0, 3, 61))) < EXACT
    of_second_order_and_not_exact(momenta, system, q, xi, 1.5)


def test_constants_are_differentiable_and_refuse_what_they_do_not_cover(disk):
    system, momenta = disk
    q, xi = jnp.array([0.3, 0, 0, 0, 0]), jnp.array([0.1, 0.6, 3.0])
    rate = jax.jvp(momenta, (q, xi), (system.frame(q)[:, :3] @ xi, dh.vector_field(system, q, xi)[1][:3]))[1]
    assert np.abs(rate).max() < 1e-9
    with pytest.raises(ValueError, match="beyond the range"):
        momenta([1.4, 0, 0, 0, 0], xi)
    assert np.isnan(jax.jit(momenta)(q.at[0].set(1.4), xi)).all()


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
    """The end state of the digest's section 4, and the constants on the way to it."""
    q, xi = [*attitude(0.9).ravel(), 0.0, 0.0], (0.156665381925, -0.548328836739, 2.664873022211)
    run = dh.reference(TOP, q, xi, t=np.linspace(0, 1.5, 31))
    assert run.xi[-1, :3] == pytest.approx([-2.371386486229, -0.241373883157, 2.854481942664], abs=1e-9)
    assert along(top, run) < EXACT
    of_second_order_and_not_exact(top, TOP, q, xi, 1.5)


def of_second_order_and_not_exact(momenta, system, q, xi, time):
    """Along discrete motions, where nothing is claimed: errors fall as h^2, and are there."""
    errors = [along(momenta, dh.simulate(system, q, xi, h=time / n, steps=n)) for n in (75, 150, 300)]
    assert np.diff(np.log(errors)) / np.log(0.5) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] > 1e-8


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
    """To round-off, at random attitudes and places; the digest's check of M12."""
    rng = np.random.default_rng(seed)
    turned = attitude(rng.uniform(0.4, 2.7), *rng.uniform(-np.pi, np.pi, 2))
    found = dh.flatness(system, [*turned.ravel(), *rng.uniform(0.2, 2.0, 2)])
    assert found
    assert found.residual < 1e-13 * found.scale


# --- fields in D: the sleigh's frame (6.2), and the cart ---


def test_the_sleighs_group_variable_frame():
    """Both columns of (6.2)-(6.3), with k for the paper's a in l, as combinations of the fields found."""
    sleigh = S.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    translations = {name: x for name, x in sleigh.symmetries().items() if name.startswith("translation")}
    momenta = dh.hidden_momenta(sleigh, [0.0, 0, 0], symmetries=translations, between=(-3, 5), vertical=False)
    assert len(momenta) == 2
    k = np.sqrt(1.0 * 0.4**2 / 0.86)
    start = np.asarray(momenta.fields(0.0))
    for theta in (-2.5, 0.7, 2.9):
        c, s = np.cos(k * theta), np.sin(k * theta)
        printed = np.array([[c, -k / 0.4 * s], [0.4 / k * s, c]])
        assert np.asarray(momenta.fields(theta)) == pytest.approx(printed @ start, abs=1e-10)
    assert along(momenta, dh.reference(sleigh, [0.1, 0, 0], [1.5, -0.3], t=np.linspace(0, 4, 41))) < EXACT
    # In this frame the scheme does not keep them; in the frame of the fields themselves, (6.4), it does.
    of_second_order_and_not_exact(momenta, sleigh, [0.1, 0, 0], [1.5, -0.3], 4.0)
    turned = S.ChaplyginSleighMomentumFrame(mass=1.0, inertia=0.7, offset=0.4)
    start = dh.quasivelocities(turned, [0.1, 0, 0], dh.velocities(sleigh, [0.1, 0, 0], [1.5, -0.3]))
    run = dh.simulate(turned, [0.1, 0, 0], start, h=0.05, steps=80)
    values = [momenta(q, dh.quasivelocities(sleigh, q, v)) for q, v in zip(run.q[::20], run.v[::20], strict=True)]
    assert np.ptp(np.array(values), axis=0).max() < 1e-9
    with pytest.raises(ValueError, match="not flat"):  # along S alone the sleigh has none
        dh.hidden_momenta(sleigh, [0.0, 0, 0], symmetries=translations, between=(-1, 1))


CART_AT = [0.0, 0, 0, 0, 0, 0, 0.4]


def test_the_cart_is_not_flat_and_says_so():
    cart = S.ThreeWheelCart()
    assert not dh.flatness(cart, CART_AT)
    with pytest.raises(ValueError, match="ThreeWheelCart is not flat"):
        dh.hidden_momenta(cart, CART_AT, between=(-1, 1))


def test_the_carts_own_constants_lie_in_d_but_not_in_s():
    """J_D xi' and the root of Omega^2 (f - J_D r^2 sin^2 alpha), [MD] 12.4."""
    cart = S.ThreeWheelCart()
    momenta = dh.hidden_momenta(cart, CART_AT, between=(-1, 1), vertical=False)
    assert len(momenta) == 2
    rng = np.random.default_rng(2)
    states = [([*rng.normal(size=6), 0.0], rng.normal(size=2)) for _ in range(6)]
    for q, _ in states:
        q[6] = q[0] + rng.uniform(-0.9, 0.9)
    found = np.array([momenta(q, xi) for q, xi in states])
    expected = []
    for q, xi in states:
        full = jnp.array([*xi, 0, 0, 0, 0, 0])
        root = np.sign(xi[0]) * np.sqrt(float(cart.rolling_energy(jnp.array(q), full)))
        expected.append([float(cart.steering_momentum(jnp.array(q), full)), root])
    fit, *_ = np.linalg.lstsq(found, np.array(expected), rcond=None)
    assert np.abs(found @ fit - np.array(expected)).max() < 1e-9


# --- other systems, and sentences ---


@settings(max_examples=5)
@given(st.floats(0.3, 3.0), st.floats(-1.5, 1.5))
def test_the_particles_constant(mass, y):
    """(x' + y z') / sqrt(1 + y^2), [MD] 7.5, from a frame in which it is not plain."""
    particle = S.NonholonomicParticle(mass=mass)
    momenta = dh.hidden_momenta(particle, [0.0, 0.0, 0.0], between=(-2, 2))
    assert len(momenta) == 1
    v = particle.frame(jnp.array([0.0, y, 0.0])) @ jnp.array([0.7, -0.2, 0.0])
    assert abs(float(momenta([5.0, y, -1.0], [0.7, -0.2])[0])) == pytest.approx(
        np.sqrt(mass) * abs(float(v[0] + y * v[2])) / np.sqrt(1 + y**2), rel=1e-10
    )


def test_the_r2_invariant_example_of_4_3():
    """eta = exp(-b^2/2) (d_s1 + b d_s2) with b = sin r: constant components in the catalogue's frame, p2 itself."""
    system = S.TranslationInvariantParticle()
    momenta = dh.hidden_momenta(system, [0.5, 0, 0], between=(-2, 2))
    fields = np.array([np.asarray(momenta.fields(r))[1, 0] for r in (-1.5, 0.5, 1.9)])
    assert fields == pytest.approx(fields[1], abs=1e-10)


def test_sentences():
    with pytest.raises(ValueError, match="no symmetries"):
        dh.hidden_momenta(S.ReducedSuslov(), [], between=(-1, 1))
    with pytest.raises(ValueError, match="0 independent linear functions"):
        dh.flatness(S.Suslov(), S.Suslov().sample()["q"])
    with pytest.raises(ValueError, match="affine one"):
        dh.flatness(S.DegenerateSleigh(), [0.0, 0, 0, 0])
    with pytest.raises(ValueError, match="is no symmetry of RollingDisk: it changes the Lagrangian"):
        dh.flatness(S.RollingDisk(), [0.3, 0, 0, 0, 0], symmetries={"lean": lambda q: jnp.zeros(5).at[0].set(1.0)})
    with pytest.raises(ValueError, match="must contain the shape variable"):
        dh.hidden_momenta(S.RollingDisk(), [0.3, 0, 0, 0, 0], between=(0.5, 1.0))
    with pytest.raises(ValueError, match="between = .low, high."):
        dh.hidden_momenta(S.RollingDisk(), [0.3, 0, 0, 0, 0])
