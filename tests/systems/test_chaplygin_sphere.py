"""Chaplygin's sphere: equations, the thesis' end state, its contact momentum."""

import jax.numpy as jnp
import numpy as np
from contact import as_point_masses, assert_second_order, placed
from hypothesis import given, settings
from multipliers import assert_lagrange_dalembert

import discrete_hamel as dh
from discrete_hamel.systems.rigid_bodies import inertia_matrix
from discrete_hamel.testing.strategies import inertias, rotations, sizes, vectors

UNTURNED = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)
CHAPLYGIN = as_point_masses(
    lambda gamma, s: -s.radius * gamma / jnp.linalg.norm(gamma), lambda s: inertia_matrix(s.inertia)
)


@settings(max_examples=25)
@given(sizes(), inertias(), sizes(), rotations(), vectors(3))
def test_chaplygin_sphere_is_lagrange_dalembert(m, inertia, radius, r, omega):
    ball = dh.systems.ChaplyginSphere(m, inertia, radius)
    assert_lagrange_dalembert(ball, placed(r), omega, *CHAPLYGIN)


SPHERE = dh.systems.ChaplyginSphere(mass=1.3, inertia=(0.7, 0.5, 0.3), radius=0.6, gravity=9.81)
SPHERE_END = np.array(
    [0.356384317211, -0.416810848957, 0.836217037998, 0.30483214965, -1.336837992307, 0.021324338256]
    + [-1.596177327249, -3.165582491087]
)


def test_chaplygin_sphere_ends_where_the_equations_of_the_thesis_do():
    def of(run):
        return np.concatenate([run.q[-1][6:9], run.xi[-1][:3], run.q[-1][9:]])

    exact = dh.reference(SPHERE, (*UNTURNED, 0, 0), (0.9, -0.5, 1.2), t=5.0)
    np.testing.assert_allclose(of(exact), SPHERE_END, rtol=0, atol=1e-11)
    values = exact.invariants()
    for axis, wanted in zip("xyz", (1.0512, -0.484, 0.36), strict=True):
        np.testing.assert_allclose(values[f"contact momentum {axis}"], wanted, atol=1e-11)
    np.testing.assert_allclose(values["energy"] - 1.3 * 9.81 * 0.6, 0.81004, atol=1e-11)
    assert_second_order(SPHERE, (*UNTURNED, 0, 0), (0.9, -0.5, 1.2), 5.0, SPHERE_END, of, (400, 800, 1600))


def test_chaplygin_sphere_keeps_its_contact_momentum_not_its_spatial_one():
    run = dh.simulate(SPHERE, (*UNTURNED, 0, 0), (0.9, -0.5, 1.2), h=0.05, steps=10_000, save_every=10)
    values = run.invariants()
    for axis in "xyz":
        value = values[f"contact momentum {axis}"]
        assert np.max(np.abs(value - value[0])) < 1e-12 * 10_000**0.5
    attitudes = run.q[:, :9].reshape(-1, 3, 3)
    spatial = np.einsum("kab,b,kb->ka", attitudes, (0.7, 0.5, 0.3), run.xi[:, :3])
    assert np.ptp(spatial[:, 0]) > 0.01
    # On the vertical the contact has no arm: there the two agree, [MD] 13.3.
    np.testing.assert_allclose(spatial[:, 2], values["contact momentum z"], atol=1e-10)


@settings(max_examples=25)
@given(sizes(), inertias(), sizes(), rotations(), vectors(3))
def test_the_vertical_momentum_is_a_potential_of_the_rest(m, inertia, radius, r, omega):
    """E = E(omega - C/(y.Jy) y) + C^2 / (2 y.Jy), C = y.J omega: the reduced energy is the energy, [MD] 13.5."""
    ball, y = dh.systems.ChaplyginSphere(m, inertia, radius), r[2]
    moments = np.asarray(inertia_matrix(jnp.asarray(inertia)))
    c, about = y @ moments @ omega, y @ moments @ y
    whole, rest = (float(dh.energy(ball, placed(r), w)) for w in (omega, omega - c / about * y))
    assert abs(whole - rest - c**2 / (2 * about)) < 1e-10 * max(1.0, abs(whole))
