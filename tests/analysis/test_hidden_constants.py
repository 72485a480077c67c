"""Hidden constants against the closed forms of [MD] 9-12 and [QS] 6: found from l, frame and symmetries alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from constancy import EXACT, along, of_second_order_and_not_exact
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import hyp2f1

import discrete_hamel as dh

S = dh.systems


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
    """Values computed elsewhere, so that the closed form used below is the one meant."""
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
