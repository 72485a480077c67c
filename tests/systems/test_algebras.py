"""Euler-Poincare(-Suslov) on several groups, against Lagrange-d'Alembert in coordinates of the group."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from multipliers import accelerations, assert_same, orthogonal, rates

import discrete_hamel as dh
from discrete_hamel.systems._blocks import lie_algebras
from discrete_hamel.testing.strategies import numbers, vectors

NOTHING = jnp.zeros(0)  # the coordinates of a reduced system


def plane(q):
    """Body frame of SE(2) in (theta, x, y)."""
    c, s = jnp.cos(q[0]), jnp.sin(q[0])
    return jnp.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def heisenberg(q):
    return jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-q[1] / 2, q[0] / 2, 1.0]])


def affine(q):
    """Left-invariant fields a d/da, a d/db of x -> a x + b, with a = e^q1."""
    return jnp.array([[1.0, 0.0], [0.0, jnp.exp(q[0])]])


def velocity(fields):
    """xi(q, v) = g^-1 g' in coordinates."""
    return lambda q, v: jnp.linalg.solve(fields(q), v)


def turning(q, v):
    w = q.reshape(3, 3).T @ v.reshape(3, 3)
    return jnp.stack([w[2, 1] - w[1, 2], w[0, 2] - w[2, 0], w[1, 0] - w[0, 1]]) / 2


GROUPS = {
    "SE(2)": (lie_algebras.SE2, velocity(plane), None),
    "Heisenberg": (lie_algebras.HEISENBERG, velocity(heisenberg), None),
    "affine line": (lie_algebras.AFFINE, velocity(affine), None),
    "SO(3)": (lie_algebras.SO3, turning, orthogonal),
}


def metric(entries, n):
    root = entries[: n * n].reshape(n, n)
    return root @ root.T + 0.3 * np.eye(n)


@pytest.mark.parametrize("group", GROUPS)
def test_lagrange_dalembert(group):
    """Random metric, random left-invariant constraint: the accelerations of g give the rate of xi."""
    algebra, xi_of, tied = GROUPS[group]
    n = len(algebra)

    def kinetic(q, v, s):
        return 0.5 * xi_of(q, v) @ s.inertia @ xi_of(q, v)

    def constrained(q, v, s):
        row = (s.constraint @ xi_of(q, v))[None]
        return row if tied is None else jnp.concatenate([tied(q, v, s), row])

    @jax.jit
    def lifted(q, omega):  # for SO(3) at the identity, the least v is the antisymmetric one
        return jnp.linalg.lstsq(jax.jacfwd(lambda v: xi_of(q, v))(jnp.zeros(len(q))), omega)[0]

    @jax.jit
    def second_of(q, v, second):
        return jax.jvp(xi_of, (q, v), (v, second))[1]

    @settings(max_examples=25)
    @given(vectors(9), vectors(3), vectors(3), numbers(-1.0, 1.0))
    def check(entries, xi, a, place):
        inertia, xi, a = metric(entries, n), xi[:n], a[:n]
        assume(np.linalg.norm(a) > 0.2)
        free = dh.systems.EulerPoincare(algebra, inertia)
        held = dh.systems.EulerPoincareSuslov(algebra, inertia, a)
        q = jnp.eye(3).ravel() if tied else place * jnp.arange(1.0, n + 1)

        def compare(system, omega, got, constraint):
            v = lifted(q, omega)
            second, _ = accelerations(kinetic, constraint, q, v, system)
            assert_same(got, second_of(q, v, second))

        compare(free, jnp.asarray(xi), rates(free, NOTHING, xi)[1], tied)
        omega = held.omega(jnp.asarray(xi[: n - 1]))
        assert_same(a @ omega, 0.0)
        compare(held, omega, held.omega(rates(held, NOTHING, xi[: n - 1])[1]), constrained)

    check()


@settings(max_examples=25)
@given(vectors(16), vectors(2), vectors(4), vectors(4))
def test_two_constraints(entries, xi, a, b):
    """(14) with two multipliers on u(2): p' = ad* p + lambda a + kappa b, <a, xi> = <b, xi> = 0."""
    assume(np.linalg.svd([a, b])[1][1] > 0.2)
    algebra = np.zeros((4, 4, 4))
    algebra[:3, :3, :3] = lie_algebras.SO3
    inertia, rows = metric(entries, 4), np.stack([a, b])
    system = dh.systems.EulerPoincareSuslov(algebra, inertia, rows)
    omega = np.asarray(system.omega(jnp.asarray(xi)))
    assert_same(rows @ omega, [0.0, 0.0])
    push = np.einsum("kij,i,k->j", algebra, omega, inertia @ omega)
    kkt = np.block([[inertia, -rows.T], [rows, np.zeros((2, 2))]])
    wanted = np.linalg.solve(kkt, np.concatenate([push, np.zeros(2)]))[:4]
    assert_same(system.omega(rates(system, NOTHING, xi)[1]), wanted)


@jax.jit
def divergence(system, xi):
    m = system.rank
    return jnp.trace(jax.jacfwd(lambda xi: rates(system, NOTHING, xi)[1][:m])(jnp.asarray(xi)))


def test_measure_of_euler_poincare_needs_a_unimodular_group():
    """[QS] Theorem 5.1: the divergence is c^k_ik xi^i, zero on all but the affine group."""
    for algebra, _, _ in GROUPS.values():
        n = len(algebra)
        system = dh.systems.EulerPoincare(algebra, np.arange(1.0, n + 1))
        xi = np.linspace(0.5, 1.2, n)
        assert_same(divergence(system, xi), np.einsum("kik,i->", algebra, xi))
    assert abs(np.einsum("kik->i", lie_algebras.AFFINE)[0]) == 1.0


@settings(max_examples=25)
@given(vectors(9), vectors(3), vectors(2))
def test_measure_of_euler_poincare_suslov(entries, a, xi):
    """(5.6) [QS], (15) [ND] on se(2): the divergence vanishes for all xi iff K c I^-1 a a + T is along a."""
    assume(np.linalg.norm(a) > 0.2)
    inertia = metric(entries, 3)
    system = dh.systems.EulerPoincareSuslov(lie_algebras.SE2, inertia, a)
    lifted = np.linalg.solve(inertia, a)
    condition = np.einsum("kij,i,k->j", lie_algebras.SE2, lifted, a) / (a @ lifted)
    across = np.asarray(lie_algebras.adapted_basis(a))[:, :2].T @ condition  # its part that is not along a
    gradient = jax.jacfwd(lambda xi: divergence(system, xi))(jnp.asarray(xi))
    assert_same(gradient, across)


def test_rotations_of_any_dimension():
    """rotations_of(3) is so(3) in the basis E_13, E_23, E_12, that is e_2, -e_1, -e_3."""
    turns = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, -1.0]])  # E as body angular velocities, row by row
    for i, j in ((0, 1), (1, 2), (2, 0)):
        bracket = lie_algebras.rotations_of(3)[:, i, j]
        np.testing.assert_allclose(bracket @ turns, np.cross(turns[i], turns[j]), atol=1e-14)
    with pytest.raises(ValueError, match="span"):
        lie_algebras.bracket_of(lie_algebras.rotation_basis(4)[:4])


@settings(max_examples=25)
@given(vectors(15))
def test_adapted_basis(entries):
    """Orthonormal on the kernel, dual on the rest; for a coordinate axis the basis is that of the coordinates."""
    rows = entries.reshape(3, 5)
    assume(np.linalg.svd(rows)[1][2] > 0.1)
    basis = np.asarray(lie_algebras.adapted_basis(rows))
    np.testing.assert_allclose(rows @ basis, np.eye(5)[2:], atol=1e-12)
    np.testing.assert_allclose(basis[:, :2].T @ basis[:, :2], np.eye(2), atol=1e-13)
    np.testing.assert_allclose(lie_algebras.adapted_basis(np.array([0, 0, 2.0])), np.diag([1, 1, 0.5]), atol=0)
