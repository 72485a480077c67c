"""Invariance, the momentum equation of [QS], its discrete residual, Noether's theorem, bundles and connection."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel import analysis

S = dh.systems
DISK = S.RollingDisk()
NUMBERS = st.floats(-1.2, 1.2)


def first_momentum(q):
    """a with <mu, a> = A phi' cos(theta): p1 of [QS] 6.5 with errata."""
    return jnp.array([0.0, 1.0, 0.0, 0.0, 0.0]) / jnp.cos(q[0]) - jnp.array([0.0, 0, 1.0, 0, 0]) * jnp.tan(q[0])


def second_momentum(q):
    return jnp.zeros_like(q).at[2].set(1.0)


@settings(max_examples=25)
@given(NUMBERS, st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3))
def test_momentum_equations_of_the_disk(theta, fall, turn, spin):
    """p1' = (tan theta p1 - B/(m R^2 + B) p2) theta',  p2' = -(m R^2 / A) p1 theta'."""
    a, b, rolling = 0.25, 0.5, 1.5
    q, xi = [theta, 0.3, 0.1, 0, 0], [fall, turn, spin]
    p1, p2 = (analysis.nonholonomic_momentum(DISK, field, q, xi) for field in (first_momentum, second_momentum))
    size = 1e-12 * (1 + np.max(np.abs(xi)) ** 2) / np.cos(theta)
    assert p1 == pytest.approx(a * turn * np.cos(theta), abs=size)
    assert p2 == pytest.approx(rolling * (turn * np.sin(theta) + spin), abs=size)
    found = [analysis.momentum_equation(DISK, field, q, xi) for field in (first_momentum, second_momentum)]
    assert found == pytest.approx([(np.tan(theta) * p1 - b / rolling * p2) * fall, -p1 * fall / a], abs=10 * size)


def invariant_field(q):
    """gamma / sqrt(1 + y^2), gamma = (1, 0, y): the hidden symmetry of z' = y x'.   [MD] ch. 6"""
    velocity = jnp.stack([jnp.ones_like(q[0]), jnp.zeros_like(q[0]), q[1]]) / jnp.sqrt(1 + q[1] ** 2)
    return dh.quasivelocities(S.NonholonomicParticle(), q, velocity)


def test_discrete_momentum_equation():
    """Round-off for (D) at every tau and field; for other schemes as small as their order makes it, and not zero."""
    start = [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0]
    for tau in (0.0, 0.3, 0.5, 1.0):
        run = dh.simulate(DISK, *start, h=0.01, steps=200, scheme=dh.DiscreteHamel(tau=tau))
        for field in (first_momentum, second_momentum):
            assert np.max(np.abs(analysis.momentum_residual(run, field))) < 1e-14 / 0.01 * 10
    sizes = []
    for steps in (50, 100, 200):
        run = dh.simulate(DISK, *start, h=1.0 / steps, steps=steps, scheme=dh.RungeKutta4())
        sizes.append(np.max(np.abs(analysis.momentum_residual(run, first_momentum))))
    assert np.diff(np.log2(sizes)) == pytest.approx([-2, -2], abs=0.2)


def test_momentum_equation_is_the_rate_along_the_reference():
    """J along DOP853 against the integral of the momentum equation, by Simpson's rule: order 4."""
    t = np.linspace(0.0, 1.0, 201)
    exact = dh.reference(DISK, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], t=t)
    q, xi = exact.q[::20], exact.xi[::20]
    value = [analysis.nonholonomic_momentum(DISK, first_momentum, *point) for point in zip(q, xi, strict=True)]
    rate = [analysis.momentum_equation(DISK, first_momentum, *point) for point in zip(q, xi, strict=True)]
    slopes = np.gradient(0.25 * exact.xi[:, 1] * np.cos(exact.q[:, 0]), t, edge_order=2)[::20]
    assert np.max(np.abs(np.asarray(rate) - slopes)[1:-1]) < 1e-3 * np.max(np.abs(slopes))  # of order (1/200)^2
    assert np.ptp(value) > 1e-2


def test_a_hidden_symmetry_is_partial_noether():
    """The particle's constant x' sqrt(1 + y^2): the field is in D and l is invariant along it on D, not elsewhere."""
    particle, rng = S.NonholonomicParticle(), np.random.default_rng(1)
    for q, v in rng.uniform(-1, 1, (5, 2, 3)):
        xi = dh.quasivelocities(particle, q, [v[0], v[1], q[1] * v[0]])
        assert abs(analysis.momentum_equation(particle, invariant_field, q, xi)) < 1e-13
        assert analysis.nonholonomic_momentum(particle, invariant_field, q, xi) == pytest.approx(
            v[0] * np.sqrt(1 + q[1] ** 2), rel=1e-12
        )
        found = analysis.noether(particle, lambda q: particle.frame(q) @ invariant_field(q), q, xi)
        assert found.conserved
        assert found.horizontal
        assert found.partial
        assert not found.full


def test_noether_exact_and_not():
    body, rng = S.RigidBody(), np.random.default_rng(2)
    q, xi = np.eye(3).ravel(), rng.normal(size=3)
    for i, turn in enumerate(body.symmetries().values()):
        found = analysis.noether(body, turn, q, xi)
        assert found.conserved
        assert found.full
        assert found.momentum == pytest.approx(float(np.array([1.0, 2.0, 3.0])[i] * xi[i]), rel=1e-12)
    sleigh = S.ChaplyginSleigh()
    for name, generator in sleigh.symmetries().items():
        found = analysis.noether(sleigh, generator, [0.4, 0.3, 0.2], [1.0, 2.0])
        assert not found.conserved, name
        assert "reactions do work" in str(found)
    kept = analysis.noether(DISK, lambda q: DISK.frame(q)[:, 1], [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0])
    assert "the Lagrangian changes" in str(kept)
    with pytest.raises(ValueError, match="not in D"):
        analysis.momentum_equation(sleigh, lambda q: jnp.eye(3)[2], [0, 0, 0], [1.0, 2.0])


SYSTEMS = [S.ChaplyginSleigh(), DISK, S.NonholonomicParticle(), S.LagrangeTop(), S.RollingDiskOnRotations()]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: type(system).__name__)
def test_declared_symmetries_are_symmetries_and_others_are_not(system):
    data = system.sample()
    for name, generator in system.symmetries().items():
        assert analysis.invariance(system, generator, data["q"], data["xi"]).holds, name
    first = dh.systems.RollingDisk().frame(jnp.zeros(5))[:, 0]
    if system is DISK:
        found = analysis.invariance(DISK, lambda q: first, data["q"])
        assert not found.holds
        assert found.lagrangian > 1e-2
        assert "the Lagrangian changes" in str(found)


def test_a_symmetry_of_the_lagrangian_that_is_none_of_the_constraint():
    """Shifting y in z' = y x': L is invariant, D is not."""
    found = analysis.invariance(S.NonholonomicParticle(), lambda q: jnp.array([0.0, 1.0, 0.0]), [0.1, 0.2, 0.3])
    assert found.lagrangian < 1e-12
    assert found.constraint > 0.1
    assert "the constraint is not carried into itself" in str(found)


def test_bundles_of_the_nonholonomic_particle():
    """kappa = (0, 1, 0), gamma = (1, 0, y), chi = (-y, 0, 1).   [MD] ch. 6"""
    particle, y = S.NonholonomicParticle(), 0.7
    found = analysis.bundles(particle, [0.2, y, -0.1])
    psi = np.asarray(particle.frame(jnp.array([0.2, y, -0.1])))
    for basis, expected in ((found.H, [0, 1, 0]), (found.S, [1, 0, y]), (found.N, [-y, 0, 1])):
        assert basis.shape == (3, 1)
        assert np.max(np.abs(np.cross(psi @ basis[:, 0], expected))) < 1e-12
    assert found.R.shape == (3, 0)
    gram = found.aligned.T @ found.metric @ found.aligned
    assert np.max(np.abs(gram - np.eye(3))) < 1e-12


def test_connection_of_the_vertical_disk_is_purely_kinematic():
    """Symmetric under translations only: S = 0 and [u_phi, u_psi] leaves D along the second slip by -R."""
    plane = {f"x{i}": lambda q, i=i: jnp.zeros(4).at[i].set(1.0) for i in (2, 3)}
    disk = S.VerticalDisk(1.0, 1.3)
    found = analysis.nonholonomic_connection(disk, [0.4, 0.1, 0, 0], symmetries=plane)
    assert found.basis.shape[1] == 0
    assert np.max(np.abs(found.vertical)) == 0
    c = np.asarray(dh.structure(disk, [0.4, 0.1, 0, 0]))
    assert np.max(np.abs(found.across + c[2:, :2, :2])) < 1e-12
    assert abs(abs(found.across[1, 0, 1]) - 1.3) < 1e-12


def heisenberg(q, v):
    return 0.5 * (v[0] ** 2 + v[1] ** 2 + (v[2] + 0.5 * (q[0] * v[1] - q[1] * v[0])) ** 2)


def plain(q):
    return jnp.eye(3)


def heisenberg_frame(q):
    """d_x + (y/2) d_z, d_y - (x/2) d_z, d_z: the first two are horizontal for A = dz + (x dy - y dx)/2."""
    return jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [q[1] / 2, -q[0] / 2, 1.0]])


def test_mechanical_connection_of_a_free_system():
    """A = dz + (x dy - y dx)/2: curvature B(d/dx, d/dy) = 1, locked inertia 1."""
    free = dh.from_velocities(heisenberg, plain, 3)
    upward = {"z": lambda q: jnp.array([0.0, 0.0, 1.0])}
    found = analysis.nonholonomic_connection(free, [0.3, -0.4, 0.2], symmetries=upward)
    assert found.curvature[:, 0, 1] == pytest.approx([0, 0, 1], abs=1e-12)
    assert np.max(np.abs(found.curvature + np.swapaxes(found.curvature, 1, 2))) < 1e-13
    assert found.locked_inertia == pytest.approx(np.array([[1.0]]))


def test_curvature_has_one_sign_in_s_and_out_of_d():
    """The same plane with and without the constraint that takes its third field away: B = dA in both."""
    contact = {"z": lambda q: jnp.array([0.0, 0.0, 1.0])}
    frame = heisenberg_frame
    free = dh.from_velocities(heisenberg, frame, 3)
    bound = dh.from_velocities(heisenberg, frame, 2)
    within = analysis.nonholonomic_connection(free, [0.3, -0.4, 0.2], symmetries=contact)
    out = analysis.nonholonomic_connection(bound, [0.3, -0.4, 0.2], symmetries=contact)
    assert within.curvature[2, 0, 1] == pytest.approx(1.0, abs=1e-12)
    assert out.across[0, 0, 1] == pytest.approx(1.0, abs=1e-12)


ROLLING = [
    (S.ChaplyginSphere(), "DVSR", (3, 3, 1, 0)),
    (S.RouthTop(), "DVSR", (3, 4, 2, 0)),
    (S.RollingBody(), "DVSR", (3, 4, 2, 0)),
    (S.RollingDisk(), "DVSR", (3, 4, 2, 0)),
]


@pytest.mark.parametrize(("system", "names", "sizes"), ROLLING, ids=lambda case: type(case).__name__)
def test_lifting_off_is_no_direction_of_the_configuration_space(system, names, sizes):
    """[MD] 9, 10: R = 0, D + V is the tangent space to Q = SO(3) x R^2 or, for the disk in angles, all of R^5."""
    found = analysis.bundles(system, system.sample()["q"])
    assert tuple(getattr(found, name).shape[1] for name in names) == sizes
    assert "D + V is everything" in repr(found)
    assert found.aligned.shape[1] == 5


def test_a_distance_that_is_constant_is_no_direction_either():
    """The centre of a ball on a sphere has three coordinates, and moves in two: [MD]'s Q = SO(3) x S^2."""
    ball = S.BallOnSphere()
    q = np.asarray(ball.sample()["q"], float)
    found = analysis.bundles(ball, q)
    assert np.linalg.matrix_rank(found.aligned) == found.aligned.shape[1] == 5
    velocities = np.asarray(ball.frame(jnp.asarray(q))) @ found.aligned
    assert np.max(np.abs(q[9:] @ velocities[9:])) < 1e-12


def test_locked_inertia_of_the_disk():
    """det <<gamma_i, gamma_j>> = J1 s^2 (J3 + m R^2), J1 = A, J3 = B, s the sine of the angle of axis and vertical,
    gamma_1 the spin about the axis, gamma_2 the turn about the vertical: a = -R cot, r = R csc.   [MD] ch. 9"""
    theta = 0.3
    found = analysis.bundles(DISK, [theta, 0, 0, 0, 0])
    spin, turn = np.eye(5)[2], np.eye(5)[1]  # psi' alone, and phi' with the slip zero
    for field in (spin, turn):
        assert np.max(np.abs(field - found.S @ (found.S.T @ found.metric @ field))) < 1e-12
    gram = np.array([[a @ found.metric @ b for b in (spin, turn)] for a in (spin, turn)])
    assert np.linalg.det(gram) == pytest.approx(0.25 * np.cos(theta) ** 2 * (0.5 + 1.0), rel=1e-12)


def motions_of_the_plane(size):
    """SE(2) on (theta, x, y, ...) as affine maps, which compile once for all that have as many coordinates."""
    turn = np.zeros((size, size))
    turn[1, 2], turn[2, 1] = -1.0, 1.0
    return {"x": "x", "y": "y", "turn": (turn, np.eye(size)[0])}


@settings(max_examples=8)
@given(st.floats(0.1, 1.3), st.floats(0.05, 0.4), st.floats(0.3, 0.9))
def test_connection_of_the_snakeboard(phi, rotor, half):
    """In e = u_1, sin(phi)/l of turning and cos(phi) ahead: I = m c^2 + I0 s^2/l^2, A_psi = Jr s/(l I), A_phi = 0 and
    B(d_psi, d_phi) = -(A' + A (I0 - m l^2) s c/(l^2 I)) e, from [e, d_phi] = -(cos(phi)/l, -sin(phi)); by hand."""
    board = S.Snakeboard(1.0, 0.2, rotor, 0.05, half)
    found = analysis.nonholonomic_connection(board, [0.3, 0.1, 0.2, 0.4, phi], symmetries=motions_of_the_plane(5))
    c, s, whole = np.cos(phi), np.sin(phi), 0.2 + rotor + 0.1
    locked = c**2 + whole * (s / half) ** 2
    a = rotor * s / (half * locked)
    slope = rotor * c / (half * locked) - a * (2 * s * c * (whole / half**2 - 1)) / locked
    assert found.locked_inertia == pytest.approx(np.array([[locked]]), rel=1e-12)
    assert found.horizontal[:, 1] == pytest.approx([-a, 1, 0, 0, 0], abs=1e-12)
    assert found.horizontal[:, 2] == pytest.approx([0, 0, 1, 0, 0], abs=1e-12)
    curvature = -(slope + a * (whole - half**2) * s * c / (half**2 * locked))
    assert found.curvature[:, 1, 2] == pytest.approx([curvature, 0, 0, 0, 0], abs=1e-11)
    assert found.across[:, 1, 2] == pytest.approx([0, -a / half], abs=1e-12)


def test_locked_inertia_of_the_roller_racer_and_of_the_sleigh():
    """u_1: sin(phi)/d of turning and w/d ahead; a sleigh is all symmetry, H = 0 and the inertia is that of D."""
    racer, phi = S.RollerRacer(), 0.5
    m, i1, i2, d1, d2 = racer.mass, racer.inertia, racer.handle_inertia, racer.rear, racer.front
    w, d, s = d1 * np.cos(phi) + d2, d1 + d2, np.sin(phi)
    n = w**2 + d**2 * s**2
    found = analysis.nonholonomic_connection(racer, [0.3, 0.1, 0.2, phi], symmetries=motions_of_the_plane(4))
    locked = (m * w**2 + (i1 + i2) * s**2) / d**2
    coupling = m * w * d2 * d * s / n - (i1 + i2) * s * d2 * w / (d * n) + i2 * s / d
    assert found.locked_inertia == pytest.approx(np.array([[locked]]), rel=1e-12)
    assert found.horizontal[:, 1] == pytest.approx([-coupling / locked, 1, 0, 0], abs=1e-12)
    sleigh = analysis.nonholonomic_connection(S.ChaplyginSleigh(1.0, 0.7, 0.4), [0.3, 0.1, 0.2])
    assert np.sort(np.linalg.eigvalsh(sleigh.locked_inertia)) == pytest.approx([0.86, 1.0], rel=1e-12)
    assert np.max(np.abs(sleigh.horizontal)) < 1e-12


@settings(max_examples=10)
@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2))
def test_momentum_equation_of_the_r2_invariant_example(r, rate, speed):
    """[QS] 4.3: p' = b b' p r' along d_s1 + b d_s2; along exp(-b^2/2) times it p is constant."""
    system = S.TranslationInvariantParticle()
    q, xi = [r, 0.1, 0.2], [rate, speed]
    b, slope = np.sin(r), np.cos(r)
    p = analysis.nonholonomic_momentum(system, plain_field, q, xi)
    assert p == pytest.approx(np.exp(-0.5 * b**2) * speed, rel=1e-12, abs=1e-14)
    assert analysis.momentum_equation(system, plain_field, q, xi) == pytest.approx(b * slope * p * rate, abs=1e-12)
    assert analysis.momentum_equation(system, second_of_three, q, xi) == pytest.approx(0.0, abs=1e-13)


def plain_field(q):
    """d_s1 + b d_s2 = exp(b^2/2) u_2."""
    return jnp.stack([0 * q[0], jnp.exp(0.5 * jnp.sin(q[0]) ** 2), 0 * q[0]])


def second_of_three(q):
    return jnp.zeros_like(q).at[1].set(1.0)


def test_refusals():
    with pytest.raises(ValueError, match="declares no symmetries"):
        analysis.bundles(S.SphericalPendulum(), S.SphericalPendulum().sample()["q"])
    run = dh.simulate(DISK, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], h=0.01, steps=4, save_every=2)
    with pytest.raises(ValueError, match="save_every = 1"):
        analysis.momentum_residual(run, first_momentum)
