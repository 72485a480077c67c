"""Redundant coordinates: samples lie on what they satisfy, motions stay there, what is off is refused and led back."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.mechanics.manifold import off_manifold
from discrete_hamel.testing.strategies import numbers, vectors

CATALOGUE = {name: getattr(dh.systems, name)() for name in dh.systems.__all__} | {
    "SphereField": dh.fields.SphereField(5)
}


def start(system):
    """(q, xi) of the sample, as arrays."""
    if isinstance(system, dh.fields.SphereField):
        angle = np.linspace(0, 1, system.points)
        u = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
        data = system.moving(u, np.stack([0 * angle, 0 * angle, np.sin(angle)], axis=1))
    else:
        data = system.sample()
    return np.asarray(data["q"], float), np.asarray(data["xi"], float)


def rows(system):
    return jax.eval_shape(system.holonomic, jnp.asarray(start(system)[0])).size


REDUNDANT = sorted(name for name, system in CATALOGUE.items() if rows(system))
redundant = pytest.mark.parametrize("name", REDUNDANT)


def test_every_system_with_rotations_or_directions_says_so():
    for name, system in CATALOGUE.items():
        names = set(system.coordinates)
        expected = bool(names & {"R11", "W11", "gamma1"}) or name in ("SphericalPendulumCartesian", "SphereField")
        assert (name in REDUNDANT) == expected, name


@redundant
def test_samples_satisfy_it_and_all_velocities_keep_it(name):
    system = CATALOGUE[name]
    q, xi = start(system)
    q = jnp.asarray(q)
    assert float(off_manifold(system, q)) < 1e-15
    slope = jax.jacfwd(system.holonomic)(q)
    np.testing.assert_allclose(slope @ system.frame(q)[:, : system.rank], 0, atol=1e-12 * np.max(np.abs(slope)))
    assert np.linalg.matrix_rank(slope) == len(slope), "rows are independent"


@pytest.mark.parametrize(
    "name", ["NSpherePendulum", "BallOnSphere", "RouthTop", "Suslov", "SphericalPendulumCartesian"]
)
def test_the_continuous_motion_keeps_it(name):
    system = CATALOGUE[name]
    motion = dh.reference(system, *start(system), t=np.linspace(0, 100 * system.sample()["h"], 5))
    for q in motion.q:
        assert float(off_manifold(system, jnp.asarray(q))) < 1e-10


@redundant
def test_project_leaves_consistent_data_alone_and_leads_others_back(name):
    system = CATALOGUE[name]
    q, xi = start(system)
    same, whole = dh.project(system, q, xi)
    assert same.tobytes() == q.tobytes()
    assert whole[: system.rank].tolist() == xi[: system.rank].tolist()
    away = q + 0.01 * np.abs(q).max() * np.cos(np.arange(len(q)) * 1.7)
    back, _ = dh.project(system, away, xi)
    assert float(off_manifold(system, back)) < 1e-14
    assert dh.project(system, back, xi)[0].tobytes() == back.tobytes()
    traced, _ = jax.jit(dh.project)(system, jnp.asarray(away), jnp.asarray(xi))
    np.testing.assert_allclose(traced, back, rtol=0, atol=1e-14)


@redundant
def test_data_one_per_cent_off_are_refused(name):
    """With the amount, and with the point that `project` gives, from which the run goes."""
    system = CATALOGUE[name]
    q, xi = start(system)
    grown = 1.01 * q
    off = float(off_manifold(system, jnp.asarray(grown)))
    with pytest.raises(ValueError, match=r"holonomic\(q\) = 0, by " + f"{off:.3g}.*project"):
        dh.simulate(system, grown, xi, h=1e-3, steps=1)


@settings(max_examples=25)
@given(st.sampled_from(["SphericalPendulum", "LagrangeTop", "BallOnSphere"]), st.data())
def test_data_off_in_any_direction_are_refused(name, data):
    system = CATALOGUE[name]
    q, xi = start(system)
    away = q + 0.01 * np.abs(q).max() * data.draw(vectors(len(q), -1.0, 1.0))
    near, _ = dh.project(system, away, xi)
    apart = np.linalg.norm(away - near)
    assume(apart > 1e-6)
    with pytest.raises(ValueError, match="nearest point that does is " + f"{apart:.3g} away".replace("+", r"\+")):
        dh.simulate(system, away, xi, h=1e-3, steps=1)
    slope = jax.jacfwd(system.holonomic)(near)
    tangent = np.linalg.svd(np.asarray(slope))[2][len(slope) :]
    assert np.linalg.norm(tangent @ (away - near)) < 0.1 * apart, "what is left is across the manifold: it is nearest"


@settings(max_examples=25)
@given(numbers(0.3, 3.0), vectors(3))
def test_the_nearest_direction_and_the_nearest_rotation(factor, turn):
    """In closed form: gamma / |gamma|, and the rotation times a factor without it."""
    from scipy.spatial.transform import Rotation

    gamma = np.array([0.6, 0.0, -0.8])
    found, _ = dh.project(CATALOGUE["SphericalPendulum"], factor * gamma, [0.1, 0.2])
    np.testing.assert_allclose(found, gamma, rtol=0, atol=1e-14)
    r = Rotation.from_rotvec(turn).as_matrix().reshape(9)
    found, _ = dh.project(CATALOGUE["RigidBody"], factor * r, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(found, r, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("system", "q", "xi"),
    [
        (dh.systems.SphericalPendulum(), 1.3 * np.array([0.3, 0.2, -((1 - 0.13) ** 0.5)]), (0.6, 0.0)),
        (dh.systems.SphericalPendulumCartesian(length=1.3), (0.6, 0.0, -0.8), (0.0, 0.5)),
        (dh.systems.BallOnSphere(sphere=0.4), dh.systems.BallOnSphere().sample()["q"], (20.0, 5.0, 150.0)),
        (dh.systems.LagrangeTop(), 1.1 * np.array(dh.systems.LagrangeTop().sample()["q"]), (0.0, 0.0, 12.0)),
        (dh.timed(dh.systems.LagrangeTop()), (*(1.1 * np.eye(3).ravel()), 0.0), (0.0, 0.0, 12.0)),
        (dh.damped(dh.systems.RigidBody(), lambda q, xi: xi @ xi), 0.9 * np.eye(3).ravel(), (0.0, 0.0, 12.0)),
    ],
)
def test_the_reviews_cases(system, q, xi):
    """Each ran, with the wrong physics; every door refuses."""
    doors = (
        lambda: dh.simulate(system, q, xi, h=0.01, steps=1),
        lambda: dh.reference(system, q, xi, t=0.1),
        lambda: dh.ensemble(system, np.array([q, q]), xi, h=0.01, steps=1),
    )
    for door in doors:
        with pytest.raises(ValueError, match="holonomic"):
            door()


def test_what_has_no_redundant_coordinates_is_projected_onto_its_velocities():
    q, xi = dh.project(dh.systems.ChaplyginSleigh(), [0.1, 0.2, 0.3], [1.0, 2.0, 0.5])
    assert (q.tolist(), xi.tolist()) == ([0.1, 0.2, 0.3], [1.0, 2.0, 0.0])
    table = dh.systems.BallOnTurntable()
    sample = table.sample()
    q, xi = dh.project(table, sample["q"], sample["xi"])
    np.testing.assert_array_equal(xi[3:], table.slip(q))


def test_states_for_loops_of_ones_own_are_asked_too():
    top = CATALOGUE["LagrangeTop"]
    q, xi = start(top)
    dh.start(top, dh.DiscreteHamel(), q, xi, h=0.01)
    with pytest.raises(ValueError, match="holonomic"):
        dh.start(top, dh.DiscreteHamel(), 1.1 * q, xi, h=0.01)
    traced = jax.jit(lambda q: dh.start(top, dh.DiscreteHamel(), q, xi, h=0.01).p)
    assert np.all(np.isfinite(traced(jnp.asarray(1.1 * q))))


def test_of_an_ensemble_the_member_that_is_off_is_marked():
    top = CATALOGUE["LagrangeTop"]
    q, xi = start(top)
    found = dh.ensemble(top, np.stack([q, 1.01 * q, q]), xi, h=0.01, steps=3)
    assert np.flatnonzero(found.failure.values).tolist() == [1]
    assert "holonomic" in str(found.reason.values[1])


def test_in_single_precision_round_off_is_no_fault():
    """|g| of a rotation rounded to 24 bits is far above what is allowed of one with 53."""
    from discrete_hamel.mechanics.manifold import refuse_off_manifold

    top = CATALOGUE["LagrangeTop"]
    q = jnp.asarray(start(top)[0], jnp.float32)
    refuse_off_manifold(top, q)
    with pytest.raises(ValueError, match="holonomic"):
        refuse_off_manifold(top, q.astype(float) * (1 + 1e-6))


def test_no_point_near_is_said():
    with pytest.raises(ValueError, match="no point near"):
        dh.project(CATALOGUE["SphericalPendulum"], [0.0, 0.0, 0.0], [0.1, 0.2])
    with pytest.raises(ValueError, match="No point near"):
        dh.simulate(CATALOGUE["SphericalPendulum"], [0.0, 0.0, 0.0], [0.1, 0.2], h=0.1, steps=1)


@pytest.mark.parametrize("length", [1.0, 1.3])
def test_the_nearest_point_has_slopes_both_ways(length):
    # q / |q|, of which D = (1 - u u^T) / |q|: on the manifold too, where nothing moves
    pendulum, u = dh.systems.SphericalPendulum(), np.array([3.0, 4.0, -12.0]) / 13

    def project(q):
        return dh.project(pendulum, q, jnp.array([0.6, 0.0]))[0]

    for slope in (jax.jacrev(project), jax.jacfwd(project)):
        np.testing.assert_allclose(slope(jnp.asarray(length * u)), (np.eye(3) - np.outer(u, u)) / length, atol=1e-14)
