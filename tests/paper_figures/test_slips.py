"""The papers' slips: of each the right form and the printed one, against something that knows neither.

`paper_figures.slips` lists them for the page with the test that shows each; here every listed test is looked up, and
those that no other file has are made. A slip's test passes with the right form and would fail with the printed one:
`shows` asks both of the two residuals.
"""

import ast
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.systems._blocks import lie_algebras

pytest.importorskip("scipy")
from paper_figures import basketball, disk_checks, md_9_1, pendulum, sleigh_checks
from paper_figures.slips import SLIPS

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(1)


def shows(right, printed, exact=1e-12, off=1e-3):
    """The right form's residual vanishes, the printed one's does not."""
    assert np.max(np.abs(right)) < exact
    assert np.max(np.abs(printed)) > off


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.paper} {slip.place}")
def test_the_test_named_by_a_slip_is_there(slip):
    where, _, name = slip.test.partition("::")
    assert name in {node.name for node in ast.walk(ast.parse((ROOT / where).read_text())) if hasattr(node, "name")}


def test_every_slip_made_here_is_listed():
    here = {name for name in globals() if name.startswith("test_he_") or name[5:7] in ("qs", "nd", "be", "md")}
    assert here <= {slip.test.partition("::")[2] for slip in SLIPS}


# --- [HE] ---


def test_he_6_6_has_a_half():
    """I (xi_{k,k+1} - xi_{k-1,k}) / h = 1/2 m g (gamma_{k+1/2} + gamma_{k-1/2}) x a, on the paper's own run."""
    run = pendulum.run((0.6, 0.0), 50)
    m, r, g = pendulum.PENDULUM.values()
    middle = (run.q[1:] + run.q[:-1]) / 2
    moment = m * g * np.cross(middle[1:] + middle[:-1], [0.0, 0.0, r])[:, :2]
    rate = m * r**2 * np.diff(run.xi_mid[:, :2], axis=0) / pendulum.STEP
    shows((rate - moment / 2) / (m * g * r), (rate - moment) / (m * g * r), off=0.1)


def test_he_5_6_has_xi_before_mu():
    """([xi, mu]*)_j = c^k_ij xi^i mu_k is mu' of a body, J omega x omega; the proof's [mu, xi]* is its opposite."""
    body, omega = dh.systems.RigidBody(), jnp.array([0.3, -0.7, 1.1])
    q = jnp.eye(3).reshape(9)
    p, rate = jax.jvp(lambda xi: dh.momentum(body, q, xi), (omega,), (dh.vector_field(body, q, omega)[1],))
    by_euler = np.cross(p, omega)
    star = np.einsum("kij,i,k->j", np.asarray(dh.structure(body, q)), omega, p)
    np.testing.assert_allclose(rate, by_euler, atol=1e-14)
    shows(star - by_euler, -star - by_euler)


def test_he_3_2_the_bracket_at_a_point_is_no_lie_algebra():
    """Where c depends on q the cyclic sum of c c is not zero; with the terms u_i[c^m_jk] it is."""
    weights = jnp.asarray(RNG.uniform(-0.5, 0.5, (3, 3, 3)))
    q = jnp.array([0.1, 0.2, 0.3])

    def frame(q):
        return jnp.eye(3) + 0.4 * jnp.sin(weights @ q)

    def c(q):
        slope = jax.jacfwd(frame)(q)
        turned = jnp.einsum("axj,xi->aij", slope.transpose(0, 2, 1), frame(q))
        return jnp.linalg.solve(frame(q), (turned - turned.transpose(0, 2, 1)).reshape(3, 9)).reshape(3, 3, 3)

    nested = jnp.einsum("ljk,mil->mijk", c(q), c(q))
    along = jnp.einsum("mjkx,xi->mijk", jax.jacfwd(c)(q), frame(q))
    whole, bare = (t + t.transpose(0, 3, 1, 2) + t.transpose(0, 2, 3, 1) for t in (nested + along, nested))
    shows(whole, bare)


# --- [QS] ---


@pytest.fixture(scope="module")
def sleighs():
    return sleigh_checks.differences()


def test_qs_4_9_last_coefficient_is_d_b_alpha_beta():
    """On a particle with two shapes, s2' = r1 s1' and r2' coupled to s2', against Hamel's equations of D/G."""
    system = dh.from_velocities(
        lambda q, v: 0.5 * v @ v + 0.4 * v[1] * v[3],
        lambda q: jnp.eye(4).at[3, 2].set(q[0]),
        3,
        coordinates=tuple("abxy"),
    )
    reduced = dh.reduce(system, ["x", "y"], q=[0.7, 0.4, 0.0, 0.0])
    r, xi = jnp.array([0.7, 0.4]), jnp.array([0.3, -0.5, 0.8])
    at, p = dh.coefficients(reduced, r), dh.momentum(reduced, r, xi)[2:3]
    force = dh.hamel_force(reduced, r, xi)[:2] - jax.grad(reduced.constrained_lagrangian)(r, xi)
    swapped = jnp.einsum("bxy,bc,c,y->x", at.D2 - at.D2.swapaxes(1, 2), at.inverse_s, p, xi[:2])
    right = at.shape_force(p, xi[:2])
    shows(right - force, right + swapped - force)


def test_qs_6_2_spatial_momentum_has_eta_3(sleighs):
    shows(sleighs["spatial momentum"], np.min(sleighs["printed mu3"]))


def test_qs_6_2_energy_in_the_momentum_frame_has_k(sleighs):
    shows(sleighs["corrected l"], np.min(sleighs["printed l"]))


def test_qs_6_5_momenta_of_the_disk():
    found = disk_checks.differences()
    shows(found["momentum equations"], np.min(found["printed momenta"]))


def test_qs_6_18_has_eta_1():
    """p . eta is kept along the momentum equations: d/dtheta of it, for any p and eta."""
    theta, p, eta = 0.4, RNG.normal(size=2), RNG.normal(size=2)
    slopes = disk_checks.momentum_slopes(theta, *p)
    right, printed = (slopes @ eta + p @ disk_checks.field_slopes(theta, eta, slip) for slip in (False, True))
    shows(right, printed)


def test_qs_6_16_wronskian_falls_with_the_trace():
    """W = exp(- int Tr tau): with tau of (6.18), W = cos(theta); with the printed sign 1 / cos(theta)."""
    momenta = dh.hidden_momenta(disk_checks.DISK, [0.0] * 5, between=(-1.0, 1.0))
    for theta in (-0.8, 0.5):
        columns = [disk_checks.field_slopes(theta, e, slip=False) for e in np.eye(2)]
        assert np.trace(columns) == pytest.approx(-np.tan(theta))  # of eta' = - tau eta
        found = float(momenta.wronskian(theta) / momenta.wronskian(0.0))
        shows(found - np.cos(theta), found - 1 / np.cos(theta), exact=1e-9)


def test_qs_2_5_curvature_has_plus():
    """[u_a, u_b] of u_a = d/dr^a - A_a, A of a connection on R^2 x SE(2), is dA_a/dr^b - dA_b/dr^a + C A_a A_b."""
    c = np.asarray(lie_algebras.SE2)
    weights = jnp.asarray(RNG.normal(size=(2, 3, 2)))

    def connection(r):
        return jnp.sin(weights @ r) + 0.5  # A_a^c

    def fields(q):
        """The two horizontal fields at q = (r, theta, x, y), the group's basis left invariant."""
        s, k = jnp.sin(q[2]), jnp.cos(q[2])
        basis = jnp.array([[1.0, 0, 0], [0, k, -s], [0, s, k]])  # e_1, e_2, e_3 as columns
        return jnp.concatenate([jnp.eye(2), -basis @ connection(q[:2]).T], axis=0), basis

    q = jnp.array([0.3, -0.2, 0.7, 0.1, 0.4])
    slope = jax.jacfwd(lambda q: fields(q)[0])(q)
    u, basis = fields(q)
    bracket = slope[:, 1] @ u[:, 0] - slope[:, 0] @ u[:, 1]
    vertical = np.linalg.solve(basis, bracket[2:])
    change = jax.jacfwd(connection)(q[:2])
    exact = change[0, :, 1] - change[1, :, 0]
    nested = np.einsum("cab,a,b->c", c, *connection(q[:2]))
    shows(vertical - exact - nested, vertical - exact + nested, exact=1e-12)


# --- [BE] ---


def test_be_8_1_inertia_has_no_two():
    """G_12 of two points with orthogonal velocities by their kinetic energy: - rho m_2, printed - 2 rho m_2."""
    m1, m2, theta, rho = 1.3, 0.8, 0.6, 1.7

    def kinetic(free):
        first = free[0] * jnp.array([jnp.sin(theta), -jnp.cos(theta)])
        second = first + rho * free[1] * jnp.array([-jnp.sin(theta), jnp.cos(theta)])
        return 0.5 * m1 * first @ first + 0.5 * m2 * second @ second

    found = float(jax.hessian(kinetic)(jnp.zeros(2))[0, 1])
    shows(found + rho * m2, found + 2 * rho * m2)


# --- [ND] ---


def test_nd_16_17_decide_on_semisimple_groups_only():
    """On SE(2) with no turning, a = e^1, the measure is kept, by (15), whatever the inertia; by (17) a would have to be
    an eigenvector of it. On SO(3) both say the same."""
    inertia, a = np.array([[1.0, 0.3, 0.2], [0.3, 2.0, 0.0], [0.2, 0.0, 1.5]]), np.eye(3)[0]
    off = inertia @ a - (a @ inertia @ a) * a

    def condition(algebra):
        return dh.measure_condition(dh.systems.EulerPoincareSuslov(algebra, inertia, a), [])

    shows(condition(lie_algebras.SE2), off)
    assert np.max(np.abs(condition(lie_algebras.SO3))) > 1e-3


# --- [MD], by the numbers of the list of errata ---


def test_md_2_1_magnetic_force_has_the_charge():
    particle = dh.systems.ChargedParticle(1.3, 2.0, (0.1, -0.4, 0.9), (0.0, 0.0, 0.0))
    xi = jnp.array([0.3, 0.5, -0.2])
    rate = dh.vector_field(particle, jnp.zeros(3), xi)[1]
    push = np.cross(xi, (0.1, -0.4, 0.9))
    shows(1.3 * rate - 2.0 * push, 1.3 * rate - push)


def test_md_3_3_hamiltons_principle_has_m_of_the_variation_first():
    """d int L + int M(dq, q') = 0 on a circle of cyclotron motion, M the form of q'' = M q'; printed M(q', dq)."""
    rate, t = 1.7, np.linspace(0, 2.0, 4001)
    form = rate * np.array([[0.0, 1.0], [-1.0, 0.0]])
    v = np.stack([np.cos(rate * t), -np.sin(rate * t)])
    bump = np.sin(np.pi * t / 2.0) ** 2 * np.stack([np.ones_like(t), 0.3 + t])
    slope = np.gradient(bump, t, axis=1, edge_order=2)
    action = np.trapezoid(np.sum(v * slope, axis=0), t)
    magnetic = np.trapezoid(np.einsum("ij,it,jt->t", form, bump, v), t)
    shows(action + magnetic, action - magnetic, exact=1e-5, off=0.1)


def test_md_3_6_the_form_has_no_half():
    """i_X (dp ^ dx + s pi*M) = - dE for the flow x' = p, p' = M p, at s = 1; printed s = 1/2."""
    form = RNG.normal(size=(3, 3))
    form, p = form - form.T, RNG.normal(size=3)
    velocity, force = p, form @ p

    def contracted(s):
        """On (y_x, y_p): the coefficients of y_x and of y_p, plus dE = p . y_p."""
        return np.concatenate([force + s * form.T @ velocity, -velocity + p])

    shows(contracted(1.0), contracted(0.5))


def test_md_5_1_the_constant_has_n_of_sigma():
    """p^sigma + N(sigma) with M = dN, N = B x dy, sigma = d/dy; printed N(q')."""
    strength = 0.8
    particle = dh.systems.ChargedParticle(1.0, 1.0, (0.0, 0.0, strength), (0.0, 0.0, 0.0))
    run = dh.reference(particle, [0.2, 0.1, 0.0], [0.5, 0.7, 0.0], t=np.linspace(0, 5, 41))
    x, v = run.q[:, 0], run.v
    shows(np.ptp(v[:, 1] + strength * x), np.ptp(v[:, 1] + strength * x * v[:, 1]), exact=1e-9, off=0.1)


def test_md_10_5_hoop_has_plus_u_over_v():
    """- a phi' + z' of a hoop, phi' the curvature a' z'' - z' a'': + u / v."""
    u, v = 2.0, 0.7
    curve = dh.systems.BasketballOnHoop(radius=0.6, wire=0.1, hoop=1.9).curve  # u = hoop + wire, v = radius + wire

    def slope(s):
        return jax.jvp(curve, (s,), (1.0,))[1]

    for s in (-0.4, 0.9):
        (a, _), ((da, dz), (dda, ddz)) = curve(s), jax.jvp(slope, (s,), (1.0,))
        found = float(-a * (da * ddz - dz * dda) + dz)
        shows(found - u / v, found + u / v)


def test_md_3_2_1_a_motion_needs_a_velocity_too():
    """From one place two velocities in D have two motions."""
    sleigh = dh.systems.ChaplyginSleigh()
    ends = [dh.reference(sleigh, [0.0] * 3, xi, t=1.0).q[-1] for xi in ([0.3, 1.0], [0.3, 1.0], [0.3, 2.0])]
    shows(ends[0] - ends[1], ends[0] - ends[2], off=0.5)


def test_md_13_6_the_flow_of_sigma_translates():
    """A ball that turns by eps_i, rolling, goes with r eps_i x eps_3 wherever it is; a rotation of x would not."""
    ball = dh.systems.ChaplyginSphere()
    sample = ball.sample()
    q = jnp.asarray(sample["q"]).at[9:].set(jnp.array([0.7, -0.4]))
    turn = np.asarray(q[:9]).reshape(3, 3)
    for i in range(2):
        by_body = turn.T @ np.eye(3)[i]
        v = np.asarray(ball.frame(q))[9:, :3] @ by_body
        moved = ball.radius * np.cross(np.eye(3)[i], [0, 0, 1.0])
        rotated = np.cross(moved, [*q[9:], 0.0])[:2]
        shows(v - moved[:2], v - rotated, off=0.1)


def test_md_9_heights_h_and_d_are_not_free():
    """h' = - a sin(theta): of one body it holds, of a disk's h with a sphere's d it does not."""
    theta = jnp.linspace(0.4, 2.6, 9)
    data = {}
    for name in ("disk", "spherical base", "egg"):
        values, slopes = md_9_1.table(name, theta)
        data |= {f"distances {name}": np.asarray(values), f"slopes {name}": np.asarray(slopes)}
    s, c = np.sin(theta), np.cos(theta)
    egg = data["slopes egg"][:, 2] + data["distances egg"][:, 0] * s
    shows(egg, md_9_1._mixed(data, s, c), off=0.1)


def test_md_8_1_1_display_has_the_slope_of_k():
    """d/dt(K q') - 1/2 dK(q', q') + dU = 0 of a free motion; printed without the second term and with - dU."""
    pendulum = dh.systems.SphericalPendulumAngles()
    q, v = jnp.array([0.8, 0.3]), jnp.array([0.4, 0.9])
    rate = dh.vector_field(pendulum, q, v)[1]
    covector = jax.grad(pendulum.lagrangian, 1)
    change = jax.jvp(covector, (q, v), (v, rate))[1]
    still = jnp.zeros(2)
    uphill = -jax.grad(pendulum.lagrangian, 0)(q, still)
    quadratic = jax.grad(pendulum.lagrangian, 0)(q, v) + uphill  # 1/2 dK(q', q')
    shows(change - quadratic + uphill, change - uphill, off=0.1)


def test_md_11_7_maximum_is_not_where_the_plot_was_read():
    """U' vanishes at -0.1346 pi, not at -0.12 pi: there it is a thousandth of U a radian, by differences."""
    c1, c2 = -40.0, 1.0
    top = basketball.rest(-0.25 * np.pi, -0.02 * np.pi, c1, c2)
    around = np.array([top - 1e-3, top + 1e-3, -0.12 * np.pi - 1e-3, -0.12 * np.pi + 1e-3])
    u = basketball.potential(around, c1, c2)
    scale = float(u[0])
    shows((u[1] - u[0]) / 2e-3 / scale, (u[3] - u[2]) / 2e-3 / scale, exact=1e-5, off=1e-2)
    assert top / np.pi == pytest.approx(-0.1346, abs=5e-5)


def test_md_8_5_1_only_velocities_in_d_are_fixed_by_their_shadow():
    """T Sigma(tau) = 0 and tau in D imply tau = 0, of a rolling ball; without "in D" its place is in the kernel."""
    ball = dh.systems.ChaplyginSphere()
    frame = np.asarray(ball.frame(jnp.asarray(ball.sample()["q"])))
    shadow = frame[:9]  # T Sigma, onto the attitude
    assert np.linalg.matrix_rank(shadow[:, : ball.rank]) == ball.rank
    assert np.linalg.matrix_rank(shadow) < frame.shape[1]
