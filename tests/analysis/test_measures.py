"""Measure is kept iff [QS] (5.5) holds: by the condition, the divergence, a density and a cloud of points."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from discrete_hamel.analysis import keeps_measure, measure_condition
from discrete_hamel.systems._blocks.lie_algebras import AFFINE, SE2, SO3, rotations_of

S = dh.systems
OBLIQUE = ((1.2, 0.0, 0.2), (0.0, 1.5, 0.3), (0.2, 0.3, 2.0))
PRINCIPAL = (1.2, 1.5, 2.0)


def momentum_field(algebra, inertia, a):
    """[QS] (5.4): p' = ad*_Omega p + lambda a in the algebra's own basis, with the multiplier, by hand."""

    def rate(p):
        omega = np.linalg.solve(inertia, p)
        free = np.einsum("cab,c,a->b", algebra, p, omega)
        dual = np.linalg.solve(inertia, a)
        return free - (free @ dual) / (a @ dual) * a

    return rate


def divergence_by_differences(rate, basis, p, eps=1e-6):
    """The divergence on the plane of the momenta I Omega, <a, Omega> = 0, of which `basis` is a basis; columns."""
    left = np.linalg.pinv(basis)
    return sum(left[i] @ (rate(p + eps * basis[:, i]) - rate(p - eps * basis[:, i])) / (2 * eps) for i in range(2))


ENTRIES = st.floats(-0.5, 0.5)


@settings(max_examples=25)
@given(st.sampled_from([SO3, SE2]), st.tuples(ENTRIES, ENTRIES, ENTRIES), st.tuples(ENTRIES, ENTRIES), ENTRIES, ENTRIES)
def test_condition_and_divergence_are_those_of_the_equations_with_multiplier(algebra, off, axis, u, v):
    """div = <condition, xi>, both against (5.4) written out by hand and differenced."""
    inertia = np.diag([2.0, 2.5, 3.0])
    inertia[np.triu_indices(3, 1)] = off
    inertia = inertia + inertia.T - np.diag(np.diag(inertia))
    a = np.array([*axis, 1.0])
    system = S.EulerPoincareSuslov(algebra, inertia, a)
    condition = measure_condition(system, [])
    found = dh.divergence(system, [], [u, v])
    assert found == pytest.approx(condition @ [u, v], abs=1e-12)
    plane = np.linalg.svd(a[None])[2][1:].T  # Omega with <a, Omega> = 0
    p = inertia @ np.asarray(system.omega(jnp.array([u, v])))
    expected = divergence_by_differences(momentum_field(algebra, inertia, a), inertia @ plane, p)
    assert found == pytest.approx(expected, abs=1e-8)


@settings(max_examples=25)
@given(st.floats(0.5, 1.5), st.floats(0.5, 1.5), st.floats(0.2, 1.0), ENTRIES, st.integers(0, 2))
def test_suslov_keeps_measure_iff_its_axis_is_principal(j1, j2, mix, off, axis):
    """Theorem 5.3 on SO(3): and the covector is then what [I^-1 a, a] is, up to its size."""
    moments = np.diag([j1, j2, (j1 + j2) * (0.5 + mix / 3)])
    a = np.eye(3)[axis]
    assert keeps_measure(S.ReducedSuslov(inertia=moments, axis=a), [])
    turned = a + off * np.roll(a, 1)
    dual = np.linalg.solve(moments, turned)
    torque = np.linalg.norm(np.cross(dual, turned)) / (turned @ dual)
    system = S.ReducedSuslov(inertia=moments, axis=turned)
    assert np.linalg.norm(measure_condition(system, [])) == pytest.approx(torque, rel=1e-9, abs=1e-13)
    assert keeps_measure(system, []) == (torque < 1e-10)


def test_unimodularity_without_constraint():
    """Kozlov's theorem, [QS] 5.1: the rotations and the plane's motions keep volume, the affine group does not."""
    for algebra, kept in ((SO3, True), (SE2, True), (AFFINE, False)):
        system = S.EulerPoincare(algebra=algebra, inertia=np.arange(1.0, 1 + len(algebra)))
        assert keeps_measure(system, []) is kept


@settings(max_examples=10)
@given(st.floats(0.3, 2.0), st.floats(0.3, 2.0), st.floats(-1.0, 1.0))
def test_the_sleigh_keeps_measure_iff_balanced(mass, inertia, offset):
    sleigh = S.ChaplyginSleigh(mass, inertia, offset)
    found = measure_condition(sleigh, [0.3, 0.1, 0.2])
    assert found == pytest.approx([0.0, -mass * offset / (inertia + mass * offset**2)], abs=1e-12)


def area(points):
    """Of a closed smooth curve through equally spaced parameters: spectrally exact."""
    x, y = points.T
    n = len(x)
    frequency = np.fft.fftfreq(n, 1 / n)
    slope = np.real(np.fft.ifft(1j * frequency * np.fft.fft(y)))
    return 2 * np.pi * np.mean(x * slope)


@pytest.mark.parametrize(
    ("rate", "system", "q", "kept"),
    [
        (lambda p: 0 * p, S.ReducedSuslov(inertia=PRINCIPAL), [], True),
        (None, S.ReducedSuslov(inertia=OBLIQUE), [], False),
        (lambda p: 0 * p, S.ChaplyginSleigh(offset=0.0), [0.0, 0, 0], True),
        (None, S.ChaplyginSleigh(), [0.0, 0, 0], False),
    ],
    ids=["principal Suslov", "oblique Suslov", "balanced sleigh", "sleigh"],
)
def test_density_and_cloud_agree(rate, system, q, kept):
    """A small ring of momenta about a motion: its area times the density carried along is what it was."""
    xi0, radius, t = np.array([0.4, -0.5]), 1e-3, 3.0
    angle = 2 * np.pi * np.arange(16) / 16
    ring = xi0 + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ends = np.array([np.asarray(dh.reference(system, q, xi, t=t).p[[0, -1]]) for xi in ring])
    growth = area(ends[:, 1]) / area(ends[:, 0])
    density = dh.transported_density(system, q, xi0, t)[-1]
    assert growth * density == pytest.approx(1.0, abs=20 * radius**2)
    assert bool(abs(np.log(density)) < 1e-11) is kept
    if not kept:
        assert abs(np.log(density)) > 0.1
    if rate is not None:
        assert np.abs(ends[:, 1] - ends[:, 0]).max() < 1e-9  # these momenta do not move at all


SO4 = rotations_of(4)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_motion_that_keeps_measure_and_is_no_rest(axis):
    """so(4), one constraint: along an eigenvector of the inertia the volume of a cloud stays, the momenta do not."""
    inertia = np.diag([1.0, 1.3, 1.7, 2.2, 2.9, 3.1])
    inertia[0, 3] = inertia[3, 0] = 0.4
    a = np.eye(6)[[1, 0][axis]]
    system = S.EulerPoincareSuslov(SO4, inertia, a)
    kept = axis == 0  # e_2 is an eigenvector of the inertia, e_1 is none
    assert keeps_measure(system, []) is kept
    xi0, eps, t = np.array([0.5, -0.4, 0.7, 0.3, -0.6]), 1e-4, 2.0
    run = dh.reference(system, [], xi0, t=t)
    assert np.abs(run.p[1] - run.p[0]).max() > 0.1
    cloud = [[dh.reference(system, [], xi0 + sign * eps * e, t=t).p for sign in (1, -1)] for e in np.eye(5)]
    before, after = (np.array([plus[k] - minus[k] for plus, minus in cloud]) for k in (0, 1))
    growth = np.log(np.linalg.det(after) / np.linalg.det(before))
    density = np.log(dh.transported_density(system, [], xi0, t)[-1])
    assert growth == pytest.approx(-density, abs=1e-6)
    assert bool(abs(density) < 1e-10) is kept


def test_density_of_the_oblique_suslov_grows_without_bound():
    """It ends in a turn of constant velocity that attracts, at the rate minus the divergence there."""
    system = S.ReducedSuslov(inertia=OBLIQUE)
    t = np.linspace(0.0, 60.0, 4)
    log_density = np.log(dh.transported_density(system, [], [0.8, -0.9], t))
    end = np.asarray(dh.reference(system, [], [0.8, -0.9], t=t).xi[-1])
    rate = -dh.divergence(system, [], end[:2])
    assert rate > 0
    assert (log_density[-1] - log_density[-2]) / 20 == pytest.approx(rate, rel=1e-3)


# --- phase volume of the discrete map ---


def test_the_step_keeps_volume_where_the_flow_does_and_nothing_moves():
    for system, q in ((S.ReducedSuslov(inertia=PRINCIPAL), []), (S.ChaplyginSleigh(offset=0.0), [0.0, 0, 0])):
        assert abs(dh.volume_change(system, q, [0.4, -0.5], h=0.1)) < 1e-12


def test_the_step_follows_the_divergence_and_is_not_volume_preserving_by_itself():
    """ln det = h div + O(h^3) at the middle of the step: against the transported density of the flow."""
    system = S.ReducedSuslov(inertia=OBLIQUE)
    errors = []
    for h in (0.2, 0.1, 0.05):
        flow = -np.log(dh.transported_density(system, [], [0.8, -0.9], h)[-1])
        errors.append(abs(dh.volume_change(system, [], [0.8, -0.9], h=h) - flow))
        assert abs(flow) > 0.01
    assert np.diff(np.log(errors)) / np.log(0.5) == pytest.approx(3.0, abs=0.15)


def test_the_determinant_is_that_of_differences():
    """The tangent of one step against central differences of steps of the plain equations, for the sleigh."""
    sleigh = S.ChaplyginSleigh()
    q, xi, h, eps = np.array([0.2, 0.1, -0.3]), np.array([1.5, -0.3]), 0.2, 1e-5

    def moved(z):
        p = z[3:]
        xi = p / np.array([0.7 + 0.16, 1.0])
        run = dh.simulate(sleigh, z[:3], xi, h=h, steps=1, compiled=False)
        return np.concatenate([run.q[-1], run.p[-1]])

    z = np.concatenate([q, xi * np.array([0.86, 1.0])])
    columns = [(moved(z + eps * e) - moved(z - eps * e)) / (2 * eps) for e in np.eye(5)]
    expected = np.log(abs(np.linalg.det(np.array(columns).T)))
    assert dh.volume_change(sleigh, q, xi, h=h) == pytest.approx(expected, abs=1e-8)


def test_redundant_coordinates_count_with_their_true_dimensions():
    """A free body, 9 coordinates for 3: Liouville's volume is kept by the flow, by the step to O(h^3) only."""
    body = S.RigidBody()
    sample = body.sample()
    changes = [abs(dh.volume_change(body, sample["q"], sample["xi"], h=h)) for h in (0.1, 0.05, 0.025)]
    assert np.diff(np.log(changes)) / np.log(0.5) == pytest.approx(3.0, abs=0.15)


def test_a_cloud_of_the_affine_group_shrinks():
    """An unconstrained system that keeps no volume: (5.2) on the group of the line, by its own equations."""
    system = S.EulerPoincare(algebra=AFFINE, inertia=np.array([1.0, 2.0]))
    xi = np.array([0.3, 0.7])
    end = solve_ivp(
        lambda _, y: momentum_field_free(AFFINE, np.diag([1.0, 2.0]))(y), (0, 1.5), [0.3, 1.4], rtol=1e-10, atol=1e-12
    )
    assert dh.reference(system, [], xi, t=1.5).p[-1] == pytest.approx(end.y[:, -1], abs=1e-7)
    assert abs(np.log(dh.transported_density(system, [], xi, 1.5)[-1])) > 0.1


def momentum_field_free(algebra, inertia):
    return lambda p: np.einsum("cab,c,a->b", algebra, p, np.linalg.solve(inertia, p))


@pytest.mark.parametrize(
    "function", [lambda s, q, xi: dh.divergence(s, q, xi), lambda s, q, xi: dh.measure_condition(s, q)]
)
def test_sentences(function):
    disk = S.RollingDisk()
    with pytest.raises(ValueError, match=r"Euler-Poincare\(-Suslov\) systems.*RollingDisk varies along its frame"):
        function(disk, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0])
    with pytest.raises(ValueError, match="affine one"):
        function(S.DegenerateSleigh(), [0.0, 0, 0, 0], [1.0])
