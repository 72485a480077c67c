"""Structure functions: antisymmetry, Jacobi, known algebras at the origin and away, change of frame, contractions."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import slopes
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import DISK, PROBLEMS, SE2, SLEIGH, SO3, disk_bracket

import discrete_hamel as dh
from discrete_hamel.mechanics import frames

SMALL = st.floats(-0.5, 0.5)


def vectors(n: int) -> st.SearchStrategy:
    return st.lists(SMALL, min_size=n, max_size=n).map(jnp.array)


def wavy(q, weights):
    """Any smooth square frame near the identity, drawn by its weights."""
    waves = jnp.sin(jnp.einsum("ijk,k->ij", weights, q) + weights[:, :, 0])
    return jnp.eye(3) + 0.3 * waves


WEIGHTS = st.lists(SMALL, min_size=27, max_size=27).map(lambda values: jnp.array(values).reshape(3, 3, 3) * 2)


@jax.jit
def wavy_structure(q, weights):
    return frames.structure_functions(lambda point: wavy(point, weights), q)


@jax.jit
def jacobi_defect(q, weights):
    """Cyclic sum of c^l_jk c^m_il + u_i[c^m_jk]."""

    def structure(point):
        return wavy_structure(point, weights)

    c = structure(q)
    along = jnp.einsum("mjkx,xi->mijk", jax.jacfwd(structure)(q), wavy(q, weights))
    nested = jnp.einsum("ljk,mil->mijk", c, c) + along
    return nested + jnp.transpose(nested, (0, 3, 1, 2)) + jnp.transpose(nested, (0, 2, 3, 1))


@jax.jit
def projected_jacobi_defect(q, weights):
    """The same for the bracket projected on D = span(u_1, u_2) along u_3 and extended by zero."""

    def structure(point):
        c = wavy_structure(point, weights)
        return c.at[2].set(0.0)

    c = structure(q)
    along = jnp.einsum("mjkx,xi->mijk", jax.jacfwd(structure)(q), wavy(q, weights))
    nested = jnp.einsum("ljk,mil->mijk", c, c) + along
    return nested + jnp.transpose(nested, (0, 3, 1, 2)) + jnp.transpose(nested, (0, 2, 3, 1))


@settings(max_examples=40)
@given(vectors(3), WEIGHTS)
def test_axioms_of_any_frame(q, weights):
    c = wavy_structure(q, weights)
    assert np.max(np.abs(c + jnp.swapaxes(c, 1, 2))) < 1e-14 * (1 + np.max(np.abs(c)))
    assert np.max(np.abs(jacobi_defect(q, weights))) < 1e-12


def test_projected_bracket_breaks_jacobi():
    """A nonholonomic bracket is an almost-Poisson one: Jacobi holds for the whole frame only."""
    weights = jnp.asarray(np.random.default_rng(3).uniform(-1, 1, (3, 3, 3)))
    assert np.max(np.abs(jacobi_defect(jnp.array([0.1, 0.2, 0.3]), weights))) < 1e-12
    assert np.max(np.abs(projected_jacobi_defect(jnp.array([0.1, 0.2, 0.3]), weights))) > 1e-3


@settings(max_examples=30)
@given(vectors(3), WEIGHTS)
def test_structure_is_the_commutator_of_flows(q, weights):
    """[u_i, u_j] from central differences of the fields along each other: no autodiff."""
    c, eps = wavy_structure(q, weights), 1e-5
    psi = wavy(q, weights)
    along = [(WAVY(q + eps * psi[:, i], weights) - WAVY(q - eps * psi[:, i], weights)) / (2 * eps) for i in range(3)]
    for i, j in ((0, 1), (1, 2), (2, 0)):
        bracket = along[i][:, j] - along[j][:, i]
        assert np.asarray(psi @ c[:, i, j]) == pytest.approx(np.asarray(bracket), abs=1e-8)


WAVY = jax.jit(wavy)


@settings(max_examples=20)
@given(vectors(3))
def test_se2_constants_at_the_origin_and_away(q):
    for scale in (0.0, 1.0, 20.0):
        found = SLEIGH_STRUCTURE(scale * q)
        assert np.asarray(found) == pytest.approx(SE2, abs=1e-13)


SLEIGH_STRUCTURE = jax.jit(SLEIGH.system.structure)


def euler_body_frame(q):
    """Fields of the body's angular velocity in z-x-z Euler angles (phi, theta, psi)."""
    c, s, sin = jnp.cos(q[2]), jnp.sin(q[2]), jnp.sin(q[1])
    cot = jnp.cos(q[1]) / sin
    return jnp.array([[s / sin, c / sin, 0.0], [c, -s, 0.0], [-s * cot, -c * cot, 1.0]])


@settings(max_examples=20)
@given(vectors(3), st.floats(0.3, 2.8))
def test_so3_constants_in_euler_angles(q, theta):
    found = EULER_STRUCTURE(q.at[1].set(theta))
    assert np.asarray(found) == pytest.approx(SO3, abs=1e-12)


EULER_STRUCTURE = jax.jit(lambda q: frames.structure_functions(euler_body_frame, q))


def test_so3_constants_on_rotation_matrices_by_autodiff():
    """Nine coordinates, three fields: the left inverse gives the algebra too, on the group and off it."""
    body = PROBLEMS[3].system
    for q in (np.eye(3), np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]):
        rotation = q * np.sign(np.linalg.det(q))
        found = frames.structure_functions(body.frame, jnp.asarray(rotation.ravel()))
        assert np.asarray(found) == pytest.approx(SO3, abs=1e-13)


def test_disk_constants():
    found = DISK.system.structure(jnp.array([0.3, 1.2, 0.4, 2.0, -1.0]))
    assert np.asarray(found) == pytest.approx(disk_bracket(1.0), abs=1e-14)


@jax.jit
def both_new_structures(q, weights, others):
    def old(point):
        return wavy(point, weights)

    def transition(point):
        return wavy(point, others)

    def structure(point):
        return frames.structure_functions(old, point)

    by_rule = frames.transform_structure(old, structure, transition, q)
    return by_rule, frames.structure_functions(lambda point: old(point) @ transition(point), q)


@settings(max_examples=30)
@given(vectors(3), WEIGHTS, WEIGHTS)
def test_change_of_frame_against_autodiff(q, weights, others):
    by_rule, by_autodiff = both_new_structures(q, weights, others)
    assert np.asarray(by_rule) == pytest.approx(np.asarray(by_autodiff), abs=1e-12)


def test_change_of_frame_of_advected_coordinates():
    """On gamma the fields are dependent; the same change on rotation matrices, where they are not, gives the same."""
    pendulum, body = PROBLEMS[2].system, PROBLEMS[3].system
    weights = jnp.asarray(np.random.default_rng(5).uniform(-1, 1, (3, 3, 3)))
    rotation = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    rotation = jnp.asarray((rotation * np.linalg.det(rotation)).ravel())
    by_matrices = frames.structure_functions(lambda q: body.frame(q) @ wavy(q[6:], weights), rotation)
    transition = partial(wavy, weights=weights)
    advected = frames.transform_structure(pendulum.frame, pendulum.structure, transition, rotation[6:])
    assert np.asarray(advected) == pytest.approx(np.asarray(by_matrices), abs=1e-12)
    assert np.max(np.abs(by_matrices - SO3)) > 0.1


@jax.jit
def both_contractions(q, weights, xi, mu):
    def frame(point):
        return wavy(point, weights)

    dense = jnp.einsum("kij,i,k->j", wavy_structure(q, weights), xi, mu)

    return frames.coadjoint(frame, q, xi, mu), dense


@settings(max_examples=30)
@given(vectors(3), WEIGHTS, vectors(3), vectors(3))
def test_coadjoint_is_the_dense_contraction(q, weights, xi, mu):
    short, dense = both_contractions(q, weights, xi, mu)
    assert np.asarray(short) == pytest.approx(np.asarray(dense), abs=1e-13)


def test_coadjoint_on_redundant_coordinates():
    q, xi, mu = jnp.eye(3).ravel(), jnp.array([0.3, -0.2, 0.5]), jnp.array([1.0, 2.0, -1.0])
    found = frames.coadjoint(PROBLEMS[3].system.frame, q, xi, mu)
    assert np.asarray(found) == pytest.approx(np.cross(mu, xi), abs=1e-14)


def test_slope_of_a_known_power():
    """The measuring stick itself."""
    assert slopes([0.1, 0.05], [1e-2, 2.5e-3]) == pytest.approx(2.0)


def test_the_default_slip_asks_for_the_frame_once_a_kind():
    """And knows fields whose number is that of a parameter's entries."""
    asked = []

    class Sheared(dh.System):
        weights: jax.Array
        rank = 1

        def frame(self, q):
            asked.append(q.shape)
            return jnp.eye(len(q))[:, : len(self.weights)] + 0.0 * self.weights[None]

    sizes = [len(Sheared(jnp.ones(k)).slip(jnp.zeros(4))) for k in (2, 3, 2, 3, 4)]
    assert sizes == [1, 2, 1, 2, 3]
    assert len(asked) == 3
    assert len(jax.jit(lambda system, q: system.slip(q))(Sheared(jnp.zeros(2)), jnp.ones(4))) == 1
    assert len(asked) == 3
