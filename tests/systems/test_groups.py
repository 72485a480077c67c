"""Groups, and motions on them: on the group to round-off by retractions, and what each step keeps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from wrong_principles import of_left_node, of_the_wrong_sign, without_bracket

import discrete_hamel as dh
from discrete_hamel.mechanics import frames
from discrete_hamel.systems._blocks.lie_algebras import HEISENBERG, SE2, SO3, rotations_of

SO, SE, SL, HEIS = dh.groups.SO, dh.groups.SE, dh.groups.SL, dh.groups.Heisenberg
BORN = dh.groups.matrix_group([[[1.0, 0], [0, 0]], [[0, 1.0], [0, 0]]], name="affine maps of the line")
KEPT = [SO(3), SE(2), SL(2), HEIS(), SO(2) * HEIS(), BORN]
ALL = [*KEPT, SL(3)]
EXP = dh.Principle(reconstruction=dh.groups.exponential)
CAYLEY = dh.Principle(reconstruction=dh.groups.cayley)
DERIVED = dh.Principle(reconstruction=dh.groups.exponential, variation="derived")
ROUNDOFF = 2e-14


def free(group, side="left"):
    return dh.groups.system(group, np.linspace(1.0, 2.0, group.dimension), side=side)


def velocity(group):
    return 0.3 * np.cos(1.0 + np.arange(group.dimension))


def run(system, scheme, steps=100, h=0.05, xi=None):
    xi = velocity(system.group)[: system.rank] if xi is None else xi
    return dh.simulate(system, system.group.identity, xi, h=h, steps=steps, scheme=scheme)


def off(trajectory, every=10):
    group = trajectory.system.group
    return max(group.off(group.matrix(q)) for q in trajectory.q[::every])


def momenta(trajectory):
    return np.asarray(jax.vmap(trajectory.system.momentum_map)(jnp.asarray(trajectory.q), jnp.asarray(trajectory.xi)))


def lost(trajectory):
    """The change of the momentum map, relative to its size."""
    found = momenta(trajectory)
    return np.max(np.abs(found - found[0])) / np.max(np.abs(found))


def drawn(group, seed, size=0.6):
    """An element of the group, by SciPy's exponential."""
    xi = size * np.random.default_rng(seed).normal(size=group.dimension)
    return scipy.linalg.expm(np.einsum("i,iab->ab", xi, group.basis))


# --- groups ---


def test_brackets_are_those_of_the_catalogue():
    assert np.allclose(SO(3).algebra, SO3)
    assert np.allclose(SO(4).algebra, rotations_of(4))
    assert np.allclose(SE(2).algebra, SE2)
    assert np.allclose(HEIS().algebra, HEISENBERG)


@pytest.mark.parametrize("group", ALL, ids=repr)
def test_adjoint_is_a_homomorphism_whose_rate_is_the_bracket(group):
    g, f = drawn(group, 0), drawn(group, 1)
    assert np.allclose(group.adjoint(g @ f), group.adjoint(g) @ group.adjoint(f), atol=1e-11)
    xi = velocity(group)
    turn = scipy.linalg.expm(np.asarray(group.hat(xi)))
    assert np.allclose(group.adjoint(turn), scipy.linalg.expm(np.einsum("kij,i->kj", group.algebra, xi)), atol=1e-11)
    assert group.off(g) < 1e-12 < 1e-3 < group.off(g + 0.01 * np.ones_like(g))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("group", [SE(2), SL(2)], ids=repr)
def test_structure_is_the_bracket_of_the_fields(group, side):
    for a in (None, np.arange(1.0, group.dimension + 1)):
        system = dh.groups.system(group, np.ones(group.dimension), side=side, constraint=a)
        q = group.entries(drawn(group, 2))
        assert np.allclose(system.structure(q), frames.structure_functions(system.frame, q), atol=1e-10)


@given(st.floats(0.0, 0.999), st.sampled_from(ALL), st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_exponential_is_scipys(size, group, seed):
    x = np.einsum("i,iab->ab", np.random.default_rng(seed).normal(size=group.dimension), group.basis)
    x *= size * 2.0 / np.linalg.norm(x)
    ours = np.asarray(dh.groups.expm1(jnp.asarray(x)))
    assert np.max(np.abs(np.eye(len(x)) + ours - scipy.linalg.expm(x))) < 1e-14
    assert group.off(np.eye(len(x)) + ours) < 1e-14


def test_exponential_refuses_what_it_cannot_do():
    assert np.all(np.isnan(dh.groups.expm1(2.1 * jnp.eye(2) / np.sqrt(2))))


# --- on the group ---


@pytest.mark.parametrize("group", ALL, ids=repr)
def test_linear_average_stays_where_cubes_do(group):
    """DiscreteHamel at tau = 1/2 is Cayley's map: it stays on a group if and only if cubes stay in the algebra."""
    assert group.keeps_cayley == (group in KEPT)
    assert [g.keeps_cayley for g in (SO(4), SE(3), HEIS(2), SL(4))] == [True, True, True, False]
    if group.keeps_cayley:
        assert off(run(free(group), dh.DiscreteHamel())) < ROUNDOFF
    else:
        lost = [off(run(free(group), dh.DiscreteHamel(), steps=int(1 / h), h=h), every=1) for h in (0.1, 0.05)]
        assert lost[0] > 1e-6
        assert 3.6 < lost[0] / lost[1] < 4.4  # h^3 a step
    if group == SO(3):  # at other tau only groups that are all invertible elements of an associative algebra, like BORN
        assert off(run(free(group), dh.DiscreteHamel(0.3))) > 1e-5


@pytest.mark.parametrize(("group", "side"), [(SL(2), "right"), (SO(2) * HEIS(), "left")], ids=repr)
def test_exponential_stays_on_every_group(group, side):
    assert off(run(free(group, side), EXP)) < ROUNDOFF


@pytest.mark.parametrize("name", ["SL(3)", "SE(3)", "Heisenberg"])
def test_on_the_group_after_a_hundred_thousand_steps(name):
    def ellipsoid(g, omega, k):
        """An incompressible body whose strains are linear, with a spring in each direction: it stays bounded."""
        v = g @ SL(3).hat(omega)
        return 0.5 * jnp.sum(v * v) - 0.5 * k * jnp.sum(g * g)

    group = {"SL(3)": SL(3), "SE(3)": SE(3), "Heisenberg": HEIS()}[name]
    system = dh.groups.system(group, ellipsoid, params=1.0) if group == SL(3) else free(group)
    long = run(system, EXP if group == SL(3) else CAYLEY, steps=100_000)
    assert long.report.path == "compiled"
    assert off(long, every=1000) < 1e-13
    kept = np.max(np.abs(long.energy / long.energy[0] - 1))
    assert kept < (1e-4 if group == SL(3) else 1e-13)


def test_a_retraction_of_ones_own():
    def halves(x):
        return 2 * dh.groups.cay(x / 2) + dh.groups.cay(x / 2) @ dh.groups.cay(x / 2)

    ours = dh.Principle(reconstruction=dh.groups.Retraction(halves))
    assert off(run(free(SE(2)), ours)) < ROUNDOFF
    assert "halves" in repr(ours)
    with pytest.raises(ValueError, match="is on none"):
        dh.simulate(dh.systems.ChaplyginSleigh(), [0, 0, 0], [1.0, 0.3], h=0.1, steps=1, scheme=EXP)


# --- what is kept ---


def test_what_steps_keep():
    """Energy by Hamel's variations, momentum by derived ones; both where cay(ad X) = Ad of the retraction."""

    def kept(group, scheme):
        found = run(free(group), scheme, steps=200)
        return np.max(np.abs(found.energy / found.energy[0] - 1)) < 1e-13, lost(found) < 1e-12

    assert kept(SO(3), CAYLEY) == kept(SE(2), CAYLEY) == kept(HEIS(), EXP) == (True, True)
    assert kept(SE(2), EXP) == kept(SL(2), CAYLEY) == (True, False)
    assert kept(SE(2), DERIVED) == (False, True)


def test_with_hamels_variations_momenta_move_by_cayleys_map_of_the_bracket():
    """p_{k+1} = cay(h ad_xi)* p_k whatever the retraction; so the momentum is kept iff Ad_tau(X) = cay(ad_X)."""
    group, h = dh.groups.SE(3), 0.05
    body = dh.groups.system(group, jnp.diag(jnp.arange(1.0, 7.0)) + 0.2)
    kept = {}
    for increment in (dh.groups.cay_se3, dh.groups.cay, dh.groups.expm1):
        scheme = dh.Principle(reconstruction=dh.groups.Retraction(increment))
        found = dh.simulate(body, group.identity, [0.4, -0.3, 0.5, 0.2, 0.6, -0.1], h=h, steps=200, scheme=scheme)
        half = h / 2 * np.einsum("kij,i->kj", group.algebra, found.xi_mid[0])
        cayley = np.linalg.solve(np.eye(6) - half, np.eye(6) + half)
        assert np.max(np.abs(found.p[1] - cayley.T @ found.p[0])) < 1e-14
        assert np.ptp(found.energy) < 1e-13
        kept[increment.__name__] = lost(found)
    assert kept["cay_se3"] < 1e-12
    assert min(kept["cay"], kept["expm1"]) > 1e-5


def test_cayleys_map_over_dual_numbers():
    """A screw: it turns by 2 arctan(|omega| / 2), and moves along the axis by what eps makes of that."""
    x = np.asarray(SE(3).hat(jnp.array([0.0, 0.0, 0.8, 0.0, 0.0, 0.5])))
    turn, move = 2 * np.arctan(0.4), 0.5 / (1 + 0.4**2)
    known = scipy.linalg.expm(np.asarray(SE(3).hat(jnp.array([0.0, 0.0, turn, 0.0, 0.0, move]))))
    assert np.max(np.abs(np.eye(4) + dh.groups.cay_se3(jnp.asarray(x)) - known)) < 1e-15
    assert np.max(np.abs(np.eye(4) + dh.groups.cay(jnp.asarray(x)) - known)) > 0.01
    with pytest.raises(ValueError, match="this group's are 3 x 3"):
        run(free(SE(2)), dh.Principle(reconstruction=dh.groups.cayley_se3))


def test_order_two():
    system = free(SE(2), "right")
    exact = dh.reference(system, system.group.identity, velocity(SE(2)), t=2.0)
    assert lost(exact) < 1e-10
    for scheme in (EXP, DERIVED):
        errors = [np.max(np.abs(run(system, scheme, int(2 / h), h).q[-1] - exact.q[-1])) for h in (0.1, 0.05)]
        assert 1.9 < np.log2(errors[0] / errors[1]) < 2.1, scheme


@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), EXP], ids=repr)
def test_right_is_the_inverse_of_left(scheme):
    """g' = g Omega makes (g^-1)' = -Omega g^-1, and symmetric retractions do the same."""
    group = SE(2)
    left, right = run(free(group), scheme), run(free(group, "right"), scheme, xi=-velocity(group))
    assert np.allclose(group.matrix(left.q[-1]) @ group.matrix(right.q[-1]), np.eye(3), atol=1e-12)
    assert np.allclose(left.xi, -right.xi, atol=1e-12)


# --- with attitude, and homogeneous spaces ---


def test_euler_poincare_and_suslov_with_attitude():
    inertia = jnp.diag(jnp.array([1.0, 2.0, 3.0])) + 0.1
    for reduced in (dh.systems.EulerPoincare(SO3, inertia), dh.systems.EulerPoincareSuslov(SO3, inertia)):
        whole = dh.groups.system(SO(3), reduced)
        xi = [0.3, 0.8, 0.2][: reduced.rank]
        both = [run(whole, scheme, xi=xi) for scheme in (dh.DiscreteHamel(), CAYLEY)]
        alone = dh.simulate(reduced, [], xi, h=0.05, steps=100)
        assert all(np.allclose(one.xi, alone.xi, atol=1e-13) and off(one) < ROUNDOFF for one in both)
        omega = np.asarray(jax.vmap(whole.omega)(jnp.asarray(both[0].xi)))
        g, rates = both[0].q.reshape(-1, 3, 3), both[0].v.reshape(-1, 3, 3)
        assert np.allclose(np.einsum("kba,kbc->kac", g, rates), jax.vmap(SO(3).hat)(omega), atol=1e-12)
    assert np.allclose(omega @ np.array([0.3, 0.2, 1.0]), 0.0, atol=1e-12)  # Suslov's constraint


def test_the_pendulum_is_a_homogeneous_space():
    known = dh.systems.SphericalPendulum()
    start = dict(q=known.sample()["q"], xi=known.sample()["xi"], h=0.02, steps=200)
    law = lambda gamma, xi: known.lagrangian(gamma, xi)  # noqa: E731
    ours = dh.groups.advected(SO(3), law, constraint=[0.0, 0.0, 1.0])
    theirs = dh.simulate(known, **start)
    for scheme in (dh.DiscreteHamel(), CAYLEY):
        assert np.allclose(dh.simulate(ours, scheme=scheme, **start).q, theirs.q, atol=1e-12)
    exact = dh.simulate(ours, scheme=EXP, **start)
    assert np.max(np.abs(np.sum(exact.q**2, axis=1) - 1)) < ROUNDOFF
    assert 1e-8 < np.max(np.abs(exact.q - theirs.q)) < 1e-2


def test_two_advected_vectors_are_columns_of_the_group():
    weights = np.array([1.0, 2.0, 3.0])
    ours = dh.groups.advected(SO(3), lambda gamma, xi: 0.5 * xi @ (weights * xi), vectors=2, side="right")
    xi, a = [0.1, 1.0, 0.1], np.eye(3)[:, :2]
    found = dh.simulate(ours, a.ravel(), xi, h=0.05, steps=50, scheme=EXP)
    whole = run(dh.groups.system(SO(3), weights, side="right"), EXP, steps=50, xi=xi)
    assert np.allclose(found.q[-1].reshape(3, 2), np.asarray(SO(3).matrix(whole.q[-1])) @ a, atol=1e-13)


# --- mutants, refusals ---


class OtherBracket(dh.groups.OnGroup):
    """The bracket of the other side."""

    def structure(self, q):
        return -dh.groups.OnGroup.structure(self, q)


class OtherOrder(dh.groups.OnGroup):
    """tau(h xi) g_k for a system on the left."""

    def missed_by(self, increment, q0, q1, xi, h):
        other = free(self.group, "right")
        return other.missed_by(increment, q0, q1, xi, h)


def wrong(kind):
    good = free(SE(2))
    parts = (good.group, good.side, good.vectors, good.law, good.reduced, good.constraint, good.params)
    if kind in (OtherBracket, OtherOrder):
        return kind(*parts), CAYLEY
    if kind == "too far":
        return good, dh.Principle(reconstruction=dh.groups.Retraction(lambda x: dh.groups.cay(1.001 * x)))
    if kind is of_left_node:
        return good, dh.Principle(reconstruction=of_left_node)
    return good, dh.Principle(reconstruction=dh.groups.cayley, variation=kind)


@pytest.mark.parametrize(
    "kind", [OtherBracket, OtherOrder, "too far", of_left_node, of_the_wrong_sign, without_bracket]
)
def test_what_is_kept_notices_each_mutant(kind):
    system, scheme = wrong(kind)
    found = run(system, scheme, steps=50)
    energy = np.max(np.abs(found.energy / found.energy[0] - 1))
    assert max(energy, lost(found)) > 1e-6


def test_refusals():
    for group, n in ((SO, 1), (SE, 1), (SL, 1), (HEIS, 0), (SO, 2.0), (SL, True)):
        with pytest.raises(ValueError, match="has a whole number n"):
            group(n)
    with pytest.raises(ValueError, match=r"increment is of shape \(3,\)"):
        run(free(SE(2)), dh.Principle(reconstruction=dh.groups.Retraction(lambda x: x[0])), steps=1)
    with pytest.raises(ValueError, match="linearly dependent"):
        dh.groups.matrix_group(np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="do not span a Lie algebra"):
        dh.groups.matrix_group(SL(2).basis[:2])
    with pytest.raises(ValueError, match="is not that of SE"):
        dh.groups.system(SE(2), dh.systems.EulerPoincare())
    with pytest.raises(ValueError, match="has 3 components, not 2"):
        dh.groups.system(SE(2), [1.0, 1.0, 1.0], constraint=[1.0, 0.0])
    with pytest.raises(ValueError, match='"left"'):
        dh.groups.system(SE(2), [1.0, 1.0, 1.0], side="both")
    with pytest.raises(ValueError, match="off the holonomic"):
        dh.simulate(free(SO(3)), 1.1 * SO(3).identity, velocity(SO(3)), h=0.1, steps=1)
